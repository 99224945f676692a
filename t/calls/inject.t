#!/bin/sh
# SPDX-License-Identifier: MIT
#
# At every instruction of every path through the module something is injected (t/lib/injected.sh).
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/injected.sh"

# The judge itself: an end that has no call, in a thread that is no round's, does not take what was lost away.
echo 'vfork tid 7 child 0 status 0 begun 1 ended 1 handled 1 jumped 0 ticks 0 wrong 0 helper 0 at f+0' >list
echo '5 1' >losses
printf '%s\n' '1 5 exit 0x1 handled l.so' '2 7 entry 0x2 counted l.so' '3 7 exit 0x2 counted l.so' \
	'4 7 entry 0x3 mark l.so' '5 7 exit 0x3 mark l.so' '5 0 lost - 1 events' >judged
is "$(awk -f "$top_srcdir/t/lib/inject.awk" skip=0 early=1 list losses judged)" \
	'elsewhere: an end of handled without its call (thread 5)
1 rounds, 1 wrong
vfork: 1 rounds, 0 wrong' 'the judge tells what is wrong in other threads than the rounds have'

build "$CC" plt
all 'one call' '' '' call
all 'an entry alone' '' what=__ubsan_point point
export ALTSTACK=1
all 'handlers of signals on a stack of their own' '' '' call
all 'an entry alone, handlers of signals on a stack of their own' '' what=__ubsan_point point
unset ALTSTACK
printf '[trace]\nclock = monotonic\n' >monotonic.conf
name="$kind, one call, by another clock"
injected event,chunk,fork,vfork,jump,other,mode '' '' call -c monotonic.conf
verdict
# The clock is read at each sixteenth word: each round has 7, so 16 rounds come everywhere. The custom event that ends a
# round has a time of its own, but on a busy machine much later than the calls.
export MOVES=1
moved='skip=18 off=0.3'
all 'one call, by a coarse clock' '-w 16' "$moved" call --clock coarse
every jump 'one call, by a coarse clock' '-w 16' "$moved" call --clock coarse
every fork 'one call, by a coarse clock' '-w 16' "$moved" call --clock coarse
all 'an entry alone, by a coarse clock' '-w 16' "what=__ubsan_point $moved" point --clock coarse
all 'return labels of their own, by a coarse clock' '-w 16' "$moved" call --perf --clock coarse
export HANDLERS=general
all 'handlers, by a coarse clock' '-h -w 16' "$moved" call --clock coarse
unset HANDLERS
export TASK=1
every task 'one call, by a coarse clock' '-w 16' "$moved" call --clock coarse
unset TASK
name="$kind, by a coarse clock, another span of the clock"
injected event,chunk,jump,mode,long,pause '-w 16 -s -c rdtsc' "$moved" call --clock coarse
verdict
all 'a chunk that is full, by a coarse clock' "-b tramp_slow_event $few" off=0.3 fill --clock coarse
unset MOVES
all 'short calls left out, by a coarse clock' '' taken call --time 1us --clock coarse
name="$kind, another span of the clock"
# (Untraced children would meet the breakpoints on rdtsc.)
injected event,chunk,jump,mode,long,pause '-s -c rdtsc' '' call
verdict
ENOUGH=4200
export ENOUGH
all 'a custom event' '' 'what=none customs=1' event
unset ENOUGH
all 'a chunk that is full' "-b tramp_slow_event $few" '' fill
all 'into another mode' "-r -b tramp_slow_event $few" '' fill
all 'a new stack' "$few" apart=1 stack
if [ "$(id -u)" -eq 0 ]; then
	all 'rights are given up' "-b tramp_slow_rights $few" early=1 leave
else
	skip 2 'not root: no rights to give up'
fi
all 'a new thread' -t 'skip=0 early=1' thread
all 'not too deep' '' '' call -D 9
all 'below a function' '' '' call -C counted -C handled -C mark -C in_child
all 'short calls left out' '' taken call --time 1us
every fork 'short calls left out' '' taken call --time 1us
export TASK=1
every task 'one call' '' '' call
every task 'an entry alone' '' what=__ubsan_point point
every task 'a custom event' '' 'what=none customs=1' event
every task 'a chunk that is full' "-b tramp_slow_event $few" '' fill
every task 'a new stack' "$few" apart=1 stack
every task 'not too deep' '' '' call -D 9
unset TASK
counting 'one call' '' call
counting 'a new thread' -t thread
export HANDLERS=general
all 'handlers' -h '' call
every jump 'handlers' -h '' call
export HANDLERS=all
all 'handlers that use all registers' -h '' call
unset HANDLERS
all 'return labels of their own' '' '' call --perf
every jump 'return labels of their own' '' '' call --perf
every fork 'return labels of their own' '' '' call --perf
export TASK=1
every task 'return labels of their own' '' '' call --perf
unset TASK
build "$CC" patchable -fpatchable-function-entry=5
all 'a tail call, return labels of their own' '' 'what=counted|tailing each=2' tail --perf
all 'a tail call' '' 'what=counted|tailing each=2' tail
every jump 'a tail call' '' 'what=counted|tailing each=2' tail
export ALTSTACK=1
all 'a tail call, handlers of signals on a stack of their own' '' 'what=counted|tailing each=2' tail
unset ALTSTACK
export MOVES=1
all 'a tail call, by a coarse clock' '-w 16' "what=counted|tailing each=2 $moved" tail --clock coarse
unset MOVES
if [ -n "$CLANG" ]; then
	build "$CLANG" xray -fxray-instrument -fxray-instruction-threshold=1 -DXRAY
	all 'a tail call' '' 'what=counted|tailing each=2' tail
	export ALTSTACK=1
	all 'a tail call, handlers of signals on a stack of their own' '' 'what=counted|tailing each=2' tail
	unset ALTSTACK
	export MOVES=1
	all 'a tail call, by a coarse clock' '-w 16' "what=counted|tailing each=2 $moved" tail --clock coarse
	name="$kind, by a coarse clock, another span of the clock"
	injected event,chunk,jump,mode,long,pause '-w 16 -s -c rdtsc' "$moved" call --clock coarse
	verdict
	unset MOVES
	build "$CLANG" xray -fxray-instrument -fxray-instruction-threshold=1 -DXRAY -DSLEDS
	export ENOUGH=4200
	all 'a custom event in a function' '' 'customs=1 each=2' call
else
	skip 9 'no clang here'
fi
diag "covered: $covered instructions"
done_testing
