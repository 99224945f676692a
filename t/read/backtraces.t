#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Backtraces of traces that are written by hand: a chunk tells once what a key stands for, and all events of that chunk
# with the key have it, but those of another chunk don't. Equal backtraces are one, over chunks, threads, and where the
# library was mapped. What can't be is damage, and is not shown.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/written.sh"

E=0x2000000000000000 # CHAIN_END
X=0x8000000000000000 # CHAIN_EXACT

# What begins a process that has mapped two libraries.
libraries='process p100 flags=1 clock=mono
pair first 1000 1000 5
pair last 9000 9000 5
object 1 /usr/lib/libfoo.so
object 2 /usr/lib/libbar.so build=0011223344
function 1 0 1 0x100 foo
load 1 1 1000 0x10000 100
load 2 2 1000 0x40000 100'

# Key 7 is main < start of libbar; key 9 the same after libbar was mapped elsewhere; key 8 has the frame of a signal,
# code without an object, and ends for reason 2.
cat >"$tmp/good.script" <<END
$libraries
unload 2 4000 100
load 3 2 4100 0x70000 100
layout 1 entry 1 u8:arg0:n stack:-:backtrace
thread 100 main
values 1 1000 5 7 chain 0x40110 0x40220 $E
exit 1 1010
values 1 1020 6 7
exit 1 1040
values 1 1050 6 0
exit 1 1051
values 1 1060 6 8 chain $(printf 0x%x $((0x4000000000000000 + 0x40110))) 0x8000000000040300 0x123456 0x2000000000000002
exit 1 1070
values 1 1080 6 77
exit 1 1090
chunk 2000
values 1 2010 5 8
exit 1 2020
values 1 2030 5 7 chain 0x40110 0x40220 $E
exit 1 2060
thread 101 second
values 1 3000 5 7 chain 0x40110 0x40220 $E
exit 1 3001
values 1 5000 5 9 chain 0x70110 0x70220 $E
exit 1 5002
values 1 5010 5 7 chain 0x40110 0x40220 $E
exit 1 5020
END
write_trace good <"$tmp/good.script"

"$XAUDIT" dump "$tmp/good" >"$tmp/dump" 2>"$tmp/err"
is "$?:$(cat "$tmp/err")" '0:' 'a trace with backtraces is not damaged'
is "$(grep -c ' > 0x110 \[libbar.so\]$' "$tmp/dump")" 6 'six events have libbar as caller, or by its key alone'
is "$(grep -c ' > 0x220 \[libbar.so\]$' "$tmp/dump")" 5 'five of these have the other frame'
is "$(sed -n 's/^ *> //p' "$tmp/dump" | sed -n 5,8p)" '0x110 [libbar.so]
0x300 [libbar.so] (signal)
0x123456
(the backtrace ends here: code without unwind information, which keeps no frame pointer)' \
	'a frame by its pointer, one of a signal, code of no object, and why there are no more'
is "$(grep -c ' > 0x40110$' "$tmp/dump")" 1 'where the library was, before it was mapped elsewhere, nothing is'

is "$("$XAUDIT" report --by=stack --columns=calls,total --sort=calls --format=json "$tmp/good" |
	grep -o '"number":[0-9]*\|"calls":[0-9]*\|"total_ns":[0-9]*' | tr '\n' ' ')" \
	'"number":0 "calls":5 "total_ns":63 "number":1 "calls":1 "total_ns":10 "number":2 "calls":1 "total_ns":10 ' \
	'equal backtraces are one: over chunks, threads, and mappings'
is "$("$XAUDIT" report --by=stack --columns=calls,total --sort=calls "$tmp/good" | sed -n 3,5p | sed 's/^ *//')" \
	'5     0.063 us  foo [libfoo.so]
