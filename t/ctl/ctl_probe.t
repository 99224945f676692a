#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit ctl probe, unprobe, probes: at each instruction of a library whose functions four threads call all the time and
# compare their results; each in turn, and all at once. Nothing that they compute changes, what is counted is right, and
# afterwards the code is the file's own. A thousand in libc, and libz all over, while python3 runs. The command is
# killed at its system calls.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/ctl.sh"
. "$top_srcdir/t/lib/probed.sh"
need nm
probed_library
program "$CC" helper ctl_helper.c

# answer: of ctl, without times.
answer() {
	printf '%s %s\n' "$out" "$err" | sed 's/[0-9.]* ms/T ms/'
}
# wrong: what the threads computed since: "0 wrong", after they have gone round.
wrong() {
	tell wrong
	sleep 0.1
	tell wrong
	tail -n 1 out | sed 's/called \([1-9][0-9]*\) rounds \(.*\)/\2/'
}
# listed FILTER: of the list.
listed() {
	bounded 60 "$XAUDIT" ctl "$pid" probes --format=json | jq -r "$1"
}
# events NAME: how many events of that probe the trace has.
probe_events() {
	bounded 60 "$XAUDIT" dump --format=json d | jq -n --arg n "$1" \
		'[inputs | select(.event == "probe" and .probe == $n)] | length'
}

# ---- what is said ----

rules
begin ./probed 0
ctl "$pid" probes
is "$status $out $err" '0 there are no probes ' 'at first there are none'
tell 'call 3'
ctl "$pid" probe --context=regs 'first=floated@libprobed.so'
is "$status $(answer)" '0 1 of 1 probe on, at 1 place, paused T ms ' 'a probe at a function'
tell 'call 5'
ctl "$pid" probe '--if=arg1 == 1' 'never=stored' --every 3 'third=carried'
is "$status" 0 'options hold for all that are named'
ctl "$pid" unprobe never third
is "$status $(answer)" '0 2 probes taken away, paused T ms ' \
	'they are taken away'
ctl "$pid" probe --every=3 'third=stored'
tell 'call 6'
ctl "$pid" add-context first 'if=arg1 == 1'
is "$status $(answer)" '0 1 probe has values by that, paused T ms ' \
	'a condition for a probe that is there'
tell 'call 7'
ctl "$pid" del-context first
is "$status $(answer)" '0 1 probe had values, paused T ms ' \
	'and it is taken back'
tell 'call 2'
is "$(listed '.probes[] | "\(.name) \(.place) \(.library) \(.on) \(.reason)"')" \
	'first floated@libprobed.so libprobed.so true null
third stored libprobed.so true null' 'they are listed'
base=$(sed -n 's,^\([0-9a-f]*\)-[0-9a-f]* r--p 00000000 .*/libprobed\.so$,\1,p' "/proc/$pid/maps" | head -n 1)
address=$(sed -n 2p places)
ctl "$pid" probe "$(printf '0x%x' $((0x$base + 0x$address)))"
is "$status $(listed '.probes[0] | "\(.name) \(.address)"')" \
	"0 0x$address@libprobed.so $((0x$address))" 'an address of the process becomes one of the file'
ctl "$pid" probe 0x10
like "$status $err" '^1 .*nothing that is loaded and may be probed lies at 0x10; .* are 0x10@LIBRARY$' \
	'an address where nothing lies'
ctl "$pid" probe nowhere@libprobed.so middle=mixed+1@libprobed.so
is "$status" 1 'places that can not be had are no success'
like "$err" "'middle' .*: no instruction begins there; the nearest place that works is mixed$" \
	'a place in the middle of an instruction is refused, with the nearest that is none'
like "$err" "nothing that is loaded has the place of 'nowhere@libprobed.so'" 'so is a function that is not there'
mixed=$(nm -D libprobed.so | sed -n 's/^0*\([0-9a-f]*\) T mixed$/\1/p')
is "$(listed '.probes[] | select(.name == "middle") | "\(.nearest) \(.nearest_at)"')" "$((0x$mixed)) mixed" \
	'the list has it, too'
