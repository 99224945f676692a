#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit stacks --backtraces, of written traces: a call with a backtrace is below the callers that it tells, whatever
# traced calls are around it; others are below the call around them. Callers are functions, as far as symbols tell.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/written.sh"

tmp=$(readlink -f "$tmp")
E=0x2000000000000000 # CHAIN_END

# Two places in `outer`, of lines 3 and 4, one in main(), of line 7, and one that no symbol is for.
cat >"$tmp/bar.c" <<'END'
int bar(int a); int outer(int a);
int bar(int a) { return a; }
int outer(int a) { return bar(a) +
	bar(a + 1); }
int start(void);
int start(void) {
	return outer(1) + 1;
}
END
"${CC:-gcc}" -g -O0 -shared -fPIC -Wl,--build-id=0x0011223344556677 -o "$tmp/libbar.so" "$tmp/bar.c" ||
	bail 'no compiler'
# behind FUNCTION NUMBER: the address behind its NUMBERth call, in a load at 0x40000.
behind() {
	objdump -d "$tmp/libbar.so" | awk -v name="<$1>:" -v number="$2" '
		$2 == name { inside = 1 }
		inside && next_is { sub(":", "", $1); print $1; exit }
		inside && /call/ && !--number { next_is = 1 }'
}
place() {
	printf '0x%x' $((0x40000 + 0x$(behind "$1" "$2")))
}
first=$(place outer 1) second=$(place outer 2) start=$(place start 1)
write_trace d <<END
process p100 flags=1
pair first 1000 1000 5
pair last 9000 9000 8005
object 1 /usr/lib/libfoo.so
object 2 $tmp/libbar.so build=0011223344556677
function 1 0 1 0x100 foo
function 1 0 2 0x200 work
load 2 2 1000 0x40000 100
layout 1 entry 1 stack:-:backtrace
thread 100 main
values 1 1000 7 chain $first $start $E
entry 2 1010
exit 2 1030
exit 1 1100
values 1 1200 7
exit 1 1210
entry 2 1300
values 1 1310 8 chain $second $start 0x123456 0x2000000000000001
exit 1 1340
exit 2 1400
values 1 1500 9 chain $second $start $E
exit 1 1505
END
xa() {
	bounded 60 "$XAUDIT" stacks "$@" 2>&1
}
is "$(xa --backtraces --format=folded "$tmp/d")" 'start;outer;foo 95
work 70
(as many callers as were asked for);0x123456;start;outer;foo 30
start;outer;foo;work 20' 'folded: callers are functions, and a call in another one is below that'
is "$(xa --format=folded "$tmp/d")" 'foo 95
work 70
work;foo 30
foo;work 20' 'without the option, callers are traced calls'
is "$(xa --backtraces --sort=calls -n 1 "$tmp/d")" "$(cat <<'END'
1. 50.0 %, 3 calls, self 0.095 us
    #0   foo [libfoo.so]
    #1   outer [libbar.so]
    #2   start [libbar.so]

3 more stacks have the rest: see -n
END
)" 'as text'
is "$(xa --backtraces "$tmp/d" | sed -n '/^3\./,/^$/p')" "$(cat <<'END'
3. 14.0 %, 1 call, self 0.030 us
    #0   foo [libfoo.so]
    #1   outer [libbar.so]
    #2   start [libbar.so]
    #3   0x123456
    #4   (the backtrace ends here: as many callers as were asked for)
END
)" 'code of no object is an address, and what ends too early says why' || xa --backtraces "$tmp/d" | diag
is "$(xa --backtraces --srcline "$tmp/d" | sed -n 's/^ *#[0-9]* *outer+0x[0-9a-f]* //p')" "[libbar.so] $tmp/bar.c:3
[libbar.so] $tmp/bar.c:4
[libbar.so] $tmp/bar.c:3
[libbar.so] $tmp/bar.c:4" '--srcline: each place is a caller of its own'
is "$(xa --backtraces --srcline --format=folded "$tmp/d" | head -n 1)" 'start;outer;foo 95' '... but folded'
is "$(xa --backtraces --format=json "$tmp/d" | sed -n '/"self_ns":30/s/.*"frames":\(.*\)\]}.*/\1/p')" \
	'[{"function":"foo","library":"/usr/lib/libfoo.so"},'\
"{\"function\":\"outer\",\"library\":\"$tmp/libbar.so\"},{\"function\":\"start\",\"library\":\"$tmp/libbar.so\"},"\
'{"function":null,"library":null,"address":"0x123456"},'\
'{"function":null,"library":null,"end":"as many callers as were asked for"}' 'JSON'

write_trace none <<END
process p100
pair first 1000 1000 5
pair last 9000 9000 8005
$libraries
$nested_calls
END
is "$(xa --backtraces "$tmp/none"; echo $?)" "xaudit stacks: no call with a backtrace is in the trace; \`xaudit record \
--context FUNC:backtrace\` records them
1" 'a trace without any'

# ---- probes ----

write_trace probed <<END
process p100 flags=1
pair first 1000 1000 5
pair last 9000 9000 8005
object 1 /usr/lib/libfoo.so
object 2 $tmp/libbar.so build=0011223344556677
function 1 0 2 0x200 work
function 1 32 3 0x210 order
load 2 2 1000 0x40000 100
layout 1 probe 3 stack:-:backtrace
thread 100 main
values 1 1000 7 chain $first $start $E
entry 2 1010
values 1 1012 7
probe 3 1014
exit 2 1030
END
is "$(xa --backtraces --sort=calls --format=folded "$tmp/probed")" \
'start;outer;probe order 2
work 1
work;probe order 1' 'probes that have a backtrace are below the callers that it tells'
is "$(xa --backtraces "$tmp/probed"; echo $?)" \
'xaudit stacks: no call with a backtrace is in the trace; events of probes have no time: see --sort=calls
1' 'but they have no time'
# after FUNCTION ADDRESS: how far behind its begin.
after() {
	printf '%x' $(($2 - 0x40000 - 0x$(nm "$tmp/libbar.so" | sed -n "s/ T $1\$//p")))
}
is "$(bounded 60 "$XAUDIT" report --by=stack --columns=calls,total "$tmp/probed" | sed 1,2d | head -n 3)" \
"         2            -  probe order [libfoo.so]
    called by outer+0x$(after outer $((first))) [libbar.so]
    called by start+0x$(after start $((start))) [libbar.so]" 'report --by=stack has a line for them'
is "$(bounded 60 "$XAUDIT" report --by=stack --format=json "$tmp/probed" |
	jq -c '.rows[] | [.probe, .calls, [.backtrace.frames[].function]]')" \
	'["order",2,["outer","start"]]' 'and so has JSON'
done_testing
