#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A thread that a signal handler holds in a stub of a probe, while the probe is taken away, others are set, and these
# are taken away, too: it goes on there when the handler returns, with the right result; its stub's memory is given
# back afterwards, not before.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/ctl.sh"
. "$top_srcdir/t/lib/probed.sh"

XAUDIT_INDEX=$tmp/index
export XAUDIT_INDEX
library "$CC" libprobed.so probed_library.c
program "$CC" held probe_held.c -L. -lprobed
places=$(objdump -d --no-show-raw-insn libprobed.so | awk '/^[0-9a-f]+ </ { on = $2 ~ /^<mixed>:/; next }
	on && $2 !~ /^(nop|nopw|nopl|cs|data16|xchg)$/ && /^ *[0-9a-f]+:/ { sub(":", "", $1); print $1 }')
words=$(printf '0x%s@libprobed.so ' $places)
last() {
	tail -n 1 out
}
stubs() {
	grep -c 'r-xp 00000000 00:00 0 *$' "/proc/$pid/maps"
}

rules
begin ./held
tell 'call 1'
once=$(last)
tell 'call 50'
fifty=$(last)
before=$(stubs)
bad='' held=0 n=0
for place in $places; do
	n=$((n + 1))
	[ $((n % $(rounds 7 2 1))) -eq 0 ] || continue
	for steps in 0 2 5 6; do
		ctl "$pid" probe "p=0x$place@libprobed.so"
		[ "$status" -eq 0 ] || continue
		tell "hold $steps"
		[ "$(last)" = 'called held' ] || continue
		held=$((held + 1))
		ctl "$pid" unprobe p
		[ "$status $(clean)" = '0 ' ] || bad="$bad; $place, $steps: unprobe: $err $(clean)"
		[ "$(stubs)" -gt "$before" ] || bad="$bad; $place, $steps: its stub is gone"
		ctl "$pid" probe $words
		[ -n "$out" ] || bad="$bad; $place, $steps: $err"
		ctl "$pid" unprobe '*'
		[ "$(stubs)" -gt "$before" ] || bad="$bad; $place, $steps: its stub is gone"
		tell go
		[ "$(last)" = "$once" ] || bad="$bad; $place, $steps: $(last)"
		ctl "$pid" unprobe '*'
		[ "$status $(clean)" = '0 ' ] || bad="$bad; $place, $steps: in the end: $err $(clean)"
	done
done
is "$bad" '' "a thread held in a stub $held times goes on there, and has the right result"
ok 'it was held' test "$held" -ge 6
is "$(stubs)" "$before" 'afterwards no memory of stubs is left'
tell 'call 50'
is "$(last)" "$fifty" 'and all is as at first'
finish
is "$status" 0 'the program ends well'
done_testing
