#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit replay: the tree, line by line, from traces that make_trace wrote.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/written.sh"

head='process p100 flags=1
pair first 1000 1000 5
pair last 9000 9000 8005
object 1 /usr/lib/libfoo.so
function 1 0 1 0x100 outer
function 1 0 2 0x200 inner
function 1 0 3 0x300
function 1 0 4 0x400 leaf
'

# replay NAME [OPTION]...: the tree, without its first line, of the trace that the script on stdin makes.
replay() {
	name=$1
	shift
	write_trace "$name"
	bounded 60 "$XAUDIT" replay "$@" "$tmp/$name" 2>&1 | sed 1d
}

calls='load 1 1 900 0x7f0000000000 100
unload 1 1010000 100
thread 100 main
entry 1 1000
entry 2 1100
entry 4 1110
exit 4 1160
exit 2 1300
point 3 1400
entry 3 1500
exit 3 2600
exit 1 1002000'
got=$(replay tree <<END
$head
$calls
END
)
is "$got" "$(cat <<'END'
             [    100] | /* load /usr/lib/libfoo.so at 0x7f0000000000 */
             [    100] | outer() {
             [    100] |   inner() {
    0.050 us [    100] |     leaf();
    0.200 us [    100] |   } /* inner */
             [    100] |   libfoo.so+0x300(); /* entry only */
    1.100 us [    100] |   libfoo.so+0x300();
    1.001 ms [    100] | } /* outer */
             [    100] | /* unload /usr/lib/libfoo.so at 0x7f0000000000 */
END
)" 'calls are indented, leaves are one line, the time stands on the closing line; loads are remarks'
is "$("$XAUDIT" replay "$tmp/tree" | head -n 1)" '#  DURATION       TID      FUNCTION' \
	'the first line names the columns'

is "$("$XAUDIT" replay -D 2 "$tmp/tree" | sed 1d)" "$(cat <<'END'
             [    100] | /* load /usr/lib/libfoo.so at 0x7f0000000000 */
             [    100] | outer() {
             [    100] |   inner() {
    0.200 us [    100] |   } /* inner */
             [    100] |   libfoo.so+0x300(); /* entry only */
    1.100 us [    100] |   libfoo.so+0x300();
    1.001 ms [    100] | } /* outer */
             [    100] | /* unload /usr/lib/libfoo.so at 0x7f0000000000 */
END
)" '-D leaves deeper calls out'
is "$("$XAUDIT" replay --depth=1 "$tmp/tree" | grep -c '|')" 4 '--depth=1 shows the outermost calls only'

# ---- from a time on ----

# from OPTION...: the tree of the trace of two threads.
from() {
	bounded 60 "$XAUDIT" replay "$@" "$tmp/two" 2>&1 | sed 1d
}
write_trace two <<END
$head
$calls
thread 101 other
entry 1 1050
entry 2 1060
exit 2 1200
entry 4 1210
exit 4 1390
exit 1 1450
END
is "$(from --from=110ns)" "$(cat <<'END'
             [    100] | outer() { /* began 0.110 us before */
             [    100] |   inner() { /* began 0.010 us before */
    0.050 us [    100] |     leaf();
             [    101] | outer() { /* began 0.060 us before */
             [    101] |   inner() { /* began 0.050 us before */
    0.140 us [    101] |   } /* inner */
    0.180 us [    101] |   leaf();
    0.200 us [    100] |   } /* inner */
             [    100] |   libfoo.so+0x300(); /* entry only */
    0.400 us [    101] | } /* outer */
    1.100 us [    100] |   libfoo.so+0x300();
    1.001 ms [    100] | } /* outer */
             [    100] | /* unload /usr/lib/libfoo.so at 0x7f0000000000 */
