#!/bin/sh
# SPDX-License-Identifier: MIT
#
# kill -9 in mid-run: the trace holds every call up to the one that the program was in.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

# compare: prints "" if each thread has as many calls in the trace as the program counted, or one more.
compare() {
	od -An -v -w16 -td8 counters | while read -r tid count; do
		[ "$tid" -ne 0 ] || break
		traced=$(printf '%s\n' "$threads_report" | jq "[.threads[] | select(.tid == $tid) | .calls] | add // 0")
		more=$((traced - count))
		[ $more -eq 0 ] || [ $more -eq 1 ] || echo "thread $tid counted $count, the trace has $traced"
	done
}
# check SENTENCE THREADS: of the trace in d.
check() {
	is "$status" 137 "$1: the program was killed"
	report d --by thread
	threads_report=$report
	is "$report_status $(compare)" '0 ' "$1: the trace has each thread's calls to the last"
	report d
	is "$(printf '%s\n' "$report" | jq ".lost == 0 and .unfinished <= $2")" true \
		"$1: nothing is lost, at most one call is open"
	# Each end has a beginning, and only calls without an end are unfinished.
	counted=$(od -An -v -td8 -w16 counters | awk '{ sum += $2 } END { printf "%d", sum }')
	ended=$(($(calls counted) - $(printf '%s\n' "$report" | jq .unfinished)))
	ok "$1: calls that the program counted have an end" test "$ended" -ge "$counted"
	is "$(info d '.processes | map([.ended, .off, .lost, .meta_lost])')" '[[false,false,0,0]]' \
		"$1: info says that it did not end by itself"
}

# kind NAME KIND
kind() {
	program "$CC" killed killed.c -L. -lcounted
	for shape in '1 20000 4M' '3 50000 4M' '1 30000 64k' '3 20000 64k'; do
		set -- "$1" "$2" $shape
		record d -b "$5" -k "$2" -l libcounted.so ./killed counters "$3" "$4"
		check "$1, $3 threads, buffers of $5" "$3"
	done
}

library "$CC" libcounted.so counted.c
kind plt plt
# No process is left that could repair the trace afterwards.
printf '[trace]\noutput = d\nbuffer = 256k\n[library libcounted.so]\nkinds = plt\n[library *]\nkinds = none\n'\
'[program]\nkinds = none\n' >conf
rm -rf d
status=0
bounded 60 env XAUDIT_CONFIG=conf LD_AUDIT="$MODULE" ./killed counters 2 40000 2>/dev/null || status=$?
check 'without xaudit record' 2
patchable_library libcounted.so counted.c
kind patchable patchable
if xray_library libcounted.so counted.c; then
	kind xray xray
else
	skip 20 'no clang here'
fi
done_testing
