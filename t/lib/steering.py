#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Names that would steer a terminal, for tests.

  steering.py patch FOLDER|FILE...  replaces each STEER00, STEER01 ... in these files, of 7 bytes, by hostile bytes
  steering.py look [json] <OUTPUT   says what in the output would steer a terminal, a line each; nothing if all is well
"""
import json, os, re, sys

HOSTILE = [
	b"\x1b]0;x\x07y",               # sets the title
	b"\xc2\x9b31mxy",               # U+009B does what ESC [ does
	b"\x9b31m\xffxy",               # no UTF-8: a terminal of 8 bits obeys it
	b"a\xe2\x80\xaebcd",            # turns the direction
	b"\xe2\x81\xa6bcdx",            # isolates
	b"a\nb\rc\td",                  # lines
	b"\x08\x08\x7f\x1b[2J",         # erases
	b"\xed\xa0\x80\xc0\x80ab",      # a surrogate, and a NUL in two bytes
	b"\x01\x02\x0e\x0f\x01ab",      # what marks names for fit.h
	b"a\xe2\x80\xa8bcd",            # ends a line, for some
	b"\xf4\x90\x80\x80\xf0\x9f\xe2", # behind the last character, and half of one
	b"_Z3\x1b[mv",                  # demangled: ESC [ m
]
assert all(len(hostile) == 7 for hostile in HOSTILE)

def patch(name):
	with open(name, "rb") as file:
		text = file.read()
	new = re.sub(rb"STEER(\d\d)", lambda match: HOSTILE[int(match[1]) % len(HOSTILE)], text)
	if new != text:
		with open(name, "wb") as file:
			file.write(new)

def steers(c):
	return c < 0x20 and c != 0x0a or 0x7f <= c < 0xa0 or 0x2028 <= c <= 0x202e or 0x2066 <= c <= 0x2069

def is_value(text):
	try:
		json.loads(text)
	except ValueError:
		return False
	return True

def look(is_json):
	data = sys.stdin.buffer.read()
	try:
		text = data.decode("utf-8")
	except UnicodeDecodeError as error:
		print("no UTF-8:", error, data[max(0, error.start - 40):error.end + 20])
		return
	for number, line in enumerate(text.split("\n"), 1):
		bad = [hex(c) for c in sorted({ord(c) for c in line}) if steers(c)]
		if bad:
			print("line", number, "has", *bad, repr(line[:200]))
	if is_json and not is_value(text) and not all(map(is_value, text.splitlines())):
		print("no JSON:", text[:1000])

if sys.argv[1] == "patch":
	for top in sys.argv[2:]:
		if os.path.isfile(top):
			patch(top)
		for folder, _, files in os.walk(top):
			for file in files:
				patch(os.path.join(folder, file))
else:
	look("json" in sys.argv[2:])
