#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A task that shares the program's memory, or a thread, ends at any instruction at which it holds the process lock: the
# program runs on, says so once, and all calls that are made from then on are in the trace, whoever makes them.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

rounds=$(rounds 12 200 2000)
library "$CC" libkilled_task.so killed_task_library.c
program "$CC" killed_task killed_task.c -L. -lkilled_task -Wl,-z,lazy

seconds=800
for way in vfork stack task thread; do
	record d -k plt -l libkilled_task.so ./killed_task $way "$rounds"
	n=$((rounds + 1))
	is "$status/$out" "0/$n rounds, $n right" "$way: the program comes to its end wherever the task was killed"
	[ "$status" -eq 0 ] || diag "$err"
	report d
	is "$(rows | sed 's/, victim.*//')/$(sums)" \
		"childs $n, mine $((30 * n)), threads $n/0 lost 0 unfinished" \
		"$way: calls of its threads and children are in the trace then"
	said=$(printf '%s\n' "$err" | grep -c '^xaudit: a task that shares the program.s memory was killed while')
	diag "$way: said $said times"
	# Not where it was killed before it held the lock, or after.
	ok "$way: it says why names may be missing" test "$said" -ge $((n - 2 - n / 8)) -a "$said" -le "$n"
	is "$(info d '[.processes[].notes[] | select(test("a task that shares"))] | length')" "$said" \
		"$way: which the trace has, too"
done
done_testing
