#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Children that share the program's memory and run beside it on stacks of their own: clone(CLONE_VM) without
# CLONE_THREAD. They run as ever, the program's own calls are all there, and those of the children are counted as lost.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

library "$CC" libcounted.so counted.c
patchable_library libpatchable.so counted.c
program "$CC" sharer sharer.c -L. -lcounted
program "$CC" sharer_patchable sharer.c -L. -lpatchable
sharing="since they were of processes that share another one's memory"

# share PROGRAM KIND WAY MODE: records it. A call that is not followed is one event that is lost.
share() {
	record d -b 64k -m "$4" -k "$2" -l 'lib[cp][oa]*' "./$1" "$3" 20000
	report d
	name="$2, mode $4, $3"
}
for of in 'sharer plt' 'sharer_patchable patchable'; do
	for way in plain all thread tls; do
		for mode in stream ring; do
			share $of $way $mode
			is "$status/$out/$err" \
				"0/done/xaudit record: 60000 of 100000 events were lost $sharing" \
				"$name: the program runs as ever, and how many calls of its children are lost is told"
			is "$(calls counted), $(sums)" '20000, 60000 lost 0 unfinished' \
				"$name: each of its own is there"
		done
		share $of $way count
		is "$status/$out" '0/done' "$name: the program runs as ever"
		# How many others write on its thread-local data at once, and are seen, is not known in advance.
		[ $way != tls ] || is "$err" "xaudit record: 60000 of 80000 events were lost $sharing" \
			"$name: what is counted is in the total"
	done
	# Processes that its children fork have memory of their own.
	share $of fork stream
	is "$status/$out/$(info d '[.processes[1:][] | [.events, .lost]]')" \
		"0/done/[[40000,0],[40000,0],[40000,0]]" "$name: what they fork is recorded"
done

# The last child is there when record has ended.
share sharer plt outlive stream
wait_until 60 sh -c '[ "$(cat .out)" = done ]'
wait_until 60 sh -c '[ "$("$XAUDIT" report --format=json d | jq .lost)" = 60000 ]'
report d
is "$status/$(cat .out)/$(calls counted), $(sums)" '0/done/20000, 60000 lost 0 unfinished' \
	'children go on when the program has ended: it runs as ever, and all are counted'
done_testing
