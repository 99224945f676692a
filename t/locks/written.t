#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit locks of traces that are written by hand: each number and word of the report; names that would steer a
# terminal; events that are missing; values that are.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/written.sh"
cd "$tmp" || bail 'no temporary folder'

# written NAME: a trace with two threads whose events come from standard input.
written() {
	{
		cat <<'END'
record version: 0.1.0
process p100
pair first 1000 1000 5
pair last 9000 9000 8005
object 1 /usr/lib/libc.so.6
object 2 /opt/bar/libbar.so
function 1 5 1 0x100 pthread_mutex_lock
function 1 5 2 0x200 __pthread_mutex_unlock
aliases 2 pthread_mutex_unlock
function 1 5 3 0x300 nanosleep
function 2 5 4 0x400 _Z3putv
function 1 5 5 0x500 pthread_cond_wait
load 1 1 900 0x7f0000000000 100
load 2 2 900 0x560000000000 100
layout 1 entry 1 p8:-:arg1
layout 2 exit 1 i4:ret:
layout 3 entry 2 p8:arg0:mutex
layout 4 point 2 p8:arg0:mutex
layout 5 entry 5 p8:arg0:cond p8:arg1:mutex
END
		cat
	} | write_trace "$1"
}

unseen="not seen: glibc's own locks, which call no function of pthreads; see xaudit-locks(1)"
# Thread 100 holds the lock from 2010 to 2600, and 101 wants it from 2050 on: 570 in all, of which 550 in that hold.
holder='thread 100 main
entry 4 1900
values 1 2000 0x1000
values 2 2010 0
entry 3 2100
exit 3 2500
values 3 2600 0x1000
exit 2 2605
exit 4 2650'
waiter='thread 101 wai^Kter
values 1 2050 0x1000
values 2 2620 0
values 4 2700 0x1000'
printf '%s\n' "$holder" "$waiter" | tr '^' '\033' | written one
"$XAUDIT" locks one >out 2>err
is "$? $(cat err)" '0 ' 'a trace is reported of'
is "$(cat out)" "     Calls  Contended       Waited      Longest         Held      Longest  Threads  Kind    Lock
==========  =========  ===========  ===========  ===========  ===========  =======  ======  ====================
         2          1     0.570 us     0.570 us     0.670 us     0.590 us        2  mutex   0x1000 first locked in put()

     Holds  Contended       Waited      Longest         Held  Kept others  Who
==========  =========  ===========  ===========  ===========  ===========  ====================
         1          0            -            -     0.590 us     0.550 us  thread 100 (main): 0x1000
         1          1     0.570 us     0.570 us     0.080 us            -  thread 101 (wai?Kter): 0x1000

     Calls  Contended       Waited      Longest         Held  Kept others  Where it was locked
==========  =========  ===========  ===========  ===========  ===========  ====================
         1          1     0.570 us     0.570 us     0.080 us            -  \
pthread_mutex_lock: 0x1000 first locked in put()
         1          0            -            -     0.590 us     0.550 us  \
put() > pthread_mutex_lock: 0x1000 first locked in put()

1 call waited 0.570 us in all; 1 did not wait, and took 0.010 us, at most 0.010 us

Who held locks while others waited
thread 100 (main) held 0x1000 first locked in put() 0.590 us in put() > nanosleep \
while 1 waited, 0.550 us in all; at 0.000001010 s

$unseen" \
	'as text'
"$XAUDIT" locks --no-demangle one | grep -o 'in _Z3putv > nanosleep' >raw
is "$(cat raw)" 'in _Z3putv > nanosleep' '--no-demangle shows names of the object files'
"$XAUDIT" locks --format=json one | jq -c '.places' >places
is "$(cat places)" '[{"function":"pthread_mutex_lock","locked_in":null,"lock":0,"calls":1,'\
'"waits":{"count":1,"total_ns":570,"max_ns":570},"holds":{"count":1,"total_ns":80,"max_ns":80},"others_waited_ns":0,'\
'"stack":null},'\
'{"function":"pthread_mutex_lock","locked_in":"_Z3putv","lock":0,"calls":1,'\
'"waits":{"count":0,"total_ns":0,"max_ns":0},"holds":{"count":1,"total_ns":590,"max_ns":590},"others_waited_ns":550,'\
'"stack":null}]' \
	'as JSON'
is "$("$XAUDIT" locks --format=json one | jq -c '.holders[] | [.tid, .thread, .holds.total_ns, .others_waited_ns]')" \
	'[100,"main",590,550]
[101,"wai\u001bKter",80,0]' 'with the names of threads as they are'

# Its thread waits for a condition: nobody holds the mutex from 2100 to 2300, and it is held at the end.
printf '%s\n' 'thread 100 main' 'values 1 2000 0x1000' 'values 2 2010 0' 'values 5 2100 0x2000 0x1000' 'exit 5 2300' \
	'thread 101 other' 'values 1 2150 0x1000' 'values 2 2160 0' 'values 3 2170 0x1000' 'exit 2 2171' \
	'values 1 2400 0x1000' | written waits
