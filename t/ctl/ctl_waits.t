#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit ctl that comes more often than a timeout: system calls wait as long as they would without it, and find their
# registers as they were; and a process in which nothing would change is not stopped.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/ctl.sh"

library "$CC" libcontrolled.so counted.c
program "$CC" waits waits.c -L. -lcontrolled
[ -r /proc/self/sched ] || skip_all 'the kernel does not tell when a thread ran last'

# stops: how often ctl has stopped the process, until all have said how long they waited, or 20 seconds are over.
come() {
	stops=0
	begun=$(date +%s)
	while [ "$(grep -c '^called ' out)" -lt 8 ] && [ $(($(date +%s) - begun)) -lt 20 ]; do
		ctl "$pid" enable counted
		ctl "$pid" disable counted
		[ "$status" -ne 0 ] || stops=$((stops + 2))
		sleep 0.05
	done
}
# waited NAME RESULT: that call's time is right: not early, and less than twice its timeout.
waited() {
	line=$(grep "^called $1 " out)
	set -- "$1" "$2" $line
	if [ "${6-}/${7-}" = "$2/same" ] && [ "$5" -ge 2999 ] && [ "$5" -lt 6000 ]; then
		ok "$1 waits for its time, and returns as ever" true
	else
		is "$line" "called $1 3000 $2 same" "$1 waits for its time, and returns as ever"
	fi
}
kinds=plt
rules 'enabled = no' 'mode = ring'
begin ./waits 3000
come
like "$stops" '^([4-9]|[1-9][0-9]+)$' 'ctl stops the process several times meanwhile'
waited epoll_wait 0
waited epoll_pwait 0
waited epoll_pwait2 0
waited rt_sigtimedwait -11
waited semtimedop -11
waited io_getevents 0
waited poll 0
waited nanosleep 0

# ---- nothing to change ----
asleep() {
	sed -n 's/^voluntary_ctxt_switches:[[:space:]]*//p' "/proc/$pid/status"
}
ctl "$pid" disable '*'
before=$(asleep)
for command in "disable *" start 'mode ring'; do
	set -f
	ctl "$pid" $command
	set +f
	like "$status $out $err" '^0 .*paused 0\.000 ms $' "$command: nothing would change, and nothing is stopped"
done
is "$(asleep)" "$before" 'the process was not awakened'
echo end >&3
finish
is "$status $(cat err)" '0 ' 'the program notices nothing'
done_testing
