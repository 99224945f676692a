#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Filters of system calls (seccomp) that kill where the module binds nothing, in `xaudit check`, and filters that answer
# by a trap: programs run as ever.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

library "$CC" libcounted.so counted.c
program "$CC" confined confined.c -L. -lcounted
program "$CC" trapped trapped.c -L. -lcounted
program "$CC" asks_strict asks_strict.c -L. -lcounted
library "$CC" libown.so own_prctl.c -ldl
mkdir direct
cp libcounted.so direct
program "$CC" direct/confined confined.c -Ldirect -lcounted -fno-plt
[ "$(bounded 60 ./confined syscall 10)" = "done" ] || skip_all 'the kernel takes no such filter'

printf '[trace]\noutput = %s\nenabled = no\n[library *]\nkinds = none\n[program]\nkinds = none\n' "$tmp/none" >none.conf
# idle COMMAND...: under the module, where nothing is selected. Sets $out, which has all that is said, and $status.
idle() {
	status=0
	out=$(bounded 60 env LD_AUDIT="$MODULE" XAUDIT_CONFIG="$tmp/none.conf" "$@" 2>&1) || status=$?
}
# check COMMAND...
check() {
	status=0
	out=$(bounded 60 "$XAUDIT" check -- "$@" 2>err) || status=$?
	err=$(cat err)
}

said='xaudit check: a process put itself under a filter of system calls (seccomp): its later unloads were not checked'
for program in ./confined direct/confined; do
	for way in prctl syscall return late; do
		idle $program $way 1000
		is "$status/$out" '0/done' "$program $way: it runs on where no kind is selected"
		check $program $way 1000
		is "$status/$out" '0/done' "$program $way: and under check"
		is "$(printf '%s\n' "$err" | grep -cFx "$said")" 1 "$program $way: which says what it could not check"
	done
done
record d -k entry -l 'libz.so*' ./confined syscall 1000
is "$status/$out" '0/done' 'and where kind entry alone is'
idle env LD_PRELOAD="$tmp/libown.so" ./confined prctl 1000
is "$status/$out" '0/own own done' "a library's own prctl() is called by the program, as ever"

for mode in stream ring count; do
	record d -m $mode -k plt -l libcounted.so ./asks_strict
	report d
	is "$status/$out/$err/$(calls counted) $(sums)" '0/done//20 0 lost 0 unfinished' \
		"mode $mode: a question for the strict mode is none, and all calls are recorded"
done

plugins=
number=0
mkdir plugins
for name in libz.so.1 liblzma.so.5 libresolv.so.2; do
	number=$((number + 1))
	for found in /usr/lib/*-linux-gnu/$name /lib/*-linux-gnu/$name; do
		[ -e "$found" ] && stranger "$found" plugins/$name $number && plugins="$plugins $tmp/plugins/$name" &&
			break
	done
done

# ---- libraries that are opened under a filter ----
program "$CC" opens_confined opens_confined.c -L. -lcounted -ldl
# shellcheck disable=SC2086
set -- ./opens_confined $plugins
is "$(bounded 60 "$@")" 'done' '(libraries can be opened under that filter)'
record d -k entry -l 'libz.so*' -- "$@"
is "$status/$out/$(printf '%s\n' "$err" | grep -c 'no index of the file')" '0/done/1' \
	'-k entry: it opens a library that has no index, which is said'
# shellcheck disable=SC2086
index_of $plugins
for way in '-k plt' '-k entry' '-k plt -m ring' '-k plt -m count'; do
	# shellcheck disable=SC2086
	record d $way -l libcounted.so -l 'libz.so*' -- "$@"
	report d
	is "$status/$out/$err/$(calls counted)/$(calls crc32) $(sums)" '0/done//3/2 0 lost 0 unfinished' \
		"$way: it opens them, and all calls are recorded, though none was before"
done
printf '[trace]\noutput = %s\n[library libz.so*]\nkinds = plt, entry\n' "$tmp/late" >late.conf
status=0
out=$(bounded 60 env LD_AUDIT="$MODULE" XAUDIT_CONFIG="$tmp/late.conf" "$@" 2>&1) || status=$?
is "$status/$out" '0/done' 'where nothing was selected before the filter it opens them, too'

# ---- traps ----
# shellcheck disable=SC2086
set -- ./trapped 100 $plugins
plain=$(bounded 60 "$@")
like "$plain" '^done [0-9]+$' '(the program runs untraced)'
idle "$@"
like "$status/$out" '^0/done [0-9]+$' 'a filter that answers by a trap: it runs on where no kind is selected'
check "$@"
like "$status/$out" '^0/done [0-9]+$' 'and under check'
for way in '-k plt' '-k plt -m ring' '-k plt -m count' '-k plt,entry' '-k plt --clock=coarse'; do
	# shellcheck disable=SC2086
	record d $way -l libcounted.so -- "$@"
	report d
	made=${out#done }
	is "$status/$err/$(calls counted) $(sums)" "0//$made 0 lost 0 unfinished" \
		"$way: the handler is called within the module, too, and each call is there"
	ok "$way: (it is called for the module's system calls)" test "$made" -ge "${plain#done }"
done
record d -k plt,calls -l '*' -- "$@"
report d
like "$status/$out" '^0/done [0-9]+$' 'where all is selected it runs on, too'
is "$(calls counted)" "${out#done }" 'and each of those calls is there'
done_testing
