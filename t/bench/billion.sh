#!/bin/sh
# SPDX-License-Identifier: MIT
#
# By hand, on a quiet machine with 8.1 GB of room in TMPDIR and as much free memory: how long `xaudit report` takes for
# a trace of 10^9 events (or EVENTS) in four threads, of 500 functions, 50 deep, in random order; and how much memory.
# The aim is 8 s on one core, and 300 MB. The trace is in the page cache, if it has room there.
: "${XAUDIT:=./xaudit}" "${top_builddir:=.}" "${EVENTS:=1000000000}"
tmp=$(mktemp -d "${TMPDIR:-/tmp}/xaudit-bench.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM

{
	echo 'process p100 flags=1 chunk=262144'
	printf 'pair first 1000 1000 5\npair last 90000000000 90000000000 5\n'
	echo 'object 1 /usr/lib/libfoo.so'
	for i in $(seq 500); do echo "function 1 0 $i $((i * 16)) foo_$i"; done
	for thread in 100 101 102 103; do
		echo "thread $thread"
		echo "random $thread $((EVENTS / 4)) 500 50"
	done
} | "$top_builddir/t/lib/make_trace" "$tmp/trace" || exit 1
cat "$tmp"/trace/*/* >/dev/null
echo "load: $(cat /proc/loadavg)"
for jobs in 1 "$(nproc)"; do
	best=0
	for round in 1 2 3; do
		start=$(date +%s%N)
		rss=$("$top_builddir/t/lib/max_rss" "$XAUDIT" report "-j$jobs" --format=json "$tmp/trace") || exit 1
		time=$(($(date +%s%N) - start))
		[ "$best" -eq 0 ] || [ "$time" -lt "$best" ] && best=$time
	done
	awk -v j="$jobs" -v n="$EVENTS" -v t="$best" -v r="$rss" 'BEGIN {
		printf "report -j%-3d %6.2f s, %6.1f million events/s, %d KiB\n", j, t / 1e9, n / t * 1000, r }'
done