called by 0x110 [libbar.so]
called by 0x220 [libbar.so]' 'as a table'
write_trace other <<END
process p300 flags=1 clock=mono
pair first 1000 1000 5
pair last 9000 9000 5
object 1 /usr/lib/libbar.so build=0011223344
object 2 /usr/lib/libfoo.so
function 2 0 1 0x100 foo
load 1 2 1000 0x10000 100
load 2 1 1000 0x90000 100
layout 1 entry 1 stack:-:backtrace
thread 300 main
values 1 1000 6 chain 0x90220 0x90110 $E
exit 1 1001
values 1 1010 7 chain 0x90110 0x90220 $E
exit 1 1110
END
is "$("$XAUDIT" report --by=stack --columns=calls,total --sort=calls --format=json "$tmp/good" "$tmp/other" |
	grep -o '"calls":[0-9]*\|"total_ns":[0-9]*' | tr '\n' ' ')" \
	'"calls":6 "total_ns":163 "calls":1 "total_ns":10 "calls":1 "total_ns":10 "calls":1 "total_ns":1 ' \
	'so are those of several traces'
is "$("$XAUDIT" report --by=stack --from=15ns --columns=calls --format=json "$tmp/good" | grep -o '"calls":[0-9]*' |
	tr '\n' ' ')" '"calls":4 "calls":1 "calls":1 ' 'a time that begins in the middle of a chunk'
is "$("$XAUDIT" dump --format=json "$tmp/good" | grep -c '"type":"stack","state":"damaged","value":null')" 2 \
	'keys that their chunk does not tell of are not known'
