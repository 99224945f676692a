#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit info: what it tells of traces that make_trace wrote.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/written.sh"

write_trace full <<'END'
record version: 0.1.0
record command: ls -l 'a b'
record clock: 1000000000 400000000 7
record status: exit 3
process p100 flags=1 clock=tsc lost=2 no_mirror=5 meta_lost=1 ppid=99
pair first 2000000000 800000000 1700000000000000000
pair last 6000000000 2400000000 1700000001600000000
text exe /usr/bin/ls
text command ls -l a'b
text host box Linux 6.1 x86_64
text config /etc/xaudit.conf
text module 0.1.0
text note libbar.so is left alone: no room
object 1 /usr/bin/ls flags=1 kinds=9
object 2 /lib64/ld-linux-x86-64.so.2 flags=2
object 3 /usr/lib/libfoo.so.1 soname=libfoo.so.1 kinds=7 build=0123456789abcdef
sites 3 0:0:99
sites 3 0:0:12 1:10:3 2:0:0 2:1:4
function 3 0 1 0x100 foo
load 1 3 2000000000 0x7f0000000000 100
load 2 1 2000000000 0x560000000000 100
unload 1 5000000000 100
unknown 77 32
thread 100 main
entry 1 2500000000
exit 1 2500000100
point 1 2600000000
lost 3
chunk 2700000000
switch 101
entry 1 3500000000
process p200 flags=2 clock=tsc
pair first 2000000000 800000000 1700000000000000000
END
got=$("$XAUDIT" info "$tmp/full")
is "$(echo "$got" | sed -e 's/[0-9]* bytes on disk.*/N bytes on disk/' -e '/^Began/d' -e "s,$tmp,TMP,")" "$(cat <<'END'
Trace       TMP/full
Command     ls -l 'a b'
Status      exit 3
Recorded by 0.1.0
Host        box Linux 6.1 x86_64
Clock       TSC, 2.500000 GHz by 3 pairs, within 0.1 ppm
Time        400.000 ms
Processes   2
Threads     2
Events      4 in N bytes on disk
Lost        5
Why lost    for other reasons

Process 100 (p100), child of 99: ended
  Program   /usr/bin/ls
  Command   ls -l 'a'\''b'
  Module    0.1.0
  Rules     /etc/xaudit.conf
  Mode        stream, recording
  Threads     2
  Events      4 in N bytes on disk
  Lost        5
  Why lost    for other reasons
  5 returns could not be intercepted for want of a mirror
  1 records of names and loads were lost
  Note        libbar.so is left alone: no room
  Objects     3, 2 loads, 1 unloads
    /usr/bin/ls  xray calls  (the program)
    /lib64/ld-linux-x86-64.so.2  none  (the dynamic loader, never touched)
    /usr/lib/libfoo.so.1  xray patchable plt
      xray            12  traced
      patchable        3  fewer than 5 bytes of NOPs
      plt              4  not selected by the rules

Process 200 (p200), child of 1: was killed, ended by _exit(), or executed what was not traced, switched off
  Mode        stream, recording
  Threads     0
  Events      0 in N bytes on disk
  Lost        0
  Objects     0, 0 loads, 0 unloads
END
)" 'everything that the folder says is told; the last counts of sites win, and zeros are left out'
like "$got" '^Began +2023-11-14 ' 'the date is that of the first pair'

got=$("$XAUDIT" info --format=json "$tmp/full")
like "$got" '^\{"trace":".*/full","command":"ls -l .a b.","status":"exit 3","version":"0.1.0",'\
'"host":"box Linux 6.1 x86_64","clock":\{"source":"tsc","hz":2500000000,"pairs":3,"ppm":0.1\},$' \
	'JSON has the same about the folder'
like "$got" '^\{"path":"/usr/lib/libfoo.so.1","soname":"libfoo.so.1","build_id":"0123456789abcdef",'\
'"role":"library","kinds":\["xray","patchable","plt"\],"sites":\{"xray":\{"traced":12\},'\
'"patchable":\{"fewer than 5 bytes of NOPs":3\},"plt":\{"not selected by the rules":4\}\}\}\]\},?$' \
	'about an object'
like "$got" '"threads":2,"events":4,"disk_bytes":[0-9]+,"unpacked_bytes":[0-9]+,'\
'"bytes_per_event":[0-9.]+,"lost":5,"lost_by":\[\{"events":5,"cause":"for other reasons"\}\],'\
'"no_mirror":5,"meta_lost":1,'\
'"loads":2,"unloads":1,"notes":\["libbar.so is left alone: no room"\],' \
	'and about a process'
