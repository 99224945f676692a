#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit slow: the longest calls of a function, and what made them slow, from traces that make_trace wrote, and of a
# program with one slow call.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/calls.sh"

# Twelve times outer, every 10 us: inner takes 100 ns in it, bar 200, and itself 50; in the eighth bar takes 5200. In
# the eleventh inner is called 11 times.
{
	echo "$head"
	echo 'thread 100 main'
	i=0
	while [ $i -lt 12 ]; do
		at=$((1000 + 10000 * i))
		i=$((i + 1))
		more=$((i == 8 ? 5000 : 0))
		times=$((i == 11 ? 11 : 1))
		echo "entry 1 $at"
		while [ $times -gt 0 ]; do
			echo "entry 2 $at"
			at=$((at + 100))
			echo "exit 2 $at"
			times=$((times - 1))
		done
		echo "entry 4 $((at + 20))"
		echo "exit 4 $((at + 220 + more))"
		echo "exit 1 $((at + 250 + more))"
	done
} | write_trace planted
is "$(asked slow planted -n 2 outer | sed 's/^=.*/=/')" "$(cat <<'END'
outer [libfoo.so]
12 calls, median 0.350 us
A typical call is the average of the 10 calls around the median.

1. 5.350 us, 15.3 times the median
   thread 100 of process 100
   began at 0.000071000 s, 0.000070000 s after the start

  Difference         Self      Typical       Calls     Typical  Function
=
   +5.000 us     5.200 us     0.200 us           1           1  bar [libbar.so]

       Time    Share         Self       Calls  Function
=
   5.350 us  100.0 %     0.050 us           1  outer [libfoo.so]
   5.200 us   97.2 %     5.200 us           1    bar [libbar.so]
   0.100 us    1.9 %     0.100 us           1    inner [libfoo.so]

2. 1.350 us, 3.9 times the median
   thread 100 of process 100
   began at 0.000101000 s, 0.000100000 s after the start

  Difference         Self      Typical       Calls     Typical  Function
=
   +1.000 us     1.100 us     0.100 us          11           1  inner [libfoo.so]

       Time    Share         Self       Calls  Function
=
   1.350 us  100.0 %     0.050 us           1  outer [libfoo.so]
   1.100 us   81.5 %     1.100 us          11    inner [libfoo.so]
   0.200 us   14.8 %     0.200 us           1    bar [libbar.so]
END
)" 'the longest calls come first, each with what took more time than in typical ones, and its tree'
is "$(asked slow planted -n 1 --min=5 outer --format=json | tr -d '\n')" "$(tr -d '\n' <<'END'
{"function":"outer","library":"/usr/lib/libfoo.so","calls":12,"median_ns":350,"typical_calls":10,"slow":[
{"time_ns":5350,"start_ns":71000,"after_start_ns":70000,"pid":100,"tid":100,"cpu_ns":null,"waiting_ns":null,
"differences":[
{"function":"bar","library":"/opt/bar/libbar.so","difference_ns":5000,"waiting_difference_ns":null,
"self_ns":5200,"typical_self_ns":200,"calls":1,"typical_calls":1.00},
{"function":"outer","library":"/usr/lib/libfoo.so","difference_ns":0,"waiting_difference_ns":null,
"self_ns":50,"typical_self_ns":50,"calls":1,"typical_calls":1.00},
{"function":"inner","library":"/usr/lib/libfoo.so","difference_ns":0,"waiting_difference_ns":null,
"self_ns":100,"typical_self_ns":100,"calls":1,"typical_calls":1.00}
],"tree":[
{"depth":0,"function":"outer","library":"/usr/lib/libfoo.so","calls":1,"total_ns":5350,"time_ns":5350,
"time_cpu_ns":null,"time_waiting_ns":null,"self_ns":50,"self_cpu_ns":null,"self_waiting_ns":null},
{"depth":1,"function":"bar","library":"/opt/bar/libbar.so","calls":1,"total_ns":5200,"time_ns":5200,
"time_cpu_ns":null,"time_waiting_ns":null,"self_ns":5200,"self_cpu_ns":null,"self_waiting_ns":null}
],"folded":0}
],"lost":0,"no_end":0,"points":0,"counted":0}
END
)" 'JSON has the same'
found() {
	asked slow planted --format=json "$@" |
		sed -n 's/^{"time_ns":\([0-9]*\),.*"after_start_ns":\([0-9]*\),.*/\1@\2/p' | tr '\n' ' '
}
is "$(found outer -n 3)" '5350@70000 1350@100000 350@0 ' 'of calls that took the same, the first'
is "$(found outer --to=70us -n 1)" '350@0 ' 'of calls that began before'
is "$(found outer --from=70001ns -n 1)" '1350@100000 ' 'or after'
is "$(found outer --from=70us --to=70001ns)" '5350@70000 ' 'in the tree is what began later'
like "$(asked slow planted outer --from=70us --to=70001ns)" '^ +5.200 us +97.2 % .* bar ' 'as that is here'
is "$(found outer -n 1000 | wc -w)" 12 'not more than there are'
is "$(found bar -n 1)" '5200@70120 ' 'of another function, which makes no calls'

