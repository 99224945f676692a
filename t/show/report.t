#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit report: numbers that were computed by hand from traces that make_trace wrote.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/written.sh"

# head: the start of all traces here; one tick is 1 ns.
head="process p100 flags=1
pair first 1000 1000 5
pair last 9000 9000 8005
$libraries
function 2 3 5 0x400 bar
"

# report NAME [OPTION]...: the report of the trace that the script on stdin makes.
report() {
	name=$1
	shift
	write_trace "$name"
	bounded 60 "$XAUDIT" report --format=json "$@" "$tmp/$name" 2>"$tmp/$name.err"
}

# row REPORT NAME: "calls total self min p50 p90 p99 max" of the function, library or thread of that name.
row() {
	printf '%s\n' "$1" | grep -F -e "\"$2\"" -e "\"tid\":$2," |
		sed 's/.*"calls":\([^,]*\),"total_ns":\([^,]*\),"self_ns":\([^,]*\),"min_ns":\([^,]*\),'\
'"p50_ns":\([^,]*\),"p90_ns":\([^,]*\),"p99_ns":\([^,]*\),"max_ns":\([^,}]*\)[,}].*/\1 \2 \3 \4 \5 \6 \7 \8/'
}

# sums REPORT: "lost unfinished"
sums() {
	printf '%s\n' "$1" | sed -n '1s/^{"lost":\([0-9]*\),"unfinished":\([0-9]*\),.*/\1 \2/p'
}

r=$(report nested <<END
$head
$nested_calls
END
)
is "$(row "$r" outer)" '1 300 230 300 300 300 300 300' \
	'the caller has its whole time as total, and self without the calls in it'
is "$(row "$r" inner)" '2 70 70 30 30 40 40 40' 'two calls add up, and have minimum, median and maximum'
is "$(sums "$r")" '0 0' 'nothing is lost or unfinished'

r=$(report recursion <<END
$head
$recursive_calls
END
)
is "$(row "$r" outer)" '4 105 75 5 10 100 100 100' 'recursion counts total once, through another function too'
is "$(row "$r" inner)" '1 40 30 40 40 40 40 40' 'the function between the recursive calls has its own time'

r=$(report tail <<END
$head
thread 100 main
entry 1 1000
entry 2 1010
tail 2 1020
entry 4 1021
exit 4 1050
exit 1 1100
END
)
is "$(row "$r" inner)" '1 10 10 10 10 10 10 10' 'a tail call ends the frame that jumps'
is "$(row "$r" bar)" '1 29 29 29 29 29 29 29' 'the function that it jumps to is a sibling'
is "$(row "$r" outer)" '1 100 61 100 100 100 100 100' 'the caller of both has neither time in self'

r=$(report unwind <<END
$head
thread 100 main
entry 1 1000
entry 2 1010
entry 4 1020
unwind 4 1040
unwind 2 1041
exit 1 1100
END
)
is "$(row "$r" bar)" '1 20 20 20 20 20 20 20' 'an unwound call ends when it is unwound'
is "$(row "$r" inner)" '1 31 11 31 31 31 31 31' 'so does the next one'
is "$(row "$r" outer)" '1 100 69 100 100 100 100 100' 'the function that caught goes on'

r=$(report mismatch <<END
$head
thread 100 main
exit 4 990
entry 1 1000
entry 2 1010
entry 4 1020
exit 1 1100
exit 2 1110
END
)
is "$(row "$r" bar)" '1 80 80 80 80 80 80 80' 'an exit further down ends the frames above it at that time'
is "$(row "$r" inner)" '1 90 10 90 90 90 90 90' 'each of them'
is "$(row "$r" outer)" '1 100 10 100 100 100 100 100' 'and the function that it is of'
is "$(sums "$r")" '0 0' 'exits that match nothing make no unfinished calls'
like "$("$XAUDIT" report "$tmp/mismatch")" '^2 returns of calls that are not in the trace' \
	'exits that match nothing are told below the table'

