#!/bin/sh
# SPDX-License-Identifier: MIT
#
# While threads record, no cache line is written by two of them: records, cursors, chunks, counters, mirrors, slots of
# the epoch. Each access of eight threads is watched.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

include="-I$top_srcdir -I$top_srcdir/runtime/api"
library "$CC" liblines.so lines_library.c -fpatchable-function-entry=5
program "$CC" lines lines.c $include -Wall -Wextra -Werror "$top_builddir/libxaudit-api.a" -L. -llines -Wl,-z,now
kinds='plt patchable'
if [ -n "$CLANG" ] && mkdir xray && xray_library xray/liblines.so lines_library.c; then
	program "$CC" xray/lines lines.c $include "$top_builddir/libxaudit-api.a" -Lxray -llines -Wl,-z,now
	kinds="$kinds xray"
fi

is "$(bounded 60 ./lines)" 'written 0 0 shared 0 read 0' 'without the module the calls write nothing'
is "$(bounded 60 ./lines shared)" 'written 1 1 shared 8 read 8' 'a word that eight threads write is seen'
for kind in $kinds; do
	program=./lines
	[ "$kind" != xray ] || program=./xray/lines
	for mode in stream ring count; do
		for way in '' handler; do
			# shellcheck disable=SC2086
			record d -m "$mode" -k "$kind" -l liblines.so "$program" $way
			least=${out#written }
			least=${least%% *}
			ok "$kind, $mode${way:+, }$way: each thread writes" test "${least:-0}" -ge 1
			is "$err${out##* shared}" ' 0 read 0' \
				"$kind, $mode${way:+, }$way: no line is written by two, or by one and read by another"
		done
	done
	record d -m stream -k "$kind" -l liblines.so "$program" shared
	is "${out##* shared}" ' 8 read 8' "$kind: while they record it would be seen, too"
done
[ "$kinds" != 'plt patchable' ] || skip 'xray' 'no clang'
report d
ok 'what they record is there: at least 104 calls of each thread' test "$(calls lines_call)" -ge 832
done_testing