if command -v python3 >/dev/null 2>&1; then
	ok 'the JSON is well-formed' sh -c 'python3 -m json.tool' <<END
$got
END
else
	skip 1 'no python3 to check the JSON with'
fi

# Clocks.
trace() { # NAME CLOCK-LINES...: a trace of two events 2500000 ticks apart
	name=$1
	shift
	{
		printf '%s\n' "$@"
		printf '%s\n' 'object 1 /usr/lib/libfoo.so' 'function 1 0 1 0x100 foo' 'thread 100' \
			'entry 1 2000000000' 'exit 1 2002500000'
	} | write_trace "$name"
}
trace far 'process p100 flags=1 clock=tsc boot=another' 'pair first 2000000000 800000000 1' \
	'pair last 2000000250 800000100 1'
like "$("$XAUDIT" info "$tmp/far")" '^Clock .*2\.500000 GHz by 2 pairs, within 2000000 ppm' \
	'pairs of 0.1 us give a rate that is told to be bad'
like "$("$XAUDIT" report "$tmp/far" 2>&1 >/dev/null)" 'may be wrong by more than 1 %; ' 'by report, too'
trace odd 'process p100 flags=1 clock=tsc last_seq=7' 'pair first 2000000000 800000000 1' 'pair last 77 88 99' \
	'record clock: 4500000000 1800000000 1'
like "$("$XAUDIT" info "$tmp/odd")" '2\.500000 GHz by 2 pairs, within 0.2 ppm' \
	'a last pair whose writer was killed in it is not used'
trace none 'process p100 flags=1 clock=tsc boot=another' 'pair first 2000000000 800000000 1'
got=$("$XAUDIT" info "$tmp/none" 2>"$tmp/err")
is "$?" 1 'a trace without a rate is damaged'
like "$got" 'of unknown frequency' 'and info says so'
like "$(cat "$tmp/err")" "^xaudit: .*none/p100/meta: offset 48: the clock's pairs give no rate" \
	'as does the line of error'
# Ticks are the same in all time namespaces, CLOCK_MONOTONIC is not: by the longer span, 100 s apart.
trace spaces 'process p100 flags=1 clock=tsc' 'pair first 2000000000 800000000 1' 'pair last 4500000000 1800000000 1' \
	'object 1 /usr/lib/libbar.so' 'function 1 0 1 0x100 bar' 'thread 100' 'entry 1 2600000000' 'exit 1 2602500000' \
	'process p200 flags=1 clock=tsc' 'pair first 1990000000 100796000000 1' 'pair last 3000000000 101200000000 1'
got=$("$XAUDIT" info "$tmp/spaces")
like "$got" '2\.500000 GHz by 2 pairs, within 0\.2 ppm' 'another time namespace does not spoil the rate'
is "$("$XAUDIT" report --format=json "$tmp/spaces" | jq -c '[.functions[] | .total_ns]')" '[1000000,1000000]' \
	'nor a time'
is "$("$XAUDIT" dump --format=json "$tmp/spaces" | jq -s '[.[].time_ns // empty] | max - min < 1000000000')" true \
	'and all times are on one clock'
trace mono 'process p100 flags=1'
like "$("$XAUDIT" info "$tmp/mono")" '^Clock +CLOCK_MONOTONIC' 'a clock that needs no pairs is named'

# Processes 300 and 400 executed programs; the number 400 was given to another one later.
write_trace state <<'END'
process p300 flags=0 ppid=7
pair first 1000 1000 5
text exe /bin/sh
process p300.1 flags=1 ppid=7
pair first 2000 2000 1005
text exe /bin/ls
process p400 flags=0 ppid=7
pair first 1500 1500 505
text exe /bin/sh
process p400.1 flags=1 ppid=300
pair first 9500 9500 8505
text exe /bin/ls
END
is "$("$XAUDIT" info "$tmp/state" 2>&1 | sed -n 's/^Process \([0-9]*\) (\(.*\)), child of [0-9]*: /\2 /p' | sort)" \
	'p300 executed another program
p300.1 ended
p400 was killed, ended by _exit(), or executed what was not traced
p400.1 ended' 'what became of a process is told by those that follow it'
is "$("$XAUDIT" info --format=json "$tmp/state" | jq -r '.processes[] | .folder + " " + .state' | sort | xargs)" \
	'p300 executed p300.1 ended p400 gone p400.1 ended' 'in JSON by one word'

