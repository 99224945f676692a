#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The context backtrace, of functions of each kind, in threads, in a child, through libraries that are opened again
# elsewhere, through code without unwind information, and without an index. What it finds in real programs is in
# t/calls/backtraces.t.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

cat >leaf.c <<'END'
int leaf(int n);
int leaf(int n)
{
	static volatile int more = 1;
	return n + more;
}
END

# chains [FUNCTION]: the backtraces of entries, each once, with its count: functions up to main(), or the thread's
# first; then why it ends.
chains() {
	bounded 60 "$XAUDIT" dump --format=json d 2>err | jq -r --arg f "${1:-leaf}" \
		'select(.event == "entry" and .function == $f) |
		[(.values // [])[] | select(.name == "backtrace") | .value |
			([.frames[].function // "?"] | join(" ") | sub("(?<last>main|start_thread) .*"; .last)), .end] |
		join(", ")' |
		sort | uniq -c | sed 's/^ *//'
}
whole='10 inner outer call main, nobody called it'

# kind KIND LIBRARY-MAKER FLAG...
kind() {
	kind=$1 maker=$2
	shift 2
	mkdir -p "$kind"
	$maker "$kind/libleaf.so" "$tmp/leaf.c" "$@" || return 1
	$CC -O2 -g -c -o bare.o "$beside/backtraces_bare.c" &&
		$CC -O2 -g -DMIDDLE -c -o middle.o "$beside/backtraces.c" &&
		$CC -O2 -g -fno-optimize-sibling-calls -pthread -o "$kind/calls" "$beside/backtraces.c" middle.o \
			bare.o -L"$kind" -lleaf -Wl,-rpath,"$tmp/$kind" || bail 'the program does not compile'
	record d -k "$kind" -l libleaf.so -F leaf --context 'leaf:backtrace' "$kind/calls"
	is "$status $err" '0 ' "$kind: the program notices nothing"
	is "$(chains)" "$whole" "$kind: each call has its callers"
}
source_of() {
	if [ -f "$1" ]; then echo "$1"; elif [ -f "$beside/$1" ]; then echo "$beside/$1"; else echo "$sources/$1"; fi
}
any_library() {
	library "$CC" "$@"
}
kind plt any_library
kind entry any_library
kind patchable any_library -fpatchable-function-entry=5
kind fentry any_library -pg -mfentry
kind mcount any_library -pg
if [ -n "$CLANG" ]; then kind xray xray_library; else skip 2 'no clang here'; fi
printf '[program]\nkinds = calls\nfunctions = leaf\n[context leaf]\ncontext = backtrace\n' >calls.conf
record d -c calls.conf plt/calls
is "$(chains)" "$whole" 'calls: each call has its callers'

record d -k plt -l libleaf.so --context 'leaf:backtrace' plt/calls thread
is "$status $err $(chains)" '0  20 inner outer call run start_thread, nobody called it' 'two threads'
record d -k plt -l libleaf.so --context 'leaf:backtrace' plt/calls turns
is "$status $err $(chains)" '0  100 inner outer call run start_thread, nobody called it' 'ten threads in turns'
record d -k plt -l libleaf.so --context 'leaf:backtrace' plt/calls fork
is "$status $err $(chains)" "0  $whole" 'a child that is forked'
record d -k plt -l libleaf.so --context 'leaf:backtrace:2' plt/calls
is "$status $err $(chains)" '0  10 inner outer, as many callers as were asked for' 'two callers'
record d -k plt -l libleaf.so --context 'leaf:out:backtrace,ret' plt/calls
is "$(bounded 60 "$XAUDIT" dump --format=json d | jq -r 'select(.event == "exit") | [.values[] | .name] | sort |
	join(" ")' | uniq -c | sed 's/^ *//')" '10 backtrace ret' 'at the end of the call'

# ---- libraries that come again ----

$CC -O2 -g -fPIC -shared -DMIDDLE -o libmiddle.so "$beside/backtraces.c" -Lplt -lleaf -Wl,-rpath,"$tmp/plt" &&
	$CC -O2 -g -DHOST -o host "$beside/backtraces.c" -Lplt -Wl,--no-as-needed -lleaf -Wl,-rpath,"$tmp/plt" -ldl ||
	bail 'the host does not compile'
record d -k plt -l libleaf.so --context 'leaf:backtrace' ./host
is "$status $out $err $(chains)" "0 75  10 inner outer main, nobody called it" 'a library that lies elsewhere each time'
is "$(bounded 60 "$XAUDIT" dump --format=json d | jq -r 'select(.event == "entry") | .values[0].value.frames[0] |
	"\(.library | split("/") | last) \(.offset)"' | uniq -c | sed 's/^ *//; s/0x.*/N/')" '10 libmiddle.so N' \
	'it is one place'

# ---- code without unwind information ----

# bare LABEL CHAIN FLAG...
bare() {
	label=$1 chain=$2
	shift 2
	$CC -O2 -fno-asynchronous-unwind-tables -fno-unwind-tables -c -o bare.o "$@" "$beside/backtraces_bare.c" &&
		$CC -O2 -g -fno-optimize-sibling-calls -pthread -o bare "$beside/backtraces.c" middle.o bare.o -Lplt \
			-lleaf -Wl,-rpath,"$tmp/plt" || bail 'the program does not compile'
	record d -k plt -l libleaf.so --context 'leaf:backtrace' ./bare pointer
	is "$status $err $(chains)" "0  10 $chain" "$label"
}
bare 'with frame pointers it is gone through' 'inner outer bare main, nobody called it' -fno-omit-frame-pointer
bare 'without, the backtrace ends there' \
	'inner outer bare, code without unwind information, which keeps no frame pointer' -fomit-frame-pointer

# ---- indexes that somebody makes shorter while they are used ----

mkfifo line
bounded 60 "$XAUDIT" record -o d -k plt -l libleaf.so --context 'leaf:backtrace' plt/calls later <line >said 2>err &
recorder=$!
exec 3>line
for try in $(seq 300); do
	if grep -q ready said; then break; fi
	sleep 0.1
done
ok 'there are indexes' test "$(find "$XAUDIT_INDEX" -name '*.index' | wc -l)" -gt 2
find "$XAUDIT_INDEX" -name '*.index' -exec sh -c ': >"$1"' sh {} \;
echo go >&3
exec 3>&-
status=0
wait "$recorder" || status=$?
is "$status $(cat err) $(chains)" "0  $whole" 'that harms nobody'

# ---- no index ----

rm -rf "$XAUDIT_INDEX"
XAUDIT_COMMAND='' record d -k plt -l libleaf.so --context 'leaf:backtrace' plt/calls
is "$status $(chains)" '0 10 ' 'without a command there is no plan, and no backtrace'
done_testing
