#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Probes, as commands show them: with values and without, where they are, how often threads came there. The trace's
# numbers are known; whatever its chunks are like, all show the same.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/written.sh"

# trace COMMAND: with a probe in no call, besides.
trace() {
	cat <<END
process p100 flags=1 chunk=65536
pair first 1000 1000 5
pair last 9000 9000 8005
$probed_functions
load 1 1 1000 0x10000 100
thread 100 main
$1
$probed_calls
probe 5 1502
END
}
trace | write_trace plain
# shows COMMAND...: of the plain trace.
shows() {
	"$XAUDIT" "$@" "$tmp/plain" 2>&1
}

is "$(shows dump | grep -v load)" \
'0.000001001      100  entry   0x000000010100  main  /usr/lib/libfoo.so
0.000001002      100  probe   0x000000010300  item  0x300  /usr/lib/libfoo.so
0.000001010      100  entry   0x000000010200  f  /usr/lib/libfoo.so
0.000001012      100  probe   0x000000010212  order(rax=0x7f01, name="two words", -3)  f+0x12  /usr/lib/libfoo.so
0.000001014      100  probe   0x000000010218  order  f+0x18  /usr/lib/libfoo.so
0.000001020      100  exit    0x000000010200  f  /usr/lib/libfoo.so
0.000001030      100  entry   0x000000010200  f  /usr/lib/libfoo.so
0.000001035      100  exit    0x000000010200  f  /usr/lib/libfoo.so
0.000001040      100  exit    0x000000010100  main  /usr/lib/libfoo.so
0.000001502      100  probe   0x000000010300  item  0x300  /usr/lib/libfoo.so' \
	'dump has a line for each time, with values, and where that is'
is "$(shows dump --format=json | grep probe | sed 's/,"values":.*shown":"0x7f01"}.*/,VALUES}/
	s,"library":"/usr/lib/libfoo.so",LIB,; s/"event":"probe","probe"/PROBE/')" \
'{"time_ns":1002,"tid":100,PROBE:"item","function":null,LIB,"offset":"0x300","address":"0x10300"}
{"time_ns":1012,"tid":100,PROBE:"order","function":"f",LIB,"offset":"0x212","start":"0x200","address":"0x10212",VALUES}
{"time_ns":1014,"tid":100,PROBE:"order","function":"f",LIB,"offset":"0x218","start":"0x200","address":"0x10218"}
{"time_ns":1502,"tid":100,PROBE:"item","function":null,LIB,"offset":"0x300","address":"0x10300"}' \
	'and so has JSON'
is "$(shows dump --no-values | grep 'order')" \
'0.000001012      100  probe   0x000000010212  order  f+0x12  /usr/lib/libfoo.so
0.000001014      100  probe   0x000000010218  order  f+0x18  /usr/lib/libfoo.so' '--no-values leaves them out'
is "$(shows dump -F f | sed 's/.* 100  //; s/  .*//' | tr '\n' ' ')" 'entry probe probe exit entry exit ' \
	'-F chooses those in calls of a function'
is "$(shows replay | sed 1,2d)" \
'             [    100] | main() {
             [    100] |   /* probe item */
             [    100] |   f() {
             [    100] |     /* probe order(rax=0x7f01, name="two words", -3) */
             [    100] |     /* probe order */
    0.010 us [    100] |   } /* f */
    0.005 us [    100] |   f();
    0.039 us [    100] | } /* main */
             [    100] | /* probe item */' 'replay has them in the bodies of the calls'
is "$(shows dump -F order | sed 's/.* 100  //; s/  .*//' | tr '\n' ' ')/$(shows dump -F item@libfoo.so |
	grep -c item)" \
	'probe probe /2' 'dump -F takes names of probes'
is "$(shows replay -F order | sed 1d)" \
'             [    100] | /* probe order(rax=0x7f01, name="two words", -3) */
             [    100] | /* probe order */' 'and so does replay'
is "$(shows dump --from=13ns --to=21ns | sed 's/.* 100  //; s/ .*//' | tr '\n' ' ')" 'probe exit ' \
	'they are between --from and --to'

# ---- sums ----

is "$(shows report | sed -n '/Per second/,/^$/p' | sed '$d')" \
'    Events     Per second  Probe
==========  =============  ====================
         2      2000000.0  item  libfoo.so
         2    500000000.0  order  libfoo.so' \
	'report has how often threads came there, by name, and how often in a second'
