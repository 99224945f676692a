#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit outliers: functions one call of which took much longer than nearly all others, from traces that make_trace
# wrote.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/calls.sh"

# 200 times: outer takes 100 ns, but 5000 in the 150th; inner always 50; bar 10, but in every 50th 1000, so more than
# one in a hundred do; and in another thread the function without a name 20, but once 400.
{
	echo "$head"
	echo 'thread 100 main'
	i=0
	while [ $i -lt 200 ]; do
		i=$((i + 1))
		at=$((1000 + 10000 * i))
		echo "entry 1 $at"
		echo "exit 1 $((at + (i == 150 ? 5000 : 100)))"
		echo "entry 2 $((at + 6000))"
		echo "exit 2 $((at + 6050))"
		echo "entry 4 $((at + 7000))"
		echo "exit 4 $((at + 7000 + (i % 50 == 0 ? 1000 : 10)))"
	done
	echo 'thread 101 other'
	i=0
	while [ $i -lt 200 ]; do
		i=$((i + 1))
		at=$((2000 + 10000 * i))
		echo "entry 3 $at"
		echo "exit 3 $((at + (i == 77 ? 400 : 20)))"
	done
} | write_trace planted
rule='===========  ===========  ===========  ========  ==========  ===============  =======  ===================='
is "$(asked outliers planted)" "$(cat <<END
        Max          P99       Median   Max/P99       Calls   After start, s   Thread  Function
$rule
   5.000 us     0.100 us     0.100 us        50         200      0.001500000      100  outer [libfoo.so]
   0.400 us     0.020 us     0.020 us        20         200      0.000771000      101  libfoo.so+0x300 [libfoo.so]
END
)" 'functions with one call that took ten times as long as 99 of 100, the longest beyond that first'
is "$(asked outliers planted -n 1 | sed 1,3d)" '
1 more function has such a call: see -n' 'as many as are asked for'
is "$(asked outliers planted --factor=30 | sed 1,2d | wc -l)" 1 'or with one that took longer'
is "$(asked outliers planted --factor=50 | sed 1,2d | wc -l)" 1 'or exactly so many times as long'
is "$(asked outliers planted --factor=51 | sed 1,2d)" '
No function has a call that took 51 times as long as 99 of 100 others.' 'or none has'
is "$(asked outliers planted --tid=101 | sed 1,2d | wc -l)" 1 'of one thread'
is "$(asked outliers planted --from=0.0005 | sed -n '3s/  */ /gp')" \
	' 5.000 us 0.100 us 0.100 us 50 151 0.001500000 100 outer [libfoo.so]' 'of calls that began in a time'
is "$(asked outliers planted --to=1500us | sed 1,2d | wc -l)" 1 'or before'
is "$(asked outliers planted -n 1 --format=json | tr -d '\n')" "$(tr -d '\n' <<'END'
{"factor":10,"outliers":[
{"function":"outer","library":"/usr/lib/libfoo.so","calls":200,"p50_ns":100,"p99_ns":100,"max_ns":5000,
"start_ns":1501000,"after_start_ns":1500000,"pid":100,"tid":100}
],"counted":0}
END
)" 'JSON has the same, and the time as dump shows it'
bounded 60 "$XAUDIT" dump --format=json "$tmp/planted" >"$tmp/dump"
ok 'where the event is' grep -q '^{"time_ns":1501000,"tid":100,"event":"entry","function":"outer"' "$tmp/dump"

write_trace counted <<END
$head
thread 100 main
counts 1 100 main 1:5 4:117
END
is "$(asked outliers counted | tail -1)" '122 calls were only counted: they have no time' \
	'calls that were only counted are told'
like "$(asked outliers counted --format=json)" '"counted":122}$' 'in JSON, too'

for wrong in --count=0 --factor=0 --factor=x --format=text; do
	bounded 60 "$XAUDIT" outliers "$wrong" "$tmp/planted" >"$tmp/out" 2>"$tmp/err"
	is "$? $(wc -l <"$tmp/err")" '2 1' "$wrong is refused"
done
done_testing
