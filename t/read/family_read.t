#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Forked processes whose trace is in the file of their family: their names, how they are found, the records that they
# have from their parents, counters in runs, damage; and the cost of thousands of them.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/written.sh"
built spoil max_rss
cd "$tmp" || exit 1

# Process 100, with records in two places; 101 forks 103; 102 was forked after one more function was named. Places are
# of 128 KiB.
script() {
	cat <<-'END'
	process p100 chunk=65536 ring_size=131072
	pair first 1000 1000 5
	pair last 900000 900000 8005
	text exe /usr/bin/server
	text note of the parent alone
	object 1 /usr/lib/libfoo.so kinds=7
	sites 1 0:0:12
	function 1 0 1 0x100 outer
	loop 60 0
	unknown 99 4000
	end
	function 1 0 2 0x200 inner
	load 1 1 1000 0x7f0000000000 100
	type 16 request
	change started 1500 100 0
	fork 101
	function 1 0 3 0x300 late
	fork 102
	thread 100 main
	both
	entry 1 1000
	entry 2 1002
	exit 2 1004
	exit 1 1008
	entry 3 1010
	exit 3 1020
	counts 0 100 main 1:5 2:6
	counts 0 100 main 1:5 3:7
	child 101
	sites 1 0:0:12 1:10:3
	function 1 0 3 0x310 own
	thread 101 main
	both
	loop 20000 10
	entry 3 2000
	exit 3 2005
	end
	custom 16 300000 =hello
	fork 103
	child 103 ppid=101
	thread 103 main
	ring
	entry 3 3000
	entry 2 3010
	exit 2 3015
	loop 30000 10
	entry 1 3020
	exit 1 3025
	end
	child 102 ppid=100
	text note of the child
	thread 102 main
	stream
	entry 3 4000
	exit 3 4010
	END
}
script | write_trace good
names() { # ARGUMENTS of info
	bounded 60 "$XAUDIT" info "$@" 2>&1 |
		sed -n 's/^Process \([0-9]*\) (\(.*\)), child of \([0-9]*\).*/\1 \2 \3/p; /^xaudit/p'
}

# ---- names ----
is "$(names good)" '100 p100 1
101 p101 100
102 p102 100
103 p103 101' 'all processes of a family are found, each by its own number'
is "$(names good/p100) $(names good/p103) $(names good/p100/0)" '100 p100 1 103 p103 101 100 p100 1' \
	'each is named by a path'
is "$(cd good && names p101) $(cd good/p100 && names .)" '101 p101 100 100 p100 1' 'relative, too'
is "$(names --pid=102 good) $(names --pid=100 good)" '102 p102 100 100 p100 1' 'or by --pid'
is "$(names good/p7)" "xaudit: no process p7 in good; \`xaudit info\` lists them" 'one that is not there is an error'
is "$(names good/p100/7)" "xaudit: no process p100/7 in good; \`xaudit info\` lists them" \
	'nor is there one at any place'
is "$(names none/p7)" "xaudit: can't open the trace none/p7: No such file or directory; \`xaudit record COMMAND\` \
makes one" \
	'or in no trace'
cp -R good two
{
	printf 'process p103\npair first 1000 1000 5\npair last 900000 900000 8005\nfork 102\nthread 103\n'\
'ring\nentry 1 5000\n'
	printf 'child 102\nthread 102\nring\nentry 1 6000\n'
} | write_trace two
# Places of p100: 2 to 4 have records, 5 and 6 heads, 7 and 8 counters, 9 a chunk of 100, 10 and 11 of 101, 12 the head
# of 103.
is "$(names two | sort)" '100 p100 1
101 p101 100
102 p100/6 100
102 p103/2 103
103 p100/12 101
103 p103 1' 'what several could be called is the folder and the place of each'
is "$(names two/p103) $(names two/p100/12) $(names two/p103/2) $(names two/p100/5)" \
	'103 p103 1 103 p100/12 101 102 p103/2 103 101 p101 100' 'which is a path for all of them'
is "$(names --pid=103 two | sort)" '103 p100/12 101
103 p103 1' 'a number may be that of two'
is "$(bounded 60 "$XAUDIT" ctl good/p103 status | head -n 3 | tr '\n' ' ')" \
	'Process     103, has ended Recording   no, mode stream Trace       good/p103 ' 'ctl takes such a path'
