#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Values of calls, as commands show them: of each type and state, arguments, results and errors, in the lines of calls
# that are nested, leaves, entries only, and ended in each way; from chunks of each kind and from forked processes. What
# is damaged is shown as far as it is whole, and nothing in a value steers a terminal.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/written.sh"
. "$top_srcdir/t/lib/calls.sh"

# start: a process with functions f1 to f9.
start() {
	printf 'process p100 chunk=65536 flags=1 clock=mono\npair first 0 0 5\npair last 9000 9000 5\n'
	printf 'object 1 /usr/lib/libfoo.so\n'
	for id in 1 2 3 4 5 6 7 8 9; do echo "function 1 0 $id $((id * 256)) f$id"; done
}
# shown LAYOUT VALUES: what dump shows behind the function's name.
shown() {
	{ start; echo "layout 1 entry 1 $1"; echo 'thread 100 main'; echo "values 1 1000 $2"; } |
		write_trace shown
	"$XAUDIT" dump "$tmp/shown" 2>&1 | sed -n 's,^.*  f1\(.*\)  /usr/lib/libfoo.so$,\1,p'
}
# value LAYOUT VALUE TEXT: one argument is shown as that.
value() {
	is "$(shown "$1" "$2")" "($3)" "$1 of $2"
}

# ---- types ----

value i4:arg0:n -1 -1
value i4:arg0:n 2147483647 2147483647
value i1:arg0:n -128 -128
value i2:arg0:n 0x8000 -32768
value i8:arg0:n 0x8000000000000000 -9223372036854775808
value u1:arg0:n 255 255
value u4:arg0:n 4294967295 4294967295
value u8:arg0:n 18446744073709551615 18446744073709551615
value x4:arg0:n 0xdeadbeef 0xdeadbeef
value x4:arg0:n 0 0
value u4:arg0:n:o 0644 0644
value u4:arg0:n:o 0 000
value u4:arg0:n:o 022 022
value p8:arg0:n 0x7fff12345678 0x7fff12345678
value p8:arg0:n 0 NULL
value f4:arg0:n 0.1 0.1
value f4:arg0:n 16777216 16777216
value d8:arg0:n 0.1 0.1
value d8:arg0:n 0.30000000000000004 0.30000000000000004
value d8:arg0:n -1e300 -1e+300
value d8:arg0:n inf inf
value d8:arg0:n -nan -nan
value i4:arg0:n:d 3 3
value errno4:arg0:n 13 'EACCES (Permission denied)'
value errno4:arg0:n 4000 '(errno 4000)'
value text:arg0:n =hello_world '"hello world"'
value text:arg0:n = '""'
value text:arg0:n cut:=hello '"hello"...'
value text:arg0:n 0a09220d5c6b '"\n\t\"\r\\k"'
value text:arg0:n 1b5b31336d38ff '"\33[13m8\377"'
value text:arg0:n 0131 '"\0011"'
value text:arg0:n c3a4e280aec2 '"ä\342\200\256\302"'
value bytes:arg0:n 7f454c46020100 '"\177ELF\2\1\0"'
value bytes:arg0:n cut:00ff '"\0\377"...'
for type in i4 p8 d8 text bytes; do
	value $type:arg0:n fault '(fault)'
	value $type:arg0:n unread '(not read)'
	value $type:arg0:n null NULL
done

# ---- structures ----

one='8;fd,0,1,4,1;events,4,2,2,4,1=IN,4=OUT'
value "structs:arg0:n::$one" 0300000005000000 '{fd=3, events=IN|OUT}'
value "structs:arg0:n::8[]${one#8}" 0300000005000000ffffffff0000ffff '[{fd=3, events=IN|OUT}, {fd=-1, events=0}]'
value "structs:arg0:n::8[]${one#8}" = '[]'
value "structs:arg0:n::8[]${one#8}" cut:0300000001000000 '[{fd=3, events=IN}, ...]'
value "structs:arg0:n::$one" fault '(fault)'
value "structs:arg0:n::$one" null NULL
value 'structs:arg0:n::12;events,0,2,4,0;data.a,4,2,4,0;data.b,4,3,8,0;at,0,4,4,0' 010000000700000001000000 \
	'{events=1, data={a=7, b=0x100000007}, at=0x1}'
