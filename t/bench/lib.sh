# SPDX-License-Identifier: MIT
#
# What the parts of run.sh share. $tmp is a folder that is removed at the end, $cpu the CPU to measure on, $pin the
# command prefix that binds to it (empty without taskset).
tmp=$(mktemp -d "${TMPDIR:-/var/tmp}/xaudit-bench.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM

# The last one that we may use: interrupts prefer the first.
cpu=$(sed -n 's/^Cpus_allowed_list:.*[^0-9]\([0-9]*\)$/\1/p' /proc/self/status)
pin=
if command -v taskset >/dev/null; then pin="taskset -c $cpu"; fi

fail() {
	echo "xaudit bench: $*" >&2
	exit 1
}

# Nanoseconds.
now() {
	date +%s%N
}
begun=$(now)

# Seconds since then.
elapsed() {
	echo $((($(now) - begun) / 1000000000))
}

heading() {
	printf '\n%s\n' "$*"
}

# row LABEL TEXT...
row() {
	label=$1
	shift
	printf '  %-44s %s\n' "$label" "$*"
}

# run COMMAND...: fails with the command's output.
run() {
	timeout -k 5 60 "$@" >"$tmp/output" 2>&1 || {
		status=$?
		cat "$tmp/output" >&2
		fail "this ended with status $status: $*"
	}
}

# build gcc|clang OUTPUT [ARGUMENT]...: compiles sources of this folder. The compilers' variables may hold options.
build() {
	case $1 in
	gcc) compiler=$CC ;;
	clang) compiler=$CLANG ;;
	esac
	output=$tmp/$2
	shift 2
	# shellcheck disable=SC2086
	(cd "$top_srcdir/t/bench" && run $compiler -O2 -g0 -o "$output" "$@") || exit 1
}

# best ROUNDS COMMAND...: the nanoseconds that the fastest of the rounds takes.
best() {
	rounds=$1
	shift
	least=
	while [ "$rounds" -gt 0 ]; do
		rounds=$((rounds - 1))
		start=$(now)
		run "$@"
		time=$(($(now) - start))
		if [ -z "$least" ] || [ "$time" -lt "$least" ]; then least=$time; fi
	done
}

# json_number KEY <JSON: the first number of that name.
json_number() {
	grep -o "\"$1\":[0-9]*" | head -n 1 | cut -d : -f 2
}
