# SPDX-License-Identifier: MIT
#
# Part of run.sh: how large a trace is, and how fast it is read. The trace is in the page cache when it is read.

# rate LABEL EVENTS: from $least, the nanoseconds for all of them.
rate() {
	row "$1" "$(awk -v n="$2" -v t="$least" '
		BEGIN { printf "%7.1f million events/s (%.0f ms)", n / t * 1e3, t / 1e6 }')"
}

# disk LABEL FOLDER EVENTS
disk() {
	bytes=$(du -s -B 1 "$2" | cut -f 1)
	row "$1" "$(awk -v b="$bytes" -v n="$3" 'BEGIN { printf "%7.3f bytes per event", b / n }')"
}

build gcc libbench_tree.so -fPIC -shared -fpatchable-function-entry=5 call_tree.c
build gcc call_tree call_tree_main.c "$tmp/libbench_tree.so" "-Wl,-rpath,$tmp"
# shellcheck disable=SC2086
run $pin "$XAUDIT" record -l 'libbench_tree.so' -k patchable -o "$tmp/tree" "$tmp/call_tree" "$((EVENTS / 2))"
run "$XAUDIT" report --format=json "$tmp/tree"
lost=$(json_number lost <"$tmp/output")
calls=$(grep -o '"calls":[0-9]*' "$tmp/output" | awk -F : '{ n += $2 } END { print n }')
[ "$((calls + lost))" -eq "$((EVENTS / 2))" ] || fail "$((EVENTS / 2)) calls were made, $calls recorded, $lost lost"

heading "a trace of $EVENTS events of 33 functions in random trees (lost events: $lost)"
disk 'on disk, after xaudit record' "$tmp/tree" "$((2 * calls))"
for command in 'report -j1' 'report -j1 --by=thread' 'outliers' 'stacks' 'graph' 'info'; do
	# shellcheck disable=SC2086
	best 3 $pin "$XAUDIT" $command "$tmp/tree"
	rate "xaudit $command" "$((2 * calls))"
done
for command in dump 'dump --format=json' replay; do
	# shellcheck disable=SC2086
	best 1 $pin "$XAUDIT" $command "$tmp/tree"
	rate "xaudit $command" "$((2 * calls))"
done
# All events but some are passed over.
length=$("$XAUDIT" info "$tmp/tree" | sed -n 's/^Time *\([0-9.]*\) s$/\1/p')
from=$(awk -v s="${length:-0}" 'BEGIN { printf "%.4f", s * 0.9999 }')
# shellcheck disable=SC2086
best 3 $pin "$XAUDIT" replay --from="$from" "$tmp/tree"
rate 'xaudit replay --from, near the end' "$((2 * calls))"
for jobs in 1 2; do
	least=
	for round in 1 2 3; do
		rm -f "$tmp/tree.pack"
		start=$(now)
		run "$XAUDIT" pack -j "$jobs" "$tmp/tree"
		time=$(($(now) - start))
		if [ -z "$least" ] || [ "$time" -lt "$least" ]; then least=$time; fi
	done
	rate "xaudit pack -j $jobs" "$((2 * calls))"
done
disk 'packed' "$tmp/tree.pack" "$((2 * calls))"
# shellcheck disable=SC2086
best 3 $pin "$XAUDIT" report "$tmp/tree.pack"
rate 'xaudit report, packed' "$((2 * calls))"
# shellcheck disable=SC2086
best 3 $pin "$XAUDIT" replay --from="$from" "$tmp/tree.pack"
rate 'xaudit replay --from, near the end, packed' "$((2 * calls))"
rm -rf "$tmp/tree" "$tmp/tree.pack"

heading "a made trace of $EVENTS events of 500 functions, 50 deep, of two threads in random order"
export EVENTS
run "$top_srcdir/t/bench/report.sh"
while read -r line; do
	row "${line%%  *}" "$(echo "$line" | awk '{ printf "%7.1f million events/s", $(NF - 2) }')"
done <"$tmp/output"

# Five times as many: what xaudit locks keeps does not grow with them.
events=$((EVENTS * 5 / 32 * 32))
limit=300
heading "a made trace of $events events with values, of 5 locks that four threads take"
run "$top_srcdir/t/bench/locks.sh" "$tmp/locks" "$events"
disk 'on disk' "$tmp/locks" "$events"
for command in 'report -j1' 'report -j1 --by-value=arg1' 'locks --format=json'; do
	# shellcheck disable=SC2086
	best 1 $pin "$XAUDIT" $command "$tmp/locks"
	rate "xaudit $command" "$events"
done
calls=$(grep -o '"holds":{"count":[0-9]*' "$tmp/output" | head -n 1 | cut -d : -f 3)
[ "$calls" -eq "$((events / 8))" ] || fail "the shared lock was taken $((events / 8)) times, $calls were read"
run "$top_builddir/t/lib/max_rss" "$XAUDIT" locks "$tmp/locks"
row 'its memory' "$(tail -n 1 "$tmp/output") KiB"
rm -rf "$tmp/locks"
limit=

if [ -n "$uftrace" ]; then
	# Its trace takes twice the room and it reads an eighth as fast.
	events=$((EVENTS / 10))
	build gcc own_tree -fpatchable-function-entry=5 call_tree.c call_tree_main.c
	run uftrace record --no-libcall -P '^tree' -d "$tmp/uftrace.data" "$tmp/own_tree" "$((events / 2))"
	lost=$(sed -n 's/.*LOST \([0-9]*\) records.*/\1/p' "$tmp/output" | head -n 1)
	heading "uftrace's own trace of $events events of the same (lost events: ${lost:-0})"
	disk 'on disk' "$tmp/uftrace.data" "$((events - ${lost:-0}))"
	# shellcheck disable=SC2086
	best 3 $pin uftrace report -d "$tmp/uftrace.data"
	rate 'uftrace report' "$((events - ${lost:-0}))"
	rm -rf "$tmp/uftrace.data"
fi
