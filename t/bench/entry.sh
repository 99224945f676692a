# SPDX-License-Identifier: MIT
#
# Part of run.sh: functions that nothing was prepared for, displaced, on and off; ones that begin with `sub; call`, too,
# with padding before them, as most have, and bare; and ones whose call is displaced. Beside the limit (limit_sites.S),
# as in limit.sh: what ours adds to the untraced call, over what the limit adds.
entry_ways='none entry entryoff limitentry call entrycall entrycalloff limitcall bare entrybare entrybareoff'
entry_ways="$entry_ways push entrypush entrypushoff"
entry_libraries=
for way in none entry entryoff; do
	build gcc "libentry_$way.so" -fPIC -shared -nostdlib "-DNAME=$way" entry_sites.S
	entry_libraries="$entry_libraries $tmp/libentry_$way.so"
done
for way in call entrycall entrycalloff; do
	build gcc "libentry_$way.so" -fPIC -shared -nostdlib "-DNAME=$way" -DCALLS entry_sites.S
	entry_libraries="$entry_libraries $tmp/libentry_$way.so"
done
for way in bare entrybare entrybareoff; do
	build gcc "libentry_$way.so" -fPIC -shared -nostdlib "-DNAME=$way" -DCALLS -DBARE entry_sites.S
	entry_libraries="$entry_libraries $tmp/libentry_$way.so"
done
for way in push entrypush entrypushoff; do
	build gcc "libentry_$way.so" -fPIC -shared -nostdlib "-DNAME=$way" -DCALLS -DBARE -DPUSHES entry_sites.S
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
[library libentry_entry.so]
kinds = entry
functions = bench_*
[library libentry_entrycall.so]
kinds = entry
functions = bench_*
[library libentry_entrybare.so]
kinds = entry
functions = bench_*
[library libentry_entrypush.so]
kinds = entry
functions = bench_*
[library libentry_*off.so]
kinds = entry
functions = none
END
: >"$tmp/entries"
round=0
part=$(elapsed)
while [ "$round" -lt "$ROUNDS" ] && { [ "$round" -lt 3 ] || [ $(($(elapsed) - part)) -lt 20 ]; }; do
	round=$((round + 1))
	for mode in ring count; do
		rm -rf "$tmp/entry_trace"
		# shellcheck disable=SC2086
		run env XAUDIT_INDEX="$tmp/indexes" "$XAUDIT" record -c "$tmp/entry.conf" -m "$mode" \
			-o "$tmp/entry_trace" "$tmp/entry_cost" -c "$cpu" -m -r 20 -n "$((CALLS / 5))" $entry_ways
		grep '^[a-z][a-z0-9]* [0-9.]* [0-9.]*$' "$tmp/output" | sed "s|^|$round $mode |" >>"$tmp/entries"
		[ "$mode" = count ] || continue
		run "$XAUDIT" report --format=json "$tmp/entry_trace"
		calls=$(grep -o '"calls":[0-9]*' "$tmp/output" | awk -F : '{ n += $2 } END { print n + 0 }')
		# Of the four that are on.
		[ "$calls" -ge "$((4 * CALLS / 5))" ] || fail "only $calls calls of displaced entries were counted"
	done
	entry_ways="${entry_ways#* } ${entry_ways%% *}"
done
heading "displaced entries: ns that a call costs, that tracing adds, that the limit adds, the ratio; switched off
  ($round rounds; medians, and within a chunk, best)"
for mode in ring count; do
	for row in entry:none:limitentry entrycall:call:limitcall entrybare:bare:limitcall entrypush:push:limitcall; do
		awk -v mode="$mode" -v row="$row" '
			function add(way, plain, r) { return ns[r, way] - ns[r, plain] }
			function middle(list, n,    i, j, t) {
				for (i = 2; i <= n; i++)
					for (j = i; j > 1 && list[j - 1] > list[j]; j--) {
						t = list[j]; list[j] = list[j - 1]; list[j - 1] = t
					}
				return list[int((n + 1) / 2)]
			}
			$2 == mode {
				ns[$1, $3] = $5
				if (!($3 in best) || $4 < best[$3]) best[$3] = $4
				rounds = $1
			}
			END {
				split(row, way, ":")
				for (r = 1; r <= rounds; r++) {
					plain[r] = ns[r, way[2]]
					ours[r] = add(way[1], way[2], r)
					limit[r] = add(way[3], way[2], r)
					ratio[r] = limit[r] > 0 ? ours[r] / limit[r] : 0
					off[r] = add(way[1] "off", way[2], r)
				}
				mine = best[way[1]] - best[way[2]]
				least = best[way[3]] - best[way[2]]
				printf "  %-10s %-6s %7.2f %7.2f %7.2f %7.3f", way[1], mode, middle(plain, rounds),
					middle(ours, rounds), middle(limit, rounds), middle(ratio, rounds)
				printf "  off %6.2f   within %7.2f %7.2f %7.3f  off %6.2f\n", middle(off, rounds), mine,
					least, (least > 0 ? mine / least : 0), best[way[1] "off"] - best[way[2]]
			}' "$tmp/entries"
	done
done
