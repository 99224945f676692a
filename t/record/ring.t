#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The flight recorder holds exactly the newest events, whatever ends the process, and a snapshot is complete while
# threads write. The program calls a function per hex digit of a number that counts up, so the events tell whether one
# is missing, doubled or out of order.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/digits.sh"

patchable_library libdigits.so digits_library.c
program "$CC" digits digits.c -L. -ldigits
full=$(rounds 1 2 10)

# 8 MiB are 2^20 words; all of them must be there, except those of the chunk that is being filled and of the one just
# begun: 18 words per number. Check has recorders of a quarter.
mib=$(rounds 2 8)
record d -m ring --ring="${mib}M" -l libdigits.so ./digits counters 1 "$full"
is "$status/$err" 7/ "$mib MiB, $full s at full speed: the program runs as ever"
is "$(newest d counters 0 $((mib * 6250)))" '' \
	"$mib MiB, $full s at full speed: exactly the newest events, each number one more"
diag "$(cat numbers) (thread, first, last, numbers, events)"
ok 'more was called than it holds' test "$(awk '{ print $2; exit }' numbers)" -gt 1
# One chunk of tokens in each place, of $mib MiB in all; heads and names take the rest.
ok 'its file does not grow' test "$(du -k d/p*/meta | cut -f1)" -le $((mib * 1024 + 1024))
report d
is "$(sums | sed 's/ [0-9]* unf.*//')" '0 lost' 'report has nothing lost'
is "$(info d '.processes[0] | [.mode, .ring_bytes, .overwritten_chunks > 0]')" "[\"ring\",$((mib << 20)),true]" \
	'info tells of the recorder'

# SIGKILL.
ring=$(rounds 256k 1M) most=$(rounds 1000 5000)
for threads in 1 8; do
	rm -rf d counters
	bounded 200 "$XAUDIT" record -o d -m ring --ring="$ring" -l libdigits.so \
		./digits counters $threads 120 >out 2>err &
	record=$!
	counting counters $threads $((2 * most))
	pid=$("$XAUDIT" info --format=json d 2>err2 | jq '.processes[0].pid')
	kill -9 "$pid"
	wait "$record"
	is "$?" 137 "SIGKILL, $threads threads: the program was killed"
	is "$(newest d counters 1 "$most")" '' \
		"SIGKILL, $threads threads: the newest events are there, to the last call"
done

# Snapshots by signal, while 8 threads write, and another one at exit.
rm -rf d d.snapshot.* counters
bounded 200 "$XAUDIT" record -o d -m ring --ring="$ring" --snapshot=signal:SIGUSR2 --snapshot=exit -l libdigits.so \
	./digits counters 8 120 >out 2>err &
record=$!
counting counters 8 $((2 * most))
pid=$("$XAUDIT" info --format=json d 2>err2 | jq '.processes[0].pid')
# taken N: the trace tells of so many snapshots.
taken() {
	[ "$(info d '.processes[0].changes | map(select(.change == "snapshot")) | length')" = "$1" ]
}
for n in 1 2 3 4; do
	cp counters before.$n
	kill -USR2 "$pid"
	wait_until 60 taken "$n"
done
: >counters.stop
wait "$record"
is "$? $(cat err)" '7 ' 'snapshots by signal: the program runs as ever'
is "$(ls -d d.snapshot.* | tr '\n' ' ')" 'd.snapshot.1 d.snapshot.2 d.snapshot.3 d.snapshot.4 d.snapshot.5 ' \
	'each signal made one, and the exit'
for n in 1 2 3 4; do
	is "$(newest d.snapshot.$n before.$n 100000000 $((most * 8 / 100)))" '' \
		"snapshot $n: whole, in order, nothing twice, and not older than the signal"
done
is "$(newest d.snapshot.5 counters 0 "$most")" '' 'the snapshot at exit: up to the last call'
is "$(info d.snapshot.5 '.processes[0].ended')" true 'it says that the process ended'
is "$(info d '.processes[0].changes | map(select(.change == "snapshot").text | sub(".*/"; ""))')" \
	'["d.snapshot.1","d.snapshot.2","d.snapshot.3","d.snapshot.4","d.snapshot.5"]' 'the trace tells of them'
is "$(newest d counters 0 "$most")" '' 'and is as good as ever'

# A crash is marked, and happens.
rm counters.stop
for end in abort:134:6 segv:139:11 raise:139:11; do
	how=${end%%:*} rest=${end#*:}
	record d -m ring --ring=1M --snapshot=crash -l libdigits.so ./digits counters 1 0.1 "$how"
	is "$status" "${rest%:*}" "$how: the program ends as it would have"
	is "$(info d '.processes[0].crash_signal')" "${rest#*:}" "$how: the trace says by which signal"
	is "$(newest d counters 0 1)" '' "$how: up to the last call"
	is "$(ls -d d.snapshot.* 2>/dev/null | wc -l)" 5 "$how: no copy is made"
done
record d -m ring --snapshot=crash -l libdigits.so ./digits counters 1 0.1 handled
is "$status $out $(info d '.processes[0].crash_signal')" '9 handled null' \
	"a program's own handler, set later, has its way"
record d -m ring -l libdigits.so ./digits counters 1 0.1 segv
is "$status $(info d '.processes[0].crash_signal')" '139 11' \
	'without the rule no signal is touched: it is record that tells of the crash'
done_testing
