#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit ctl: what it changes in a running process, what it leaves unchanged, and its messages.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/ctl.sh"

mkdir patchable plain
library "$CC" patchable/libcontrolled.so controlled_library.c -DDIGITS=2 -fpatchable-function-entry=5
library "$CC" plain/libcontrolled.so controlled_library.c -DDIGITS=2
for folder in patchable plain; do
	program "$CC" $folder/controlled controlled.c -L$folder -lcontrolled
done
program "$CC" helper ctl_helper.c
program "$CC" patchable/helper ctl_helper.c -DWITH_LIBRARY -Lpatchable -lcontrolled

# kind NAME KIND PROGRAM [LINE]...: exactly the calls of counted() between the commands are traced.
kind() {
	name=$1 kinds=$2 command=$3
	shift 3
	rules 'enabled = no' "$@"
	begin "$command" counters 3 8 signals
	tell 'call 100'
	is "$(on)" 0 "$name: nothing is on at first"
	ctl "$pid" enable counted
	is "$status $(printf '%s\n' "$out" | sed 's/[0-9.]* ms/T ms/') $err" \
		'0 1 function: 1 site switched on, 0 were already, paused T ms ' \
		"$name: one function is switched on"
	is "$(on)" 1 "$name: status says so"
	tell 'call 50'
	ctl "$pid" enable counted
	like "$out" '^1 function: 0 sites switched on, 1 was already, ' "$name: once more changes nothing"
	ctl "$pid" disable 'count*@libcontrolled*' nothing
	like "$out" ' 1 site switched off, ' "$name: it is switched off by a pattern with a library"
	is "$(on)" 0 "$name: nothing is on"
	tell 'call 30'
	ctl "$pid" stop
	like "$status $out $err" '^0 paused [0-9.]* ms $' "$name: recording is stopped"
	is "$(status .recording)" false "$name: status says that"
	ctl "$pid" enable counted
	tell 'call 9'
	ctl "$pid" start
	tell 'call 11'
	ctl "$pid" mode count
	is "$status $(status .mode)" '0 "count"' "$name: the mode is changed"
	tell 'call 13'
	ctl "$pid" mode stream
	tell 'call 7'
	ctl "$pid" disable '*'
	is "$(on)" 0 "$name: all is off again"
	# A stub by which the program calls without a slot stays changed.
	is "$(status '[.objects[] | select(.path | endswith(".so")) | .private_kb] | add')" 0 \
		"$name: and no page of code is private"
	tell 'call 100'
	is "$(status '[.lost, .off, .alive, .pid]')" "[0,false,true,$pid]" "$name: nothing is lost"
	finish
	is "$status $(tail -n 1 out) $(cat err)" '7 interrupted 0 wrong 0 ' \
		"$name: the program got no EINTR, no early end, no wrong result"
	report d
	is "$(calls counted), $(sums)" "$((50 + 11 + 13 + 7)), 0 lost 0 unfinished" \
		"$name: exactly those calls are in the trace"
	for of in d "d/p$pid/"; do
		ctl "$of" status --format=json
		is "$status $(printf '%s\n' "$out" |
			jq -c '[.[] | [.pid, .alive, .recording, .mode, .lost, .epoch]]')" \
			"0 [[$pid,false,false,\"stream\",0,null]]" \
				"$name: status of the folder ${of%%[0-9]*} tells it afterwards"
	done
}
kind 'patchable, prepared' patchable patchable/controlled
kind 'patchable, not prepared' patchable patchable/controlled 'prepare = none'
kind plt plt plain/controlled
kind 'plt, prepare = none' plt plain/controlled 'prepare = none'
mkdir cyg
cyg_library cyg/libcontrolled.so controlled_library.c -DDIGITS=2
program "$CC" cyg/controlled controlled.c -Lcyg -lcontrolled
kind cyg cyg cyg/controlled
kind 'cyg, prepare = none' cyg cyg/controlled 'prepare = none'
mkdir xray
if xray_library xray/libcontrolled.so controlled_library.c -DDIGITS=2; then
	program "$CC" xray/controlled controlled.c -Lxray -lcontrolled
	kinds=xray
	rules 'enabled = no' 'prepare = none'
	begin xray/controlled counters 3 8 signals
	for n in 1 2 3; do
		ctl "$pid" enable 'xray:counted'
		like "$out" '^1 function: 2 sites switched on, ' "xray, round $n: entry and exit are switched on"
		tell 'call 40'
		ctl "$pid" disable 'xray:counted'
		like "$out" '^1 function: 2 sites switched off, ' "xray, round $n: and off"
		tell 'call 20'
	done
	finish
	is "$status $(tail -n 1 out) $(cat err)" '7 interrupted 0 wrong 0 ' 'xray: the program notices nothing'
	report d
	is "$(calls counted), $(sums)" '120, 0 lost 0 unfinished' 'xray: exactly those calls are in the trace'
else
	skip 8 'no clang here'
fi

# ---- rules that name nothing ----

# names_nothing STATUS FUNCTIONS WHY SENTENCE COMMAND RULE...
names_nothing() {
	expected="$1 $2 functions: $3"
	sentence=$4
	shift 4
	ctl "$pid" "$@"
	is "$status $(printf '%s\n' "$out" | sed 's/:.*//'): $err" "$expected" "$sentence"
}
kinds=patchable
rules 'enabled = no'
begin patchable/controlled counters 0 0
lost="xaudit ctl: process $pid:"
later='(it holds for what is loaded later)'
names_nothing 1 0 "$lost 'typo*' names nothing: no function of that name can be switched in what is loaded; \`xaudit \
list FILE\` shows their names $later" \
	'a name that no function has: status 1, and why' enable 'typo*'
names_nothing 1 0 "$lost '*@libnone.so' names nothing: no library of that name is loaded $later" \
	'a library that is not loaded: status 1, and why' \
	enable '*@libnone.so'
kinds_why='what is loaded of that has no function of these kinds, or was not asked for them when it was loaded (kinds '\
'in man xaudit.conf); `xaudit list FILE` tells which it has, and kind entry can be switched without'
kinds_later='(it holds for what is loaded later, and asked for them)'
names_nothing 1 0 "$lost 'xray:counted' names nothing: $kinds_why $kinds_later" \
	'a kind that nothing has: status 1, and why' enable xray:counted
names_nothing 1 0 "$lost 'fentry:counted' names nothing: what is loaded of that has no function of these kinds that \
can be switched; \`xaudit list FILE\` tells why $later" \
	'so it is with one that needs no preparation' enable fentry:counted
names_nothing 1 0 "$lost 'typo*' names nothing: no function of that name can be switched in what is loaded; \`xaudit \
list FILE\` shows their names" \
	'the same for disable' disable 'typo*'
ctl "$pid" enable counted typo
is "$status $(printf '%s\n' "$out" | sed 's/:.*//') $(printf '%s\n' "$err" |
	sed 's/.*: \(.*\) names nothing: .*/\1/')" "0 1 function 'typo'" \
	'of several rules, the one that names nothing is said'