ctl "$pid" probes
like "$out" 'middle .* no instruction begins there; the nearest place that works is mixed$' 'as a table, too'
ctl "$pid" probe one=nested@libprobed.so two=nested@libprobed.so two=nested+0@libprobed.so
is "$status $(echo "$err" | sed 's/.*process [0-9]*: //; s/0x[0-9a-f]*/0xN/')" \
	"0 'two' (nested+0@libprobed.so) at 0xN of libprobed.so: the probe has this address already" \
	'a place that one has twice is told, and of what was wrong before nothing is said again'
ctl "$pid" unprobe one two
is "$status/$err" '0/' '... nor when probes are taken away'
set --
for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23; do
	set -- "$@" "many$n=mixed+1@libprobed.so"
done
ctl "$pid" probe "$@" many24=nowhere@libprobed.so
told=$(printf '%s\n' "$err" | grep '^xaudit ctl: process')
is "$(printf '%s\n' "$told" | wc -l) $(printf '%s\n' "$told" | tail -n 1)" "21 xaudit ctl: process $pid: 4 more can't \
be had: \`xaudit ctl $pid probes\` lists them" 'of many that can not be had 20 are told, and how many there are besides'
ctl "$pid" unprobe 'many*'
ctl "$pid" unprobe absent
like "$status $err" "^1 .*there is no probe 'absent'" 'a name that no probe has'
ctl "$pid" probe 'mixed+x'
like "$status $err" "^2 .*no number" 'a place that is none'
ctl "$pid" probe ''
is "$status $err" "2 xaudit ctl: probe: '' is no place; give [NAME=]PLACE, such as work=do_stuff+0x6@libfoo.so" \
	'an empty one'
ctl "$pid" contexts
is "$(printf '%s\n' "$out" | grep -c 'prototypes')" 0 'which leaves no rule'
ctl "$pid" probe '--if=nothing > 2' unknown=mixed@libprobed.so
is "$status $(echo "$err" | sed 's/.*process [0-9]*: //; s/0x[0-9a-f]*/0xN/')" \
	"1 xaudit: ctl probe: no symbol 'nothing' is known
'unknown' (mixed@libprobed.so) at 0xN of libprobed.so: what its condition asks for can't be had there" \
	'a condition that can not be had: the place can'
ctl "$pid" unprobe unknown
# A tool that is killed between two writes leaves a jump in padding that nothing leads to.
tight=$((0x$(nm -D libprobed.so | sed -n 's/ T tight$//p') + 6))
for command in unprobe probe; do
	ctl "$pid" probe 'short=tight+6'
	is "$status $(listed '.probes[] | select(.name == "short") | .way')" '0 short' 'a short jump'
	printf '\377\300' | dd of="/proc/$pid/mem" bs=1 seek=$((0x$base + tight)) conv=notrunc 2>dd.err
	case $command in unprobe) ctl "$pid" unprobe short ;; *) ctl "$pid" probe 'short=tight+6' ;; esac
	is "$status $(listed '.probes[] | select(.name == "short") | .on')" \
		"0 $(case $command in probe) echo true ;; esac)" "half of it, then $command"
done
ctl "$pid" unprobe '*'
is "$status $(clean)" '0 ' 'the code is the file'\''s after that'

# Each waits for the others, and has what they have set.
waited=''
for n in 1 2 3 4; do
	bounded 60 "$XAUDIT" ctl "$pid" probe "n$n=0x$(sed -n "$((20 * n))p" places)@libprobed.so" >"at_once$n" 2>&1 &
	waited="$waited $!"
done
for n in $waited; do
	wait "$n" || diag "$(cat at_once?)"
done
is "$(listed '[.probes[] | select(.on) | .name | select(test("^n[1-4]$"))] | join(" ")')" 'n1 n2 n3 n4' \
	'four commands at once: none undoes what another one has done'
waited=''
for n in 1 2 3 4; do
	bounded 60 "$XAUDIT" ctl "$pid" when "n$n" mark -o "mark$n" >"at_once$n" 2>&1 &
	waited="$waited $!"
done
for n in $waited; do
	wait "$n" || diag "$(cat at_once?)"
done
is "$(bounded 60 "$XAUDIT" ctl "$pid" contexts | sed -n 's/.*then = mark as \(mark[1-4]\) .*/\1/p' |
	sort | tr '\n' ' ')" 'mark1 mark2 mark3 mark4 ' 'nor do actions, for which they are told at once'
