#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The readers' memory does not grow with the trace: with a trace 100 times as long it differs by at most 2 MiB.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/written.sh"
built max_rss
[ -z "$XAUDIT_ASAN$XAUDIT_TSAN" ] || skip_all 'sanitizers keep freed memory'

trace() { # NAME EVENTS: in each of two threads
	{
		many_functions 100 1048576
		for t in 100 101; do
			echo "thread $t"
			echo "random $t $2 100 50"
		done
	} | write_trace "$1"
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
