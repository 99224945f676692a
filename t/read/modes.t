#!/bin/sh
# SPDX-License-Identifier: MIT
#
# How readers show flight recorders, counters, changes and crash marks, in traces that make_trace wrote.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/written.sh"
built spoil

# trace NAME: a trace of libfoo.so with foo (1), bar (2) and baz (3); the script on standard input follows `process p100
# `, whose rest is its first line.
trace() {
	{
		read -r head
		echo "process p100 $head"
		echo 'object 1 /usr/lib/libfoo.so kinds=7'
		echo 'function 1 0 1 0x100 foo'
		echo 'function 1 0 2 0x200 bar'
		echo 'function 1 0 3 0x300 baz'
		cat
	} | write_trace "$1"
}
report() { # NAME [OPTION]...
	name=$1
	shift
	status=0
	bounded 60 "$XAUDIT" report --format=json "$@" "$tmp/$name" >"$tmp/out" 2>"$tmp/err" || status=$?
	[ "$status$(cat "$tmp/err")" = 0 ] || diag "status $status: $(cat "$tmp/err")"
}
# row FUNCTION: calls, total, self, counted.
row() {
	sed -n "s/^{\"function\":\"$1\",.*\"calls\":\([0-9]*\),\"total_ns\":\([0-9]*\),\"self_ns\":\([0-9]*\),.*\
\"counted\":\([0-9]*\).*/\1 \2 \3 \4/p" "$tmp/out"
}
sum() { # KEY behind the list
	sed -n "s/^\],.*\"$1\":\([0-9a-z]*\)[,}].*/\1/p" "$tmp/out"
}
dumped() { # NAME: the words of the events in order, with the last digits of their times
	bounded 60 "$XAUDIT" dump "$tmp/$1" 2>&1 | awk '{ t = substr($1, length($1) - 4); print t + 0, $3, $5 }' |
		tr '\n' ';'
}

# A recorder of 4 chunks: of 10, the oldest 6 were overwritten. The first event is the end of a call that began before.
trace ring <<'END_TRACE'
ring_size=262144 mode=1
thread 100 main
ring
entry 1 1000
loop 9 100
chunk 1010
exit 1 1010
entry 2 1020
exit 2 1030
entry 1 1040
end
END_TRACE
is "$(dumped ring)" '1510 gap 6;1510 exit foo;1520 entry bar;1530 exit bar;1540 entry foo;1610 exit foo;1620 '\
'entry bar;1630 exit bar;1640 entry foo;1710 exit foo;1720 entry bar;1730 exit bar;1740 entry foo;1810 exit foo;1820 '\
'entry bar;1830 exit bar;1840 entry foo;' \
	'the newest chunks of a flight recorder are read in the order of their numbers, not of their places'
report ring
is "$status $(row foo) / $(row bar)" '0 4 210 210 0 / 4 40 40 0' \
	'calls whose beginning was overwritten are no error, and confuse no times'
is "$(sum overwritten_chunks) $(sum orphans)" '6 1' 'the overwritten chunks are told, and the return without its call'
like "$("$XAUDIT" report "$tmp/ring")" '^the ring holds the newest events: 6 buffers before them were '\
'overwritten$' 'in the table, too'
like "$("$XAUDIT" info "$tmp/ring")" '^  Mode        ring, recording; a ring of 256 kB per thread in '\
'buffers of 64 kB$' \
	'info tells mode, size and buffers of the ring'
like "$("$XAUDIT" info "$tmp/ring")" '^  Overwritten 6 buffers' 'and how many chunks are gone'
like "$("$XAUDIT" replay "$tmp/ring")" '6 buffers were overwritten' 'replay shows where they were'
like "$("$XAUDIT" dump "$tmp/ring")" ' 100  gap .* 6 buffers were overwritten' 'dump shows in which thread'

# Stream, ring and stream again: chunk numbers go on over both files.
trace mixed <<'END_TRACE'
ring_size=131072
change mode 195 100 1
change mode 495 100 0
thread 100 main
entry 1 100
exit 1 150
chunk 160
entry 2 170
ring
exit 2 200
chunk 210
entry 3 220
exit 3 230
chunk 300
entry 3 320
exit 3 330
stream
chunk 500
entry 1 510
exit 1 520
END_TRACE
is "$(dumped mixed)" '100 entry foo;150 exit foo;170 entry bar;195 change mode;210 gap 1;220 entry baz;230 '\
'exit baz;320 entry baz;330 exit baz;495 change mode;510 entry foo;520 exit foo;' \
	'chunks of both files are read by their numbers'
