#!/bin/sh
# SPDX-License-Identifier: MIT
#
# dladdr() gives equal answers about functions that dlsym() found, whether their bindings are traced or not.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

library "$CC" libcounted.so counted.c
library "$CC" libask.so dladdr.c -DASKS
library "$CC" libwrap.so dladdr.c -DWRAPS -Wl,-soname,libwrap.so
program "$CC" asks dladdr.c -L. -lcounted

bounded 60 ./asks >plain
is "$?" 7 '(untraced)'
is "$(grep -c '^counted.*: 1 libcounted.so counted here$' plain) $(grep -c '^libcounted.so(counted+0x*0*)$' \
	plain) $(grep '^nothing' plain | head -n 1)" \
	'3 3 nothing: 0 - - elsewhere' '(the program asks)'
bounded 60 env LD_PRELOAD="$tmp/libwrap.so" ./asks >wrapped.plain

# same SENTENCE OPTION...: the output is as untraced, and the function was called through its stub.
same() {
	sentence=$1
	shift
	record d "$@" -- ./asks
	is "$status/$(printf '%s\n' "$out" | diff plain - | head -n 20)/$err" '7//' \
		"$sentence: dladdr and backtrace_symbols say the same"
	report d
	is "$(calls counted)" 2 "$sentence: and both calls of the function are recorded"
}
same 'one library' -k plt -l libcounted.so
same 'everything' -k plt,calls
same 'mode count' -k plt -m count
program "$CC" asks dladdr.c -L. -lcounted -fno-plt
library "$CC" libask.so dladdr.c -DASKS -fno-plt
bounded 60 ./asks >plain
record d -k plt -l libcounted.so -- ./asks
is "$status/$(printf '%s\n' "$out" | diff plain - | head -n 20)/$err" '7//' 'so do those that are called without a PLT'
program "$CC" asks dladdr.c -L. -lcounted
library "$CC" libask.so dladdr.c -DASKS
bounded 60 ./asks >plain
record d -k plt env LD_PRELOAD="$tmp/libwrap.so" ./asks
is "$status/$(printf '%s\n' "$out" | diff wrapped.plain - | head -n 20)/$err" '7//' \
	'so it is with a library that interposes dladdr'
is "$(printf '%s\n' "$out" | grep -c wrapped)" "$(grep -c wrapped wrapped.plain)" 'which is called as often'
ok '(it is called)' grep -q wrapped wrapped.plain
config='[trace]
output = none
prepare = all
enabled = no
[library *]
kinds = plt'
out=$(XAUDIT_RULES=$config LD_AUDIT=$MODULE bounded 60 ./asks 2>err)
is "$(printf '%s\n' "$out" | diff plain -)" '' 'so it is with stubs that are only made ready'
done_testing
