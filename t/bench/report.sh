#!/bin/sh
# SPDX-License-Identifier: MIT
#
# How many events per second `xaudit report` counts on one core: the best of five readings of a trace of EVENTS events
# (default 40 million) in two threads, of 500 functions, 50 deep, in random order (that is the worst: entry or exit
# can't be predicted). The trace is in the page cache. Prints "report EVENTS/s" and the same for info, and for a program
# that adds calls up with libxaudit-read's cursor, in millions.
: "${XAUDIT:=./xaudit}" "${top_builddir:=.}" "${EVENTS:=40000000}"
tmp=$(mktemp -d "${TMPDIR:-/tmp}/xaudit-bench.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM

{
	echo 'process p100 chunk=262144'
	printf 'pair first 1000 1000 5\npair last 90000000 90000000 5\n'
	echo 'object 1 /usr/lib/libfoo.so'
	i=0
	while [ $((i += 1)) -le 500 ]; do echo "function 1 0 $i $((i * 16)) foo_$i"; done
	for thread in 100 101; do
		echo "thread $thread"
		echo "random $thread $((EVENTS / 2)) 500 50"
	done
} | "$top_builddir/t/lib/make_trace" "$tmp/trace" || exit 1

now() {
	date +%s%N
}
for command in "$XAUDIT report -j1" "$XAUDIT report -j1 --by=thread" "$top_builddir/t/lib/read_calls" "$XAUDIT info"; do
	best=0
	for round in 1 2 3 4 5; do
		start=$(now)
		$command "$tmp/trace" >/dev/null || exit 1
		time=$(($(now) - start))
		[ "$best" -eq 0 ] || [ "$time" -lt "$best" ] && best=$time
	done
	awk -v c="${command##*/}" -v n="$EVENTS" -v t="$best" \
		'BEGIN { printf "%-26s %6.1f million events/s\n", c, n / t * 1000 }'
done