report mixed
is "$status $(row foo) / $(row bar) / $(row baz) / $(sum overwritten_chunks)" '0 2 60 60 0 / 1 0 0 0 / 2 20 20 0 / 1' \
	'a call that was open where a chunk is missing has no time'

# Without a recorder, a missing chunk is damage.
trace missing <<'END_TRACE'
chunk=65536
thread 100 main
stream
entry 1 100
exit 1 150
chunk 200
entry 1 210
exit 1 220
chunk 300
entry 1 310
exit 1 320
END_TRACE
dd if=/dev/zero of="$tmp/missing/p100/t0" bs=65536 seek=1 count=1 conv=notrunc 2>/dev/null
report missing 2>/dev/null >&2
is "$status $(row foo)" '1 2 60 60 0' 'a chunk that is missing in a stream is damage, and the rest is read'
is "$(cat "$tmp/err")" "xaudit: $tmp/missing/p100/t0: offset 131072: chunks before this one are missing; the rest of \
the trace was read" \
	'it is told where'

# Counters.
trace counts <<'END_TRACE'
mode=2
change throttled 1000000100 100 2
thread 100 main
entry 1 100
exit 1 150
entry 2 200
exit 2 230
counts 0 100 main 1:5 2:1000
counts 1 101 worker 2:7 3:1
END_TRACE
report counts
is "$(row foo) / $(row bar) / $(row baz)" '6 50 50 5 / 1008 30 30 1007 / 1 0 0 1' \
	'counted calls are added to the timed ones of the same function'
is "$status $(sum counted)" '0 1013' 'and summed up'
like "$(cat "$tmp/out")" '"function":"bar".*"throttled_ns":1000000100\}' \
	'JSON tells since when a function is only counted'
like "$("$XAUDIT" report "$tmp/counts")" ' bar \[libfoo.so\] \(times until 1.000 s, then only counted\)$' \
	'the table does'
like "$("$XAUDIT" report "$tmp/counts")" '^1013 calls were only counted: they have no time$' \
	'and that counted calls have no time'
like "$("$XAUDIT" report --sort=calls "$tmp/counts")" '^ +1 +- +- +- .* baz ' \
	'a function that was only counted has no times'
report counts --by=thread
is "$(sed -n 's/.*"tid":\([0-9]*\),"name":"\([a-z]*\)","calls":\([0-9]*\),.*"counted":\([0-9]*\)}.*/\1 \2 \3 \4/p' \
	"$tmp/out" | sort | tr '\n' ';')" \
	'100 main 1007 1005;101 worker 8 8;' 'each thread has its own counts'
report counts --by=library
like "$(cat "$tmp/out")" '"library":"/usr/lib/libfoo.so","calls":1015,.*"counted":1013\}' 'so has the library'
like "$("$XAUDIT" info "$tmp/counts")" '^  Counted     1013 calls without time$' 'info sums them up'
like "$("$XAUDIT" info "$tmp/counts")" '^  Mode        count, recording$' 'and tells the mode'
is "$("$XAUDIT" info --format=json "$tmp/counts" | sed -n 's/.*"threads":\([0-9]*\),.*/\1/p' | head -n 1)" 2 \
	'a thread that only counted is a thread'

# Beside the head of each process, too, and packed; the file may end with them.
trace beside <<'END_TRACE'
mode=2
fork 101
thread 100 main
counts-beside 0 100 main 1:5 2:1000
counts 0 100 main 1:2
child 101 ppid=100
thread 101 main
counts-beside 0 101 main 1:7
END_TRACE
report beside
want='14 0 0 14 / 1000 0 0 1000 / '
is "$(row foo) / $(row bar) / $(row baz)" "$want" 'counters beside heads: each is there'
is "$status $(sum counted)" '0 1014' 'and once'
for values in --values --no-values; do
	rm -rf "$tmp/beside.pack" "$tmp/unpacked"
	"$XAUDIT" pack $([ $values = --values ] || echo $values) -o "$tmp/beside.pack" "$tmp/beside" >"$tmp/out" 2>&1 &&
		"$XAUDIT" unpack -o "$tmp/unpacked" "$tmp/beside.pack" >>"$tmp/out" 2>&1 || diag "$(cat "$tmp/out")"
	report beside.pack
	is "$(row foo) / $(row bar) / $(row baz)" "$want" "packed, $values: they are there"
	report unpacked
	is "$(row foo) / $(row bar) / $(row baz)" "$want" "unpacked, $values, too"
