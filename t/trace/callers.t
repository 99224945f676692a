#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit trace -k: below each call who called it, traced or not, in the process and in one that it has forked.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
unset XAUDIT_CONFIG XAUDIT_RULES

tmp=$(readlink -f "$tmp")
cat >callers.c <<'END'
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int compare(const void *a, const void *b)
{
#line 100
	return atoi(a) - atoi(b);
}
static int inner(const char *name)
{
#line 200
	return open(name, O_RDONLY) + 1;
}
static int outer(const char *name)
{
#line 300
	return inner(name) + 1;
}
int main(int argc, char **argv)
{
	char numbers[2][4] = { "2", "1" };

#line 400
	outer("/nonexist");
	if (argc > 1) {
		if (!fork()) {
#line 500
			outer("/nonexist");
			_exit(0);
		}
		wait(NULL);
	} else {
#line 600
		qsort(numbers, 2, 4, compare);
	}
	return !argv;
}
END
"$CC" -g -O0 -o callers callers.c || bail 'no program'

# own FILE: its lines, without numbers that differ, and those of functions of libc.
own() {
	sed -E '/\[(libc|ld)/d; /^\+\+\+/d; s/\+0x[0-9a-f]+ / /; s/^([0-9]{5,}|[0-9 ]{5}) //; s/0x[0-9a-f]+/A/g' "$1"
}
bounded 60 "$XAUDIT" trace -k -q -e open,atoi -o lines ./callers
is "$? $(own lines)" '0 open("/nonexist", O_RDONLY) = -1 ENOENT (No such file or directory)
 > inner [callers]
 > outer [callers]
 > main [callers]
 > _start [callers]
atoi("2") = 2
 > compare [callers]
 > main [callers]
 > _start [callers]
atoi("1") = 1
 > compare [callers]
 > main [callers]
 > _start [callers]' 'callers have lines, those in libraries that are not traced, too' || diag "$(cat lines)"
is "$(grep -c ' > .*qsort.* \[libc\.so\.6\]$' lines)" "$(grep -c '^[0-9]* *atoi' lines)" \
	'and those in libc between them'
bounded 60 "$XAUDIT" trace -kk -q -e open -o lines ./callers
is "$(own lines | sed -n 's/^ > \([a-z]*\) \[callers\] /\1 /p')" "inner $tmp/callers.c:200
outer $tmp/callers.c:300
main $tmp/callers.c:400" '-kk: with files and lines' || diag "$(cat lines)"
bounded 60 "$XAUDIT" trace -k -q -e open --context open:backtrace:2 -o lines ./callers
is "$(own lines)" 'open("/nonexist", O_RDONLY) = -1 ENOENT (No such file or directory)
 > inner [callers]
 > outer [callers]
 > (the backtrace ends here: as many callers as were asked for)' 'as many as a context says'
bounded 60 "$XAUDIT" trace -k -n -q -e qsort,atoi -o lines ./callers
is "$(own lines)" 'qsort(A, 2, 4, A <unfinished ...>
  atoi("2") = 2
   > compare [callers]
   > main [callers]
   > _start [callers]
  atoi("1") = 1
   > compare [callers]
   > main [callers]
   > _start [callers]
<... qsort resumed>)
 > main [callers]
 > _start [callers]' '-n: they are indented as their call is' || diag "$(cat lines)"
bounded 60 "$XAUDIT" trace -k -q -e open -o lines ./callers fork
is "$(own lines | sort | uniq -c | sed 's/^ *//')" '2  > _start [callers]
2  > inner [callers]
2  > main [callers]
2  > outer [callers]
2 open("/nonexist", O_RDONLY) = -1 ENOENT (No such file or directory)' 'a process that was forked has them' ||
	diag "$(cat lines)"
bounded 60 "$XAUDIT" trace -q -e open -o lines ./callers
is "$(grep -c '>' lines)" 0 'without -k there are none'
done_testing
