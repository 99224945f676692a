# SPDX-License-Identifier: MIT
"""In gdb: writes the frames that gdb sees wherever the module begins to walk, to the file $WALKS_OUT.

Of about one in $WALKS_EVERY walks, $WALKS_MOST of them: a line "walk NUMBER", counted from 0, and a line for each frame
that a call has made, "ADDRESS FILE NAME". Inlined functions and tail calls have none. Ends with a frame that lies in no
code, since that is a guess of gdb's.
"""
import os, random
import gdb

code = {}

def is_code(address):
	page = address >> 12
	if page not in code:
		with open("/proc/%d/maps" % gdb.selected_inferior().pid) as maps:
			for line in maps:
				low, high = (int(part, 16) for part in line.split()[0].split("-"))
				if low <= address < high:
					code[page] = "x" in line.split()[1]
	return code.get(page, False)

def write_frames(out):
	frame = gdb.newest_frame()
	while frame is not None and is_code(frame.pc()):
		if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
			out.write("%x %s %s\n" % (frame.pc(), gdb.solib_name(frame.pc()) or "-", frame.name() or "-"))
		frame = frame.older()

def stopped():
	try:
		return gdb.selected_thread() is not None and gdb.selected_thread().is_stopped()
	except gdb.error:
		return False

def main():
	most, every = int(os.environ["WALKS_MOST"]), int(os.environ["WALKS_EVERY"])
	chance = random.Random(7)
	for command in ("pagination off", "confirm off", "breakpoint pending on", "startup-with-shell off",
			"backtrace limit unlimited", "backtrace past-main on", "backtrace past-entry on"):
		gdb.execute("set " + command)
	gdb.execute("handle all nostop noprint pass", to_string=True)
	place = gdb.Breakpoint("backtrace_walk")
	number = place.ignore_count = chance.randrange(every)
	with open(os.environ["WALKS_OUT"], "w") as out:
		gdb.execute("run", to_string=True)
		for _ in range(most):
			if not stopped():
				break
			out.write("walk %d\n" % number)
			write_frames(out)
			place.ignore_count = chance.randrange(every)
			number += place.ignore_count + 1
			gdb.execute("continue", to_string=True)

main()