r=$(report points <<END
$head
thread 100 main
entry 1 1000
point 2 1010
point 2 1020
exit 1 1100
END
)
is "$(row "$r" inner)" '2 0 0 null null null null null' \
	'a call that is traced at the entry only counts, and has no time'
is "$(row "$r" outer)" '1 100 100 100 100 100 100 100' 'its caller keeps the time'
like "$("$XAUDIT" report "$tmp/points")" '^ +2 +- +- +- +- +- +-  inner' 'the table shows no time for it'

r=$(report kinds <<END
$head
thread 100 main
entry 4 1000
entry 5 1001
exit 5 1009
exit 4 1010
entry 3 1020
exit 3 1022
END
)
is "$(row "$r" bar)" '2 10 10 8 8 10 10 10' 'one function with two kinds of sites is one row'
is "$(row "$r" libfoo.so+0x300)" '1 2 2 2 2 2 2 2' 'a function without a name is shown as library and offset'

r=$(report unfinished <<END
$head
head lost=5
thread 100 main
entry 1 1000
entry 2 1010
lost 3
chunk 2000
lost 4
entry 4 2010
exit 4 2011
END
)
is "$(sums "$r")" '12 2' 'lost events of all chunks and of threads without a chunk, and open calls, are summed'
is "$(row "$r" outer)" '1 0 0 null null null null null' 'an unfinished call counts, without time'
is "$(row "$r" bar)" '1 1 1 1 1 1 1 1' 'what follows a loss is counted'

r=$(report threads <<END
$head
thread 100 main
entry 1 1000
entry 1 1010
exit 1 1020
exit 1 1100
switch 102
entry 1 1200
exit 1 1207
entry 2 1300
thread 101 worker
entry 1 1005
exit 1 1055
chunk 3000 103
exit 1 3001
entry 1 3010
exit 1 3011
END
)
is "$(row "$r" outer)" '5 158 158 1 10 100 100 100' 'threads that call a function at the same time add up'
is "$(sums "$r")" '0 1' 'a call that is open when another thread takes the record over is unfinished'
r=$("$XAUDIT" report --by=thread --format=json "$tmp/threads")
is "$(row "$r" main)" '2 100 100 10 10 100 100 100' 'by thread, total is the time of outermost calls'
is "$(row "$r" 101)" '1 50 50 50 50 50 50 50' 'each thread has a row'
is "$(row "$r" 103)" '1 1 1 1 1 1 1 1' 'a chunk of another thread begins that one'
is "$(row "$r" 102)" '2 7 7 7 7 7 7 7' 'so does a thread that takes the record over within a chunk'
like "$("$XAUDIT" report --by=thread "$tmp/threads")" '  101 worker \[process 100\]$' \
	'the table shows thread, name and process'

write_trace library <<END
$head
thread 100 main
entry 1 1000
entry 4 1010
entry 2 1020
exit 2 1030
exit 4 1050
exit 1 1100
END
r=$("$XAUDIT" report --by library --format json "$tmp/library")
is "$(row "$r" /usr/lib/libfoo.so)" '2 100 70 10 10 100 100 100' \
	'by library, total counts a call back into the library once'
is "$(row "$r" /opt/bar/libbar.so)" '1 40 30 40 40 40 40 40' 'the other library has what is between'
like "$r" '^\{"lost":0,"unfinished":0,"libraries":\[$' 'the rows are called libraries'

# outer calls inner, and itself, which calls inner twice; bar calls outer. Then the process is killed: both activations
# of outer and bar never end.
write_trace killed <<END
$head
thread 100 main
entry 1 1000
entry 2 1010
exit 2 1020
entry 1 1030
entry 2 1040
entry 2 1045
exit 2 1050
exit 2 1070
entry 4 1080
entry 1 1090
exit 1 1100
END
r=$("$XAUDIT" report --format json "$tmp/killed")
is "$(row "$r" outer)" '3 10 10 10 10 10 10 10' 'a call in one that never ended counts in the total of its function'
is "$(row "$r" inner)" '3 40 40 5 10 30 30 30' 'calls within each other count once'
is "$(row "$r" bar)" '1 0 0 null null null null null' 'what never ended has no time'
r=$("$XAUDIT" report --by library --format json "$tmp/killed")
is "$(row "$r" /usr/lib/libfoo.so)" '6 50 50 5 10 30 30 30' \
	'by library, total is what is known of the calls in those that never ended'
