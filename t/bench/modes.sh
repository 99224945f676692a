# SPDX-License-Identifier: MIT
#
# Part of run.sh: what a call costs in the other modes, and with sites that are off.
need_calls

: >"$tmp/modes"
round=0
part=$(elapsed)
ways="none $kinds"
# mode NAME [OPTION]...: adds "NAME WAY WITHIN SUSTAINED" lines.
mode() {
	name=$1
	shift
	rm -rf "$tmp/mode"
	# shellcheck disable=SC2086
	run "$XAUDIT" record -c "$tmp/calls.conf" -o "$tmp/mode" "$@" "$tmp/call_cost" -c "$cpu" -n \
		"$((CALLS / 5))" $ways
	grep '^[a-z][a-z0-9]* [0-9.]* [0-9.]*$' "$tmp/output" | sed "s/^/$name /" >>"$tmp/modes"
}
while [ "$round" -lt "$ROUNDS" ] && { [ "$round" -lt 3 ] || [ $(($(elapsed) - part)) -lt 20 ]; }; do
	round=$((round + 1))
	mode stream
	mode ring -m ring
	mode count -m count
	mode off --start-disabled
	mode prepare --start-disabled --prepare none
	mode throttle --throttle 20%
	mode depth --depth 1
	mode time --time 1ms
	ways="${ways#* } ${ways%% *}"
done
rm -rf "$tmp/mode"

heading "the same calls in other modes, ns added to the untraced call ($round rounds, best; within a chunk)"
awk -v kinds="$kinds" '
	!(($1, $2) in least) || $3 < least[$1, $2] { least[$1, $2] = $3 }
	function line(mode, label,    i) {
		printf "  %-34s", label
		for (i = 1; i <= n; i++) printf " %9.2f", least[mode, kind[i]] - least[mode, "none"]
		print ""
	}
	END {
		n = split(kinds, kind, " ")
		printf "  %-34s", ""
		for (i = 1; i <= n; i++) printf " %9s", kind[i]
		print ""
		line("stream", "stream")
		line("ring", "ring (8M)")
		line("count", "count")
		line("off", "off (--start-disabled)")
		line("prepare", "off, --prepare none")
		line("throttle", "throttle 20%")
		line("depth", "--depth 1")
		line("time", "--time 1ms")
	}' "$tmp/modes"
