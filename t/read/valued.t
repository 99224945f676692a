#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Events with values are calls and ends like others: whatever counts and times calls says the same of a trace with
# values and of one without, plain, dense, in rings and packed, of forked processes, with words between that were never
# finished, and with payloads that came late, or never; of one whose values were left out, the same as of one that never
# had any. Values of an unknown layout, and of a chunk that ends among them, are damage.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/written.sh"

# Two scripts of the same calls: in the first, values have the calls of id 1 to 4 and the ends of 2, 3 and 5; of all
# sizes, and now and then words that were being written.
awk -v plain="$tmp/plain.script" -v valued="$tmp/valued.script" '
function both(line) { print line >plain; print line >valued }
function any(n) { return int(rand() * n) }
# An event; values: what layout it has, and how many bytes a text of it may have.
function event(type, id, time,    layout, text) {
	print type, id, time >plain
	if (any(30) == 0)
		print any(2) ? "reserved -" : "given_up -", time, "0 17 0xffffffffffffffff 0x20000002" >valued
	if (type " " id == "exit 4") {
		if (any(10) == 0)
			print "late 11", time >valued
		print "late 11", time, any(4) ? any(1000) : 0 >valued
		return
	}
	layout = layouts[type, id]
	if (!layout || any(5) < bare) {
		print type, id, time >valued
		return
	}
	text = "=" substr(letters, 1, any(40) ? any(20) : 1000 + any(900))
	if (any(6) == 0)
		text = "cut:" text
	else if (any(6) == 0)
		text = any(2) ? "fault" : "unread"
	print "values", layout, time, text, any(2) ? 4294967295 : any(1000), any(2) ? 0 : -1 >valued
}
function calls(events, ids,    depth, id, stack) {
	while (events-- > 0 || depth) {
		time += any(200) ? 1 + any(90) : 3000000000
		if (depth && (events <= 0 || any(2) || depth > 40)) {
			id = stack[depth--]
			event(any(9) ? "exit" : any(2) ? "tail" : "unwind", id, time)
		} else if (any(20) == 0) {
			event("point", 6, time)
		} else {
			stack[++depth] = id = 1 + any(ids)
			event("entry", id, time)
		}
	}
}
BEGIN {
	OFMT = CONVFMT = "%.0f"
	srand(4)
	bare = 1 # of five events that could have values
	while (length(letters) < 2000)
		letters = letters "abcdefghijklmnopqrstuvwxyz"
	both("process p100 chunk=65536 flags=1 clock=mono")
	both("pair first 1000 1000 1700000000000000000")
	both("pair last 9000000000000 9000000000000 1700009000000000000")
	both("object 1 /usr/lib/libfoo.so")
	for (id = 1; id <= 6; id++)
		both("function 1 0 " id " " id * 256 " foo_" id)
	both("load 1 1 1000 0x7f0000000000 100")
	n = split("entry 1 entry 2 entry 3 entry 4 exit 2 exit 3 exit 5 tail 2 unwind 3 point 6", word, " ")
	for (i = 1; i < n; i += 2) {
		layouts[word[i], word[i + 1]] = (i + 1) / 2
		print "layout", (i + 1) / 2, word[i], word[i + 1], "fails=-1 text:arg0:path u4:arg1:n i4:-:x" >valued
	}
	print "layout 11 exit 4 i8:ret:" >valued
	time = 2000
	both("thread 100 main")
	calls(3000, 5)
	both("thread 101 dense")
	both("stream")
	both("dense")
	bare = 4 # or dense words take more
	calls(45000, 5)
	bare = 1
	both("plain")
	both("thread 102 both")
	both("both")
	calls(3000, 5)
	both("fork 200")
	both("child 200 flags=1 ppid=100")
	both("pair first 1000 1000 1700000000000000000")
	both("pair last 9000000000000 9000000000000 1700009000000000000")
	both("thread 200 child")
	calls(2000, 5)
}' </dev/null
write_trace plain <"$tmp/plain.script"
write_trace valued <"$tmp/valued.script"
ok 'there are many events with values' test "$(grep -c ^values "$tmp/valued.script")" -gt 10000
"$XAUDIT" pack -o "$tmp/valued.pack" "$tmp/valued" 2>"$tmp/err"
is "$?$(cat "$tmp/err")" 0 'they are packed'
"$XAUDIT" unpack -o "$tmp/again" "$tmp/valued.pack" 2>"$tmp/err"
is "$?$(cat "$tmp/err")" 0 'and unpacked'
is "$(diff -r "$tmp/valued" "$tmp/again" 2>&1)" '' \
	'each byte comes back, also of dense words, which make_trace makes by other rules'
"$XAUDIT" pack -o "$tmp/again.pack" "$tmp/again" 2>"$tmp/err"
"$XAUDIT" unpack -o "$tmp/third" "$tmp/again.pack" 2>>"$tmp/err"
is "$(diff -r "$tmp/third" "$tmp/again" 2>&1)$(cat "$tmp/err")" '' 'and these come back, too'