# Recursion: outer in outer is in the tree of the outermost one. In another process's thread, outer does not end.
write_trace recursion <<END
$head
thread 100 main
entry 1 1000
entry 2 1010
entry 1 1020
exit 1 1090
exit 2 1095
exit 1 1100
entry 1 1200
exit 1 1210
thread 101 other
entry 1 2000
point 4 2010
entry 1 2020
exit 1 2100
END
is "$(asked slow recursion outer | sed 's/^=.*/=/')" "$(cat <<'END'
outer [libfoo.so]
2 calls, median 0.010 us
A typical call is the one of median time.

1. 0.100 us, 10.0 times the median
   thread 100 of process 100
   began at 0.000001000 s, 0.000000000 s after the start

  Difference         Self      Typical       Calls     Typical  Function
=
   +0.075 us     0.085 us     0.010 us           2           1  outer [libfoo.so]
   +0.015 us     0.015 us     0.000 us           1           0  inner [libfoo.so]

       Time    Share         Self       Calls  Function
=
   0.100 us  100.0 %     0.015 us           1  outer [libfoo.so]
   0.085 us   85.0 %     0.015 us           1    inner [libfoo.so]
   0.070 us   70.0 %     0.070 us           1      outer [libfoo.so]

2. 0.010 us, 1.0 times the median
   thread 100 of process 100
   began at 0.000001200 s, 0.000000200 s after the start

No function took more time than in a typical call.

       Time    Share         Self       Calls  Function
=
   0.010 us  100.0 %     0.010 us           1  outer [libfoo.so]

1 call has no end in the trace: it has no time, but those in it have
END
)" 'calls are outermost ones that ended'

# A call of many different paths: those that are too many are told.
{
	echo 'process p100
pair first 1000 1000 5
pair last 9000000 9000000 8999005
object 1 /usr/lib/libfoo.so
function 1 0 1 0x100 all'
	i=1
	while [ $i -lt 20000 ]; do
		i=$((i + 1))
		echo "function 1 0 $i $i f$i"
	done
	echo 'thread 100 main
entry 1 1000'
	i=1
	while [ $i -lt 20000 ]; do
		i=$((i + 1))
		echo "entry $i $((1000 + 10 * i))"
		echo "exit $i $((1010 + 10 * i))"
	done
	echo 'exit 1 300000'
} | write_trace wide
like "$(asked slow wide all)" \
	'^3617 calls are in the self time of those around them: there are more than 16384 paths$' 'trees are bounded'
like "$(asked slow wide all)" '^ +299.000 us  100.0 % +135.180 us +1  all ' 'and their times add up all the same'

# ---- a program ----

