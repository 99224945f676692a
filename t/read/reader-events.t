#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Custom events in report, replay, dump and info, from traces that make_trace wrote: how they show them, how they decode
# their data, and how they treat damaged or unfinished ones.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/written.sh"
built spoil

write_trace all <<'END'
process p100 flags=1
pair first 1000 1000 5
pair last 9000 9000 8005
object 1 /usr/lib/libfoo.so
function 1 0 1 0x100 foo
type 16 request
thread 100 main
entry 1 1000
custom 16 1010 07000000 =hello
custom 0 1030 010203 100*ff
custom 1 1040 =a_mark 0a
unfinished 16 1050 =lost
custom 17 1060 100*41
custom 1 1070
exit 1 2000
custom 16 2100 07000000
END

is "$("$XAUDIT" dump --format=json "$tmp/all")" "$(cat <<END
{"time_ns":1000,"tid":100,"event":"entry","function":"foo","library":"/usr/lib/libfoo.so","address":null}
{"time_ns":1010,"tid":100,"event":"custom","function":null,"library":null,"address":null,"type":"request",\
"type_number":16,"size":9,"data":"BwAAAGhlbGxv"}
{"time_ns":1030,"tid":100,"event":"custom","function":null,"library":null,"address":null,"type":"untyped",\
"type_number":0,"size":103,"data":"AQID///////////////////////////////////////////////////////////////////////////////\
//////////////////////////////////////////////////////w=="}
{"time_ns":1040,"tid":100,"event":"custom","function":null,"library":null,"address":null,"type":"mark","type_number":1,\
"size":7,"data":"YSBtYXJrCg=="}
{"time_ns":1060,"tid":100,"event":"custom","function":null,"library":null,"address":null,"type":null,"type_number":17,\
"size":100,"data":"QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUF\
BQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQQ=="}
{"time_ns":1070,"tid":100,"event":"custom","function":null,"library":null,"address":null,"type":"mark","type_number":1,\
"size":0,"data":""}
{"time_ns":2000,"tid":100,"event":"exit","function":"foo","library":"/usr/lib/libfoo.so","address":null}
{"time_ns":2100,"tid":100,"event":"custom","function":null,"library":null,"address":null,"type":"request",\
"type_number":16,"size":4,"data":"BwAAAA=="}
END
)" 'dump shows each with its type and its data in base64, but for the one that was not finished'
is "$("$XAUDIT" dump "$tmp/all" | grep custom | sed 's/\( ff\)\{100\}/ 100*ff/; s/A\{100\}/100*A/')" "$(cat <<'END'
0.000001010      100  custom               -  request  07 00 00 00 68 65 6c 6c 6f  9 bytes
0.000001030      100  custom               -  untyped  01 02 03 100*ff  103 bytes
0.000001040      100  custom               -  mark  "a mark\n"  7 bytes
0.000001060      100  custom               -  type 17  "100*A"  100 bytes
0.000001070      100  custom               -  mark  ""  0 bytes
0.000002100      100  custom               -  request  07 00 00 00  4 bytes
END
)" 'its text format shows the data as text, or in hex, as a whole'
is "$("$XAUDIT" replay "$tmp/all")" "$(cat <<'END'
#  DURATION       TID      FUNCTION
             [    100] | foo() {
             [    100] |   /* request: 07 00 00 00 68 65 6c 6c 6f (9 bytes) */
             [    100] |   /* untyped: 01 02 03 ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ... (103 bytes) */
             [    100] |   /* mark: "a mark\n" (7 bytes) */
             [    100] |   /* type 17: "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"... (100 bytes) */
             [    100] |   /* mark: "" (0 bytes) */
    1.000 us [    100] | } /* foo */
             [    100] | /* request: 07 00 00 00 (4 bytes) */
END
)" 'replay has them in their place in the tree, cut to a length for a line'
is "$("$XAUDIT" replay --tid 100 -D 1 "$tmp/all")" "$(cat <<'END'
#  DURATION       TID      FUNCTION
             [    100] | foo() {
    1.000 us [    100] | } /* foo */
             [    100] | /* request: 07 00 00 00 (4 bytes) */
