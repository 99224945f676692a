#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Functions whose jump covers a part of a call: the call is made in place by another one, behind the jump, so callees,
# unwinders and debuggers find what they find untraced; on and off, from inside and outside, while threads run them.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/ctl.sh"

api="-I$top_srcdir -I$top_srcdir/runtime/api $top_builddir/libxaudit-api.a"
XAUDIT_INDEX=$tmp/cache
export XAUDIT_INDEX
library "$CC" libplaced.so entry_placed.S -nostdlib -Wl,-Bsymbolic,--build-id
program "$CC" placed entry_placed.c -mno-red-zone -fno-omit-frame-pointer -fexceptions -L. -lplaced $api
index_of libplaced.so

right='1 2 3 4 5 6 7 8 9 10'
all="calls $right
returns $right
walks $right
jumps $right
ends $right
deep 55"
own='bytes own own own own own own own own own own'
written='bytes rax rax rax rax stack stack stack stack rax own'
# does WORD...: sets $said.
does() {
	record d -c conf ./placed "$@"
	said=$out$err
	report d
}
config() {
	printf '[trace]\n%s\n[library libplaced.so]\nkinds = entry\n' "${1:-}" >conf
}
is "$(./placed calls returns walks jumps ends deep bytes)" "$all
$own" 'untraced'
config
does calls returns walks jumps ends deep bytes
is "$said" "$all
$written" 'traced, with other calls in place'
# calls makes two, deep all of them; jumps and ends leave theirs open.
is "$(rows)" "placed_first 7, placed_landed 7, placed_memory 7, placed_never 7, placed_padded 7, placed_pair 7, \
placed_push 7, placed_register 7, placed_stays 7, placed_three 7" 'each call counts'
does off:placed_* calls returns walks jumps ends deep bytes
is "$said/$(rows)" "$all
$written/" 'switched off from inside'
does off:placed_* on:placed_* off:placed_* on:placed_* calls deep
is "$said/$(calls placed_push) $(calls placed_first)" "calls $right
deep 55/3 3" 'and on again'
config 'mode = count'
does calls returns walks jumps ends deep
is "$said/$(calls placed_push)" "$all/7" 'mode count'

# ---- where addresses are limited ----
record d -c conf sh -c 'ulimit -v 16777216; exec ./placed "$@"' sh calls returns walks ends deep bytes
is "$out" "$(echo "$all" | grep -v jumps)
$written" 'they work where addresses are limited'

# ---- from outside ----
printf '[trace]\noutput = %s/d\nmode = count\n[library *]\nkinds = none\n[program]\nkinds = none\n' "$tmp" >conf
rm -rf d
begin ./placed bytes wait bytes calls returns walks ends deep
wrong=
n=0
while [ $n -lt 20 ]; do
	n=$((n + 1))
	ctl "$pid" enable 'entry:placed_*'
	case $out in
	'10 functions: 10 sites switched on, 0 were already'* | '10 functions: '*' left out'*) ;;
	*) wrong="$wrong; $n: $out$err" ;;
	esac
	ctl "$pid" disable 'entry:placed_*'
	case $out in '10 functions: '*' switched off'*) ;; *) wrong="$wrong; $n: $out$err" ;; esac
	is_on=$(status '[.objects[].kinds.entry.on // 0] | add')
	[ "$is_on" = 0 ] || wrong="$wrong; $n: $is_on are on"
done
is "$wrong" '' 'switched on and off from outside, under threads that run them'
finish
is "$status $(sed 's/^ready .*/ready/' out)" "0 $own
ready
wrong 0
$written
$(echo "$all" | grep -v jumps)" 'the program noticed nothing; calls in place stay, with their jumps'

# ---- in a debugger ----
if command -v gdb >/dev/null && bounded 60 gdb --batch -nx -ex run ./placed 2>&1 | grep -q 'exited normally'; then
	printf '[trace]\noutput = %s/gdb\n[library libplaced.so]\nkinds = entry\n' "$tmp" >conf
	said=$(bounded 100 gdb --batch -nx -ex 'set startup-with-shell off' -iex "set environment LD_AUDIT $MODULE" \
		-iex "set environment XAUDIT_CONFIG $tmp/conf" -iex "set environment XAUDIT_INDEX $XAUDIT_INDEX" \
		-ex 'break deeper if told->number == 10' -ex run -ex bt -ex finish -ex continue \
		--args ./placed deep bytes 2>&1)
	is "$(printf '%s\n' "$said" | sed -n 's/^#[0-9]* .*\<\(placed_[a-z]*\|main\) (.*/\1/p' | tr '\n' ' ')" \
		'placed_never placed_first placed_landed placed_padded placed_stays placed_memory placed_three '\
'placed_pair placed_register placed_push main ' 'a backtrace has all of them'
	like "$said" "$written" 'with calls in place'
	like "$said" 'deep 55' 'and they go on'
else
	skip 3 'no gdb that may run programs'
fi
done_testing
