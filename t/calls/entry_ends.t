#!/bin/sh
# SPDX-License-Identifier: MIT
#
# With every function of libc traced by kind entry, each call has one end, and each end its call: where threads end,
# programs jump, fork, and change stacks, in functions of libc that are traced themselves.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

program "$CC" ends ends.c -pthread
export XAUDIT_INDEX=$tmp/cache XAUDIT_CONFIG=/dev/null
unset XAUDIT_RULES
libc=$(ldd ./ends | sed -n 's/^.*libc\.so\.6 => \([^ ]*\).*/\1/p')
index_of ./ends "$libc"

# ends WHAT N UNFINISHED [INHERITED]; any: it is not known.
ends() {
	record d -k entry -m stream ./ends "$1" "$2"
	# What it spawns has no environment.
	is "$status/$out/$(echo "$err" | grep -v 'executed programs\{0,1\} ran untraced: true')" '0/done/' \
		"$1: the program runs as ever"
	report d
	[ "$3" != any ] || set -- "$1" "$2" "$(printf '%s' "$report" | jq .unfinished)"
	without=$(printf '%s' "$report" | jq -r '"\(.orphans) orphans, \(.inherited // 0) inherited"')
	is "$(calls work) $(sums), $without" "$2 0 lost $3 unfinished, 0 orphans, ${4:-0} inherited" \
		"$1: each call has its end, and each end its call" ||
		diag "$(bounded 60 "$XAUDIT" replay d | grep -B9 -A3 'not in the trace' | head -n 40)"
}
ends thread 10 0
ends exit 10 0
ends cancel 10 0
ends key 10 0
ends jump 10 0
ends jump-handler 10 0
ends jump-anywhere 300 0
ends handler 10 0
# A coroutine waits at the end of the program.
ends swap 10 1
ends fork 10 0 20
like "$(bounded 60 "$XAUDIT" replay d)" 'end of .*fork, which was called before the fork \*/' 'replay says so'
ends vfork 10 0
# The child's way to exec() has no end, and is found left where the next child has the same stack.
ends spawn 10 any
ends clone 10 10
# libc's thread is where it waits for the next one, or on its way there.
ends timer 10 any

done_testing