END
)" 'only those of the thread and of the depth that were asked for'
is "$("$XAUDIT" report "$tmp/all" | sed 1,3d)" "$(cat <<'END'

    Events        Bytes  Type
==========  ===========  ====================
         2            7  mark
         2           13  request
         1          103  untyped
         1          100  type 17

0 events lost, 0 calls unfinished
1 custom event was not finished: it was left out
END
)" 'report has a second table: number and bytes of each type'
is "$("$XAUDIT" report --format=json "$tmp/all" | sed 1,2d)" "$(cat <<'END'
],"counted":0,"no_end":0,"orphans":0,"overwritten_chunks":0,"crash_signal":null,"custom_events":[
{"type":"mark","count":2,"bytes":7},
{"type":"request","count":2,"bytes":13},
{"type":"untyped","count":1,"bytes":103},
{"type":null,"type_number":17,"count":1,"bytes":100}
],"custom_unfinished":1}
END
)" 'and so has its JSON'
is "$("$XAUDIT" report --by=thread "$tmp/all" | sed -n '/Events/,/type 17/p' | wc -l)" 6 \
	'by thread, the table is the same'
is "$("$XAUDIT" info "$tmp/all" | grep -e Custom -e Unfinished -e Time -e Events | sed 's/ in .*//')" "$(cat <<'END'
Time        1.100 us
Events      2
Custom      6 events, 223 bytes of data
Unfinished  1 custom events
  Events      2
  Custom      6 events, 223 bytes of data
  Unfinished  1 custom events
END
)" 'info tells their number and bytes'
is "$("$XAUDIT" info --format=json "$tmp/all" |
	grep -c '"custom_events":6,"custom_bytes":223,"custom_unfinished":1,')" 2 'in JSON, too'

# Two processes have two numbers for one name, and one number for two names.
write_trace two <<'END'
process p100 flags=1
type 16 request
type 17 answer
type 17 reply
thread 100
custom 16 1000 =a
custom 17 1001 =bcd
process p200 flags=1
type 16 reply
type 18 request
thread 200
custom 16 1000 =ef
custom 18 1001 =g
custom 17 1002 =x
custom 17 1003 =x
custom 17 1004 =x
END
write_trace none <<'END'
process p100 flags=1
type 16 request
thread 100
END
is "$("$XAUDIT" report "$tmp/two" | sed -n '/Type/,/^$/p')" "$(cat <<'END'
    Events        Bytes  Type
==========  ===========  ====================
         3            3  type 17
         2            5  reply
         2            2  request
END
)" 'what counts is the name of a type in its process, the last one it got'
is "$("$XAUDIT" report --pid 100 "$tmp/two" | sed -n '/Type/,/^$/p' | sed -n '3,$p')" "$(cat <<'END'
         1            3  reply
         1            1  request
END
)" '--pid takes the events of one process'
is "$("$XAUDIT" report "$tmp/none" | grep -c Events) $("$XAUDIT" report --format=json "$tmp/none" |
	grep -c custom) $("$XAUDIT" info "$tmp/none" | grep -c Custom)" \
	'0 0 0' 'where there are none, nothing is said of them'

# What is text.
write_trace text <<'END'
process p100 flags=1
thread 100
custom 1 1000 =say 22 =hi 22 5c 0d09
custom 1 1001 c3a4 e282ac f09f9880
custom 1 1002 =ends_with_NUL 00
custom 1 1003 1b =[31m
custom 1 1004 c29b =31m
custom 1 1005 c3
custom 1 1006 00
custom 1 1007 =a 00 =b
custom 1 1008 7f
custom 1 1009 59*61 c3a4 =b
custom 1 1010 60*61
END
is "$("$XAUDIT" replay "$tmp/text" | sed 's/.*mark: //; s/a\{59\}/59*a/; 1d')" "$(cat <<'END'
"say\"hi\"\\\r\t" (10 bytes) */
"ä€😀" (9 bytes) */
"ends with NUL" (14 bytes) */
1b 5b 33 31 6d (5 bytes) */
c2 9b 33 31 6d (5 bytes) */
c3 (1 bytes) */
00 (1 bytes) */
61 00 62 (3 bytes) */
7f (1 bytes) */
"59*aä"... (62 bytes) */
"59*aa" (60 bytes) */
END
)" 'UTF-8 is text, cut between characters; what could harm a terminal is not'

