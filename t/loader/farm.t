#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Those programs of the farm (`make farm`) that every system for development has: in eight ways of tracing they print
# and end as untraced and lose no events, and check finds nothing in them.
. "${top_srcdir:-.}/t/lib/tap.sh"
skip_sanitized
need jq

programs='perl python iconv git clang make asan tsan'
FARM="$programs" FARM_WORK="$tmp" bounded 600 "$top_srcdir/t/farm/run.sh" >"$tmp/table" 2>"$tmp/err"
is "$? $(tail -n 1 "$tmp/table") $(cat "$tmp/err")" '0 farm: 0 bad ' 'nothing is wrong with the programs that are here'
while read -r line; do
	diag "$line"
done <"$tmp/table"
for program in $programs; do
	row=$(grep "^$program " "$tmp/table")
	case $row in
	*'not here'*) skip 1 "$row" ;;
	*) is "$(printf '%s\n' "$row" | tr '|' '\n' | grep -cv lost)" 9 \
		"$program: nothing is lost in any of the eight ways" ;;
	esac
done
done_testing