bounded 60 "$XAUDIT" ctl good/p103 snapshot -o copy >out 2>err
is "$? $(cat err) $(names copy)" '0  103 p103 101' 'and copies what it names'
# A copy has its parent's records for its own, and knows that there was one.
bounded 60 "$XAUDIT" report good/p103 >want
bounded 60 "$XAUDIT" report copy >got
ok 'all of it' cmp want got
for of in good/p103 copy; do
	bounded 60 "$XAUDIT" replay "$of" | grep -c 'which was called before the fork' || :
done >got
is "$(uniq got | wc -l) $(sed -n 1p got)" "1 1" 'and where its parent had begun calls it says so'

# ---- records and events ----
bounded 60 "$XAUDIT" report good >out 2>err
is "$? $(cat err)" '0 ' 'a family is read without damage'
# Of 103's 60003 events 2 of 8 chunks are left, of 8169 each: 2820 + 8169, of which 5494 are entries.
is "$(awk '/libfoo/ { print $1, $(NF - 1) }' out | sort -k 2 | tr '\n' ' ')" \
	'7 inner 9 late 5505 outer 20000 own ' 'with the names that each had'
is "$(sed -n 's/ calls were only counted.*//p' out)" 23 'counters of two runs are added up'
bounded 60 "$XAUDIT" info -v --pid=103 good >out
is "$(grep -c 'Note\|Change' out) $(sed -n 's/^  Program *//p;s/^  Objects *//p' out | tr '\n' ' ')" \
	'0 /usr/bin/server 1, 1 loads, 0 unloads ' 'a child has the records of its parents, but no notes and changes'
is "$(grep -c '3  fewer than 5 bytes' out) $("$XAUDIT" info --pid=102 good | grep -c '3  fewer than 5 bytes')" '1 0' \
	'with what its parent said of an object before it was forked, and nobody else'
is "$("$XAUDIT" info --pid=102 good | sed -n 's/^  Note *//p')" 'of the child' 'and notes of its own'
is "$("$XAUDIT" info --pid=103 good | sed -n 's/^  Overwritten *//p')" \
	'6 buffers: the ring holds the newest events' \
	'what was overwritten is counted'
is "$("$XAUDIT" dump good/p102 | sed 's/  */ /g')" '0.000004000 102 entry 0x7f0000000300 late /usr/lib/libfoo.so
0.000004010 102 exit 0x7f0000000300 late /usr/lib/libfoo.so' 'dump knows the loads of the parent'
for process in 0 2; do
	printf '%s\n' "$process $("$XAUDIT" dump good/p10$process | grep -c ' load ')" \
		"$("$XAUDIT" replay good/p10$process | grep -c '/\* load ')"
done >got
is "$(cat got)" '0 1
1
2 0
0' 'dump and replay tell a load by the process that saw it, not by those that were forked then'
is "$("$XAUDIT" dump good | grep -c ' load ')" 1 'so of all processes together it is told once'
is "$("$XAUDIT" dump good/p101 | grep custom | sed 's/  */ /g')" '0.000300000 101 custom - request "hello" 5 bytes' \
	'and its types of custom events'

# ---- damage ----
place=131072
# bytes OFFSET TEXT: overwrites bytes of a copy of the trace.
bytes() {
	rm -rf damaged
	cp -R good damaged
	printf "$2" | dd of=damaged/p100/meta bs=1 seek="$1" conv=notrunc 2>/dev/null
}
damage() { # OFFSET FAULT SENTENCE
	bounded 60 "$XAUDIT" report damaged >out 2>err
	status=$?
	like "$status $(cat err)" "^1 xaudit: damaged/p100/meta: offset $1: $2" "$3"
	ok 'the rest is read' grep -q libfoo out
}
directory=$place
bytes $((directory + 8 * 1 + 7)) '\360'
bounded 60 "$XAUDIT" report damaged >got 2>err
is "$? $(cat err)" '0 ' 'a place of a kind that is unknown is nothing to be read'
bytes $((directory + 8 * 5 + 4)) '\377\377\377'
damage $((directory + 8 * 5)) 'a word of the directory names an impossible process, and [0-9]+ more' \
	'a head that is somewhere else'
bytes $((5 * place)) 'X'
damage $((5 * place)) 'there is no head of a process where one should begin' 'a head without its mark'
# Fields of the head of 101: parent at 232, extents, parent_used, the first extent at 248. Those of 100 alone: directory
# at 568, places at 584.
names_lost='the process has an impossible parent, so the names that it has from it are lost'
bytes $((5 * place + 232)) '\005'
damage $((5 * place + 232)) "$names_lost" 'a process that forked itself'
bytes $((5 * place + 232)) '\011'
damage $((5 * place + 232)) "$names_lost" 'or was forked by what is no process'
bytes $((5 * place + 240)) '\377\377\377\377\377\377'
damage $((5 * place + 240)) 'the process has more records from its parent than there are' \
	'more records than the parent has'
