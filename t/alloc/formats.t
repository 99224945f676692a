#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Formats of xaudit alloc, of a trace that is written by hand, whose numbers are known: folded, JSON, pprof. Equal
# stacks are one, over chunks, processes, and where libraries were mapped.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/written.sh"

E=0x2000000000000000 # CHAIN_END

# process PID BASE: its events: three blocks of 100, 200 and 300 bytes by the stack of key 7, of which the second is
# freed; one of 1000 by that of key 8, which ends for reason 2.
process() {
	cat <<-END
	process p$1 flags=1 clock=mono
	pair first 1000 1000 5
	pair last 9000 9000 5
	object 1 /usr/lib/libc.so.6
	object 2 /usr/lib/libbar.so build=0011223344
	function 1 0 1 0x100 malloc
	function 1 0 2 0x200 free
	load 1 1 1000 0x10000 100
	load 2 2 1000 $2 100
	layout 1 entry 1 u8:arg0:n stack:-:backtrace
	layout 2 exit 1 p8:ret:ret
	layout 3 entry 2 p8:arg0:block
	thread $1 main
	values 1 1000 100 7 chain $(printf '0x%x 0x%x' $(($2 + 0x110)) $(($2 + 0x220))) $E
	values 2 1010 0x5000
	values 1 1020 200 7
	values 2 1030 0x6000
	values 3 1040 0x6000
	exit 2 1050
	chunk 2000
	values 1 2000 300 7 chain $(printf '0x%x 0x%x' $(($2 + 0x110)) $(($2 + 0x220))) $E
	values 2 2010 0x6000
	values 1 2020 1000 8 chain $(printf '0x%x' $(($2 + 0x330))) 0x2000000000000002
	values 2 2030 0x7000
	END
}
{ process 100 0x40000 && process 101 0x90000; } | write_trace two

is "$("$XAUDIT" alloc --format=folded "$tmp/two" 2>&1)" 'libbar.so+0x330;malloc 2000
libbar.so+0x220;libbar.so+0x110;malloc 1200' 'folded: stacks of both processes are one'
is "$("$XAUDIT" alloc --format=folded --sort=live -n 1 "$tmp/two" 2>&1)" 'libbar.so+0x330;malloc 2000' 'one of them'
is "$("$XAUDIT" alloc --format=folded --sort=calls "$tmp/two" 2>&1 | tr '\n' ' ')" \
	'libbar.so+0x220;libbar.so+0x110;malloc 6 libbar.so+0x330;malloc 2 ' 'by calls'
is "$("$XAUDIT" alloc --format=folded --sort=temporary "$tmp/two" 2>&1)" \
	'libbar.so+0x220;libbar.so+0x110;malloc 2' 'what is 0 is no line'
is "$("$XAUDIT" alloc --format=json "$tmp/two" 2>&1 | sed -n 's/^{"calls.*/&/p')" \
'{"calls":2,"bytes":2000,"live_blocks":2,"live_bytes":2000,"peak_blocks":2,"peak_bytes":2000,"temporary":0,'\
'"frames":[{"function":"malloc","library":"/usr/lib/libc.so.6"},{"function":null,"library":"/usr/lib/libbar.so",'\
'"offset":"0x330"}],"end":"code without unwind information, which keeps no frame pointer"},
{"calls":6,"bytes":1200,"live_blocks":4,"live_bytes":800,"peak_blocks":4,"peak_bytes":800,"temporary":2,'\
'"frames":[{"function":"malloc","library":"/usr/lib/libc.so.6"},{"function":null,"library":"/usr/lib/libbar.so",'\
'"offset":"0x110"},{"function":null,"library":"/usr/lib/libbar.so","offset":"0x220"}],"end":null}' 'JSON: stacks'
is "$("$XAUDIT" alloc --format=json "$tmp/two" 2>&1 | tail -n 1)" \
'],"stacks_in_all":2,"sum":{"calls":8,"bytes":3200,"live_blocks":6,"live_bytes":2800,"peak_blocks":6,'\
'"peak_bytes":2800,"temporary":2},"peak_ns":1030,"processes":2,"frees":2,"unknown_frees":0,"lost_frees":0,'\
'"without_values":0,"without_end":0,"lost":0,"buffers_lost":0}' 'JSON: sums'
is "$("$XAUDIT" alloc --format=json --timeline "$tmp/two" 2>&1 | tail -n 3)" \
'],"stacks_in_all":2,"sum":{"calls":8,"bytes":3200,"live_blocks":6,"live_bytes":2800,"peak_blocks":6,'\
'"peak_bytes":2800,"temporary":2},"peak_ns":1030,"processes":2,"frees":2,"unknown_frees":0,"lost_frees":0,'\
'"without_values":0,"without_end":0,"lost":0,"buffers_lost":0,"timeline":[
{"start_ns":0,"live_bytes":2800,"calls":8,"bytes":3200}
]}' 'JSON: over time'
if command -v python3 >/dev/null 2>&1; then
	ok 'the JSON is well-formed' \
		sh -c '"$1" alloc --format=json "$2" | python3 -m json.tool >/dev/null' - "$XAUDIT" "$tmp/two"
	"$XAUDIT" alloc --format=pprof -o "$tmp/two.pb.gz" "$tmp/two"
	is $? 0 'a profile for pprof'
	ok 'gzip takes it' gzip -t "$tmp/two.pb.gz"
	is "$(python3 "$top_srcdir/t/alloc/pprof.py" "$tmp/two.pb.gz" 2>&1)" \