ctl "$pid" unprobe '*'
is "$status $(listed '.probes | length') $(clean)" '0 0 ' 'without probes the code is the file'\''s'
# Another file in its place, as an upgrade leaves it: this one has the same bytes, but who knows that?
cp libprobed.so upgraded && mv upgraded libprobed.so
ctl "$pid" probe gone=mixed@libprobed.so
is "$status $(printf '%s\n' "$err" | tail -n 1)" "1 xaudit ctl: process $pid: the file that was loaded as \
$tmp/libprobed.so is not there any more, or can't be read, so its places are not known; start the program anew" \
	'of a file that was replaced nothing is known, which is said'
ctl "$pid" unprobe gone
tell 'call 4'
finish
is "$status $(cat err)" '0 ' 'the program noticed nothing'
is "$(probe_events first) $(probe_events third)" '13 5' 'just the events are there that were to be'

# ---- each instruction in turn, then all at once, while four threads run ----

rules 'mode = ring' 'ring = 1M'
begin ./probed 4 signals
bad='' n=0
step=$(rounds 29 1)
while read -r address; do
	n=$((n + 1))
	[ $((n % step)) -eq 0 ] || continue
	ctl "$pid" probe --context=regs "p=0x$address@libprobed.so"
	case $status$err in
	0 | 1*': '*) ;;
	*) bad="$bad; $address: $status $err" ;;
	esac
	ctl "$pid" unprobe p
	[ "$status" -eq 0 ] || bad="$bad; $address, unprobe: $err"
done <places
is "$bad$(wrong)" '0 wrong' 'a probe at one instruction after another changes no result'
is "$(clean)" '' 'and leaves nothing in the code'

words=$(sed 's/.*/0x&@libprobed.so/' places)
# A second one, of another name, at every third of them.
again=$(awk 'NR % 3 == 0 { print "again" NR "=0x" $0 "@libprobed.so" }' places)
rounds=$(rounds 3 10 100)
n=0 bad=''
while [ $n -lt "$rounds" ]; do
	n=$((n + 1))
	ctl "$pid" probe $words
	[ -n "$out" ] || bad="$bad; $err"
	[ $n -gt 1 ] || on=$(listed '[.probes[] | select(.on)] | length')
	[ $n -gt 1 ] || diag "$on of $all instructions at once: $out"
	ctl "$pid" probe $again
	[ -n "$out" ] || bad="$bad; again: $err"
	tell 'signals 5'
	if [ $n -eq 1 ]; then
		pairs=$(listed '[.probes[] | select(.on) | .address] | group_by(.) | map(select(length > 1)) | length')
		beside=$(listed '[.probes[] | select(.on) | .name | select(startswith("again"))] | length')
	fi
	# One half of them, so that windows are made anew.
	ctl "$pid" unprobe '0x*[02468ace]@libprobed.so'
	# A thread may stand in the way of the new ones, time after time.
	case "$status $err" in
	'0 ' | '1 '*" 0 lie across two pages, 0 were changed by somebody else"*) ;;
	*) bad="$bad; half: $err" ;;
	esac
	ctl "$pid" unprobe '*'
	[ "$status" -eq 0 ] || bad="$bad; all: $err"
done
ok "$on of $all instructions can have a probe at the same time" test $((100 * on)) -ge $((90 * all))
ok "at $pairs of them two at a time ($beside are on)" test $((100 * pairs)) -ge $((27 * all))
is "$bad$(wrong)" '0 wrong' 'all at once, some twice, half of them, none: no result changes'
is "$(clean)" '' 'then the code is the file'\''s'
is "$(status '[.objects[].private_kb] | add // 0')" 0 'whose pages were given back'
finish
is "$status $(cat err)" '0 ' 'the program noticed nothing'

# ---- a thousand probes in libc, and all of libz, while python3 runs ----

cat >load.py <<'END'
import hashlib, json, os, sys, threading, zlib
print("ready", os.getpid(), flush=True)
ended, wrong, rounds = False, 0, 0
def made():
    text = json.dumps({str(k): [k] * 3 for k in range(50)}).encode()
    digest = hashlib.md5(text)
    for level in range(10):
        packed = zlib.compress(text * 3, level)
        if zlib.decompress(packed) != text * 3:
            return "not what it was"
        digest.update(packed)
    stream = zlib.compressobj(6, zlib.DEFLATED, 31, 3, zlib.Z_RLE)
    digest.update(stream.compress(text) + stream.flush(zlib.Z_SYNC_FLUSH) + stream.flush())
    return digest.hexdigest(), zlib.adler32(text), zlib.crc32(text)
