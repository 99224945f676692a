#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Calls that never return end in the trace as unwound, each at its own depth, also where functions call themselves:
# throw, longjmp, pthread_exit, pthread_cancel, exit. Calls on other stacks stay separate: of coroutines on static and
# heap stacks, and of coroutines that change threads. The program is leaving.cc; before and after its scenario
# it calls f_leaf, and f_down.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

need g++

# tree: the events in order, threads after the first with a number: l and d are the functions, ( an entry, ) an exit, !
# an unwind.
tree() {
	bounded 60 "$XAUDIT" dump d | awk '$3 ~ /^(entry|exit|unwind|tail|lost)$/ {
		if (!($2 in thread)) thread[$2] = ++n
		printf "%s%s%s ", thread[$2] == 1 ? "" : thread[$2] ":", substr($5, 3, 1), \
			$3 == "entry" ? "(" : $3 == "exit" ? ")" : $3 == "unwind" ? "!" : $3
	}' | sed 's/ $//'
}
# leaves SENTENCE STATUS TREE WHAT: the program ends as untraced, the trace is this tree between the first call and the
# last.
leaves() {
	status=0
	plain=$(bounded 60 ./leaving "$4" 2>&1) || status=$?
	is "$status" "$2" "$name, $1: (the program does what it is for)"
	record d -k "$kind" $rules ./leaving "$4"
	is "$status/$out/$err" "$2/$plain/" "$name, $1: the program ends as untraced"
	if [ "$2" -eq 5 ]; then last=' d( d)'; else last=; fi
	is "$(tree)" "l( l) $3$last" "$name, $1: the tree is right"
	report d
	is "$(sums)" '0 lost 0 unfinished' "$name, $1: nothing is lost or open"
}

on_stack='l( l) d( d( d( l( l) l( l) l( l) d) d) d) d( d( l( l) l( l) l( l) d) d)'
# all NAME KIND RULES BUILD...
all() {
	name=$1 kind=$2 rules=$3
	shift 3
	"$@" libleaving.so leaving_library.c -fexceptions
	g++ -O2 -g -pthread -o leaving "$beside/leaving.cc" -L. -lleaving -Wl,-rpath,'$ORIGIN' ||
		bail 'leaving does not compile'
	leaves 'longjmp out of three calls' 5 'd( d( d( d! d! d!' longjmp
	leaves 'an exception out of three calls' 5 'd( d( d( d! d! d!' throw
	leaves 'an exception caught by the second of four calls' 5 \
		'd( d( d( d( d! d! l( l) d( d) d) l( l) d)' throw-on-the-way
	leaves 'longjmp into the second of four calls' 5 'd( d( d( d( d! d! l( l) d( d) d) l( l) d)' longjmp-on-the-way
	leaves 'pthread_exit within three calls' 5 '2:l( 2:l) 2:d( 2:d( 2:d( 2:d! 2:d! 2:d!' pthread_exit
	leaves 'pthread_cancel within three calls' 5 '2:l( 2:l) 2:d( 2:d( 2:d( 2:d! 2:d! 2:d!' pthread_cancel
	leaves 'exit within three calls' 6 'd( d( d( d! d! d!' exit
	leaves 'a coroutine on a static stack' 5 "$on_stack" static-stack
	leaves 'a coroutine on a stack that malloc mapped' 5 "$on_stack" heap-stack
	leaves 'a coroutine on a stack in the heap' 5 "$on_stack" brk-stack
	migrates
}

# The check can't know to which thread a call belongs, only that each call is there.
migrates() {
	record d -k "$kind" $rules ./leaving thread-stack
	is "$status/$out/$err" '5/done/' \
		"$name, a coroutine that another thread goes on with: the program ends as untraced"
	report d
	is "$(calls f_down) $(calls f_leaf) $(printf '%s\n' "$report" | jq .lost)" '6 8 0' \
		"$name, a coroutine that another thread goes on with: each call is counted"
}

all plt plt '-l libleaving.so' library "$CC"
for kind in plt calls; do
	if [ $kind = plt ]; then rules="-l *"; else rules=; fi
	set -f
	record d -k $kind $rules -F f_down -F longjmp ./leaving longjmp
	is "$status $(tree)" '5 d( d( d( n( d! d! d! d( d)' \
		"$kind: longjmp is called by the innermost call that it leaves"
	set +f
	printf '[trace]\nenabled = no\nprepare = all\n[library *]\nkinds = %s\n[program]\nkinds = %s\n' \
		$kind $kind >off.conf
	record d -c off.conf ./leaving longjmp
	is "$status $out" '5 done' "$kind: where that is off, it jumps as ever"
done
all calls calls '-F f_down -F f_leaf' library "$CC"
all patchable patchable '-l libleaving.so' patchable_library

# What is called next lies deeper than the calls that are left: where longjmp is not seen, they would end behind it.
cat >deeper.c <<'END'
#include <alloca.h>
#include <setjmp.h>

void f_down(int depth, void (*function)(int)), f_leaf(void);
static jmp_buf env;

static void leave(int depth)
{
	longjmp(env, depth + 1);
}

int main(void)
{
	if (!setjmp(env))
		f_down(1, leave);
	*(volatile char *)alloca(65536) = 0;
	f_leaf();
	return 5;
}
END
patchable_library libleaving.so leaving_library.c -fexceptions
for flag in -fplt -fno-plt; do
	$CC -O2 $flag -o deeper deeper.c -L. -lleaving -Wl,-rpath,'$ORIGIN' || bail 'deeper.c does not compile'
	record d -k patchable -l libleaving.so ./deeper
	is "$status $(tree)" '5 d( d! l( l)' "$flag: a longjmp ends calls before one that lies deeper"
done
if [ -n "$CLANG" ]; then
	all xray xray '-l libleaving.so' xray_library
else
	skip 42 'no clang here'
fi
done_testing
