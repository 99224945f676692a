# SPDX-License-Identifier: MIT
#
# For tests of probes in a running process; sourced after t/lib/ctl.sh. The program t/ctl/probed.c, its library, and
# where that has instructions.
need objdump cmp dd

# probed_library: makes ./probed and libprobed.so, and the file `places`: addresses of the functions' instructions, $all
# of them. What follows a function's last instruction is padding.
probed_library() {
	XAUDIT_INDEX=$tmp/index
	export XAUDIT_INDEX
	library "$CC" libprobed.so probed_library.c
	program "$CC" probed probed.c "$beside/probed_call.S" -L. -lprobed
	objdump -d --no-show-raw-insn libprobed.so |
		awk -v f='^<(mixed|carried|chosen|nested|stored|floated)>:' '
		/^[0-9a-f]+ </ { on = $2 ~ f; next }
		on && /^ *[0-9a-f]+:/ && $2 !~ /^(nop|nopw|nopl|cs|data16|xchg)$/ {
			sub(":", "", $1)
			print $1
		}' >places
	all=$(wc -l <places)
	ok "the library has $all instructions" test "$all" -gt 120
}

# rules [LINE]...: nothing is traced but what is asked for.
rules() {
	{
		printf '[trace]\noutput = %s/d\n' "$tmp"
		for line; do echo "$line"; done
		printf '[library *]\nkinds = none\n[program]\nkinds = none\n'
	} >conf
	rm -rf d
}
# clean [FILE]: is the code in the process that of the file (default: libprobed.so)?
clean() {
	file=${1-libprobed.so}
	sed -n "s,^\([0-9a-f]*\)-\([0-9a-f]*\) r-xp \([0-9a-f]*\) .*/${file##*/}\$,\1 \2 \3,p" \
		"/proc/$pid/maps" | while read -r from to offset; do
			pages=$(((0x$to - 0x$from) / 4096))
			dd "if=/proc/$pid/mem" bs=4096 skip=$((0x$from / 4096)) count=$pages of=code 2>dd.err
			dd "if=$file" bs=4096 skip=$((0x$offset / 4096)) count=$pages of=own 2>dd.err
			cmp code own
		done
}
