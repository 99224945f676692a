# SPDX-License-Identifier: MIT
#
# Part of run.sh: what a probe in the middle of a loop adds to each of its rounds, beside one TSC read there.

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
