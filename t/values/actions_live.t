#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit ctl when: actions that a running process gets, of functions and of probes; values that are recorded there stay,
# and what was counted goes on.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/ctl.sh"
XAUDIT_INDEX=$tmp/cache
export XAUDIT_INDEX

library "$CC" libacts.so actions_part.c -O1 -fno-inline
program "$CC" acts actions_live.c -L. -lacts

# when EXPECTED SENTENCE WORD...: the command, and what it prints.
when() {
	expected=$1 sentence=$2
	shift 2
	ctl "$pid" when "$@"
	is "$status $(printf '%s\n' "$out" | sed 's/[0-9.]* ms/T ms/') $err" "$expected" "$sentence"
}
done_by='0 1 traced function does that, paused T ms '
# start LINE...: the program, with these lines in its configuration.
start() {
	{
		printf '[trace]\noutput = %s\n[library libacts.so]\nkinds = plt\n' "$tmp/d"
		printf '%s\n' "$@"
	} >conf
	rm -rf d d.snapshot.* slow.*
	begin ./acts
}
# count: entries of acts(), those with a value, marks with this text.
count() {
	dump d
	echo "$(events d '.function == "acts" and .event == "entry"') $(events d '.event == "entry" and .values') $(
		events d ".event == \"custom\" and .data == \"$(printf %s "$1" | base64)\"")"
}

start '[context acts]' 'context = args'
tell 'acts 1 10'
when "$done_by" 'a mark where a function is called' 'acts every 5' mark
tell 'acts 1 100'
when "$done_by" 'and a second one' 'acts if n == 7 once' mark -o seventh
tell 'acts 1 100'
tell 'acts 1 100'
when "$done_by" 'a third, with a limit behind it' acts mark --at-most=3600s -o hourly
tell 'acts 1 100'
tell 'acts 1 3'
when "$done_by" 'recording is stopped by one' 'acts if n == 50' stop
when "$done_by" 'and started again by one' 'acts if n == 60' start
tell 'acts 1 100'
when "0 1 traced function does that, paused T ms " 'of the thread' 'acts if n == 10' stop thread
tell 'acts 1 20'
ctl "$pid" contexts
is "$(printf '%s\n' "$out" | grep -c ': then = .*(ctl when)$')" 6 'contexts lists them'
ctl "$pid" del-context acts
is "$status" 0 'del-context takes them away'
tell 'acts 1 100'
finish
is "$(count acts)" '514 514 100' 'each mark is there, and each value'
is "$(count seventh) $(count hourly)" '514 514 1 514 514 1' 'once is once, whatever was added since'

start '[probe here]' 'at = acts@libacts.so' 'context = int:n:arg1'
tell 'acts 1 10'
when '0 1 probe does that, paused T ms ' 'a mark where a probe is passed' 'here if arg1 > 90' mark
tell 'acts 1 100'
tell 'acts 1 100'
when '0 1 probe does that, paused T ms ' 'and another' 'here once' mark -o first
tell 'acts 1 100'
tell 'acts 1 100'
finish
is "$(count here) $(count first)" '410 0 40 410 0 1' 'each is there'
is "$(events d '.event == "probe" and .values')" 410 'and each value of the probe'

start
tell 'slow 0'
when "$done_by" 'snapshots' 'slow longer 10ms' snapshot -o 'slow.%n' --at-most=10s
for us in 0 20000 0 20000 0; do
	tell "slow $us"
done
is "$(echo slow.*/p*)" "slow.1/p$pid" 'one is made, by the thread, since record is not there'
when '2  xaudit ctl: when: no action is called '"'jump'"'; allowed: mark, snapshot, start, stop, start thread, stop '"\
thread; behind it if CONDITION, longer TIME, running longer TIME, every N, once, at-most TIME, as NAME" \
	'what is no action' acts jump
when "2  xaudit ctl: when what? give a function or a probe, and what is done then: when 'do_work longer 10ms' \
snapshot" \
	'too few words' acts
when "2  xaudit ctl: when what? give a function or a probe, and what is done then: when 'do_work longer 10ms' \
snapshot" \
	'no function' '' mark
when "2  xaudit ctl: when: --at-most needs a time, as in 10s, not ''" 'no time' acts mark --at-most= -o x
when "2  xaudit ctl: when: -o needs one word, such as slow.%n, not 'x once'" 'a name of two words' acts mark -o 'x once'
when "2  xaudit: ctl when: recording starts where a call begins, before there is a result: 'ret < 0'" \
	'what can not be' 'acts if ret < 0' start
when "1 0 traced functions do that, paused T ms xaudit ctl: 'nobody' names no probe, and no function that is traced \
(it holds for what is loaded later)" 'a function that is nowhere' nobody mark
tell 'acts 1 3'
waited=''
for n in 1 2 3 4; do
	bounded 60 "$XAUDIT" ctl "$pid" when acts mark -o "all$n" >"at_once$n" 2>&1 &
	waited="$waited $!"
done
for n in $waited; do
	wait "$n" || diag "$(cat at_once?)"
done
tell 'acts 1 10'
finish
is "$(for n in 1 2 3 4; do count "all$n"; done | sed 's/.* //' | tr '\n' ' ')" '10 10 10 10 ' \
	'of several commands at once none takes away what another one has added'
done_testing
