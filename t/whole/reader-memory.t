#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The readers' memory does not grow with the trace: with a trace 100 times as long it differs by at most 2 MiB.
. "${top_srcdir:-.}/t/lib/tap.sh"

make_trace=$top_builddir/t/lib/make_trace
max_rss=$top_builddir/t/lib/max_rss
[ -x "$make_trace" ] && [ -x "$max_rss" ] || bail "no $make_trace or $max_rss: run make check"
[ -z "$XAUDIT_ASAN$XAUDIT_TSAN" ] || skip_all 'sanitizers keep freed memory'

trace() { # NAME EVENTS: in each of two threads
	{
		echo 'process p100 chunk=1048576'
		printf 'pair first 1000 1000 5\npair last 90000000 90000000 5\n'
		echo 'object 1 /usr/lib/libfoo.so'
		for i in $(seq 100); do echo "function 1 0 $i $((i * 16)) foo_$i"; done
		for t in 100 101; do
			echo "thread $t"
			echo "random $t $2 100 50"
		done
	} | "$make_trace" "$tmp/$1" || bail "make_trace failed"
}
trace short 20000
trace long 2000000
is "$("$XAUDIT" info "$tmp/long" | sed -n 's/^Events *\([0-9]*\) .*/\1/p')" 4000000 \
	'the long trace has 4 million events'
for command in report 'report --by=thread' replay 'dump --format=json' info; do
	short=$(bounded 120 "$max_rss" "$XAUDIT" $command "$tmp/short")
	long=$(bounded 120 "$max_rss" "$XAUDIT" $command "$tmp/long")
	diag "$command: $short KiB, $long KiB"
	ok "$command needs no more memory for a trace 100 times as long" test "$((long - short))" -le 2048
done
done_testing
