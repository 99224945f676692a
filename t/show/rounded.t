#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Times are added up as ticks and rounded once: sums over some calls of a function, which graph, stacks and report's
# questions show, are right to the nanosecond, and self is never above total. A tick is a third of a nanosecond, and no
# call takes a whole number of these: rounded one by one, 4 ticks would be 1 ns, and 1000 of them 1000 ns, not 1333.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/calls.sh"
built read_calls
need jq

# By turns outer and bar call inner, 4 ticks each time, 500 times each; events say A and B by turns as well. Then inner
# is called by nobody, 101 times 5 ticks.
{
	cat <<'END'
process p100 clock=tsc flags=1
pair first 3000 1000 5
pair last 300003000 100001000 100000005
END
	echo "$libraries"
	cat <<'END'
type 16 request
thread 100 main
loop 500 100
custom 16 9000 =A
entry 1 9001
entry 2 9003
exit 2 9007
exit 1 9008
custom 16 9010 =B
entry 4 9021
entry 2 9023
exit 2 9027
exit 4 9028
end
loop 101 10
entry 2 90001
exit 2 90006
end
END
} | write_trace thirds

# inner: 1000 * 4 + 101 * 5 = 4505 ticks, 1501.67 ns; outer and bar: 500 * 7 ticks, 1166.67 ns, of which self 500.
numbers='"\(.function) \(.total_ns) \(.self_ns)"'
is "$(asked report thirds --format=json | jq -r ".functions[] | $numbers" | sort | paste -s -d,)" \
	'bar 1167 500,inner 1502 1502,outer 1167 500' 'report'
is "$(asked graph thirds --format=json --min=0 |
	jq -r '.time_ns, (.tree[] | "\(.depth) \(.function) \(.time_ns) \(.self_ns)")' | paste -s -d,)" \
	'2502,0 outer 1167 500,1 inner 667 667,0 bar 1167 500,1 inner 667 667,0 inner 168 168' \
	'graph: a path has the sum of its calls'
is "$(bounded 60 "$XAUDIT" graph --format=json inner "$tmp/thirds" |
	jq -r '.total_ns, .self_ns, (.callers[] | .total_ns), (.tree[] | .time_ns, .self_ns)' | paste -s -d,)" \
	'1502,1502,667,667,1502,1502' 'graph of a function that calls nothing: all of its time is its own'
is "$(bounded 60 "$XAUDIT" graph inner "$tmp/thirds" |
	sed -n 's/^ *1.502 us  *100.0 %  *1.502 us  *1101  .*/same/p')" same \
	'in text, too'
is "$(asked graph thirds --format=dot --min=0 |
	sed -n 's/.* -> .*\[label="\(.*\) us.*calls"\];/\1/p' | paste -s -d,)" \
	'0.667,0.667' 'as a picture: so has an edge'
is "$(asked stacks thirds --format=folded)" 'outer;inner 667
bar;inner 667
outer 500
bar 500
inner 168' 'stacks'
is "$(asked report thirds --by-event=request --format=json | jq -r '.rows[] | "\(.value) \(.total_ns) \(.self_ns)"' |
	paste -s -d,)" 'B 1335 1335,A 1167 1167' 'values of events: self is what total is'
is "$(asked report thirds --by-event=request --by=function --format=json |
	jq -r '.rows[] | "\(.value) \(.function) \(.total_ns) \(.self_ns)"' | sort | paste -s -d,)" \
	'A inner 667 667,A outer 1167 500,B bar 1167 500,B inner 835 835' 'by function, too'
is "$(asked report thirds --callers=inner --format=json |
	jq -r '.functions[] | .total_ns, (.callers[] | .total_ns, .self_ns)' |
	paste -s -d,)" '1502,667,667,667,667,168,168' 'callers'
is "$(asked report thirds --callees=outer --format=json |
	jq -r '.functions[].callees[] | .total_ns, .self_ns' | paste -s -d,)" \
	'667,667' 'callees'
is "$(bounded 60 "$XAUDIT" slow inner "$tmp/thirds" --format=json | jq -r '[.slow[].time_ns] | unique[]')" 2 \
	'slow: 5 ticks are 2 ns, wherever they begin'

is "$(asked report thirds --from=0 --columns=min,max --format=json | jq -r '.functions[] | "\(.min_ns) \(.max_ns)"' |
	sort | paste -s -d,)" '1 2,2 2,2 2' 'single calls'
is "$("$read_calls" "$tmp/thirds" 2>&1 >"$tmp/out" || echo failed)" '' 'a call without calls in it has no time of these'
done_testing
