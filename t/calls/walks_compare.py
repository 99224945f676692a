#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""walks_compare.py WALKS DUMP [jit]: are the backtraces of a trace those that gdb saw (walks_gdb.py)?

Prints "WALKS compared, DIFFERENT differ, CUT cut", and up to three that differ. The n-th walk of the process is the
n-th event with a backtrace in its dump (xaudit dump --format=json). A backtrace of as many callers as were asked for is
cut: what gdb sees beyond is not compared. With `jit` neither is what it sees from the first frame on that has no name,
or is code that V8 made when it was built: gdb has no unwind information for it. Such programs have several threads, so
the walk may be one of the neighbours.
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

def is_same(value, frames, jit):
	"""Returns whether they are, and whether one is cut."""
	addresses = [int(frame["address"], 16) for frame in value.get("frames", [])]
	expected = [address for address, _ in frames]
	named = [i for i, (_, name) in enumerate(frames) if name == "-" or name.startswith("Builtins_")]
	cut = True
	if jit and named:
		addresses, expected = addresses[:named[0]], expected[:named[0]]
	elif value.get("end", "").startswith("as many"):
		expected = expected[:len(addresses)]
	else:
		cut = False
	return bool(expected) and addresses == expected, cut

def main():
	with open(sys.argv[2]) as dump:
		ours = list(backtraces(dump))
	jit = len(sys.argv) > 3
	count, cut, different = 0, 0, []
	with open(sys.argv[1]) as file:
		for number, frames in walks(file):
			count += 1
			# Of two threads that walk at once, the one that is the first to begin may be the second to end.
			near = [number, number - 1, number + 1] if jit else [number]
			found = [is_same(ours[i], frames, jit) for i in near if 0 <= i < len(ours)]
			same = [was_cut for good, was_cut in found if good]
			cut += bool(same and same[0])
			if not same:
				different.append((number, ours[number] if number < len(ours) else {}, frames))
	print("%d compared, %d differ, %d cut" % (count, len(different), cut))
	for number, value, frames in different[:3]:
		print("walk %d (%s):" % (number, value.get("end", "there is none")))
		for frame in value.get("frames", []):
			print("  ours %s %s" % (frame["address"], frame.get("function")))
		for address, name in frames:
			print("  gdb  0x%x %s" % (address, name))

main()
