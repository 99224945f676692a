#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit ctl enable entry:...: functions that nothing was prepared for, in processes that were started with nothing
# selected, while their threads run them.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/ctl.sh"

XAUDIT_INDEX=$tmp/index
export XAUDIT_INDEX
mkdir displaced other
library "$CC" displaced/libcontrolled.so controlled_library.c -DDIGITS=2 -DDISPLACED
library "$CC" other/libother.so controlled_library.c -DDIGITS=2 -DDISPLACED
program "$CC" displaced/controlled controlled.c -Ldisplaced -lcontrolled
program "$CC" displaced/helper ctl_helper.c -DWITH_LIBRARY -Ldisplaced -lcontrolled
program "$CC" reopened reopened.c
kinds=none

without_pause() {
	printf '%s\n' "$out" | sed 's/[0-9.]* ms/T ms/'
}
private() {
	status '[.objects[] | select(.path | endswith("libcontrolled.so")) | .private_kb] | add // 0'
}
# The pages of the library's text that the process has changed, as the kernel counts them.
dirty() {
	awk '/libcontrolled.so/ { here = $2 == "r-xp"; next } /^[0-9a-f]+-/ { here = 0 }
		here && /^Anonymous:/ { kb += $2 } END { print kb + 0 }' "/proc/$pid/smaps"
}

# ---- exactly the calls between the commands ----

rules
begin displaced/controlled counters 3 8 signals
tell 'call 100'
is "$(on) $(dirty)" '0 0' 'nothing is on at first'
ctl "$pid" enable entry:counted
is "$status $(without_pause) $err" '0 1 function: 1 site switched on, 0 were already, paused T ms ' \
	'one function is switched on'
is "$(on) $(status '[.objects[].kinds.entry.functions] | add')" '1 1' 'status says so'
ok "a page is the process's own" [ "$(dirty)" -gt 0 ]
tell 'call 50'
ctl "$pid" enable entry:counted
like "$out" '^1 function: 0 sites switched on, 1 was already, ' 'once more changes nothing'
tell 'call 5'
ctl "$pid" disable 'entry:count*@libcontrolled*'
like "$out" '^1 function: 1 site switched off, ' 'it is switched off by a pattern with a library'
is "$(on) $(dirty) $(private)" '0 0 0' 'and its page is shared again'
tell 'call 30'
for mode in ring count stream; do
	ctl "$pid" mode $mode
	ctl "$pid" enable entry:counted
	like "$status $out" '^0 1 function: 1 site switched on, ' "mode $mode: it is switched on again"
	tell 'call 7'
	ctl "$pid" disable counted
	like "$status $out" '^0 1 function: 1 site switched off, ' "mode $mode: and off, by a rule without a kind"
	tell 'call 3'
done
ctl "$pid" enable 'entry:nothing*@libcontrolled*'
is "$status $(without_pause) $(printf '%s\n' "$err" | sed 's/:.*//')" \
	'1 0 functions: 0 sites switched on, 0 were already, paused T ms xaudit ctl' 'a name that no function has'
ctl "$pid" enable f101
like "$status $err" '^1 .*names nothing' 'a rule without a kind displaces nothing'
ctl "$pid" disable '*'
finish
is "$status $(tail -n 1 out) $(cat err)" '7 interrupted 0 wrong 0 ' 'the program noticed nothing'
report d
is "$(calls counted), $(sums)" "$((50 + 5 + 3 * 7)), 0 lost 0 unfinished" 'exactly those calls are in the trace'
ok 'indexes are kept for the next time' [ "$(ls index | wc -l)" -gt 0 ]

# ---- all functions, while threads run them ----

