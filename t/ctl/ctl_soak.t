#!/bin/sh
# SPDX-License-Identifier: MIT
#
# 10 000 sites are switched on and off by xaudit ctl, again and again, for a second in each way, while 8 threads call
# their functions at full speed and get signals.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/ctl.sh"

# sum: calls that the workers and the signal handlers have counted so far.
sum() {
	od -An -v -td8 -w8 counters | awk '{ sum += $1 } END { printf "%d", sum }'
}

# workers: what each worker has counted so far. went_on: each has made two calls since then, with the handlers in them.
workers() {
	od -An -v -td8 -w8 -N64 counters
}
went_on() {
	workers | paste - was | awk '$1 < $2 + 2 { exit 1 }'
}

# soak KIND SECONDS LINE...
soak() {
	kinds=$1 seconds=$2
	shift 2
	name="$kinds${*:+, $*}"
	rules 'enabled = no' 'mode = count' "$@"
	rm -f counters
	begin "$kinds/controlled" counters 8 4 signals
	low=0 high=0 rounds=0 wrong=''
	end=$(($(date +%s) + seconds))
	# On a machine that is busy it takes longer until there were calls.
	while [ "$(date +%s)" -lt "$end" ] || { [ "$low" -le 1000 ] && [ "$(date +%s)" -lt $((end + 60)) ]; }; do
		before=$(sum)
		ctl "$pid" enable '*'
		[ "$status" -eq 0 ] || wrong="$wrong; $err"
		begun=$(sum)
		sleep 0.05
		ending=$(sum)
		ctl "$pid" disable '*'
		[ "$status" -eq 0 ] || wrong="$wrong; $err"
		ended=$(sum)
		# The counters are read one after another, and each thread may be in a call that is not counted yet.
		low=$((low + ending - begun))
		high=$((high + ended - before + 20))
		rounds=$((rounds + 1))
	done
	is "$wrong $(on)" ' 0' "$name: all $rounds rounds are done, and all is off"
	# A thread that had no processor since then may still be in a call that is traced.
	workers >was
	wait_until 60 went_on
	traced=$(status .counted)
	sleep 0.3
	is "$(status .counted)" "$traced" "$name: after that, no call is traced"
	ok "$name: $traced traced calls are within what the program counted, $low to $high" \
		test "$traced" -ge "$((low - rounds * 20))" -a "$traced" -le "$high"
	ok "$name: there were calls" test "$low" -gt 1000
	finish
	is "$status $(tail -n 1 out) $(cat err)" '7 interrupted 0 wrong 0 ' "$name: the program noticed nothing"
}
many patchable patchable
each=$(rounds 1 3 60)
soak patchable $each
soak patchable $each 'prepare = none'
if [ -n "$CLANG" ]; then
	many xray xray
	soak xray $each
else
	skip 5 'no clang here'
fi
done_testing
