#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Arguments of functions in debug builds, with parameters of all types, are what gdb shows, and what the source has: of
# gcc and clang, with and without optimisation, exported functions and static ones, whose parameters compilers move,
# take apart and take away.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
need python3 nm

XAUDIT_INDEX=$tmp/cache
export XAUDIT_INDEX
judge() {
	python3 -B "$beside/debug_builds.py" "$@"
}
cat >conf <<'END'
[library libg.so]
kinds = entry
functions = f* s* _ZL*
[context f*@libg.so]
context = args
[context *s*@libg.so]
context = args
END
# build LANGUAGE COMPILER LEVEL: a library of 140 functions and its program; records a run into dump.json. Functions
# with the same code stay two: a debugger knows one name of each.
build() {
	seed=$((seed + 1))
	[ "$1" = c ] && suffix=c || suffix=cc
	judge generate "$seed" 70 "$1"
	# shellcheck disable=SC2086
	$2 -g $3 ${4-} -w -fPIC -shared -Wl,-soname,libg.so,--build-id -o libg.so lib.$suffix &&
		$2 -g -O1 -w -o prog prog.$suffix -L. -lg -Wl,-rpath,'$ORIGIN' || bail "nothing is made by $2"
	index_of libg.so
	record d -c conf ./prog
	bounded 60 "$XAUDIT" dump --format=json d >dump.json
}
# known NAME LEAST: of the last build.
known() {
	judge known dump.json >said 2>&1
	is "$status $out$err $(head -n 5 said | sed 's/^[0-9]* //;s/, [0-9]* gone//')" '0  values, 0 wrong' \
		"$1: each value is the source's"
	ok "$1: there are many" test "$(sed -n 's/ values.*//p' said)" -ge "$2"
}
# beside_gdb NAME WHERE LEAST: of parameters that the compiler has optimised out
beside_gdb() {
	if ! command -v gdb >/dev/null 2>&1; then
		skip 2 'no gdb here'
		return
	fi
	nm libg.so | grep -E ' [tT] (_ZL[0-9]+)?[fs][0-9]+([^0-9]|$)' | grep -v 'cold\|part' >symbols
	judge commands symbols "$2" >commands
	bounded 100 gdb -q -nx -batch -x commands ./prog >gdb.out 2>gdb.err </dev/null
	judge compare gdb.out dump.json >said 2>&1
	diag "$1: $(tail -n 1 said)"
	is "$(head -n 5 said | sed "s/, [0-9]* values, .* more, [0-9]* not gdb's//")" \
		'140 functions, 0 wrong, 0 missing' "$1: gdb shows the same" || diag "$(tail -n 3 gdb.err)"
	ok "$1: and that $3 and more are optimised out" test "$(sed -n 's/.* \([0-9]*\) gone.*/\1/p' said)" -ge "$3"
}
seed=$(rounds 0 100 "$(date +%s)")
build c "$CC" -O0
known 'C, -O0' 600
beside_gdb 'C, -O0' prologue 0
build c "$CC" -O2 -fno-ipa-icf
known 'C, -O2' 300
beside_gdb 'C, -O2' first 100
build c++ "$CXX" -O0
known 'C++, -O0' 600
beside_gdb 'C++, -O0' prologue 0
build c++ "$CXX" -O2 -fno-ipa-icf
known 'C++, -O2' 250
beside_gdb 'C++, -O2' first 100
for level in -O0 -O2; do
	if [ $level = -O2 ]; then where=first gone=20; else where=prologue gone=0; fi
	if [ -z "$CLANG" ] || ! command -v "${CLANGXX%% *}" >/dev/null 2>&1; then
		skip 8 'no clang here'
		continue
	fi
	build c "$CLANG" $level
	known "clang, C, $level" 300
	beside_gdb "clang, C, $level" $where $gone
	build c++ "$CLANGXX" $level
	known "clang, C++, $level" 300
	beside_gdb "clang, C++, $level" $where $gone
done
done_testing
