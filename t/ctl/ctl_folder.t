#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit ctl PID snapshot and top: from outside, without stopping a thread. The numbers of t/record/ring.t tell whether
# a snapshot is whole.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/digits.sh"

patchable_library libdigits.so digits_library.c
program "$CC" digits digits.c -L. -ldigits

# start THREADS PACE OPTION...: the program, in the background, until stop is called; sets $record and $pid.
start() {
	rm -rf d counters counters.stop
	threads=$1 pace=$2
	shift 2
	bounded 120 "$XAUDIT" record -o d "$@" -l libdigits.so \
		./digits counters "$threads" 100 exit "$pace" >out 2>err &
	record=$!
	counting counters "$threads" "$(if [ "$pace" -gt 0 ]; then echo 200; else echo 12000; fi)"
	pid=$(ls d | sed -n 's/^p\([0-9]*\)$/\1/p')
}
stop() {
	: >counters.stop
	wait "$record"
}
# ctl PID COMMAND...: sets $status; its output is in ctl.out and ctl.err.
ctl() {
	status=0
	bounded 60 "$XAUDIT" ctl "$@" >ctl.out 2>ctl.err || status=$?
}
# Eight threads write; each snapshot is whole. Reading snapshots takes longer than taking them, so they are read when
# all are taken. Recorders hold a known part of the events.
ring=$(rounds 256k 1M)
start 8 0 -m ring --ring="$ring"
for n in 1 2 3 4 5; do
	cp counters before.$n
	ctl "$pid" snapshot -o snap.$n
	is "$status $(cat ctl.err)" '0 ' "ring, snapshot $n is taken"
done
like "$(cat ctl.out)" '^snap.5: 8 threads, [0-9]+ buffers, [0-9.]+ (kB|MiB)' 'it says where it is and what it holds'
ctl "$pid" snapshot
ctl "$pid" snapshot
is "$status $(sed 's/:.*//' ctl.out)" "0 xaudit.snapshot.$pid.2" 'without a name it is xaudit.snapshot.PID, then .2'
ok 'and the first one is there' test -d "xaudit.snapshot.$pid/p$pid"
ctl "$pid" snapshot -o snap.1
is "$status $(cat ctl.err)" "1 xaudit ctl: the folder snap.1 can't be made: File exists; -o names another one" \
	'what is there is not overwritten'
ctl "$pid" snapshot more
is "$status" 2 'a word too much is wrong usage'
ctl d status --format=json
is "$status $(jq -c '.[0] | [.alive, .ended, .recording]' ctl.out)" '0 [false,false,true]' \
	'of a folder, status tells that the process lives'
stop
is "$? $(cat err)" '7 ' 'the program has not noticed'
ctl d status --format=json
is "$status $(jq -c '.[0] | [.alive, .ended, .recording]' ctl.out)" '0 [false,true,false]' \
	'or that it has ended, and records nothing more'
ctl d status
is "$(sed -n 2p ctl.out)" 'Recording   no, mode ring' 'in text, too'
for n in 1 2 3 4 5; do
	is "$(newest snap.$n before.$n 100000000 100)" '' \
		"ring, snapshot $n: whole, in order, nothing twice, and not older than the call"
done
report snap.5
is "$report_status $(sums | cut -d' ' -f1,2)" '0 0 lost' 'report reads it'
for command in replay dump info; do
	bounded 60 "$XAUDIT" $command snap.5 >/dev/null 2>err2
	is "$? $(cat err2)" '0 ' "so does $command"
done

# The process is dead: its events come from the folder. The last numbers are there.
ctl "d/p$pid" snapshot -o dead
is "$status $(newest dead counters 0 "$(rounds 1000 5000)")" '0 ' \
	'a process that has ended: the snapshot of its folder has all that the recorder holds'