ctl "$pid" enable 'count*' counted
is "$status $err" '0 ' 'a function may be named twice'
ctl "$pid" snapshot -o empty.1
like "$status $out $err" \
	'^0 empty\.1: 0 threads, 0 buffers, [0-9]* kB; nothing that is switched on was called up to now $' \
	'an empty snapshot says why'
ctl "$pid" stop
ctl "$pid" snapshot -o empty.2
like "$status $out $err" '^0 empty\.2: 0 threads, 0 buffers, [0-9]* kB; recording is stopped $' \
	'also where recording is stopped'
ctl "$pid" mode count
ctl "$pid" start
tell 'call 3'
ctl "$pid" snapshot -o empty.3
like "$status $out $err" '^0 empty\.3: 1 thread, 0 buffers, [0-9]* kB; in mode count, calls are only counted $' \
	'and in mode count'
report empty.3
is "$(calls counted)/$(sums)" '3/0 lost 0 unfinished' 'which are in it'
ctl "$pid" disable '*'
finish

# The half beside the head is taken by what comes first, a chunk or counters; the other has a place then.
# beside: what lies there.
beside() {
	size=$(od -An -t u8 -j 224 -N 8 d/p*/meta | tr -d ' ')
	od -An -c -j $((size / 2)) -N 4 d/p*/meta | tr -d ' '
}
for way in 'count stream CNTS' 'stream count CHNK'; do
	set -- $way
	rules "mode = $1"
	begin patchable/controlled counters 0 0
	tell 'call 10'
	is "$(beside)" "$3" "mode $1 first: beside the head lies $3"
	ctl "$pid" snapshot -o "$1.1"
	ctl "$pid" mode "$2"
	tell 'call 5'
	ctl "$pid" mode "$1"
	tell 'call 7'
	ctl "$pid" mode "$2"
	tell 'call 100'
	ctl "$pid" snapshot -o "$1.2"
	is "$(beside)" "$3" "mode $1 first: and stays there"
	finish
	report d
	is "$status/$(calls counted)/$(sums)" '7/122/0 lost 0 unfinished' \
		"mode $1, then $2, and again: each call is there"
	report "$1.1"
	is "$(calls counted)/$(sums)" '10/0 lost 0 unfinished' "mode $1: so it is in a snapshot"
	report "$1.2"
	is "$(calls counted)/$(sums)" '122/0 lost 0 unfinished' "mode $1, then $2, and again: in one, too"
