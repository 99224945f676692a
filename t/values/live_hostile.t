#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Random expressions, 2400 in each run, in a program whose memory comes and goes while they read it: it notices nothing,
# and no event is lost.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/live.sh"

kinds='patchable entry'
for kind in patchable entry xray; do
	mkdir "$kind"
done
library "$CC" patchable/liblive.so live_hostile_part.c -fpatchable-function-entry=5
library "$CC" entry/liblive.so live_hostile_part.c
index_of entry/liblive.so
if [ -n "$CLANG" ]; then
	library "$CLANG" xray/liblive.so live_hostile_part.c -fxray-instrument -fxray-instruction-threshold=1
	kinds="$kinds xray"
fi
for kind in $kinds; do
	program "$CC" $kind/live live_hostile.c -L$kind -llive
done

runs=$(rounds 3 14 200)
seed=$(rounds 1 1 "$(date +%s)")
diag "seeds from $seed on"
for kind in $kinds; do
	: >wrong
	for i in $(seq "$runs"); do
		seed=$((seed + 1))
		{
			printf '[trace]\noutput = %s\n' "$tmp/d"
			printf '[library liblive.so]\nkinds = %s\nfunctions = h*\n' "$kind"
			awk -v seed="$seed" -f "$beside/live_hostile.awk"
		} >conf
		live "$kind" "$seed" 5
		# The calls of two threads in five rounds; each seventh function has a condition.
		counts=$(bounded 60 "$XAUDIT" dump d 2>&1 | awk '
			$3 ~ /^(entry|exit)$/ && $5 ~ /^h[0-9]+/ && (substr($5, 2) + 0) % 7 != 6 { n[$3]++ }
			$3 == "entry" { values += gsub(/[^ ]=/, "") }
			$3 == "lost" { n[$3]++ }
			END { print n["entry"] + 0, n["exit"] + 0, n["lost"] + 0, (values > 10000) }')
		out=$(printf '%s\n' "$out" | grep -v 'more values than 32, or 1504 bytes, are asked of h[0-9]*;')
		[ "$status $out $counts" = '0  2580 2580 0 1' ] || echo "seed $seed: $status $out $counts" >>wrong
	done
	is "$(head -n 5 wrong)" '' "$kind: $((runs * 2400)) expressions"
done
done_testing
