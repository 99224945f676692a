# SPDX-License-Identifier: MIT
#
# For tests that have readers read damaged traces; sourced after t/lib/tap.sh.
: >"$tmp/bad"
found=0

# spoil_part FILE N SEED [BYTES]: damages the file in its N-th 64 KiB, or in the first BYTES of them; wants `built
# spoil`.
spoil_part() {
	dd if="$1" of="$tmp/part" bs=65536 skip="$2" count=1 2>/dev/null
	[ -z "${4-}" ] || truncate -s "$4" "$tmp/part"
	"$spoil" "$tmp/part" "$3"
	dd if="$tmp/part" of="$1" bs=65536 seek="$2" conv=notrunc 2>/dev/null
}

# read_spoiled SEED COMMAND...: reads $tmp/fuzz by each command of xaudit. Each must end with status 0 and no message,
# or report damage (status 1, one line; counted in $found), in bounded time and memory; anything else is noted in
# $tmp/bad.
read_spoiled() {
	seed=$1
	shift
	for command; do
		(
			[ -n "$XAUDIT_ASAN$XAUDIT_TSAN" ] || ulimit -v 1048576
			# A command and its options.
			# shellcheck disable=SC2086
			bounded 60 "$XAUDIT" $command "$tmp/fuzz" >/dev/null 2>"$tmp/err"
		)
		status=$?
		lines=$(wc -l <"$tmp/err")
		case $status,$lines in
		0,0) ;;
		1,1) found=$((found + 1)) ;;
		*) echo "seed $seed, $command: status $status, $lines lines: $(head -c 300 "$tmp/err")" >>"$tmp/bad" ;;
		esac
	done
}
