#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit stacks: the stacks with the most time of their own, from traces that make_trace wrote.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/calls.sh"

write_trace tree <<END
$head
$tree_calls
END
is "$(asked stacks tree)" "$(cat <<'END'
1. 81.1 %, 2 calls, self 0.730 us
    #0   outer [libfoo.so]

2. 7.8 %, 2 calls, self 0.070 us
    #0   inner [libfoo.so]
    #1   outer [libfoo.so]

3. 6.7 %, 1 call, self 0.060 us
    #0   bar [libbar.so]
    #1   outer [libfoo.so]

4. 4.4 %, 1 call, self 0.040 us
    #0   inner [libfoo.so]
    #1   bar [libbar.so]
    #2   outer [libfoo.so]
END
)" 'stacks stand in the order of their self time, each with the innermost call first'
is "$(asked stacks tree -n 1 --sort=calls)" "$(cat <<'END'
1. 33.3 %, 2 calls, self 0.730 us
    #0   outer [libfoo.so]

3 more stacks have the rest: see -n
END
)" 'or of their calls; as many as are asked for'
is "$(asked stacks tree --format=folded)" 'outer 730
outer;inner 70
outer;bar 60
outer;bar;inner 40' 'folded, a line is a stack, the outermost call first, and its time in ns'
is "$(asked stacks tree --format=folded --sort=calls -n 2)" 'outer 2
outer;inner 2' 'or its calls'
is "$(asked stacks tree --format=folded --tid=101)" 'outer 500' 'of one thread'
is "$(asked stacks tree --format=folded --from=101ns --to=1us)" 'outer;bar 60
outer;inner 40
outer;bar;inner 40' 'of calls that began in a time'
is "$(asked stacks tree --format=json -n 2 | tr -d '\n')" "$(tr -d '\n' <<'END'
{"stacks":[
{"calls":2,"self_ns":730,"self_cpu_ns":null,"self_waiting_ns":null,"frames":[{"function":"outer",
"library":"/usr/lib/libfoo.so"}]},
{"calls":2,"self_ns":70,"self_cpu_ns":null,"self_waiting_ns":null,"frames":[{"function":"inner",
"library":"/usr/lib/libfoo.so"},{"function":"outer","library":"/usr/lib/libfoo.so"}]}
],"stacks_in_all":4,"stacks_without":0,"folded":0,"lost":0,"no_end":0,"points":0,"counted":0}
END
)" 'JSON has the same'

# 200 calls in one another, each 2 ns longer than that in it; the innermost takes 1600 of 1998.
{
	echo "$head"
	echo 'thread 100 main'
	i=0
	while [ $i -lt 200 ]; do
		i=$((i + 1))
		echo "entry $((1 + i % 2)) $((1000 + i))"
	done
	while [ $i -gt 0 ]; do
		echo "exit $((1 + i % 2)) $((3000 - i))"
		i=$((i - 1))
	done
} | write_trace deep
is "$(asked stacks deep -n 1)" "$(
	echo '1. 80.1 %, 1 call, self 1.600 us'
	i=0
	while [ $i -lt 32 ]; do
		[ $((i % 2)) -eq 0 ] && name=outer || name=inner
		printf '    #%-3d %s [libfoo.so]\n' $i $name
		i=$((i + 1))
	done
	echo '      ... 136 calls ...'
	i=168
	while [ $i -lt 200 ]; do
		[ $((i % 2)) -eq 0 ] && name=outer || name=inner
		printf '    #%-3d %s [libfoo.so]\n' $i $name
		i=$((i + 1))
	done
	printf '\n199 more stacks have the rest: see -n\n'
)" 'of a deep stack both ends are shown'
is "$(asked stacks deep -n 1 --format=folded | tr ';' '\n' | wc -l)" 200 'folded, it is whole'

# ---- names ----

write_trace hostile <<END
$head
function 2 2 7 0x700 $hostile
function 2 2 8 0x800 a;b
thread 100 main
entry 7 1000
entry 8 1010
exit 8 1040
exit 7 1100
END
asked stacks hostile --format=folded >"$tmp/out"
like "$(cat "$tmp/out")" ';a:b 30$' 'a semicolon ends no name'
is "$(sed 's/ [0-9]*$//; s/[^;]//g' "$tmp/out")" "$(printf '\n;')" 'so there are as many as there are calls'
for format in text folded json; do
	asked stacks hostile --format=$format >"$tmp/out"
	is "$(steering "$tmp/out" && echo steers)" '' "$format: nothing in a name steers a terminal"