is "$("$XAUDIT" dump --format=json "$tmp/good" | sed -n 's/.*"frames":\(\[.*\]\),"end":"\([^"]*\)".*/\1 \2/p' |
	sed -n 3p)" '[{"function":null,"library":"/usr/lib/libbar.so","offset":"0x110","address":"0x40110",'\
'"by_frame_pointer":true},{"function":null,"library":"/usr/lib/libbar.so","offset":"0x300","address":"0x40300",'\
'"exact":true},{"function":null,"library":null,"address":"0x123456"}] '\
'code without unwind information, which keeps no frame pointer' 'frames in JSON'
is "$("$XAUDIT" replay "$tmp/good" | grep -c 'called by 0x110 \[libbar.so\] \*/')" 6 'replay has them as remarks'
is "$("$XAUDIT" replay --no-values "$tmp/good" | grep -c 'called by')" 0 '... but for --no-values'
is "$("$XAUDIT" slow -n 1 foo "$tmp/good" | sed -n 's/^   called by //p')" '0x110 [libbar.so]
0x220 [libbar.so]' 'slow tells who called'

# The same, dense and packed.
sed 's/^process .*/&\ndense/' "$tmp/good.script" | write_trace dense
for form in dense good; do
	"$XAUDIT" dump "$tmp/$form" >"$tmp/out" 2>&1
	ok "$form: says the same" cmp "$tmp/dump" "$tmp/out"
	bounded 60 "$XAUDIT" pack -o "$tmp/$form.pack" "$tmp/$form" >"$tmp/out" 2>&1
	"$XAUDIT" dump "$tmp/$form.pack" >"$tmp/out" 2>&1
	ok "$form: so does it packed" cmp "$tmp/dump" "$tmp/out"
	bounded 60 "$XAUDIT" unpack -o "$tmp/$form.unpacked" "$tmp/$form.pack" >"$tmp/out" 2>&1
	"$XAUDIT" dump "$tmp/$form.unpacked" >"$tmp/out" 2>&1
	ok "$form: and unpacked" cmp "$tmp/dump" "$tmp/out"
done

# In a ring the first chunk is overwritten. The second one tells by itself what its events have.
sed 's/^thread .*/&\nring/' "$tmp/good.script" | write_trace ring
"$XAUDIT" dump "$tmp/ring" 2>/dev/null | awk '$2 == 100 && $3 == "entry" { print $1, $5 } /^0/ { own = $2 == 100 }
	own && $1 == ">" { print $2, $3 }' >"$tmp/out"
is "$(cat "$tmp/out")" '0.000002010 foo(5)
0.000002030 foo(5)
0x110 [libbar.so]
0x220 [libbar.so]' 'a chunk of a ring is read alone'

# When the program itself is closed, the process exits, and nothing is unmapped any more: destructors go on. Nor was
# what other namespaces had, which were closed right before.
write_trace exits <<END
process p100 flags=1 clock=mono
pair first 1000 1000 5
pair last 9000 9000 8005
object 1 /usr/bin/app flags=1
object 2 /usr/lib/libfoo.so
object 3 /usr/lib/libbar.so
function 1 0 2 0x100 foo
load 1 1 1000 0x10000 100
load 2 2 1000 0x40000 100
load 3 3 1000 0x70000 100
load 4 3 1000 0x80000 100 1
load 5 3 1000 0x90000 100 1
layout 1 entry 1 stack:-:backtrace
unload 3 4000 100
unload 4 4010 100
load 6 3 4020 0xa0000 100
unload 5 4900 100
unload 1 5000 100
unload 2 6000 100
thread 100 main
values 1 4500 7 chain 0x70110 0x10110 $E
exit 1 4510
values 1 5500 8 chain 0x40110 0x10110 $E
exit 1 5510
values 1 6500 8 chain 0x40110 0x10110 $E
exit 1 6510
values 1 6600 9 chain 0x80110 0x90110 $E
exit 1 6610
END
is "$("$XAUDIT" dump "$tmp/exits" 2>&1 | awk '$1 == ">" { print $2, $3 }' | tr '\n' ';')" \
	"0x70110 ;0x110 [app];$(printf '0x110 [%s];' libfoo.so app libfoo.so app)0x80110 ;0x110 [libbar.so];" \
	'callers at the exit'

# What a process has mapped is what its parents had when it was forked, and what it has mapped itself.
write_trace forked <<END
process p100 flags=1 clock=mono
pair first 1000 1000 5
pair last 9000 9000 8005
object 1 /usr/lib/libfoo.so
object 2 /usr/lib/libbar.so build=0011223344
function 1 0 1 0x100 foo
load 1 1 1000 0x10000 100
load 2 2 1000 0x40000 100
layout 1 entry 1 stack:-:backtrace
fork 200
unload 2 4000 100
load 3 2 4100 0x70000 100
thread 100 main
values 1 5000 7 chain 0x40110 $E
exit 1 5010
values 1 5020 8 chain 0x70110 $E
exit 1 5030

child 200 flags=1 ppid=100
pair first 1000 1000 5
pair last 9000 9000 8005
load 4 2 4200 0x90000 200
fork 300
unload 4 4300 200
thread 200 child
values 1 5100 7 chain 0x40110 $E
exit 1 5110
values 1 5120 9 chain 0x90110 $E
exit 1 5130

child 300 flags=1 ppid=200
pair first 1000 1000 5
pair last 9000 9000 8005
thread 300 grandchild
values 1 5200 7 chain 0x40110 $E
exit 1 5210
values 1 5220 9 chain 0x90110 $E
exit 1 5230
END
"$XAUDIT" dump "$tmp/forked" 2>&1 | awk '$3 == "entry" { tid = $2 } $1 == ">" { print tid, $2, $3 }' >"$tmp/out"
is "$(cat "$tmp/out")" '100 0x40110 
100 0x110 [libbar.so]
200 0x110 [libbar.so]
200 0x90110 
300 0x110 [libbar.so]
300 0x110 [libbar.so]' 'forked processes'

# More places than texts of them are kept, each twice.
awk -v e=$E 'BEGIN {
	print "process p100 flags=1 clock=mono\npair first 1000 1000 5\npair last 900000 900000 5"
	print "object 1 /usr/lib/libfoo.so\nfunction 1 0 1 0x100 foo\nload 1 1 1000 0x10000 100"
	print "layout 1 entry 1 stack:-:backtrace\nthread 100 main"
	for (i = 0; i < 20000; i++)
		printf "values 1 %d %d chain 0x%x %s\nexit 1 %d\n", 1000 + i * 2, 1 + i % 10000, 65792 + i % 10000, e,
			1001 + i * 2
}' | write_trace places
awk 'BEGIN { for (i = 0; i < 20000; i++) printf "> 0x%x [libfoo.so]\n", 256 + i % 10000 }' >"$tmp/expected"
"$XAUDIT" dump "$tmp/places" | sed -n 's/^ *>/>/p' >"$tmp/out"
ok '10 000 places have their texts' cmp "$tmp/expected" "$tmp/out"