END
)" '--from shows what began then or later, and the calls that were open, with their ends: one in which nothing is, too'
is "$(from --from=0.4us --to=500ns)" "$(cat <<'END'
             [    100] | outer() { /* began 0.400 us before */
             [    100] |   libfoo.so+0x300(); /* entry only */
             [    101] | outer() { /* began 0.350 us before */
    0.400 us [    101] | } /* outer */
END
)" 'an event at that time is there, one at the time of --to is not'
is "$(from --from=401ns --to=501ns --tid=100)" "$(cat <<'END'
             [    100] | outer() { /* began 0.401 us before */
    1.100 us [    100] |   libfoo.so+0x300();
END
)" 'of one thread'
is "$(from --from=110ns -D 1 --to=451ns)" "$(cat <<'END'
             [    100] | outer() { /* began 0.110 us before */
             [    101] | outer() { /* began 0.060 us before */
    0.400 us [    101] | } /* outer */
END
)" 'and with -D'
is "$(from --from=0)" "$(from)" '--from=0 is all'
is "$(from --to=50ns | sed 1d)" '             [    100] | outer() {' '--to alone shows the beginning'
bounded 60 "$XAUDIT" replay --from=1s "$tmp/two" >"$tmp/out" 2>"$tmp/err"
is "$?/$(cat "$tmp/out")/$(cat "$tmp/err")" \
	'1//xaudit replay: nothing is in the trace from 1.000 s on: it ends 1.009 ms after its start' \
	'a time behind the end of the trace is told'
bounded 60 "$XAUDIT" replay --from=2us --to=1us "$tmp/two" >"$tmp/out" 2>"$tmp/err"
is "$?/$(cat "$tmp/out")/$(cat "$tmp/err")" \
	'2//xaudit replay: --to must be later than --from; `xaudit replay --help` lists what there is' \
	'and that --to must come later'

# ---- some of the calls ----