is "$(shows report | sed '1,2d; /^$/,$d' | sed 's/^ *\([0-9]*\) .* us  /\1 /')" '1 main [libfoo.so]
2 f [libfoo.so]' 'no probe is among the functions'
is "$(shows report --format=json | sed -n 's/^{"probe"/PROBE/; s,"library":"/usr/lib/libfoo.so",LIBRARY,; /^PROBE/p')" \
'PROBE:"item",LIBRARY,"count":2,"counted":0,"valued":0,"per_second":2000000.000,"first_ns":2,"last_ns":502},
PROBE:"order",LIBRARY,"count":2,"counted":0,"valued":1,"per_second":500000000.000,"first_ns":12,"last_ns":14}' \
	'and so has JSON'
is "$(shows report --to=100ns | grep ' item')" '         1              -  item  libfoo.so' \
	'--to chooses; of one time there is no rate'
is "$(shows report --by=thread | grep -c 'order  libfoo.so')" 1 'the table is below any other one'
is "$(shows info | grep -i probe | LC_ALL=C sort -u)" \
'  At probes   4 events
  Probe       item  0x300  /usr/lib/libfoo.so
  Probe       order  f+0x12  /usr/lib/libfoo.so
  Probe       order  f+0x18  /usr/lib/libfoo.so
At probes   4 events' 'info has where they are, and how many events'
is "$(shows info --format=json | grep -o '"probe_events":[0-9]*\|{"probe":"[a-z]*"' | tr '\n' ' ')" \
	'"probe_events":4 "probe_events":4 {"probe":"order" {"probe":"order" {"probe":"item" ' 'and so has JSON'
write_trace again <<END
process p100 flags=1 chunk=65536
pair first 1000 1000 5
pair last 9000 9000 8005
$probed_functions
function 1 32 6 0x212 order
thread 100 main
probe 3 1002
probe 6 1004
END
is "$("$XAUDIT" info "$tmp/again" | grep '^  Probe ') $("$XAUDIT" info --format=json "$tmp/again" |
	grep -o '"probe":"order"' | wc -l)" \
'  Probe       order  f+0x12  /usr/lib/libfoo.so
  Probe       order  f+0x18  /usr/lib/libfoo.so
  Probe       item  0x300  /usr/lib/libfoo.so 2' 'one whose values were changed meanwhile is there once'
is "$(shows report --by-event=order:rax | sed -n '3,4s/  */ /gp')" \
' 2 0.039 us 0.034 us 87.17 % 0.039 us (none)
 1 0.005 us 0.005 us 12.82 % 0.005 us 0x7f01' 'calls are told apart by a value that a probe had last'
is "$(shows report --by-event=item --event-end=order | sed -n '3,4s/  */ /gp')" \
' 2 0.039 us 0.029 us 74.35 % 0.039 us (none)
 1 0.010 us 0.010 us 25.64 % 0.010 us (empty)' 'and by which one came last'
is "$(shows report --by-event=nothing; echo $?)" \
"xaudit report: no event of type 'nothing', and no probe of that name, is in the trace
1" 'a probe that is not there is told'

is "$(shows report --callers=item --columns=calls,total | head -n 5)" \
"probe item [libfoo.so]: 2 events
     Calls        Total  Caller
==========  ===========  ====================
         1            -  (none)
         1            -  main [libfoo.so]" '--callers takes the name of one'
is "$(shows report --by-value=rax --columns=calls,total | sed -n 3p)/$(shows report --by-value=rax --from=13ns
	echo $?)" \
"         1            -  0x7f01: probe order [libfoo.so]/\
xaudit report: no call with a value 'rax' is in the trace
1" 'and --by-value has those that have the value, in time'
is "$(shows report --by-value=rax --format=json | jq -c '.rows[] | [.value, .probe, .library, .calls]')" \
	'["0x7f01","order","/usr/lib/libfoo.so",1]' 'and so has JSON'

trace 'probe 3 1000' | sed '/^probe 5/d' | write_trace other
compare() {
	"$XAUDIT" report --diff "$@" "$tmp/plain" "$tmp/other" 2>&1
}
is "$(compare | sed -n '/Before/,/^$/p' | sed '/^$/d')" \
'    Events      Before     Change  Probe
==========  ==========  =========  ====================
         3           2    +50.0 %  order  libfoo.so
         0           2       gone  item  libfoo.so' '--diff has how often before and after'
is "$(compare --format=json | jq -c '.probes[] | [.probe, .library, .old, .new]')" \
'["order","/usr/lib/libfoo.so",2,3]
["item","/usr/lib/libfoo.so",2,0]' 'and so has JSON'

# ---- in calls ----

# Rows as they are, without heads; numbers that are not there are -.
below() {
	sed '1,/^===/d'
}
is "$(shows graph | below)" \
'   0.039 us  100.0 %     0.024 us           1  main [libfoo.so]
   0.015 us   38.5 %     0.015 us           2    f [libfoo.so]
          -        -            -           2      probe order [libfoo.so]
          -        -            -           1    probe item [libfoo.so]
          -        -            -           1  probe item [libfoo.so]' \
	'graph has a line for each in the calls that it is in, with how often'