# halt: the process stands still; $sum is what its workers have counted. proceed: goes on. halted ARG...: ctl does this
# in a process that stands still, once it does not stand where it holds a lock of the module's.
halt() {
	kill -STOP "$pid"
	wait_until 60 grep -q '^State:.T' "/proc/$pid/status" || bail 'it does not stop'
	sum=$(od -An -v -td8 -N24 counters | awk '{ for (i = 1; i <= NF; i++) n += $i } END { print n }')
}
proceed() {
	kill -CONT "$pid"
}
halted() {
	tries=0
	while halt && ctl "$@" && [ $tries -lt 20 ]; do
		case $err in
		*'is busy with its libraries'*'nothing was changed, try again'*) proceed ;;
		*) return ;;
		esac
		tries=$((tries + 1))
	done
}
rules
begin displaced/controlled counters 3 4 signals
ctl "$pid" mode count
wrong='' all=0 n=0
while [ $n -lt 20 ]; do
	n=$((n + 1))
	halted "$pid" enable 'entry:f1*@libcontrolled*'
	from=$sum
	[ "$status $(without_pause)" = '0 100 functions: 100 sites switched on, 0 were already, paused T ms' ] ||
		wrong="$wrong; $n: $out$err"
	proceed
	tell 'call 1'
	halted "$pid" disable 'entry:f1*'
	all=$((all + sum - from))
	[ "$(without_pause)" = '100 functions: 100 sites switched off, 0 were already, paused T ms' ] ||
		wrong="$wrong; $n: $out$err"
	proceed
	[ "$(on) $(dirty)" = '0 0' ] || wrong="$wrong; $n: $(on) on, $(dirty) kB are the process's own"
done
is "$wrong" '' '100 functions are switched on and off twenty times, under threads that run them'
finish
is "$status $(tail -n 1 out) $(cat err)" '7 interrupted 0 wrong 0 ' 'the program noticed nothing'
report d
traced=$(printf '%s\n' "$report" | jq '[.functions[] | select(.function | startswith("f1")) | .calls] | add')
# A worker may be between a call and its own count whenever the process is halted.
ok "$traced calls in the trace, $all counted by the program itself" \
	[ $((traced - all)) -ge -120 -a $((traced - all)) -le 120 ]
is "$(calls counted)" '' 'and no call of others'

# ---- threads within the bytes ----

for shape in halfway 'halfway altstack'; do
	rules
	begin displaced/helper $shape
	ctl "$pid" enable entry:counted@libcontrolled*
	like "$out" '^1 function: 1 site switched on, ' "$shape: the bytes that a handler will return to are changed"
	echo go >&3
	ok "$shape: the handler returns to their copy" wait_until 60 grep -q '^went' out
	finish
	is "$status $(cat err)" '5 ' "$shape: the program goes on"
done
rules
begin displaced/helper inside
ctl "$pid" enable entry:counted
like "$out" '^1 function: 1 site switched on, ' 'inside: a thread goes on elsewhere, and the bytes are changed'
is "$(sed -n 's/^State:\t\([A-Z]\).*/\1/p' "/proc/$pid/status")" T \
	'inside: a process that was stopped by a signal still is'
kill -CONT "$pid"
ok 'inside: it goes on behind them' wait_until 60 grep -q '^status ' out
is "$(grep '^status' out)" 'status 5' 'inside: and ends as it should'
finish
rules
begin displaced/helper inside task
ctl "$pid" enable entry:counted
like "$out" '^1 function: 1 site switched on, ' 'inside: the same where a task that shares the memory stands there'
echo go >&3
ok 'inside: it goes on' wait_until 60 grep -q '^status ' out
is "$(grep '^status' out)" 'status 5' 'inside: and ends as it should, too'
finish

# ---- libraries that go and come ----

rules
begin ./reopened displaced/libcontrolled.so other/libother.so
tell 'open 0'
ctl "$pid" enable entry:counted
like "$out" '^1 function: 1 site switched on, ' 'it is switched on in what is loaded'
tell 'call 5'
n=0
while [ $n -lt 3 ]; do
	n=$((n + 1))
	tell 'close 0'
	tell 'open 0'
	tell 'call 1'
done
is "$(on)" 1 'and in what is loaded again'
tell 'close 0'
ctl "$pid" enable entry:counted
is "$status $(without_pause) $err" '0 0 functions: 0 sites switched on, 0 were already, paused T ms
  what has functions of these names is not loaded now: it holds when it is loaded again ' \
	'where it is closed just now, that is said'
