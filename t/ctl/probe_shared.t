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
# shared FUNCTION BYTES: where these are in it that can have a probe by a jump that shares bytes.
shared() {
	"$XAUDIT" list ./libcontrolled.so "$1" | sed -n "s/^  [0-9a-f]* *+\(0x[0-9a-f]*\) *shared  *$2  .*/\1/p"
}
at=$(shared last 'f3 c3')
byte=$(shared byte c3)
like "$at $byte" '^0x[0-9a-f]* 0x[0-9a-f]*$' 'the returns can have probes by jumps that share bytes'

# probed KINDS: begins the program with a probe there.
probed() {
	kinds=$1 rules
	printf '[probe last]\nat = libcontrolled.so:last+%s\n' "$at" >>conf
	printf '[probe byte]\nat = libcontrolled.so:byte+%s\n' "$byte" >>conf
	begin ./controlled counters 0 0
	tell 'call 10'
}
events() {
	bounded 60 "$XAUDIT" dump --format=json d | jq -r 'select(.event == "probe") | .probe' | sort | uniq -c |
		sed 's/^ *//' | tr '\n' ' '
}

probed none
ctl "$pid" enable entry:next
like "$out" '^1 function: 0 sites switched on, 0 were already, .*
  1 function not: a probe stands in the bytes that would be displaced$' 'the next function is not displaced'
tell 'call 10'
finish
is "$status $(cat err)" '7 ' 'the program runs to its end'
is "$(events)" '20 byte 20 last ' 'the probes have all their events, also where one place alone will do for the stub'

why="a traced function's own site lies in the bytes that it needs"
probed entry
ctl "$pid" disable next
tell 'call 10'
ctl "$pid" enable entry:next
like "$out" ' 1 site switched on, 0 were already, ' 'where it is displaced, it can be switched off and on'
tell 'call 10'
finish
is "$status $(cat err)" "7 xaudit: probe last at libcontrolled.so:last+$at in libcontrolled.so: $why
xaudit: probe byte at libcontrolled.so:byte+$byte in libcontrolled.so: $why" \
	'and the program runs to its end, without the probes'
is "$(events)" '' 'which have no events'
done_testing
