#!/bin/sh
# SPDX-License-Identifier: MIT
#
# `xaudit record` writes full chunks as long as it runs; if it or the program is killed meanwhile, nothing is lost.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
need python3

program "$CC" drain drain.c -fno-builtin -I"$top_srcdir"
# drain FOLDER COMMAND...
drain() {
	dir=$1
	shift
	record "$dir" -b 64k -k plt -F srand "$@"
}
# all FOLDER CALLS WHAT
all() {
	report "$1"
	is "$(calls srand), $(sums)" "$2, 0 lost 0 unfinished" "$3"
}

gone() {
	! kill -0 "$1" 2>/dev/null
}

drain a ./drain "$tmp/a" slow:100000
is "$status $err" '0 ' 'a program waits until what it filled is written'
pid=$out
all a 100000 'all is in the trace'
# 200000 events in chunks of 8176 at most, the last of which is not full.
size=$(python3 "$top_srcdir/t/lib/compact.py" "a/p$pid/t0" size)
ok 'what was full is in t0' test "$size" -gt $((22 * 65536))

if command -v strace >/dev/null && strace -o calls true 2>/dev/null; then
	status=0
	bounded 120 strace -ff -y -o calls -e trace=pwrite64,pwritev "$XAUDIT" record -o \
		"$tmp/b" -b 64k -k plt -F srand \
		./drain "$tmp/b" begin slow:50000 >said || status=$?
	is "$status" 0 'the same under strace'
	is "$(grep -c '/t0>' "calls.$(cat said)")" 0 'the program writes nothing to its file itself'
	all b 50001 'all is in the trace'
else
	skip 3 'no strace'
fi

drain c ./drain "$tmp/c" 300000
is "$status $err" '0 ' 'a program that waits for nobody'
all c 300000 'has all in the trace'

drain d ./drain "$tmp/d" slow:30000 200000 die
is "$status" 137 'a program that is killed'
all d 230000 'has all in the trace'

# A file tells of the program's end, since record ends at another time.
for way in 'kill 200000' 'kill 200000 die' '100000 kill 50000 die'; do
	rm -rf e
	# The words are words.
	# shellcheck disable=SC2086
	bounded 60 "$XAUDIT" record -o "$tmp/e" -b 64k -k plt -F srand ./drain \
		"$tmp/e" slow:30000 $way >said 2>/dev/null
	pid=$(cat said)
	wait_until 60 gone "$pid"
	calls=30000
	for word in $way; do
		case $word in [0-9]*) calls=$((calls + word)) ;; esac
	done
	all e $calls "record is killed while the program runs ($way): all is in the trace"
done

# No other process writes chunks instead of it.
drain f ./drain "$tmp/f" slow:30000 stop 300000 cont
is "$status $err" '0 ' 'record is stopped while the program runs'
all f 330000 'all is in the trace'
done_testing
