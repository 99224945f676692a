#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Probes that are set and taken away again and again, with values, actions, and without: once each has been there, they
# take no more memory, however often they come.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/ctl.sh"
. "$top_srcdir/t/lib/probed.sh"
need nm
probed_library

# dirty: kB of memory that is the process's own; and how many mappings it has.
dirty() {
	awk '/^Private_Dirty/ { print $2 }' "/proc/$pid/smaps_rollup"
}
mappings() {
	wc -l <"/proc/$pid/maps"
}
# come_and_go ROUNDS: with a probe more in each, by other names in turn, so that plans differ. What is refused is not
# what this is about.
bad=''
come_and_go() {
	left=$1
	while [ "$left" -gt 0 ]; do
		left=$((left - 1)) round=$((round + 1))
		ctl "$pid" probe --context=regs --then='mark every 3' $words
		[ -n "$out" ] || bad="$bad; $err"
		ctl "$pid" probe "more$((round % 7))=tight+6@libprobed.so"
		[ "$status" -eq 0 ] || bad="$bad; $err"
		ctl "$pid" unprobe '*'
		[ "$status" -eq 0 ] || bad="$bad; $err"
		ctl "$pid" probe $words
		ctl "$pid" unprobe '*'
	done
}
words=$(sed 's/.*/0x&@libprobed.so/' places)
round=0
rules 'mode = ring' 'ring = 1M'
begin ./probed 0
come_and_go 7
before=$(dirty) maps=$(mappings)
come_and_go "$(rounds 14 70 700)"
after=$(dirty)
is "$bad" '' "in $round rounds each command is done"
ok "memory of its own: $before kB after 7 rounds, $after kB after $round" test "$after" -le $((before + 64))
ok "mappings: $maps, then $(mappings)" test "$(mappings)" -le $((maps + 4))
finish
is "$status $(cat err)" '0 ' 'the program noticed nothing'
done_testing