if [ -n "$XAUDIT_ASAN$XAUDIT_TSAN" ] || ! command -v "${CC%% *}" >/dev/null; then
	skip 3 'the module cannot be loaded, or there is no compiler'
else
	$CC -O2 -fPIC -shared -fpatchable-function-entry=5 -o "$tmp/libslow.so" \
		"$beside/slow_library.c" &&
		$CC -O2 -o "$tmp/slow" "$beside/slow.c" "$tmp/libslow.so" -Wl,-rpath,"$tmp" ||
		bail 'the fixture does not compile'
	bounded 60 "$XAUDIT" record -o "$tmp/run" -k patchable -l libslow.so "$tmp/slow" >"$tmp/out" 2>&1
	is "$? $(cat "$tmp/out")" '0 ' 'a program with one slow call is recorded'
	asked slow run -n 1 handle >"$tmp/out"
	like "$(cat "$tmp/out")" '^1000 calls, median ' 'it has so many calls'
	is "$(sed -n '/^  Difference/,/^$/p' "$tmp/out" | sed -n '3s/.*  //p')" 'look_up [libslow.so]' \
		'the callee that made it slow is the first'
fi

# ---- switches ----

write_waiting waiting "$waiting_switches"
is "$(asked slow waiting -n 1 outer | sed 's/^=.*/=/')" "$(cat <<'END'
outer [libfoo.so]
4 calls, median 0.100 us
A typical call is the average of the 3 calls around the median.

1. 1.000 us, 10.0 times the median
   thread 100 of process 100
   began at 0.000001000 s, 0.000000000 s after the start
   on CPU 0.500 us, waiting 0.500 us

  Difference    of Waiting         Self      Typical       Calls     Typical  Function
=
   +0.650 us     +0.500 us     0.700 us     0.050 us           1           1  inner [libfoo.so]
   +0.250 us     +0.000 us     0.300 us     0.050 us           1           1  outer [libfoo.so]

       Time    Share       On CPU         Self       Calls  Function
=
   1.000 us  100.0 %     0.500 us     0.300 us           1  outer [libfoo.so]
   0.700 us   70.0 %     0.200 us     0.700 us           1    inner [libfoo.so]
END
)" 'with switches, it tells how much of the difference was waiting'
write_waiting lost "$lost_switches"
is "$(asked slow lost -n 1 outer | grep '^   +')" "$(cat <<'END'
   +0.650 us             -     0.700 us     0.050 us           1           1  inner [libfoo.so]
   +0.250 us             -     0.300 us     0.050 us           1           1  outer [libfoo.so]
END
)" 'but not where that is not known of the typical calls'
like "$(asked slow lost -n 1 --format=json outer)" '"difference_ns":650,"waiting_difference_ns":null' \
	'nor in JSON'
like "$(asked slow lost -n 1 outer)" '^of 3 calls it is not known how long they were on processors' \
	'which a line tells'

# ---- names ----

write_trace hostile <<END
$head
function 2 2 7 0x700 $hostile
thread 100 main
entry 1 1000
entry 7 1010
exit 7 1040
exit 1 1100
entry 1 1200
exit 1 1210
END
for format in text json; do
	asked slow hostile --format=$format outer >"$tmp/out"
	ok "$format: there is output" test -s "$tmp/out"
	is "$(steering "$tmp/out" && echo steers)" '' "$format: nothing in a name steers a terminal"
done

# ---- functions that were only counted ----

write_trace counted <<END
$head
thread 100 main
entry 1 1000
exit 1 1300
counts 1 100 main 1:5 4:117
END
bounded 60 "$XAUDIT" slow bar "$tmp/counted" >"$tmp/out" 2>"$tmp/err"
is "$? $(cat "$tmp/out" "$tmp/err")" "1 xaudit slow: calls of bar were only counted: nothing is known of a single \
one; \`xaudit report\` has their number" 'of a function that was only counted that is said'
bounded 60 "$XAUDIT" slow outer "$tmp/counted" >"$tmp/out" 2>&1
is "$? $(tail -1 "$tmp/out")" '0 5 calls were only counted: they have no time' 'so it is of calls that were'