value 'structs:arg0:n::8;d,0,6,8,0' 000000000000f83f '{d=1.5}'
is "$(shown "structs:arg0:a::8[]${one#8} i4:arg1:n" '0300000001000000 1')" '([{fd=3, events=IN}], 1)' 'one among others'
# Damage: what is not known is bytes, or not there.
for words in '' x '0;fd,0,1,4,1' 8 '8[' '99999999999;fd,0,1,4,1'; do
	value "structs:arg0:n::$words" 0300000005000000 '"\3\0\0\0\5\0\0\0"'
done
value 'structs:arg0:n::8;' 0300000005000000 '{}'
value 'structs:arg0:n::8;fd,0,1,4,1;wrong,7,1,2,0;more,0,1,1,0' 0300000005000000 '{fd=3}'
value 'structs:arg0:n::8;fd,0,1,4,1;wrong,0,7,2,0' 0300000005000000 '{fd=3}'
value 'structs:arg0:n::8;fd,0,1,4,1;far,4294967295,1,4,0' 0300000005000000 '{fd=3}'
value 'structs:arg0:n::9;fd,0,1,4,1' 0300000005000000 ''
# ended WORDS BYTES: behind the result.
ended() {
	{ start; echo "layout 1 entry 1 structs:arg0:n::8[]${one#8}"
	echo "layout 2 exit 1 i4:ret:r structs:arg0:n:wb:$1"; echo 'thread 100 main'
	echo 'values 1 1000 0300000001000000'; echo "values 2 2000 1 $2"; } | write_trace shown
	"$XAUDIT" replay "$tmp/shown" 2>&1 | sed -n 's/.*] | \(f1.*\);$/\1/p'
}
written='8[];fd,0,1,4,1;revents,6,2,2,12,1=IN,8=ERR'
is "$(ended "$written" 0300000001000900ffffffff000000000400000000000100)" \
	'f1([{fd=3, events=IN}]) = 1 ([{fd=3, revents=IN|ERR}, {fd=4, revents=IN}])' \
	'beside it is what the function wrote'
is "$(ended "$written" 0300000001000000)" 'f1([{fd=3, events=IN}]) = 1' 'if it has'
is "$(ended "$written" fault)" 'f1([{fd=3, events=IN}]) = 1' 'and if that is known'

# What the compiler has optimised out takes no bytes.
value none:arg0:n none '<optimized out>'
is "$(shown 'i4:arg0:a none:arg1:b text:arg2:c none:arg3:d' '7 none =x none')" \
	'(7, <optimized out>, "x", <optimized out>)' 'between others'
is "$(shown 'i4:arg0:a none:arg1:b text:arg2:c' '7 none fault')" '(7, <optimized out>, (fault))' 'where one has a state'

# ---- what is passed only where another argument says so ----

# passed FLAGS TEXT
passed() {
	is "$(shown 'i4:arg0:flags:f:64=CREAT,4259840=TMP u4:arg1:mode:o::0,64/64,4259840/4259840 i4:arg2:x:::!0,1/1' \
		"$1 0640 7")" "$2" "$1: $2"
}
passed 0 '(0, 7)'
passed 64 '(CREAT, 0640, 7)'
passed 0x10000 '(0x10000, 7)'
passed 0x410000 '(TMP, 0640, 7)'
passed 65 '(CREAT|0x1, 0640)'
passed fault '((fault), 0640, 7)'

# ---- names of numbers ----

open=0/3=O_RDONLY,1/3=O_WRONLY,2/3=O_RDWR,64=O_CREAT,4096=O_DSYNC,1052672=O_SYNC
value i4:arg0:n:f:$open 0 O_RDONLY
value i4:arg0:n:f:$open 66 'O_RDWR|O_CREAT'
value i4:arg0:n:f:$open 1052672 'O_RDONLY|O_SYNC'
value i4:arg0:n:f:$open 0x80041 'O_WRONLY|O_CREAT|0x80000'
value i4:arg0:n:f:1=A,-2147483648=B -2147483647 'A|B'
value u4:arg0:n:f:1/15=STREAM,2/15=DGRAM,3/15=RAW,2048=NONBLOCK 2051 'RAW|NONBLOCK'
value i4:arg0:n:f:0=NONE,1=A 0 NONE
value i4:arg0:n:f:1=A 0 0
value i4:arg0:n:f:1=A 6 0x6
value i4:arg0:n::0=SEEK_SET,1=SEEK_CUR,-100=AT_FDCWD 0 SEEK_SET
value i4:arg0:n::0=SEEK_SET,1=SEEK_CUR,-100=AT_FDCWD -100 AT_FDCWD
value u8:arg0:n::18446744073709551615=ALL 18446744073709551615 ALL
value i4:arg0:n::0=SEEK_SET,1=SEEK_CUR 7 7
value i4:arg0:n::x,,=,7,=y,7= 8 8
value u1:arg0:n:f:x,,=,7,=y,7= 7 0x7

# ---- places ----

is "$(shown 'text:arg0:a i4:arg1:b' '=x 7')" '("x", 7)' 'two arguments'
is "$(shown 'i4:arg1:b text:arg0:a' '7 =x')" '("x", 7)' 'in the order of their places'
is "$(shown 'i4:arg0:a i4:arg3:b' '1 2')" '(1, ..., 2)' 'some between are not known'
is "$(shown 'i4:arg1:b' '1')" '(..., 1)' 'and some before'
is "$(shown 'text:arg0:a i4:arg1:b:m' '=x 7')" '("x", 7, ...)' 'there are more'
is "$(shown 'p8:arg0:at i4:arg0:x i4:arg0:y i4:arg1:n' '4096 1 2 3')" '(0x1000 {x=1, y=2}, 3)' 'what one points to'
is "$(shown 'u4:-:tid i4:arg0:a' '17 1')" '(1) tid=17' 'another value has its name'
is "$(shown 'i4:arg0:a i4:arg1:b' '-1 -1')" '(-1, -1)' 'two of them in a word that is all ones'
is "$(shown 'i4:arg0:a i4:arg1:b u8:arg2:c' '0 0 0')" '(0, 0, 0)' 'zeros'
is "$(shown 'text:arg0:a i1:arg1:b text:arg2:c' 'fault 1 cut:=x')" '((fault), 1, "x"...)' 'states of some'
name=$(printf 'a\033[1mb')
is "$(shown "i4:-:$name" 7)" '() a?[1mb=7' 'a name does not steer the terminal'
is "$(shown "i4:arg0:a::7=$name" 7)" '(a?[1mb)' 'nor does the name of a number'
long=$(printf '%1902s' '' | tr ' ' x)
is "$(shown 'text:arg0:a i4:arg1:b' "=$long 7")" "(\"$long\", 7)" '239 words of values'
all=$(for i in $(seq 0 31); do printf ' u1:arg%d:a' "$i"; done)
is "$(shown "$all" "$(seq -s ' ' 1 32)")" "($(seq -s ', ' 1 32))" '32 values'

# ---- lines of calls ----

{
	start
	echo 'layout 1 entry 1 text:arg0:path i4:arg1:flags'
	echo 'layout 2 exit 1 fails=-1 i4:ret: errno4:errno:'
	echo 'layout 3 entry 2 i4:arg0:fd u8:arg2:size'
	echo 'layout 4 exit 2 fails=-1 i8:ret: errno4:errno: bytes:arg1:to:w'
	echo 'layout 5 tail 3 i4:-:x'
	echo 'layout 6 entry 3 i4:arg0:n'
	echo 'layout 7 unwind 4 i4:-:x'
	echo 'layout 8 entry 4 i4:arg0:n'
	echo 'layout 9 point 5 text:arg0:s'
	echo 'layout 10 exit 6 p8:ret:'
	echo 'layout 11 exit 7 p8:ret: errno4:errno:error'
	echo 'layout 12 exit 1 i8:ret:'
	cat <<-END
	thread 100 main
	values 1 1000 =/etc/hosts 0
	reserved - 1001 5 6 7
	late 12 1002
	values 2 1010 3 2
	values 1 1020 =/none 0
	given_up - 1021 0 0xffffffff
	values 2 1030 -1 2
	values 3 1040 3 100
	values 4 1050 4 0 61626364
	values 3 1060 3 100
	entry 8 1070
	exit 8 1080
	values 4 1090 2 0 cut:6162
	values 6 1100 1
	values 5 1110 9
	values 6 1120 1
	tail 3 1130
	values 8 1140 1
	values 7 1150 9
	values 9 1160 =hi
	entry 6 1170
	values 10 1180 0x1000
	entry 7 1190
	values 11 1200 0 12
	values 1 1210 =open 0
	entry 8 1220
	exit 8 1230
	unwind 1 1240
	values 2 1250 5 0
	END
} >"$tmp/lines.script"
write_trace lines <"$tmp/lines.script"
cat >"$tmp/dumped" <<'END'
entry f1("/etc/hosts", 0)
exit f1 = 3
entry f1("/none", 0)
exit f1 = -1 ENOENT (No such file or directory)
entry f2(3, ..., 100)
exit f2(..., "abcd") = 4
entry f2(3, ..., 100)
entry f8
exit f8
exit f2(..., "ab"...) = 2
entry f3(1)
tail f3 = (tail call) x=9
entry f3(1)
tail f3
entry f4(1)
unwind f4 = (unwound) x=9
entry f5("hi") entry only
entry f6
exit f6 = 0x1000
entry f7
exit f7 = NULL error=ENOMEM (Cannot allocate memory)
entry f1("open", 0)
entry f8
exit f8
unwind f1
exit f1 = 5
END
# dumped DIR
dumped() {
	"$XAUDIT" dump "$1" 2>&1 | sed 's,^[0-9.]* *[0-9]*  \([a-z]*\)  *-  ,\1 ,; s,  /usr/lib/libfoo.so,,; s,  *, ,g'
}
is "$(dumped "$tmp/lines")" "$(cat "$tmp/dumped")" 'dump: each event with its values'
cat >"$tmp/replayed" <<'END'
| f1("/etc/hosts", 0) = 3;
| f1("/none", 0) = -1 ENOENT (No such file or directory);
| f2(3, "abcd", 100) = 4;
| f2(3, ..., 100) {
|   f8();
| } /* f2(3, "ab"..., 100) = 2 */
| f3(1) = (tail call) x=9;
| f3(1) = (tail call);
| f4(1) = (unwound) x=9;
| f5("hi") = ?; /* entry only */
| f6() = 0x1000;
| f7() = NULL error=ENOMEM (Cannot allocate memory);
| f1("open", 0) {
|   f8();
| } /* f1 = (unwound) */
| /* end of f1, whose call is not in the trace */
END
# replayed DIR
replayed() {
	"$XAUDIT" replay "$@" 2>&1 | sed -n 's/^[^|]*\] |/|/p'
}
is "$(replayed "$tmp/lines")" "$(cat "$tmp/replayed")" 'replay: each call with its values'
is "$(replayed --from=1065ns "$tmp/lines" | head -1)" '| f2(3, ..., 100) { /* began 0.005 us before */' \
	'what began before has its arguments'

# ---- chunks of all kinds, and processes ----

for kind in stream ring both; do
	sed "s/^thread 100 main/&\\n$kind/" "$tmp/lines.script" | write_trace $kind
	is "$(replayed "$tmp/$kind")" "$(cat "$tmp/replayed")" "$kind: the same"
done
# Dense words take less only where there are many events.
sed 's/^thread 100 main/&\nstream\ndense/
	s/^values 2 1250 5 0/&\nloop 500 10\nentry 9 1300\nexit 9 1305\nend/' "$tmp/lines.script" | write_trace dense
is "$(replayed "$tmp/dense" | grep -v f9)" "$(cat "$tmp/replayed")" 'dense: the same'
is "$(od -An -tu2 -j4 -N2 "$tmp/dense/p100/t0" | tr -d ' ')" 3 'and the words are dense'
"$XAUDIT" pack -o "$tmp/lines.pack" "$tmp/dense" 2>"$tmp/err"
is "$(replayed "$tmp/lines.pack" | grep -v f9)" "$(cat "$tmp/replayed")" 'packed: the same'
# A child has the layouts that its parent had when it was forked, and more.
sed 's/^layout 11/fork 200\n&/; /^thread/,$d' "$tmp/lines.script" >"$tmp/forked.script"
cat >>"$tmp/forked.script" <<'END'
child 200 flags=1
pair first 0 0 5
pair last 9000 9000 5
layout 11 entry 9 i4:arg0:child
thread 200 child
values 1 1000 =/etc/hosts 0
values 2 1010 3 2
values 11 1020 7
exit 9 1030
END
write_trace forked <"$tmp/forked.script"
is "$(replayed "$tmp/forked")" '| f1("/etc/hosts", 0) = 3;
| f9(7);' 'a forked process has the layouts of its parent, and its own'

# ---- JSON ----

is "$("$XAUDIT" dump --format=json "$tmp/lines" | grep -o '"values":.*' | sed -n '6p')" \
	'"values":[{"name":"","role":"result","type":"signed","state":"whole","value":4,"shown":"4"},'\
'{"name":"","role":"errno","type":"errno","state":"whole","value":0,"shown":"(errno 0)"},'\
'{"name":"to","role":"argument","place":1,"type":"bytes","state":"whole","value":"YWJjZA==","shown":"\"abcd\""}]}' \
	'dump as JSON'
{
	start
	echo 'layout 1 entry 1 text:arg0:a d8:arg1:b f4:arg2:c p8:arg3:d text:arg4:e u8:arg5:f:f:1=ONE'
	echo 'thread 100 main'
	echo 'values 1 1000 2241001bff42 nan 0.5 0x10 fault 1'
} | write_trace json
is "$("$XAUDIT" dump --format=json "$tmp/json" | grep -o '"values":.*')" \
	'"values":[{"name":"a","role":"argument","place":0,"type":"text","state":"whole",'\
'"value":"\"A\u0000\u001b\ufffdB","shown":"\"\\\"A\\0\\33\\377B\""},'\
'{"name":"b","role":"argument","place":1,"type":"double","state":"whole","value":null,"shown":"nan"},'\
'{"name":"c","role":"argument","place":2,"type":"float","state":"whole","value":0.5,"shown":"0.5"},'\
'{"name":"d","role":"argument","place":3,"type":"pointer","state":"whole","value":"0x10","shown":"0x10"},'\
'{"name":"e","role":"argument","place":4,"type":"text","state":"fault","value":null,"shown":"(fault)"},'\
'{"name":"f","role":"argument","place":5,"type":"unsigned","state":"whole","value":1,"shown":"ONE"}]}' \
	'numbers that JSON has not are null, and texts are whole, also behind a NUL'

# ---- questions ----

# 100 calls of f1 with five paths, one of which is slow; f2, with a result alone, is called in the others.
{
	start
	echo 'layout 1 entry 1 text:arg0:path'
	echo 'layout 2 exit 1 fails=-1 i4:ret: errno4:errno:'
	echo 'layout 3 exit 2 u4:ret:got u4:-:left'
	echo 'thread 100 main'
	for i in $(seq 0 99); do
		echo "values 1 $((10000 + i * 100)) =/tmp/$((i % 5))"
		echo "entry 2 $((10010 + i * 100))"
		echo "values 3 $((10020 + i * 100)) $((i % 2)) 7"
		echo "values 2 $((10030 + i * 100)) $((i % 10 ? 3 : -1)) 13"
	done
	echo 'values 1 30000 =/tmp/slow'
	echo 'values 2 40000 -1 4'
	echo 'entry 2 41000'
	echo 'values 3 42000 5 7'
} | write_trace asked
# by NAME [ARG]...: calls, total, self, value and function of each row.
by() {
	name=$1
	shift
	"$XAUDIT" report --by-value="$name" --columns=calls,total,self "$@" "$tmp/asked" 2>&1 |
		sed -n 's/^ *\([0-9]* .*\) \[libfoo.so\]$/\1/p' | sed 's/  */ /g'
}
is "$(by path)" '1 10.000 us 10.000 us "/tmp/slow": f1
20 0.600 us 0.400 us "/tmp/0": f1
20 0.600 us 0.400 us "/tmp/1": f1
20 0.600 us 0.400 us "/tmp/2": f1
20 0.600 us 0.400 us "/tmp/3": f1
20 0.600 us 0.400 us "/tmp/4": f1' 'report: calls and times by an argument'
is "$(by arg1)" "$(by path)" 'by its place'
is "$(by ret)" '11 10.300 us 10.200 us -1: f1
90 2.700 us 1.800 us 3: f1
1 1.000 us 1.000 us 5: f2
50 0.500 us 0.500 us 0: f2
50 0.500 us 0.500 us 1: f2' 'by the result, of each function that has one'
is "$(by errno --sort=calls)" '10 0.300 us 0.200 us EACCES (Permission denied): f1
1 10.000 us 10.000 us EINTR (Interrupted system call): f1' 'by the error, where it counts'
is "$(by left --from=30us)" '1 1.000 us 1.000 us 7: f2' 'by another value, of a part of the trace'
is "$("$XAUDIT" report --by-value=got --format=json "$tmp/asked" | grep -o '"value":.*"total_ns":[0-9]*')" \
	'"value":"5","function":"f2","library":"/usr/lib/libfoo.so","calls":1,"total_ns":1000
"value":"0","function":"f2","library":"/usr/lib/libfoo.so","calls":50,"total_ns":500
"value":"1","function":"f2","library":"/usr/lib/libfoo.so","calls":50,"total_ns":500' 'as JSON'
"$XAUDIT" report --by-value=none "$tmp/asked" >"$tmp/out" 2>&1
is "$? $(cat "$tmp/out")" "1 xaudit report: no call with a value 'none' is in the trace" \
	'a value that no call has is refused'
# ---- graph: the values of each path ----

# graph ARG...: rows without the head.
graph() {
	"$XAUDIT" graph "$@" 2>&1 | sed '/^ *Time /d; /^====/d; s/ [[]libfoo.so]$//'
}
is "$(graph --by-value=path "$tmp/asked" --min=0 | sed '/^$/,$d')" "$(cat <<'END'
  13.000 us   92.9 %    12.000 us         101  f1
  10.000 us   71.4 %    10.000 us           1    path = "/tmp/slow"
   0.600 us    4.3 %     0.400 us          20    path = "/tmp/0"
   0.600 us    4.3 %     0.400 us          20    path = "/tmp/1"
   0.600 us    4.3 %     0.400 us          20    path = "/tmp/2"
   0.600 us    4.3 %     0.400 us          20    path = "/tmp/3"
   0.600 us    4.3 %     0.400 us          20    path = "/tmp/4"
   1.000 us    7.1 %     1.000 us         100    f2
   1.000 us    7.1 %     1.000 us           1  f2
END
)" 'graph: calls and times of each path by an argument'
is "$(graph --by-value=path "$tmp/asked" --min=5% | grep path)" \
	"  10.000 us   71.4 %    10.000 us           1    path = \"/tmp/slow\"
   3.000 us   21.4 %     2.000 us         100    path: 5 others" 'those with less time are added up'
