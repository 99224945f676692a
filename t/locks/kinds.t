#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit locks of each function that locks, and of what it may answer: each counts as what it is. What nothing tells of
# a lock is not taken for known.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
unset XAUDIT_CONFIG XAUDIT_RULES
need "${CXX%% *}" strip objcopy

# locks PROGRAM ARG...: sets $status, $err, $out and $text, what is told of a run in both ways.
locks() {
	rm -rf kept
	status=0
	bounded 60 "$XAUDIT" locks --keep=kept --format=json -- "$@" >"$tmp/.out" 2>"$tmp/.err" </dev/null || status=$?
	out=$(cat "$tmp/.out")
	err=$(cat "$tmp/.err")
	text=$("$XAUDIT" locks kept)
}
json() {
	printf '%s\n' "$out" | jq -r "def own: select(.library // \"\" | endswith(\"/$of\")); $1"
}

of=kinds
program "$CC" kinds kinds.c
locks ./kinds
is "$status $err" '0 ' 'a program that uses all functions is reported of'
is "$(json '.locks[] | own | "\(.variable) \(.kind): \(.calls) calls, \(.waits.count) waits, \(.busy) busy, " +
	"\(.in_vain) in vain, \(.holds.count) holds by \(.holders)"' | LC_ALL=C sort)" \
	'adaptive mutex: 5 calls, 0 waits, 0 busy, 0 in vain, 5 holds by 1
c_again mutex: 6 calls, 0 waits, 0 busy, 0 in vain, 3 holds by 1
c_plain mutex: 7 calls, 0 waits, 1 busy, 0 in vain, 7 holds by 1
c_timed mutex: 2 calls, 1 waits, 0 busy, 1 in vain, 1 holds by 1
checked mutex: 3 calls, 1 waits, 0 busy, 1 in vain, 1 holds by 1
robust mutex: 2 calls, 1 waits, 0 busy, 0 in vain, 2 holds by 2
spin spin: 2 calls, 0 waits, 1 busy, 0 in vain, 1 holds by 1
table rwlock: 8 calls, 4 waits, 2 busy, 4 in vain, 1 holds by 1' 'by lock'
is "$(json '.conditions[] | own | "\(.variable) \(.kind): \(.calls) calls, \(.in_vain) in vain, \(.busy) busy"' |
	LC_ALL=C sort)" 'c_filled condition: 1 calls, 1 in vain, 0 busy
empty semaphore: 3 calls, 2 in vain, 1 busy' 'conditions and semaphores, which nobody holds'
is "$(json '[.locks[] | own | .unlocked_by_others] | add')" 0 'what is refused with EPERM unlocks nothing'
is "$(json '. as $all | .held_at_end[] | .lock as $id | ($all.locks[] | select(.id == $id) | .variable) +
	" \(.thread_ended)"')" 'robust true' 'who ended with a robust mutex is told, and no other'
is "$(json '([.holders[].waits.total_ns] | add) == ([.locks[], .conditions[] | .waits.total_ns] | add)')" true \
	'waits are the same by thread and by lock'
like "$text" '^ +1 +0 +- +- .* [0-9.]+ ms +1[0-9.]+ ms  thread [0-9]+ \(kinds\): table \[kinds\]$' \
	'by thread: who kept others waiting, and how long'

# ---- locks without a name ----
of=stripped
program "$CC" planted planted.c
strip -o stripped planted || bail strip
locks ./stripped inversion
is "$(json '.locks[] | own | "\(.variable) \(.calls)"')" 'null 4
null 4' 'no symbol tells which variables they are'
like "$text" '^ .* mutex   0x[0-9a-f]+ \[stripped\] first locked in (forth|stripped\+0x[0-9a-f]+)$' \
	'so where they were first locked is told'
is "$(json '.inversions[] | "\(.sure) \(.one_thread)"')" 'true false' 'they are the same locks each time, still'

objcopy --only-keep-debug planted stripped.debug && objcopy --add-gnu-debuglink=stripped.debug stripped ||
	bail objcopy
is "$("$XAUDIT" locks --format=json kept |
	jq -r '[.locks[] | select(.library | endswith("/stripped")) | .variable] | sort | join(" ")')" \
	'queue_lock second_lock' 'unless a file with debug information is there'

of=nodes
program "$CXX" nodes nodes.cc -std=c++17
locks ./nodes
is "$(json '.inversions[] | "\(.sure) \(.one_thread) \(.gate)"')" 'false false null' \
	'memory that was several locks, as nothing tells: an inversion is not sure'
like "$text" '^1\. by several threads: a deadlock if they do it at the same time, and if these are the same locks ' \
	'which text says'
is "$(json '.locks[] | select(.library == null) | .first_locked_in | test("hand_over_hand|_M_run")')" 'true
true' "what was inlined into C++'s library is where they were first locked"
is "$(json '.not_seen | index("glibc") != null')" true "that glibc's own locks are not seen is told each time"
done_testing
