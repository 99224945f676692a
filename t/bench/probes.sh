# SPDX-License-Identifier: MIT
#
# Part of run.sh: what a probe in the middle of a loop adds to each of its rounds, beside one TSC read there;
# and, in a program, beside the probes of others.

# shellcheck disable=SC2086
run $pin "$top_builddir/t/bench/probe_cost"
heading 'a probe in a loop: ns added per round, and beside one TSC read in its place (2000 rounds, best)'
awk '$1 == "probe" {
	ns = $NF
	name = $0
	sub(/^probe /, "", name)
	sub(/ *[0-9.-]+$/, "", name)
	if (name == "one TSC read") tsc = ns
	printf "  %-44s %8.2f  ratio %.2f\n", name, ns, ns / tsc
}' "$tmp/output"

# added LABEL: what a round took longer than without a probe, by the line that probe_rounds printed, if it did.
added() {
	awk -v label="$1" -v none="${none:-0}" '
		$1 == "round" { printf "  %-44s %8.1f\n", label, $2 - none; found = 1 }
		END { if (!found) printf "  %-44s not to be had here\n", label }' "$tmp/output"
}

# others LABEL COMMAND...: the same of a command that this system may not have, or allow.
others() {
	label=$1
	shift
	: >"$tmp/output"
	# shellcheck disable=SC2086
	if command -v "$1" >/dev/null; then timeout -k 5 60 $pin "$@" >"$tmp/output" 2>&1 </dev/null || :; fi
	added "$label"
}

# The kernel's probe, which stays behind a perf that was killed.
no_uprobe() {
	perf probe -q -d xaudit_bench:round >/dev/null 2>&1 || :
}

build gcc probe_rounds probe_rounds.c
heading 'a probe in a program: ns added per round (best of 20 runs)'
# shellcheck disable=SC2086
run $pin "$tmp/probe_rounds" 200000
none=$(awk '{ print $2 }' "$tmp/output")
# shellcheck disable=SC2086
run $pin "$XAUDIT" record -o "$tmp/probed" --probe=probe_round+4 -- "$tmp/probe_rounds" 200000
added 'xaudit record --probe'
"$XAUDIT" report "$tmp/probed" >"$tmp/report"
grep -q '^ *4000000 .*probe_round+4 ' "$tmp/report" || fail "not each of 4000000 rounds has an event"
rm -rf "$tmp/probed"
trap 'no_uprobe; rm -rf "$tmp"' EXIT
perf probe -q -x "$tmp/probe_rounds" xaudit_bench:round=probe_round+4 >/dev/null 2>&1 || :
others "perf record, by the kernel's uprobe" perf record -q -e xaudit_bench:round -o "$tmp/perf" \
	"$tmp/probe_rounds" 1000
no_uprobe
trap 'rm -rf "$tmp"' EXIT
others 'bpftrace, which counts (uprobe)' bpftrace -e "uprobe:$tmp/probe_rounds:probe_round+4 { @n = count(); }" \
	-c "$tmp/probe_rounds 1000"
others 'gdb, a breakpoint that it goes on from' gdb -q -nx -batch -ex 'break *probe_round+4' -ex 'ignore 1 1000000' \
	-ex run --args "$tmp/probe_rounds" 50
unset none
