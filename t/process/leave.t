#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A process that gives up rights leaves the file that it shares with processes which keep theirs, before it does; where
# nobody else has it, or nothing is given up, it stays. Each call is in the trace either way.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

[ "$(id -u)" -eq 0 ] || skip_all 'not root: no rights to give up'
chmod 755 "$tmp"
library "$CC" libwithin.so within.c
program "$CC" leaver leaver.c -L. -lwithin
install -m 755 "$MODULE" .

# look STEPS EXPECTED CALLS FAMILIES: the trace in d, whose program printed what is expected, has these calls.
look() {
	report d
	is "$status/$out/$(grep -c "untraced\|can't\|gives up" .err)" "0/$2/0" \
		"$what: where it stays (-), and leaves (+)"
	is "$(calls counted)/$(printf '%s\n' "$report" | jq .lost)/$(find d -name meta | wc -l)" "$3/0/$4" \
		"$what: each call is there, and so many files"
}
# leave STEPS EXPECTED CALLS FAMILIES: under record, and under LD_AUDIT alone, in $modes.
modes=stream
leave() {
	for mode in $modes; do
		what="$mode, record, steps $1"
		record d -m $mode -b 64k -k plt -l libwithin.so ./leaver "$1"
		look "$@"
		what="$mode, alone, steps $1"
		rm -rf d
		printf '[trace]\noutput = %s\nmode = %s\nbuffer = 64k\n[library libwithin.so]\nkinds = plt\n' \
			"$tmp/d" $mode >conf
		status=0
		out=$(bounded 60 env LD_AUDIT="$tmp/libxaudit.so" XAUDIT_CONFIG="$tmp/conf" ./leaver "$1" 2>.err) ||
			status=$?
		# A child that its parent did not wait for.
		[ $mode = count ] || wait_until 20 has_ended
		look "$@"
	done
}
# has_ended: no process of the trace runs.
has_ended() {
	[ "$(info d '[.processes[] | select(.state == "running")] | length')" = 0 ]
}
modes='stream ring count'
leave Fu + 2007 2
leave fu + 2007 2
modes=stream
# Nobody else has the file.
leave u - 2000 1
leave c - 2000 1
leave sv -- 2000 1
# A child, or the parent, has it.
for step in r w c p n; do
	# A root of chroot() is none of a mount namespace: the kernel makes no user namespace for a process in it.
	if [ $step = n ] && ! unshare -U true 2>.err; then
		skip 8 "no user namespaces: $(cat .err)"
		continue
	fi
	leave F$step + 2007 2
	leave f$step + 2007 2
done
leave FU + 2007 2
leave xu + 2007 2
leave yu + 2007 2
leave Fsv -- 2007 1
# It has left: what it gives up after that is no matter, until it forks again.
leave Fcu +- 2007 2
leave FcFu ++ 2014 3
# Nothing can be taken from under other threads.
what='a thread is recorded'
record d -k plt -l libwithin.so ./leaver FTu
report d
is "$status/$out/$(calls counted)/$(find d -name meta | wc -l)" "0/-/2107/1" "$what: the process stays"
is "$(grep -c 'gives up rights while several of its threads are recorded' .err)" 1 "$what: and says so, once"

# Calls that are open meanwhile return, and labels of their own stay what they are.
record d --perf -k plt -l libwithin.so ./leaver Fw
report d
is "$status/$out/$(calls counted) $(calls within)" '0/+/2007 1' 'with --perf, a call that is open meanwhile returns'
is "$(find d -name labels | wc -l)" 2 'and each of the two files has labels beside it'
is "$(info d '[.processes[].state] | sort')" '["ended","gone","left"]' \
	'the process that left is shown as one that another one went on for'
done_testing