# --event-format
write_trace format <<END
process p100 flags=1
type 16 numbers
type 17 request
thread 100
custom 16 1000 ff feff fdffffff fcffffffffffffff 80 0080 00000080 0000000000000080 ab cdab 78563412 efcdab8967452301 \
0000c03f 182d4454fb210940
custom 16 1001 00 0000 00000000 0000000000000000 7f ff7f ffffff7f ffffffffffffff7f 00 0000 00000000 0000000000000000 \
0000807f 000000000000f87f
custom 17 2000 07000000 =some_name 00 =key!
custom 17 2001 07000000 =some_name
custom 17 2002 07000000
custom 17 2003 070000
custom 17 2004
custom 17 2005 07000000 =a_ 22 ff 00 =key! 010203
custom 18 3000 01 02
END
numbers='numbers=u8 a, u16 b,u32 c , u64 d, i8 e,i16 f,i32 g,i64 h, x8 i,x16 j,x32 k,x64 l, f32 m,f64 n'
fields() { # FORMAT...: of all events with fields
	"$XAUDIT" dump --format=json "$@" "$tmp/format" | sed -n 's/.*"data":"[^"]*",\("fields.*\)}$/\1/p'
}
is "$(fields --event-format "$numbers")" "$(cat <<END
"fields":{"a":255,"b":65534,"c":4294967293,"d":18446744073709551612,"e":-128,"f":-32768,"g":-2147483648,\
"h":-9223372036854775808,"i":"0xab","j":"0xabcd","k":"0x12345678","l":"0x0123456789abcdef","m":1.5,\
"n":3.1415926535897931}
"fields":{"a":0,"b":0,"c":0,"d":0,"e":127,"f":32767,"g":2147483647,"h":9223372036854775807,"i":"0x00","j":"0x0000",\
"k":"0x00000000","l":"0x0000000000000000","m":null,"n":null}
END
)" 'dump --event-format decodes numbers of all sizes'
is "$(fields --event-format 'request=u32 id, string name, bytes 4 key')" "$(cat <<'END'
"fields":{"id":7,"name":"some name","key":"6b657921"}
"fields":{"id":7,"name":"some name"},"too_short":true
"fields":{"id":7,"name":""},"too_short":true
"fields":{},"too_short":true
"fields":{},"too_short":true
"fields":{"id":7,"name":"a \"\ufffd","key":"6b657921"},"more_bytes":3
END
)" 'strings, bytes, data that is too short, and data that is longer'
is "$("$XAUDIT" dump --event-format 'request=u32 id, string name, bytes 4 key' --event-format '18=x8 a,x8 b' \
	"$tmp/format" | sed -n 's/.*-  [rt][a-z]* *[0-9]*  //p')" \
	"$(cat <<'END'
id=7 name="some name" key=6b657921  18 bytes
id=7 name="some name" (the data is too short)  13 bytes
id=7 name="" (the data is too short)  4 bytes
(the data is too short)  3 bytes
(the data is too short)  0 bytes
id=7 name=61 20 22 ff key=6b657921 (and 3 bytes more)  16 bytes
a=0x01 b=0x02  2 bytes
END
)" 'as text, too; a type without a name goes by its number'
is "$(fields --event-format '17=u8 old' --event-format 'request=u8 id' --event-format '18=u8 x' | head -n 1
	fields --event-format '18=u8 x')" "$(cat <<'END'
"fields":{"id":7},"more_bytes":17
"fields":{"x":1},"more_bytes":1
END
)" 'of several formats for a type the last one counts, and each is for its own type'