done

# Changes, in time order and in their place.
trace changes <<'END_TRACE'
recording=0 taken_back=12
change disabled 150 100 40 libfoo*@x
change enabled 250 100 41 foo
change stopped 350 101 0
change started 450 101 0
change throttled 550 100 3
change snapshot 650 100 0 /tmp/x.snapshot.1
change full 750 100 4096
change 77 850 100 5 hello
pages 1 100 40 30
pages 1 200 50 3
thread 100 main
entry 1 100
entry 2 200
exit 2 300
exit 1 400
entry 1 500
entry 3 600
unwind 3 700
exit 1 800
crash 11
END_TRACE
is "$(dumped changes)" '100 entry foo;150 change 40;200 entry bar;250 change 41;300 exit bar;350 change recording;400 '\
'exit foo;450 change recording;500 entry foo;550 change only;600 entry baz;650 change snapshot;700 unwind baz;750 '\
'change the;800 exit foo;800 crash ends;850 change change;' \
	'dump shows changes and the crash in their place'
is "$("$XAUDIT" info "$tmp/changes" | sed -n 's/^  Change  *//p')" '0.150 us  40 sites disabled: libfoo*@x
0.250 us  41 sites enabled: foo
0.350 us  recording stopped
0.450 us  recording started
0.550 us  only counted from here on (throttled): baz [libfoo.so]
0.650 us  snapshot /tmp/x.snapshot.1
0.750 us  the limit of 4096 bytes was reached, nothing more is recorded
0.850 us  change 77 hello' 'info lists them in time order'
like "$("$XAUDIT" info "$tmp/changes")" '^  Mode        stream, stopped$' 'info says that recording is stopped'
like "$("$XAUDIT" info "$tmp/changes")" '^  Taken back  12 calls ' 'and how many calls left nothing'
like "$("$XAUDIT" info "$tmp/changes")" '^  Crash       by signal 11$' 'and the crash'
like "$("$XAUDIT" info "$tmp/changes")" \
	'^      pages +200  of code, 50 with sites, 3 patched: 12 kB private in each further process$' \
	'the last pages of an object are told, and what they cost'
like "$("$XAUDIT" report "$tmp/changes")" '^the process ended by signal 11$' 'report names the signal'
got=$("$XAUDIT" replay "$tmp/changes")
like "$got" '\|   /\* 40 sites disabled: libfoo\*@x \*/$' 'replay shows a change at the depth of its thread'
like "$got" '/\* ends by signal 11 \*/$' 'and the crash'
like "$("$XAUDIT" dump --format=json "$tmp/changes")" \
	'^\{"time_ns":550,"tid":100,"event":"change","function":"baz","library":"/usr/lib/libfoo.so",'\
'"address":null,"change":"throttled","value":3\}$' \
	'dump tells a change in JSON'
like "$("$XAUDIT" dump --format=json "$tmp/changes")" '"event":"crash",.*"signal":11\}$' 'and a crash'
like "$("$XAUDIT" info --format=json "$tmp/changes")" \
	'^\{"time_ns":150,"tid":100,"change":"disabled","value":40,"text":"libfoo\*@x"\},$' 'info, too'
like "$("$XAUDIT" info --format=json "$tmp/changes")" \
	'"text_pages":200,"site_pages":50,"patched_pages":3,"private_bytes":12288\}' 'with the pages'

# Switched on and off in the middle of calls.
trace cut <<'END_TRACE'

change disabled 200 100 2
thread 100 main
exit 3 90
entry 1 100
entry 2 150
unwind 2 5000
entry 3 5010
exit 3 5020
exit 1 5030
entry 2 6000
unwind 2 6010
entry 1 7000
entry 2 7100
exit 1 7200
END_TRACE
report cut
is "$status $(row bar)" '0 3 110 110 0' \
	'a call whose end was switched off has no time; one that was unwound otherwise has'
