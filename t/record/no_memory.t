#!/bin/sh
# SPDX-License-Identifier: MIT
#
# record when memory runs out while the command runs, or at its end: the command runs on, its status counts, and the
# trace is whole. Each allocation that record makes from the command's start on fails once, alone, and with all that
# follow.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

program "$CC" early early.c -fno-builtin
library "$CC" no_memory.so no_memory.c

# A process that ends before the command does, and one that makes no call that is selected.
cat >command <<'EOF'
: >ran
./early 1000 >pid
./early 0 >other
sleep 0.06
exit 7
EOF

# fail AT [ON]: runs it so. The older traces a and a.old are there, as a rule.
fail() {
	rm -f ran count
	env LD_PRELOAD="$tmp/no_memory.so" NO_MEMORY_RAN="$tmp/ran" NO_MEMORY_COUNT="$tmp/count" NO_MEMORY_AT="$1" \
		${2:+NO_MEMORY_ON=1} "$XAUDIT" record -o "$tmp/a" -b 64k -k plt -F srand sh command >out 2>err
}

# wrong: why the last run was not right, if it was not. That there is no memory may be said.
wrong() {
	[ "$status" -eq 7 ] || echo "status $status"
	report a
	[ "$(calls srand), $(sums)" = '1000, 0 lost 0 unfinished' ] || echo "report: $(calls srand), $(sums)"
	grep -v -e '^xaudit record: nothing was selected in ' \
		-e '^xaudit record: what [0-9]* process.* recorded was not looked at: out of memory; ' \
		-e '^xaudit record: .*: Cannot allocate memory' err
}

# fail_each [ON]: the allocations in turn, or each third of them; prints what was wrong.
fail_each() {
	n=1
	while [ "$n" -le "$all" ]; do
		status=0
		fail "$n" "$@" || status=$?
		why=$(wrong | tr '\n' ' ')
		[ -z "$why" ] || echo "allocation $n${1:+ and on}: $why"
		grep 'was not looked at: out of memory; `xaudit info` tells what was lost' err >>said
		n=$((n + step))
	done
}

step=3
[ -z "${XAUDIT_ALL-}" ] || step=1
status=0
fail 0 || status=$?
all=$(cat count)
is "$status $(wrong)" '7 ' 'a run with memory'
ok "$all allocations are counted" [ "$all" -gt 30 ]
is "$(fail_each)" '' 'whichever allocation fails, the command runs on, and all is in the trace'
is "$(fail_each on)" '' 'or with all that follow'
ok "what could not be looked at is said: $(sort -u said | wc -l) ways" [ -s said ]
status=0
fail 1 on || status=$?
is "$status $(grep -c "a can't be read: Cannot allocate memory" err)" '7 1' 'where there is none at all, that is said'
ok 'and files are as large as they were' [ "$(find a -name meta -size +100k | wc -l)" -eq 4 ]
status=0
fail 0 || status=$?
ok 'else none is' [ "$(find a -name meta -size +100k | wc -l)" -eq 0 ]
done_testing