: >"$tmp/bad"
count=0
while IFS='|' read -r format message; do
	count=$((count + 1))
	bounded 60 "$XAUDIT" dump --event-format "$format" "$tmp/format" >"$tmp/out" 2>"$tmp/err"
	status=$?
	[ "$status $(cat "$tmp/out") $(cat "$tmp/err")" = \
		"2  xaudit dump: --event-format can't be '$format': $message" ] ||
		echo "$format: $status $(cat "$tmp/err")" >>"$tmp/bad"
done <<'END'
x|it is TYPE=FORMAT, such as request='u32 id, string name'
=u8 a|it is TYPE=FORMAT, such as request='u32 id, string name'
x=|a field is missing
x=u8 a,|a field is missing
x=,u8 a|a field is missing
x=u33 a|there is no type 'u33' of fields, but u8 to u64, i8 to i64, x8 to x64, f32, f64, string and bytes N
x=u a|there is no type 'u' of fields, but u8 to u64, i8 to i64, x8 to x64, f32, f64, string and bytes N
x=f16 a|there is no type 'f16' of fields, but u8 to u64, i8 to i64, x8 to x64, f32, f64, string and bytes N
x=u8|a field of type u8 has no name
x=bytes 4|a field of type bytes has no name
x=u8 a b|a comma is missing behind 'u8 a'
x=bytes a|bytes wants a number from 1 to 4096 before the name
x=bytes 0 a|bytes wants a number from 1 to 4096 before the name
x=bytes 4097 a|bytes wants a number from 1 to 4096 before the name
x=u8 a,u8 a|two fields have the name 'a'
END
is "$count $(cat "$tmp/bad")" '15 ' 'a wrong format is told in one line, with status 2'

# All sizes, over the borders of chunks and of blocks that are read; and a clock that runs on between them.
sizes='0 1 2 3 7 8 9 15 16 17 100 4088 4089 4095 4096'
{
	echo 'process p100 flags=1'
	echo 'thread 100'
	for size in $sizes; do
		byte=$(printf %02x $((size % 251)))
		echo "custom 1 $((1000 + size)) $size*$byte"
	done
} | write_trace sizes
: >"$tmp/bad"
"$XAUDIT" dump --format=json "$tmp/sizes" | sed -n 's/.*"size":\([0-9]*\),"data":"\(.*\)"}/\1 \2/p' >"$tmp/got"
while read -r size data; do
	byte=$(printf '\\%03o' $((size % 251)))
	printf "$byte%.0s" $(seq "$size") | head -c "$size" >"$tmp/wanted"
	printf %s "$data" | base64 -d >"$tmp/data" && cmp -s "$tmp/wanted" "$tmp/data" || echo "$size" >>"$tmp/bad"
done <"$tmp/got"
is "$(cut -d' ' -f1 "$tmp/got" | tr '\n' ' ')$(cat "$tmp/bad")" "$sizes " 'data of all sizes comes back byte for byte'
for chunk in 65536 1048576; do
	write_trace "many$chunk" <<END
process p100 flags=1 chunk=$chunk
object 1 /usr/lib/libfoo.so
function 1 0 1 0x100 foo
thread 100
loop 500 1000
entry 1 1000
custom 0 1001 4096*00
custom 0 1002 4001*61
exit 1 1003
end
END
	"$XAUDIT" dump --format=json "$tmp/many$chunk" >"$tmp/out" 2>"$tmp/err"
	is "$? $(cat "$tmp/err") $(grep -c '"size":4096,"data":"A\{5462\}=="' "$tmp/out") $(grep -c \
		'"size":4001,"data":"YWFh[YWFh]*' "$tmp/out")" '0  500 500' \
		"1000 large events in chunks of $chunk bytes are whole"
	is "$("$XAUDIT" report --format=json "$tmp/many$chunk" | grep -e foo -e type | sed 's/"min.*//')" \
		"$(printf '%s\n' \
			'{"function":"foo","library":"/usr/lib/libfoo.so","calls":500,"total_ns":1500,"self_ns":1500,' \
			'{"type":"untyped","count":1000,"bytes":4048500}')" 'and are counted'
