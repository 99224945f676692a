# SPDX-License-Identifier: MIT
#
# Part of run.sh: what tracing adds where a program has many stacks.
need_calls
build gcc stacks_cost stacks_cost.c "$tmp/libbench_plt.so" "-Wl,-rpath,$tmp"
: >"$tmp/stacks"
round=0
while [ $((round += 1)) -le 3 ]; do
	for stacks in 10 4000; do
		# shellcheck disable=SC2086
		run $pin "$tmp/stacks_cost" "$stacks"
		sed "s/^/$stacks untraced /" "$tmp/output" >>"$tmp/stacks"
		# shellcheck disable=SC2086
		run $pin "$XAUDIT" record -c "$tmp/calls.conf" -o "$tmp/stacks_trace" "$tmp/stacks_cost" "$stacks"
		grep '^[0-9.]* [0-9.]*$' "$tmp/output" | sed "s/^/$stacks traced /" >>"$tmp/stacks"
		rm -rf "$tmp/stacks_trace"
	done
done
heading 'coroutines that take turns, each calls a traced function once: ns added per switch; per stack that is new'
for stacks in 10 4000; do
	for field in 3 4; do
		for way in traced untraced; do
			awk -v n="$stacks" -v w="$way" -v f="$field" '$1 == n && $2 == w { print $f }' "$tmp/stacks" |
				median
		done
	done | awk -v n="$stacks" '
		{ v[NR] = $1 }
		END { printf "  %-44s %9.1f %12.1f\n", n " stacks", v[1] - v[2], v[3] - v[4] }'
done
