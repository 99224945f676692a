#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Readers of the lines of xaudit trace that are slow, or end: the program never waits for them, what is not shown is
# counted, and room on the disk is given back. Signals, while the command runs and when it has left others behind.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
need mkfifo
unset XAUDIT_CONFIG XAUDIT_RULES
program "$CC" calls calls.c -O0 -fno-builtin
mkdir where
TMPDIR=$tmp/where
export TMPDIR
mkfifo lines ended

# shown and left_out FILE: calls that have lines, and those that were counted instead.
shown() {
	grep -cv '+++' "$1"
}
left_out() {
	sed -nE 's/^\+\+\+ ([0-9]+) calls? not shown: output is too slow.*/\1/p' "$1" |
		awk '{ sum += $1 } END { print sum + 0 }'
}

# ---- a reader that waits for the end of the program ----

# Beside those that are asked for: strcmp() twice, atol(), strdup(), fopen(), fclose().
"$XAUDIT" trace --behind=1M ./calls many 1000000 ended 2>lines &
tracer=$!
exec 7<lines
is "$(bounded 60 cat ended)" '' 'the program ends while nobody reads its lines'
cat <&7 >read
exec 7<&-
wait "$tracer"
is "$? $(($(shown read) + $(left_out read)))" "0 1000006" 'each call has a line, or is counted' ||
	diag "$(grep -v 'strlen("many")' read | head -n 40)"
ok 'some have, and most are counted' test "$(shown read)" -ge 1000 -a "$(left_out read)" -ge 500000
is "$(grep -cvE '^([a-z]+\(.*\)( = .*)?|\+\+\+ .* \+\+\+)$' read)" 0 'no line is cut'

# ---- a reader who takes all in the end ----

"$XAUDIT" trace ./calls many 300000 2>lines &
tracer=$!
exec 7<lines
sleep 1
cat <&7 >read
exec 7<&-
wait "$tracer"
is "$? $(shown read) $(left_out read)" '0 300004 0' 'what may wait is not left out'

# ---- room on the disk ----

# Those are looked at from time to time: so the last look is one after all was read.
"$XAUDIT" trace -q -o /dev/null sh -c './calls many 6000000; sleep 2' &
tracer=$!
most=0
while kill -0 "$tracer" 2>/dev/null; do
	now=$(du -sk where | cut -f1)
	most=$((now > most ? now : most))
	last=$now
	sleep 0.1
done
wait "$tracer"
is "$?" 0 'a program that makes millions of calls'
ok "what was read is given back ($most KiB at most, $last at last)" test "$last" -lt $((most * 3 / 4))

# ---- readers that end ----

bounded 60 "$XAUDIT" trace ./calls many 200000 2>&1 >/dev/null | head -n 1 >read
is "$(cat read)" 'strcmp("many", "open") = -2' 'a reader that ends'
{ bounded 60 "$XAUDIT" trace ./calls exit 6 2>&1 >/dev/null; echo $? >status; } | :
is "$(cat status)" 6 'leaves the status alone'
bounded 60 "$XAUDIT" trace -o /dev/full ./calls exit 6 2>err
is "$? $(cat err)" "6 xaudit trace: the calls can't be written: No space left on device" 'a full disk is told'
bounded 60 "$XAUDIT" trace -o nowhere/lines ./calls exit 6 2>err
is "$? $(cat err)" "125 xaudit trace: nowhere/lines can't be written: No such file or directory" \
	'a file that cannot be made, before the program runs'
bounded 60 "$XAUDIT" trace ./calls exit 7 2>&-
is "$?" 7 'no stderr at all'

# ---- signals ----

# signalled SIGNAL REGEX WORD...: the command's lines are in err, and $status is how it ended when it got the signal,
# after there was such a line.
signalled() {
	signal=$1 after=$2
	shift 2
	"$XAUDIT" trace "$@" >/dev/null 2>err &
	tracer=$!
	for i in $(seq 500); do
		! grep -q "$after" err || break
		sleep 0.01
	done
	kill -s "$signal" "$tracer"
	status=0
	wait "$tracer" || status=$?
}
signalled TERM printf ./calls wait
is "$status $(tail -n 1 err)" '143 +++ killed by SIGTERM +++' 'a signal goes to the command'
begin=$(date +%s)
signalled TERM 'exited with 3' sh -c 'sleep 30 & exit 3'
ok 'one that comes when it has ended, and another process has not, ends the waiting' \
	test $(($(date +%s) - begin)) -lt 20
is "$(ls -A where)" '' 'nothing is left in TMPDIR'
done_testing