ctl "$tmp" snapshot -o nothing
is "$status $(wc -l <ctl.err)" '1 1' 'a folder that is none is an error in one line'
ok 'and leaves nothing behind' test ! -e nothing
cp -R d broken
: >broken/p$pid/meta
ctl "broken/p$pid" snapshot -o nothing
is "$status $(cat ctl.err)" "1 xaudit ctl: the trace in broken/p$pid can't be copied to nothing: its meta file is \
damaged" \
	'nor can a damaged one be copied'
ok 'which leaves nothing behind, too' test ! -e nothing

# The folder of one process stands for that process alone.
for command in report replay dump info; do
	bounded 60 "$XAUDIT" $command d >expected.$command 2>&1
done
mkdir "d/p$pid.1"
cp "d/p$pid"/* "d/p$pid.1/"
for command in report replay dump info; do
	bounded 60 "$XAUDIT" $command "d/p$pid/" >got 2>&1
	is "$? $(cksum <got)" "0 $(cksum <expected.$command)" "$command takes the folder of a process"
	(cd "d/p$pid" && bounded 60 "$XAUDIT" $command .) 2>&1 | sed "s,$tmp/d\$,d,; s,$tmp/d/,d/,g" >got
	is "$(cksum <got)" "$(cksum <expected.$command)" "$command takes it as the current folder"
done

# Stream mode: everything up to now. Reading takes long: so the threads count 10 numbers a millisecond.
start 3 10
sleep "$(rounds 0.2 2)"
cp counters before
ctl "$pid" snapshot -o stream
stop
numbers stream >got
is "$(grep -c -v ' 1 ' got) $(awk '$2 != 1 || $3 != $4' got)" '0 ' 'stream: the snapshot has each number from 1 on'
is "$(newest stream before 100000000 1)" '' 'and is not older than the call'

# top, of one thread that sleeps in between, so that reading keeps up. The file `rounds` has a byte for each.
cat >slow.c <<'END_C'
#include <fcntl.h>
#include <time.h>
#include <unistd.h>
void begin(void);
void digit_0(void);
int main(void)
{
	struct timespec wait = { 0, 10000000 };
	int rounds = open("rounds", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	for (int i = 0; i < 2000 && write(rounds, "", 1) == 1; i++) {
		begin();
		for (int k = 0; k < 10; k++)
			digit_0();
		nanosleep(&wait, NULL);
	}
	return 0;
}
END_C
$CC -O1 -o slow slow.c -L. -ldigits -Wl,-rpath,"$tmp" || bail 'slow.c does not compile'
for mode in stream ring count; do
	rm -rf d
	bounded 60 "$XAUDIT" record -o d -m $mode -k patchable --probe round=nanosleep@libc.so.6 \
		--probe both=nanosleep@libc.so.6 --probe both=clock_nanosleep@libc.so.6 ./slow >out 2>err &
	record=$!
	wait_until 60 sh -c '"$XAUDIT" info d 2>/dev/null | grep -q "^Threads *1"'
	sleep 0.2
	pid=$(ls d | sed -n 's/^p\([0-9]*\)$/\1/p')
	before=$(wc -c <rounds)
	ctl "$pid" top -b -n 3 -d 0.5
	after=$(wc -c <rounds)
	is "$status $(cat ctl.err) $(grep -c '^xaudit top' ctl.out)" '0  3' "top, $mode: three screens"
	like "$(cat ctl.out)" "^xaudit top: process $pid slow, 1 thread, mode $mode\$" \
		"top, $mode: the head names process, command, threads and mode"
	# Ten calls in a round. Two screens with all calls so far would have more than there were meanwhile.
	is "$(awk -v most=$((10 * (after - before))) '$NF == "[libdigits.so]" && $(NF - 1) == "digit_0" {
			if (screens++) { sum += $1; some += $1 > 0 } }
		END { print screens, some, (sum <= most) }' ctl.out)" '3 2 1' \
		"top, $mode: a screen has the calls since the one before"
	is "$(awk '$NF == "[libdigits.so]" { c[$(NF - 1)] += $1 }
		END { n = c["begin"]; d = c["digit_0"] - 10 * n; print (n > 0 && d <= 10 + n && -d <= 10 + n) }
		' ctl.out)" 1 "top, $mode: in their proportion, but for a round that is not over"
	is "$(awk '$NF == "[libdigits.so]" && $(NF - 1) == "begin" { n += $1 }
		$NF == "[libc.so.6]" && $(NF - 1) == "round" { p += $1 }
		END { print (n > 0 && p - n <= 1 && n - p <= 1) }' ctl.out)" 1 \
		"top, $mode: so are probes, one in each round"
	is "$(awk '$NF == "[libc.so.6]" && $(NF - 1) == "round" { n += $1; a++ }
		$NF == "[libc.so.6]" && $(NF - 1) == "both" { p += $1; b++ }
		END { print (n > 0 && p - 2 * n <= 2 && 2 * n - p <= 2), a - b }' ctl.out)" '1 0' \
		"top, $mode: a probe with two places is one line, with the events of both"
	like "$(sed -n 2p ctl.out)" ', 0 lost$' "top, $mode: nothing is lost, all was read"
	kill "$pid"
	wait "$record" 2>/dev/null
done
# On a terminal: a call that lasts for many screens still has its time; and sorting by keys.
if command -v script >/dev/null 2>&1; then
	cat >long.c <<'END_C'
#include <unistd.h>
void *wait_here(void *x);
int main(void)
{
	wait_here(0);
	return 0;
}
END_C
	printf '#include <unistd.h>\nvoid *wait_here(void *x);\nvoid *wait_here(void *x)\n{\n\tsleep(200);\n'\
'\treturn x;\n}\n' >long_library.c
	$CC -O1 -fPIC -shared -fpatchable-function-entry=5 -o liblong.so long_library.c &&
		$CC -o long long.c -L. -llong -Wl,-rpath,"$tmp" ||
		bail 'long.c does not compile'
	rm -rf d
	bounded 200 "$XAUDIT" record -o d -k patchable ./long >out 2>err &
	record=$!
	wait_until 60 sh -c '"$XAUDIT" info d 2>/dev/null | grep -q "^Threads *1"'
	pid=$(ls d | sed -n 's/^p\([0-9]*\)$/\1/p')
	ctl "$pid" top -b -n 2 -d 0.4
	like "$(cat ctl.out)" '^ +0 +[0-9.]+ ms +(9[5-9]|100)\.[0-9]%  wait_here \[liblong.so\]$' \
		'a call that lasts for many screens has its time in each'
	: >tty.out
	(wait_until 60 grep -q wait_here tty.out; printf c; sleep 0.5; printf q) |
		bounded 60 script -qec "stty -g; '$XAUDIT' ctl $pid top -d 0.3; echo status \$?; stty -g" \
		/dev/null >tty.out 2>&1
	is "$(tr -d '\r' <tty.out | grep -c 'status 0')" 1 'on a terminal, q ends it'
	is "$(tr -d '\r' <tty.out | sed -n '1p;$p' | sed 's/.*\x1b\[?1049l//' | sort -u | wc -l)" 1 \
		'and the terminal is as it was'
	is "$(grep -c "$(printf '\033\[?1049l')" tty.out)" 1 'with its first screen'
	bounded 60 script -qec "stty -g; '$XAUDIT' ctl $pid top -d 0.3 & sleep 0.8; kill -TERM \$!
		wait \$!; echo status \$?; stty -g" /dev/null >tty.out 2>&1 </dev/null
	is "$(tr -d '\r' <tty.out | sed -n '1p;$p' | sed 's/.*\x1b\[?1049l//' | sort -u | wc -l)" 1 \
		'after a signal, too'
	kill "$pid"
	wait "$record" 2>/dev/null
else
	skip 5 'no script(1) here'
fi
done_testing
