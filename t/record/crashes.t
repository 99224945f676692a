#!/bin/sh
# SPDX-License-Identifier: MIT
#
# record tells the crash of its command, whatever handler that has; info looks for processes in their own PID namespace.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

ulimit -c 0
library "$CC" libcounted.so counted.c
program "$CC" crash_handler crash_handler.c -L. -lcounted

# tells WAY STATUS SIGNAL SENTENCE TIMES: report tells it so often.
tells() {
	for option in '' '-m ring --snapshot=crash'; do
		record d $option -k plt -l libcounted.so ./crash_handler "$1"
		report d
		is "$status $(printf '%s\n' "$report" | jq .crash_signal) $(info d '[.processes[].crash_signal]')" \
			"$2 $3 [$3]" "$4${option:+, $option}"
		bounded 60 "$XAUDIT" report d >text 2>&1
		is "$(grep -c 'the process ended by signal' text)" "$5" "way $1: report says it $5 times"
	done
}
tells 0 139 11 'a handler that raises the signal again' 1
tells 1 139 11 'a handler that returns to what faults again' 1
tells 2 139 11 'a handler that is called once' 1
tells 3 3 null 'a handler that ends the program by _exit(3): that is no crash' 0
tells 4 134 6 'a handler that calls abort()' 1
tells 5 139 11 'a handler that sends the signal' 1
tells 6 139 11 'no handler' 1
tells 7 0 null 'a program that ends by exit()' 0
record d -k plt -l libcounted.so sh -c './crash_handler 0; exit 0'
is "$status $(info d '[.processes[].crash_signal] | unique')" '0 [null]' 'of a child of the command, nobody sees it'

# ---- numbers in another PID namespace ----
cat >stay.c <<'END'
#include <unistd.h>
void counted(void);
int main(void)
{
	alarm(120);
	counted();
	for (;;)
		pause();
}
END
$CC -o stay stay.c -L. -lcounted -Wl,-rpath,"$tmp" || bail 'stay.c does not compile'
if ! unshare -p -f --mount-proc sh -c 'echo 5000 >/proc/sys/kernel/ns_last_pid' 2>/dev/null; then
	skip 3 'no PID namespace whose numbers can be chosen'
	done_testing
	exit
fi
# A process here has the number, and the program, of one there.
./stay &
here=$!
mkfifo go
bounded 60 "$XAUDIT" record -o n -k plt -l libcounted.so unshare -p -f --mount-proc sh -c "
	echo $((here - 1)) >/proc/sys/kernel/ns_last_pid
	./stay & echo \$! >there; read go <go; kill -KILL \$!; wait" >out 2>err &
recorder=$!
state() {
	info n "[.processes[] | select(.command == \"./stay\") | .state] | join(\" \")"
}
runs() {
	[ "$(state)" = '"running"' ]
}
wait_until 60 runs
is "$(cat there)" "$here" 'the process there has the number of the one here'
is "$(state)" '"running"' 'info says of it that it runs'
echo go >go
wait "$recorder"
unlike "$(state)" running 'and when it is dead, that it does not, though the one here does'
kill -KILL "$here"
wait "$here" 2>/dev/null
done_testing
