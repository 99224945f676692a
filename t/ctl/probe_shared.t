#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The jump of a probe that shares its last bytes with the next function's first ones: as long as it is there, that
# function's own bytes stay, and while they are others, there is no such jump.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/ctl.sh"

library "$CC" libcontrolled.so probe_shared.S
program "$CC" controlled controlled.c -L. -lcontrolled
at=$("$XAUDIT" list ./libcontrolled.so last | sed -n 's/^  [0-9a-f]* *+\(0x[0-9a-f]*\) *shared  *f3 c3 .*/\1/p')
like "$at" '^0x[0-9a-f]*$' 'the return can have a probe by a jump that shares bytes'

# probed KINDS: begins the program with a probe there.
probed() {
	kinds=$1 rules
	printf '[probe last]\nat = libcontrolled.so:last+%s\n' "$at" >>conf
	begin ./controlled counters 0 0
	tell 'call 10'
}
events() {
	bounded 60 "$XAUDIT" dump --format=json d | jq -r 'select(.event == "probe") | .probe' | wc -l
}

probed none
ctl "$pid" enable entry:next
like "$out" '^1 function: 0 sites switched on, 0 were already, .*
  1 function not: a probe stands in the bytes that would be displaced$' 'the next function is not displaced'
tell 'call 10'
finish
is "$status $(cat err)" '7 ' 'the program runs to its end'
is "$(events)" 20 'the probe has all its events'

why='the bytes in memory are not those of the file'
probed entry
ctl "$pid" disable next
tell 'call 10'
ctl "$pid" enable entry:next
like "$out" ' 1 site switched on, 0 were already, ' 'where it is displaced, it can be switched off and on'
tell 'call 10'
finish
is "$status $(cat err)" "7 xaudit: probe last at libcontrolled.so:last+$at in libcontrolled.so: $why" \
	'and the program runs to its end, without the probe'
is "$(events)" 0 'which has no events'
done_testing
