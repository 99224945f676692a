# SPDX-License-Identifier: MIT
#
# The contents of a trace of t/fixtures/digits.c; sourced after t/lib/traced.sh.

# numbers DIR: a line per thread that counted: tid, first number, last number, how many, events. "bad: ..." where the
# events are not those of a thread that counts: each call ended before the next, each number one more than the one
# before. The oldest event may be the end of a call.
numbers() {
	bounded 120 "$XAUDIT" dump "$1" 2>&1 | awk '
	function bad(what) { if (!(tid in wrong)) { wrong[tid] = what; print "bad: thread " tid ", " $0 ": " what } }
	$1 == "xaudit:" { print; next }
	$1 == "#" { next }
	$3 == "load" || $3 == "unload" || $3 == "change" { next }
	{ tid = $2 }
	$3 == "gap" { if (tid in events) bad("chunks are missing in the middle"); next }
	$3 == "crash" { next }
	$3 == "exit" {
		if (tid in events && open[tid] != $5) bad("the end of a call that is not open")
		open[tid] = ""; events[tid]++; next
	}
	$3 == "entry" {
		if (open[tid] != "") bad("a call in a call")
		open[tid] = $5; events[tid]++
		if ($5 == "begin") {
			if (tid in digits && digits[tid] != 8 && digits[tid] >= 0)
				bad("a number of " digits[tid] " digits")
			digits[tid] = 0; number[tid] = 0
		} else if (tid in digits) {
			number[tid] = number[tid] * 16 + index("0123456789abcdef", substr($5, 7)) - 1
			if (++digits[tid] == 8) {
				if (!(tid in first)) first[tid] = number[tid]
				else if (number[tid] != last[tid] + 1) bad("after " last[tid] " comes " number[tid])
				last[tid] = number[tid]; all[tid]++
			}
		}
		next
	}
	{ bad("what is this?") }
	END { for (tid in first) print tid, first[tid], last[tid], all[tid], events[tid] }' | LC_ALL=C sort
}
# counted FILE: a line per thread: tid, last number.
counted() {
	od -An -v -w64 -td8 "$1" | awk '$1 { print $1, $2 }' | LC_ALL=C sort
}
# counting FILE THREADS LEAST: waits until so many threads have counted so far.
counting() {
	wait_until 100 has_counted "$@" || diag "$2 threads have not counted to $3: $(counted "$1")"
}
has_counted() {
	[ -e "$1" ] && [ "$(counted "$1" | awk -v least="$3" '$2 >= least' | wc -l)" -eq "$2" ]
}
# newest DIR FILE SLACK LEAST: prints "" if each thread's newest numbers are in the trace, at least LEAST of them, up to
# the number that it had counted or at most SLACK more.
newest() {
	numbers "$1" >"$tmp/numbers"
	grep -e '^bad' -e '^xaudit' "$tmp/numbers"
	counted "$2" | while read -r tid number; do
		set -- "$1" "$2" "$3" "$4" $(grep "^$tid " "$tmp/numbers")
		[ $# -eq 9 ] || { echo "thread $tid is missing"; continue; }
		[ "$7" -ge "$number" ] && [ "$7" -le $((number + $3)) ] ||
			echo "thread $tid counted to $number, the recorder to $7"
		[ "$8" -eq $(($7 - $6 + 1)) ] || echo "thread $tid: $8 numbers from $6 to $7"
		[ "$8" -ge "$4" ] || echo "thread $tid: only $8 numbers"
	done
}
