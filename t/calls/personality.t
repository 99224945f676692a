#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Personality routines that look for their frame by the CFA, as LuaJIT's does: it is right in a function that called a
# traced one, whose frame and that of the traced one's return lie at the same place.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

need g++
library g++ libthrown.so personality.cc -DLIBRARY
program g++ personality personality.cc -L. -lthrown
is "$(bounded 60 ./personality)" 'caught 7, searched at 0, cleaned up at 0' '(its frame is where it made the call)'
for kind in plt entry 'plt --perf' 'entry --perf'; do
	# shellcheck disable=SC2086
	record d -k $kind -l libthrown.so ./personality
	report d
	is "$status/$out/$err/$(calls thrown) $(sums)" \
		'0/caught 7, searched at 0, cleaned up at 0//1 0 lost 0 unfinished' \
		"$kind: the CFA of a function that called a traced one is right"
done
record d -k entry -l '*' ./personality
is "$status/$out/$err" '0/caught 7, searched at 0, cleaned up at 0/' 'entry, of all libraries: so it is'
if command -v luajit >/dev/null; then
	record d -k entry luajit -e 'print(pcall(error, "thrown"))'
	is "$status/$out/$err" "0/false	thrown/" 'LuaJIT finds its frames'
else
	skip 1 'no luajit here'
fi
done_testing
