#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Several traces in stacks, graph, slow and outliers: functions of one name and library are one, whatever their numbers
# and the clocks of their traces are; each call says which trace it is of; --from and --to count from each trace's own
# start. A trace that is given twice is read once.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/written.sh"
need jq

cd "$tmp" || exit 1
xa() {
	bounded 60 "$XAUDIT" "$@"
}
write_trace a <<END
process p100 flags=1 boot=this
pair first 1000 1000 5
pair last 9000 9000 8005
$libraries
layout 1 entry 1 i4:arg0:n
thread 100 main
values 1 1000 1
entry 2 1100
exit 2 1130
entry 2 1200
exit 2 1240
exit 1 1300
END
# Two ticks a ns, from another moment on, other numbers, and a function that a has not.
write_trace b <<END
process p200 flags=1 clock=tsc
pair first 1000 50000 5
pair last 4001000 2050000 2000005
object 1 /opt/bar/libbar.so
object 9 /usr/lib/libfoo.so
function 1 0 1 0x700 extra
function 9 0 2 0x200 inner
function 9 0 3 0x100 outer
layout 1 entry 3 i4:arg0:n
thread 200 main
values 1 2000 2
entry 2 2200
exit 2 2400
exit 3 3000
entry 1 4000
entry 2 4100
exit 2 4120
exit 1 4200
values 1 6000 1
exit 3 6020
END
cp -R a again

# ---- stacks ----

stacks='.stacks[] | "\([.frames[].function] | join("<")) \(.calls) \(.self_ns)"'
is "$(xa stacks --format=json a b | jq -r "$stacks")" 'outer 3 640
inner<outer 3 170
extra 1 90
inner<extra 1 10' 'stacks of the same functions are one, in ns, whatever the clock'
is "$(xa stacks --format=json b a | jq -r "$stacks")" "$(xa stacks --format=json a b | jq -r "$stacks")" \
	'the order of the traces does not matter'
is "$(xa stacks --format=folded a b)" 'outer 640
outer;inner 170
extra 90
extra;inner 10' 'folded'
is "$(xa stacks -n 1 a b | head -n 2)" '1. 70.3 %, 3 calls, self 0.640 us
    #0   outer [libfoo.so]' 'shares are those of all traces'
is "$(xa stacks --sort=calls --format=json a b | jq -r '.stacks[0].calls')" 3 'sorted by calls'
is "$(xa stacks --format=json --from=400ns a b | jq -r "$stacks")" 'outer 2 410
inner<outer 1 100
extra 1 90
inner<extra 1 10' '--from counts from the start of each trace'
is "$(xa stacks --format=json --from=400ns --to=700ns a b | jq -r "$stacks")" 'outer 1 400
inner<outer 1 100' 'and --to'
is "$(xa stacks --format=json a again 2>err | jq -r "$stacks"; cat err)" "outer 1 230
inner<outer 2 70
xaudit stacks: again is the same trace as a: it is counted once" 'a copy is counted once'
xa stacks a missing >out 2>err
is "$? $(cat out err)" "1 xaudit: can't open the trace missing: No such file or directory; \`xaudit record COMMAND\` \
makes one" 'all of them must be there'
xa stacks --tid=200 a b >out
is $? 0 'a thread may be in one of them'
xa stacks --tid=7 a b >out 2>err
is "$? $(cat err)" '1 xaudit stacks: no thread 7 is in these traces, which has 100 (main), 200 (main)' 'or in none'

# Backtraces, whose addresses and numbers are those of each trace.
chains() {
	write_trace "$1" <<END
process p100 flags=1
pair first 1000 1000 5
pair last 9000 9000 8005
$libraries
load 2 2 1000 $2 100
layout 1 entry 1 stack:-:backtrace
thread 100 main
$3
values 1 2000 7 chain $(printf '0x%x 0x%x' $(($2 + 16)) $(($2 + 32))) 0x2000000000000000
exit 1 2100
END
}
chains e 0x40000 ''
chains f 0x90000 'values 1 1000 8 chain 0x90030 0x2000000000000000
exit 1 1010'
is "$(xa stacks --backtraces --format=folded e f)" 'libbar.so+0x20;libbar.so+0x10;outer 200
libbar.so+0x30;outer 10' 'callers of backtraces are the same by their place in the file'

# ---- graph ----

tree='.tree[] | "\(.depth) \(.function) \(.calls) \(.total_ns) \(.time_ns) \(.self_ns)"'
is "$(xa graph --format=json --min=0 a b | jq -r "($tree), .time_ns")" '0 outer 3 810 810 640
1 inner 3 170 170 170
0 extra 1 100 100 90
1 inner 1 10 10 10
910' 'the tree of all programs'
is "$(xa graph --format=json --min=0 inner a b |
	jq -r '"\(.calls) \(.total_ns)", (.callers[] | "\(.function) \(.calls) \(.total_ns)"), '"($tree)")" '4 180
