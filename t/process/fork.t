#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Each process has its own calls, in whatever way it was made, and its parent's calls don't change. There are as many
# folders as executed programs.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

# wrong: processes whose calls in the trace differ from the number that they printed; "" if there are none.
wrong() {
	# Calls of children that run at the same time as their parents, on the parent's thread-local data, are left out,
	# and counted.
	printf '%s\n' "$out" | awk 'NF != 2 || $1 !~ /^[0-9]+$/ { print; next }
		{ sum[$1] += $2 } END { for (p in sum) print p, sum[p] }' |
		while read -r pid told rest; do
			case $pid in *[!0-9]*) echo "$pid $told $rest"; continue ;; esac
			report d --pid "$pid"
			[ "$(calls counted)/$(sums)" = "$((told - left_out))/$left_out lost 0 unfinished" ] ||
				echo "process $pid told $told, the trace has $(calls counted), $(sums)"
		done
}
# made NAME WHAT PROCESSES FOLDERS [CALLS [LEFT-OUT]]
made() {
	left_out=${6:-0}
	record d -k "$kind" -l libwithin.so ./forks "$2"
	said=
	[ "$left_out" = 0 ] || said="xaudit record: $left_out of $((2 * $5 + left_out)) events were lost"
	is "$status/$(printf '%s' "$err" | sed 's/\(were lost\).*/\1/')" "0/$said" \
		"$name, $1: the program runs as ever"
	is "$(printf '%s\n' "$out" | cut -d' ' -f1 | sort -u | wc -l)" "$3" \
		"$name, $1: $3 processes tell of their calls"
	is "$(wrong | head -n 5)" '' "$name, $1: each has exactly its own in the trace"
	is "$(find d -name meta | wc -l)" "$4" "$name, $1: in $4 folders"
	if [ $# -gt 4 ]; then
		report d
		is "$(calls counted)" "$5" "$name, $1: together $5"
	fi
}

# all NAME KIND BUILD...
all() {
	name=$1 kind=$2
	shift 2
	"$@" libwithin.so within.c
	program "$CC" forks forks.c -L. -lwithin
	made 'fork, and the child forks, and its child' fork 5 1 134
	made 'fork in a thread' thread 3 1 46
	made 'fork among three busy threads' threads 13 1
	made 'vfork and exec' vfork 4 4 45
	made 'vfork, and the child calls before it executes' vfork-calls 3 3 32
	made 'clone and clone3, called by the program itself' clone 3 1 19
	made 'clone with CLONE_VM and CLONE_VFORK, on another stack' clone-stack 1 1 11
	made 'clone with CLONE_VM alone' clone-memory 1 1 6 5
	made 'clone of a thread that libc does not know of' clone-thread 1 1 6 5
	made 'posix_spawn' spawn 4 4 45
	made 'exec of itself, twice' exec 1 3 25
	made 'a child that calls nothing' idle 1 1 6
	made 'fork within a traced function' within 2 1 19
	report d
	is "$(calls within)" 1 "$name: the function within which it forked was called once"
}

all plt plt library "$CC"
all patchable patchable patchable_library
if [ -n "$CLANG" ]; then
	more all xray xray xray_library
else
	skip 65 'no clang here'
fi

# A library is scanned when it is opened for the first time, and its stubs are made each time: the fork comes in the
# middle of that.
patchable_library libwithin.so within.c
patchable_library libopen.so loader_part.c -DNAME=open -DMANY
program "$CC" fork_open fork_open.c "-I$top_srcdir/runtime/api" -L. -lwithin "$top_builddir/libxaudit-api.a"
i=0
set --
while [ $i -lt 100 ]; do
	cp libopen.so libopen$i.so
	set -- "$@" ./libopen$i.so
	i=$((i + 1))
done
record d -k patchable -l 'lib*.so' --prepare=all ./fork_open 100 "$@"
is "$status/$out" '0/100 right, 0 not off, 0 not on, 0 otherwise' \
	'100 children that were forked while a thread opened libraries switch a function off and on'
report d
is "$(calls counted)" 200 'and what they call then is counted'
done_testing
