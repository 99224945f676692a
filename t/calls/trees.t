#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Each stack has its own tree of calls: nested coroutines, by ucontext and boost.context, that are resumed in other
# threads, on stacks in frames and in the heap, and with handlers on a stack of their own.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

need g++

library g++ libco.so coroutines.cc -DPART

# tree: replay, without times, threads, loads, and names of stacks.
tree() {
	bounded 60 "$XAUDIT" replay d | sed -n 's/^[^#]*\] |//; /load /d; s/stack [0-9.]*/stack/; /^ /p'
}

# judged NAME CALLS: calls of main_call, first_call, second_call, leaf_call in the report, and calls without an end.
judged() {
	report d
	is "$(printf '%s\n' "$report" | jq -r '[([.functions[] | { (.function): .calls }] | add) as $n |
		($n.main_call, $n.first_call, $n.second_call, $n.leaf_call | . // 0)] | join(" ")') $(
		printf '%s\n' "$report" | jq -r '"\(.unfinished) unfinished"')" "$2 0 unfinished" \
			"$1: each call is counted, with its end"
}

# Four turns of main's, in each of which a is resumed, and b inside of a.
turn() {
	echo " main_call() {
   /* stack */
 } /* first_call */
 first_call() {
   /* stack */
 } /* second_call */
 second_call() {
   /* stack */
   leaf_call();
 } /* first_call */
 first_call() {
   /* stack */
   leaf_call();
 } /* main_call */"
}
nested=" main_call() {
 /* stack */
 first_call() {
 /* stack */
 second_call() {
   /* stack */
   leaf_call();
 } /* first_call */
 first_call() {
   /* stack */
   leaf_call();
 } /* main_call */
$(turn)
$(turn)
 main_call() {
   /* stack */
 } /* first_call */
   /* stack */
 } /* second_call */
 /* stack */
 leaf_call();
   /* stack */
   leaf_call();
 } /* main_call */"

# by NAME [FLAG]...: of $kind.
kind=plt
by() {
	name="$kind, $1"
	shift
	program g++ trees trees.cc "$@" -L. -lco
	for where in '' threads; do
		# shellcheck disable=SC2086
		record d -k "$kind" -l libco.so -- ./trees $where
		is "$status $out" '0 done' "$name, ${where:-one thread}: the program runs to its end"
		is "$(tree)" "$nested" "$name, ${where:-one thread}: three stacks have a tree each"
		judged "$name, ${where:-one thread}" '4 6 3 8'
		is "$(bounded 60 "$XAUDIT" dump d | grep -c '  unwind  ')" 0 \
			"$name, ${where:-one thread}: nothing is unwound"
	done
}

by ucontext
if echo '#include <boost/context/fiber.hpp>' | g++ -x c++ -fsyntax-only - 2>/dev/null; then
	by boost.context -DBOOST -lboost_context
else
	skip 8 'no boost.context here'
fi

# The checks of events in t/calls/coroutines.t.
program g++ co coroutines.cc -L. -lco
for where in frame heap data; do
	record d -k plt -l libco.so -- ./co "$where"
	calls='8 8 6 5'
	[ "$where" != frame ] || calls='8 8 7 5'
	judged "coroutines in $where" "$calls"
	is "$(tree | grep -v unwound | grep -c 'in the trace\|unfinished\|: unwound')" 0 \
		"coroutines in $where: each end has its call"
	is "$(tree | grep -c '^  *first_call(); /\* unwound')" 4 \
		"coroutines in $where: what is thrown and jumped over is unwound"
done
record d -k plt -l libco.so -- ./co threads
judged 'a coroutine that goes on in four threads' '4 4 3 2'
record d -k plt -l libco.so -- ./co handler
judged 'a handler on a stack in a frame' '1 3 3 6'
is "$(tree | grep -c 'unwound\|in the trace\|unfinished')" 0 'a handler on a stack in a frame: each end has its call'
record d -k plt -l libco.so -- ./co interrupted
report d
open=$(bounded 60 "$XAUDIT" dump d | awk '$3 == "entry" { n++ } $3 == "exit" { n-- } END { print n }')
# Three stacks are in a frame that is left at the end: their calls may then be known to be over.
over=$(bounded 60 "$XAUDIT" dump d | grep -c '  unwind  ')
is "$(($(printf '%s\n' "$report" | jq .unfinished) + over))" "$open" \
	'six coroutines and a handler of signals: what is open is unfinished, and no more'
is "$(tree | grep -c 'unwound') $(tree | grep -c 'in the trace')" "$over 0" \
	'six coroutines and a handler of signals: each end has its call'
# Two stacks are taken for one, and separated, while another thread unmaps one of them.
program "$CC" unmapped unmapped.c -L. -lco
times=$(rounds 1000 5000 1000000)
seconds=500 record d -k plt -l libco.so -- ./unmapped "$times"
is "$status $out" '0 done' "$times stacks that another thread unmaps while they are looked at: nothing faults"
report d
is "$(printf '%s\n' "$report" | jq -r '[.functions[] | select(.function == "main_call") | .calls] | add')" \
	"$((times + 1))" \
	"$times stacks that another thread unmaps: each call is counted"
# The stacks are separated by guessing while several threads are on them at once; which call is inside of which may be
# wrong for a moment.
record d -k plt -l libco.so -- ./co pool
report d
is "$(printf '%s\n' "$report" | jq -r '[.functions[] | select(.function == "main_call" or .function == "first_call") |
	.calls] | add')" 24000 'forty coroutines that three threads go on with: all calls are counted'
# Greenlets copy their stacks away and back: only entries are recorded, but all of them. Five in each of three threads,
# 200 rounds.
if python3 -c 'import greenlet' 2>/dev/null || /usr/bin/python3 -c 'import greenlet' 2>/dev/null; then
	cat >greenlets.py <<'END'
import greenlet, os, threading
def work():
    main = greenlet.getcurrent()
    def child():
        for i in range(200):
            os.getppid()
            main.switch()
    all = [greenlet.greenlet(child) for i in range(5)]
    for i in range(200):
        for one in all:
            one.switch()
        os.getppid()
threads = [threading.Thread(target=work) for i in range(3)]
for t in threads: t.start()
for t in threads: t.join()
END
	python=python3
	python3 -c 'import greenlet' 2>/dev/null || python=/usr/bin/python3
	record d -k plt -l '*' -- "$python" greenlets.py
	report d
	is "$status $(calls getppid)" '0 3600' 'greenlets in three threads: each call is counted'
	is "$(bounded 60 "$XAUDIT" dump d | grep -c '  unwind  ') $(tree | grep -c 'unwound')" '0 0' \
		'greenlets in three threads: nothing is unwound'
else
	skip 2 'no greenlet here'
fi

# The same trees where the compiler's calls tell.
library g++ libco.so coroutines.cc -DPART -finstrument-functions
kind=cyg
by ucontext
done_testing
