# SPDX-License-Identifier: MIT
#
# Part of run.sh: what a pair of malloc and free costs a program whose allocations are recorded by stacks of 20 frames,
# and of one; how fast that is read, and what the trace takes on the disk; and the same by others.
build gcc alloc_cost -fno-builtin alloc_cost.c

alloc_pairs=$((CALLS / 10))
# The allocator's function, and main's three callers, are frames, too.
alloc_depth=15

# pair_cost LABEL PAIRS DEPTH COMMAND...: a row of what a pair costs under the command, which is a prefix.
pair_cost() {
	label=$1 pairs=$2 depth=$3
	shift 3
	# shellcheck disable=SC2086
	run $pin "$@" "$tmp/alloc_cost" "$pairs" "$depth" "$ROUNDS"
	awk -v label="$label" '$1 == "pair" && NF == 3 { printf "  %-44s %8.1f %8.1f\n", label, $2, $3; found = 1 }
		END { if (!found) printf "  %-44s it does not run here\n", label }' "$tmp/output"
}

heading "a pair of malloc and free, in ns ($ROUNDS rounds of $alloc_pairs pairs on one processor; best, median)"
pair_cost 'untraced' "$alloc_pairs" "$alloc_depth" env
# What reads is on another processor, as far as there is one.
pin_before=$pin
pin=
for frames in 20 1; do
	pair_cost "xaudit alloc, stacks of $frames" "$alloc_pairs" "$alloc_depth" \
		"$XAUDIT" alloc --backtrace=$frames -o "$tmp/alloc.text" -- $pin_before
	calls=$(sed -n 's/^in all: \([0-9]*\) calls.*/\1/p' "$tmp/alloc.text")
	[ "$calls" -ge $((alloc_pairs * ROUNDS)) ] || fail "xaudit alloc saw ${calls:-no} calls"
done
pin=$pin_before
if command -v heaptrack >/dev/null; then
	pair_cost 'heaptrack' $((alloc_pairs / 10)) "$alloc_depth" heaptrack -o "$tmp/alloc.heaptrack"
fi
if command -v valgrind >/dev/null; then
	pair_cost "valgrind's massif" $((alloc_pairs / 100)) "$alloc_depth" \
		valgrind --tool=massif --massif-out-file="$tmp/alloc.massif"
fi

rm -rf "$tmp/alloc.trace"
run "$XAUDIT" alloc --keep "$tmp/alloc.trace" -o "$tmp/alloc.text" -- "$tmp/alloc_cost" "$alloc_pairs" "$alloc_depth" 4
bytes=$(du -s --block-size=1 "$tmp/alloc.trace" | cut -f 1)
best 3 "$XAUDIT" alloc -o "$tmp/alloc.text" "$tmp/alloc.trace"
row 'reading, per pair' "$((least / (4 * alloc_pairs))) ns; the trace has $((bytes / (4 * alloc_pairs))) bytes of it"
rm -rf "$tmp/alloc.trace"
