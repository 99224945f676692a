#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit locks of damaged traces ends with what it could read, or says in one line what is damaged. And it needs no more
# memory for a trace that is a hundred times as long.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/spoiled.sh"
built spoil make_trace max_rss
unset XAUDIT_CONFIG XAUDIT_RULES

program "$CC" callers callers.c
bounded 60 "$XAUDIT" locks --keep=whole -- ./callers >out 2>err || bail "$(cat err)"
count=$(rounds 30 600 6000)
seed=0
while [ $((seed += 1)) -le "$count" ]; do
	rm -rf fuzz
	cp -r whole fuzz
	# shellcheck disable=SC2046
	set -- $(find fuzz/p* -type f -size +0 | LC_ALL=C sort)
	shift $((seed % $#))
	spoil_part "$1" 0 "$seed"
	read_spoiled "$seed" locks 'locks --format=json'
done
is "$(cat bad)" '' "each of $count damaged traces is read, or reported as damaged"
ok "damage was found in some: $found times" test "$found" -ge $((count / 10))

"$top_srcdir/t/bench/locks.sh" "$tmp/short" 32000 && "$top_srcdir/t/bench/locks.sh" "$tmp/long" 3200000 ||
	bail 'no trace was made'
is "$("$XAUDIT" locks --format=json long |
	jq -c '.locks[0] | [.calls, .waits.count, .waits.total_ns, .waits.max_ns]')" \
	'[400000,300000,57000000,190]' 'a long trace is read'
short=$(bounded 60 "$max_rss" "$XAUDIT" locks "$tmp/short")
long=$(bounded 60 "$max_rss" "$XAUDIT" locks "$tmp/long")
diag "$short KiB, $long KiB"
if [ -z "$XAUDIT_ASAN$XAUDIT_TSAN" ]; then
	ok 'in the memory of a short one' test "$((long - short))" -le 2048
else
	skip 1 'sanitizers keep freed memory'
fi
done_testing