is "$(shows graph order | below)/$(shows graph 'it*' | below)" \
'          -        -            -           2      / main [libfoo.so]
          -        -            -           2    / f [libfoo.so]
          -        -            -           2  probe order [libfoo.so]/'\
'          -        -            -           1    / main [libfoo.so]
          -        -            -           2  probe item [libfoo.so]' 'and for one of them who comes there'
is "$(shows graph -D 1 | below | head -n 2)/$(shows graph --to=5ns | below | grep -c probe)" \
'   0.039 us  100.0 %     0.024 us           1  main [libfoo.so]
          -        -            -           1  probe item [libfoo.so]/1' '--depth and --to choose among them, too'
is "$(shows graph --by-value=rax | below | sed -n '/order/,$p')" \
'          -        -            -           2      probe order [libfoo.so]
          -        -            -           1        rax = 0x7f01
          -        -            -           1    probe item [libfoo.so]
          -        -            -           1  probe item [libfoo.so]' '--by-value has them by their values'
is "$(shows graph --format=json item | jq -c '[.probe, .library, .events, .callers, .tree]')" \
'["item","/usr/lib/libfoo.so",2,[{"depth":1,"function":"main","library":"/usr/lib/libfoo.so","calls":1,'\
'"total_ns":0}],[{"depth":0,"probe":"item","library":"/usr/lib/libfoo.so","events":2}]]' 'and so has JSON'
is "$(shows graph --format=dot | grep -e '^    p' -e '-> p')" \
'    p0 [shape=ellipse,label="probe item\nlibfoo.so\n2 events"];
    p1 [shape=ellipse,label="probe order\nlibfoo.so\n2 events"];
    f0 -> p0 [label="1 event"];
    f1 -> p1 [label="2 events"];' 'as nodes of their own for graphviz'
is "$(shows graph --format=mermaid order | grep -e 'p1' -e '-->')" \
'    p1(["probe order<br/>libfoo.so<br/>2 events"])
    f1 -->|"2 events"| p1
    f0 -->|"2 events"| f1' 'and mermaid'
is "$(shows stacks --sort=calls --format=folded)" \
'main;f 2
main;f;probe order 2
main 1
main;probe item 1
probe item 1' 'stacks that are counted have them as leaves'
is "$(shows stacks --format=folded)/$(shows stacks | grep -c 'probe [io]')/$(shows stacks | grep sort)" \
'main 24
main;f 15/0/events of probes have no time: --sort=calls has their stacks' 'by time there are none, which is said'
is "$(shows stacks --sort=calls | sed -n '5,9p')" \
'2. 28.6 %, 2 events
    #0   probe order [libfoo.so]
    #1   f [libfoo.so]
    #2   main [libfoo.so]' 'text tells their number'
is "$(shows stacks --sort=calls --format=json | jq -c '.stacks[] | select(.events) | [.events, .frames[0].probe]')" \
'[2,"order"]
[1,"item"]
[1,"item"]' 'and so does JSON'
is "$(shows slow -n 1 f | sed -n '/^After/,$p; /^ *After/,$p')" \
'      After  Probe
===========  ====================
   0.002 us  order(rax=0x7f01, name="two words", -3)  f+0x12
   0.004 us  order  f+0x18' 'slow has them in the call, with values and when'
is "$(shows slow -n 1 main | grep 'probe ')" \
'          -        -            -           2      probe order [libfoo.so]
          -        -            -           1    probe item [libfoo.so]' 'and in its tree'
is "$(shows slow -n 1 --no-values f | grep -c rax)" 0 'without values, if these are not asked for'
is "$(shows slow -n 1 --format=json main |
	jq -c '.slow[0] | [.probe_events, (.probes[] | [.after_ns, .probe, .values])]')" \
'[3,[1,"item",null],[11,"order","(rax=0x7f01, name=\"two words\", -3)"],[13,"order",null]]' 'and so has JSON'
is "$(shows slow order; echo $?)" \
"xaudit slow: 'order' is a probe, which takes no time; \`xaudit graph 'order'\` shows in which calls threads came there
1" 'slow of a probe says where that is shown'
is "$(shows report --hist=item; echo $?)" \
"xaudit report: 'item' is a probe, which takes no time; \`xaudit graph 'item'\` shows in which calls threads came there
1" 'and so does report'
is "$(shows graph orders; echo $?)" \
"xaudit graph: no call of a function, and no probe, 'orders' is in what was read; did you mean 'order'?
1" 'a name of neither is told'

