#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What a process loses for want of descriptors, rights or memory: record and info tell how much, and the cause in words.
# Processes that start with little memory (ulimit -v) map little of their file: a sixteenth, so there are few places.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

chmod 755 "$tmp"
library "$CC" libcounted.so counted.c
program "$CC" dropped dropped.c -L. -lcounted
program "$CC" crowd crowd.c -L. -lcounted
mkdir empty

# with KILOBYTES COMMAND...: records a command that starts with so much address space into d.
with() {
	kilobytes=$1
	shift
	record d -b 64k -k plt -l libcounted.so sh -c 'ulimit -S -v "$1" && shift && exec "$@"' - "$kilobytes" "$@"
	report d
	# In events, as reports tell it, and as calls that are missing tell it. A call is two events.
	lost=$(printf '%s\n' "$report" | jq -r .lost)
}
# missing CALLS: how many events of so many calls are not in the trace.
missing() {
	printf '%s\n' "$report" | jq -r --argjson n "$1" \
		'2 * ($n - ([.functions[] | select(.function == "counted") | .calls] | add // 0)) + .unfinished'
}
# told CAUSE NAME: what record says at its end, and info, of the second of two processes.
told() {
	is "$(printf '%s\n' "$err" | sed -n 's/^xaudit record: \(.* lost in 1 of 2 processes\) (p[0-9.]*) /\1 /p')" \
		"$lost of $all events were lost in 1 of 2 processes $1" "$2: record tells how many at its end, and why"
	is "$("$XAUDIT" info d | sed -n 's/^  Why lost  *//p' | head -n 1)" "${1%%, and xaudit record did not*}" \
		"$2: info tells why, too"
}

# Of eight places each thread takes one, the first one that of the head: eight of sixteen threads have one.
with 20480 ./crowd 16 100
is "$status/$out/$(calls counted)/$lost" '0/1600 calls/800/1600' \
	'memory: the calls of eight threads of sixteen are lost'
all=3200
told 'since no memory was to be had' memory

# While record stands still, nobody takes chunks away, and files can't be opened: the 32 places do not hold them all,
# though each thread has one.
all=282000
with 65536 ./dropped smdl
is "$status/$out/$lost" "0/141000 calls/$(missing 141000)" 'descriptors: what is not in the trace was lost'
ok "descriptors: that is $lost events" [ "$lost" -gt 1000 ]
told 'since no descriptor was free (ulimit -n)' descriptors

if [ "$(id -u)" -eq 0 ]; then
	with 65536 "$tmp/dropped" smcul "$tmp/empty"
	is "$status/$out/$lost" "0/141000 calls/$(missing 141000)" 'rights: what is not in the trace was lost'
	ok "rights: that is $lost events" [ "$lost" -gt 1000 ]
	told 'since the process could not open its files, and xaudit record did not answer in time' rights
else
	skip 4 'not root: there are no rights to drop'
fi
done_testing
