#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Functions whose last act is to jump to dlopen() or dlsym(), which do what their return address says: libraries come
# into the program's own namespace, and RTLD_NEXT is what follows who called them, whether or not their returns are
# intercepted, and whatever way the jump goes. Their calls end with the jump.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/ctl.sh"

XAUDIT_INDEX=$tmp/index
export XAUDIT_INDEX
library "$CC" libcounted.so counted.c
program "$CC" preload.so caller_preload.c -shared -fPIC

# made COMPILER FLAG...: the library, and its program.
made() {
	compiler=$1
	shift
	library "$compiler" libcaller.so caller.c -DLIBRARY "$@"
	program "$CC" caller caller.c -L. -lcaller
	bounded 60 ./caller >plain
	is "$? $(cat plain)" '5 opened in 0 0 0 0 0
next 7 1, listed 1' "(untraced) $*"
}
# same SENTENCE OPTION...
same() {
	sentence=$1
	shift
	record d "$@" -- ./caller
	is "$status $out/$err" "5 $(cat plain)/" "$sentence: does what it did"
}
# ended NAMES TIMES: the calls of each that jumps away are over before the library that it opened comes.
ended() {
	bounded 60 "$XAUDIT" replay d >replayed
	got= want=
	for name in $1; do
		got="$got$name $(grep -c " $name(); /\* tail call \*/" replayed) "
		want="$want$name $2 "
	done
	is "$got$(grep -c unwound replayed)" "${want}0" "$sentence: they end by a jump"
}
others='open_twice open_new open_word open_register find_next find_version'

# kinds OPTION... [-- COMPILER FLAG...]: all kinds that keep returns, by a library made so.
kinds() {
	made "$CC" "$@"
	same "plt $*" -k plt -l libcaller.so
	ended "open_last $others" 1
	same "plt and calls, all objects $*" -k plt,calls
	same "calls $*" -k calls
	same "entry $*" -k entry -l libcaller.so
	ended open_last 2
	ended "$others" 1
	same "entry, all libraries $*" -k entry -l '*'
	made "$CC" "$@" -fpatchable-function-entry=5
	same "patchable $*" -k patchable -l libcaller.so
	ended open_last 2
	ended "$others" 1
	made "$CC" "$@" -pg -mfentry
	same "fentry $*" -k fentry -l libcaller.so
	ended open_last 2
	made "$CC" "$@" -pg
	same "mcount $*" -k mcount -l libcaller.so
	[ -z "$CLANG" ] || made "$CLANG" "$@" -fxray-instrument -fxray-instruction-threshold=1
	[ -z "$CLANG" ] || same "xray $*" -k xray -l libcaller.so
}
kinds
kinds -Wl,-z,now
kinds -fno-plt
made "$CC" -fno-plt
same 'mode count' -k entry,plt -m count
same 'mode ring' -k plt -m ring
same 'short calls left out' -k entry -t 1ms -l libcaller.so
same 'one level of calls' -k entry -D 1 -l libcaller.so

# What calls them and does something else afterwards keeps its end.
for flag in -fplt -fno-plt; do
	library "$CC" libcaller.so caller.c -DLIBRARY $flag -fno-optimize-sibling-calls
	bounded 60 ./caller >plain
	for kind in plt entry; do
		same "$kind $flag, no jumps" -k $kind -l libcaller.so
		report d
		times=$([ $kind = plt ] && echo 1 || echo 2)
		is "$(calls open_last) $(calls find_next) $(sums)" "$times 1 0 lost 0 unfinished" \
			"$kind $flag: their calls have ends"
	done
done

# ---- the program's own functions ----

for flags in '-fPIE -pie' '-fPIE -pie -fno-plt' '-fno-PIE -no-pie' '-fno-PIE -no-pie -fno-plt'; do
	program "$CC" caller caller.c -DWHOLE $flags -fpatchable-function-entry=5
	bounded 60 ./caller >plain
	for kind in entry patchable; do
		same "program $flags, $kind" -k $kind
	done
done

# ---- somebody else's dlopen() ----

made "$CC" -fno-plt
LD_PRELOAD=$tmp/preload.so bounded 60 ./caller >plain
like "$(cat plain)" '^preloaded' 'a preloaded library has a dlopen() of its own'
for kind in plt entry; do
	LD_PRELOAD=$tmp/preload.so same "preloaded, $kind" -k $kind -l libcaller.so
done

# ---- switched on later, where nothing was bound ----

for flag in -fplt -fno-plt; do
	made "$CC" $flag -DWORDS=0
	kinds=none rules
	begin ./caller wait
	ctl "$pid" enable 'entry:*@libcaller.so'
	like "$status $out" '^0 [0-9]* functions: ' "live, $flag: they are switched on"
	echo >&3
	finish
	is "$status $(tail -n +2 out)/$(cat err)" "5 $(cat plain)/" "live, $flag: does what it did"
	dump d
	is "$(events d '.function == "open_last" and .event == "entry"')" 2 "live, $flag: their entries are recorded"
done
done_testing
