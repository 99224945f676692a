#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Signal handlers that call traced functions in the middle of tracing, on their own stack or not, and that jump away.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

# A tracer in an endless loop must neither hang the test nor fill the disk.
seconds=100
ulimit -f 2000000

# interrupted NAME WHAT LEAST: calls of the program and of its handlers are exact, with LEAST signals or more.
interrupted() {
	record d -k "$kind" -l libhandled.so -b 64k ./signals "$2"
	set -- "$1" "$3" $out 0 0 0
	counted=$3 handled=$4 signals=$5
	is "$status/$err" '0/' "$kind, $1: the program runs as ever"
	ok "$kind, $1: there were $2 signals or more" test "$signals" -ge "$2"
	report d
	is "$(calls counted) $(calls handled), $(sums)" "$counted $handled, 0 lost 0 unfinished" \
		"$kind, $1: the calls of the program and of its handler are exact"
	is "$(info d .events)" $((2 * (counted + handled))) "$kind, $1: each has one end and no more"
	rm -rf d
}
# ends FUNCTION: "ENTRIES EXITS UNWINDS" in the dump.
ends() {
	jq -rn --arg f "$1" '[inputs | select(.function == $f) | .event] |
		[map(select(. == "entry")), map(select(. == "exit")), map(select(. == "unwind"))] |
		map(length) | join(" ")' d.json
}
# jumped NAME WHAT ENDS: ENDS of jumper.
jumped() {
	record d -k "$kind" -l libhandled.so ./signals "$2"
	is "$status/$out/$err" '0/1000 1000 1000/' "$kind, $1: the program runs as ever"
	dump d
	is "$(ends outer), $(ends middle)" '1000 0 1000, 1000 0 1000' \
		"$kind, $1: the calls that the jump leaves end as unwound"
	like "$(ends jumper)" "^$3\$" "$kind, $1: the call in the handler too"
	is "$(ends handled), $(ends counted)" '1000 1000 0, 1000 1000 0' "$kind, $1: the others end by themselves"
	report d
	# A call on a stack that no thread returned to is open at the end.
	open=$(ends jumper | awk '{ print $1 - $2 - $3 }')
	is "$(sums)" "0 lost $open unfinished" "$kind, $1: nothing is lost, or open but what was not known to be left"
}

# all KIND BUILD...
all() {
	kind=$1
	shift
	"$@" libhandled.so handled.c
	program "$CC" signals signals.c -L. -lhandled -lrt
	# The kernel's tick may be 4 ms, and the machine busy.
	interrupted 'SIGPROF by setitimer' prof 50
	interrupted 'a signal each 60 us' fast 500
	interrupted 'handlers in handlers' nested 500
	interrupted 'handlers on a stack below' stack-below 500
	interrupted 'handlers on a stack above' stack-above 500
	jumped 'siglongjmp out of 1000 handlers' jump '1000 0 1000'
	# Calls that a jump leaves on another stack are known to be over when that stack is used again.
	jumped 'siglongjmp from a stack of the handler' jump-stack '1000 0 (999|1000)'
	record d -k "$kind" -l libhandled.so ./signals jump-anywhere
	set -- $out 0 0 0 0
	is "$status/$err" '0/' "$kind, siglongjmp from anywhere: the program runs as ever"
	ok "$kind, siglongjmp from anywhere: there were 1000 signals or more" test "$4" -ge 1000
	report d
	ok "$kind, siglongjmp from anywhere: calls are between those that began and those that ended" \
		test "$(calls counted)" -le "$1" -a "$(calls counted)" -ge "$2"
	is "$(calls handled) $(calls jumper), $(sums)" "$3 $4, 0 lost 0 unfinished" \
		"$kind, siglongjmp from anywhere: the handler's are exact, and nothing is open"
	rm -rf d
}

all plt library "$CC"
all patchable patchable_library
all cyg cyg_library
if [ -n "$CLANG" ]; then
	all xray xray_library
else
	skip 34 'no clang here'
fi
done_testing