done

# ---- no times ----

write_trace points <<END
$head
thread 100 main
point 1 1000
END
is "$(asked stacks points)" "$(cat <<'END'
1. -, 1 call, self -
    #0   outer [libfoo.so]

1 stack has no self time: it comes last
1 call was traced at the entry only: it has no time
END
)" 'where there are no times, that is told'

# Calls that are shorter than the clock tells: of three stacks two have no time.
write_trace short <<END
$head
thread 100 main
entry 1 1000
entry 2 1100
exit 2 1100
entry 4 1200
exit 4 1200
entry 4 1250
exit 4 1250
exit 1 1300
END
is "$(asked stacks short)" "$(cat <<'END'
1. 100.0 %, 1 call, self 0.300 us
    #0   outer [libfoo.so]

2. 0.0 %, 2 calls, self -
    #0   bar [libbar.so]
    #1   outer [libfoo.so]

3. 0.0 %, 1 call, self -
    #0   inner [libfoo.so]
    #1   outer [libfoo.so]

2 stacks have no self time: they come last
END
)" 'stacks without a time of their own are shown last, those with most calls first'
like "$(asked stacks short --format=json)" '"stacks_in_all":3,"stacks_without":2,' 'JSON counts them'
like "$(asked stacks short --format=json)" '"calls":2,"self_ns":0' 'and has them'
is "$(asked stacks short --format=folded)" 'outer 300' 'folded, what has no width is left out'

# ---- calls that were only counted ----

write_trace counted <<END
$head
thread 100 main
entry 1 1000
exit 1 1300
counts 1 100 main 1:5 4:117
END
like "$(asked stacks counted)" '^122 calls were only counted: they have no time$' \
	'calls that were only counted are told'
like "$(asked stacks counted --format=json)" '"counted":122}$' 'in JSON, too'
is "$(asked stacks counted --tid=100 | tail -1)" '' 'whose they are is not known'

# ---- switches ----

bounded 60 "$XAUDIT" stacks --sort=cpu "$tmp/tree" >"$tmp/out" 2>"$tmp/err"
is "$? $(cat "$tmp/out" "$tmp/err")" "1 xaudit stacks: what was on a processor, and what waited, is not in this trace; \
\`xaudit record --sched\` records it" 'without switches nothing is sorted by them'
write_waiting waiting "$waiting_switches"
is "$(asked stacks waiting)" "$(cat <<'END'
1. 65.4 %, 4 calls, self 0.850 us, on CPU 0.350 us, waiting 0.500 us
    #0   inner [libfoo.so]
    #1   outer [libfoo.so]

2. 34.6 %, 4 calls, self 0.450 us, on CPU 0.450 us, waiting 0.000 us
    #0   outer [libfoo.so]
END
)" 'with switches, what was on a processor is told from what waited'
is "$(asked stacks waiting --sort=waiting --format=folded)" 'outer;inner 500' 'and stacks are sorted by either'
is "$(asked stacks waiting --sort=cpu --format=folded)" 'outer 450
outer;inner 350' 'as they are by processor time'
like "$(asked stacks waiting --format=json)" '"self_ns":850,"self_cpu_ns":350,"self_waiting_ns":500' \
	'JSON has both'
write_waiting lost "$lost_switches"
is "$(asked stacks lost)" "$(cat <<'END'
1. 65.4 %, 4 calls, self 0.850 us, on CPU 0.200 us, waiting 0.500 us, not known 0.150 us
    #0   inner [libfoo.so]
    #1   outer [libfoo.so]

2. 34.6 %, 4 calls, self 0.450 us, on CPU 0.300 us, waiting 0.000 us, not known 0.150 us
    #0   outer [libfoo.so]

of 6 calls it is not known how long they were on processors: see xaudit info
END
)" 'what is not known stands beside what is, so that they add up'

for wrong in --sort=total --count=0 --format=dot; do
	bounded 60 "$XAUDIT" stacks "$wrong" "$tmp/tree" >"$tmp/out" 2>"$tmp/err"
	is "$? $(wc -l <"$tmp/err")" '2 1' "$wrong is refused"
done
done_testing
