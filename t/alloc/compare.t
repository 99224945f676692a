#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit alloc beside valgrind and heaptrack: calls, bytes, frees and what is left of three programs are the same, and
# the peak of one is.
. "${top_srcdir:-.}/t/lib/tap.sh"
skip_sanitized

${CC:-cc} -O1 -w -fno-builtin -pthread -o "$tmp/churn" "$top_srcdir/t/alloc/churn.c" || bail 'no compiler'
${CXX:-c++} -O1 -w -fno-builtin -o "$tmp/blocks" "$top_srcdir/t/alloc/blocks.cc" 2>/dev/null
${CXX:-c++} -O1 -w -o "$tmp/standard" "$top_srcdir/t/alloc/standard.cc" 2>/dev/null

# The arguments: blocks then makes no realloc that fails, which valgrind counts, and standard throws nothing.
for run in 'blocks sound' 'churn 0' 'standard quietly'; do
	program=$tmp/${run% *}
	if ! command -v valgrind >/dev/null || [ ! -x "$program" ]; then
		skip 1 'no valgrind, or no compiler of C++'
		continue
	fi
	bounded 100 valgrind --run-libc-freeres=no --run-cxx-freeres=no "$program" "${run#* }" 2>&1 | tr -d , |
		sed -nE -e 's/.*in use at exit: ([0-9]+) bytes in ([0-9]+) blocks.*/\2 \1/p' \
		-e 's/.*total heap usage: ([0-9]+) allocs ([0-9]+) frees ([0-9]+) bytes allocated.*/\1 \3 \2/p' |
		tr '\n' ' ' >"$tmp/valgrind"
	bounded 100 "$XAUDIT" alloc -o "$tmp/out" -- "$program" "${run#* }"
	tr -d ,\; <"$tmp/out" | sed -nE -e 's/^([0-9]+) frees.*/\1/p' \
		-e 's/^in all: ([0-9]+) calls ([0-9]+) bytes at the end ([0-9]+) blocks ([0-9]+) b.*/\3 \4 \1 \2/p' |
		tr '\n' ' ' >"$tmp/own"
	is "$(cat "$tmp/own")" "$(cat "$tmp/valgrind")" "$run: valgrind counts the same blocks, bytes and frees"
done
if command -v heaptrack >/dev/null && command -v heaptrack_print >/dev/null; then
	# What it preloads needs libstdc++, whose pool for exceptions counts, too.
	${CC:-cc} -O1 -w -fno-builtin -pthread -o "$tmp/churn" "$top_srcdir/t/alloc/churn.c" -Wl,--no-as-needed \
		-lstdc++ || bail 'no libstdc++'
	bounded 100 heaptrack -o "$tmp/heaptrack" "$tmp/churn" >/dev/null 2>&1
	heaptrack_print "$tmp"/heaptrack.* 2>/dev/null >"$tmp/print"
	bounded 100 "$XAUDIT" alloc -o "$tmp/out" -- "$tmp/churn"
	is "$(awk -v own="$(sed -nE 's/^in all: .* at the peak [0-9]+ blocks, ([0-9]+) bytes.*/\1/p' "$tmp/out")" '
		/^peak heap memory consumption:/ {
			peak = $5 * ($5 ~ /K$/ ? 1e3 : $5 ~ /M$/ ? 1e6 : 1)
			print (own > peak * 0.99 && own < peak * 1.01 ? "same" : own " is not " peak)
		}' "$tmp/print")" same 'the peak is that of heaptrack, within 1 %'
else
	skip 1 'no heaptrack'
fi
done_testing
