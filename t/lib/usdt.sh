# SPDX-License-Identifier: MIT
#
# For tests that compare probes of a program's own with gdb's stops at them; sourced after t/lib/traced.sh.

# sees NAME COMMAND...: the program under gdb, by the commands in NAME.gdb, whose printf begin with "P ": $as, if it is
# set, is in front of gdb. What they print is NAME.seen.
sees() {
	name=$1
	shift
	{
		printf 'set pagination off\nset confirm off\nset breakpoint pending on\nset print elements 0\n'
		cat "$name.gdb"
	} >commands
	# shellcheck disable=SC2086
	PYTHONHASHSEED=0 bounded 120 ${as-} gdb -nx -q -batch -x commands --args "$@" >"$name.gdb.out" 2>&1
	sed -n 's/^P //p' "$name.gdb.out" >"$name.seen"
}

# stop PROBE FORMAT ARGUMENT...: a probe of it.
stop() {
	probe=$1 format=$2
	shift 2
	printf 'break -probe-stap %s\ncommands\nsilent\nprintf "P %s\\n"' "$probe" "$format"
	[ $# -eq 0 ] || printf ', %s' "$@"
	printf '\ncontinue\nend\n'
}

# has DIR: what a trace has of them, as lines of gdb's.
has() {
	bounded 60 "$XAUDIT" dump --format=json "$1" |
		jq -r 'select(.event == "probe") |
			[.probe] + (.values | map(.value | if . == null then "(null)" else tostring end)) | join(" ")' |
		sed '/^$/d' >"$1.seen"
}

# same NAME DIR COUNT WORD: both have seen the same, and so many of it begin with the word.
same() {
	has "$2"
	is "$(diff "$1.seen" "$2.seen" | head -n 5) $(grep -c "^$4\( \|$\)" "$2.seen")" " $3" \
		"$1: $3 times $4, and all else with the same arguments as gdb sees"
}
