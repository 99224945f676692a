#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A program with an unwinder of its own, started with nothing selected: ctl says that returns are not recorded, and the
# trace has the reason.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/ctl.sh"

library "$CC" libcontrolled.so counted.c
library "$CC" libpart.so unwinder_part.c -DPLT -DUNWINDER
cat >main.c <<'END'
#include <stdio.h>
#include <unistd.h>
void counted(void);
int part_look(void);
int main(void)
{
	alarm(120);
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	for (int i = 0; i < 100000; i++) {
		counted();
		usleep(1000);
	}
	return part_look();
}
END
$CC -O1 -o main main.c -L. -lcontrolled -lpart -Wl,-rpath,"$tmp" || bail 'main.c does not compile'
kinds=none
rules 'enabled = no' 'prepare = none' 'control = any'
begin ./main
ctl "$pid" enable 'entry:counted@libcontrolled*'
is "$status $(printf '%s\n' "$out" | sed 's/paused .*/paused/') $err" \
	'0 1 function: 1 site switched on, 0 were already, paused
  1 function: entries only, without returns and times; `xaudit info` has a note why ' \
	'ctl says that only entries will be recorded'
some() {
	report d
	[ "$(calls counted)" -gt 0 ] 2>/dev/null
}
wait_until 60 some
ok 'they are recorded' some
like "$(info d '.processes[0].notes | join("; ")')" 'libpart.so: its unwinder would not see intercepted calls' \
	'info has the reason'
kill -KILL "$pid"
finish
done_testing
