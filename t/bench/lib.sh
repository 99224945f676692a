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

# run COMMAND...: fails with the command's output; also after $limit seconds, a minute if that is not set.
run() {
	timeout -k 5 "${limit:-60}" "$@" >"$tmp/output" 2>&1 || {
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

# median <NUMBERS
median() {
	sort -n | awk '{ a[NR] = $1 } END { if (NR) print a[int((NR + 1) / 2)] }'
}

# ---- what several parts need; whichever comes first makes it ----

# library gcc|clang NAME [FLAG]...: bench_NAME in a library of its own.
library() {
	compiler=$1 name=$2
	shift 2
	build "$compiler" "libbench_$name.so" -fPIC -shared -DNAME="$name" "$@" bench_function.c
	libraries="$libraries $tmp/libbench_$name.so"
}

# The program call_cost, its libraries, and rules for them, calls.conf. Sets $kinds: the ways to call that are traced.
need_calls() {
	[ ! -e "$tmp/calls.conf" ] || return 0
	libraries=
	library gcc none
	library gcc plt
	library gcc calls
	library gcc gcc5 -fpatchable-function-entry=5
	library gcc gcc16 -fpatchable-function-entry=16,14
	kinds='plt calls gcc5 gcc16'
	if [ -n "$CLANG" ]; then
		library clang clang5 -fpatchable-function-entry=5
		library clang xray -fxray-instrument -fxray-instruction-threshold=1
		kinds='plt calls gcc5 clang5 gcc16 xray'
	fi
	build gcc libbench_limit.so -shared -nostdlib limit_sites.S
	libraries="$libraries $tmp/libbench_limit.so"
	# shellcheck disable=SC2086
	build gcc call_cost ${CLANG:+-DBENCH_CLANG} call_cost.c $libraries "-Wl,-rpath,$tmp"
	cat >"$tmp/calls.conf" <<-END
		[library libbench_none.so]
		kinds = none
		[library libbench_calls.so]
		kinds = none
		[library libbench_limit.so]
		kinds = none
		[library libbench_plt.so]
		kinds = plt
		[library libbench_*.so]
		kinds = xray patchable
		[program]
		kinds = calls
		functions = bench_calls
		[library *]
		kinds = none
	END
}

# What the module is started with where nothing is selected: none.conf, whose trace would be starts.none, and $tunables,
# as `xaudit record` sets them.
need_none() {
	tunables=GLIBC_TUNABLES=glibc.rtld.optional_static_tls=24576
	printf '[trace]\noutput = %s\n[library *]\nkinds = none\n[program]\nkinds = none\n' "$tmp/starts.none" \
		>"$tmp/none.conf"
}

# For awk, of lines "WAY WITHIN SUSTAINED" of several rounds: within[WAY], the least, and middle(WAY) of SUSTAINED.
of_ways='
	$1 in within && within[$1] <= $2 { all[$1] = all[$1] " " $3; next }
	{ within[$1] = $2; all[$1] = all[$1] " " $3 }
	function middle(name, list, n, i, j, t) {
		n = split(all[name], list, " ")
		for (i = 2; i <= n; i++)
			for (j = i; j > 1 && list[j - 1] + 0 > list[j] + 0; j--) {
				t = list[j]; list[j] = list[j - 1]; list[j - 1] = t
			}
		return list[int((n + 1) / 2)]
	}
'
