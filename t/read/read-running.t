#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A trace is read while its process runs and writes, and after that was killed. Again and again the process calls
# getppid 1000 times, then says so; so a reader must find at least the calls that were announced before it began.
. "${top_srcdir:-.}/t/lib/tap.sh"

skip_sanitized
[ -e "$MODULE" ] || bail "no $MODULE: run make"
cat >"$tmp/busy.c" <<'END'
#include <stdio.h>
#include <time.h>
#include <unistd.h>

int main(void)
{
	struct timespec wait = { 0, 20000000 };

	for (int round = 1; round <= 10000; round++) {
		for (int i = 0; i < 1000; i++)
			getppid();
		printf("%d\n", round * 1000);
		fflush(stdout);
		nanosleep(&wait, NULL);
	}
	return 0;
}
END
ok 'the program is compiled' "$CC" -O1 -o "$tmp/busy" "$tmp/busy.c"
bounded 120 "$XAUDIT" record -o "$tmp/trace" -k calls "$tmp/busy" >"$tmp/said" 2>"$tmp/record.err" &
record=$!
tries=0
until [ "$(wc -l <"$tmp/said")" -ge 5 ] || [ $((tries += 1)) -gt 1200 ]; do sleep 0.05; done
ok 'the program runs' test "$(wc -l <"$tmp/said")" -ge 5

# calls: number of calls of getppid in the report.
calls() {
	bounded 60 "$XAUDIT" report --format=json "$tmp/trace" 2>"$tmp/err" |
		sed -n 's/.*"function":"getppid".*"calls":\([0-9]*\),.*/\1/p'
}
bad=0
for round in 1 2 3 4 5 6; do
	said=$(tail -n 1 "$tmp/said")
	found=$(calls)
	[ "${found:-0}" -ge "$said" ] && [ ! -s "$tmp/err" ] ||
		{ bad=$((bad + 1)); diag "said $said, found $found: $(cat "$tmp/err")"; }
	for command in replay 'dump --format=json' info; do
		bounded 60 "$XAUDIT" $command "$tmp/trace" >/dev/null 2>"$tmp/err" && [ ! -s "$tmp/err" ] ||
			{ bad=$((bad + 1)); diag "$command: $(cat "$tmp/err")"; }
	done
done
is "$bad" 0 'each command reads the growing trace six times, with all that was written before it began'
like "$("$XAUDIT" info "$tmp/trace")" '^Process [0-9]+ .*: is running$' 'info says that the process runs'

pid=$("$XAUDIT" info --format=json "$tmp/trace" | sed -n 's/^{"pid":\([0-9]*\),.*/\1/p')
ok 'info names the process' test -n "$pid"
said=$(tail -n 1 "$tmp/said")
kill -9 "$pid"
wait "$record"
is "$?" 137 'record dies as its command did'
like "$("$XAUDIT" info "$tmp/trace")" \
	'^Process [0-9]+ .*: was killed, ended by _exit\(\), or executed what was not traced$' \
	'info says that it was killed'
found=$(calls)
ok 'all calls up to the kill are in the trace' test "${found:-0}" -ge "$(tail -n 2 "$tmp/said" | head -n 1)"
ok 'and no more than were made' test "${found:-0}" -le "$(($(tail -n 1 "$tmp/said") + 1000))"
is "$(cat "$tmp/err")" '' 'a killed trace is no damage'
is "$("$XAUDIT" report --format=json "$tmp/trace" | sed -n '1s/^{"lost":\([0-9]*\),.*/\1/p')" 0 'nothing is lost'
first=$("$XAUDIT" dump "$tmp/trace" | awk '/ getppid / { print $1; exit }')
up=$(cut -d' ' -f1 /proc/uptime)
ok 'times are those of CLOCK_MONOTONIC' awk -v a="$first" -v b="$up" 'BEGIN { exit !(b - a >= 0 && b - a < 1000) }'
done_testing