is "$(graph --by-value=got f2 "$tmp/asked" --min=0 | sed '/^$/,$d')" "$(cat <<'END'
   1.000 us   50.0 %            -         100    / f1
   2.000 us  100.0 %     2.000 us         101  f2
   1.000 us   50.0 %     1.000 us           1    got = 5
   0.500 us   25.0 %     0.500 us          50    got = 0
   0.500 us   25.0 %     0.500 us          50    got = 1
END
)" 'of a function, those of all its paths together'
is "$("$XAUDIT" graph --by-value=ret --format=json --min=8% f1 "$tmp/asked" |
	grep -o '"value":.*"time_ns":[0-9]*\|"others":.*')" '"value":"-1","calls":11,"time_ns":10300
"value":"3","calls":90,"time_ns":2700' 'in JSON'
is "$("$XAUDIT" graph --by-value=ret --format=json --min=0 "$tmp/asked" | grep -c '"value":')" 5 'of all paths'
{
	start
	echo 'layout 1 entry 1 i4:arg0:n'
	echo 'thread 100 main'
	for i in $(seq 14); do
		echo "values 1 $((1000 + i * 10000)) $i"
		echo "exit 1 $((1000 + i * 10000 + i * 100))"
	done
} | write_trace many
is "$(graph --by-value=n "$tmp/many" --min=0 | sed 's/^ *\([0-9.]* us\) .* us *\([0-9]*\)  /\1 \2/')" "$(cat <<'END'
10.500 us 14f1
1.400 us 1  n = 14
1.300 us 1  n = 13
1.200 us 1  n = 12
1.100 us 1  n = 11
1.000 us 1  n = 10
0.900 us 1  n = 9
0.800 us 1  n = 8
0.700 us 1  n = 7
0.600 us 1  n = 6
0.500 us 1  n = 5
1.000 us 4  n: 4 others
END
)" 'ten have a line, the others one'
is "$("$XAUDIT" graph --by-value=n --format=json "$tmp/many" |
	sed -n 's/.*\({"value":null.*"time_ns":[0-9]*\).*\(,"others.*}\)]},*/\1\2/p')" \
	'{"value":null,"calls":4,"time_ns":1000,"others":4}' 'in JSON, too'
