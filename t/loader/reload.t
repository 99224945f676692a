#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Libraries that are loaded and unloaded: their calls are counted exactly, as one function each, and nothing is left of
# them.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

program "$CC" reload reload.c

# loads NAME: "LOADS loads UNLOADS unloads" of the library in the dump.
loads() {
	jq -rn --arg n "/$1" '[inputs | select((.event == "load" or .event == "unload") and
		(.library | endswith($n)))] |
		"\(map(select(.event == "load")) | length) loads \(map(select(.event == "unload")) | length) unloads"' \
		d.json
}
# untouched: reads the measurements of reload: $lines and $kb at a quarter, $lines2 and $kb2 at the end, $result,
# $addresses.
measured() {
	# shellcheck disable=SC2086
	set -- $out
	lines=$1 kb=$2 result=$3 lines2=$4 kb2=$5 addresses=$6
}

# kind NAME KIND ROWS BUILD...: 200 cycles with 5 calls each.
kind() {
	name=$1 kind=$2 expected=$3
	shift 3
	"$@" libone.so plugin.c -DNAME=one
	record d -k "$kind" -l libone.so -F 'one_*' ./reload 200 5 ./libone.so:one
	measured
	is "$status/$result/$err" '0/=4000/' "$name: the program does what it does"
	report d
	is "$(rows), $(sums)" "$expected, 0 lost 0 unfinished" \
		"$name: calls of 200 loads count as those of one function each"
	dump d
	is "$(loads libone.so)" '200 loads 200 unloads' "$name: each load and unload is in the trace"
	is "$(object d libone.so '"one object"')" '"one object"' "$name: it is one object"
	is "$(cat d/p*/meta | grep -ao 'one_work' | grep -c .)" 1 \
		"$name: and its functions are named once, not with each load"
	is "$lines2" "$lines" "$name: after 200 cycles there are as many mappings as after 50"
	ok "$name: and no more than 1 MiB of memory more" test $((kb2 - kb)) -lt 1024
	# A call lies between a load and the unload of it, at an address of that load.
	is "$(jq -n 'reduce (inputs | select(.library | endswith("/libone.so"))) as $e ({bad: 0};
		if $e.event == "load" then .bad += (if .open then 1 else 0 end) | .open = true
		elif $e.event == "unload" then .bad += (if .open then 0 else 1 end) | .open = false
		else .bad += (if .open then 0 else 1 end) end) | .bad' d.json)" 0 \
			"$name: every event lies between a load and its unload"
}

sleds='one_begin 200, one_end 200, one_inner 1000, one_work 1000'
kind patchable patchable "$sleds" patchable_library
# Calls within a library are no calls from outside, and constructors are called without a binding.
kind plt plt 'one_work 1000' library "$CC"
# The functions that nothing was prepared for.
XAUDIT_INDEX=$tmp/indexes
export XAUDIT_INDEX
library "$CC" libone.so plugin.c -DNAME=one
index_of libone.so
kind entry entry "$sleds" library "$CC"
kind cyg cyg "$sleds" cyg_library
kind 'both at once' plt,patchable "$sleds" patchable_library
if [ -n "$CLANG" ]; then
	kind xray xray "$sleds" xray_library
else
	skip 8 'no clang here'
fi

# ---- two libraries take turns ----
turns() { # NAME KIND ROWS
	record d -k "$2" -l 'lib???.so' ./reload 100 3 ./libone.so:one ./libtwo.so:two
	measured
	is "$status/$result/$err" '0/=1800/' "$1: two libraries take turns"
	report d
	is "$(rows), $(sums)" "$3, 0 lost 0 unfinished" "$1: and each has its own calls"
	is "$(printf '%s\n' "$report" | jq \
		'[.functions[] | select((.function | .[0:3]) != (.library | .[-6:-3]))] | length')" 0 \
		"$1: under its own name"
	[ "$addresses" -eq 1 ] || diag "$1: they were at $addresses addresses"
	dump d
	is "$(loads libone.so), $(loads libtwo.so)" '100 loads 100 unloads, 100 loads 100 unloads' \
		"$1: each load is in the trace"
}
patchable_library libone.so plugin.c -DNAME=one
patchable_library libtwo.so plugin.c -DNAME=two
turns patchable patchable \
	'one_begin 100, one_end 100, one_inner 300, one_work 300, two_begin 100, two_end 100, two_inner 300, two_work '\
'300'
is "$addresses" 1 'they did so at one address'
turns plt plt 'one_work 300, two_work 300'

# ---- bindings from and into what is closed ----
# held NAME KIND LIBRARY SENTENCE: of 2000 loads of libx.so, which calls into libdep.so.
held() {
	record d -b 64k -k "$2" -l "$3" ./reload 2000 2 ./libx.so:x
	measured
	is "$status/$result/$err" '0/=10000/' "$1, $4: the program does what it does"
	report d
	is "$(calls dep_work), $(sums)" '4000, 0 lost 0 unfinished' "$1, $4: each call is counted"
	is "$lines2" "$lines" "$1, $4: there are as many mappings as before"
	# ld.so's own share when there is an auditor: 32 bytes for each of three slots, and 16 of the allocator.
	ok "$1, $4: and no more than 512 kiB of memory more" test $((kb2 - kb)) -lt 512
	diag "$1, $4: $((kb2 - kb)) kB"
}
for stays in '' -Wl,-z,nodelete; do
	library "$CC" libdep.so loader_part.c -DNAME=dep $stays
	library "$CC" libx.so loader_part.c -DNAME=x -DCALLS=dep -L. -ldep
	sentence="stubs into what is closed too"
	[ -z "$stays" ] || sentence='stubs into what stays'
	held calls calls libx.so "$sentence"
	held plt plt libdep.so "$sentence"
done

# ---- what fails to load ----
patchable_library libbad.so plugin.c -DNAME=bad -DMISSING
record d -k patchable,plt -l 'lib???.so' ./reload 100 3 ./libbad.so:- ./libone.so:one
measured
is "$status/$result/$err" '0/=900/' 'a library with a missing symbol fails to load, as ever'
report d
is "$(rows), $(sums)" 'one_begin 100, one_end 100, one_inner 300, one_work 300, 0 lost 0 unfinished' \
	'and the others are counted on'
is "$lines2" "$lines" 'no mapping is left of it'
dump d
is "$(loads libbad.so)" '100 loads 100 unloads' 'it was mapped and unmapped each time'

# ---- namespaces ----
record d -k patchable,plt -l 'lib???.so' ./reload 10 5 +./libone.so:one ./libone.so:one
measured
is "$status/$result/$err" '0/=400/' 'a library in a namespace of its own, by dlmopen, and in the usual one'
report d
is "$(rows), $(sums)" 'one_begin 20, one_end 20, one_inner 100, one_work 100, 0 lost 0 unfinished' 'calls in both count'
dump d
is "$(loads libone.so)" '20 loads 20 unloads' 'with their loads'
patchable_library libown.so plugin.c -DNAME=own -Wl,--no-as-needed -lc
record d -k plt -l 'lib???.so' -l libc.so.6 ./reload 10 5 +./libown.so:own
measured
is "$status/$result/$err" '0/=200/' 'with a libc of its own, too, whose functions are traced'
dump d
is "$(loads libc.so.6)" '11 loads 11 unloads' '(there are eleven of them)'
is "$(loads ld-linux-x86-64.so.2)" '1 loads 1 unloads' 'ld.so, which serves all namespaces, is loaded once'
done_testing
