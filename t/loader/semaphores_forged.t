#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Semaphores that a file names (USDT): one is raised once for each site that is on; in words that can be none, or can't
# be written to any more, nothing changes, and the program goes on; the count is right after whoever set the probes was
# killed.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/ctl.sh"

program "$CC" forged semaphores_forged.c
program "$CC" helper "../ctl/ctl_helper.c"
events() {
	bounded 60 "$XAUDIT" dump --format=json d | jq -n '[inputs | select(.event == "probe")] | length'
}
last() {
	tail -n 1 out
}
rules() {
	printf '[trace]\noutput = %s/d\n[library *]\nkinds = none\n[program]\nkinds = none\n' "$tmp" >conf
	rm -rf d
}

printf 'pass\nfork\nprotect\npass\n' >lines
record d --probe 'all=usdt:forged:*' -- ./forged <lines
is "$status/$(printf '%s\n' "$out" | sed 1d | tr '\n' ';')/$err" \
	'0/called 2 0 0 0 1 same;called 2 0 0 0 1 same;called 2 0 0 0 1 same;called 2 0 0 0 1 same;/' \
	'a semaphore is raised for each site, and nothing else is written to, in children either'
is "$(events)" 27 'all sites have their events'

# Killed, the recorder leaves the program with its probes.
rules
rm -f in out err
mkfifo in
"$XAUDIT" record -o d --probe 'all=usdt:forged:*' -- ./forged <in >out 2>err &
child=$!
said=0
exec 3>in
wait_until 60 grep -q '^ready ' out || bail "forged does not begin: $(cat err)"
pid=$(sed -n 's/^ready //p' out)
kill -9 "$child"
wait "$child" 2>/dev/null
tell pass
is "$(last)" 'called 2 0 0 0 1 same' 'where the recorder was killed, the count stays right'
ctl "$pid" unprobe '*'
tell pass
is "$status $(last)" '0 called 0 0 0 0 0 same' 'and xaudit ctl takes the probes away'
exec 3>&-
wait_until 30 test ! -d "/proc/$pid" || kill -9 "$pid"

rules
begin ./forged
ctl "$pid" probe 'all=usdt:forged:*'
tell pass
is "$status $(last)" '0 called 2 0 0 0 1 same' 'xaudit ctl sets them'
ctl "$pid" probe 'all=usdt:forged:twin'
tell pass
is "$status $(last)" '0 called 2 0 0 0 0 same' 'some of them'
bad='' killed=0
step=$(rounds 29 5 1)
for command in unprobe probe; do
	n=$((step - 1)) status=99
	while [ "$status" -eq 99 ] && [ $n -lt 3000 ]; do
		n=$((n + step)) status=0
		case $command in probe) set -- 'all=usdt:forged:twin' ;; *) set -- all ;; esac
		bounded 60 ./helper kill $n "$XAUDIT" ctl "$pid" "$command" "$@" >ctl.out 2>ctl.err || status=$?
		[ "$status" -eq 99 ] || break
		killed=$((killed + 1))
		case $command in probe) ctl "$pid" unprobe '*' ;; *) ctl "$pid" probe 'all=usdt:forged:twin' ;; esac
		[ "$status" -eq 0 ] || bad="$bad; after $command, call $n: $err"
		tell pass
		[ "$(last)" = "called $([ $command = probe ] && echo 0 || echo 2) 0 0 0 0 same" ] ||
			bad="$bad; after $command, call $n: $(last)"
		status=99
	done
done
is "$bad" '' "killed $killed times, it leaves the right count"
ok 'it was killed' test "$killed" -ge 4
ctl "$pid" probe 'all=usdt:forged:*'
tell protect
ctl "$pid" unprobe '*'
is "$status $err" '0 ' 'where the program has made one read-only, probes can be taken away'
tell pass
is "$(last)" 'called 0 0 0 0 1 same' 'that one alone is left as it was'
finish
is "$status $(cat err)" '0 ' 'the program noticed nothing'
done_testing
