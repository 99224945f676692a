#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Probes set and taken away within the bytes that a displaced entry takes, while threads call the function: nothing that
# they compute changes, what is counted is right, and the function is not switched off under a probe.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/ctl.sh"
need objdump

library "$CC" libprobed.so probed_library.c
program "$CC" probed probed.c "$beside/probed_call.S" -L. -lprobed
XAUDIT_INDEX=$tmp/index
export XAUDIT_INDEX
# The second instruction of a function: its jump of five bytes takes it, too, as the first one is shorter.
second() {
	objdump -d --no-show-raw-insn libprobed.so | awk -v f="<$1>:" '
		$2 == f { on = 1; next } on { sub(":", "", $1); n++; if (n == 2) { print "0x" $1; exit } }'
}
at=$(second stored)
start=0x$(nm libprobed.so | awk '$3 == "stored" { print $1 }')
ok "the second instruction is within the jump's bytes: $at" test $((at - start)) -gt 0 -a $((at - start)) -lt 5
# rules FUNCTION: of kind entry.
rules() {
	{
		printf '[trace]\noutput = %s/d\n[library libprobed.so]\nkinds = entry\n' "$tmp"
		printf 'functions = %s\n[program]\nkinds = none\n' "$1"
	} >conf
	rm -rf d
}
listed() {
	bounded 60 "$XAUDIT" ctl "$pid" probes --format=json | jq -r '.probes[] | "\(.name) \(.on) \(.way) \(.reason)"'
}
paused() {
	printf '%s %s' "$status" "$out" | sed 's/[0-9.]* ms/T ms/'
}

rules stored
begin ./probed 0
tell 'call 3'
ctl "$pid" probe "in=$at@libprobed.so"
is "$(paused) $err;$(listed)" '0 1 of 1 probe on, at 1 place, paused T ms ;in true entry null' 'it is set'
tell 'call 5'
ctl "$pid" disable stored
like "$status $out$err" 'a probe stands in the bytes that are displaced: take it away first' \
	'the function is not switched off before it is taken away, which is said'
tell 'call 7'
ctl "$pid" unprobe in
is "$(paused) $err" '0 1 probe taken away, paused T ms ' 'it is taken away'
tell 'call 11'
ctl "$pid" disable stored
is "$status" 0 'then the function can be switched off'
tell 'call 13'
ctl "$pid" enable stored
ctl "$pid" probe "again=$at@libprobed.so"
tell 'call 17'
finish
report d
is "$status $(calls stored)" '0 43' 'the function has all its calls while it was on'
is "$(bounded 60 "$XAUDIT" dump --format=json d | jq -r 'select(.event == "probe") | .probe' | sort | uniq -c |
	tr -s ' ' | tr '\n' ',')" ' 17 again, 12 in,' 'and each probe all its events'

rules mixed
begin ./probed 0
ctl "$pid" probe "in=$at@libprobed.so"
ctl "$pid" enable 'entry:stored@libprobed.so'
like "$out$err" 'a probe stands in the bytes that are displaced: take it away first, and set it again then' \
	'a function in whose bytes a probe stands is not switched on, which is said'
finish

rules stored
begin ./probed 4
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	ctl "$pid" probe "in=$at@libprobed.so"
	[ "$status" = 0 ] || diag "$err"
	ctl "$pid" unprobe in
done
tell wrong
tell 'signals 20'
tell wrong
like "$(tail -n 1 out)" '^called [1-9][0-9]* rounds 0 wrong$' 'four threads compute what they must, and signal handlers'
finish
is "$status" 0 'to the end'
done_testing
