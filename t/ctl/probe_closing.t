#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Probes set and taken away, at each instruction of a function, while threads load and unload its libraries, fork and
# vfork, execute programs, and jump out of signal handlers: nothing that the function computes changes, and memory of
# stubs does not add up.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/ctl.sh"
. "$top_srcdir/t/lib/probed.sh"

XAUDIT_INDEX=$tmp/index
export XAUDIT_INDEX
for name in liba libb libk; do
	library "$CC" $name.so probed_library.c
done
program "$CC" closing probe_closing.c
words=$(objdump -d --no-show-raw-insn liba.so | awk '/^[0-9a-f]+ </ { on = $2 ~ /^<mixed>:/; next }
	on && $2 !~ /^(nop|nopw|nopl|cs|data16|xchg)$/ && /^ *[0-9a-f]+:/ { sub(":", "", $1)
		print "0x" $1 "@lib?.so" }')
# stubs: mappings that may be those of stubs: executable, and no file's.
stubs() {
	grep -c 'r-xp 00000000 00:00 0 *$' "/proc/$pid/maps"
}

rules 'mode = ring' 'ring = 1M'
begin ./closing ./liba.so ./libb.so ./libk.so
tell now
before=$(stubs) bad='' on=0 n=0
rounds=$(rounds 15 60 600)
while [ $n -lt "$rounds" ]; do
	n=$((n + 1))
	ctl "$pid" probe $words
	case "$out" in '0 of '*) ;; *' probes on, at '*) on=$((on + 1)) ;; *) bad="$bad; $n: $status $err" ;; esac
	during=$(stubs)
	tell now
	ctl "$pid" unprobe '*'
	[ "$status" -eq 0 ] || bad="$bad; $n, none: $err"
done
is "$bad" '' "set and taken away $rounds times"
is "$on" "$rounds" 'some of them were on each time'
tell now
like "$(tail -n 1 out)" '^called [1-9][0-9]* rounds [1-9][0-9]* forks 0 wrong$' 'no thread, and no child, computes else'
after=$(stubs)
ok "memory of stubs does not add up: $before mappings before, $during and then $after after" test \
	"$during" -gt "$before" -a "$after" -le $((before + 4))
is "$(clean libk.so)" '' 'what stays loaded has its own code'
finish
is "$status" 0 'the program ends well'
done_testing
