#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Probes at instructions that lie across two pages, set and taken away in a running process: xaudit ctl, which may be
# killed at any of its system calls, changes one page alone.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/ctl.sh"
. "$top_srcdir/t/lib/probed.sh"
need nm

library "$CC" libcontrolled.so probe_pages.S
program "$CC" controlled controlled.c -L. -lcontrolled
program "$CC" helper ctl_helper.c
XAUDIT_INDEX=$tmp/index
export XAUDIT_INDEX
places=''
for n in 1 2 3 4; do
	start=$((0x$(nm libcontrolled.so | sed -n "s/ T across$n\$//p") + 6))
	is $((4096 - start % 4096)) "$n" "across$n: so many bytes of the instruction are on the first page"
	places="$places p$n=across$n+6@libcontrolled.so"
done
listed() {
	bounded 60 "$XAUDIT" ctl "$pid" probes --format=json |
		jq -r '.probes[] | "\(.name) \(.on) \(.way)"' | tr '\n' ' '
}
answer() {
	printf '%s %s %s' "$status" "$out" "$err" | sed 's/[0-9.]* ms/T ms/'
}

rules
begin ./controlled counters 0 0
ctl "$pid" probe $places
is "$(answer)" '0 4 of 4 probes on, at 4 places, paused T ms ' 'they are set'
is "$(listed)" 'p1 true jump p2 true jump p3 true jump p4 true jump ' 'each by a jump'
tell 'call 10'
ctl "$pid" unprobe '*'
is "$(answer) $(clean libcontrolled.so)" '0 4 probes taken away, paused T ms  ' 'and taken away'
tell 'call 20'

bad='' killed=0
step=$(rounds 23 5 1)
for command in probe unprobe; do
	n=$((step - 1)) status=99
	while [ "$status" -eq 99 ] && [ $n -lt 3000 ]; do
		n=$((n + step)) status=0
		case $command in probe) set -- $places ;; *) set -- '*' ;; esac
		bounded 60 ./helper kill $n "$XAUDIT" ctl "$pid" "$command" "$@" >ctl.out 2>ctl.err || status=$?
		[ "$status" -eq 99 ] || break
		killed=$((killed + 1))
		tell 'call 1'
		has_answered || bad="$bad; $command, call $n: the program does not go on"
		case $command in probe) ctl "$pid" unprobe '*' ;; *) ctl "$pid" probe $places ;; esac
		[ "$status" -eq 0 ] || bad="$bad; after $command, call $n: $err"
		status=99
	done
done
ok "xaudit ctl was killed $killed times" test "$killed" -ge 6
ctl "$pid" unprobe '*'
is "$bad $status $(clean libcontrolled.so)" ' 0 ' 'the program works after each, and has its own code in the end'
finish
is "$status $(cat err)" '7 ' 'it noticed nothing'
is "$(bounded 60 "$XAUDIT" dump --format=json d | jq -r 'select(.event == "probe") | .probe' | sort | uniq -c |
	awk '$1 < 10 { print }')" '' 'each probe had its events'

# From the start they are the same, and so can be taken away.
rules
for n in 1 2 3 4; do
	printf '[probe p%s]\nat = libcontrolled.so:across%s+6\n' $n $n >>conf
done
begin ./controlled counters 0 0
tell 'call 3'
ctl "$pid" unprobe '*'
is "$(answer) $(clean libcontrolled.so)" '0 4 probes taken away, paused T ms  ' \
	'those that were there from the start can be taken away, too'
tell 'call 5'
finish
is "$status $(bounded 60 "$XAUDIT" dump --format=json d | jq -r 'select(.event == "probe") | .probe' | sort | uniq -c |
	tr -s ' ' | tr '\n' ',')" '7  3 p1, 3 p2, 3 p3, 3 p4,' 'and had their events'
done_testing
