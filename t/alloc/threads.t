#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit alloc of threads that allocate at the same time, and free what others have allocated: no block is lost, since
# what frees one comes after what gave it, on all processors.
. "${top_srcdir:-.}/t/lib/tap.sh"
skip_sanitized

${CC:-cc} -O1 -w -fno-builtin -pthread -o "$tmp/churn" "$top_srcdir/t/alloc/churn.c" || bail 'no compiler'

# numbers FILE: calls, blocks at the end, frees, lost, all that is missing.
numbers() {
	sed -nE -e 's/^in all: ([0-9]+) calls.* at the end ([0-9]+) blocks.*/\1 \2/p' \
		-e 's/^([0-9]+) frees, [0-9]+ of unknown blocks; ([0-9]+) lost.*/\1 \2/p' \
		-e 's/^([0-9]+) calls without the values.*/missing/p' -e 's/.*are not in the trace.*/missing/p' "$1" |
		tr '\n' ' '
}
for round in $(seq "$(rounds 3 20 100)"); do
	bounded 100 "$XAUDIT" alloc --keep "$tmp/trace" -n 99 -o "$tmp/out" -- "$tmp/churn" 4
	set -- $(numbers "$tmp/out")
	# Each thread makes 20000 blocks of which 256 stay; one for each of its stack's tables, which glibc frees never.
	is "$(($1 - $3)) $4 $#" "$2 0 4" 'what was allocated was freed, or is there'
	ok 'each round of each thread is a call' [ "$1" -ge 80100 -a "$1" -le 80108 ]
	"$XAUDIT" alloc -n 99 "$tmp/trace" >"$tmp/again"
	is "$(grep -v '^the peak is' "$tmp/again")" "$(grep -v '^the peak is' "$tmp/out")" \
		'the trace, read afterwards, tells the same'
	rm -rf "$tmp/trace"
done
is "$(grep -c '#1   churn+0x' "$tmp/out")" 3 'all threads have the same three stacks'
like "$(cat "$tmp/out")" '#1   peak\+0x' 'and the main one has its own'
done_testing