"$XAUDIT" graph --by-value=none "$tmp/asked" >"$tmp/out" 2>&1
is "$? $(cat "$tmp/out")" "1 xaudit graph: no call with a value 'none' is in the trace" 'one that no call has'
"$XAUDIT" graph --by-value=path --format=dot "$tmp/asked" >"$tmp/out" 2>&1
is "$? $(wc -l <"$tmp/out")" '2 1' 'for pictures there are none'

# ---- slow and outliers ----

"$XAUDIT" slow -n 2 f1 "$tmp/asked" >"$tmp/out" 2>&1
is "$(sed -n '/times the median/{n;p}' "$tmp/out")" '   f1("/tmp/slow") = -1 EINTR (Interrupted system call)
   f1("/tmp/0") = -1 EACCES (Permission denied)' 'slow has the values of the longest calls'
is "$("$XAUDIT" slow -n 1 --format=json f1 "$tmp/asked" | grep -o '"values":"[^,]*')" \
	'"values":"(\"/tmp/slow\") = -1 EINTR (Interrupted system call)"' 'in JSON, too'
is "$("$XAUDIT" slow -n 1 f1 "$tmp/lines" | grep -c '^   f1("open", 0) = (unwound)')" 1 'and how one has ended'
is "$("$XAUDIT" outliers "$tmp/asked" 2>&1 | sed -n 's/.*  \(f.*\)/\1/p')" \
	'f1("/tmp/slow") = -1 EINTR (Interrupted system call) [libfoo.so]
