#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit ctl watch goes on when the process executes another program, which has its trace beside the first one's; where
# it can't, it says so in one line, and ends as for a process that has ended.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/ctl.sh"
. "$top_srcdir/t/lib/hangs.sh"

# conf NAME FOLDER: a configuration for a trace in that folder.
conf() {
	{
		printf '[trace]\nmode = ring\nfollow = yes\noutput = %s\n[library libhangs.so]\nkinds = plt\n' "$2"
		printf '[context work]\n'
		printf 'then = %s\n' 'snapshot running longer 200ms as slow.%n' 'snapshot if arg1 == 7'
	} >"$1"
}
# start: the program, and xaudit ctl watch beside it, process $watcher.
start() {
	rm -rf d e d.snapshot.* slow.*
	begin ./hangs serve
	"$XAUDIT" ctl "$pid" watch >watch.out 2>watch.err 3>&- &
	watcher=$!
	wait_until 30 beats d/p"$pid" || diag "nobody watches: $(cat watch.err)"
}
# beats FAMILY: has it a heartbeat of who copies (copy_beat of xaudit-trace(5))?
beats() {
	[ "$(od -A n -t u8 -j 3776 -N 8 "$1/meta" 2>/dev/null | tr -d ' ')" -gt 0 ] 2>/dev/null
}
# executes WORD...: the program executes that, and is ready again.
executes() {
	ready=$(grep -c '^ready ' out)
	echo "exec $*" >&3
	wait_until 60 is_ready || diag "not ready after: $*"
}
is_ready() {
	[ "$(grep -c '^ready ' out)" -gt "$ready" ]
}
# ended: sets $watch_status.
ended() {
	wait_until 30 is_over "$watcher" || kill -9 "$watcher"
	watch_status=0
	wait "$watcher" || watch_status=$?
}
is_over() {
	[ ! -e "/proc/$1" ] || grep -q '^State:.Z' "/proc/$1/status"
}
made() {
	for one in d.snapshot.* slow.*; do
		[ ! -d "$one" ] || echo "$one"
	done | tr '\n' ' '
}

conf conf "$tmp/d"
start
tell 'work 700'
executes ./hangs serve
tell 'work 700'
tell 'work 7'
wait_until 30 test -d d.snapshot.1
is "$(made)" 'd.snapshot.1 slow.1 slow.2 ' 'a program that is executed is watched: calls that hang, and who asks'
ok 'it has a family of its own' test -s d/p"$pid".1/meta
executes env XAUDIT_NOTHING=1 ./hangs serve
tell 'work 700'
tell 'work 7'
wait_until 30 test -d d.snapshot.2
tell fork
wait_until 30 test -d slow.4
is "$(made)" 'd.snapshot.1 d.snapshot.2 slow.1 slow.2 slow.3 slow.4 ' 'so is the next but one, and what it forks'
finish
ended
is "$watch_status:$(cat watch.err):$(sort watch.out | sed "s,$tmp/,," | tr '\n' ' ')" "0::$(made)" \
	'it has said where they are, and ends with the process'
is "$status:$(cat err)" '0:xaudit: nobody watches calls for `running longer`: `xaudit ctl PID watch` does, or '\
'`xaudit record`' 'only the first program has missed it, before it was there'
dump slow.2
is "$(events slow.2 '.function == "work" and .event == "entry"') $(events slow.2 \
	'.function == "work" and .event == "exit"')" '1 0' 'the snapshot is of the program that was executed'

# ---- where it can't go on ----

# left REASON TEST: what was said.
left() {
	ended
	is "$watch_status:$(cat watch.err)" "0:xaudit ctl: process $pid is watched no more: $1" "$2"
	finish
}

start
executes env -u LD_AUDIT ./hangs serve
left 'it runs another program now, without libxaudit.so' 'a program without the module: said once'

conf conf.e "$tmp/e"
start
executes env XAUDIT_CONFIG="$tmp/conf.e" ./hangs serve
left "it runs another program now, whose trace is in $tmp/e/p$pid: \`xaudit ctl $pid watch\` is for that" \
	'a program with its trace elsewhere'

conf conf.f "$tmp/conf/e"
start
executes env XAUDIT_CONFIG="$tmp/conf.f" ./hangs serve
left "nothing is recorded in it: can't make the trace folder: a file or link is in the way at $tmp/conf/e" \
	'a program that can make no trace'

start
kill -STOP "$watcher"
executes ./hangs serve
mv "d/p$pid.1/meta" "d/p$pid.1/was"
mkdir "d/p$pid.1/meta"
kill -CONT "$watcher"
left "it runs another program now, whose trace in $tmp/d/p$pid.1 can't be opened: Is a directory" \
	'a trace that can not be opened'

# Another one comes while the first one sleeps.
start
kill -STOP "$watcher"
executes ./hangs serve
"$XAUDIT" ctl "$pid" watch >other.out 2>other.err 3>&- &
other=$!
beat() {
	od -A n -t u8 -j 3776 -N 8 "d/p$pid.1/meta" 2>&1
}
before=$(beat)
goes_on() {
	[ "$(beat)" != "$before" ]
}
wait_until 30 goes_on
kill -CONT "$watcher"
ended
is "$watch_status:$(cat watch.err)" "0:xaudit ctl: process $pid is watched no more: it runs another program now, whose \
trace in $tmp/d/p$pid.1 is watched by xaudit record or another xaudit ctl" 'a program that another one watches'
tell 'work 700'
is "$(made)" 'slow.1 ' 'which goes on'
finish
wait_until 30 is_over "$other" || kill -9 "$other"
wait "$other"
is "$?:$(cat other.err):$(cat other.out)" "0::$tmp/slow.1" 'and ends well'
done_testing
