#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The program is stopped with a thread at each instruction of a probed function, its stub and the trampoline, one after
# another; until then another thread calls the function all the time. Right there `xaudit ctl` takes the probe away, and
# the code is the file's; sets it again; and the program goes on. No result is wrong, and an event is made whenever the
# thread has passed the probe.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/ctl.sh"
. "$top_srcdir/t/lib/probed.sh"
need nm
probed_library
program "$CC" stands stands.c

# stopped: all threads of the program are.
stopped() {
	[ "$(sed -n 's/^State:\t\(.\).*/\1/p' "/proc/$pid/task/"*/status | sort -u)" = T ]
}
# events: of the program's first thread.
events() {
	bounded 60 "$XAUDIT" dump --format=json d |
		jq -n --argjson t "$pid" '[inputs | select(.event == "probe" and .tid == $t)] | length'
}
# at FUNCTION N CONTEXT STEP: with a probe at its Nth instruction, or the one of that name; in the short form at one
# position in STEP.
at() {
	address=$(objdump -d --no-show-raw-insn libprobed.so | awk -v f="<$1>:" -v n="$2" '
		/^[0-9a-f]+ </ { on = $2 == f; next }
		on && /^ *[0-9a-f]+:/ && (++seen == n || $2 == n) { sub(":", "", $1); print $1 }')
	function=$1 place="p=0x$address@libprobed.so" context=$3 step=$(rounds "$4" 1 1)
	rules 'mode = ring' 'ring = 1M'
	begin ./probed 1
	text=$(sed -n 's,^\([0-9a-f]*\)-\([0-9a-f]*\) r-xp .*/libprobed\.so$,\1 \2,p' "/proc/$pid/maps")
	base=$(sed -n 's,^\([0-9a-f]*\)-[0-9a-f]* r--p 00000000 .*/libprobed\.so$,\1,p' "/proc/$pid/maps" | head -n 1)
	start=$(printf '%x' $((0x$base + 0x$(nm -D libprobed.so | sed -n "s/ T $function\$//p"))))
	way='' bad='' n=0 stood=0 stubs=0 expected=0 where=text late=0
	while [ "$where" != end ] && [ "$n" -lt 5000 ]; do
		ctl "$pid" probe $context "$place"
		[ "$status" -eq 0 ] || bad="$bad; $n: not set: $err"
		[ -n "$way" ] || way=$(bounded 60 "$XAUDIT" ctl "$pid" probes --format=json | jq -r '.probes[0].way')
		said=$((said + 1))
		# shellcheck disable=SC2086
		bounded 120 ./stands "$pid" $text "$start" "$n" 'call 1' >&3 2>stand || bad="$bad; $n: $(cat stand)"
		where=$(sed 's/ .*//' stand) passed=$(sed 's/.* //' stand)
		wait_until 60 stopped || bad="$bad; $n: it does not stop"
		ctl "$pid" unprobe p
		[ "$status$err$(clean)" = 0 ] || bad="$bad; $n: not away: $status $err $(clean)"
		ctl "$pid" probe $context "$place"
		again=$status
		case $status$err in
		0) ;;
		# A thread is in the stub that the bytes led to before.
		1*'not written yet: something stood in its bytes'*) late=$((late + 1)) ;;
		*) bad="$bad; $n: not set again: $status $err" ;;
		esac
		kill -CONT "$pid"
		wait_until 60 has_answered || bad="$bad; $n: no answer"
		# It has passed the probe, or comes to it now.
		[ "$passed $again" = '0 1' ] || expected=$((expected + 1))
		stood=$((stood + 1))
		case $where in stub) stubs=$((stubs + 1)) ;; esac
		n=$((n + step))
	done
	tell wrong
	bad="$bad$(tail -n 1 out | sed 's/called \([1-9][0-9]*\) rounds \(.*\)/\2/')"
	finish
	diag "$function, way $way${context:+, $context}: at $stood instructions, $stubs of them not in the function;" \
		"set again later: $late times"
	is "$bad $where $status $(cat err)" '0 wrong end 0 ' "$function, $way: taken away and set at each instruction"
	is "$(events)" "$expected" 'there are just the events that there have to be'
	ok 'many of the instructions were those of the stub and the trampoline' test $((4 * stubs)) -gt "$stood"
}
at carried 1 '' 5
at carried 6 --context=regs 71
at carried ret '' 7
at stored 3 '' 13
done_testing