done
rules 'enabled = no'
begin ./helper sleep
ctl "$pid" disable '*'
is "$status $(printf '%s\n' "$out" | sed 's/:.*//') $err" '0 0 functions ' \
	'where nothing can be on, all is off: status 0'
finish

# ---- several processes ----

kinds=patchable
rules 'enabled = no'
cp patchable/helper patchable/ctl_tree_test
begin patchable/ctl_tree_test master
for n in 1 2; do
	tell fork
done
first=$(pgrep -P "$pid" | sort -n | tr '\n' ' ')
ctl "$pid" $first enable counted
is "$status $(printf '%s\n' "$out" | sed 's/:.*//' | tr '\n' ' ') $err" \
	"0 $(for each in $pid $first; do printf '%s ctl_tree_test ' "$each"; done) " \
		'three processes are named: each has its line'
tell fork
tell call
ctl --tree "$pid" status --format=json
is "$status $(printf '%s\n' "$out" | jq -c '[length, ([.[] | .objects[] | .kinds[].on] | add)]') $err" '0 [4,4] ' \
	'a tree has four processes; the function is on in the one that was forked later, too'
# A search by name also finds processes of other test runs, if there are any: this run's are known by their module.
ctl --tree "$pid" disable counted typo
is "$status $(printf '%s\n' "$out" | grep -c ': 1 function: 1 site switched off') $err" \
	"0 4 xaudit ctl: 4 processes: 'typo' names nothing: no function of that name can be switched in what is \
loaded; \`xaudit list FILE\` shows their names" \
	'a tree is switched off; what names nothing in any of them is said once'
tell call
bounded 60 "$XAUDIT" ctl --tree "$pid" enable counted typo >ctl.all 2>&1
is "$(sed 's/.*switched on, .*/answer/; s/.*names nothing.*/error/' ctl.all | uniq | tr '\n' ' ')" 'answer error ' \
	'in one file, answers stand before the error that follows them'
tell call
ctl --name 'ctl_tree_t[e]st' snapshot -o all
is "$status $(cut -d: -f1 <ctl.out | sort | tr '\n' ' ') $err" \
	"0 $(for each in "$pid" $(pgrep -P "$pid"); do echo "all/p$each"; done | sort | tr '\n' ' ') " \
	'a snapshot of those of a name is one folder'
