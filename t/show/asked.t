#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What is asked of the commands that read, but is not in the trace (threads, times), is told; so is a trace that is
# given to report twice.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/written.sh"
need jq

# said COMMAND...: what it writes to standard error, and, if any, to standard output; and its status.
said() {
	bounded 60 "$XAUDIT" "$@" >"$tmp/out" 2>"$tmp/err"
	echo "$(cat "$tmp/err")|$(head -c 1 "$tmp/out")|$?"
}

# Threads 100 and 101 have chunks; 102 goes on in the second one's, 103 has only counters, 104 only loaded a library.
# The last event is at 7100: 6100 ns after the start. The process was killed: its head knows of 3000.
write_trace threads <<END
process p100
pair first 1000 1000 5
pair last 3000 3000 2005
$libraries
thread 100 main
entry 1 1000
exit 1 1100
thread 101 second
entry 1 2000
exit 1 2100
switch 102
entry 1 7000
exit 1 7100
counts 2 103 third 1:5
load 1 1 1500 0x10000 104
END

# ---- threads ----

for command in report 'report --hist=outer' 'report --callers=outer' 'report --format=json' replay dump graph stacks \
	'slow outer' outliers loads; do
	is "$(said $command --tid=7 "$tmp/threads")" \
		"xaudit ${command%% *}: no thread 7 is in the trace, which has 100 (main), 101 (second), 102||1" \
		"$command: a thread that never was is an error"
done
write_trace many <<END
process p100
pair first 1000 1000 5
pair last 3000 3000 2005
$libraries
$(for tid in 100 101 102 103 104 105; do printf 'thread %d\nentry 1 1000\nexit 1 1100\n' $tid; done)
END
is "$(said report --tid=7 "$tmp/many")" \
	'xaudit report: no thread 7 is in the trace, which has 100, 101, 102, 103 and 2 more||1' \
	'of many, some are named'
write_trace none <<END
process p100
pair first 1000 1000 5
pair last 3000 3000 2005
END
is "$(said report --tid=7 "$tmp/none")" 'xaudit report: no thread 7 is in the trace, which has events of none||1' \
	'there may be none'
calls() {
	bounded 60 "$XAUDIT" report --format=json "$@" | jq '[.functions[].calls] | add'
}
for tid in 100 101 102; do
	is "$(calls --tid=$tid "$tmp/threads")" 1 "thread $tid is there, with its call"
done
for tid in 103 104; do
	is "$(said report --tid=$tid "$tmp/threads")" '| |0' "thread $tid is there, without a call"
done
is "$(calls --tid=105 "$tmp/threads" "$tmp/many")" 1 'it is enough that one of the folders has it'
is "$(said report --tid=7 "$tmp/none" "$tmp/many" | cut -d, -f1)" 'xaudit report: no thread 7 is in these traces' \
	'or none of them'

# ---- times ----

for command in report replay dump graph stacks outliers loads; do
	is "$(said $command --from=6101ns "$tmp/threads")" \
		"xaudit $command: nothing is in the trace from 6.101 us on: it ends 6.100 us after its start||1" \
		"$command: a time after the end is an error"
done
for command in report graph stacks 'slow outer' outliers loads; do
	name=${command%% *}
	is "$(said $command --from=2us --to=2us "$tmp/threads")" \
		"xaudit $name: --to must be later than --from; \`xaudit $name --help\` lists what there is||2" \
		"$command: a span without time is an error"
	like "$(said $command --to=0 "$tmp/threads")" "^xaudit $name: --to can't be '0'; .* above 0, .*[|][|]2\$" \
		"$command: so is one that ends at the start"
done
is "$(calls --to=1ns "$tmp/threads")" 1 'a call at the start is before any time above 0'
is "$(calls --from=6us "$tmp/threads")" 1 'a time that a call begins at or after is none'
is "$(said report --from=6100ns "$tmp/threads")" '| |0' 'nor is the end, though no call begins there'
is "$(said report --from=1900ns --tid=100 "$tmp/threads")" '| |0' 'nor one in the middle'
is "$(said report --from=2us "$tmp/none")" '| |0' 'without events the trace ends where its process was seen last'
is "$(said report --from=2001ns "$tmp/none" | cut -d: -f2)" ' nothing is in the trace from 2.001 us on' 'and no later'
is "$(said report --from=5us "$tmp/none" "$tmp/threads")" '| |0' 'it is enough that one of the folders has the time'
is "$(said report --from=7us "$tmp/none" "$tmp/threads")" \
	"xaudit report: nothing is in these traces from 7.000 us on: the longest ends 6.100 us after its start||1" \
	'or none of them'

# ---- the same trace twice ----

# traced NAME PID TICKS: of a process of this boot
traced() {
	write_trace "$1" <<END
process p$2 boot=this flags=1
pair first $3 1000 1000
pair last 90000 9000 8005
$libraries
thread $2 main
entry 1 $((2 * $3))
exit 1 $((2 * $3 + 100))
END
}
traced one 100 1000
traced other 100 1001
ln -s one "$tmp/link"
cp -R "$tmp/one" "$tmp/copy"
bounded 60 "$XAUDIT" pack -o "$tmp/packed" "$tmp/one" >/dev/null || bail 'pack failed'
# twice FOLDER...: calls, and what is said
twice() {
	(cd "$tmp" && calls "$@" 2>err; sed "s,$tmp/,," err)
}
is "$(twice one one)" '1
xaudit report: one is the same trace as one: it is counted once' 'a folder that is given twice counts once'
for same in ./one link one/p100 copy packed; do
	is "$(twice one $same)" "1
xaudit report: $same is the same trace as one: it is counted once" "$same is the same folder"
done
is "$(twice packed packed)" '1
xaudit report: packed is the same trace as packed: it is counted once' 'and so are packed files'
is "$(twice one other)" 2 'another process of the same number is another trace'
mkdir "$tmp/both"
cp -R "$tmp/one/p100" "$tmp/both/p100"
cp -R "$tmp/other/p100" "$tmp/both/p100.1"
is "$(twice one both)" '2
xaudit report: one is a part of both: it is counted once' 'what is in another folder counts once'
is "$(twice one other both)" '2
xaudit report: one is a part of both: it is counted once
xaudit report: other is a part of both: it is counted once' 'and so does the next one'
is "$(twice both other)" '2
xaudit report: other is a part of both: it is counted once' 'whichever comes first'
cp -R "$tmp/threads" "$tmp/unknown"
is "$(twice threads unknown)" 16 'without the boot a copy is not known from another trace'
is "$(said report --diff "$tmp/one" "$tmp/link" | sed "s,$tmp/,,g")" \
	'xaudit report: link is the same trace as one: so there may be no difference| |0' \
	'a difference is shown, and told'
done_testing
