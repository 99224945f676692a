#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Snapshots that actions ask for: xaudit record makes them, while the threads go on; without it the thread does that
# itself. They hold what was to be seen, and there are as many as limits allow.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

library "$CC" libacts.so actions_part.c -O1 -fno-inline
program "$CC" acts actions.c -L. -lacts
program "$CC" forged actions_forged.c "-I$top_srcdir" -L. -lacts
library "$CC" libserver.so actions_server_part.c -O1 -fno-inline -fpatchable-function-entry=5
program "$CC" server actions_server.c -L. -lserver

# rules LINE...: the configuration.
rules() {
	{
		printf '[trace]\nmode = ring\noutput = %s\n' "$tmp/d"
		printf '[library libacts.so]\nkinds = plt\n[library libserver.so]\nkinds = patchable\n'
		printf '%s\n' "$@"
	} >conf
}
clear_all() {
	rm -rf d d.snapshot.* slow.*
}
# made: the names of all snapshots.
made() {
	for one in d.snapshot.* slow.*; do
		[ ! -d "$one" ] || echo "$one"
	done | tr '\n' ' '
}
# check_server FOLDER: of a snapshot, its calls of handle_request that took more than 10 ms, from what came before them
# on the same thread: how many requests, without a gap; and how many threads there are.
check_server() {
	dump "$1"
	jq -r 'select(.function == "handle_request") | [.event, .tid, .time_ns,
		([.values[]? | select(.name == "number") | .value][0] // 0)] | @tsv' "$1.json" |
		awk '$1 == "entry" { if (number[$2] && $4 != number[$2] + 1) gap = 1; number[$2] = $4; begun[$2] = $3
				requests[$2]++; threads += requests[$2] == 1 }
			$1 == "exit" && begun[$2] { if ($3 - begun[$2] > 10000000) { slow++
				if (requests[$2] < 50) late = 1 } }
			END { print (slow ? "slow" : "none"), (gap ? "gap" : "whole"), (late ? "late" : "before"),
				threads }'
}

rules '[context handle_request]' 'context = args' 'then = snapshot longer 10ms as slow.%n'
clear_all
record d -c conf ./server 4 400 100
is "$status" 0 'server: it runs'
like "$out" '^[0-9]{1,3} us, 0 waits$' 'server: no request waits for a snapshot, or works a millisecond for it'
asked='xaudit record: the program asked for'
like "$err" "^$asked (a snapshot, which|[0-9]+ snapshots; the last one) is in $tmp/slow.[0-9]+\$" \
	'server: record says where they are'
like "$(made)" '^slow.1 (slow.[0-9]+ )*$' 'server: they have the name that the rule says'
for one in slow.*; do
	is "$(check_server "$one")" 'slow whole before 4' \
		"server, $one: a slow request, those before it, and the other threads"
done

rules '[context acts]' 'then = snapshot at-most 10s'
clear_all
record d -c conf ./acts calls 1000
is "$status:$err:$(made)" "0:$asked a snapshot, which is in $tmp/d.snapshot.1:d.snapshot.1 " \
	'a thousand ask, one is allowed in 10 s'
rules '[context acts]' 'then = snapshot at-most 300ms'
clear_all
record d -c conf ./acts bursts
is "$status:$(made)" "0:d.snapshot.1 d.snapshot.2 d.snapshot.3 " 'one for each burst'
rules '[context acts]' 'then = snapshot every 7 once'
clear_all
record d -c conf ./acts fork
is "$status:$(made)" '0:d.snapshot.1 d.snapshot.2 ' 'a parent and its child: one of each'
is "$(for one in d.snapshot.*; do info "$one" '[.processes[].pid] | length'; done | tr '\n' ' ')" '1 1 ' \
	'with one process in each'
is "$(for one in d.snapshot.*; do info "$one" '.processes[0].pid'; done | sort -u | wc -l)" 2 'which is another one'
rules '[context acts]' 'then = snapshot if n == 500' 'then = snapshot if n == 700 as slow-%n.end' \
	'then = stop if n == 800'
clear_all
record d -c conf -m stream ./acts calls 1000
is "$status:$(made)$(echo slow-1.end/p*)" "0:d.snapshot.1 $(echo slow-1.end/p*)" \
	'in mode stream, too; by names of their own'
rm -rf slow-1.end
report d.snapshot.1
ok 'it has what was called up to then' test "$(calls acts)" -ge 500
is "$(sums | sed 's/, .*//')" "$(sums)" 'and is whole'

# ---- one that asks all the time, by two names: while the one is made, the other is asked for ----

rules '[context acts]' 'then = snapshot' 'then = snapshot as slow'
clear_all
record d -c conf ./acts beside "$tmp/d"
is "$status" 0 'while a process asks all the time, another one has its snapshot, too'
left() {
	clear_all
	before=$(date +%s)
	record d -c conf ./forged "$tmp/d" 120
	took=$(($(date +%s) - before))
	kill "$out"
	ok "record ends, though a process that is left writes that it asks: $took s" test "$took" -lt 40
	like "$status $err" '^0 .*snapshots that were still asked for when the command had ended are left out$' \
		'and says what it leaves out'
}
more left

# alone WAY: by LD_AUDIT alone. Sets $status and $out, of both outputs.
alone() {
	clear_all
	status=0
	bounded 60 env XAUDIT_CONFIG="$tmp/conf" LD_AUDIT="$MODULE" ./acts "$@" >.out 2>&1 || status=$?
	out=$(cat .out)
}
itself='xaudit: `xaudit record` is not beside: threads copy the snapshots that they ask for themselves, and wait for '\
'that'
rules '[context acts]' 'then = snapshot if n == 400' 'then = snapshot if n == 900 as slow'
alone calls 1000
is "$status:$out:$(made)" "0:$itself:d.snapshot.1 slow.1 " 'alone: the thread copies, and that is said once'
report d.snapshot.1
is "$(calls acts)" 400 'alone: up to that call'
report slow.1
is "$(calls acts)" 900 'alone: and up to the other'
rules '[context acts]' 'then = snapshot at-most 10s'
alone calls 1000
is "$status:$out:$(made)" "0:$itself:d.snapshot.1 " 'alone: a thousand ask, one is allowed'
rules '[context acts]' 'then = snapshot at-most 300ms'
alone bursts
is "$status:$out:$(made)" "0:$itself:d.snapshot.1 d.snapshot.2 d.snapshot.3 " 'alone: one for each burst'
rules '[context acts]' 'then = snapshot every 7'
alone fork
is "$status:$(made)" '0:d.snapshot.1 d.snapshot.2 ' 'alone: parent and child'
done_testing
