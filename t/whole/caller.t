#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Functions whose last act is to jump to dlopen() or dlsym(), which do what their return address says: libraries come
# into the program's own namespace, and RTLD_NEXT is what follows who called them, whether or not their returns are
# intercepted. Their calls end with the jump.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

library "$CC" libcounted.so counted.c
library "$CC" libcaller.so caller.c -DLIBRARY
program "$CC" caller caller.c -L. -lcaller

bounded 60 ./caller >plain
is "$? $(cat plain)" '5 opened in 0 0 0
next 7 1, listed 1' '(untraced)'

# same SENTENCE OPTION...
same() {
	sentence=$1
	shift
	record d "$@" -- ./caller
	is "$status $out/$err" "5 $(cat plain)/" "$sentence: does what it did"
}
# ended NAMES: the call of each that jumps away is over before the library that it opened comes.
ended() {
	bounded 60 "$XAUDIT" replay d >replayed
	for name in $1; do
		is "$(grep -c " $name(); /\* tail call \*/" replayed) $(grep -c unwound replayed)" "$2 0" \
			"$name ends by a jump"
	done
}
same 'kind plt' -k plt -l libcaller.so
ended 'open_last open_twice open_new find_next find_version' 1
same 'kinds plt and calls, of all objects' -k plt,calls
same 'kind entry' -k entry -l libcaller.so
ended open_last 2
ended 'open_twice open_new find_next find_version' 1
same 'kind entry, of all libraries' -k entry -l '*'
same 'mode count' -k entry,plt -m count
same 'mode ring' -k plt -m ring
same 'short calls left out' -k entry -t 1ms -l libcaller.so
same 'one level of calls' -k entry -D 1 -l libcaller.so
patchable_library libcaller.so caller.c -DLIBRARY
same 'kind patchable' -k patchable -l libcaller.so
ended open_last 2

# Bound without a PLT, they can't be watched: by kind entry, who jumps to them is recorded at the entry alone.
library "$CC" libcaller.so caller.c -DLIBRARY -fno-plt
same 'kind entry, no PLT' -k entry -l libcaller.so
same 'kind entry, no PLT, all libraries' -k entry -l '*'
alone=$("$XAUDIT" index -nv libcaller.so | grep 'entry alone' | sed 's/ *(.*//; s/.* //' | sort | tr '\n' ' ')
is "$alone" 'find_next find_version list open_last open_new open_twice ' 'these are known by the index'
done_testing
