#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""terminal.py [OPTION]... COMMAND [ARGUMENT]...: runs a command on a terminal of its own, and writes to standard output
what it wrote there. Ends with its status, 128 + N if signal N ended it, 124 if it took more than two minutes.

  --columns=N, --rows=N  the size of the terminal (80, 24)
  --stderr=FILE          standard error goes there, not to the terminal
  --when=TEXT --send=KEYS  once TEXT was written, types KEYS (^C: \\x03); several times, one after another
"""
import codecs, fcntl, getopt, os, pty, select, struct, sys, termios, time

columns, rows, stderr, steps = 80, 24, None, []
options, command = getopt.getopt(sys.argv[1:], "", ["columns=", "rows=", "stderr=", "when=", "send="])
for name, value in options:
	if name == "--columns":
		columns = int(value)
	elif name == "--rows":
		rows = int(value)
	elif name == "--stderr":
		stderr = value
	elif name == "--when":
		steps.append([value.encode(), b""])
	else:
		steps[-1][1] = codecs.decode(value, "unicode_escape").encode("latin-1")

pid, master = pty.fork()
if pid == 0:
	fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
	if stderr:
		os.dup2(os.open(stderr, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666), 2)
	try:
		os.execvp(command[0], command)
	finally:
		os._exit(127)

output, end = b"", time.monotonic() + 120
while time.monotonic() < end:
	if not select.select([master], [], [], 0.1)[0]:
		continue
	try:
		piece = os.read(master, 65536)
	except OSError:
		break
	if not piece:
		break
	output += piece
	while steps and steps[0][0] in output:
		os.write(master, steps.pop(0)[1])
else:
	os.kill(pid, 9)
	os.waitpid(pid, 0)
	sys.stdout.buffer.write(output)
	sys.exit(124)
status = os.waitpid(pid, 0)[1]
sys.stdout.buffer.write(output)
sys.stdout.flush()
sys.exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status))