# Words that can't be a backtrace.
for wrong in '7 chain 0x40110 0x40220' "7 chain $E 0x40110 $E" "0 chain 0x40110 $E" \
	"7 chain $(yes 0x40110 | head -n 101 | tr '\n' ' ') $E"; do
	write_trace wrong <<-END
	process p100 flags=1 clock=mono
	pair first 1000 1000 5
	pair last 9000 9000 5
	object 1 /usr/lib/libfoo.so
	function 1 0 1 0x100 foo
	layout 1 entry 1 u8:arg0:n stack:-:backtrace
	thread 100 main
	values 1 1000 5 $wrong
	exit 1 1010
	values 1 1020 6 7
	exit 1 1040
	END
	"$XAUDIT" dump "$tmp/wrong" >"$tmp/out" 2>"$tmp/err"
	is "$? $(grep -c 'a backtrace in an impossible form' "$tmp/err") $(grep -c ' > ' "$tmp/out") $(grep -c foo \
		"$tmp/out")" '1 1 0 4' "$(echo "$wrong" | cut -c 1-40): is damage, and calls stay"
	rm -rf "$tmp/wrong"
done

# ---- custom events ----

# Keys are one with those of values. The second event in each chunk has the key alone; the last one has no key.
cat >"$tmp/custom.script" <<END
$libraries
layout 1 entry 1 u8:arg0:n stack:-:backtrace
thread 100 main
custom 0 1000 =12345678 chain 7 0x40110 0x40220 $E
custom 1 1010 =a_mark chain 7
values 1 1020 6 7
exit 1 1021
values 1 1030 6 8 chain 0x40330 $E
exit 1 1031
custom 1 1040 chain 8
custom 1 1050 4096*41 chain 8
custom 1 1060 4096*41 chain 9 $(yes 0x40440 | head -n 100 | tr '\n' ' ') $E
custom 1 1070 =none
unfinished 1 1080 =no chain 10 0x40110 $E
chunk 2000
custom 1 2010 =later chain 8
custom 1 2020 =later chain 7 0x40110 0x40220 $E
custom 1 2030 =later chain 7
END
write_trace custom <"$tmp/custom.script"
"$XAUDIT" dump "$tmp/custom" >"$tmp/custom.dump" 2>"$tmp/err"
is "$?:$(cat "$tmp/err")" '0:' 'a trace with backtraces of custom events is not damaged'
awk '$3 == "custom" || $3 == "entry" { if (line) print line; line = $1 } $1 == ">" { line = line " " $2; n[$2]++ }
	END { print line }' "$tmp/custom.dump" | sed 's/\( 0x440\)* 0x440$/ often/' >"$tmp/out"
is "$(cat "$tmp/out")" '0.000001000 0x110 0x220
0.000001010 0x110 0x220
0.000001020 0x110 0x220
0.000001030 0x330
0.000001040 0x330
0.000001050 0x330
0.000001060 often
0.000001070
0.000002010
0.000002020 0x110 0x220
0.000002030 0x110 0x220' 'custom events, and calls, have what their chunk tells of their keys'
is "$(grep -c '> 0x440 \[libbar.so\]$' "$tmp/custom.dump")" 100 'a hundred callers'
is "$("$XAUDIT" dump --format=json "$tmp/custom" | jq -c 'select(.event == "custom") | [.values[]? | .name, .state,
	(.value.frames // [] | length)]' | tr '\n' ' ')" '["backtrace","whole",2] ["backtrace","whole",2] '\
'["backtrace","whole",1] ["backtrace","whole",1] ["backtrace","whole",100] [] ["backtrace","damaged",0] '\
'["backtrace","whole",2] ["backtrace","whole",2] ' 'in JSON it is the only value'
is "$("$XAUDIT" replay "$tmp/custom" | sed -n 's/^.*| *\(.*a mark.*\|.*called by 0x110.*\|.*by 0x220.*\)/\1/p' |
	sed -n 3,5p)" '/* mark: "a mark" (6 bytes) */
