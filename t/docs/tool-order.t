#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The parts of a command need each other in one order, so there is no circle.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/upward.sh"
need nm

# Files of tool/check/, each after all files that it needs; check.c gives pointers to the others.
layers='state tasks stack finding suppress report report_text report_json growth stayed late scan'
layers="$layers libc_lists pointers judge tracer check"
set --
for file in "$top_srcdir"/tool/check/*.c; do
	file=${file##*/}
	set -- "$@" "$top_builddir/tool/check/xaudit-${file%.c}.o"
done
ok 'tool/check/ has objects to look at' test $# -gt 10
is "$(upward "$layers" "$@")" '' 'no file of tool/check/ needs one that stands on it'
like "$(upward "$(echo "$layers" | sed 's/tasks stack/stack tasks/')" "$@")" '^stack needs check_read of tasks$' \
	'one that did would be found'
done_testing
