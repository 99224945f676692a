#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit loads: when libraries came and went, and how often they were called, from traces that make_trace wrote, and of
# a program that opens a library again and again.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/calls.sh"

# loads NAME [ARG]...: the rows and what stands below, with one blank between columns.
loads() {
	asked loads "$@" | sed 's/  */ /g; s/^ //; /^After/d; /^====/d'
}

# libfoo is there from the start; libbar comes twice, and the second time stays. inner of libbar is called by another
# thread after the first unload: that belongs to no load that the trace has.
write_trace lives <<END
$head
load 1 1 1000 0x7f0000000000 100
load 2 2 2000 0x7f0000100000 100
loader maps 100 1900 2400 100
unload 2 5000 101
loader unmaps 101 5100 5190 10
load 3 2 7000 0x7f0000200000 101
loader maps 101 6990 7100 20
thread 100 main
entry 1 1500
entry 4 2500
exit 4 2600
entry 4 2700
exit 4 2800
exit 1 3000
entry 4 8000
point 5 8100
exit 4 8200
thread 101 other
entry 4 3000
exit 4 3100
entry 1 9000
exit 1 9100
END
is "$(asked loads lives)" "$(cat <<'END'
 After start, s   Loaded for      Opening      Closing       Calls   Thread  Library
===============  ===========  ===========  ===========  ==========  =======  ====================
    0.000000000            -            -            -           2      100  /usr/lib/libfoo.so
    0.000001000     3.000 us     0.400 us     0.080 us           3      100  /opt/bar/libbar.so
    0.000006000            -     0.090 us            -           2      101  /opt/bar/libbar.so

ld.so mapped 2 times: 0.490 us, besides xaudit's own work of 0.120 us
ld.so unmapped 1 time: 0.080 us, besides xaudit's own work of 0.010 us
END
)" 'each load has its time, how long it lasted, what it cost, its calls, and the thread that loaded'
is "$(loads lives --tid=101 | sed '/^$/,$d')" '0.000000000 - - - 1 100 /usr/lib/libfoo.so
0.000001000 3.000 us 0.400 us 0.080 us 1 100 /opt/bar/libbar.so
0.000006000 - 0.090 us - 0 101 /opt/bar/libbar.so' 'or calls of one thread'
is "$(loads lives --from=1600ns --to=5us)" "0.000000000 - - - 0 100 /usr/lib/libfoo.so
0.000001000 3.000 us 0.400 us 0.080 us 2 100 /opt/bar/libbar.so

ld.so unmapped 1 time: 0.080 us, besides xaudit's own work of 0.010 us" \
	'of a time: what was there, and calls that began then'
is "$(loads lives --from=4001ns | sed '/^$/,$d')" '0.000000000 - - - 1 100 /usr/lib/libfoo.so
0.000006000 - 0.090 us - 2 101 /opt/bar/libbar.so' 'not what was gone'
is "$(asked loads lives --format=json | tr -d '\n')" "$(tr -d '\n' <<'END'
{"loads":[
{"library":"/usr/lib/libfoo.so","pid":100,"tid":100,"load_ns":1000,"after_start_ns":0,"unload_ns":null,
"loaded_for_ns":null,"opening":null,"closing":null,"calls":2},
{"library":"/opt/bar/libbar.so","pid":100,"tid":100,"load_ns":2000,"after_start_ns":1000,"unload_ns":5000,
"loaded_for_ns":3000,"opening":0,"closing":1,"calls":3},
{"library":"/opt/bar/libbar.so","pid":100,"tid":101,"load_ns":7000,"after_start_ns":6000,"unload_ns":null,
"loaded_for_ns":null,"opening":2,"closing":null,"calls":2}
],"work":[
{"unmaps":false,"pid":100,"tid":100,"start_ns":1900,"time_ns":500,"own_ns":100,"libraries":1},
{"unmaps":true,"pid":100,"tid":101,"start_ns":5100,"time_ns":90,"own_ns":10,"libraries":1},
{"unmaps":false,"pid":100,"tid":101,"start_ns":6990,"time_ns":110,"own_ns":20,"libraries":1}
],"dlopen_calls":0,"dlclose_calls":0}
END
)" 'JSON has the same'

# Calls of a library whose load is not told. Two loads of one file at once: the younger one ends first, then the other.
write_trace odd <<END
$head
function 1 0 6 0x600 dlopen
function 1 0 7 0x700 dlclose
load 1 2 2000 0x7f0000000000 100
load 2 2 3000 0x7f0000100000 100
unload 2 4000 100
unload 1 6000 100
thread 100 main
entry 1 1500
exit 1 1600
point 6 1900
entry 6 2900
exit 6 3010
entry 4 3500
exit 4 3600
point 7 3900
entry 4 5000
exit 4 5100
END
is "$(loads odd)" '- - - - 4 0 /usr/lib/libfoo.so
0.000001000 4.000 us - - 1 100 /opt/bar/libbar.so
0.000002000 1.000 us - - 1 100 /opt/bar/libbar.so

2 calls of dlopen, of which 1 took 0.110 us
1 call of dlclose' 'calls without a load have a row; of two loads of a file the younger one has the calls'

