#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Probes within the bytes that a displaced entry takes: function and probes have all their events, in their order, and
# the library computes what it must.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/probed_loads.sh"

probed_loads
# probed_jump's entry takes 7 bytes: two instructions.
probes '[library libprobed.so]' 'kinds = entry' 'functions = probed_jump probed_loop' <<'END2'
[probe first]
at = probed_jump@libprobed.so
context = reg:rdi
[probe second]
at = libprobed.so:probed_jump+3
context = reg:rax
[probe behind]
at = libprobed.so:probed_jump+0xb
[probe test]
at = libprobed.so:probed_loop+2
[probe loop]
at = libprobed.so:probed_loop+6
END2
record d -c rules -- ./probed ./libprobed.so 100 10
is "$status/$err $(echo "$out" | cut -d' ' -f1-3)" '0/ 3000 0 0' 'with probes in entries, all results are as without'
is "$(counts)" '1000 behind,1000 first,4000 loop,1000 second,1000 test,' \
	'each probe has all its events, in each load'
report d
is "$(calls probed_jump) $(calls probed_loop)" '1000 1000' 'and so have the functions'
is "$(jq -r 'select(.event == "probe" or .event == "entry" or .event == "exit") | .probe // .event' dump |
	tr '\n' ' ' | sed 's/exit /exit;/g' | tr ';' '\n' | sort | uniq -c | tr -s ' ' | tr '\n' ',')" \
	' 1000 entry first second behind exit, 1000 entry test loop loop loop loop exit,' \
	'in each call they come between its beginning and its end, in the order of the code'
is "$(jq -s '[.[] | select(.event == "probe" and .probe == "second") | .values[0].value] | unique | length' dump)" 10 \
	'values are those of the place'
record d -c rules -- ./probed ./libprobed.so 3 10 fork
is "$status $(echo "$out" | cut -d' ' -f1-3) $(counts)" \
	'0 90 0 0 60 behind,60 first,240 loop,60 second,60 test,' 'children that are forked have all events, too'
{
	printf '[trace]\nenabled = no\n'
	cat rules
} >off
record d -c off -- ./probed ./libprobed.so 3 10
is "$status $(echo "$out" | cut -d' ' -f1-3)" '0 90 0 0' 'where the functions are off, results are right, too'
like "$err" "probe second at libprobed.so:probed_jump\\+3 in libprobed.so: a traced function's own site lies" \
	'and the probe is refused'
done_testing
