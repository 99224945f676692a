#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A signal handler that calls a traced function may come after any machine instruction of stub, trampoline and
# recorder: the test tries each of them, by single steps.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

ulimit -f 400000

# tree: "CALLS calls, OPEN open, BAD bad, UNWOUND unwound": each end must be that of the innermost open call.
tree() {
	bounded 60 "$XAUDIT" dump d | awk '
	$3 == "entry" { if (NF > 6) bad++; stack[++depth] = $5; calls++ }
	$3 == "exit" || $3 == "tail" || $3 == "unwind" { if (depth < 1 || stack[depth--] != $5) bad++ }
	$3 == "unwind" { unwound++ }
	$3 == "lost" { bad++ }
	END { printf "%d calls, %d open, %d bad, %d unwound\n", calls, depth, bad, unwound }'
}
# Runs steps; $begun and $ended calls, $handled ones in the handler, $signals.
steps() {
	record d -k "$kind" -l libhandled.so ./steps "$1"
	diag "$kind, $1: $out"
	report d
	# shellcheck disable=SC2086
	set -- $out 0 0 0 0
	begun=$1 ended=$2 handled=$3 signals=$4
}
# exact NAME WHAT FACTOR FUNCTION...: the handler runs anywhere in a call of FACTOR functions, the last of which is
# FUNCTION.
exact() {
	steps "$2"
	is "$status" 0 "$kind, $1: the program runs as ever"
	ok "$kind, $1: the handler came after each of more than 50 instructions" test "$signals" -gt 50
	is "$(calls "$4") $(calls handled), $(sums)" "$begun $signals, 0 lost 0 unfinished" \
		"$kind, $1: all calls are there"
	is "$(tree)" "$(($3 * begun + signals)) calls, 0 open, 0 bad, 0 unwound" "$kind, $1: the tree is right"
}
# jumping NAME WHAT: the handler leaves by a jump. A call is in the trace once its entry was written.
jumping() {
	steps "$2"
	is "$status" 0 "$kind, $1: the program runs as ever"
	is "$(calls handled), $(sums)" "$signals, 0 lost 0 unfinished" \
		"$kind, $1: the handler's calls are there, nothing is open"
	ok "$kind, $1: of the calls there are no more than began, and those that ended" \
		test "$(calls counted)" -le "$begun" -a "$(calls counted)" -ge "$ended"
	# A jump between an event and the note about it may leave an end without its call; readers ignore such ends.
	few='[1-3]?[0-9]'
	[ "$kind" != cyg ] || few='[1-7]?[0-9]' # there C lies between
	like "$(tree)" "^$(($(calls counted) + signals)) calls, 0 open, $few bad, [1-9][0-9]* unwound\$" \
		"$kind, $1: the tree is right"
}

# all KIND TAIL BUILD...: TAIL is the number of recorded functions where one jumps to another.
all() {
	kind=$1 tail=$2
	shift 2
	"$@" libhandled.so handled.c
	program "$CC" steps steps.c -L. -lhandled
	exact 'one call' call 1 counted
	exact 'a tail call' tail "$tail" tailing
	exact 'a handler on a stack below' stack-below 1 counted
	jumping 'a handler that jumps' jump
	[ "$kind" = patchable ] || return 0
	exact 'nested calls' nested 3 counted
	exact 'a handler on a stack above' stack-above 1 counted
	jumping 'a handler on a stack below that jumps' jump-below
}

# A library with its index. Start files have functions of their own.
entry_library() {
	library "$CC" "$@" -nostartfiles
	index_of "$1"
}
XAUDIT_INDEX=$tmp/cache
export XAUDIT_INDEX

all plt 1 library "$CC"
all entry 2 entry_library
all cyg 2 cyg_library
all patchable 2 patchable_library
if [ -n "$CLANG" ]; then
	all xray 2 xray_library
else
	skip 16 'no clang here'
fi
done_testing
