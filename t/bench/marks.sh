#!/bin/sh
# SPDX-License-Identifier: MIT
#
# How often `xaudit report --diff` marks a change where there is none: RUNS runs (default 21) of one small program are
# compared in all pairs. Prints "marks PAIRS pairs, N with a mark (M functions)", and, of three runs against three
# others, as often as RUNS has room for, "marks of runs GROUPS pairs, N with a mark". Ends with 1 if more than 6 of 210
# pairs have one: what the manual says of a machine that has nothing else to do.
: "${XAUDIT:=./xaudit}" "${top_srcdir:=.}" "${CC:=cc}" "${RUNS:=21}" "${ROUNDS:=300}"
tmp=$(mktemp -d "${TMPDIR:-/tmp}/xaudit-bench.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM

$CC -O2 -fPIC -shared -fpatchable-function-entry=5 -Wl,-soname,libslowed.so -o "$tmp/libslowed.so" \
	"$top_srcdir/t/show/slowed_library.c" &&
	$CC -O2 -o "$tmp/slowed" "$top_srcdir/t/show/slowed.c" -L"$tmp" -lslowed "-Wl,-rpath,$tmp" || exit 1
i=0
while [ $((i += 1)) -le "$RUNS" ]; do
	"$XAUDIT" record -o "$tmp/run$i" -l libslowed.so "$tmp/slowed" "$ROUNDS" >/dev/null || exit 1
done

# marked ARG...: how many functions have a mark.
marked() {
	"$XAUDIT" report --diff --format=json "$@" | grep -c '"by_mean":true\|"by_median":true'
}
pairs=0 with=0 functions=0 a=0
while [ $((a += 1)) -lt "$RUNS" ]; do
	b=$a
	while [ $((b += 1)) -le "$RUNS" ]; do
		marks=$(marked "$tmp/run$a" "$tmp/run$b")
		pairs=$((pairs + 1)) functions=$((functions + marks))
		[ "$marks" -eq 0 ] || with=$((with + 1))
	done
done
echo "marks $pairs pairs, $with with a mark ($functions functions)"
groups=0 some=0 a=1
while [ $((a + 5)) -le "$RUNS" ]; do
	marks=$(marked "$tmp/run$a" "$tmp/run$((a + 1))" "$tmp/run$((a + 2))" -- "$tmp/run$((a + 3))" \
		"$tmp/run$((a + 4))" "$tmp/run$((a + 5))")
	groups=$((groups + 1)) a=$((a + 1))
	[ "$marks" -eq 0 ] || some=$((some + 1))
done
echo "marks of runs $groups pairs, $some with a mark"
[ $((with * 210)) -le $((6 * pairs)) ]