"$XAUDIT" locks waits >out
is "$(sed -n '/^Waiting/,/^$/p; /^Held at/,/^$/p' out)" 'Waiting at the end
thread 101 (other) for 0x1000; since 0.000001400 s

Held at the end
thread 100 (main) holds 0x1000, for 0.100 us; since 0.000001300 s' 'what is open at the end'
like "$(cat out)" '^ +1 +0 +0\.200 us +0\.200 us  condition  0x2000$' 'a wait for a condition'

# Of thread 100 two events are missing, from 2100 on: it is not known what it holds.
printf '%s\n' 'thread 100 main' 'values 1 2000 0x1000' 'values 2 2010 0' 'lost 2' 'chunk 2100' 'entry 3 2200' \
	'exit 3 2300' \
	'thread 101 other' 'values 1 2050 0x1000' 'values 2 2150 0' 'values 3 2250 0x1000' 'exit 2 2251' | written lost
"$XAUDIT" locks --format=json lost >out
is "$(jq -c '[.lost, (.held_at_end | length), .locks[0].holds, .locks[0].waits.count]' out)" \
	'[2,0,{"count":1,"total_ns":100,"max_ns":100},0]' \
	'a hold in which events are missing is left out, and waits for it'
like "$("$XAUDIT" locks lost)" '^2 events were lost: of threads that lost some, open holds and waits are left out$' \
	'which text says'

# By backtraces: a chain is told once in a chunk, where it is met first. Its inner frame is of libc, so it is not meant.
printf '%s\n' 'layout 6 entry 1 p8:-:arg1 stack:-:backtrace' 'thread 100 main' \
	'values 6 2000 0x1000 0x77 chain 0x7f0000000abc 0x560000000123 0x560000000456 0x2000000000000000' \
	'values 2 2010 0' 'values 3 2020 0x1000' 'exit 2 2021' 'values 6 2100 0x1000 0x77' 'values 2 2110 0' \
	'values 3 2200 0x1000' 'exit 2 2201' \
	'thread 101 other' 'values 1 2150 0x1000' 'values 2 2250 0' | written stacks
"$XAUDIT" locks stacks >out 2>err
like "$(cat err out)" \
	'^thread 100 \(main\) held 0x1000 .* 0\.090 us in libbar\.so\+0x123 while 1 waited, 0\.050 us in all; at ' \
	'the innermost caller that is not of libc is where a lock is taken'
"$XAUDIT" locks --format=json stacks >out
is "$(jq -c '.places[] | select(.stack) | [.calls, .locked_in, [.stack.frames[].offset], .stack.end]' out)" \
	'[2,"libbar.so+0x123",["0xabc","0x123","0x456"],"nobody called it"]' 'have one place, with its callers'

# Calls without their lock.
printf '%s\n' 'thread 100 main' 'entry 1 2000' 'exit 1 2010' 'values 1 2100 0x1000' 'values 2 2110 0' | written part
like "$("$XAUDIT" locks part)" '^1 call is left out, since it is not recorded which lock it is about$' \
	'calls are left out of which it is not recorded which lock they are about'
printf '%s\n' 'thread 100 main' 'entry 3 2000' 'exit 3 2010' | written other
"$XAUDIT" locks other >out 2>err
is "$? $(cat out)" '1 ' 'a trace without calls that lock'
like "$(cat err)" '^xaudit locks: the trace has no calls of functions that lock: ' 'is refused'

# A variable that only a file with debug information has a symbol of.
if command -v objcopy >/dev/null && command -v strip >/dev/null; then
	echo 'static struct { long begin, lock[8]; } queue;' \
		'void *get(void); void *get(void) { return &queue; }' >queue.c
	"$CC" -g -shared -fPIC -Wl,--build-id=0x0011223344556677 -o libqueue.so queue.c || bail 'no library'
	address=$(nm libqueue.so | awk '$3 == "queue" { print $1 }')
	objcopy --only-keep-debug libqueue.so libqueue.debug
	strip libqueue.so
	objcopy --add-gnu-debuglink=libqueue.debug libqueue.so
	write_trace queue <<-END
	process p100
	pair first 1000 1000 5
	pair last 9000 9000 8005
	object 1 /usr/lib/libc.so.6
	object 2 $tmp/libqueue.so build=0011223344556677
	function 1 5 1 0x100 pthread_mutex_lock
	load 1 1 900 0x7f0000000000 100
	load 2 2 900 0x560000000000 100
	layout 1 entry 1 p8:-:arg1
	layout 2 exit 1 i4:ret:
	thread 100 main
	values 1 2000 $(printf 0x%x $((0x560000000000 + 0x$address + 8)))
	values 2 2010 0
	END
	is "$("$XAUDIT" locks --format=json queue | jq -c '.locks[] | [.variable, .offset]')" '["queue",8]' \
		'a lock in it has its name' || diag "$("$XAUDIT" locks --format=json queue)"
else
	skip 1 'no objcopy or strip here'
fi
done_testing
