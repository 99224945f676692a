#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Probes beside each other, one after the other, in a program that sleeps: what the first one's trampoline has left on
# the stack is in the way of no other. And where something is, what is there stays, with its events, until the rest can
# be had.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/ctl.sh"
. "$top_srcdir/t/lib/probed.sh"

XAUDIT_INDEX=$tmp/index
export XAUDIT_INDEX
library "$CC" libkept.so probe_kept.S
program "$CC" kept probe_kept.c -L. -lkept
cat >sleeps.c <<'END'
#include <stdio.h>
#include <unistd.h>
int do_stuff(int n);
__attribute__((noinline)) static int work(int n)
{
	if (n % 7 == 0)
		usleep(3000);
	return do_stuff(n);
}
int main(void)
{
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	for (int i = 0; i < 60000; i++) {
		work(i);
		usleep(1000);
	}
	return 0;
}
END
$CC -O2 -o sleeps sleeps.c -L. -lkept -Wl,-rpath,"$tmp" || bail 'sleeps does not compile'
listed() {
	bounded 60 "$XAUDIT" ctl "$pid" probes --format=json | jq -r '.probes[] | "\(.name) \(.on)"' | tr '\n' ' '
}

rules 'mode = ring' 'ring = 1M'
begin ./sleeps
bad=''
for round in 1 2 3 4 5; do
	n=0
	for at in 3 7 0; do
		n=$((n + 1))
		ctl "$pid" probe "p$n=do_stuff+$at@libkept.so"
		[ "$status" -eq 0 ] || bad="$bad; $round, $at: $err"
	done
	[ "$(listed)" = 'p1 true p2 true p3 true ' ] || bad="$bad; $round: $(listed)"
	ctl "$pid" unprobe '*'
	[ "$status" -eq 0 ] || bad="$bad; $round, none: $err"
done
is "$bad" '' 'three probes side by side, one after the other, while the program sleeps, five times'
exec 3>&-
kill "$pid"
wait "$child" 2>/dev/null

rules
begin ./kept
ctl "$pid" probe "p1=do_stuff+3@libkept.so"
is "$status" 0 'a probe'
tell 'call 1'
# As trampolines leave it there for unwinders.
tell 'keep 4'
ctl "$pid" probe "p2=do_stuff+7@libkept.so"
is "$status $(listed)" '0 p1 true p2 true ' 'an address within an instruction is in the way of none'
ctl "$pid" unprobe p2
is "$status $(listed)" '0 p1 true ' 'nor when it is taken away'
tell 'keep 3'
ctl "$pid" probe "p2=do_stuff+7@libkept.so"
like "$status $err" "^1 .*'p2' .*: not written yet: something stood in its bytes" \
	'while an address of that place is on the stack, no other comes beside it'
tell 'call 4'
tell 'keep 0'
ctl "$pid" probe "p2=do_stuff+7@libkept.so"
is "$status $(listed)" '0 p1 true p2 true ' 'then it does'
tell 'call 8'
ctl "$pid" unprobe '*'
is "$status $(clean libkept.so)" '0 ' 'and all are taken away'
tell 'call 16'
finish
is "$status $(cat err)" '0 ' 'the program computes what it must'
is "$(bounded 60 "$XAUDIT" dump --format=json d | jq -r 'select(.event == "probe") | .probe' | sort | uniq -c |
	tr -s ' ' | tr '\n' ',')" ' 13 p1, 8 p2,' 'the first one had its events all the time'
done_testing
