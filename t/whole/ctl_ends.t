#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit ctl --tree, where processes of the tree end all the time.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/ctl.sh"
printf '[trace]\noutput = %s/d\n[library libc.so.6]\nkinds = none\n' "$tmp" >conf
# Descendants that end while ctl is at work.
begin sh -c 'for i in 1 2 3 4 5 6; do while :; do (:); done & done; echo "ready $$"; wait'
failed=0
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	ctl --tree "$pid" start
	[ "$status" -eq 0 ] || failed=$((failed + 1))
done
is "$failed" 0 'in a tree that forks all the time, processes that end are no failure'
pkill -P "$pid"
finish

done_testing