# Flags, in the head of each.
is "$(for each in "$pid" $(pgrep -P "$pid"); do od -A n -t d4 -j 44 -N 4 "all/p$each/meta"; done | tr -d ' ' |
	tr '\n' ' ')" '0 4 4 4 ' 'which knows of each but the first that it was forked'
XAUDIT_CONFIG="$tmp/conf" LD_AUDIT="$MODULE" sleep 60 &
idle=$!
wait_until 60 grep -q libxaudit /proc/$idle/maps
ctl $idle "$pid" snapshot
is "$status $(cut -d: -f1 <ctl.out) $err" "0 xaudit.snapshot.$idle " 'without a name, it bears the number of the first'
kill $idle
# The head of a forked process loses its mark for a moment.
broken=$(echo $first | sed 's,.* ,,')
size=$(od -A n -t d8 -j 224 -N 8 "d/p$pid/meta")
place=$("$XAUDIT" ctl "$broken" status | sed -n 's,^Trace .*/p[0-9]*/,,p')
mark() {
	printf "$1" | dd of="d/p$pid/meta" bs=1 seek=$((place * size)) conv=notrunc 2>/dev/null
}
mark X
ctl "$pid" $first snapshot -o part
mark x
is "$status $(cut -d: -f1 <ctl.out | tr '\n' ' ') $(wc -l <ctl.err)" \
	"1 $(for each in $pid $first; do [ "$each" = "$broken" ] || echo "part/p$each"; done | tr '\n' ' ') 1" \
	'one that cannot be copied leaves the others their snapshot'
ctl --name 'ctl_tree_t[e]st' stop
is "$status $(grep -c ' ctl_tree_test: paused ' ctl.out) $err" '0 4 ' 'recording is stopped in those of a name'
ctl "$pid" $first top -b -n 1
is "$status $err" "2 xaudit ctl: top shows one process, and these are 3; name one of$(for each in $pid $first; do
	printf ', %s (ctl_tree_test)' "$each"
done | sed 's/^,//')" 'top is of one process, and names those that there are'
ctl "all/p$pid" start
is "$status $err" "1 xaudit ctl: process $pid, whose trace is in all/p$pid, writes to another folder now: status, \
snapshot and top show what it has left" \
	'a snapshot of it does not'
ctl "d/p$pid" start
like "$status $out $err" '^0 paused [0-9.]* ms $' 'the folder of a process that lives stands for it'
finish
is "$status $(cat err)" '5 ' 'the program goes on and ends'
report d
is "$(calls counted), $(sums)" "$((4 * 5 * 2)), 0 lost 0 unfinished" 'exactly the calls between are in the trace'
report all
is "$(calls counted)" "$((4 * 5 * 2))" 'and in the snapshot'
ctl "d/p$pid" enable counted
is "$status $err" "1 xaudit ctl: process $pid, whose trace is in d/p$pid, has ended: status, snapshot and top show \
what it has left" \
	'the folder of a process that has ended: one line says so'
ctl "d/p$pid" status
like "$out" "^Process     $pid, has ended\$" 'status of its folder says so, too'
ctl --name ctl_tree_test enable counted
is "$status $err" \
	"1 xaudit ctl: no process of the name 'ctl_tree_test' runs under libxaudit.so, as far as may be seen" \
	'nobody has the name any more'
ctl --tree $$ enable counted
is "$status $err" "1 xaudit ctl: neither process $$ nor what descends from it runs under libxaudit.so, as far as may \
be seen" \
	'a tree without the module'

# A filter may kill the process for a system call that ctl makes in it.
program "$CC" deny deny.c
status=0
./deny kill true || status=$?
if [ "$status" -eq 0 ]; then
	begin ./deny kill env XAUDIT_CONFIG="$tmp/conf" LD_AUDIT="$MODULE" patchable/ctl_tree_test master
	ctl --tree "$pid" enable counted
	said="process $pid (ctl_tree_test) is left as it is: it has a seccomp filter, which might kill it"
	is "$status $out$err" "1 xaudit ctl: $said; \`xaudit ctl $pid\` does it" \
		'in a tree, a process with a filter is left as it is'
	ctl --tree "$pid" status
	like "$status $out" "^0 Process +$pid" 'its status can be read'
	ctl "$pid" enable counted
	like "$status $out" '^0 1 function: 1 site switched on' 'named by its id, it is changed'
	finish
