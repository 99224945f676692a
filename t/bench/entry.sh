# SPDX-License-Identifier: MIT
#
# Part of run.sh: functions that nothing was prepared for, displaced, on and off, in all shapes that occur
# (entry_shapes.h). Beside the limit (limit_sites.S), as in limit.sh: what ours adds to the untraced call, over what the
# limit adds.
entry_shapes=$(sed -n 's/.*\.macro[[:space:]]*SHAPE_\([a-z]*\) .*/\1/p' "$top_srcdir/t/bench/entry_shapes.h")
entry_libraries=
for way in none on off; do
	build gcc "libentry_$way.so" -fPIC -shared -nostdlib "-DWAY=$way" entry_sites.S
	entry_libraries="$entry_libraries $tmp/libentry_$way.so"
done
build gcc libentry_limit.so -fPIC -shared limit_sites.S
# shellcheck disable=SC2086
build gcc entry_cost -DBENCH_ENTRY call_cost.c $entry_libraries "$tmp/libentry_limit.so" "-Wl,-rpath,$tmp" -Wl,-z,now
# shellcheck disable=SC2086
run "$XAUDIT" index -q --cache="$tmp/indexes" $entry_libraries
cat >"$tmp/entry.conf" <<END
[trace]
prepare = all
[library libentry_on.so]
kinds = entry
functions = bench_*
[library libentry_off.so]
kinds = entry
functions = none
END
entry_ways=
entry_count=0
for shape in $entry_shapes; do
	entry_ways="$entry_ways none_$shape:on_$shape:limit_$shape none_$shape:off_$shape:limit_$shape"
	entry_count=$((entry_count + 1))
done
: >"$tmp/entries"
round=0
part=$(elapsed)
while [ "$round" -lt "$ROUNDS" ] && { [ "$round" -lt 3 ] || [ $(($(elapsed) - part)) -lt 40 ]; }; do
	round=$((round + 1))
	for mode in ring count; do
		rm -rf "$tmp/entry_trace"
		# shellcheck disable=SC2086
		run env XAUDIT_INDEX="$tmp/indexes" "$XAUDIT" record -c "$tmp/entry.conf" -m "$mode" \
			-o "$tmp/entry_trace" "$tmp/entry_cost" -c "$cpu" -r 20 -n "$((CALLS / 5))" $entry_ways
		grep '^[a-z]*_[a-z_:]* -*[0-9.]* [0-9.]*' "$tmp/output" | sed "s|^|$round $mode |" >>"$tmp/entries"
		[ "$mode" = count ] || continue
		run "$XAUDIT" report --format=json "$tmp/entry_trace"
		calls=$(grep -o '"calls":[0-9]*' "$tmp/output" | awk -F : '{ n += $2 } END { print n + 0 }')
		# Of those that are on.
		[ "$calls" -ge "$((entry_count * CALLS / 6))" ] ||
			fail "only $calls calls of displaced entries were counted"
	done
	entry_ways="${entry_ways#* } ${entry_ways%% *}"
done
heading "displaced entries: ns that tracing adds to a call, that the limit adds, the ratio; switched off
  ($round rounds; medians of turns of a chunk, and within a chunk, best)"
for mode in ring count; do
	for row in $entry_shapes; do
		awk -v mode="$mode" -v row="$row" '
			function middle(list, n,    i, j, t) {
				for (i = 2; i <= n; i++)
					for (j = i; j > 1 && list[j - 1] > list[j]; j--) {
						t = list[j]; list[j] = list[j - 1]; list[j - 1] = t
					}
				return list[int((n + 1) / 2)]
			}
			$2 != mode { next }
			{ rounds = $1 }
			$3 == "none_" row ":on_" row ":limit_" row {
				ratio[$1] = $4; ours[$1] = $6; limit[$1] = $7
				next
			}
			$3 == "none_" row ":off_" row ":limit_" row { off[$1] = $6; next }
			!($3 in best) || $4 < best[$3] { best[$3] = $4 }
			END {
				mine = best["on_" row] - best["none_" row]
				least = best["limit_" row] - best["none_" row]
				printf "  %-10s %-6s %7.2f %7.2f %7.3f", row, mode, middle(ours, rounds),
					middle(limit, rounds), middle(ratio, rounds)
				printf "  off %6.2f   within %7.2f %7.2f %7.3f  off %6.2f\n", middle(off, rounds), mine,
					least, (least > 0 ? mine / least : 0), best["off_" row] - best["none_" row]
			}' "$tmp/entries"
	done
done
