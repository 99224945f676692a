#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""walks_compare.py WALKS DUMP: are the backtraces of a trace those that gdb saw (walks_gdb.py)?

Prints "WALKS compared, DIFFERENT differ, CUT cut", and up to three that differ. The n-th walk of the process is the
n-th event with a backtrace in its dump (xaudit dump --format=json). A backtrace of as many callers as were asked for
is cut: what gdb sees beyond is not compared.
"""
import json, sys

def backtraces(dump):
	for line in dump:
		if '"backtrace"' in line:
			for value in json.loads(line)["values"]:
				if value["name"] == "backtrace":
					yield value["value"]

def walks(file):
	number, frames = None, []
	for line in file:
		words = line.split()
		if words[0] == "walk":
			if number is not None:
				yield number, frames
			number, frames = int(words[1]), []
		# The module's own frames are left out.
		elif not words[1].endswith("/libxaudit.so"):
			frames.append((int(words[0], 16), words[2]))
	if number is not None:
		yield number, frames

def main():
	with open(sys.argv[2]) as dump:
		ours = list(backtraces(dump))
	count, cut, different = 0, 0, []
	with open(sys.argv[1]) as file:
		for number, frames in walks(file):
			value = ours[number] if number < len(ours) else {}
			got = [(int(frame["address"], 16), frame) for frame in value.get("frames", [])]
			addresses, expected = [address for address, _ in got], [address for address, _ in frames]
			end = value.get("end", "there is none")
			count += 1
			if end.startswith("as many"):
				cut += 1
				expected = expected[:len(addresses)]
			if addresses != expected or not expected:
				different.append((number, end, got, frames))
	print("%d compared, %d differ, %d cut" % (count, len(different), cut))
	for number, end, got, frames in different[:3]:
		print("walk %d (%s):" % (number, end))
		for address, frame in got:
			print("  ours %x %s" % (address, frame.get("function")))
		for address, name in frames:
			print("  gdb  %x %s" % (address, name))

main()
