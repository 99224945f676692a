#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A handler of the program's sees a fault where it is: in the function, not in a copy of its first instructions,
# wherever these can stay. What OCaml compiled overflows its stack itself.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

XAUDIT_INDEX=$tmp/cache
export XAUDIT_INDEX
program "$CC" place fault_place.c "$beside/fault_place.S" -no-pie
names='loads stores divides copies goes loads_by_rbp'

# form FUNCTION...: form, bytes, and whether it may fault elsewhere
"$XAUDIT" index -nv place >listed || bail 'no index'
form() {
	for f; do
		sed -n "s/^[0-9a-f]\{16\} *[0-9]* *\([^ ]*\) *\([^ ]*\) *$f\(  .*\)\{0,1\}\$/$f \1 \2\3/p" listed
	done
}
is "$(form $names)" 'loads padding 0+2
stores padding 0+2
divides padding 0+2
copies padding 0+2
goes padding 0+2
loads_by_rbp padding 0+2' 'what may fault stays, where a shorter jump leaves it alone'
is "$(form loads_first)" 'loads_first jump 0+5  (may fault elsewhere)' 'what no jump leaves alone is told'
is "$(form has_frame uses_stack uses_own uses_thread computes)" 'has_frame jump 0+8
uses_stack jump 0+8
uses_own jump 0+8
uses_thread jump 0+11
computes jump 0+8' 'stack, data of the file, thread-local data and addresses alone are no such matter'
judged="(its language's runtime judges faults by the instruction pointer, which would be another)"
is "$(form camlSum__sum_10 behind)" "camlSum__sum_10 - -  $judged
behind jump 0+5" 'functions of an OCaml unit are refused, those behind it not'

expected=$(./place $names overflow)
is "$expected" "$(printf '%s: own\n' $names overflow)" 'untraced'
chosen=
for f in $names loads_first has_frame uses_stack uses_own uses_thread computes behind; do chosen="$chosen -F $f"; done
record d $chosen -F 'camlSum*' ./place $names overflow
is "$status $out" "0 $expected" 'traced, each fault is where it was'
report d
for f in $names has_frame uses_stack uses_own uses_thread computes behind; do calls $f; done >counts
is "$(uniq -c counts | tr -s ' ')
$(calls camlSum__sum_10)" ' 12 1
' 'and each call is seen, but for those of OCaml'
done_testing