# One call of a thousand is the longest by far; the first two and the last two of its hundred events are shown.
{
	echo 'process p100 flags=1 chunk=65536
pair first 1000 1000 5
pair last 9000000 9000000 8005'
	echo "$probed_functions"
	printf 'thread 100 main\nloop 1000 20\nentry 2 2000\nprobe 5 2001\nexit 2 2003\nend\nentry 2 50000\n'
	printf 'values 1 50010 0x7f01 =two_words -3\nloop 98 3\nprobe 4 50020\nend\nprobe 5 50400\nexit 2 50500\n'
} | write_trace far
is "$("$XAUDIT" outliers "$tmp/far" | below)" \
'   0.500 us     0.003 us     0.003 us       167        1001      0.000049000      100  f [libfoo.so]
              after 0.010 us probe order(rax=0x7f01, name="two words", -3)  f+0x12
              after 0.020 us probe order  f+0x18
              ... 96 more ...
              after 0.311 us probe order  f+0x18
              after 0.400 us probe item  0x300' 'outliers has those in the longest call'
is "$("$XAUDIT" outliers --format=json "$tmp/far" |
	jq -c '.outliers[0] | [.probe_events, (.probes | length), .probes[0].values, .probes[19].after_ns]')" \
	'[100,20,"(rax=0x7f01, name=\"two words\", -3)",400]' 'and so has JSON'
is "$("$XAUDIT" slow -n 1 f "$tmp/far" | sed -n '/ After /,$p' | sed -n '12,14p')" \
'   0.044 us  order  f+0x18
             ... 80 more ...
   0.287 us  order  f+0x18' 'slow shows the first ten and the last ten'

# ---- however it is stored ----

shows dump --format=json >"$tmp/expected"
for chunks in dense ring both; do
	trace "$chunks" | write_trace "$chunks"
	is "$("$XAUDIT" dump --format=json "$tmp/$chunks" 2>&1 | cmp "$tmp/expected" - 2>&1)" '' "chunks: $chunks"
done
# Enough of them for dense words to be written.
{
	trace dense
	printf 'loop 1000 5\nentry 2 2000\nprobe 3 2001\nprobe 4 2002\nexit 2 2003\nend\n'
} | write_trace many
is "$("$XAUDIT" report --format=json "$tmp/many" | sed -n 's/.*"order",.*"count":\([0-9]*\).*/\1/p')" 2002 \
	'dense words have them, too'
"$XAUDIT" pack -o "$tmp/packed" "$tmp/plain" 2>/dev/null
is "$("$XAUDIT" dump --format=json "$tmp/packed" 2>&1 | cmp "$tmp/expected" - 2>&1)" '' 'packed, nothing is lost'
"$XAUDIT" pack --no-values -o "$tmp/bare" "$tmp/plain" 2>/dev/null
is "$("$XAUDIT" dump "$tmp/bare")" "$(shows dump --no-values)" 'without values, all but these is there'

# ---- counted, damaged ----

{
	trace
	echo 'counts 1 101 w 5:7 2:3'
} | write_trace counted
is "$("$XAUDIT" report "$tmp/counted" | sed -n '/ item/p; s/^ *\([0-9]*\) .* f \[.*/\1/p; /counted/p')" \
'5
         9      2000000.0  item  libfoo.so
3 calls were only counted: they have no time' 'those that were only counted are among them, and are no calls'
is "$("$XAUDIT" info "$tmp/counted" | grep -e '^Counted' -e '^At')" \
'Counted     3 calls without time
At probes   11 events' 'nor in info'
{
	trace | sed '/^probe 5/d'
	echo 'counts 1 101 w 5:7'
} | write_trace only
for command in graph 'dump -F' 'replay -F'; do
	# shellcheck disable=SC2086 # a command and its option
	is "$("$XAUDIT" $command item "$tmp/only" 2>&1 >"$tmp/out")" \
"xaudit ${command%% *}: no event of probe 'item' is in what was read, or they were only counted; \`xaudit report\` has \
how many there are" "of those that were only counted $command shows nothing, and says so"
done
is "$("$XAUDIT" graph order "$tmp/only" --from=1us 2>&1)" "xaudit graph: no event of probe 'order' is in the time of \
--from and --to, or they were only counted; \`xaudit report\` has how many there are" 'nor of those at other times'
is "$("$XAUDIT" graph "$tmp/only" | tail -n 1)" \
	'7 events of probes were only counted: nothing is known of a single one' 'graph of all has their number'
{
	trace
	printf 'probe 77 1600\nprobe 3 1620\n'
} | write_trace damaged
is "$("$XAUDIT" dump "$tmp/damaged" 2>&1 | sed -n 's/.*\(meta does not [a-z]*\).*/\1/p; /00016[02]0/s/  */ /gp')" \
'0.000001600 100 probe - [unknown] 0x0 [unknown]
0.000001620 100 probe 0x000000010212 order f+0x12 /usr/lib/libfoo.so
meta does not name' 'a probe without a name is damage; what is behind it is read'
done_testing
