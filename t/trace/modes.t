#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit trace beside xaudit ctl, which changes the mode: buffers that were recorded in mode ring have numbers, and no
# place in the file to which those of mode stream are written. Room is given back of what was read, and of nothing else.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/ctl.sh"
need mkfifo
unset XAUDIT_CONFIG XAUDIT_RULES
program "$CC" calls calls.c -O0 -fno-builtin
mkdir where
TMPDIR=$tmp/where
export TMPDIR
# Buffers are 64 kB then, and a thread has four of them.
printf '[trace]\nring = 256k\n' >conf

# shown: how many of the calls of strlen() have lines.
shown() {
	grep -c '^[0-9]* *strlen("many") = 4$' lines
}
# come N: whether the turn of so many calls is among the last lines.
come() {
	tail -n 20 lines | grep -qF "atol(\" $1\\n"
}
# left NUMBER: bytes that are there of the buffer that was written as this one.
left() {
	dd if="$(echo where/*/trace/p*/t0)" bs=64k skip="$1" count=1 2>dd.err | tr -d '\0' | wc -c
}

alone "$XAUDIT" trace --config=conf -o lines ./calls turns
pid=$(sed -n 's/^ready //p' out)
tell 'strlen 1000'
ctl "$pid" mode ring
is "$status $err" '0 ' 'mode ring'
tell 'atoi 2000000'
ctl "$pid" mode stream
is "$status $err" '0 ' 'mode stream'
tell 'strlen 2000000'
tell 'atoi 3'
ok 'what comes then is read to its end' wait_until 60 come 3 || diag "$(tail -n 20 lines)"
is "$(stat -c '%s' where/*/trace/p*/t0 | awk '{ print ($1 > 600 * 65536) }') $(left 0) $(left 400)" '1 0 0' \
	'and its room is given back'
finish
is "$status $(shown) $(ls -A where)" '0 2001000 ' 'each call of mode stream has a line' ||
	diag "$(grep -e +++ lines | tail -n 20)"
done_testing
