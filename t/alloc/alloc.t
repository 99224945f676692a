#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit alloc: calls, bytes and what is left of a program that allocates in all ways; the same from a trace that was
# kept; and equal to valgrind's sums.
. "${top_srcdir:-.}/t/lib/tap.sh"

cxx=${CXX:-c++}
if ! $cxx -O1 -w -fno-builtin -o "$tmp/blocks" "$top_srcdir/t/alloc/blocks.cc" 2>"$tmp/cxx"; then
	skip_all 'no compiler of C++'
fi
xaudit=$top_builddir/xaudit

"$xaudit" alloc --keep "$tmp/trace" -- "$tmp/blocks" 2>"$tmp/out"
is $? 0 'the command ends as it would'
# 72704 bytes are those of libstdc++ for exceptions, if it takes them: the rest is 8 blocks, with 754 bytes, and 1000.
# operator new 40, new[] 200, nothrow 40, reallocarray 21 and 210, calloc 15, posix_memalign 100, aligned_alloc 128.
like "$(cat "$tmp/out")" 'in all: 1009 calls, 97458 bytes; at the end 1001 blocks, 96704 bytes;' \
	'each block counts once, for the outermost function, and a realloc that fails frees nothing'
like "$(cat "$tmp/out")" '8 frees, 0 of unknown blocks; 0 lost' 'each free is of a block that is known'
like "$(cat "$tmp/out")" '1. 1001 calls, 96704 bytes; at the end 1001 blocks, 96704 bytes' \
	'what is left is of malloc'
"$xaudit" alloc "$tmp/trace" >"$tmp/again"
is "$(cat "$tmp/again")" "$(cat "$tmp/out")" 'a trace that was kept tells the same'
"$xaudit" record -o "$tmp/coarse" --clock=coarse -F malloc -- "$tmp/blocks" 2>/dev/null
"$xaudit" alloc "$tmp/coarse" >/dev/null 2>"$tmp/why"
is $? 1 'a trace with a coarse clock is refused'
like "$(cat "$tmp/why")" 'coarse clock' 'and it is said why'
if command -v valgrind >/dev/null; then
	valgrind --run-libc-freeres=no --run-cxx-freeres=no "$tmp/blocks" sound 2>&1 |
		sed -n 's/.*total heap usage: \(.*\) allocs, \(.*\) frees, \(.*\) bytes allocated.*/\1 \2 \3/p' |
		tr -d , >"$tmp/valgrind"
	"$xaudit" alloc -- "$tmp/blocks" sound 2>"$tmp/out"
	is "$(sed -n 's/^in all: \([0-9]*\) calls, \([0-9]*\) bytes.*/\1 \2/p' "$tmp/out")" \
		"$(awk '{ print $1, $3 }' "$tmp/valgrind")" 'valgrind counts the same calls and bytes'
else
	skip 1 'no valgrind'
fi
done_testing
