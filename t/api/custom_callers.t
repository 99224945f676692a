#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Backtraces of custom events: of each way to make one, in handlers of signals, threads, children, coroutines, and over
# chunks that are full.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

XDG_CACHE_HOME=$tmp/cache
export XDG_CACHE_HOME
$CC -O2 -g -fno-optimize-sibling-calls -pthread "-I$top_srcdir/runtime/api" -o callers "$beside/custom_callers.c" \
	"$top_builddir/libxaudit-api.a" || bail 'the program does not compile'

# chains: type, bytes, and backtrace of custom events, up to main() or the thread's first function; each once,
# with its count. Between a handler and the function that it came in are functions of libc.
chains() {
	bounded 60 "$XAUDIT" dump --format=json d 2>err | jq -r 'select(.event == "custom") | [.type, .size,
		((.values // [])[] | .name, (.value |
			([.frames[].function // "?"] | join(" ") |
				sub("(?<last>main|start_thread) .*"; .last) |
				sub("on_signal .* inner"; "on_signal ... inner")),
			.end))] | map(tostring) | join(", ")' |
		sort | uniq -c | sed 's/^ *//'
}
bottom='nobody called it'
# way WAY COUNT CHAINS [OPTION]...
way() {
	what=$1 count=$2 wanted=$3
	shift 3
	# shellcheck disable=SC2086 # words
	record d ${select--k calls -F sigaction} "--event-backtrace=32" "$@" "${program-./callers}" "$what" "$count"
	is "$status $err" '0 ' "$what: the program notices nothing"
	is "$(chains)" "$wanted" "$what: each event has its callers"
}
way event 10 "10 untyped, 8, backtrace, inner outer go main, $bottom"
way typed 10 "10 number, 4, backtrace, inner outer go main, $bottom"
way mark 10 "10 mark, 0, backtrace, inner outer go main, $bottom"
way macro 10 "10 untyped, 9, backtrace, inner outer go main, $bottom"
way signal 10 "10 untyped, 8, backtrace, on_signal ... inner outer go main, $bottom"
way elsewhere 10 "10 untyped, 8, backtrace, on_signal ... inner outer go main, $bottom"
way fork 10 "10 untyped, 8, backtrace, inner outer go main, $bottom"
is "$(bounded 60 "$XAUDIT" dump --format=json d | jq -r 'select(.event == "custom") | .tid' | uniq -c |
	awk '{ print $1 }' | tr '\n' ' ')" '5 5 ' 'fork: half of them are the child'\''s'
way vfork 10 "1 untyped, 8, backtrace, inner go main, $bottom
9 untyped, 8, backtrace, inner outer go main, $bottom"
record d -k calls -F nothing --event-backtrace=32 ./callers vfork 10
is "$(bounded 60 "$XAUDIT" info --format=json d | jq -c '[.lost, .custom_events]')" '[1,9]' \
	'vfork: an event of a child whose stack is not known is lost, once'
way thread 10 "5 untyped, 8, backtrace, inner outer go main, $bottom
5 untyped, 8, backtrace, inner outer run start_thread, $bottom"
way coroutine 10 '10 untyped, 8, backtrace, inner outer coroutine, unwind information that leads nowhere'
way request 10 "10 request, 3
10 request-end, 0
10 untyped, 8, backtrace, inner outer go main, $bottom"

# Two chains in turns, over many chunks: each is told in each chunk, not more than twice.
way both 20000 "10000 untyped, 8, backtrace, inner outer go main, $bottom
10000 untyped, 8, backtrace, other inner outer go main, $bottom" -b 64k
is "$(bounded 60 "$XAUDIT" info --format=json d | jq -c '[.processes[0] | .custom_unfinished // 0, .lost]')" '[0,0]' \
	'both: no event is lost, or seems unfinished'
# 4 words each; two chains of 10 words at most twice in each chunk; and heads.
ok 'both: backtraces are told once in a chunk, or twice' test "$(bounded 60 "$XAUDIT" info --format=json d |
	jq .disk_bytes)" -lt $((20000 * 32 + 12 * (40 * 8 + 128) + 4096))
way both 20000 "$(chains)" -b 64k -m ring --ring=1M

# ---- settings ----

record d -k calls -F sigaction ./callers event 10
is "$status $err $(chains)" '0  10 untyped, 8' 'nobody asks'
record d -k calls -F sigaction --event-backtrace=2 ./callers event 10
is "$status $err $(chains)" '0  10 untyped, 8, backtrace, inner outer, as many callers as were asked for' 'two callers'
printf '[trace]\nevent-backtrace = 3\n' >conf
record d -k calls -F sigaction -c conf ./callers event 10
is "$status $err $(chains)" '0  10 untyped, 8, backtrace, inner outer go, as many callers as were asked for' \
	'by the configuration'
record d -k calls -F sigaction -c conf --no-values ./callers event 10
is "$status $err $(chains)" '0  10 untyped, 8' '--no-values'
record d -k calls -F sigaction -c conf --event-backtrace=off ./callers event 10
is "$status $err $(chains)" '0  10 untyped, 8' 'off'
for wrong in 0 101 x; do
	record d --event-backtrace=$wrong ./callers event 10
	is "$status" 125 "event-backtrace=$wrong is refused"
	like "$err" 'off, or from 1 to 100' '... and why'
done

# ---- event sleds ----

if xray_library libcallers.so custom_callers.c -DLIBRARY; then
	program=./sleds select='-k xray'
	$CC -O2 -g -fno-optimize-sibling-calls -pthread -DSLEDS "-I$top_srcdir/runtime/api" -o sleds \
		"$beside/custom_callers.c" "$top_builddir/libxaudit-api.a" -L. -lcallers -Wl,-rpath,"$tmp" \
		-Wl,--allow-shlib-undefined || bail 'the program does not compile'
	way custom 10 "10 untyped, 8, backtrace, sled_custom inner outer go main, $bottom"
	way sled 10 "10 xray-7, 3, backtrace, sled_typed inner outer go main, $bottom"
else
	skip 4 'no clang here'
fi
done_testing
