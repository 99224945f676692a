#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Programs whose allocator does not work before libc is initialized: ld.so itself calls calloc earlier than that where a
# module binds, and such programs run all the same.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

# -rdynamic, non-PIE: ld.so finds the program's own functions, as with GCL's.
program "$CC" dynamic own_calloc.c -fno-builtin -rdynamic
program "$CC" fixed own_calloc.c -fno-builtin -rdynamic -no-pie -fno-pie
printf '[trace]\noutput = %s\nenabled = no\n[library *]\nkinds = none\n[program]\nkinds = none\n' "$tmp/d" >none

# ways PROGRAM OUTPUT ARG...: the program ends as untraced, whatever is selected.
ways() {
	program=$1 wanted=$2
	shift 2
	name=${program##*/}
	is "$(bounded 60 "$program" "$@" 2>&1) $?" "$wanted 0" "$name: (the program runs untraced)"
	for way in '' '-k plt -l *' '-k entry -l libc.so*' '-m ring -k plt -l *' '-m count -k calls,plt -l *' \
		'-l nothing*'; do
		set -f
		# shellcheck disable=SC2086
		record d $way -- "$program" "$@"
		set +f
		is "$out $status" "$wanted 0" "$name: and with record $way"
	done
	out=$(bounded 60 "$XAUDIT" check -- "$program" "$@" 2>err)
	is "$out $?" "$wanted 0" "$name: and with check"
	out=$(bounded 60 env LD_AUDIT="$MODULE" XAUDIT_CONFIG="$tmp/none" "$program" "$@" 2>&1)
	is "$out $?" "$wanted 0" "$name: and where the module alone is there, and no kind is selected"
}
ways ./dynamic 1
ways ./fixed 1

record d -k plt -F pthread_join -F calloc -- ./dynamic
report d
is "$(calls pthread_join) $(sums)" '1 0 lost 0 unfinished' 'what the program calls is recorded'

# Programs that we did not write.
jemalloc=$(ls /usr/lib/*/libjemalloc.so.2 2>/dev/null)
if [ -n "$jemalloc" ]; then
	MALLOC_CONF=background_thread:true,dirty_decay_ms:4000
	export MALLOC_CONF
	ways "$(command -v env)" 'hi' LD_PRELOAD="$jemalloc" printf 'hi'
	unset MALLOC_CONF
else
	skip 9 'no libjemalloc'
fi
# GCL executes itself again; before that its calloc returns -1.
if command -v maxima >/dev/null; then
	HOME=$tmp
	export HOME
	ways "$(command -v maxima)" "$(bounded 60 maxima --very-quiet --batch-string='6*7;')" --very-quiet \
		--batch-string='6*7;'
else
	skip 9 'no maxima'
fi
done_testing
