#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Functions compiled with -finstrument-functions: each call, and each end, as the compiler tells of them: a profiler of
# the program's own, called after xaudit, writes down the same.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

need g++
library "$CC" log.so cyg_log.c

# build COMPILER OPTION...: program and part, of C++ and C.
build() {
	[ "$1" = gcc ] && set -- "$CC" "$CXX" "$@" || set -- "$CLANG" "$CLANGXX" "$@"
	compiler=$1 cxx=$2
	shift 3
	library "$compiler" libcyg_part.so cyg_part.c -finstrument-functions "$@"
	program "$cxx" cyg cyg.cc -finstrument-functions "$@" -L. -lcyg_part
}
# sequence: the entries and exits of the dump, thread by thread.
sequence() {
	jq -r 'select(.event == "entry" or .event == "exit") | "\(.tid) \(.event) \(.address)"' d.json |
		LC_ALL=C sort -s -k1,1n
}
# orphans: ends in the dump whose function has no open call on that thread.
orphans() {
	jq -r 'select(.function) | "\(.tid) \(.event) \(.library)/\(.function)"' d.json | awk '
		$2 == "entry" { stack[$1, ++depth[$1]] = $3; next }
		{
			for (n = depth[$1]; n && stack[$1, n] != $3; n--)
				;
			if (n)
				depth[$1] = n - 1
			else
				bad++
		}
		END { print bad + 0 }'
}
# rows: "CALLS FUNCTION" of each function in the report.
rows() {
	printf '%s\n' "$report" | jq -r '.functions[] | "\(.calls) \(.function)"' | LC_ALL=C sort | tr '\n' ' '
}
expected='120 _Z6passesl 120 _Z6throwsl 120 _ZL14inlined_passesl 1600 _ZL9innermostl 164 _ZL10count_downl 1860 '\
'_Z9fibonaccil 20 _Z13returns_twicel 20 _Z7catchesl 20 cyg_part 200 _Z4lastl 200 _Z5growsl 200 _Z5largel 40 inner 60 '\
'_Z5jumpsl 800 _Z5outerl 800 _ZL5innerl '
sum=132816

# flavour COMPILER OPTION...: all of it.
flavour() {
	name=$*
	build "$@"
	rm -f log
	record d -k cyg env "LD_PRELOAD=$tmp/log.so" CYG_LOG=log ./cyg
	is "$status/$out" "0/$sum" "$name: the program does what it does"
	report d
	is "$(rows)" "$expected" "$name: each call is counted, of functions that were inlined, too"
	is "$(sums)" '0 lost 0 unfinished' "$name: each has its end"
	dump d
	sequence >got
	LC_ALL=C sort -s -k1,1n log >want
	ok "$name: the profiler that comes after xaudit writes down the same calls and ends, in the same order" \
		cmp got want
	ok "$name: which are many" test "$(wc -l <want)" -gt 12500
	is "$(events d '.event == "unwind" and .function == "_Z5jumpsl"')" 60 \
		"$name: calls that longjmp() leaves end without returning"
	is "$(orphans)" 0 "$name: no end is without a beginning"
}
flavour gcc -O0
flavour gcc -O2
flavour gcc -O3
flavour gcc -O2 -fno-plt
if [ -n "$CLANG" ]; then
	flavour clang -O0
	flavour clang -O2
	more flavour clang -O3
	more flavour clang -O2 -fno-plt
else
	skip 14 'no clang here'
fi

# ---- frames at the end of what is known of a stack ----
program "$CC" edge cyg_edge.c -finstrument-functions
record d -k cyg ./edge
report d
is "$status/$out/$(rows)/$(sums)" '0/256/256 edge /0 lost 0 unfinished' 'each call on a new stack is counted'
dump d
is "$(orphans)/$(info d '.processes[0].no_mirror')" 0/0 \
	'wherever in a page its frame lies, the call and its end are recorded as such'

# ---- what is selected ----
build gcc -O2
record d -k cyg -F '_Z5outerl' ./cyg
report d
is "$status/$out/$(rows)" "0/$sum/800 _Z5outerl " 'one function alone'
record d -k cyg -l libcyg_part.so ./cyg
report d
is "$out/$(rows)" "$sum/20 cyg_part 40 inner " 'one library alone'
record d -k cyg,plt -l libcyg_part.so ./cyg
report d
is "$out/$(rows)" "$sum/20 cyg_part 40 inner " 'a function that has a binding is counted once'
record d -k cyg --mode=count ./cyg
report d
is "$out/$(rows)" "$sum/$expected" 'calls can be counted alone'
record d -k cyg --depth=1 ./cyg
report d
is "$out/$(rows)" "$sum/20 _Z13returns_twicel 20 _Z7catchesl 20 cyg_part 200 _Z4lastl 200 _Z5growsl 200 _Z5largel 200 \
_Z5outerl 4 _Z9fibonaccil 4 _ZL10count_downl " 'a depth leaves out calls inside of others, inlined ones, too'
record d -k cyg --below=_Z5growsl ./cyg
report d
is "$out/$(rows)" "$sum/200 _Z5growsl 200 _Z5outerl 200 _ZL5innerl 400 _ZL9innermostl " \
	'calls below one function alone'
record d -k cyg --time=99ms ./cyg
report d
is "$out/$(rows)" "$sum/" 'calls that are too short leave nothing'

# ---- other processes, other files ----
# Functions are found by the low half of their link-time address, where that is all.
cyg_library libcounted.so counted.c -Wl,-Ttext-segment=0x200000000
program "$CC" count count.c -L. -lcounted
record d -k cyg -l libcounted.so ./count 1 100
report d
is "$status/$(rows)/$(sums)" '7/100 counted /0 lost 0 unfinished' 'a library whose addresses begin above 4 GiB'
untraced=$(./cyg 3)
record d -k cyg ./cyg 3
report d
is "$out/$(calls _Z5outerl)/$(calls cyg_part)/$(sums)" "$untraced/600/15/0 lost 0 unfinished" 'forked children'
strip -s cyg libcyg_part.so
record d -k cyg ./cyg
report d
is "$out/$(sums)" "$sum/0 lost 0 unfinished" 'a stripped program'
is "$(printf '%s\n' "$report" | jq -c '[.functions | length, (map(.calls) | add)]')" '[16,6344]' \
	'has the same calls of as many functions'
is "$(calls cyg_part)" 20 'exported ones have their names'
bounded 60 "$XAUDIT" list --format=json libcyg_part.so >list.json
is "$(jq -c '[.sites.cyg, (.functions | map(select(.kinds | index("cyg"))) | length)]' list.json)" '[2,2]' \
	'list tells of them'
"$CC" -O2 -g -o own "$beside/cyg_part.c" "$beside/cyg_log.c" -DCYG_PART_MAIN \
	-finstrument-functions-exclude-file-list=cyg_log -finstrument-functions || bail 'own does not compile'
bounded 60 "$XAUDIT" list --format=json own >list.json
is "$(jq -c .sites.cyg list.json)" 0 'where the object defines what it calls, there are none'
done_testing