expected = made()
def work():
    global wrong, rounds
    while not ended:
        wrong += made() != expected
        rounds += 1
threads = [threading.Thread(target=work) for i in range(4)]
for thread in threads: thread.start()
for line in sys.stdin: print("called", rounds, "rounds", wrong, "wrong", flush=True)
ended = True
for thread in threads: thread.join()
sys.exit(wrong != 0)
END
# python PROGRAM LIBRARY STEP MOST ROUNDS: of so many instructions one, MOST at most; 2000 at once.
python() {
	name=$2 rounds=$5
	of=$(ldd "$1" | sed -n "s/.*=> \(.*\/$2\) .*/\1/p")
	of=$(readlink -f "$of")
	objdump -d --no-show-raw-insn "$of" |
		awk -v step="$3" -v name="$2" '/^ *[0-9a-f]+:/ && $2 !~ /^(nop|nopw|nopl|cs|data16|xchg)$/ {
			sub(":", "", $1)
			if (++n % step == 0)
				print "0x" $1 "@" name
		}' | head -n "$4" >many
	all=$(wc -l <many)
	rm -f batch.*
	split -l 2000 many batch.
	rules 'mode = ring' 'ring = 1M'
	begin "$1" load.py
	bad='' least=$all
	for round in $(seq "$rounds"); do
		on=0
		for batch in batch.*; do
			ctl "$pid" probe $(cat "$batch")
			had=$(printf '%s\n' "$out" | sed -n 's/^\([0-9]*\) of [0-9]* probes on, .*/\1/p')
			on=$((on + ${had:-0}))
			[ "$round" -gt 1 ] || diag "$out"
			sleep 0.1
			ctl "$pid" unprobe '*'
			[ "$status" -eq 0 ] || bad="$bad; $err"
		done
		[ "$on" -ge "$least" ] || least=$on
	done
	ok "of $all places in $name $least could be had each time" test "$least" -ge $((all * 9 / 10))
	is "$bad$(wrong)$(clean "$of")" '0 wrong' "python3 computes what it did, and $name is as it was"
	finish
	is "$status $(cat err)" '0 ' 'it noticed nothing'
}
if [ -x /usr/bin/python3 ] && [ "$(objdump -f /usr/bin/python3 2>/dev/null | grep -c x86-64)" -gt 0 ]; then
	python /usr/bin/python3 libc.so.6 311 1000 "$(rounds 3 20 100)"
	python /usr/bin/python3 libz.so.1 "$(rounds 9 1)" 100000 "$(rounds 2 5 20)"
else
	skip 6 'no python3 here'
fi

# ---- killed at each of its system calls ----

rules 'mode = ring' 'ring = 1M'
begin ./probed 2
bad='' n=3 survived=0
step=$(rounds 61 19 1)
for command in 'probe' 'unprobe'; do
	status=99 n=$((n + 1))
	while [ "$status" -eq 99 ] && [ $n -lt 3000 ]; do
		n=$((n + step)) status=0
		case $command in probe) set -- $words ;; *) set -- '*' ;; esac
		bounded 60 ./helper kill $n "$XAUDIT" ctl "$pid" "$command" "$@" >ctl.out 2>ctl.err || status=$?
		killed=$status
		tell wrong
		has_answered || bad="$bad; $command, call $n: the program does not go on"
		case $command in probe) ctl "$pid" unprobe '*' ;; *) ctl "$pid" probe $words ;; esac
		[ -n "$out" ] || bad="$bad; after $command, call $n: $err"
		status=$killed
	done
	[ "$status" -eq 99 ] || survived=$((survived + 1))
	n=0
done
ctl "$pid" unprobe '*'
is "$survived$bad $(wrong) $(clean)" '2 0 wrong ' 'killed at its system calls, ctl leaves a program that works'
finish
is "$status $(cat err)" '0 ' 'which noticed nothing'
done_testing