else
	skip 3 'no seccomp filters here'
fi

# ---- the process executed another program ----

rules 'follow = yes'
sed -i 's/none/plt/' conf
begin sh -c 'exec patchable/helper master'
wait_until 60 test -e "d/p$pid.1/meta"
ctl "d/p$pid" enable counted
is "$status $err" "1 xaudit ctl: process $pid, whose trace is in d/p$pid, executed another program: status, snapshot \
and top show what it has left" \
	'the folder of what it was before: one line says so'
ctl "d/p$pid" status
like "$out" "^Process     $pid, executed another program\$" 'status of that folder says so, too'
ctl "d/p$pid.1" enable counted
is "$status $err" '0 ' 'the folder of what it is now stands for it'
finish

# ---- in the middle of five one-byte NOPs ----

kinds=patchable
rules 'enabled = no' 'prepare = none'
for shape in halfway 'halfway altstack'; do
	begin patchable/helper $shape
	ctl "$pid" enable counted
	like "$out" '^1 function: 1 site switched on, ' "$shape: the bytes that a handler will return to are changed"
	echo go >&3
	ok "$shape: the handler returns behind them" wait_until 60 grep -q '^went' out
	finish
	is "$status $(cat err)" '5 ' "$shape: the program goes on"
done
begin patchable/helper inside
ctl "$pid" enable counted
like "$out" '^1 function: 1 site switched on, ' 'inside: the bytes that a stopped thread stands in are changed'
is "$(sed -n 's/^State:\t\([A-Z]\).*/\1/p' "/proc/$pid/status")" T \
	'inside: a process that was stopped by a signal still is'
kill -CONT "$pid"
ok 'inside: it goes on behind them' wait_until 60 grep -q '^status ' out
is "$(grep '^status' out)" 'status 5' 'inside: and ends as it should'
finish
begin patchable/helper inside task
ctl "$pid" enable counted
like "$out" '^1 function: 1 site switched on, ' 'inside: the same where a task that shares the memory stands there'
echo go >&3
ok 'inside: it goes on' wait_until 60 grep -q '^status ' out
is "$(grep '^status' out)" 'status 5' 'inside: and ends as it should, too'
finish

# ---- what can't be ----

# fails STATUS REGEX SENTENCE ARG...
fails() {
	expected=$1 regex=$2 sentence=$3
	shift 3
	ctl "$@"
	is "$status $(wc -l <ctl.err) $out" "$expected 1 " "$sentence: status $expected, one line"
	like "$err" "$regex" "$sentence: the line says so"
}
sleep 0 &
gone=$!
wait $gone
fails 1 "^xaudit ctl: there is no process $gone\$" 'no such process' "$gone" enable x
fails 2 "^xaudit ctl: 'abc' is no process id, and no trace folder\$" 'no number' abc enable x
fails 2 "^xaudit ctl: 'abc' is no process id, and no trace folder\$" 'neither number nor folder' abc status
fails 2 "^xaudit ctl: unknown command 'halt'; allowed: status, enable, disable, add-context, del-context, contexts, \
function, probe, unprobe, probes, when, watch, start, stop, mode, snapshot, top\$" \
	'no command' 1 halt
fails 2 '^xaudit ctl: what is to be done there\? usage: xaudit ctl PID COMMAND$' 'nothing to do' 1
fails 2 '^xaudit ctl: which process\? usage: xaudit ctl PID COMMAND$' 'nobody to ask'
fails 2 "^xaudit ctl: unknown mode 'fast'; allowed: stream, ring, count\$" 'no mode' 1 mode fast
fails 2 '^xaudit ctl: enable what\? give rules: \[KIND:\]FUNCTION\[@LIBRARY\]$' 'no rule' 1 enable
known='xray, patchable, plt, calls, guard, entry, cyg, fentry, mcount'
fails 2 "^xaudit ctl: 'usdt:f': unknown kind 'usdt'; allowed: $known\$" \
	'no kind' 1 enable usdt:f