/* called by 0x110 [libbar.so] */
/* by 0x220 [libbar.so] */' 'replay has them as remarks below the event'
is "$("$XAUDIT" replay --no-values "$tmp/custom" | grep -c 'called by')" 0 '... but for --no-values'
"$XAUDIT" dump --no-values "$tmp/custom" >"$tmp/bare"
is "$(grep -c ' > ' "$tmp/bare") $(grep -c custom "$tmp/bare")" '0 9' 'so has dump'
"$XAUDIT" info "$tmp/custom" >"$tmp/out"
is "$(grep '^Custom\|^Unfinished' "$tmp/out" | tr -s ' ' | tr '\n' ' ')" \
	'Custom 9 events, 8225 bytes of data Unfinished 1 custom events ' 'the unfinished one is counted'
sed 's/^process .*/&\ndense/' "$tmp/custom.script" | write_trace custom-dense
for form in custom custom-dense; do
	"$XAUDIT" dump "$tmp/$form" >"$tmp/out" 2>&1
	ok "$form: says the same" cmp "$tmp/custom.dump" "$tmp/out"
	bounded 60 "$XAUDIT" pack -o "$tmp/$form.pack" "$tmp/$form" >"$tmp/out" 2>&1
	"$XAUDIT" dump "$tmp/$form.pack" >"$tmp/out" 2>&1
	ok "$form: so does it packed" cmp "$tmp/custom.dump" "$tmp/out"
	rm -f "$tmp/$form.pack"
	bounded 60 "$XAUDIT" pack --no-values -o "$tmp/$form.pack" "$tmp/$form" >"$tmp/out" 2>&1
	"$XAUDIT" dump --no-values "$tmp/$form.pack" >"$tmp/out" 2>&1
	ok "$form: without values the events are all there" cmp "$tmp/bare" "$tmp/out"
	"$XAUDIT" dump "$tmp/$form.pack" >"$tmp/out" 2>&1
	is "$(grep -c ' > ' "$tmp/out")" 0 "$form: and no backtrace is"
	bounded 60 "$XAUDIT" unpack -o "$tmp/$form.bare" "$tmp/$form.pack" >"$tmp/out" 2>&1
	is "$(od -An -v -tx8 "$tmp/$form.bare"/p100/* | grep -c 0000000000040110)" 0 "$form: not in any word either"
done
ok 'as it was before' test "$(od -An -v -tx8 "$tmp/custom"/p100/* | grep -c 0000000000040110)" -gt 0

for wrong in '7 0x40110 0x40220' "7 $E 0x40110 $E" "0 0x40110 $E" \
	"7 $(yes 0x40110 | head -n 101 | tr '\n' ' ') $E"; do
	write_trace wrong <<-END
	process p100 flags=1 clock=mono
	pair first 1000 1000 5
	pair last 9000 9000 5
	thread 100 main
	custom 1 1000 =first chain $wrong
	custom 1 1010 =second chain 7
	END
	"$XAUDIT" dump "$tmp/wrong" >"$tmp/out" 2>"$tmp/err"
	is "$? $(grep -c 'a backtrace in an impossible form\|more words than a backtrace' "$tmp/err") $(grep -c ' > ' \
		"$tmp/out") $(grep -c 'first\|second' "$tmp/out")" '1 1 0 2' \
		"$(echo "$wrong" | cut -c 1-40): is damage, and custom events stay"
	rm -rf "$tmp/wrong"
done

