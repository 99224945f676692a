#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Threads at once on stacks that lie side by side in memory, which look like one: in the heap, and segments of stacks
# that gcc splits.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

# calls: what was lost, and what was open in the end, or left without a return; then the calls of each function.
calls() {
	report d
	printf '%s unwound, %s: %s\n' "$(bounded 60 "$XAUDIT" dump d | grep -c ' unwind ')" "$(sums)" "$(rows)"
}
# chains: each chain of calls, from the outermost one, and how many there were.
chains() {
	bounded 60 "$XAUDIT" stacks --format=folded --sort=calls d | sed 's/ \[[^]]*\]//g' | LC_ALL=C sort
}

# expected USED STEPS: what `calls` and `chains` say of the steps (see the fixture).
expected() {
	echo "$2" | LC_ALL=C awk -v used="$1" '{
		for (n = 1; n <= 3; n++) {
			c = substr("abc", n, 1); chain = "call_" c; depth[c] = 0
			if (used == "used")
				calls[c] = count[chain] = 1
		}
		for (i = 1; i <= length($0); i++) {
			c = tolower(s = substr($0, i, 1))
			if (s == c) { depth[c]--; continue }
			depth[c]++; calls[c]++
			chain = "call_" c
			for (n = 1; n < depth[c]; n++)
				chain = chain ";call_" c
			count[chain]++
		}
		printf "0 unwound, 0 lost 0 unfinished:"
		for (n = 1; n <= 3; n++)
			if (calls[c = substr("abc", n, 1)]) { printf "%s call_%s %d", comma, c, calls[c]; comma = "," }
		print ""
		for (chain in count) print chain, count[chain] | "sort"
	}'
}

# beside STACKS WAY STEPS: of $kind; calls are as the steps are, and mostly chains, too.
beside() {
	name="$kind, $1 stacks, a thread that waits $2, $3"
	record d -k "$kind" -l libbeside.so -- "$kind/beside" "$1" "$2" "$3"
	is "$status $out" '0 done' "$name: the program runs to its end"
	is "$(calls)" "$(expected "$1" "$3" | head -n 1)" "$name: each call has its end"
	# Which of two threads that both run is on which stack can't be told before their calls cross.
	[ "$1 $2" = 'used spins' ] ||
		is "$(chains)" "$(expected "$1" "$3" | sed 1d)" "$name: no call is inside of another thread's"
}

for kind in plt patchable; do
	mkdir "$kind"
	flag=
	[ "$kind" = plt ] || flag=-fpatchable-function-entry=5
	# shellcheck disable=SC2086
	library "$CC" "$kind/libbeside.so" beside.c -DPART $flag
	program "$CC" "$kind/beside" beside.c -L"$kind" -lbeside
	for steps in ABab ABba BAab BAba CBAcba CBAabc ABCabc ABABAaBaAbBbCcabab; do
		beside fresh spins "$steps"
		beside used spins "$steps"
		[ "$kind" = patchable ] || beside fresh sleeps "$steps"
		[ "$kind" = patchable ] || beside used sleeps "$steps"
	done
done

# crossed SIDE WAY HOW: of $kind; at each instruction of a call another thread comes to the stack beside. Of C+1 rounds
# all but the last one have a signal, and calls of the handler and of the other thread.
crossed() {
	name="$kind, a call that is interrupted on the stack $1, by a handler that $2, calls beside it $3"
	record d -k "$kind" -l libbeside.so -- "$kind/crossed" "$1" "$2" "$3" 1
	c=${out##* } each=1
	[ "$3" != twice ] || each=2
	rounds=$((c + 1)) b=$((2 * c + 2 + each * c))
	is "$status $out" "0 $((3 * rounds)) $b $c" "$name: the program runs to its end"
	ok "$name: at more than 50 instructions" test "$c" -gt 50
	is "$(calls)" "0 unwound, 0 lost 0 unfinished: call_a $((3 * rounds)), call_b $b, call_c $c" \
		"$name: each call has its end"
	[ "$2" = spins ] || is "$(chains | grep -v 'call_c')" "call_a $rounds
call_a;call_a $((2 * rounds))
call_b $b" "$name: no call is inside of another thread's"
}
kind=plt
program "$CC" plt/crossed crossed.c -Lplt -lbeside
for side in above below; do
	for how in short long twice; do
		crossed "$side" spins "$how"
		crossed "$side" sleeps "$how"
	done
done
kind=xray
mkdir xray
if xray_library xray/libbeside.so beside.c -DPART; then
	program "$CC" xray/crossed crossed.c -Lxray -lbeside
	for how in short long twice; do
		crossed above spins "$how"
		crossed above sleeps "$how"
	done
else
	skip 21 'no clang here'
fi

# What is no stack side by side, but looks like that from within: one stack, on which two threads are by turns.
program "$CC" plt/handed handed.c -Lplt -lbeside
record d -k plt -l libbeside.so -- plt/handed 1000
is "$status $out" '0 done' 'a coroutine that two threads without calls go on with: the program runs to its end'
is "$(calls)" '0 unwound, 0 lost 0 unfinished: call_a 1, call_b 1000' \
	'a coroutine that two threads without calls go on with: each call has its end'
is "$(chains)" 'call_a 1
call_a;call_b 1000' 'a coroutine that two threads without calls go on with: its calls stay inside of each other'

# Who ended without a word to libc is on its stack still, as it seems to the next thread there.
program "$CC" plt/silent silent.c -Lplt -lbeside
record d -k plt -l libbeside.so -- plt/silent 10
is "$status $out" '0 done' 'threads that end by the system call alone: the program runs to its end'
is "$(calls)" '9 unwound, 0 lost 1 unfinished: call_a 10, call_b 10' \
	'threads that end by the system call alone: the next one there ends the call that it ended in'
is "$(chains)" 'call_a 10
call_b 10' "threads that end by the system call alone: no call is inside of an earlier thread's"

# Two threads by turns in each of five rounds, thrice down 41 frames each.
library "$CC" libsplit.so split.c -DPART
if $CC -fsplit-stack -O2 -pthread -o split "$beside/split.c" -L. -lsplit -Wl,-rpath,'$ORIGIN' 2>.no-split &&
	[ "$(bounded 60 ./split 1 1)" = 2 ]; then
	for run in 1 2 3 4; do
		record d -k plt -l libsplit.so -- ./split 5 3
		is "$status $out" '0 10' "stacks of segments, $run: the program runs to its end"
		is "$(calls)" '0 unwound, 0 lost 0 unfinished: call_down 1230, call_leaf 1230' \
			"stacks of segments, $run: each call has its end"
	done
else
	skip 8 "the compiler splits no stacks: $(head -n 1 .no-split)"
fi
done_testing