# ---- wrong usage ----

bounded 60 "$XAUDIT" slow >"$tmp/out" 2>"$tmp/err"
is "$? $(cat "$tmp/out" "$tmp/err")" "2 xaudit slow: which function; \`xaudit slow --help\` tells the usage" \
	'it wants a function'
for wrong in --count=0 --count=1001 --min=x --format=dot; do
	bounded 60 "$XAUDIT" slow "$wrong" outer "$tmp/planted" >"$tmp/out" 2>"$tmp/err"
	is "$? $(wc -l <"$tmp/err")" '2 1' "$wrong is refused"
done
bounded 60 "$XAUDIT" slow none "$tmp/planted" >"$tmp/out" 2>"$tmp/err"
is "$? $(wc -l <"$tmp/err")" '1 1' 'so is a function without calls'
# Two threads call at the same moment: each call has its own tree.
{
	echo "$head"
	echo 'thread 101 other
entry 1 1000
entry 4 1010
exit 4 2010
exit 1 3000
thread 100 main
entry 1 1000
entry 2 1010
exit 2 1110
exit 1 3000'
} | write_trace at_once
is "$(asked slow at_once -n 2 outer | grep -E '^   thread |^ .*% .* (outer|inner|bar) ' |
	sed -E 's/^   thread ([0-9]+) .*/\1/; s/.* (outer|inner|bar) .*/\1/' | tr '\n' ' ')" \
	'101 outer bar 100 outer inner ' 'calls of two threads at the same moment are told apart'
# If the one that was found is gone when its tree is read, as in a ring, the other one is not taken for it. Here the
# first thread's chunk is gone once the second one's events have been read.
cat >"$tmp/gone.c" <<'END'
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
ssize_t pread(int fd, void *to, size_t size, off_t at)
{
	static int gone;
	long n = syscall(SYS_pread64, fd, to, size, at);

	if (gone && at == atol(getenv("FIRST")) && n > 0)
		memset(to, 0, (size_t)n);
	gone |= at > atol(getenv("SECOND"));
	return n;
}
ssize_t pread64(int fd, void *to, size_t size, off64_t at) __attribute__((alias("pread")));
END
$CC -shared -fPIC -o "$tmp/gone.so" "$tmp/gone.c" ||
	bail 'gone.so does not compile'
# shellcheck disable=SC2046 # two words
set -- $(grep -abo CHNK "$tmp/at_once/p100/meta" | sed 's/:.*//')
is "$(FIRST=$1 SECOND=$2 LD_PRELOAD=$tmp/gone.so bounded 60 "$XAUDIT" slow -n 1 outer "$tmp/at_once" 2>/dev/null |
	sed -n '/^   thread/p; /^It was/p; / inner /p')" '   thread 101 of process 100
It was overwritten while the trace was read.' 'nor is one of another thread taken for one that is gone'
# What is said above the tables fits into 80 columns, whoever calls, and however long the machine has been running.
{
	printf 'process p4194303 flags=1\npair first %s %s 5\npair last %s %s 9000005\n' \
		31536000000000000 31536000000000000 31536000009000000 31536000009000000
	echo "$libraries"
	for thread in 4194300 4194301; do
		echo "thread $thread worker"
		i=0
		while [ $((i += 1)) -le 12 ]; do
			echo "entry 1 $((31536000001000000 + i * 100000))"
			echo "exit 1 $((31536000001000000 + i * 100000 + i * 1234))"
		done
	done
} | write_trace long
asked slow long outer | sed '/^=/,/^$/d' >"$tmp/long.out"
like "$(cat "$tmp/long.out")" '^   began at 31536000\.002200000 s, 0\.002200000 s after the start$' 'times are whole'
is "$(awk 'length > 80' "$tmp/long.out")" '' 'and what is not in a table fits into 80 columns'

done_testing
