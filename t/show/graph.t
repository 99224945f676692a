#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit graph: callers, callees and the tree of the program, from traces that make_trace wrote.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/calls.sh"

# graph NAME [ARG]...: without the heads of the columns.
graph() {
	asked graph "$@" | sed '/^ *Time /d; /^====/d'
}

# ---- the tree of the program ----

write_trace tree <<END
$head
$tree_calls
END
is "$(asked graph tree)" "$(cat <<'END'
       Time    Share         Self       Calls  Function
===========  =======  ===========  ==========  ====================
   0.900 us  100.0 %     0.730 us           2  outer [libfoo.so]
   0.100 us   11.1 %     0.060 us           1    bar [libbar.so]
   0.040 us    4.4 %     0.040 us           1      inner [libfoo.so]
   0.070 us    7.8 %     0.070 us           2    inner [libfoo.so]
END
)" 'the tree of the program has times, shares, self times and calls, that with most time first'
is "$(graph tree --tid=101)" '   0.500 us  100.0 %     0.500 us           1  outer [libfoo.so]' 'of one thread'
is "$(graph tree --pid=100 --tid=101)" "$(graph tree --tid=101)" 'of one process'
is "$(graph tree --min=6%)" "$(cat <<'END'
   0.900 us  100.0 %     0.730 us           2  outer [libfoo.so]
   0.100 us   11.1 %     0.060 us           1    bar [libbar.so]
   0.070 us    7.8 %     0.070 us           2    inner [libfoo.so]

1 path, and what is behind it, is left out: see --min and --depth
END
)" 'what has less than a share is left out, and told'
is "$(graph tree -D 1 --min 0)" "$(cat <<'END'
   0.900 us  100.0 %     0.730 us           2  outer [libfoo.so]

2 paths, and what is behind them, are left out: see --min and --depth
END
)" 'so is what is deeper'
is "$(graph tree --from=200ns --to=0.26us)" "$(cat <<'END'
   0.140 us  100.0 %            -           0  outer [libfoo.so]
   0.100 us   71.4 %     0.060 us           1    bar [libbar.so]
   0.040 us   28.6 %     0.040 us           1    inner [libfoo.so]
END
)" 'calls that began in a time are whole, below those that began before'
is "$(asked graph tree --format=json | tr -d '\n')" "$(tr -d '\n' <<'END'
{"time_ns":900,"tree":[
{"depth":0,"function":"outer","library":"/usr/lib/libfoo.so","calls":2,"total_ns":900,"time_ns":900,
"time_cpu_ns":null,"time_waiting_ns":null,"self_ns":730,"self_cpu_ns":null,"self_waiting_ns":null},
{"depth":1,"function":"bar","library":"/opt/bar/libbar.so","calls":1,"total_ns":100,"time_ns":100,
"time_cpu_ns":null,"time_waiting_ns":null,"self_ns":60,"self_cpu_ns":null,"self_waiting_ns":null},
{"depth":2,"function":"inner","library":"/usr/lib/libfoo.so","calls":1,"total_ns":40,"time_ns":40,
"time_cpu_ns":null,"time_waiting_ns":null,"self_ns":40,"self_cpu_ns":null,"self_waiting_ns":null},
{"depth":1,"function":"inner","library":"/usr/lib/libfoo.so","calls":2,"total_ns":70,"time_ns":70,
"time_cpu_ns":null,"time_waiting_ns":null,"self_ns":70,"self_cpu_ns":null,"self_waiting_ns":null}
],"folded":0,"lost":0,"no_end":0,"points":0,"counted":0}
END
)" 'JSON has the same'

# ---- a function ----

is "$(graph tree inner)" "$(cat <<'END'
   0.040 us   36.4 %            -           1      / outer [libfoo.so]
   0.040 us   36.4 %            -           1    / bar [libbar.so]
   0.070 us   63.6 %            -           2    / outer [libfoo.so]
   0.110 us  100.0 %     0.110 us           3  inner [libfoo.so]

100 % is 12.2 % of the time of all calls
END
)" 'callers are above a function, with the time of it that came by way of them'
is "$(graph tree bar)" "$(cat <<'END'
   0.100 us  100.0 %            -           1    / outer [libfoo.so]
   0.100 us  100.0 %     0.060 us           1  bar [libbar.so]
   0.040 us   40.0 %     0.040 us           1    inner [libfoo.so]