done
write_trace far <<'END'
process p100 flags=1
object 1 /usr/lib/libfoo.so
function 1 0 1 0x100 foo
thread 100
entry 1 1000
custom 0 2000001000 =a
unfinished 0 4000001000 =b
exit 1 6000001000
END
is "$("$XAUDIT" replay "$tmp/far" | sed -n '$p'; "$XAUDIT" report "$tmp/far" |
	awk '/foo/ { print $2, $3 }'; "$XAUDIT" info "$tmp/far" | grep Time)" \
	"$(printf '%s\n' '    6.000  s [    100] | } /* foo */' '6.000 s' 'Time        6.000 s')" \
		'their times carry the clock on, those that were not finished too'

# The flight recorder; and a chunk that was not finished, as a killed process leaves it.
write_trace ring <<'END'
process p100 flags=0 ring_size=262144 mode=1
type 16 request
thread 100
ring
loop 850 1000
custom 16 1000 =request 500*61
custom 16 1001 500*00
end
unfinished 16 860000 =lost
open
END
"$XAUDIT" dump --format=json "$tmp/ring" >"$tmp/out" 2>"$tmp/err"
is "$? $(cat "$tmp/err") $(grep -c '"size":507' "$tmp/out") $(grep -c '"size":500,"data":"AAAA[A]*="' "$tmp/out")" \
	'0  230 230' \
	'a flight recorder of a killed process has the newest ones'
is "$("$XAUDIT" report "$tmp/ring" | tail -n 3)" "$(cat <<'END'
0 events lost, 0 calls unfinished
1 custom event was not finished: it was left out
the ring holds the newest events: 10 buffers before them were overwritten
END
)" 'the one that was being written is counted apart'

# Damage. An event is control word, type and size, data. Chunk 0's first word is at 128.
# NAME OFFSET FAULT SENTENCE: its script is on stdin; all readers report the fault, and show the last event, "behind".
damaged() {
	{
		printf '%s\n' 'process p100 flags=1' 'type 16 behind' 'thread 100' stream
		cat
	} | write_trace "$1"
	for command in report 'report --format=json' replay dump 'dump --format=json' info; do
		bounded 60 "$XAUDIT" $command "$tmp/$1" >"$tmp/out" 2>"$tmp/err"
		echo "$? $(cat "$tmp/err")"
		case $command in info) grep '^Custom' "$tmp/out" ;; *) grep -c behind "$tmp/out" ;; esac
	done >"$tmp/got"
	fault="1 xaudit: $tmp/$1/p100/t0: offset $2: $3; the rest of the trace was read"
	is "$(cat "$tmp/got")" "$(for command in 1 2 3 4 5; do
		printf '%s\n' "$fault" 1
	done; printf '%s\n' "$fault" 'Custom      1 events, 3 bytes of data')" "$4"
}
damaged large 128 'a custom event has an impossible size' 'an event of more than 4096 bytes is damage' <<'END'
raw 0xf002030400000400 0x0000001000001001
hole 514
custom 16 2000 =end
END
damaged longer 128 'a custom event has an impossible size' 'so is one that is larger than its words' <<'END'
raw 0xf000020400000400 0x0000001000000009 0x4141414141414141
custom 16 2000 =end
END
damaged empty 128 'a control word lacks its payload' 'and one that has no word for its size' <<'END'
raw 0xf000000400000400
custom 16 2000 =end
END
damaged cut 152 'the chunk ends within an event' 'and one that reaches beyond the end of its chunk' <<'END'
custom 16 2000 =end
raw 0xf000030400000800 0x0000001000000010 0x4141414141414141
END
damaged cutoff 152 'the chunk ends within an event' 'even where its data does not' <<'END'
custom 16 2000 =end
raw 0xf000040400000800 0x0000001000000008 0x4141414141414141
END
damaged word 152 'the chunk ends within an event' 'or of which only the first word is there' <<'END'
custom 16 2000 =end
raw 0xf000040400000800
END

