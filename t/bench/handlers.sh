# SPDX-License-Identifier: MIT
#
# Part of run.sh: what handlers of the program cost, and events of its own.

# shellcheck disable=SC2086
run $pin "$top_builddir/t/bench/handler_cost"
heading 'handlers that add 1 to a counter: ns per call of a function, and over the recorder alone (400 rounds, best)'
awk '$1 == "call" {
	ns = $NF
	name = $0
	sub(/^call /, "", name)
	sub(/ *[0-9.]+$/, "", name)
	if (name == "recorder") recorder = ns
	printf "  %-44s %8.2f", name, ns
	if (recorder && name != "recorder") printf " %8.2f", ns - recorder
	print ""
}' "$tmp/output"
heading "xaudit_event(): ns, beside one TSC read and copying as many bytes (400 rounds, best)"
awk '$1 == "event" { printf "  %-44s %8.2f %8.2f  ratio %.2f\n", $2 " bytes", $3, $4, $4 / $3 }' "$tmp/output"
