# SPDX-License-Identifier: MIT
#
# For tests of xaudit check; sourced after t/lib/traced.sh. Builds the host, and a plugin that stays and one that does
# not.
program "$CC" host check_host.c
library "$CC" plugin.so check_plugin.c
library "$CC" nodelete.so check_plugin.c -Wl,-z,nodelete

if ! "$XAUDIT" check true >out 2>err; then
	grep -q "can't be traced" err && skip_all 'ptrace is not allowed here'
fi

# check ARG...: sets $status (signals as 128 + n) and $report, the JSON; options come before --.
check() {
	status=0
	rm -f report
	bounded "${seconds:-60}" "$XAUDIT" check --format=json -o report "$@" >out 2>err || status=$?
	report=$(cat report 2>/dev/null)
}
# ask [OPTION]... FILTER: jq's output about that report.
ask() {
	printf '%s\n' "$report" | jq -r "$@"
}