"$XAUDIT" pack --no-values -o "$tmp/bare.pack" "$tmp/valued" 2>"$tmp/err" >"$tmp/out"
is "$?$(cat "$tmp/err")" 0 'they are packed without values'
is "$(ls -d "$tmp"/bare.*)" "$tmp/bare.pack" 'and no copy stays'
"$XAUDIT" unpack -o "$tmp/bare" "$tmp/bare.pack" 2>"$tmp/err"
is "$?$(cat "$tmp/err")" 0 'and unpacked'
ok 'texts of values are in the trace' test "$(cat "$tmp"/valued/p100/* | grep -ac abcdefgh)" -gt 100
is "$(cat "$tmp"/bare/p100/* | grep -ac abcdefgh)" 0 'none of them are in what was packed'
is "$(cat "$tmp"/bare/p100/* | grep -ac path)" 0 'nor are names of values'
"$XAUDIT" dump "$tmp/plain" >"$tmp/plain.out" 2>&1
"$XAUDIT" dump "$tmp/bare.pack" >"$tmp/bare.out" 2>&1
is "$? $(diff "$tmp/bare.out" "$tmp/plain.out" | head -5)" '0 ' 'each event is there, at its time, and no value'
ok 'of each thread' test "$(wc -l <"$tmp/bare.out")" -gt 25000

# same COMMAND...: it says the same of the traces.
same() {
	"$XAUDIT" "$@" "$tmp/plain" >"$tmp/plain.out" 2>&1
	for trace in valued valued.pack bare.pack; do
		"$XAUDIT" "$@" "$tmp/$trace" >"$tmp/valued.out" 2>&1
		is "$?" 0 "$*: $trace is read"
		is "$(sed "s,$tmp/$trace,$tmp/plain,g" "$tmp/valued.out" | diff - "$tmp/plain.out" | head -5)" '' \
			"$*: of $trace the same as of the calls without values"
	done
	ok "$*: says something" test -s "$tmp/plain.out"
}
same report -j1
same report -j2 --format=json
same report -j1 --from=40s --to=900s
same report -j1 --tid=101
same report --by=thread
same report --callers=foo_3
same graph
same stacks
same loads

"$XAUDIT" info "$tmp/plain" >"$tmp/plain.out" 2>&1
"$XAUDIT" info "$tmp/valued" >"$tmp/valued.out" 2>&1
is "$? $(grep -c 'events' "$tmp/valued.out")" "0 $(grep -c 'events' "$tmp/plain.out")" 'info reads them'

# ---- damage ----

start='process p100 chunk=65536 flags=1 clock=mono
object 1 /usr/lib/libfoo.so
function 1 0 1 0x100 foo
layout 1 entry 1 text:arg0:path u4:arg1:n
thread 100 main'
# damaged NAME OFFSET WHAT: report shows foo, and one line for the damage.
damaged() {
	"$XAUDIT" report "$tmp/$1" >"$tmp/out" 2>"$tmp/err"
	is "$? $(sed -n 's/^ *\([0-9]*\) .* foo .*/\1/p' "$tmp/out")" '1 2' "$1: what is whole is counted"
	is "$(cat "$tmp/err")" "xaudit: $tmp/$1/p100/meta: offset $2: $3; the rest of the trace was read" \
		"$1: and the damage is told"
}
# The record's chunk is in the upper half of the first place that is free.
write_trace unknown <<END
$start
values 1 1000 =hosts 7
exit 1 1010
valued 2 1020 5 6
values 1 1030 =hosts 7
exit 1 1040
END
at=$("$XAUDIT" report "$tmp/unknown" 2>&1 | sed -n 's,.*p100/meta: offset \([0-9]*\): .*,\1,p')
damaged unknown "$at" 'an event has values by a layout that meta does not have'
is "$((at % 65536))" $((128 + 8 * 4)) 'at the place of its word'
write_trace lost <<END
$start
head meta_lost=1
values 1 1000 =hosts 7
exit 1 1010
valued 2 1020 5 6
values 1 1030 =hosts 7
exit 1 1040
END
"$XAUDIT" report "$tmp/lost" >"$tmp/out" 2>"$tmp/err"
is "$? $(grep -c 'layout' "$tmp/err")" '0 0' 'where records were lost, an unknown layout is none'
# The event's own word is there, and one of its two others.
write_trace cut <<END
$start
values 1 1000 =hosts 7
exit 1 1010
raw $(printf '0x9%07x%08x' $((1 << 8 | 2)) 1020) 0x7461630000000009
END
damaged cut "$at" 'the chunk ends within an event'
# Records that contradict themselves: calls count by what is whole of them.
for wrong in 'layout 1 entry 1 count=1000 u4:arg0:n' 'layout 1 entry 1 u3:arg0:n' \
	'layout 1 entry 1 names=100 u4:arg0:n' \
	'layout 0 entry 1 u4:arg0:n' 'layout 600000 entry 1 u4:arg0:n' 'layout 1 9 1 u4:arg0:n' \
	'layout 1 entry 1 names=0 u4:arg0:n' 'layout 1 entry 1 names=2 u4:arg0:n'; do
	write_trace hostile <<END
process p100 chunk=65536 flags=1 clock=mono
object 1 /usr/lib/libfoo.so
function 1 0 1 0x100 foo
$wrong
thread 100 main
valued 1 1000 7
exit 1 1010
END
	"$XAUDIT" report "$tmp/hostile" >"$tmp/out" 2>"$tmp/err"
	is "$? $(grep -c 'a record contradicts itself' "$tmp/err")" '1 1' "$wrong: is damage"
done
done_testing
