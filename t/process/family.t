#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Programs that gave up rights, paths, descriptors or file sizes, under LD_AUDIT alone: each call of their threads and
# forked children is in the trace.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

chmod 755 "$tmp"
library "$CC" libcounted.so counted.c
program "$CC" family family.c -L. -lcounted
install -m 755 "$MODULE" .
mkdir empty

# 1000, then 3 processes of 2 * 5000 + 100, then 7.
all=31307

# alone MODE STEPS: runs it under LD_AUDIT alone; the trace goes to d.
alone() {
	rm -rf d
	printf '[trace]\noutput = %s\nmode = %s\nbuffer = 64k\nring = 16M\n[library libcounted.so]\nkinds = plt\n' \
		"$tmp/d" "$1" >conf
	status=0
	bounded 60 env LD_AUDIT="$tmp/libxaudit.so" XAUDIT_CONFIG="$tmp/conf" ./family "$2" "$tmp/empty" >.out 2>.err ||
		status=$?
}
# look NAME: each call is there, in one file, and so is each process that called.
look() {
	report d
	is "$status$(cat .out .err)/$(calls counted)/$(sums)" "0/$all/0 lost 0 unfinished" "$1: each call is there"
	is "$(info d '[(.processes | length), ([.processes[].program] | unique | length),
		([.processes[] | select(.lost > 0)] | length)]')" \
		'[4,1,0]' "$1: of four processes with one program, and none lost any"
	is "$(find d -name meta | wc -l)" 1 "$1: in one file"
}

for mode in stream ring count; do
	alone $mode ''
	look "$mode, with all rights"
	for steps in n N f x nfx; do
		alone $mode $steps
		look "$mode, steps $steps"
	done
	if [ "$(id -u)" -eq 0 ]; then
		for steps in u c cu cuxNf; do
			alone $mode $steps
			look "$mode, steps $steps"
		done
		is "$(find d empty -type f ! -name meta | grep -v '/t0$' | wc -l)" 0 \
			"$mode: no other file was made then"
	else
		skip 13 "not root: no rights to drop"
	fi
done

# A copy that ended early: whole places are missing, first of a file that nobody trimmed, then of one that was.
alone stream ''
mv d untrimmed
record trimmed -l libcounted.so ./family '' "$tmp/empty"
for trace in untrimmed trimmed; do
	report $trace
	like "$report_status $(sums)" '^0 0 lost' "$trace: it is whole"
	meta=$(echo $trace/p*/meta)
	half=$(($(stat -c %s "$meta") / 2))
	truncate -s "$half" "$meta"
	report $trace
	like "$report_status $(cat .report-err)" "^1 xaudit: .*$meta: offset [0-9]*: the file is cut off[;,]" \
		"$trace: that its end is missing is told"
done
done_testing