f2() = 5 left=7 [libfoo.so]' 'outliers has those of the longest call of each function'
is "$("$XAUDIT" outliers -n 1 --format=json "$tmp/asked" | grep -o '"values":.*')" \
	'"values":"(\"/tmp/slow\") = -1 EINTR (Interrupted system call)"}' 'in JSON, too'

# ---- without ----

# without TRACE COMMAND [ARG]...: what it shows of calls without their values.
without() {
	trace=$tmp/$1 command=$2
	shift 2
	"$XAUDIT" "$command" --no-values "$@" "$trace" 2>&1 | sed "s,$trace,DIR," >"$tmp/without"
	"$XAUDIT" "$command" "$@" "$trace.bare" 2>&1 | sed "s,$trace.bare,DIR," >"$tmp/bare"
	is "$(diff "$tmp/without" "$tmp/bare")" '' "$command $*: without values, as of a trace that has none"
	is "$(grep -c 'hosts\|/slow\|ENOENT\|EINTR' "$tmp/without")" 0 "$command $*: no value is shown"
	ok "$command $*: calls are" grep -q f1 "$tmp/without"
}
for trace in "$tmp/lines" "$tmp/asked"; do
	"$XAUDIT" pack --no-values -o "$trace.bare" "$trace" >"$tmp/out" 2>&1
