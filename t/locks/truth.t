#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit locks of a correct program that keeps a log of its own: each hold that is told was one, of that thread, at that
# time; so was each link of a chain; and nothing is inverted, left, or deadlocked. Counts are those of the log.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
unset XAUDIT_CONFIG XAUDIT_RULES

program "$CC" truth truth.c
bounded 100 "$XAUDIT" locks --keep=kept --format=json -- ./truth "$(rounds 300 3000 30000)" >both 2>err
is "$? $(cat err)" '0 ' 'a program of eight threads and six locks is reported of'
# The log, then the report. Clocks are within 20 us of each other.
check() {
	jq -s -r '.[0] as $log | .[1] as $all | 20000 as $near
		| ($all.locks | map({ key: "\(.id)", value: .variable }) | from_entries) as $name
		| def holds($tid; $lock; $from; $to): any($log[]; .got and .tid == $tid and .lock == $lock and
			.asked <= $from + $near and .let_go >= $to - $near);
		def calls($tid; $lock; $at): any($log[]; .tid == $tid and .lock == $lock and
			.asked <= $at + $near and .back >= $at - $near);
		'"$1" both
}

is "$(check '$all.locks[] | select(.library | endswith("/truth")) | "\(.variable) \(.holds.count)"' | LC_ALL=C sort)" \
	"$(check '$log | map(select(.got)) | group_by(.lock) | .[] | "\(.[0].lock) \(length)"' | LC_ALL=C sort)" \
	'each lock was held as often as the program says'
is "$(check '[$all.locks[] | .waits.count + .free.count] | add == ([$all.locks[] | .calls] | add)')" true \
	'each call is one that waited, or one that did not'
is "$(check '[$all.inversions, $all.held_at_end, $all.waiting_at_end, [$all.chains[] | select(.deadlock)]] |
	map(length) | join(" ")')" '0 0 0 0' 'nothing is inverted, held or waited for at the end, or deadlocked'
is "$(check '$all.holds | length')" 64 'as many holds as there is room for are told'
is "$(check '$all.holds[] | select(holds(.tid; $name["\(.lock)"]; .start_ns; .start_ns + .time_ns) | not)')" '' \
	'each was one of that thread'
is "$(check '$all.holds[] | . as $hold | select(any($log[]; .got and .tid == $hold.tid and
	.lock == $name["\($hold.lock)"] and .back >= $hold.start_ns - $near and
	.let_go <= $hold.start_ns + $hold.time_ns + $near) | not)')" '' 'and no longer'
is "$(check '$all.holds[] | select(.others_waited_ns > .waiters * .time_ns or .waiters == 0)')" '' \
	'others waited no longer than it was'
ok 'there were chains' test "$(check '$all.chains | length')" -gt 0
is "$(check '$all.chains[] | . as $chain | range(.locks | length) | $name["\($chain.locks[.])"] as $lock
	| $chain.first_ns as $at
	| select((calls($chain.threads[.].tid; $lock; $at) and holds($chain.threads[. + 1].tid; $lock; $at; $at)) | not)
	| [., $chain]')" '' 'in each link one waited for what the other held'
done_testing
