#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Handlers that close libraries: a handler's own library stays, whichever object's dlclose it calls, and others go;
# libraries that are closed while threads are in their handlers.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

include="-I$top_srcdir -I$top_srcdir/runtime/api -Wall -Wextra -Werror"
static=$top_builddir/libxaudit-api.a
# shellcheck disable=SC2086
{
	patchable_library libtick.so closing_plugin.c $include -DTICK
	library "$CC" plugin.so closing_plugin.c $include "$static" -Wl,-z,lazy
	library "$CC" now.so closing_plugin.c $include "$static" -Wl,-z,now,-z,relro
	library "$CC" noplt.so closing_plugin.c $include "$static" -fno-plt -Wl,-z,now,-z,relro
	library "$CC" depends.so closing_plugin.c $include -DDEPENDS ./plugin.so
	program "$CC" closing closing.c $include "$static" -L. -ltick
	program "$CC" noplt closing.c $include "$static" -L. -ltick -fno-plt -Wl,-z,now,-z,relro
}

# A library that was closed in this way stays loaded: each round needs another one.
i=0
while [ $((i += 1)) -le 200 ]; do
	cp plugin.so "lazy$i.so" && cp now.so "now$i.so" && cp noplt.so "noplt$i.so" || bail 'no copies'
done
copies() { # NAME N
	seq -f "./$1%g.so" 1 "$2"
}
run() { # PROGRAM ARG...
	record d -l libtick.so --mode=ring --ring=256k "$@"
}

# shellcheck disable=SC2046
{
	run ./closing own lazy $(copies lazy 200)
	is "$status $out $err" '0 200: closed and there ' '200 times a handler closes its own library, bound lazily: '\
'it stays, its handler goes on and can be removed'
	run ./closing own now $(copies now 200)
	is "$status $out $err" '0 200: closed and there ' 'so with libraries bound at once'
	run ./closing own lazy $(copies noplt 200)
	is "$status $out $err" '0 200: closed and there ' 'so where it is called without a PLT'
	for host in ./closing ./noplt; do
		for what in found host table; do
			run $host $what lazy $(copies lazy 20)
			is "$status $out $err" '0 20: closed and there ' "so where the dlclose is another: $host $what"
		done
	done
	program "$CC" deny deny.c
	for how in mdwe words; do
		status=0
		./deny "$how" true || status=$?
		if [ "$status" -eq 77 ]; then
			skip 1 "this kernel has no $how"
			continue
		fi
		status=0
		out=$(bounded 60 ./deny "$how" "$XAUDIT" record -o d -l libtick.so ./noplt own now \
			$(copies now 20) 2>&1) || status=$?
		is "$status $out" '0 20: closed and there' \
			"so where $how is in force: words that are read-only once the program runs are found and \
written"
	done
	printf '[library *]\nkinds = none\n' >none.conf
	record d -c none.conf --mode=ring --ring=256k ./closing custom lazy $(copies lazy 50)
	is "$status $out" '0 50: closed and there' \
		'so in a process where nothing is traced, in a handler of custom events'
	run ./closing needed lazy ./depends.so ./plugin.so
	is "$status $out $err" '0 1: closed and there ' \
		'a handler closes a library that needs its own: that goes, its own stays'
	pairs=$(for i in $(seq 1 50); do echo "./lazy$i.so ./now$i.so"; done)
	# shellcheck disable=SC2086
	run ./closing other lazy $pairs
	is "$status $out $err" '0 50: closed and there ' \
		'a handler closes another library, in whose handlers threads are: it goes, with its handler'
	record d -k plt,patchable -l libc.so.6 -l libtick.so -F dlclose -F closing_tick ./closing own lazy \
		$(copies lazy 5)
	report d
	is "$status $out $err $(calls dlclose) $(sums)" '0 5: closed and there  10 0 lost 0 unfinished' \
		'so where dlclose itself is traced, with each of its calls'
}

# Where we can't keep the library, a message says so.
run ./closing blind now ./plugin.so
is "$status $out" '0 blind' 'a handler closes its own library by a pointer that was copied before'
is "$err" "xaudit: $tmp/./plugin.so: is unloaded by its own handler, whose dlclose does not come by way of xaudit; it \
would stay else" 'which is said'
run ./closing late now ./plugin.so
is "$status $out" '0 dlclose 0, gone' 'a library is closed while a thread does not leave its handler: dlclose comes '\
'back'
is "$err" "xaudit: $tmp/./plugin.so: is unloaded, though a thread has not left its handler for two seconds" \
	'which is said'
done_testing