100 % is 11.1 % of the time of all calls
END
)" 'callees below it'
is "$(asked graph tree bar --format=json | tr -d '\n')" "$(tr -d '\n' <<'END'
{"time_ns":900,"function":"bar","library":"/opt/bar/libbar.so","calls":1,"total_ns":100,"self_ns":60,
"self_cpu_ns":null,"self_waiting_ns":null,"callers":[
{"depth":1,"function":"outer","library":"/usr/lib/libfoo.so","calls":1,"total_ns":100}
],"tree":[
{"depth":0,"function":"bar","library":"/opt/bar/libbar.so","calls":1,"total_ns":100,"time_ns":100,
"time_cpu_ns":null,"time_waiting_ns":null,"self_ns":60,"self_cpu_ns":null,"self_waiting_ns":null},
{"depth":1,"function":"inner","library":"/usr/lib/libfoo.so","calls":1,"total_ns":40,"time_ns":40,
"time_cpu_ns":null,"time_waiting_ns":null,"self_ns":40,"self_cpu_ns":null,"self_waiting_ns":null}
],"folded":0,"lost":0,"no_end":0,"points":0,"counted":0}
END
)" 'JSON has both'

write_trace recursion <<END
$head
$recursive_calls
END
is "$(graph recursion outer --min=0)" "$(cat <<'END'
          -    0.0 %            -           1        / outer [libfoo.so]
          -    0.0 %            -           1      / outer [libfoo.so]
          -    0.0 %            -           1    / inner [libfoo.so]
          -    0.0 %            -           1    / outer [libfoo.so]
   0.105 us  100.0 %     0.075 us           4  outer [libfoo.so]
   0.060 us   57.1 %     0.020 us           1    outer [libfoo.so]
   0.040 us   38.1 %     0.030 us           1      inner [libfoo.so]
   0.010 us    9.5 %     0.010 us           1        outer [libfoo.so]

100 % is 100.0 % of the time of all calls
END
)" 'recursion counts once: recursive calls have callers, but no time of their own'

# The outermost calls never end.
write_trace unfinished <<END
$head
thread 100 main
entry 1 1000
entry 2 1010
entry 4 1020
exit 4 1050
point 4 1055
exit 2 1060
END
is "$(graph unfinished)" "$(cat <<'END'
   0.050 us  100.0 %     0.000 us           1  outer [libfoo.so]
   0.050 us  100.0 %     0.020 us           1    inner [libfoo.so]
   0.030 us   60.0 %     0.030 us           2      bar [libbar.so]

1 call has no end in the trace: it has no time, but those in it have
1 call was traced at the entry only: it has no time
END
)" 'a call that did not end has the time of those in it, and none of its own'

# Calls, total and self time are those of report, whatever happens.
write_trace random <<END
process p100
pair first 1000 1000 5
pair last 9000000 9000000 8999005
object 1 /usr/lib/libfoo.so
function 1 0 1 0x100 f1
function 1 0 2 0x200 f2
function 1 0 3 0x300 f3
thread 100 main
random 42 4000 3 12
lost 3
chunk 5000000
random 43 3000 3 20
END
numbers() {
	sed 's/"\(calls\|total_ns\|self_ns\)"://g' |
		sed -n 's/.*"function":"\(f[123]\)"[^0-9]*\([0-9]*,[0-9]*,[0-9]*\),.*/\1 \2/p' | sort
}
is "$(for f in f1 f2 f3; do asked graph random "$f" --format=json | head -n 1 | numbers; done)" \
	"$("$XAUDIT" report --format=json "$tmp/random" | numbers)" 'a function has the numbers that report has'
is "$("$XAUDIT" report --format=json "$tmp/random" | numbers | wc -l)" 3 'there are some'

# ---- functions by their names ----

is "$(asked graph tree none 2>&1)" \
	"xaudit graph: no call of a function 'none' is in what was read; \`xaudit report\` lists them" \
	'a function without calls is told'
bounded 60 "$XAUDIT" graph none "$tmp/tree" >"$tmp/out" 2>&1
is "$?" 1 'with status 1'
write_trace moments <<END
$head
thread 100 main
entry 1 1000
exit 1 1300
entry 2 50000
exit 2 50300
END
while read -r command options; do
	# shellcheck disable=SC2086
	bounded 60 "$XAUDIT" $command $options --from=20us "$tmp/moments" 2>"$tmp/out" >/dev/null
	is "$? $(sed 's/;.*//' "$tmp/out")" \
		"1 xaudit $command: no call of a function 'outer' is in the time of --from and --to" \
		"$command $options: one that was called before is told, too"