write_trace part <<END
$head
type 16 mark
load 1 1 1045 0x7f0000000000 100
thread 100 main
entry 1 1001
entry 2 1010
entry 4 1011
custom 16 1012 =inner
exit 4 1013
exit 2 1020
custom 16 1025 =outer
entry 4 1030
exit 4 1039
point 2 1040
entry 3 1041
entry 2 1042
exit 2 1062
exit 3 1070
exit 1 1101
thread 101 other
entry 3 1015
exit 3 1016
lost 4
chunk 1050
entry 2 1055
entry 4 1056
exit 4 1095
END
# part OPTION...: the tree of that trace.
part() {
	bounded 60 "$XAUDIT" replay "$@" "$tmp/part" 2>&1 | sed 1d
}
is "$(part -F inner)" "$(cat <<'END'
             [    100] | inner() {
             [    100] |   leaf() {
             [    100] |     /* mark: "inner" (5 bytes) */
    0.002 us [    100] |   } /* leaf */
             [    101] | /* LOST 4 events */
    0.010 us [    100] | } /* inner */
             [    100] | inner(); /* entry only */
    0.020 us [    100] | inner();
             [    101] | inner() {
    0.039 us [    101] |   leaf();
             [    101] | /* 1 call unfinished */
END
)" '-F: calls of a function with what is in them, and what was lost; they begin at the left'
is "$(part -F 'in*@libfoo.so' -F leaf -D 1)" "$(cat <<'END'
             [    100] | inner() {
             [    101] | /* LOST 4 events */
    0.010 us [    100] | } /* inner */
    0.009 us [    100] | leaf();
             [    100] | inner(); /* entry only */
    0.020 us [    100] | inner();
             [    101] | inner() {
             [    101] | /* 1 call unfinished */
END
)" '-D counts from there; several patterns'
is "$(part --min=10ns)" "$(cat <<'END'
             [    101] | /* LOST 4 events */
             [    100] | outer() {
    0.010 us [    100] |   inner();
             [    100] |   libfoo.so+0x300() {
    0.020 us [    100] |     inner();
             [    101] | inner() {
    0.039 us [    101] |   leaf();
    0.029 us [    100] |   } /* libfoo.so+0x300 */
    0.100 us [    100] | } /* outer */
             [    101] | /* 1 call unfinished */
END
)" '--min: calls that took so long, each when that is known'
is "$(part --min=21ns)" "$(cat <<'END'
             [    101] | /* LOST 4 events */
             [    101] | inner() {
    0.039 us [    101] |   leaf();
             [    100] | outer() {
    0.029 us [    100] |   libfoo.so+0x300();
    0.100 us [    100] | } /* outer */
             [    101] | /* 1 call unfinished */
END
)" 'a call in which nothing is shown has one line'
is "$(part --min=10ns --from=20ns --to=65ns)" "$(cat <<'END'
             [    100] | outer() { /* began 0.019 us before */
    0.010 us [    100] |   inner();
             [    100] |   libfoo.so+0x300() {
    0.020 us [    100] |     inner();
             [    101] | inner() {
    0.039 us [    101] |   leaf();
END
)" 'what is around them may have begun before --from'
is "$(part --tail=1)" "$(cat <<'END'
             [    100] | outer() { /* began 0.041 us before */
             [    100] |   libfoo.so+0x300() { /* began 0.001 us before */
    0.020 us [    100] |     inner();
             [    100] |     /* load /usr/lib/libfoo.so at 0x7f0000000000 */
             [    101] | inner() { /* began 0.001 us before */
    0.039 us [    101] |   leaf();
    0.029 us [    100] |   } /* libfoo.so+0x300 */
    0.100 us [    100] | } /* outer */
             [    101] | /* 1 call unfinished */
END
)" '--tail: the call of each thread that began last, what is around it and what comes then'
is "$(part --tail=2 -F leaf --tid=100)" "$(cat <<'END'
             [    100] | leaf() {
             [    100] |   /* mark: "inner" (5 bytes) */
    0.002 us [    100] | } /* leaf */
    0.009 us [    100] | leaf();
END
)" 'of those that -F leaves'
is "$(part --tail=1 --min=10ns --tid=100)" "    0.100 us [    100] | outer();" \
	'of those that are long the last one to end'
bounded 60 "$XAUDIT" replay -F leef "$tmp/part" >"$tmp/out" 2>"$tmp/err"
is "$?/$(grep -c '()' "$tmp/out")/$(cat "$tmp/err")" \
	"1/0/xaudit replay: no call of a function 'leef' is in what was read; did you mean 'leaf'?" \
	'a function that is not there is told'

# 200000 calls, 40 deep on average, in many chunks: the last ones by their chunks alone.
{
	echo "$head" | sed 's/^process p100/& chunk=65536/'
	echo 'thread 100 main'
	echo 'random 7 400000 4 60'
} | write_trace deep
bounded 60 "$XAUDIT" replay "$tmp/deep" | grep -v '#' >"$tmp/all"
is "$("$XAUDIT" dump --tail=1000 "$tmp/deep" | cksum)" "$("$XAUDIT" dump "$tmp/deep" | tail -n 1000 | cksum)" \
	'the last 1000 events of a long trace are those of dump'
bounded 60 "$XAUDIT" replay --tail=1000 "$tmp/deep" | grep -v -e '#' -e ' began ' >"$tmp/out"
ok 'and the last 1000 calls those of replay' sh -c "tail -n \$(wc -l <'$tmp/out') '$tmp/all' | cmp - '$tmp/out'"
is "$(grep -c -e '{$' -e ';' "$tmp/out")" 1000 'which are 1000'
bounded 60 "$XAUDIT" replay --from=300us "$tmp/deep" | grep -v -e '#' -e ' began ' >"$tmp/out"
ok 'what --from shows in the middle of deep stacks is the end of all' \
	sh -c "tail -n \$(wc -l <'$tmp/out') '$tmp/all' | cmp - '$tmp/out'"

got=$(replay ends <<END
$head
thread 100 main
entry 1 1000
entry 2 1010
tail 2 1020
entry 4 1021
entry 2 1030
tail 2 1031
tail 4 1032
entry 3 1040
exit 3 1050
entry 2 1100
entry 4 1110
unwind 4 1120
unwind 2 1121
entry 2 1130
entry 4 1140
entry 4 1150
exit 2 1160
exit 3 1170
exit 1 1200
entry 1 1300
entry 2 1310
END
)
is "$got" "$(cat <<'END'
             [    100] | outer() {
    0.010 us [    100] |   inner(); /* tail call */
             [    100] |   leaf() {
    0.001 us [    100] |     inner(); /* tail call */
    0.011 us [    100] |   } /* leaf: tail call */
    0.010 us [    100] |   libfoo.so+0x300();
             [    100] |   inner() {
    0.010 us [    100] |     leaf(); /* unwound */
    0.021 us [    100] |   } /* inner: unwound */
             [    100] |   inner() {
             [    100] |     leaf() {
             [    100] |       leaf() {
    0.010 us [    100] |       } /* leaf: unwound */
    0.020 us [    100] |     } /* leaf: unwound */
    0.030 us [    100] |   } /* inner */
             [    100] |   /* end of libfoo.so+0x300, whose call is not in the trace */
    0.200 us [    100] | } /* outer */
             [    100] | outer() {
             [    100] |   inner() {
             [    100] | /* 2 calls unfinished */
END
)" 'tail calls, unwound and missing ends, and ends without a beginning are told'

got=$(replay threads <<END
$head
thread 100 main
entry 1 1000
entry 2 1040
exit 2 1100
lost 3
chunk 1150
exit 1 1200
switch 103
entry 2 1300
exit 2 1301
thread 101 worker
entry 1 1010
exit 1 1020
entry 1 1050
entry 2 1060
exit 2 1070
exit 1 1110
END
)
is "$got" "$(cat <<'END'
             [    100] | outer() {
    0.010 us [    101] | outer();
    0.060 us [    100] |   inner();
             [    101] | outer() {
    0.010 us [    101] |   inner();
             [    100] | /* 1 call unfinished */
             [    100] | /* LOST 3 events */
    0.060 us [    101] | } /* outer */
             [    100] | /* end of outer, whose call is not in the trace */
    0.001 us [    103] | inner();
END
)" 'two threads are merged in time order, each with its own depth; losses stand in place; a thread takes a record over'
is "$("$XAUDIT" replay --tid 101 "$tmp/threads" | sed 1d)" "$(cat <<'END'
    0.010 us [    101] | outer();
             [    101] | outer() {
    0.010 us [    101] |   inner();
    0.060 us [    101] | } /* outer */
END
)" '--tid shows one thread'

got=$(replay evil <<END
$head
function 1 0 9 0x900 a$(printf '\033')[2Jb
function 1 0 10 0xa00 $(printf 'a\302\2332J\303\244')
thread 100 main
entry 9 1000
exit 9 1001
entry 10 1002
exit 10 1004
END
)
is "$got" "    0.001 us [    100] | a?[2Jb();
    0.002 us [    100] | $(printf 'a?2J\303\244();')" \
	'a name can not reach the terminal as an escape sequence, nor by U+009B'
like "$("$XAUDIT" report --format=json "$tmp/evil")" "$(printf '"a\\\\u009b2J\303\244"')" \
	'in JSON, U+009B is written as its number'

# Ten processes with more events than a block holds, and 190 with fewer; all at the same time.
i=99
while [ $((i += 1)) -le 299 ]; do
	printf 'process p%s flags=1\n%s\nthread %s\n' "$i" "$(echo "$head" | sed 1d)" "$i"
	[ $((i % 20)) -eq 0 ] && echo 'loop 2500 2'
	printf 'entry 1 1000\nexit 1 1001\n'
	[ $((i % 20)) -ne 0 ] || echo end
done | write_trace many
bounded 60 sh -c 'ulimit -n 24; exec "$0" "$@"' "$XAUDIT" replay "$tmp/many" >"$tmp/out" 2>"$tmp/err"
is "$? $(cat "$tmp/err")" '0 ' '200 processes are read with 24 descriptors'
is "$(grep -c 'outer();' "$tmp/out") $(grep -c '\[    120\]' "$tmp/out") $(grep -c '\[    121\]' "$tmp/out")" \
	'25190 2500 1' \
	'all their calls are shown'
"$XAUDIT" replay "$tmp/many" >"$tmp/enough"
ok 'and the same as with many descriptors' cmp "$tmp/out" "$tmp/enough"

write_trace long <<END
$head
thread 100 main
loop 300000 10
entry 1 1000
exit 1 1003
end
END
start=$(date +%s)
bounded 60 "$XAUDIT" replay "$tmp/long" 2>"$tmp/err" | head -n 3 >"$tmp/out"
is "$(tail -n 1 "$tmp/out") $(cat "$tmp/err")" '    0.003 us [    100] | outer(); ' \
	'a reader that goes away ends it quietly'
ok 'and soon' test $(($(date +%s) - start)) -lt 60
(trap '' PIPE; bounded 60 "$XAUDIT" replay "$tmp/long"; echo $? >"$tmp/status") | head -n 1 >/dev/null
is "$(cat "$tmp/status")" 0 'with status 0'
is "$("$XAUDIT" replay "$tmp/long" | wc -l)" 300001 'all of a long trace is shown'
bounded 60 "$XAUDIT" replay "$tmp/tree" >/dev/full 2>"$tmp/err"
is "$? $(cat "$tmp/err")" "1 xaudit: the output can't be written: No space left on device" \
	'an output that is full is an error'
done_testing