fails 2 "^xaudit ctl: 'plt:@libz' is no rule: \[KIND:\]FUNCTION\[@LIBRARY\], each a pattern\$" \
	'no function' 1 enable plt:@libz
fails 2 "^xaudit ctl: unknown format 'xml'; allowed: table, json\$" 'no format' $$ status --format=xml

alone ./helper sleep
fails 1 "^xaudit ctl: process $pid does not run under libxaudit.so: start it by \`xaudit record\`, or with \
LD_AUDIT=libxaudit.so\$" \
	'no module there' "$pid" status
finish
alone "$(readelf -lW helper | sed -n 's/.*program interpreter: \(.*\)\]/\1/p')" ./helper sleep
fails 1 "^xaudit ctl: process $pid does not run under libxaudit.so: start it by " \
	'a program that ld.so runs as a command' "$pid" status
finish
if $CC -static -O2 -o static "$beside/ctl_helper.c" 2>.err; then
	alone ./static sleep
	fails 1 "^xaudit ctl: process $pid is a static program: " 'a static program' "$pid" enable x
	finish
else
	skip 2 'nothing can be linked statically here'
fi
if $CC -m32 -O2 -o short "$sources/counted.c" -nostdlib -shared -Wl,-e,counted 2>.err &&
	$CC -m32 -O2 -o short "$beside/ctl_helper.c" 2>.err; then
	alone ./short sleep
	fails 1 "^xaudit ctl: process $pid is a 32-bit program: " 'a 32-bit program' "$pid" enable x
	finish
else
	skip 2 'nothing can be built for 32 bits here'
fi
mkdir other
library "$CC" other/libxaudit.so counted.c
rm -f in out
mkfifo in
LD_PRELOAD=$tmp/other/libxaudit.so ./helper sleep <in >out 2>err &
child=$!
exec 3>in
wait_until 60 grep -q '^ready ' out
fails 1 "^xaudit ctl: process $child runs under another version of libxaudit.so: use the xaudit that came with it\$" \
	'another version' "$child" start
finish

# Stopped while ld.so maps the module, while the module reads its configuration, and after that.
rules 'enabled = no'
for calls in 1 4 9 16 40 120; do
	# It is waited for two seconds, in which a busy machine may not have it started: then once more.
	for try in 1 2 3 4 5 6; do
		XAUDIT_CONFIG=$tmp/conf alone ./helper begin $calls ./plain/controlled counters 0 0
		bounded 60 "$XAUDIT" ctl "$pid" status --format=json >begun 2>begun.err &
		asking=$!
		sleep 0.1
		echo go >&3
		asked=0
		wait $asking || asked=$?
		answer="$asked $(jq -c '[.pid, .alive]' begun) $(cat begun.err)" expected="0 [$pid,true] "
		finish
		[ "$answer" != "$expected" ] || break
		diag "try $try: $answer"
	done
	is "$answer" "$expected" "a process that is starting ($calls) is waited for"
done
# With no environment, as the kernel shows a process while it executes a program: the module may still come.
for try in 1 2 3 4 5 6; do
	alone env -i "$(command -v sh)" -c 'echo ready $$; read -r line; '"$(command -v sleep)"' 0.1
		LD_AUDIT=$1 XAUDIT_CONFIG=$2 exec ./plain/controlled counters 0 0' - "$MODULE" "$tmp/conf"
	sleep 0.5
	echo go >&3
	ctl "$pid" status --format=json
	answer="$status $(printf '%s' "$out" | jq -c '[.pid, .alive]') $err" expected="0 [$pid,true] "
	finish
	[ "$answer" != "$expected" ] || break
	diag "try $try: $answer"
