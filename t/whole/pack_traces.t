#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The traces that other tests make, of all kinds, modes and ages, are packed when these tests end (t/lib/packed.sh):
# each file comes back as it was, and dump shows of the packed trace what it shows of the folder. What these tests say
# themselves does not count here.
. "${top_srcdir:-.}/t/lib/tap.sh"
skip_sanitized

tests='api counts family_read format kill ring'
if [ -n "$XAUDIT_ALL$XAUDIT_SOAK" ]; then
	tests="$tests coarse coroutines crash ctl_entry cyg damaged drain dropped entry exceptions family follow fork"
	tests="$tests full_disk guard handlers_api leaving modes objects pg reload sched signals snapshot static_tls"
	tests="$tests threads xray_interface"
fi
for test in $tests; do
	[ -f "$top_srcdir/t/whole/$test.t" ] || continue
	XAUDIT_PACKED=$tmp/$test XAUDIT_ALL='' XAUDIT_SOAK='' bounded 300 "$top_srcdir/t/whole/$test.t" \
		>/dev/null 2>&1
	if [ -f "$tmp/$test" ]; then
		diag "$test.t: $(grep -c '^same' "$tmp/$test") traces came back"
		is "$(grep -v '^same' "$tmp/$test")" '' "all traces of $test.t come back"
		cat "$tmp/$test" >>"$tmp/all"
	fi
done
ok 'there were at least 20' test "$(grep -c '^same' "$tmp/all")" -ge 20
done_testing
