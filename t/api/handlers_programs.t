#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Handlers in programs of each kind: a handler that overwrites all registers changes no result, and exceptions of
# handlers are caught.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

need g++
set -f # patterns are xaudit's
include="-I$top_srcdir -I$top_srcdir/runtime/api"
if grep -qw avx /proc/cpuinfo; then include="$include -mavx"; fi
static=$top_builddir/libxaudit-api.a

# kind NAME COMPILER RECORDED_BY [FLAG]...: builds NAME/spoil with its library, and runs it in each way.
kind() {
	name=$1 compiler=$2 selected=$3
	shift 3
	mkdir "$name"
	library "$compiler" "$name/liblast.so" handlers_work.cc $include "$@" -DPART_LAST
	library "$compiler" "$name/libwork.so" handlers_work.cc $include "$@" -L"$name" -llast
	program "$compiler" "$name/spoil" handlers_spoil.cc $include "$static" -L"$name" -lwork -llast
	untraced=$(bounded 60 "$name/spoil")
	like "$untraced" '^[0-9a-f]{16}$' "$name: untraced, there is a checksum"
	# entry, exit, tail, unwind, arguments, custom, typed
	for type in 0 1 2 3 4 5 6; do
		record d -k "$name" $selected "$name/spoil" "$type"
		is "$out$err" "$untraced called" \
			"$name: a handler of type $type that writes over all registers changes no result"
	done
	for type in 0 1 2 4 5 6; do
		record d -k "$name" $selected "$name/spoil" "$type" throw
		# At an exit, the exception of work_last() goes through work_guarded() half of the time.
		guarded=100
		[ "$type" != 1 ] || guarded=150
		is "$out$err" "caught 100 guarded $guarded results 308400 removed 0" \
			"$name: exceptions out of a handler of type $type are caught"
		report d
		is "$(sums)" '0 lost 0 unfinished' "$name: and the trace has an end of each call"
	done
}

work='-l libwork.so -l liblast.so'
kind patchable g++ "$work" -fpatchable-function-entry=5
[ -z "$CLANG" ] || kind xray "$CLANGXX" "$work" -fxray-instrument -fxray-instruction-threshold=1
kind plt g++ "$work"
kind calls g++ '-F work_*'
done_testing