r=$("$XAUDIT" report --by thread --format json "$tmp/killed")
is "$(row "$r" 100) $(sums "$r")" '7 50 50 5 10 30 30 30 0 3' 'and by thread'

# inner is entered; its end and ten more events are lost; then it is called three times, for 10 each, and outer ends, or
# another call of outer.
write_trace swallow <<END
$head
thread 100 main
entry 1 1000
entry 2 1010
lost 11
chunk 1000000
loop 3 20
entry 2 1000000
exit 2 1000010
end
exit 1 1000100
entry 1 1000200
exit 1 1000230
END
r=$("$XAUDIT" report --format json "$tmp/swallow")
is "$(row "$r" inner)" '4 30 30 10 10 10 10 10' \
	'a call that is open where events are lost takes nothing of what follows'
is "$(row "$r" outer) $(sums "$r")" '2 30 30 30 30 30 30 30 11 2' \
	'an end behind the loss is not taken for the end of a call before it'
r=$("$XAUDIT" report --by library --format json "$tmp/swallow")
is "$(row "$r" /usr/lib/libfoo.so)" '6 60 60 10 10 30 30 30' 'nor by library'

# bar 3 calls of 10; inner 1 of 25; outer 2 of 1 and 19, the second of which calls inner's sibling for 18.
write_trace sort <<END
$head
thread 100 main
loop 3 100
entry 4 1000
exit 4 1010
end
entry 2 2000
exit 2 2025
entry 1 3000
exit 1 3001
entry 1 4000
entry 3 4001
exit 3 4019
exit 1 4019
END
order() {
	"$XAUDIT" report --sort "$1" "$tmp/sort" | awk 'NR > 2 && NF > 8 { print $(NF - 1) }' | tr '\n' ' '
}
is "$(order calls)" 'bar outer inner libfoo.so+0x300 ' 'sorted by calls; equal ones by name'
is "$(order total)" 'bar inner outer libfoo.so+0x300 ' 'sorted by total'
is "$(order self)" 'bar inner libfoo.so+0x300 outer ' 'sorted by self'
is "$(order avg)" 'inner libfoo.so+0x300 bar outer ' 'sorted by average'
is "$(order max)" 'inner outer libfoo.so+0x300 bar ' 'sorted by maximum'
is "$("$XAUDIT" report "$tmp/sort" | sed -n 1,4p)" "$(cat <<'END'
     Calls        Total         Self          Min       Median          P99          Max  Function
==========  ===========  ===========  ===========  ===========  ===========  ===========  ====================
         3     0.030 us     0.030 us     0.010 us     0.010 us     0.010 us     0.010 us  bar [libbar.so]
         1     0.025 us     0.025 us     0.025 us     0.025 us     0.025 us     0.025 us  inner [libfoo.so]
END
)" 'the table has head, rule, and a line per function, sorted by total'
unlike "$("$XAUDIT" report "$tmp/sort")" "$(printf '\033')" 'there are no colours when the output is no terminal'
like "$("$XAUDIT" report --color=always "$tmp/sort")" "$(printf '\033')" 'unless they are asked for'

r=$(report gap <<END
$head
thread 100 main
entry 1 1000
entry 2 1010
exit 2 2147484657
entry 2 2147484700
exit 2 12147484700
exit 1 12147484701
END
)
is "$(row "$r" inner | cut -d' ' -f 1-5,8)" '2 12147483647 12147483647 2147483647 2147483647 10000000000' \
	'a time of 2^31 - 1 ticks, and with a sync a much longer one, are right'
is "$(row "$r" outer)" '1 12147483701 54 12147483701 12147483701 12147483701 12147483701 12147483701' \
	'and so is the call around them'