bytes $((5 * place + 236)) '\377'
damage $((5 * place)) 'the head has too many extents' 'more extents than there may be'
bytes 248 '\000'
bounded 60 "$XAUDIT" report damaged >out 2>err
is "$? $(cat err)" "1 xaudit: damaged/p100/meta: offset 0: the head has an impossible extent; nothing of the trace \
can be read" 'an extent in the place of the head'
bytes 568 '\001'
bounded 60 "$XAUDIT" report damaged >out 2>err
is "$? $(cat err)" "1 xaudit: damaged/p100/meta: offset 0: the head has no directory of places; nothing of the trace \
can be read" 'a directory at an odd place'
bytes 584 '\377\377\377\377'
bounded 60 "$XAUDIT" report damaged >out 2>err
is "$? $(cat err)" '0 ' 'places that the file has not are none, and no damage'
chunk=$((9 * place + place / 2))
bytes $chunk 'X'
damage $chunk 'there is no chunk where one should begin' 'a chunk without its mark'
bytes $((chunk + 96)) '\001'
damage $chunk "the chunk is another thread's" 'a chunk of another thread'
bytes $((7 * place)) 'X'
damage $((7 * place)) 'there are no counters where they should begin' 'counters without their mark'
bytes $((7 * place + 40)) '\377\377\377\377\377\377\377\377'
damage $((7 * place)) 'the counters have an impossible size' 'counters larger than their places'

# Damage of any sort. Most of it is where heads, words and chunks begin.
. "$top_srcdir/t/lib/spoiled.sh"
: "${FUZZ_ROUNDS:=$(rounds 50 150)}"
for seed in $(seq 1 "$FUZZ_ROUNDS"); do
	rm -rf fuzz
	cp -R good fuzz
	# Heads of 100, 101 and 103, the directory, counters, a chunk of 100 and one of 101; in some cases also much
	# after that.
	n=$(echo 0 10 24 2 14 19 21 | cut -d ' ' -f $((seed % 7 + 1)))
	spoil_part fuzz/p100/meta "$n" "$seed" "$([ $((seed % 3)) = 0 ] || echo 640)"
	[ $((seed % 10)) = 0 ] && "$spoil" fuzz/p100/meta "$seed"
	read_spoiled "$seed" 'report' 'replay' 'dump --format=json' 'info' 'info --pid=103'
done
is "$(cat "$tmp/bad")" '' 'no damage brings a reader down'
diag "$found of $((FUZZ_ROUNDS * 5)) readings found the damage"
ok 'many of them are noticed' test "$found" -gt "$FUZZ_ROUNDS"

# ---- thousands ----
# children HOW-MANY FUNCTIONS: each says something between two forks that its children do not have.
children() {
	awk -v children="$1" -v functions="$2" 'BEGIN {
		print "process p100 chunk=65536\npair first 1000 1000 5\npair last 900000 900000 8005"
		print "object 1 /usr/lib/libfoo.so"
		for (i = 1; i <= functions; i++)
			print "function 1 0", i, "0x100 a_function_with_a_name_" i
		for (i = 0; i < children; i++)
			print "fork", 1000 + i "\nchange started 2000 100 0"
		for (i = 0; i < children; i++)
			print "child", 1000 + i "\nthread", 1000 + i, "main\nring\nentry 7 2000\nexit 7 2010"
	}'
}
children 3000 10000 | write_trace many
for command in info report dump; do
	kb=$(ulimit -n 200 && bounded 100 "$max_rss" "$XAUDIT" $command many)
	diag "$command: $kb kB"
	# Common records are read once: 10000 functions take a MB.
	most=40000
	[ $command = dump ] && most=150000 # it has all open at once
	if [ -n "$XAUDIT_ASAN$XAUDIT_TSAN" ]; then
		skip 1 'a sanitizer takes memory of its own'
	else
		ok "$command of 3000 children with 10000 functions takes less than $((most / 1000)) MB" test \
			"$kb" -lt $most
	fi
done
is "$("$XAUDIT" report many | awk '/libfoo/ { print $1, $(NF - 1) }')" '3000 a_function_with_a_name_7' 'all are read'
done_testing
