# SPDX-License-Identifier: MIT
#
# same_calls DIR: do the calls that the library gives add up to what `xaudit report` says? Prints what differs.
built read_calls

# What read_calls prints, of a report in JSON.
calls_of_report() {
	sed 's/,"demangled":"\([^"\\]\|\\.\)*"//' "$1" >"$tmp/same.plain"
	set -- "$tmp/same.plain"
	sed -n 's/^\({"function":.*,"calls":[0-9]*,"total_ns":[0-9]*,"self_ns":[0-9]*\),"min_ns".*/\1/p' "$1" | sort
	sed -n '1s/"functions".*//p
		/^],"counted"/ {
			s/^],//
			s/,"custom_[a-z]*":.*//
			s/}*$//
			s/"crash_signal":null/"crash_signal":0/
			/"inherited"/!s/,"overwritten/,"inherited":0&/
			s/$/}/p
		}' "$1" | paste -s -d '\0'
}

same_calls() {
	"$XAUDIT" report --format=json "$1" >"$tmp/same.report" 2>"$tmp/same.errors"
	same_status=$?
	"$read_calls" "$1" >"$tmp/same.calls" 2>"$tmp/same.read_errors"
	[ "$?" -eq "$same_status" ] || { echo "status of report: $same_status"; return 1; }
	[ "$same_status" -eq 0 ] || [ -s "$tmp/same.report" ] || return 0
	calls_of_report "$tmp/same.report" >"$tmp/same.expected"
	{ grep '"function"' "$tmp/same.calls" | sort; grep -v '"function"' "$tmp/same.calls"; } >"$tmp/same.got"
	diff "$tmp/same.expected" "$tmp/same.got"
}
