#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Arguments of functions of installed libraries are what gdb shows, of the same calls, in the same process: of the C
# library, by its debug file, in programs of the system, and of the debug build of libstdc++, which has no optimisation.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
unset XAUDIT_CONFIG XAUDIT_RULES
need python3
command -v gdb >/dev/null 2>&1 || skip_all 'no gdb here'
echo 'int main(void) { return 7; }' >seven.c
$CC -o seven seven.c || bail 'no compiler'
bounded 60 gdb --batch -nx -ex run ./seven 2>&1 | grep -q 'exited with code 07' ||
	skip_all 'gdb may not run programs here'
judge() {
	python3 -B "$beside/debug_installed.py" "$@"
}
LC_ALL=C
export LC_ALL

# beside_gdb LIBRARY FUNCTIONS WHERE MOST COMMAND [ARG]...: runs the command once to see which functions it calls, and
# once in gdb; sets $said: what differs, and counts.
beside_gdb() {
	watched=$1
	printf '[trace]\noutput = %s/d\n[library %s]\nkinds = plt\nfunctions = %s\n[context *@%s]\ncontext = args\n' \
		"$tmp" "$1" "$2" "$1" >conf
	where=$3 most=$4
	shift 4
	rm -rf d at shown
	bounded 60 env LD_AUDIT="$MODULE" XAUDIT_CONFIG="$tmp/conf" "$@" >out 2>&1 || bail "$1 fails: $(tail -n 3 out)"
	"$XAUDIT" dump --format=json d >dump.json
	judge places "$watched" dump.json >at
	rm -rf d
	WATCH_LIBRARY=$watched WATCH_AT=at WATCH_WHERE=$where WATCH_MOST=$most WATCH_TO=shown \
		bounded 60 gdb --batch -nx -iex "set environment LD_AUDIT $MODULE" \
		-iex "set environment XAUDIT_CONFIG $tmp/conf" \
		-x "$beside/debug_installed.py" --args "$@" >gdb.out 2>&1 </dev/null
	grep -q 'exited normally' gdb.out || bail "$1 fails in gdb: $(tail -n 3 gdb.out)"
	"$XAUDIT" dump --format=json d >dump.json
	said=$(judge compare shown dump.json)
	diag "$*: $(printf '%s\n' "$said" | tail -n 1)"
}
# count WORD: what $said has of it.
count() {
	printf '%s\n' "$said" | sed -n '$s/^.*\<\([0-9]*\) '"$1"'.*/\1/p'
}

agrees() {
	is "$(count missing) $(count wrong)" '0 0' "$1: gdb shows the same" ||
		diag "$(printf '%s\n' "$said" | head -n 20)"
}

# ---- the C library ----

libc=$(ldd "$XAUDIT" | sed -n 's/.*libc.so.6 => \([^ ]*\).*/\1/p')
if bounded 60 gdb --batch -nx -ex 'info scope qsort_r' "$libc" 2>&1 | grep -q '^Symbol'; then
	mkdir dir
	for i in $(seq 50); do echo "$i" >"dir/file $i"; done
	ln -s 'file 1' dir/link
	beside_gdb libc.so.6 '*' first 20 ls -lR dir
	agrees ls
	ok 'ls: of many calls' test "$(count calls)" -ge 200
	ok 'ls: with many values' test "$(count values)" -ge 400
	ok 'ls: few that only gdb knows of' test "$(count 'passed over')" -le 10
	python=/usr/bin/python3
	if [ -x "$python" ] && ldd "$python" 2>/dev/null | grep -q 'libc.so.6'; then
		beside_gdb libc.so.6 '*' first 20 "$python" "$beside/debug_installed_calls.py" "$tmp/python"
		agrees python3
		ok 'python3: of many functions' test "$(count functions)" -ge 100
		ok 'python3: of many calls' test "$(count calls)" -ge 700
		ok 'python3: with many values' test "$(count values)" -ge 1000
		ok 'python3: few that only gdb knows of' test "$(count 'passed over')" -le 40
	else
		skip 5 'no python3 of the system'
	fi
else
	skip 9 'no debug information of the C library here'
fi

# ---- libstdc++ ----

debug_build=
for library in /usr/lib/*/debug/libstdc++.so.6; do
	[ ! -e "$library" ] || debug_build=${library%/*}
done
if [ -n "$debug_build" ]; then
	$CXX -std=c++17 -O0 -w -o driver "$beside/debug_installed.cc" || bail 'no C++ program'
	LD_LIBRARY_PATH=$debug_build
	export LD_LIBRARY_PATH
	beside_gdb libstdc++.so.6 '*' behind 20 ./driver "$tmp/file"
	agrees libstdc++
	ok 'libstdc++: of many functions' test "$(count functions)" -ge 150
	ok 'libstdc++: of many calls' test "$(count calls)" -ge 350
	ok 'libstdc++: with many values' test "$(count values)" -ge 650
	is "$(count 'passed over')" 0 'libstdc++: gdb saw no others'
else
	skip 5 'no debug build of libstdc++ here'
fi
done_testing