done
without lines dump
without lines dump --format=json
without lines replay
without lines slow f1
without lines slow --format=json f1
without asked slow f1
without asked outliers
without asked outliers --format=json

# ---- damage ----

# cut_at LAYOUT WORD...: the payload is these words.
cut_at() {
	layout=$1
	shift
	{ start; echo "layout 1 entry 1 $layout"; echo 'thread 100 main'; echo "valued 1 1000 $*"; } | write_trace cut
	"$XAUDIT" dump "$tmp/cut" 2>&1 | sed -n 's,^.*  f1\(.*\)  /usr/lib/libfoo.so$,\1,p'
}
is "$(cut_at 'i4:arg0:a u8:arg1:b' 0xffffffff)" '(-1, (damaged))' 'a number that is not whole'
is "$(cut_at 'text:arg0:a i4:arg1:b' 0x6463626100ff)" '((damaged), (damaged))' 'a text that says it is longer'
is "$(cut_at 'i4:arg0:a')" '((damaged))' 'no payload at all'
is "$(cut_at 'i4:arg0:a u3:arg1:b' 7)" '(7)' 'what is behind a value of an impossible size is not known'
is "$(cut_at 'i4:arg0:a 99:arg1:b' 7)" '(7)' 'nor behind one of a type that there is not'
is "$({ start; echo 'layout 1 entry 1 i4:arg0:a i4:arg1:b'; echo 'thread 100 main'
	echo "valued $((1 << 19 | 1)) 1000 0x0000000700000905"; } | write_trace states
	"$XAUDIT" dump "$tmp/states" 2>&1 | sed -n 's,^.*  f1\(.*\)  /usr/lib/libfoo.so$,\1,p')" \
	'((damaged), (damaged))' 'states that there are not'
done_testing
