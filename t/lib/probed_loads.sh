# SPDX-License-Identifier: MIT
#
# For tests of probes at each load; sourced after t/lib/traced.sh. The program t/loader/probed.c, which opens and closes
# its library.
XAUDIT_INDEX=$tmp/index
export XAUDIT_INDEX

# probed_loads: makes ./probed and libprobed.so.
probed_loads() {
	library "$CC" libprobed.so probed_library.c
	program "$CC" probed probed.c
}

# probes [LINE]...: the file `rules`: these lines, then nothing else is traced but the probes on stdin.
probes() {
	{
		for line; do echo "$line"; done
		printf '[library *]\nkinds = none\n[program]\nkinds = none\n'
		cat
	} >rules
}

# counts: "EVENTS NAME," of each probe in the trace `d`, by name; all events are in the file `dump`.
counts() {
	bounded 60 "$XAUDIT" dump --format=json d >dump
	jq -r 'select(.event == "probe") | .probe' dump | sort | uniq -c | sed 's/^ *//' | tr '\n' ','
}