'alloc_objects/count alloc_space/bytes inuse_objects/count inuse_space/bytes
sums 8 3200 6 2800
2 2000 2 2000 malloc < libbar.so
6 1200 4 800 malloc < libbar.so < libbar.so' 'a reader of profiles reads it'
else
	skip 4 'no python3'
fi
is "$("$XAUDIT" alloc --format=pprof "$tmp/two" | od -An -tx1 -N3 | tr -d ' ')" 1f8b08 'to standard output, too'
if command -v script >/dev/null 2>&1; then
	script -qec "'$XAUDIT' alloc --format=pprof '$tmp/two'" /dev/null </dev/null >"$tmp/terminal" 2>&1
	is "$? $(grep -c 'pprof is not for a terminal' "$tmp/terminal")" '1 1' '... but to no terminal'
else
	skip 1 'no script(1)'
fi
"$XAUDIT" alloc -o /dev/full "$tmp/two" 2>"$tmp/err"
is "$?:$(grep -c 'full can.t be written' "$tmp/err")" 1:1 'output that can not be written'

# A trace from which nothing can be told.
write_trace none <<END
process p100 flags=1 clock=mono
pair first 1000 1000 5
pair last 9000 9000 5
object 1 /usr/lib/libc.so.6
function 1 0 1 0x100 malloc
thread 100 main
entry 1 1000
exit 1 1010
END
is "$("$XAUDIT" alloc "$tmp/none" 2>&1; echo $?)" "xaudit alloc: the trace has calls that allocate, but not how much; \
\`xaudit alloc --keep=DIR -- COMMAND\` records that
1" 'calls without values'

# A block that is live in both processes at the same address is not the same; what is damaged ends nothing.
write_trace odd <<END
process p100 flags=1 clock=mono
pair first 1000 1000 5
pair last 9000 9000 5
object 1 /usr/lib/libc.so.6
function 1 0 1 0x100 malloc
function 1 0 2 0x200 realloc
function 1 0 3 0x300 free
layout 1 entry 1 u8:arg0:n
layout 2 exit 1 p8:ret:ret
layout 3 entry 2 p8:arg0:block u8:arg1:n
layout 4 exit 2 p8:ret:ret
layout 5 entry 3 p8:arg0:block
thread 100 main
values 1 1000 100
values 2 1010 0x5000
values 3 1020 0x5000 50
values 4 1030 0
values 3 1040 0x5000 70
values 4 1050 0x5000
values 3 1060 0x5000 80
values 4 1070 0x9000
values 1 1080 30
values 2 1090 0x9000
values 5 1100 0x5000
exit 3 1110
values 5 1120 0
exit 3 1130
values 1 1140 40
exit 1 1150
entry 1 1160
values 2 1170 0xa000
END
is "$("$XAUDIT" alloc "$tmp/odd" 2>&1 | tail -n 4)" \
'in all: 4 calls, 280 bytes; at the end 1 blocks, 30 bytes; at the peak 1 blocks, 100 bytes; temporary 2
the peak is 0.010 us after the first call
2 frees, 1 of unknown blocks; 1 lost, as their addresses came again
2 calls without the values that are needed, 0 without an end' \
	'reallocs that fail, stay and move; lost and unknown frees; a free of 0 is none; calls without values'
done_testing