r=$(report back <<END
$head
thread 100 main
entry 1 1000
entry 2 1010
exit 2 1005
entry 2 1008
exit 2 1012
exit 1 1020
END
)
is "$(row "$r" inner)" '2 2 2 0 0 2 2 2' 'a time that steps back counts as the latest before it'
is "$(row "$r" outer)" '1 20 18 20 20 20 20 20' 'and no time becomes negative'

# A hole of some words, one instead of a payload that was not written, and an unknown control word with 3 words.
r=$(report holes <<END
$head
thread 100 main
hole 3
entry 1 1000
hole 9000
raw 0xf000010100000000 0
raw 0x00001234abcdef01
raw 0xf000037700000000 0x1000000100000500 0x2000000100000501 0x1000000100000502
exit 1 1050
hole 2
open
END
)
is "$(row "$r" outer)" '1 50 50 50 50 50 50 50' \
	'holes, and payloads that never came, and unknown control words are skipped'
is "$(cat "$tmp/holes.err")" '' 'and are no damage'

# 65 536 byte chunks, so a block of the reader ends in many places; every event counts, and each call takes 3 ns.
r=$(report long <<END
$head
thread 100 main
loop 200000 3000000000
entry 1 1000
entry 2 1001
exit 2 1002
exit 1 1003
end
END
)
is "$(row "$r" outer)" '200000 600000 400000 3 3 3 3 3' 'chunk after chunk with a sync word in each round is right'
is "$(row "$r" inner)" '200000 200000 200000 1 1 1 1 1' 'for each function'

processes='process p200 flags=1
object 7 /usr/lib/libfoo.so
function 7 0 9 0x100 outer
thread 200 main
pair first 1000 1000 5
pair last 9000 9000 8005
entry 9 1000
exit 9 1400'
r=$(report processes <<END
$head
thread 100 main
entry 1 1000
exit 1 1100
$processes
END
)
is "$(row "$r" outer)" '2 500 500 100 100 400 400 400' 'a function in two processes is one row'
r=$("$XAUDIT" report --format=json --pid 200 "$tmp/processes")
is "$(row "$r" outer)" '1 400 400 400 400 400 400 400' '--pid takes one process'
bounded 60 "$XAUDIT" report --pid 300 "$tmp/processes" >"$tmp/out" 2>&1
is "$?" 1 'a process that is not there is an error'
is "$(cat "$tmp/out")" "xaudit: no process 300 in $tmp/processes; \`xaudit info\` lists them" \
	'which says so in one line'

# 2.5 GHz: 2500 ticks are 1 us. The other process has its times in ns.
r=$(report rates <<END
process p100 flags=1 clock=tsc
pair first 1000000000 5000000 5
pair last 3500000000 1005000000 5
object 1 /usr/lib/libfoo.so
function 1 0 1 0x100 outer
function 1 0 2 0x200 inner
thread 100 main
entry 1 1000000000
entry 2 1000000000
exit 2 1000002500
exit 1 1000250000
$processes
END
)
is "$(row "$r" inner)" '1 1000 1000 1000 1000 1000 1000 1000' 'ticks become ns by the pairs'
is "$(row "$r" outer | cut -d' ' -f1-4)" '2 100400 99400 400' 'processes with different clocks add up in ns'

# 3 GHz, and 3000 calls of 10 ticks, which are 10 us: what is lost of each by rounding is less than a thousandth.
r=$(report thirds <<END
process p100 flags=1 clock=tsc
pair first 1000000000 5000000 5
pair last 4000000000 1005000000 5
object 1 /usr/lib/libfoo.so
function 1 0 1 0x100 outer
function 1 0 2 0x200 inner
thread 100 main
$(seq 3000 | awk '{ t = 1000000000 + $1 * 100; print "entry 2 " t "\nexit 2 " t + 10 }')
$processes
END
)
is "$(row "$r" inner | cut -d' ' -f1-3)" '3000 9996 9996' 'of short calls little is lost where clocks differ'
bounded 60 "$XAUDIT" graph --min=0 --format=json "$tmp/thirds" >"$tmp/out"
like "$(cat "$tmp/out")" '"function":"inner",.*"calls":3000,"total_ns":9996' 'graph says the same'
done_testing
