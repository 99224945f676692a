#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit ctl watch, beside a program that runs without xaudit record: it makes the snapshots that actions ask for, and
# finds calls that hang, until it or the program ends; then threads make them themselves again.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/ctl.sh"
. "$top_srcdir/t/lib/hangs.sh"

# start LINE...: the program, with these actions of work().
start() {
	{
		printf '[trace]\nmode = ring\noutput = %s\n[library libhangs.so]\nkinds = plt\n' "$tmp/d"
		[ $# -eq 0 ] || printf '[context work]\n'
		for line; do echo "then = $line"; done
	} >conf
	rm -rf d d.snapshot.* slow.*
	begin ./hangs serve
}
# beside WORD...: xaudit ctl PID WORD... in the background, once its heartbeat is there; its output goes to the files
# watch.out and watch.err. $watcher: its number.
beside() {
	# Shells have what runs in the background ignore SIGINT; and the program's pipe is not for it.
	env --default-signal=INT "$XAUDIT" ctl "$pid" "$@" >watch.out 2>watch.err 3>&- &
	watcher=$!
	wait_until 30 has_beat || diag "nobody watches: $(cat watch.err)"
}
# The heartbeat of who copies (copy_beat of xaudit-trace(5)), at 3776.
has_beat() {
	[ "$(od -A n -t u8 -j 3776 -N 8 d/p"$pid"/meta 2>/dev/null | tr -d ' ')" -gt 0 ] 2>/dev/null
}
# end_watch SIGNAL: sets $watch_status.
end_watch() {
	kill "-$1" "$watcher"
	watch_ended
}
watch_ended() {
	watch_status=0
	wait "$watcher" || watch_status=$?
}
made() {
	for one in d.snapshot.* slow.*; do
		[ ! -d "$one" ] || echo "$one"
	done | tr '\n' ' '
}
# paths NAME...: what watch prints of these.
paths() {
	for name; do echo "$tmp/$name"; done
}
nobody='xaudit: nobody watches calls for `running longer`: `xaudit ctl PID watch` does, or `xaudit record`'
itself='xaudit: `xaudit record` is not beside: threads copy the snapshots that they ask for themselves, and wait for '\
'that'

start 'snapshot running longer 200ms as slow.%n' 'snapshot if arg1 == 7'
tell 'work 700'
is "$(made):$(cat err)" ":$nobody" 'alone: nobody finds a call that hangs, and that is said once'
beside watch
tell 'work 20'
tell 'work 700'
tell 'work 0'
tell 'work 700'
is "$(made)" 'slow.1 slow.2 ' 'watch: one for each call that hangs'
tell 'work 7'
wait_until 30 test -d d.snapshot.1
is "$(made):$(cat err)" "d.snapshot.1 slow.1 slow.2 :$nobody" 'it copies for a thread that asks'
is "$("$XAUDIT" ctl "$pid" watch)" "process $pid is watched already, by xaudit record or another xaudit ctl" \
	'a second one is not needed'
tell fork
wait_until 30 test -d slow.3
is "$(made)" 'd.snapshot.1 slow.1 slow.2 slow.3 ' 'a forked child is watched, too'
end_watch INT
is "$watch_status:$(cat watch.err):$(cat watch.out)" "0::$(paths slow.1 slow.2 d.snapshot.1 slow.3)" \
	'SIGINT ends it well; it has said where they are'
dump slow.2
is "$(events slow.2 '.function == "work" and .event == "entry"') $(events slow.2 \
	'.function == "work" and .event == "exit"')" '5 4' 'the call is open in it'
tell 'work 700'
tell 'work 7'
is "$(made):$(cat err)" "d.snapshot.1 d.snapshot.2 slow.1 slow.2 slow.3 :$nobody
$itself" 'from then on threads copy themselves, at once, and nobody finds calls that hang'
beside watch
tell 'work 700'
tell 'work 7'
wait_until 30 test -d d.snapshot.3
finish
watch_ended
is "$watch_status:$(cat watch.err):$(cat watch.out)" "0::$(paths slow.4 d.snapshot.3)" \
	'another one goes on, not with what was asked for before it came; and ends with the program'
is "$status:$(made)" '0:d.snapshot.1 d.snapshot.2 d.snapshot.3 slow.1 slow.2 slow.3 slow.4 ' 'no other was made'

# Actions that come later.
start
tell 'work 0'
ctl "$pid" when 'work running longer 200ms' snapshot -o 'slow.%n'
is "$status:$out:$err" "1::xaudit ctl: nobody watches process $pid for calls that are running longer: --watch does, or \
\`xaudit ctl $pid watch\`, which goes on meanwhile" 'when: refused, where nobody watches'
beside when 'work running longer 200ms' snapshot -o 'slow.%n' --at-most=10s --watch
wait_until 30 grep -q paused watch.out
tell 'work 700'
tell 'work 700'
tell 'work 0'
is "$(made):$(cat err)" 'slow.1 :' 'when --watch: one in ten seconds'
ctl "$pid" when 'work running longer 300ms' snapshot -o 'slow-%n'
is "$status:$err" '0:' 'when: taken, where somebody watches'
tell 'work 700'
is "$(echo slow-*)" 'slow-1' 'and done'
end_watch TERM
is "$watch_status:$(cat watch.err):$(sed 's/paused .*/paused/' watch.out)" \
	"0::1 traced function does that, paused
$(paths slow.1 slow-1)" 'SIGTERM ends it well'

# Killed.
beside watch
ctl "$pid" when 'work if arg1 == 7' snapshot
tell 'work 7'
wait_until 30 test -d d.snapshot.1
end_watch KILL
has_itself() {
	tell 'work 7'
	grep -qxF "$itself" err
}
# Its heartbeat is young for two seconds.
wait_until 30 has_itself
is "$(grep -cxF "$itself" err)" 1 'killed: threads copy themselves again, which is said once'
ok 'killed: and have done so' test -d d.snapshot.2
beside watch
is "$(kill -0 "$watcher" 2>&1)" '' 'another one takes its place'
end_watch TERM
finish

record d -c conf ./hangs calls 4
is "$status" 0 'record: it runs'
"$XAUDIT" record -o "$tmp/e" -c conf ./hangs serve <in >out 2>err &
child=$!
exec 3>in
said=0
wait_until 60 grep -q '^ready ' out
pid=$(sed -n 's/^ready //p' out)
tell 'work 0'
wait_until 30 test -e "e/p$pid/meta"
is "$("$XAUDIT" ctl "$pid" watch 2>&1)" "process $pid is watched already, by xaudit record or another xaudit ctl" \
	'under record there is nothing to do'
ctl "$pid" when 'work running longer 200ms' snapshot -o 'slow-%n.late'
is "$status:$err" '0:' 'and an action that comes late is watched'
tell 'work 700'
is "$(echo slow-*.late)" 'slow-1.late' 'by record'
finish
is "$status" 0 'which ends as ever'
is "$("$XAUDIT" ctl $$ watch 2>&1 | cut -d: -f1,2)" "xaudit ctl: process $$ does not run under libxaudit.so" \
	'watch: a process without the module'
is "$("$XAUDIT" ctl $$ watch me 2>&1)" "xaudit ctl: watch takes no 'me': xaudit ctl PID watch" 'watch: too many words'
done_testing