done <<END
graph outer
slow outer
replay -F outer
dump -F outer
report --callers=outer
report --hist=outer
html --around=outer -o $tmp/moments.html
END
is "$(graph moments inner --from=20us | awk 'NR == 1 { print $7, $8 }')" '1 inner' 'one that was called then is shown'
write_trace same <<END
$head
thread 100 main
entry 2 1000
exit 2 1010
entry 5 1020
exit 5 1040
END
is "$(asked graph same inner)" \
	"xaudit graph: 'inner' names 2 functions, one is needed: inner@libfoo.so, inner@libbar.so" \
	'a name that several functions have is not enough'
for word in inner@libbar.so inner@/opt/bar/libbar.so 'i*r@libb*'; do
	is "$(graph same "$word" | head -n 1)" '   0.020 us  100.0 %     0.020 us           1  inner [libbar.so]' \
		"$word names one"
done

# ---- folders ----

cp -r "$tmp/tree" "$tmp/xaudit.data"
is "$(cd "$tmp" && "$XAUDIT" graph bar)" "$(asked graph tree bar)" 'one word is a function'
is "$(cd "$tmp" && "$XAUDIT" graph)" "$(asked graph tree)" 'no word is all of xaudit.data'
cp -r "$tmp/tree" "$tmp/bar"
is "$(cd "$tmp" && "$XAUDIT" graph bar)" "$(asked graph tree)" 'unless there is such a folder'
is "$("$XAUDIT" graph /no/such/folder 2>&1 | grep -c folder)" 1 'a path is no function'

# ---- languages of graphs ----

is "$(asked graph tree --format=dot)" "$(cat <<'END'
digraph xaudit {
    node [shape=box];
    f0 [label="outer\nlibfoo.so\n0.900 us (100.0 %), self 0.730 us, 2 calls"];
    f1 [label="inner\nlibfoo.so\n0.110 us (12.2 %), self 0.110 us, 3 calls"];
    f2 [label="bar\nlibbar.so\n0.100 us (11.1 %), self 0.060 us, 1 call"];
    f0 -> f1 [label="0.070 us\n2 calls"];
    f0 -> f2 [label="0.100 us\n1 call"];
    f2 -> f1 [label="0.040 us\n1 call"];
}
END
)" 'for graphviz, a node is a function, and an edge all calls from one to another'
is "$(asked graph tree --format=mermaid bar)" "$(cat <<'END'
flowchart TD
    f0["outer<br/>libfoo.so<br/>0.900 us (100.0 %), self 0.730 us, 2 calls"]
    f1["inner<br/>libfoo.so<br/>0.110 us (12.2 %), self 0.110 us, 3 calls"]
    f2["bar<br/>libbar.so<br/>0.100 us (11.1 %), self 0.060 us, 1 call"]
    f0 -->|"0.100 us, 1 call"| f2
    f2 -->|"0.040 us, 1 call"| f1
END
)" 'for mermaid, of a function: its callers, and what it called'
is "$(asked graph recursion outer --format=dot | grep -e '->')" "$(cat <<'END'
    f0 -> f0 [label="0.000 us\n1 call"];
    f0 -> f1 [label="0.040 us\n1 call"];
    f1 -> f0 [label="0.000 us\n1 call"];
END
)" 'recursion has edges, without a time of their own'

# Lines of the two languages, as far as they are used here: one text in quotes, none of which can end early.
dot_rest() {
	sed -e '/^digraph xaudit {$/d; /^    node \[shape=box\];$/d; /^}$/d' \
		-e '/^    f[0-9]* \[label="\([^"\\]\|\\["\\n]\)*"\];$/d' \
		-e '/^    f[0-9]* -> f[0-9]* \[label="[0-9.]* [mun ]s\\n[0-9]* calls\{0,1\}"\];$/d'
}
mermaid_rest() {
	sed -e '/^flowchart TD$/d' -e 's,<br/>,,g' \
		-e '/^    f[0-9]*\["\([^]["\\<>;{}|`$#]\|#[0-9]*;\)*"\]$/d' \
		-e '/^    f[0-9]* -->|"[0-9.]* [mun ]s, [0-9]* calls\{0,1\}"| f[0-9]*$/d'
}
write_trace hostile <<END
$head
object 3 /opt/$hostile/$hostile.so
function 3 2 6 0x600 $hostile
function 3 2 7 0x700 a"b\\c
thread 100 $hostile
entry 6 1000
entry 7 1010
exit 7 1040
exit 6 1100
END
is "$(printf '    f0 [label="a"b"];\n' | dot_rest | wc -l)" 1 'a text that ends early would be found'
is "$(printf '    f0["a#b"]\n    f0["a]b"]\n' | mermaid_rest | wc -l)" 2 'a text that ends early would be found'
for format in dot mermaid; do
	asked graph hostile --format=$format >"$tmp/out"
	like "$(cat "$tmp/out")" '(->|-->.*) ?f1' "$format: hostile names have an edge"
	is "$("${format}_rest" <"$tmp/out")" '' "$format: they end no text, and begin nothing else"
