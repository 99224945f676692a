#!/bin/sh
# SPDX-License-Identifier: MIT
#
# At every instruction of the paths of calls with actions something is injected (t/lib/injected.sh): marks at the entry
# and at the end, each by a condition; and functions that may start recording, or stop it, and are asked at each call.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/injected.sh"

cat >marks.conf <<'END'
[context counted]
then = mark as begins if arg1 != 7
then = mark as ends if ret == 11 longer 1ns
END
cat >starts.conf <<'END'
[context counted]
then = start
then = stop if arg1 == 7
then = start thread
then = stop thread if arg1 == 7
END
# The judge knows no marks but those of the program's own function of that name.
without_values() {
	grep -v ' custom .* mark  "\(begins\|ends\)"'
}
# marked: of the run before, more than nine in ten calls have both marks: the others were left by a jump, or lost.
marked() {
	bounded 600 "$XAUDIT" dump d 2>err | awk '/ entry .* counted / { calls++ } /"begins"/ { begins++ }
		/"ends"/ { ends++ }
		END { exit !(calls && begins > 0.9 * calls && ends > 0.8 * calls) }'
}
build "$CC" plt
all 'marks' "$few" '' call -c marks.conf
ok "$kind: calls have their marks" marked
every jump 'marks' "$few" '' call -c marks.conf
every fork 'marks' "$few" '' call -c marks.conf
all 'marks, a chunk that is full' "-b recorder_try_slowly $few" '' fill -c marks.conf
all 'starts' "$few" '' call -c starts.conf
if [ -n "$CLANG" ]; then
	build "$CLANG" xray -fxray-instrument -fxray-instruction-threshold=1 -DXRAY
	all 'marks' "$few" '' call -c marks.conf
	all 'starts' "$few" '' call -c starts.conf
else
	skip 4 'no clang here'
fi
diag "covered: $covered instructions"
done_testing