tell 'open 0'
bounded 60 "$XAUDIT" index other/libother.so >/dev/null || bail 'no index of libother.so'
tell 'open 1'
tell 'call 3'
ctl "$pid" disable entry:counted
like "$out" '^2 functions: 2 sites switched off, ' 'a library that came later has it, too, where there is an index'
tell 'close 0'
tell 'open 0'
tell 'call 9'
finish
is "$status $(cat err)" '5 ' 'the program noticed nothing'
report d
is "$(calls counted), $(sums)" "$((5 + 3 + 3)) 3, 0 lost 0 unfinished" 'exactly those calls are in the trace'

# ---- from inside ----

program "$CC" from_inside from_inside.c "-I$top_srcdir/runtime/api" "-L$top_builddir/.libs" -lxaudit-api \
	"-Wl,-rpath,$top_builddir/.libs" -Ldisplaced -lcontrolled "-Wl,-rpath,$tmp/displaced"
answer() {
	tail -n 1 out
}
rules
begin ./from_inside entry:counted@libcontrolled*
tell enable
is "$(answer) $(dirty)" 'called 0 0 0 0 1 0' 'the program itself can displace nothing'
tell 'call 3'
ctl "$pid" enable entry:counted@libcontrolled*
like "$out" '^1 function: 1 site switched on, ' 'the command can'
tell 'call 5'
tell disable
is "$(answer) $(on)" 'called 0 1 1 0 0 0' 'what is displaced the program can switch off'
ok 'its page stays as it is' [ "$(dirty)" -gt 0 ]
tell 'call 7'
tell enable
is "$(answer) $(on)" 'called 0 1 1 0 0 1' 'and on again'
tell 'call 11'
tell disable
ctl "$pid" enable counted
like "$out" '^1 function: 1 site switched on, ' 'the command switches on what the program switched off'
tell 'call 13'
tell disable
ctl "$pid" disable entry:counted
is "$status $(on) $(dirty)" '0 0 0' 'and takes the jump away where it is off already'
tell 'call 17'
finish
report d
is "$status $(calls counted), $(sums)" "5 $((5 + 11 + 13)), 0 lost 0 unfinished" 'exactly those calls are in the trace'

# ---- unwinders that would not see our frames ----

for how in GOT PLT; do
	library "$CC" libpart.so unwinder_part.c -DUNWINDER -D$how
	rules
	export LD_PRELOAD="$tmp/libpart.so"
	begin displaced/controlled counters 0 0
	unset LD_PRELOAD
	ctl "$pid" enable entry:counted@libcontrolled*
	like "$status $out" '^0 1 function: 1 site switched on, ' "$how: a function of a process with such an unwinder"
	tell 'call 10'
	finish
	like "$(cat err)" '/libpart.so: its unwinder would not see intercepted calls; only entries are recorded' \
		"$how: a line says that only entries are recorded"
	dump d
	is "$(events d '.function == "counted" and .event == "exit"') $(events d '.function == "counted"')" '0 10' \
		"$how: and so it is"
done

# ---- two at once ----

rules
begin displaced/controlled counters 3 4 signals
n=0
while [ $n -lt 30 ]; do
	n=$((n + 1))
	"$XAUDIT" ctl "$pid" enable 'entry:f10*@libcontrolled*' >one 2>&1 &
	first=$!
	"$XAUDIT" ctl "$pid" disable 'entry:f1*' >two 2>&1
	wait $first
done
ctl "$pid" enable 'entry:f1*@libcontrolled*'
is "$status $(on) $err" '0 100 ' 'two commands at once: then all can be switched on'
ctl "$pid" disable '*'
is "$status $(on) $(dirty)" '0 0 0' 'and off'
finish
is "$status $(tail -n 1 out) $(cat err)" '7 interrupted 0 wrong 0 ' 'the program noticed nothing'

# ---- many requests ----
# Each has stubs of its own, of which status knows.
rules
begin displaced/controlled counters 3 8 signals
failed=0
for n in 10 11 12 13 14 15 16; do
	for m in 0 1 2 3 4 5 6 7 8 9; do
		bounded 60 "$XAUDIT" ctl "$pid" enable "entry:f$n$m@libcontrolled*" >/dev/null 2>&1 || failed=1
	done
