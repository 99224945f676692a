#!/bin/sh
# SPDX-License-Identifier: MIT
#
# clock = coarse: the order of events and all counts are as with any clock; events between two readings share a time,
# and the tool's readers say so.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/digits.sh"

patchable_library libdigits.so digits_library.c
program "$CC" digits digits.c -L. -ldigits
mkdir plain xray
library "$CC" plain/libcounted.so counted.c
program "$CC" plain/count count.c -Lplain -lcounted

# Each call of digits tells its number, so order and count are known; see t/lib/digits.sh. (A stream of a second would
# take the test minutes to read.)
record d -m ring --clock=coarse -l libdigits.so ./digits counters 2 1
is "$status/$err" 7/ "ring: the program runs as ever"
is "$(newest d counters 0 20000)" '' "ring: exactly the newest events, each number one more"
report d
is "$(sums | cut -d' ' -f1,2)" '0 lost' "ring: nothing is lost"

# In mode stream, by both sets of trampolines.
coarse_kind() {
	name=$1 kinds=$2 command=$3
	record d -k "$kinds" -l libcounted.so --clock=coarse "$command" 1 100000
	is "$status/$out/$err" '7/100000/' "$name: the program runs as ever"
	report d
	is "$(calls counted), $(sums)" '100000, 0 lost 0 unfinished' "$name: exactly so many calls"
	# 200 000 events: one reading of the clock for 16 events, and one for each event that began a chunk or needed C
	# code.
	times=$(bounded 60 "$XAUDIT" dump d | awk '$3 == "entry" || $3 == "exit" { print $1 }' | uniq | wc -l)
	ok "$name: $times times, some 12500" test "$times" -ge 12400 -a "$times" -le 13500
	is "$(bounded 60 "$XAUDIT" dump d | awk '$3 == "entry" || $3 == "exit" { if ($1 < last) print; last = $1 }')" \
		'' \
		"$name: they never step back"
}
coarse_kind plt plt plain/count
mkdir sled
patchable_library sled/libcounted.so counted.c
program "$CC" sled/count count.c -Lsled -lcounted
coarse_kind patchable patchable sled/count
if xray_library xray/libcounted.so counted.c; then
	program "$CC" xray/count count.c -Lxray -lcounted
	coarse_kind xray xray xray/count
else
	skip 4 'no clang with XRay'
fi

# What readers say.
note='times are coarse: the clock was read for one event in 16 of a thread, which those behind it share'
is "$(bounded 60 "$XAUDIT" report d | tail -n 1)" "$note" 'report says it at its end'
is "$(bounded 60 "$XAUDIT" replay d 2>/dev/null | head -n 1)" "# $note" 'replay at its beginning'
is "$(bounded 60 "$XAUDIT" dump d 2>/dev/null | head -n 1)" "# $note" 'and dump'
is "$(info d '.processes[0].coarse_events')" 16 'info has the number'
like "$(bounded 60 "$XAUDIT" info d)" '^  Times       coarse: the clock is read for one event in 16 of a thread$' \
	'and in words'
record d -k plt -l libcounted.so plain/count 1 10
is "$(bounded 60 "$XAUDIT" report d | grep -c coarse) $(info d '.processes[0].coarse_events')" '0 0' \
	'nothing of that with another clock'

# Filters and handlers need times themselves.
record d -k plt -l libcounted.so --clock=coarse --depth=1 plain/count 1 10000
times=$(bounded 60 "$XAUDIT" dump d | awk '$3 == "entry" || $3 == "exit" { print $1 }' | uniq | wc -l)
ok "with a filter each event has its own time ($times)" test "$times" -ge 15000
printf '[trace]\nclock = fine\n' >bad.conf
record d -c bad.conf true
is "$status $err" "125 xaudit: $tmp/bad.conf:2: bad value 'fine' for key 'clock'; allowed: auto, tsc, monotonic, \
coarse" \
	'another word is refused'
done_testing
