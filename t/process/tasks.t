#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Tasks that share the program's memory and the thread-local data of its first thread, beside that thread, while it
# waits for others, forks, executes, handles signals, or has ended: each call of the thread's own is in the trace once,
# none of a task's is among them, and those are counted as lost. Processes that any of them forks have all of theirs.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

all='vfork forked forks stack spawns threads signals exec first child leaves outlive'

# count: calls of mine, theirs and elsewhere in the trace, or marks of that name, and the sums.
count() {
	for each in mine theirs elsewhere; do
		if [ "$kind" = marks ]; then
			each=$(bounded 60 "$XAUDIT" dump d | grep -c " mark  \"$each\"")
		else
			each=$(calls "$prefix$each")
		fi
		printf '%s ' "${each:-0}"
	done
	sums
}

# tasks NAME MODE WAY...: records it; $kind is that of sites, or "marks".
tasks() {
	program=$1 mode=$2
	shift 2
	for way; do
		name="$program, mode $mode, $way"
		set -- -k "$kind" -l "lib$program.so"
		[ $kind != marks ] || set -- -k patchable -l libpatchable.so
		record d -b 64k -m "$mode" --ring=64M "$@" "./$program" "$way" 5000
		if [ "$out" = 'not permitted' ]; then
			skip 2 "$name: no process may have a number of its choice here"
			continue
		fi
		# shellcheck disable=SC2086
		set -- $out
		said=$(printf '%s\n' "$err" |
			sed 's/^xaudit record: \([0-9]*\) of [0-9]* events .*since they were of .*/\1/')
		is "$status/$#/$said" "0/3/$([ "$2" = 0 ] || echo "$2")" \
			"$name: the program runs as ever, and it is told how many calls of tasks are lost"
		report d
		is "$(count)" "$1 0 $3 $2 lost 0 unfinished" \
			"$name: each of its own is there once, and no task's among them"
		[ $way != leaves ] || is "$(info d '.processes[0].ended')" false "$name: it has not ended by exit"
	done
}

prefix=''
kind=plt
library "$CC" libplain.so tasks_library.c
program "$CC" plain tasks.c -L. -lplain
tasks plain stream $all
kind=patchable
patchable_library libpatchable.so tasks_library.c
program "$CC" patchable tasks.c -L. -lpatchable
tasks patchable ring $all
if [ -n "$CLANG" ]; then
	kind=xray
	xray_library libsleds.so tasks_library.c
	program "$CC" sleds tasks.c -L. -lsleds
	tasks sleds stream vfork forked forks stack spawns threads signals
else
	skip 14 'no clang here'
fi
kind=marks
program "$CC" marks tasks.c -DMARKS "-I$top_srcdir/runtime/api" "$top_builddir/libxaudit-api.a" \
	-Wl,--no-as-needed -L. -lpatchable
tasks marks stream vfork forked forks threads signals
# Functions of that prefix are recorded at their entry alone.
kind=plt prefix=__ubsan_
set -- -Dmine=__ubsan_mine -Dtheirs=__ubsan_theirs -Delsewhere=__ubsan_elsewhere
library "$CC" libentries.so tasks_library.c "$@"
program "$CC" entries tasks.c "$@" -L. -lentries
tasks entries stream vfork forked forks threads signals
if [ -n "$XAUDIT_ALL" ]; then
	prefix=''
	for round in 1 2 3 4 5; do
		kind=plt
		tasks plain ring $all
		kind=patchable
		tasks patchable stream $all
	done
fi
done_testing