# Two that come and go together, by one dlopen and one dlclose; and a library of another thread meanwhile.
write_trace together <<END
$head
object 3 /usr/lib/libthree.so
load 1 1 2000 0x7f0000000000 100
load 2 2 2100 0x7f0000100000 100
loader maps 100 1900 2400 100
load 3 3 3000 0x7f0000200000 101
unload 1 5000 100
unload 2 5010 100
loader unmaps 100 5100 5190 10
thread 100 main
entry 1 2500
exit 1 2600
END
is "$(loads together | sed '/^$/,$d')" '0.000001000 3.000 us 0.400 us 0.080 us 1 100 /usr/lib/libfoo.so
0.000001100 2.910 us " " 0 100 /opt/bar/libbar.so
0.000002000 - - - 0 101 /usr/lib/libthree.so' 'what came and went together has one cost'
is "$(bounded 60 "$XAUDIT" dump "$tmp/together" | sed 's/.* 10[01]  \([a-z]*\) .*/\1/' | tr '\n' ' ')" \
	'load load entry exit load unload unload ' 'dump has loads and unloads, and not that'

# A forked process has its parent's libraries.
write_trace forked <<END
process p100 flags=1
pair first 1000 1000 5
pair last 9000 9000 8005
object 1 /usr/lib/libfoo.so
object 2 /opt/bar/libbar.so
function 1 0 1 0x100 outer
function 2 2 4 0x400 bar
load 1 1 1000 0x7f0000000000 100
load 2 2 2000 0x7f0000100000 100
fork 200
unload 2 6000 100
thread 100 main
entry 1 1500
exit 1 1600
child 200
pair first 4000 4000 3005
pair last 9000 9000 8005
unload 2 5000 200
load 3 2 7000 0x7f0000100000 200
thread 200 main
entry 1 4100
exit 1 4200
entry 4 4300
exit 4 4400
entry 4 7500
exit 4 7600
END
is "$(loads forked)" '0.000000000 - - - 2 100 /usr/lib/libfoo.so
0.000001000 4.000 us - - 1 100 /opt/bar/libbar.so
0.000006000 - - - 1 200 /opt/bar/libbar.so' "a forked process's calls are those of its parent's loads, and of its own"

# ---- a program ----

if [ -n "$XAUDIT_ASAN$XAUDIT_TSAN" ] || ! command -v "${CC%% *}" >/dev/null; then
	skip 7 'the module cannot be loaded, or there is no compiler'
else
	echo 'int part_work(int n); int part_work(int n) { return n; }' >"$tmp/part.c"
	$CC -O2 -fPIC -shared -o "$tmp/libpart.so" "$tmp/part.c" &&
		$CC -O2 -o "$tmp/reload" "$top_srcdir/t/fixtures/reload.c" -ldl || bail 'the fixture does not compile'
	bounded 60 "$XAUDIT" record -o "$tmp/run" -F part_work -F dlopen -F dlclose "$tmp/reload" 3 4 \
		"$tmp/libpart.so:part" >"$tmp/out" 2>"$tmp/err"
	is "$? $(cat "$tmp/err")" '0 ' 'a program that opens a library three times is recorded'
	is "$(loads run | grep -c ' 4 [0-9]* .*/libpart\.so$')" 3 'each load has its four calls'
	is "$(loads run | grep '/libpart\.so$' | grep -Ec '^[0-9.]+( [0-9.]+ [mu]s){3} 4 ')" 3 'and its cost, of both'
	like "$(loads run)" '^ld\.so mapped 3 times: ' 'three times the dynamic linker mapped'
	like "$(loads run)" '^ld\.so unmapped 3 times: ' 'three times it unmapped'
	asked loads run --format=json | sed -n '/^],"work"/,$p' | grep '^{"unmaps"' >"$tmp/work"
	is "$(sed 's/.*"time_ns":\([0-9]*\),"own_ns":\([0-9]*\),.*/\1 \2/' "$tmp/work" |
		awk '$1 > 0 && $2 > 0 && $2 < $1' | wc -l)" 6 'each time took some, of which a part was ours'
	is "$(loads run | tail -n 2 | sed 's/, of which.*//')" '3 calls of dlopen
3 calls of dlclose' 'and what opened and closed it is counted'
fi

for wrong in --from=x --format=text; do
	bounded 60 "$XAUDIT" loads "$wrong" "$tmp/lives" >"$tmp/out" 2>"$tmp/err"
	is "$? $(wc -l <"$tmp/err")" '2 1' "$wrong is refused"
done

# user_ms COMMAND...: processor time that it takes, ms.
user_ms() {
	(bounded 120 "$@" >"$tmp/out" 2>&1; times) | tail -1 |
		awk '{ split($1, part, /[ms]/); print int((part[1] * 60 + part[2]) * 1000) }'
}
# Eight million events: each call is looked up once, in no order between threads. (20 ms: what is the same for all.)
{
	many_functions 10 1048576
	printf 'load 1 1 900 0x7f0000000000 100\nthread 100 main\nnest 400000 10 3\n'
} | write_trace many
report_ms=$(user_ms "$XAUDIT" report -j 1 "$tmp/many") loads_ms=$(user_ms "$XAUDIT" loads "$tmp/many")
diag "report $report_ms ms, loads $loads_ms ms"
ok 'it takes at most three times as long as report' test "$loads_ms" -le $((3 * report_ms + 20))
is "$(asked loads many --format=json | sed -n 's/.*"calls":\([0-9]*\).*/\1/p' |
	awk '{ calls += $1 } END { print calls }')" 4000000 'and has counted all calls'
done_testing
