#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The traces that other tests make, of all kinds, modes and ages, are packed when these tests end (t/lib/packed.sh):
# each file comes back as it was, and dump shows of the packed trace what it shows of the folder. What these tests say
# themselves does not count here.
. "${top_srcdir:-.}/t/lib/tap.sh"
skip_sanitized

tests='api/api sites/counts read/family_read read/format record/kill record/ring'
if [ -n "$XAUDIT_ALL$XAUDIT_SOAK" ]; then
	tests="$tests record/coarse calls/coroutines ctl/ctl_entry sites/cyg read/damaged record/drain"
	tests="$tests process/dropped sites/entry calls/exceptions process/family process/follow process/fork"
	tests="$tests record/full_disk api/guard api/handlers_api calls/leaving read/modes loader/objects"
	tests="$tests sites/pg loader/reload record/sched calls/signals loader/static_tls"
	tests="$tests process/threads api/xray_interface"
fi
for test in $tests; do
	[ -f "$top_srcdir/t/$test.t" ] || bail "no test $test"
	packed=$tmp/${test#*/}
	XAUDIT_PACKED=$packed XAUDIT_ALL='' XAUDIT_SOAK='' bounded 300 "$top_srcdir/t/$test.t" \
		>/dev/null 2>&1
	if [ -f "$packed" ]; then
		diag "$test.t: $(grep -c '^same' "$packed") traces came back"
		is "$(grep -v '^same' "$packed")" '' "all traces of $test.t come back"
		cat "$packed" >>"$tmp/all"
	fi
done
ok 'there were at least 20' test "$(grep -c '^same' "$tmp/all")" -ge 20
done_testing
