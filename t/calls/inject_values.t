#!/bin/sh
# SPDX-License-Identifier: MIT
#
# At every instruction of the paths of calls with values something is injected (t/lib/injected.sh): calls whose values
# the trampolines record themselves, and calls for which code is run. All values are right then, too.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/injected.sh"

values=expected
a=0x606060606060606 b=0x505050505050505
# quick and slow: what is recorded of counted(), and in the other way of the handler's calls; arguments are those of
# inject.c, which are no addresses.
quick() {
	cat >values.conf <<-'END'
		[context counted]
		context = hex:a:arg1 hex:b:arg2 ret
		[context tailing]
		context = hex:a:arg1
		[context __ubsan_point]
		context = hex:a:arg1 hex:b:arg2
		[context handled]
		context = calls out:calls
		[context mark]
		context = arg1
	END
	cat >expected <<-END
		entry counted \(\) a=$a b=$b
		exit counted  = 11
		entry tailing \(\) a=$a
		entry __ubsan_point \(\) a=$a b=$b
		entry handled \(\) calls=[0-9]+
		exit handled  calls=[0-9]+
		entry mark \(\) arg1=-?[0-9]+
	END
}
slow() {
	cat >values.conf <<-'END'
		[context counted]
		context = hex:a:arg1 string:s:arg2 comm ret out:hex:k:arg1
		if = ret == 11
		[context tailing]
		context = string:s:arg1 hex:b:arg2
		[context __ubsan_point]
		context = hex:a:arg1 string:s:arg2
		if = arg1 > 5
		[context handled]
		context = tid ret
		[context mark]
		context = out:tid
	END
	cat >expected <<-END
		entry counted \(\) a=$a s=\(fault\) comm="[a-z]+"
		exit counted  = 11 k=$a
		entry tailing \(\) s=\(fault\) b=$b
		entry __ubsan_point \(\) a=$a s=\(fault\)
		entry handled \(\) tid=[0-9]+
		exit handled  = -?[0-9]+
		exit mark  tid=[0-9]+
	END
}
# both WHAT OPTIONS JUDGE [RECORD-OPTION]...: quick and slow. The code for slow calls is long: in `make check` not each
# instruction of it gets its turn.
both() {
	doing=$1 with=$2 judge=$3
	shift 3
	quick
	all "quick, $doing" "$with" "$judge" "$@" -c values.conf
	slow
	all "slow, $doing" "$few $with" "$judge" "$@" -c values.conf
}
build "$CC" plt
both 'one call' '' '' call
quick
every jump 'quick, one call' '' '' call -c values.conf
every fork 'quick, one call' '' '' call -c values.conf
slow
more every jump 'slow, one call' '' '' call -c values.conf
more every fork 'slow, one call' '' '' call -c values.conf
both 'an entry alone' '' what=__ubsan_point point
for way in quick slow; do
	$way
	all "$way, a chunk that is full" "-b recorder_try_slowly $few" '' fill -c values.conf
done
export MOVES=1
both 'one call, by a coarse clock' '-w 16' 'skip=18 off=0.3' call --clock coarse
unset MOVES
text() {
	cat >values.conf <<-'END'
		[context counted]
		context = string:s:arg1 ret
		[context tailing]
		context = string:s:arg1
		[context __ubsan_point]
		context = string:s:arg1
	END
	cat >expected <<-END
		entry counted \(\) s="a text of 21 letters."
		exit counted  = 11
		entry tailing \(\) s="a text of 21 letters."
		entry __ubsan_point \(\) s="a text of 21 letters."
	END
	export TEXT='a text of 21 letters.'
}
text
all 'text, one call' '' '' call -c values.conf
every jump 'text, one call' '' '' call -c values.conf
every fork 'text, one call' '' '' call -c values.conf
sed 's/a text of 21 letters\./(&|b*)/' expected >either && mv either expected
CHANGES=1
export CHANGES
every fork 'text, one call, which the child finds changed' '' '' call -c values.conf
unset CHANGES
text
all 'text, an entry alone' '' what=__ubsan_point point -c values.conf
all 'text, a chunk that is full' "-b recorder_try_slowly $few" '' fill -c values.conf
unset TEXT
export TASK=1
quick
every task 'quick, one call' '' '' call -c values.conf
unset TASK
build "$CC" patchable -fpatchable-function-entry=5
both 'a tail call' '' 'what=counted|tailing each=2' tail
if [ -n "$CLANG" ]; then
	build "$CLANG" xray -fxray-instrument -fxray-instruction-threshold=1 -DXRAY
	both 'a tail call' '' 'what=counted|tailing each=2' tail
else
	skip 8 'no clang here'
fi
diag "covered: $covered instructions"
done_testing
