#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit alloc --sample=512k: of a program whose ten largest stacks allocate 4 to 13 GB each, all ten estimates are
# within 5 % of the truth, from which their standard deviation is 0.6 to 1.1 %. Two runs; with XAUDIT_ALL=1 twenty, of
# which nineteen must be so.
. "${top_srcdir:-.}/t/lib/tap.sh"

need jq
$CC -O1 -fno-builtin -fno-optimize-sibling-calls -o "$tmp/ten" "$top_srcdir/t/alloc/top_ten.c" || bail 'top_ten.c'
runs=2 least=2
[ -z "$XAUDIT_ALL" ] || runs=20 least=19
good=0
for run in $(seq "$runs"); do
	bounded 100 "$top_builddir/xaudit" alloc --sample=512k --format=json --output="$tmp/json" -- "$tmp/ten" \
		2>"$tmp/err" || diag "$run: $(cat "$tmp/err")"
	far=$(jq -r '[.stacks[] | {bytes, top: [.frames[].function // ""] | map(select(startswith("top_"))) | first}] |
		group_by(.top)[] | select(.[0].top) | "\(.[0].top) \([.[].bytes] | add)"' "$tmp/json" |
		awk '{ off = $2 / ((4 + substr($1, 5)) * 1073741824) - 1; found++
				if (off > 0.05 || off < -0.05) printf "%s is %.1f %% off; ", $1, 100 * off }
			END { if (found != 10) print found, "stacks" }')
	if [ -z "$far" ]; then good=$((good + 1)); else diag "run $run: $far"; fi
done
ok "in $good of $runs runs the ten largest stacks are within 5 %" test "$good" -ge "$least"
done_testing