done
like "$(asked graph hostile --format=dot)" 'label="a\\"b\\\\c\\n' 'dot: quotes and backslashes are kept'
like "$(asked graph hostile --format=mermaid)" '\["a#34;b#92;c<br/>' 'mermaid: quotes and backslashes are kept'
printf '%s' "$hostile" >"$tmp/out"
ok 'a byte that steers a terminal would be found' steering "$tmp/out"
for format in text dot mermaid json; do
	asked graph hostile --format=$format >"$tmp/out"
	is "$(steering "$tmp/out" && echo steers)" '' "$format: nothing in a name steers a terminal"
done
if [ -n "$XAUDIT_ALL" ] && command -v dot >/dev/null; then
	ok 'graphviz reads it' sh -c '"$0" graph --format=dot "$1" | dot -Tplain >"$2"' "$XAUDIT" "$tmp/hostile" \
		"$tmp/plain"
else
	skip 1 'no graphviz here, or XAUDIT_ALL is not set'
fi

# ---- switches ----

write_waiting waiting "$waiting_switches"
is "$(asked graph waiting)" "$(cat <<'END'
       Time    Share       On CPU         Self       Calls  Function
===========  =======  ===========  ===========  ==========  ====================
   1.300 us  100.0 %     0.800 us     0.450 us           4  outer [libfoo.so]
   0.850 us   65.4 %     0.350 us     0.850 us           4    inner [libfoo.so]
END
)" 'with switches, there is a column of the time on a processor'
write_waiting lost "$lost_switches"
is "$(asked graph lost)" "$(cat <<'END'
       Time    Share       On CPU         Self       Calls  Function
===========  =======  ===========  ===========  ==========  ====================
   1.300 us  100.0 %            -     0.450 us           4  outer [libfoo.so]
   0.850 us   65.4 %            -     0.850 us           4    inner [libfoo.so]

of 6 calls it is not known how long they were on processors: see xaudit info
END
)" 'what is known of some calls only does not pass for all of it'
like "$(asked graph lost --format=json)" '"points":0,"counted":0,"cpu_unknown":6}' 'nor in JSON'

# ---- wrong usage, and traces that can't be read ----

for wrong in --min=x --min=101 --min=-1 --depth=0 --from=x --from=1h --to=-1 --format=table; do
	bounded 60 "$XAUDIT" graph "$wrong" "$tmp/tree" >"$tmp/out" 2>"$tmp/err"
	is "$? $(wc -l <"$tmp/err")" '2 1' "$wrong is refused"
done
bounded 60 "$XAUDIT" graph bar "$tmp/none" >"$tmp/out" 2>"$tmp/err"
is "$? $(wc -l <"$tmp/err") $(cat "$tmp/out")" '1 1 ' 'a trace that is not there is told'
unlike "$(asked graph tree)" "$(printf '\033')" 'there are no colours in a pipe'
like "$(asked graph tree --color=always)" "$(printf '\033')" '--color=always asks for colours'
bounded 60 sh -c '"$0" graph "$1" | head -n 1' "$XAUDIT" "$tmp/tree" >"$tmp/out" 2>"$tmp/err"
is "$(cat "$tmp/err")" '' 'a reader that ends early is no error'

# ---- functions that were only counted ----

write_trace counted <<END
$head
thread 100 main
entry 1 1000
exit 1 1300
counts 1 100 main 1:5 4:117
END
bounded 60 "$XAUDIT" graph bar "$tmp/counted" >"$tmp/out" 2>"$tmp/err"
is "$? $(cat "$tmp/out" "$tmp/err")" "1 xaudit graph: calls of bar were only counted: nothing is known of a single \
one; \`xaudit report\` has their number" 'of a function that was only counted that is said'
bounded 60 "$XAUDIT" graph outer "$tmp/counted" >"$tmp/out" 2>&1
is "$? $(tail -1 "$tmp/out")" '0 122 calls were only counted: they have no time' 'so it is of calls that were'
done_testing
