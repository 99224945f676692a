#!/bin/sh
# SPDX-License-Identifier: MIT
#
# By which way instructions can have a probe, and why others can't: as xaudit list and xaudit index -v show it.
. "${top_srcdir:-.}/t/lib/tap.sh"

[ -x "$XAUDIT" ] || bail "no $XAUDIT"
cd "$tmp" || bail 'no temporary folder'
XAUDIT_INDEX=$tmp/none
export XAUDIT_INDEX

"$CC" -shared -nostdlib -Wl,-Bsymbolic -Wl,--build-id=none -o forms.so "$top_srcdir/t/index/windows_forms.S" 2>err ||
	bail "$CC: $(cat err)"
# A word for each instruction; of refused ones what is in their phrase.
ways() { # FUNCTION
	bounded 60 "$XAUDIT" list forms.so "$1" >listed 2>err
	sed -n 's/^  [0-9a-f]*  +0x\([0-9a-f]*\) *\([a-z-]*\) .*  [^(]*\((no probe: \(.*\))\)\{0,1\}$/\1:\2 \4/p' \
		listed | sed -e 's/- .*instructions we know$/data/' -e 's/- .*system call.*/waits/' \
			-e 's/- a branch .*/branch/' -e 's/- in a restartable .*/rseq/' -e 's/ *$//' |
		tr '\n' ' '
}
is "$(ways plain)" '0:jump 5:jump 6:jump 7:jump 9:jump-before b:jump-before ' \
	'a jump over one, over several, and before those at the end'
is "$(ways branches)" '0:shared 2:jump 4:jump 6:jump 8:jump a:jump f:jump-before ' \
	'a branch to the next instruction leaves a jump that shares bytes with it'
is "$(ways near)" '0:short 2:jump 4:jump 6:jump 8:jump ' \
	'or a short one, where there is padding; that has room at the end'
is "$(ways returns)" '0:short 2:jump ' 'a return has the padding behind it'
is "$(ways calls)" '0:jump 4:jump-before 6:short 8:jump c:jump-before ' 'a call is the last in a window'
is "$(ways waits)" '0:jump 5:waits 7:jump ' 'a system call is in none'
is "$(ways locks)" '0:jump 9:jump-before b:branch e:jump 13:jump ' 'nor is what a branch leads into the middle of'
is "$(ways computes)" '0:jump 7:short b:short d:short f:short 11:short 13:short 15:short 17:shared ' \
	'where jumps are computed, none has several instructions'
is "$(ways switches)" \
	'0:jump 7:jump b:jump e:jump-before 10:jump 12:jump-before 14:jump-before 16:jump 1b:jump-before ' \
	'but where a table says where to'
is "$(ways restarts)" '0:jump 5:rseq a:rseq f:jump 14:jump-before 15:rseq 16:data 17:data 18:data 19:jump 1e:jump ' \
	'a restartable sequence has none, and code is found behind the data before its end'
bounded 60 "$XAUDIT" list --format=json forms.so waits >out
is "$(sed -n 's/.*"text":"\([a-z]*\).*"probe":\([^}]*\).*/\1 \2/p' out)" 'mov "jump"
syscall null,"no_probe":"a system call: a thread that waits in it would begin it again elsewhere"
ret "jump"' 'JSON has both'

bounded 60 "$XAUDIT" index -n -v forms.so >out
is "$(sed -n 's/^  instructions of functions: //p; s/^  probes \(.*\)/\1/p' out)" "$(cat <<'end'
62
at one of them: 54 (87.0 %)
by a jump in its place: 16 (25.8 %)
by a jump over more than it: 15 (24.1 %)
by a jump before it: 11 (17.7 %)
by a short jump to padding: 10 (16.1 %)
by a jump that shares bytes: 2 (3.2 %)
refused, bytes that are no instructions we know: 3 (4.8 %)
refused, in a restartable sequence, which the kernel knows by its addresses: 3 (4.8 %)
refused, a system call: a thread that waits in it would begin it again elsewhere: 1 (1.6 %)
refused, a branch or a pointer, or data that looks like one, leads into the bytes displaced: 1 (1.6 %)
end
)" 'xaudit index -v counts them'
bounded 60 "$XAUDIT" index -n forms.so >out
is "$(grep -c probes out)" 0 'if it is asked for'
done_testing
