#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit locks with backtraces: who waits where is told by callers that are known in advance, as many of them as are
# asked for; of programs of the system that have threads, too.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
unset XAUDIT_CONFIG XAUDIT_RULES

program "$CC" callers callers.c
# locks OPTION... -- COMMAND...: sets $status, $err and $out.
locks() {
	rm -rf kept
	status=0
	bounded 100 "$XAUDIT" locks --keep=kept --format=json "$@" >"$tmp/.out" 2>"$tmp/.err" </dev/null || status=$?
	out=$(cat "$tmp/.out")
	err=$(cat "$tmp/.err")
}
json() {
	printf '%s\n' "$out" | jq -r "$1"
}
# Places where somebody waited, of callers up to the thread's function. Libc's have other names elsewhere.
ways='[.places[] | select(.waits.count > 0)] | sort_by([.stack.frames[].function // ""]) | .[] | "\(.waits.count): " +
	([.stack.frames[] | select(.library | endswith("/callers")) | .function] | join(" "))'
so_many() { # N WORD
	yes "$2" | head -n "$1" | tr '\n' ' ' | sed 's/ $//'
}

locks -- ./callers
is "$status $err" '0 ' 'a program is reported of, with backtraces'
is "$(json "$ways")" "1: $(so_many 32 recurse)
1: three compare sorted run
1: three handler raises run
3: three two left run
1: three two right run" 'who waited is told by callers, through qsort() and a signal handler, too; each way once'
is "$(json '[.places[] | select(.stack.frames[0].function == "recurse") | .stack.end] | join(" ")')" \
	'as many callers as were asked for' 'of a deep stack the innermost 32'
is "$(json '[.places[] | select(.stack.frames[2].function == "left") | .stack.end] | join(" ")')" \
	'nobody called it' 'of others all'
is "$(json '.places[] | select(.waits.count > 0) | .locked_in' | LC_ALL=C sort | uniq -c | tr -s ' ')" \
	' 1 recurse
 4 three' 'the innermost caller is where it was locked'
is "$(json '.locks[] | select(.library == null) | "\(.calls) \(.waits.count) \(.first_locked_in)"')" '15 7 three' \
	'a lock on the heap is named by where it was first locked'
is "$(json '.holds[] | select(.waiters > 0) | "\(.locked_in) \(.waiters)"' | uniq -c | tr -s ' ')" ' 7 let_wait 1' \
	'as are holds'
is "$(json '[.places[] | .waits.count] | add') $(json '[.locks[] | .waits.count] | add')" '7 7' \
	'no wait is told twice, or left out'
"$XAUDIT" locks kept >text
like "$(cat text)" \
	'^ +3 +3 .* \.\.\. > run > left > two > three > pthread_mutex_lock: 0x[0-9a-f]+ first locked in three$' \
	'text has the innermost four'

is "$(grep ' > main > let_wait > ' text | cut -c 1-23)" '         7          0  ' \
	'and is told once of calls from several lines of one function'

for n in 1 2 100; do
	locks --backtrace=$n -- ./callers
	is "$status $(json '.places[] | select(.waits.count > 0 and .stack.frames[0].function == "recurse") |
		.stack.frames | map(.function) | join(" ")')" "0 $(so_many $n recurse)" \
		"--backtrace=$n: so many callers"
done
is "$(json '[.places[].stack.frames | length] | max')" 100 'no more'
for n in 0 101 x; do
	locks --backtrace=$n -- ./callers
	is "$status" 125 "--backtrace=$n is refused"
done
like "$err" "'x'.*a number from 1 to 100" 'with what is allowed'

# ---- programs of the system ----
# Python's locks are semaphores: one thread waits 40 ms for another one.
cat >waits.py <<'END'
import threading, time
held = threading.Lock()
def want():
    with held:
        pass
held.acquire()
waits = threading.Thread(target=want)
waits.start()
time.sleep(0.04)
held.release()
waits.join()
END
if /usr/bin/python3 -c 'import threading' 2>err; then
	locks --backtrace=100 -- /usr/bin/python3 waits.py
	is "$status $err" '0 ' 'python3 is reported of'
	is "$(json '.places[] | select(.waits.max_ns >= 30000000) | "\(.waits.count) \(.stack.end) " +
		([.stack.frames[].function] | index("PyThread_acquire_lock_timed") | tostring)')" \
		'1 nobody called it 0' 'who waited for a lock is told by all callers, up to the begin of the thread'
	is "$(json '[.inversions, .held_at_end, .waiting_at_end] | map(length) | join(" ")')" '0 0 0' \
		'and nothing that is not so'
else
	skip 3 'no python3 in /usr/bin'
fi
# Blocks of 256 KiB on two threads: main() and these wait for each other by conditions.
if command -v xz >/dev/null && xz -T2 --block-size=262144 -c </dev/null >empty 2>err; then
	head -c 3000000 /dev/urandom >some
	locks -- xz -T2 --block-size=262144 -k some
	is "$status $err $(xz -d -c some.xz | cmp - some)" '0  ' 'xz compresses as ever, and is reported of'
	is "$(json '.conditions[] | select(.kind == "condition") | .first_locked_in | test("lzma")' | uniq)" true \
		'what it waits for is in its library'
	is "$(json '[.places[] | .stack.end] | unique | join(", ")')" "$(json '[.places[] | "nobody called it"] |
		unique | join(", ")')" 'backtraces go up to the begin of its threads'
	is "$(json '[.inversions, .held_at_end, .waiting_at_end] | map(length) | join(" ")')" '0 0 0' \
		'and nothing is said of it that is not so'
else
	skip 4 'no xz here that has threads'
fi
done_testing
