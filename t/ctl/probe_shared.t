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

# Of that of one byte there is one address for the stub: another stub waits for the former one, and nothing is missed.
probed none
for n in 1 2 3; do
	ctl "$pid" probe "more$n=libcontrolled.so:byte+$byte"
	is "$status $(printf '%s' "$out" | sed 's/, paused.*//')$err" '0 1 of 1 probe on, at 1 place' \
		"one more at the same instruction, of which $((n + 1)) have a stub where $n had theirs"
	tell 'call 10'
done
ctl "$pid" unprobe more2
is "$status $(printf '%s' "$out" | sed 's/, paused.*//')$err" '0 1 probe taken away' 'one of them is taken away'
tell 'call 10'
ctl "$pid" add-context byte tid
is "$status$err" '0' 'another one has a value from now on'
tell 'call 10'
ctl "$pid" unprobe byte more3
tell 'call 10'
finish
is "$status $(cat err)" '7 ' 'the program runs to its end'
is "$(events)" '60 byte 70 last 60 more1 20 more2 30 more3 ' 'each has its events from its beginning to its end'

probed none
ctl "$pid" enable entry:next
like "$out" '^1 function: 0 sites switched on, 0 were already, .*
  1 function not: a probe stands in the bytes that would be displaced$' 'the next function is not displaced'
tell 'call 10'
finish
is "$status $(cat err)" '7 ' 'the program runs to its end'
is "$(events)" '20 byte 20 last ' 'the probes have all their events, also where one place alone will do for the stub'

# ---- somebody else changes the bytes that are shared, as a debugger does ----

kinds=none rules
begin ./controlled counters 0 0
base=$(sed -n 's,^\([0-9a-f]*\)-[0-9a-f]* r--p 00000000 .*/libcontrolled\.so$,\1,p' "/proc/$pid/maps" | head -n 1)
next=$((0x$base + 0x$(nm libcontrolled.so | sed -n 's/ T next$//p')))
last=$((0x$base + 0x$(nm libcontrolled.so | sed -n 's/ T last$//p') + at))
# poke OCTAL: to the neighbour's first byte. bytes: the two of the return, and that one.
poke() {
	printf '%b' "\\0$1" | dd of="/proc/$pid/mem" bs=1 seek=$next conv=notrunc 2>dd.err
}
bytes() {
	for place in $last $((last + 1)) $next; do
		dd if="/proc/$pid/mem" bs=1 skip="$place" count=1 2>dd.err
	done | od -An -tx1 | tr -d ' '
}
poke 314
ctl "$pid" probe "last=last+$at@libcontrolled.so"
is "$status $(bytes)" '1 f3c3cc' 'while they are others no probe is set'
like "$err" 'the bytes in memory are not those of the file' 'which is said'
poke 125
ctl "$pid" probe "last=last+$at@libcontrolled.so"
is "$status" 0 'when they are back, it is'
tell 'call 10'
poke 314
ctl "$pid" unprobe last
is "$status $(bytes)" '0 f3c3cc' 'it is taken away while they are others, and these stay as they are'
poke 125
tell 'call 10'
finish
is "$status $(cat err) $(events)" '7  10 last ' 'the program runs to its end'

why="a traced function's own site lies in the bytes that it needs; one of kind entry must be on"
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