outer 3 170
extra 1 10
0 inner 4 180 180 180' 'of a function: callers in both'
is "$(xa graph --format=json extra a b | jq -r "$tree")" '0 extra 1 100 100 90
1 inner 1 10 10 10' 'a function that only the second one has'
is "$(xa graph --format=json --by-value=n outer a b | jq -r '.tree[0].values[] | "\(.value) \(.calls) \(.time_ns)"')" \
	'2 1 500
1 2 310' 'values of calls are those of both'
is "$(xa graph --format=dot outer a b | grep -- '->')" '    f0 -> f1 [label="0.170 us\n3 calls"];' 'and as a picture'
is "$(xa graph --format=json a | jq -c .tree)" "$(xa graph --format=json a again 2>/dev/null | jq -c .tree)" \
	'one trace is as it was'
mkdir names && (cd names && cp -R ../a outer)
is "$(cd names && xa graph outer outer 2>&1 | sed -n 's/.* outer \[libfoo.so\]$/tree/p; s/: it is counted.*//p')" \
	"xaudit graph: outer is the same trace as outer
tree" 'a word in front that is a trace is a trace'

"$XAUDIT" pack -o packed a || bail 'pack failed'
is "$(xa graph --format=json --min=0 packed b | jq -r "($tree), .time_ns")" \
	"$(xa graph --format=json --min=0 a b | jq -r "($tree), .time_ns")" 'so is a packed one'

# ---- slow ----

slow='.slow[] | "\(.time_ns) \(.folder) \(.pid) \(.tid) \(.after_start_ns) \(.start_ns) "
	+ ([.tree[] | "\(.function) \(.calls) \(.self_ns)"] | join(", "))'
is "$(xa slow --format=json --min=0 outer a b | jq -r "$slow")" '500 b 200 200 500 50500 outer 1 400, inner 1 100
300 a 100 100 0 1000 outer 1 230, inner 2 70
10 b 200 200 2500 52500 outer 1 10' 'the longest calls of both, each with its trace, process and thread'
is "$(xa slow --format=json outer a b | jq -c '[.calls, .median_ns, .typical_calls]')" '[3,300,1]' \
	'the median is that of all'
is "$(xa slow --format=json --min=0 -n 1 outer a b |
	jq -r '.slow[0].differences[] | "\(.function) \(.difference_ns) \(.typical_self_ns) \(.typical_calls)"')" \
	'outer 170 230 1
inner 30 70 2' 'what differs from a typical call, which is one of another trace'
is "$(xa slow -n 2 outer a b | sed -n 's/^   \(thread.*\)/\1/p')" 'thread 200 of process 200 of b
thread 100 of process 100 of a' 'people see which trace it is'
is "$(xa slow -n 1 outer a | sed -n 's/^   \(thread.*\)/\1/p')" 'thread 100 of process 100' \
	'of one trace that is not said'
is "$(xa slow --format=json -n 1 outer a | jq '.slow[0] | has("folder")')" false 'in JSON neither'
is "$(xa slow --format=json extra a b | jq -r "$slow")" '100 b 200 200 1500 51500 extra 1 90, inner 1 10' \
	'a function that one has'
is "$(xa slow --format=json --from=100ns --to=1us outer a b | jq -r '.slow[].time_ns')" 500 'with --from and --to'
xa slow nobody a b >out 2>err
is "$? $(cat out err)" "1 xaudit slow: no call of a function 'nobody' is in what was read; \`xaudit report\` lists \
them" 'a function that none has'

# ---- outliers ----

# many NAME MONO SHORT LONG: 200 calls of work, of SHORT ns; and one of LONG.
many() {
	write_trace "$1" <<END
process p100 flags=1 clock=tsc
pair first 1000 $2 5
pair last 901000 $(($2 + 900000)) 900005
object 1 /usr/lib/libfoo.so
function 1 0 1 0x100 work
layout 1 entry 1 i4:arg0:n
thread 100 main
loop 200 1000
entry 1 1000
exit 1 $((1000 + $3))
end
values 1 500000 $4
exit 1 $((500000 + $4))
END
}
many x 1000 100 20000
many y 700000 100 50000
outliers='.outliers[] | "\(.function) \(.calls) \(.p99_ns) \(.max_ns) \(.folder) \(.pid) \(.after_start_ns) "
	+ (.values)'
is "$(xa outliers --format=json x y | jq -r "$outliers")" 'work 402 100 50000 y 100 499000 (50000)' \
	'the longest call of all, in which trace it is, and its values'
is "$(xa outliers --format=json x | jq -r "$outliers")" 'work 201 100 20000 null 100 499000 (20000)' 'of one trace'
like "$(xa outliers x y)" ' work\(50000\) \[libfoo.so\] in process 100 of y$' 'people see it, too'
ok 'of one trace that is not said' test -z "$(xa outliers x | grep 'in process')"
done_testing