done
is "$failed $(on) $(cat ctl.err)" '0 70 ' 'functions that 70 requests have switched on are on'
ctl "$pid" disable 'entry:f1*'
is "$status $(on)" '0 0' 'and one switches all of them off'
finish

# ---- programs that we did not write ----

# traced NAME LIBRARY FUNCTIONS ROUNDS COMMAND: the command, under the module with nothing selected, does what it does
# without, while those functions of the library are switched on and off; its input, the file `feed`, comes by a pipe.
traced() {
	name=$1 library=$2 functions=$3 rounds=$4 command=$5
	printf '[trace]\noutput = %s/d\nmode = ring\nring = 256k\n' "$tmp" >conf
	printf '[library *]\nkinds = none\n[program]\nkinds = none\n' >>conf
	rm -rf d fifo done go
	sh -c "$command" <feed >plain 2>&1
	mkfifo fifo
	(
		exec 4>fifo
		i=0
		while [ $i -lt 40 ]; do
			dd if=feed bs=1M skip=$i count=1 2>/dev/null >&4
			i=$((i + 1))
			[ -e go ] || sleep 0.05
		done
		wait_until 600 [ -e go ]
	) &
	feeder=$!
	sh -c "echo \$\$ >pid; exec env XAUDIT_CONFIG=$tmp/conf LD_AUDIT=$MODULE $command" <fifo >traced 2>err &
	child=$!
	wait_until 60 [ -s pid ] || bail "$name does not begin"
	pid=$(cat pid)
	wait_until 60 grep -q "$library" "/proc/$pid/maps" || bail "$name: no $library"
	n=0 wrong=''
	while [ $n -lt "$rounds" ]; do
		n=$((n + 1))
		ctl "$pid" enable "entry:$functions@$library*"
		[ "$status" -eq 0 ] || wrong="$wrong; $out$err"
		[ $n -ne 2 ] || on_out=$out
		ctl "$pid" disable "entry:$functions@$library*"
		[ "$status" -eq 0 ] || wrong="$wrong; $out$err"
	done
	touch go
	wait $feeder
	status=0
	wait "$child" || status=$?
	rm -f pid
	diag "$name: $(printf '%s\n' "$on_out" | head -n 1)"
	is "$wrong" '' "$name: its functions are switched on and off $rounds times"
	is "$status $(cat err)" '0 ' "$name: it ends as ever"
	ok "$name: it does what it does" cmp plain traced
}
dd if=/dev/urandom of=feed bs=1M count=40 2>/dev/null
if command -v openssl >/dev/null; then
	traced openssl libcrypto '*' 20 'openssl dgst -sha256'
else
	skip 3 'no openssl'
fi
cat >sums.py <<'END'
import hashlib, sys, zlib
h, c, n = hashlib.md5(), 0, 0
for d in iter(lambda: sys.stdin.buffer.read(50000), b""):
    h.update(zlib.decompress(zlib.compress(d[:5000])))
    c = zlib.crc32(d, c)
    n += sum(d[:1000]) + len([x for x in d[:500] if x > 7])
print(h.hexdigest(), c, n)
END
if command -v python3 >/dev/null; then
	python=$(readlink -f "$(python3 -c 'import sys; print(sys.executable)')")
	inside=$(ldd "$python" | grep -o 'libpython[^ ]*' | head -n 1)
	traced python "${inside:-$(basename "$python")}" '*' 6 "$python -S sums.py"
else
	skip 3 'no python3'
fi
cat >sums.js <<'END'
const h = require('crypto').createHash('sha1');
let n = 0;
process.stdin.on('data', d => { h.update(d); for (const x of d.subarray(0, 1000)) n += x; });
process.stdin.on('end', () => console.log(h.digest('hex'), n > 0));
END
# Where uv is in node itself, the index of its 100 MB takes some seconds.
if command -v node >/dev/null; then
	uv=$(ldd "$(command -v node)" | grep -o 'libuv\.so' | head -n 1)
	more traced node "${uv:-node}" 'uv_*' 10 'node sums.js'
else
	skip 3 'no node'
fi
done_testing
