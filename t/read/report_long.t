#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit report of a long trace whose every number is known: 40 functions, each calling the next, in two threads; and of
# one in which no order can be foreseen. Memory is bounded. t/bench/billion.sh has the same with 10^9 events.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/written.sh"
need jq
built max_rss

# head: 40 functions; a tick is 1 ns.
head() {
	echo 'process p100 flags=1'
	printf 'pair first 1000 1000 5\npair last 9000000 9000000 5\n'
	echo 'object 1 /usr/lib/libfoo.so'
	for i in $(seq 40); do echo "function 1 0 $i $((i * 16)) f_$i"; done
}
rounds=25000
{
	head
	for thread in 101 102; do
		printf 'thread %s\nnest %s 40 100\n' "$thread" "$rounds"
	done
} | write_trace nest

# From its entry to its end lie 2 * (40 - n) events of others, so f_n takes 100 ns more than 200 * (40 - n). Of that it
# has 200 ns itself, the innermost one 100.
expected=$(for n in $(seq 40); do
	time=$((100 + 200 * (40 - n)))
	echo "f_$n $((2 * rounds)) $((2 * rounds * time)) $((2 * rounds * (n == 40 ? 100 : 200))) $time $time"
done)
lines() {
	"$XAUDIT" report --format=json "$@" |
		sed -n 's/^{"function":"\(f_[0-9]*\)".*"calls":\([0-9]*\),"total_ns":\([0-9]*\),"self_ns":\([0-9]*\),'\
'"min_ns":\([0-9]*\),.*"max_ns":\([0-9]*\).*/\1 \2 \3 \4 \5 \6/p' | sort -V
}
is "$(lines -j1 "$tmp/nest")" "$expected" "each of $((160 * rounds)) events is counted, with its time"
is "$(lines -j2 "$tmp/nest")" "$expected" 'by two threads, too'
is "$("$XAUDIT" report -j1 --format=json --tid=102 "$tmp/nest" | grep -c "\"calls\":$rounds,")" 40 \
	'and those of one thread'

# Events that come in an order by chance: 2 million in each of three threads, and nothing is left over.
{
	head
	for thread in 101 102 103; do
		printf 'thread %s\nrandom %s 2000000 40 30\n' "$thread" "$thread"
	done
} | write_trace random
for jobs in 1 3; do
	"$XAUDIT" report "-j$jobs" --format=json "$tmp/random" >"$tmp/out"
	is "$(grep -o '"calls":[0-9]*' "$tmp/out" | awk -F : '{ n += $2 } END { print n }')" 3000000 \
		"-j$jobs: half of 6 million events in no order are calls"
	like "$(sed 1q "$tmp/out")" '^{"lost":0,"unfinished":0,' 'all of which ended'
done
is "$("$XAUDIT" report -j1 --format=json --from=0 --to=3600 "$tmp/random" | cksum)" \
	"$("$XAUDIT" report -j1 --format=json "$tmp/random" | cksum)" 'a time that holds all of them changes nothing'

# What counts only some calls has a lane of its own; the cursor behind --callers takes each event by itself.
# numbers OPTION...: of each function, and their sums
numbers() {
	bounded 120 "$XAUDIT" report -j1 --format=json "$@" "$tmp/random" |
		jq -c '[.functions[] | [.function, .calls, .total_ns, .self_ns]] | sort | ., length'
}
for options in --tid=102 --from=1ms --to=9ms '--from=3ms --to=4ms' '--tid=101 --from=5ms --to=6ms'; do
	numbers $options >"$tmp/one"
	numbers --callers='*' $options >"$tmp/other"
	is "$(cmp "$tmp/one" "$tmp/other" 2>&1; tail -n 1 "$tmp/one")" 40 \
		"$options: the numbers of each function are the cursor's"
done
for tid in 101 102 103; do numbers --tid=$tid; done | jq -s '[.[] | arrays | .[][1]] | add' >"$tmp/tids"
is "$(cat "$tmp/tids")" 3000000 'the calls of all threads are all calls'
for span in --to=5ms --from=5ms; do numbers $span; done | jq -s '[.[] | arrays | .[][1]] | add' >"$tmp/spans"
is "$(cat "$tmp/spans")" 3000000 'so are those of two spans of time'

if [ -z "$XAUDIT_ASAN$XAUDIT_TSAN" ]; then
	for jobs in 1 3; do
		rss=$(bounded 60 "$max_rss" "$XAUDIT" report "-j$jobs" "$tmp/random")
		diag "-j$jobs: $rss KiB"
		ok "-j$jobs takes less than 16 MiB for a trace of 46" [ "$rss" -lt 16384 ]
	done
fi
done_testing