# Eleven processes of three programs.
{
	for p in 1 2 3 4 5 6 7 8 9 10 11; do
		printf 'process p%s flags=%s lost_disk=%s\npair first 1000 1000 5\n' $p $((p < 10)) $((p > 9))
		case $p in
		11) printf 'text exe /bin/odd\n' ;;
		10) printf 'text exe /bin/make\ntext note full\n' ;;
		*) printf 'text exe /bin/cc\ntext note slow\n' ;;
		esac
		printf 'object 1 /lib/a.so\nfunction 1 0 1 0x10 f\nthread %s t\nentry 1 1000\nexit 1 1010\n' $p
	done
} | write_trace many
is "$("$XAUDIT" info "$tmp/many" | sed -n '/^ Processes/,$p')" ' Processes          Events        Lost  Program
         9              18           0  /bin/cc
         1               2           1  /bin/make
         1               2           1  /bin/odd

Processes that: 9 ended; 2 were killed, ended by _exit(), or executed what was not traced
Note        9 times: slow
Note        1 time: full
`xaudit info -v` shows each process, `xaudit info --pid=N` one.' 'eleven processes are a line per program'
is "$("$XAUDIT" info -v "$tmp/many" | grep -c '^Process [0-9]')" 11 'and with -v each has its own lines'
is "$("$XAUDIT" info --pid=10 "$tmp/many" | sed -n 's/^  Why lost *//p')" 'since the disk was full' \
	'why events were lost is told'
write_trace causes <<'END'
process p100 flags=1 lost_disk=4
pair first 1000 1000 5
pair last 3000 3000 2005
object 1 /lib/a.so
function 1 0 1 0x10 f
thread 100 t
entry 1 1000
lost 7
chunk 2000
exit 1 2010
END
is "$("$XAUDIT" info "$tmp/causes" | sed -n 's/^  \(Why lost\|Lost\) *//p')" '11
7 for other reasons, 4 since the disk was full' 'why, by how many, most first'
is "$("$XAUDIT" info --format=json "$tmp/causes" | jq -c '.processes[] | [.lost, .lost_reason, .lost_by]')" \
	'[11,"7 for other reasons, 4 since the disk was full",[{"events":7,"cause":"for other reasons"},'\
'{"events":4,"cause":"since the disk was full"}]]' 'the same in JSON'
is "$("$XAUDIT" dump "$tmp/causes" | awk '$3 == "lost" { print $2, $5 }' | xargs)" '100 7 0 4' \
	'where they were lost is told as far as a chunk knows it'
is "$("$XAUDIT" report --format=json "$tmp/causes" | sed -n '1s/,"unf.*//p')" '{"lost":11' 'and their sum'

# A trace of this boot whose process was killed at once: the reader takes a pair itself, half a second later.
if grep -q constant_tsc /proc/cpuinfo; then
	trace boot 'process p100 flags=0 clock=tsc boot=this' 'pair first now' 'pair last now'
	sleep 0.5
	like "$("$XAUDIT" info "$tmp/boot" 2>&1)" 'GHz by [23] pairs \(one taken now\), within 0\.[0-9]+ ppm' \
		'for a killed process of this boot a pair is taken now'
else
	skip 1 'no constant TSC here'
fi

# Otherwise times depend on the trace alone. One tick is 1 ns by the trace's pairs, and less by one taken now. The first
# pair is one of this machine, whose TSC may have begun long before it did (a virtual one).
# once FLAGS LENGTH: how long foo takes, 2500000 ticks, of a process of this boot whose pairs are LENGTH apart.
once() {
	trace once "process p100 flags=$1 clock=tsc boot=this" 'pair first now' "pair last +$2"
	"$XAUDIT" report --format=json "$tmp/once" 2>/dev/null | jq '.functions[].total_ns'
}
is "$(once 1 300000)" 2500000 'a process of 0.3 ms that ended has times by its own pairs'
is "$(once 0 1000000)" 2500000 'so has one that was killed after 1 ms'
unlike "$("$XAUDIT" info "$tmp/once")" 'taken now' 'which info does not call taken now'
for of in '1 9999' '0 999999'; do
	set -- $of
	once $of >/dev/null
	like "$("$XAUDIT" info "$tmp/once")" 'by 3 pairs \(one taken now\)' "$2 ns are too short for that"
done
done_testing