# A few hundred damaged files. No reader may use more than 1 GiB or 20 s, or end with another status than 0 and 1.
write_trace good <<'END'
process p100 flags=1
pair first 1000 1000 5
pair last 9000000 9000000 8005
object 1 /usr/lib/libfoo.so
function 1 0 1 0x100 foo
type 16 request
type 17 reply
thread 100
stream
loop 100 1000
entry 1 1000
custom 16 1010 07000000 =hello
custom 17 1020 =text
custom 0 1030 300*ff
unfinished 16 1040 40*aa
exit 1 1050
end
END
. "$top_srcdir/t/lib/spoiled.sh"
: "${FUZZ_ROUNDS:=$(rounds 35 100)}"
for seed in $(seq 1 "$FUZZ_ROUNDS"); do
	rm -rf "$tmp/fuzz"
	cp -R "$tmp/good" "$tmp/fuzz"
	[ $((seed % 4)) = 0 ] && "$spoil" "$tmp/fuzz/p100/meta" "$seed" || "$spoil" "$tmp/fuzz/p100/t0" "$seed"
	read_spoiled "$seed" report 'report --by=library --format=json' replay dump 'dump --format=json' info
	bounded 60 "$XAUDIT" dump --format=json --event-format='request=u32 id,string name' \
		--event-format='reply=f64 a,bytes 9 b' "$tmp/fuzz" >"$tmp/out" 2>"$tmp/err"
	[ $? -le 1 ] || echo "seed $seed, dump --event-format: $(head -c 300 "$tmp/err")" >>"$tmp/bad"
done
is "$(cat "$tmp/bad")" '' 'no damage brings a reader down'
diag "$found of $((FUZZ_ROUNDS * 6)) readings found the damage"
ok 'many of them are noticed' test "$found" -gt "$FUZZ_ROUNDS"

# xaudit ctl status need not read all of a long trace.
rm -rf "$tmp/fuzz" "$tmp/many"*
write_trace long <<'END'
process p100 flags=1 chunk=4194304
object 1 /usr/lib/libfoo.so
function 1 0 1 0x100 foo
function 1 0 2 0x200 bar
thread 100
random 1 20000000 2 8
thread 101
random 2 3000 2 8
END
like "$("$XAUDIT" ctl "$tmp/long" status --format=json)" \
	'"threads":2,"events":(19[89]|20[01])[0-9]{5},"estimated":true,' \
	'ctl status tells about how many events a long trace has'
like "$("$XAUDIT" ctl "$tmp/long" status)" '^Events      about (19[89]|20[01])[0-9]{5} of 2 threads' \
	'and says so in its table'
like "$("$XAUDIT" info "$tmp/long")" '^Events      20003000 in ' 'info counts them'
rm -rf "$tmp/long"
like "$("$XAUDIT" ctl "$tmp/all" status --format=json)" '"threads":1,"events":2,"counted"' \
	'and so does ctl status, in a short one'

if command -v python3 >/dev/null 2>&1; then
	for trace in all format text; do
		"$XAUDIT" dump --format=json --event-format "$numbers" --event-format 'request=u32 id,string name' \
			"$tmp/$trace"
	done >"$tmp/lines"
	is "$(python3 -c 'import json, sys; print(sum(1 for line in open(sys.argv[1]) if json.loads(line)))' \
		"$tmp/lines")" "$(wc -l <"$tmp/lines")" \
		'each line of JSON is well-formed'
	ok 'and that of report and info is' sh -c '
		"$XAUDIT" report --format=json "$1" | python3 -m json.tool >/dev/null &&
			"$XAUDIT" info --format=json "$1" | python3 -m json.tool >/dev/null' sh "$tmp/all"
else
	skip 2 'no python3 to check the JSON with'
fi
done_testing
