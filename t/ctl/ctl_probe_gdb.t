#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Registers of probes are those that gdb shows at the same instructions: of all instructions of a library at once, which
# are set while the program runs, with a number of its own in each register at the call.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/ctl.sh"
. "$top_srcdir/t/lib/probed.sh"
need gdb
bounded 60 gdb --batch -nx -ex run /bin/true 2>&1 | grep -q 'exited normally' ||
	skip_all 'gdb may not run programs here'

LD_BIND_NOW=1
export LD_BIND_NOW
registers='rax rbx rcx rdx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15'
probed_library
printf 'one %s\n' mixed carried chosen nested stored floated >calls

# Both make lines of an address in the file and registers. What differs from run to run: where the stack is, and the
# library.
same_places() { # BASE: of the library
	awk -v base="$1" '
	function number(hex,    n, i) {
		n = 0
		for (i = 1; i <= length(hex); i++)
			n = 16 * n + index("0123456789abcdef", substr(hex, i, 1)) - 1
		return n
	}
	{
		if (!stack)
			stack = number($9)
		line = $1
		for (i = 2; i <= NF; i++) {
			n = number($i)
			if (n >= base && n < base + 65536)
				line = line " library" n - base
			else if (n > stack - 65536 && n < stack + 65536)
				line = line " stack" n - stack
			else
				line = line " " $i
		}
		print line
	}'
}

# ---- gdb ----

mixed=$(objdump -t libprobed.so | awk '$NF == "mixed" { print $1 }')
{
	cat <<-END
		set pagination off
		set confirm off
		set width 0
		break place_call
		run <calls >gdb.out
		set \$base = (unsigned long)'probed.c'::row[0].probed - 0x$mixed
		printf "base %ld\n", \$base
		delete
	END
	while read -r address; do
		printf 'break *($base + 0x%s)\ncommands\nsilent\nprintf "at %%lx' "$address"
		for register in $registers; do printf ' %%lx'; done
		printf '\\n", $rip - $base'
		for register in $registers; do printf ', $%s' "$register"; done
		printf '\ncontinue\nend\n'
	done <places
	echo continue
} >script
bounded 120 gdb -q -batch -nx -x script ./probed >by.gdb 2>gdb.err || diag "gdb ends with $?: $(tail -n 3 gdb.err)"
base=$(sed -n 's/^base //p' by.gdb)
sed -n 's/^at //p' by.gdb | same_places "$base" >shown

# ---- probes ----

rules
begin ./probed 0
ctl "$pid" probe --context=regs $(sed 's/.*/0x&@libprobed.so/' places)
is "$status $(printf '%s' "$out" | sed 's/, paused.*//') $err" "0 $all of $all probes on, at $all places " \
	'each instruction has a probe'
while read -r line; do
	tell "$line"
done <calls
ctl "$pid" unprobe '*'
is "$status $err $(clean)" '0  ' 'and none again'
finish
is "$status $(cat err)" '0 ' 'the program noticed nothing'
bounded 60 "$XAUDIT" dump --format=json d >events
base=$(jq -r 'select(.event == "load" and (.library | endswith("/libprobed.so"))) | .address' events)
jq -r 'select(.event == "probe") | [.offset, .values[].value] | map(ltrimstr("0x")) | join(" ")' events |
	same_places $((base)) >recorded
is "$(wc -l <recorded)" "$(wc -l <shown)" 'as many events as gdb has stops'
ok "these are many" test "$(wc -l <shown)" -gt 500
ok 'and all registers are the same at each' cmp shown recorded
diff shown recorded | head -n 6 | sed 's/^/# /'
done_testing
