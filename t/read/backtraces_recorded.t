#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Recorded backtraces: each chunk tells its own, so that all calls have theirs where rings have gone round, where the
# trace was cut, packed, and in forked processes; and they are as the program was written.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
unset XAUDIT_CONFIG XAUDIT_RULES

tmp=$(readlink -f "$tmp")
cat >calls.c <<'END'
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int one(const char *text)
{
	return atoi(text) + 1;
}
static int two(const char *text)
{
	return one(text) + atoi(text);
}
int main(int argc, char **argv)
{
	int sum = 0, rounds = atoi(argv[1]);

	for (int i = 0; i < rounds; i++)
		sum += two("1");
	if (argc > 2) {
		pid_t pid = fork();
		for (int i = 0; i < rounds; i++)
			sum += one("2");
		if (!pid)
			_exit(0);
		wait(NULL);
	}
	return sum == -1;
}
END
"$CC" -g -O0 -o calls calls.c || bail 'no program'

# told DIR: how many calls of atoi() have which callers in the program, "CALLS CALLERS", and those that have none.
told() {
	bounded 120 "$XAUDIT" dump "$1" 2>err | awk '
		function put() {
			if (open)
				count[callers]++
			callers = ""
			open = 0
		}
		$3 == "entry" { put(); open = 1 }
		$3 == "exit" { put() }
		$1 == ">" && $3 == "[calls]" { sub(/\+.*/, "", $2); callers = callers " " $2 }
		END { put(); for (c in count) print count[c] c }' | sort
}

# 20 000 rounds, of which each has two calls and ends, and more than one chunk of 64 kB.
start=' main _start'
record stream --buffer=64k -F atoi --context atoi:backtrace ./calls 20000
is "$status/$err" '0/' 'a program is recorded'
is "$(told stream)" "1$start
20000 one two$start
20000 two$start" 'each call has its callers' || diag "$("$XAUDIT" dump stream | head -n 20)"
is "$("$XAUDIT" report --by=stack --columns=calls --sort=calls --format=json stream | grep -o '"calls":[0-9]*' |
	tr '\n' ' ')" '"calls":20000 "calls":20000 "calls":1 ' 'and there are three backtraces'
bounded 60 "$XAUDIT" pack -o stream.pack stream >out 2>&1
is "$(told stream.pack)" "$(told stream)" 'packed'
bounded 60 "$XAUDIT" pack --no-values -o bare.pack stream >out 2>&1
is "$("$XAUDIT" dump bare.pack 2>&1 | grep -c ' > ') $("$XAUDIT" report --columns=calls --format=json bare.pack |
	grep -o '"calls":[0-9]*')" '0 "calls":40001' 'packed without values there are none, but all calls'

record ring -m ring --ring=256k --buffer=64k -F atoi --context atoi:backtrace ./calls 20000
told ring >told
is "$(grep -vc " main _start\$" told)" 0 'in a ring that went round each call that is left has its callers'
is "$(awk '{ sum += $1 } $1 < 1000 { few++ } END { print (sum > 3000 && sum < 30000), NR, few + 0 }' told)" '1 2 0' \
	'of both kinds there are thousands' || diag "$(cat told)"
rm -rf ring

record forked --buffer=64k -F atoi --context atoi:backtrace ./calls 5000 fork
is "$(told forked)" "1$start
10000 one$start
5000 one two$start
5000 two$start" 'a forked process has its own' || diag "$(cat err)"

# A trace whose end is missing: what is left of each file.
cp -r stream cut
truncate -s 196608 cut/*/t0
told cut >told
ok 'of a trace that was cut, some is left' test "$(awk '{ sum += $1 } END { print sum }' told)" -gt 5000
is "$(grep -vc " main _start\$" told)" 0 'in what is left each call has its callers'
done_testing