# Two of them in a layout: what comes behind the first is not known.
write_trace two <<END
process p100 flags=1 clock=mono
pair first 1000 1000 5
pair last 9000 9000 5
object 1 /usr/lib/libfoo.so
function 1 0 1 0x100 foo
layout 1 entry 1 stack:-:backtrace stack:-:other
thread 100 main
values 1 1000 7 8 chain 0x40110 $E
exit 1 1010
END
"$XAUDIT" dump "$tmp/two" >"$tmp/out" 2>"$tmp/err"
is "$? $(grep -c 'a record contradicts itself' "$tmp/err") $(grep -c ' > ' "$tmp/out")" '1 1 0' \
	'a layout with two backtraces is damage'

# Names, by the symbols of a file with the trace's build-id, and of no other.
if command -v "${CC:-gcc}" >/dev/null 2>&1; then
	echo 'int inner(int a) { return a; } int outer(int a); int outer(int a) { return inner(a) + 1; }' \
		>"$tmp/bar.c"
	"${CC:-gcc}" -g -O0 -shared -fPIC -Wl,--build-id=0x0011223344556677 -o "$tmp/libbar.so" "$tmp/bar.c" ||
		bail 'no compiler'
	outer=$(nm "$tmp/libbar.so" | awk '$3 == "outer" { print $1 }')
	at=$(printf '0x%x' $((0x40000 + 0x$outer + 9)))
	for id in 0011223344556677 0011223344556678; do
		rm -rf "$tmp/named"
		write_trace named <<-END
		process p100 flags=1 clock=mono
		pair first 1000 1000 5
		pair last 9000 9000 5
		object 1 /usr/lib/libfoo.so
		object 2 $tmp/libbar.so build=$id
		function 1 0 1 0x100 foo
		load 2 2 1000 0x40000 100
		layout 1 entry 1 stack:-:backtrace
		thread 100 main
		values 1 1000 7 chain $at $E
		exit 1 1010
		END
		"$XAUDIT" replay --srcline "$tmp/named" | sed -n 's/.*called by \(.*\) \*\/$/\1/p' >"$tmp/$id"
		"$XAUDIT" report --by=stack --srcline "$tmp/named" | sed -n 's/^ *called by //p' >"$tmp/$id.report"
	done
	is "$(cat "$tmp/0011223344556677")" "outer+0x9 [libbar.so] $tmp/bar.c:1" 'a function of the file, and its line'
	rm -rf "$tmp/named"
	write_trace named <<-END
	process p100 flags=1 clock=mono
	pair first 1000 1000 5
	pair last 9000 9000 8005
	object 1 $tmp/libbar.so build=0011223344556677
	function 1 0 1 0x$(nm "$tmp/libbar.so" | awk '$3 == "inner" { print $1 }') inner
	load 1 1 1000 0x40000 100
	layout 1 entry 1 stack:-:backtrace
	thread 100 main
	loop 200 10
	entry 1 1000
	exit 1 1001
	end
	values 1 4000 7 chain $at $E
	exit 1 8000
	END
	for command in dump outliers 'slow inner'; do
		# shellcheck disable=SC2086 # words
		is "$("$XAUDIT" $command --srcline "$tmp/named" | grep -o '[a-z]*+0x9 .*')" \
			"outer+0x9 [libbar.so] $tmp/bar.c:1" "$command --srcline has the line of a caller"
	done
	is "$("$XAUDIT" dump --srcline "$tmp/named" | grep -c "entry .* inner.* $tmp/bar.c:1\$")" 201 \
		'dump --srcline has lines of functions'
	is "$("$XAUDIT" dump --srcline --format=json "$tmp/named" |
		grep -c '"source":"[^"]*bar.c","line":1,"address"')" 402 'also in JSON'
	is "$("$XAUDIT" outliers --srcline "$tmp/named" | grep -c "inner.* $tmp/bar.c:1\$")" 1 'so has outliers'
	is "$(cat "$tmp/0011223344556677.report")" "$(cat "$tmp/0011223344556677")" 'report has it, too'
	is "$(cat "$tmp/0011223344556678")" "$(printf '0x%x' $((0x$outer + 9))) [libbar.so]" \
		'another file today has no names'
fi
done_testing