done
is "$answer" "$expected" 'a process that has no environment for a moment is waited for'
XAUDIT_CONFIG=$tmp/conf alone ./helper begin 2 ./plain/controlled counters 0 0
fails 1 "^xaudit ctl: process $pid is just starting: libxaudit.so is not ready in it yet; try again\$" \
	'a process that does not get on with its start' \
	"$pid" status
echo go >&3
finish
LD_AUDIT=$MODULE XAUDIT_CONFIG=$tmp/none alone ./helper sleep
fails 1 "^xaudit ctl: process $pid does not run under libxaudit.so, though its LD_AUDIT names it; the reason was said \
on its standard error\$" \
	'a process whose configuration can not be read' "$pid" status
finish

alone ./helper zombie
fails 1 "^xaudit ctl: process $pid has ended already; its parent has not asked for its status \(zombie\)\$" 'a zombie' \
	"$pid" stop
finish

# A process that ends has no memory either.
if [ "$(cat /proc/2/comm)" = kthreadd ]; then
	fails 1 '^xaudit ctl: process 2 is a thread of the kernel$' 'a thread of the kernel' 2 stop
else
	skip 2 'no thread of the kernel is seen here'
fi
alone ./helper large
exec 3>&-
rounds=0
while [ $rounds -lt 2000 ] &&
	! sed -n 's/^State:.//p' "/proc/$pid/status" 2>/dev/null | grep -q '^[ZX]' && [ -e "/proc/$pid" ]; do
	"$XAUDIT" ctl "$pid" stop
	rounds=$((rounds + 1))
done 2>ended
is "$(grep -c 'of the kernel' ended)" 0 'a process that ends: it is not called one'
finish

rules 'enabled = no'
begin patchable/controlled counters 2 2
subject=$pid subject_child=$child
exec 4>&3
cp out subject.out
mkfifo tracer
./helper trace "$pid" <tracer >tracer.out &
tracer=$!
exec 5>tracer
wait_until 60 grep -q '^ready ' tracer.out
fails 1 "^xaudit ctl: process $subject is traced already, by helper \($tracer\): end that first\$" \
	'a process that is traced' "$subject" enable x
exec 5>&-
wait $tracer
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null 2>&1; then
	cp "$XAUDIT" xaudit.copy
	chmod 755 . xaudit.copy
	status=0
	bounded 60 setpriv --reuid=65534 --regid=65534 --clear-groups "$tmp/xaudit.copy" ctl \
		"$subject" enable x >ctl.out 2>ctl.err || status=$?
	is "$status $(cat ctl.err)" "1 xaudit ctl: process $subject belongs to user root: run this as that user, or as \
root" \
		'a process of another user: one line says so'
else
	skip 1 'only root can become another user here'
fi
ctl "$subject" enable counted
is "$status $err" '0 ' 'and after all that the process can be changed'
exec 3>&4 4>&-
child=$subject_child
finish
is "$status $(tail -n 1 out)" '7 interrupted 0 wrong 0' 'and ends as ever'

begin ./helper vfork
fails 1 "^xaudit ctl: process $pid: thread $pid does not stop \(it waits for a device, or for the child of its \
vfork\); nothing was changed, try again\$" \
	'a thread that waits for the child of its vfork' "$pid" stop
finish
is "$status" 0 'and the process is as before'

# ---- the pause ----

many patchable many
rules 'enabled = no'
begin many/controlled counters 0 100
for n in 1 2 3; do
	ctl "$pid" enable '*'
	like "$out" '^10002 functions: 10002 sites switched on, 0 were already, ' \
		"round $n: all 10 002 sites are switched on"
	diag "10 002 sites, 101 threads, on: the program stood still for $(pause) ms"
	is "$(on)" 10002 "round $n: status finds them on"
	ctl "$pid" disable '*'
	diag "off: $(pause) ms"
	is "$(on) $(status '[.objects[].private_kb] | add')" '0 0' "round $n: off, and no page is private"
done
finish
is "$status $(tail -n 1 out) $(cat err)" '7 interrupted 0 wrong 0 ' '100 sleeping threads notice nothing'
done_testing