is "$(row foo) / $(row baz)" '2 5130 5020 0 / 1 10 10 0' 'times around and behind it are right'
is "$(sum no_end) $(sum orphans)" '1 1' 'both cases are counted'
like "$("$XAUDIT" report "$tmp/cut")" '^1 call has no time: recording of functions was switched off in it$' \
	'and said'

# A handler jumped away while the end of bar and, later, the entry of baz were being recorded.
trace jumped <<'END_TRACE'

thread 100 main
entry 1 100
entry 2 110
exit 2 120
entry 3 130
unwind 3 140
unwind 2 150
entry 2 160
unwind 2 170
unwind 3 180
exit 1 200
END_TRACE
report jumped
is "$status $(row foo) / $(row bar) / $(row baz)" '0 1 100 70 0 / 2 20 20 0 / 1 10 10 0' \
	'an end of a call that has none or another one changes no numbers'
is "$(sum orphans)" 0 'and is not taken for a return whose call is lost'
unlike "$("$XAUDIT" replay "$tmp/jumped")" 'not in the trace' 'nor by replay'

# Damage in the places of all these. No damage may crash a reader.
trace good <<'END_TRACE'
ring_size=262144 mode=1
change throttled 500 100 2
change snapshot 650 100 0 /tmp/x.snapshot.1
pages 1 100 40 30
thread 100 main
entry 1 90
ring
loop 1500 1000
entry 1 1000
entry 2 1010
exit 2 1020
exit 1 1030
end
stream
chunk 20000000
entry 1 20000010
crash 6
counts 0 100 main 1:5 2:1000
counts 1 101 worker 2:7 3:1
END_TRACE
report good
is "$status" 0 'a trace with all of them is good before it is damaged'
# bytes OFFSET TEXT: overwrites what meta has there.
bytes() {
	printf "$2" | dd of="$tmp/good/p100/meta" bs=1 seek="$1" conv=notrunc 2>/dev/null
}
# damage SENTENCE OFFSET FAULT: what report says of the overwritten place.
damage() {
	report good 2>/dev/null >&2
	is "$status $(cat "$tmp/err")" \
		"1 xaudit: $tmp/good/p100/meta: offset $2: $3; the rest of the trace was read" "$1"
}
# Behind the head and the directory: the flight recorder's chunk, the counters of 100, and those of 101.
place=131072
chunk=$((2 * place + place / 2)) first=$((3 * place)) second=$((4 * place))
bytes $second 'XXXX'
damage 'counters without their mark are damage' $second 'there are no counters where they should begin'
bytes $second 'CNTS'
bytes $((first + 8064)) '\001'
damage 'so is a counter of a function that is not there' $((first + 8064)) \
	'calls of a function that meta does not name'
bytes $((first + 8064)) '\000'
bytes $chunk 'XXXX'
damage 'so is a place of the flight recorder that holds something else' $chunk \
	'there is no chunk where one should begin'
bytes $chunk 'CHNK'
. "$top_srcdir/t/lib/spoiled.sh"
: "${FUZZ_ROUNDS:=$(rounds 40 120)}"
for seed in $(seq 1 "$FUZZ_ROUNDS"); do
	rm -rf "$tmp/fuzz"
	cp -R "$tmp/good" "$tmp/fuzz"
	case $((seed % 5)) in
	0) parts=0 ;;
	1 | 2) parts=$chunk ;;
	3) parts=$first ;;
	4) parts="$chunk $second" ;;
	esac
	for part in $parts; do
		spoil_part "$tmp/fuzz/p100/meta" $((part / 65536)) "$seed"
	done
	[ $((seed % 5)) -ne 4 ] || "$spoil" "$tmp/fuzz/p100/t0" "$seed"
	read_spoiled "$seed" 'report' 'report --by=thread --format=json' 'replay' 'dump --format=json' 'info'
done
is "$(cat "$tmp/bad")" '' 'no damage brings a reader down'
diag "$found of $((FUZZ_ROUNDS * 5)) readings found the damage"
ok 'many of them are noticed' test "$found" -gt "$FUZZ_ROUNDS"
done_testing
