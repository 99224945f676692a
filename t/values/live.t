#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Values of calls in running programs: of known arguments, for each kind of functions and each clock.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/live.sh"

sixty_four=$(printf 'x%.0s' $(seq 1 64))
cat >expected <<'END'
entry v_ints(-128, 255, -32768, 65535, -2147483648, 4294967295, -9223372036854775808, 18446744073709551615)
exit v_ints = -2147450756
entry v_ints(127, 1, 2, 3, 4, 5, 6, 7)
exit v_ints = 155
entry v_stack(-1, 2, -3, 4, -5, 6, -7, "h", -9)
exit v_stack = 91
entry v_reals(1.5, -0.25, -7, 1e+300)
exit v_reals = 1e+300
entry v_real(0.75)
exit v_real = -0.75
END
for text in '"on the stack"' '"in the program"' '"constant"' '"writable"' '"heap"' "\"$sixty_four\"..." \
	"\"$sixty_four\"..." "\"${sixty_four#x}\"" '""' NULL '(fault)' '"end"' '(fault)' '(fault)' '(fault)'; do
	printf 'entry v_text(%s)\nexit v_text = %s\n' "$text" "$text" >>expected
done
cat >>expected <<'END'
entry v_flags(true, BLUE, NULL, PTR)
exit v_flags = false
entry v_flags(false, GREEN, 0x123456, 0x8)
exit v_flags = true
entry v_out(21, PTR, "")
exit v_out = 21 doubled=42 text="ok"
entry v_fails(0)
exit v_fails = 0
entry v_fails(2)
exit v_fails = -1 ENOENT (No such file or directory)
entry v_fails(12)
exit v_fails = -1 ENOMEM (Cannot allocate memory)
entry v_where(1) tid=ITS cpu=ANY comm="a live one" calls=1 counter=1002 name="the library" data="writable"
exit v_where = 1
entry v_in(PTR, 5)
entry v_where(6) tid=ITS cpu=ANY comm="a live one" calls=2 counter=1002 name="the library" data="writable"
exit v_where = 6
exit v_in = 8
END

# known KIND [WHERE]: with each clock.
known() {
	for clock in tsc coarse monotonic; do
		rules "$1" "$2" "clock = $clock"
		live "$1" all
		is "$status $out" '0 ' "$1, $clock: the program notices nothing"
		values_of d >got
		ok "$1, $clock: each value is right" diff expected got
	done
	record d -c conf "$1/live" all
	values_of d >got
	is "$status $out$err" '0 ' "$1: under record"
	ok "$1: and there" diff expected got
}
build plt "$CC"
cp -r plt entry
cp -r plt calls
build patchable "$CC" -fpatchable-function-entry=5
build mcount "$CC" -pg -mno-fentry
build fentry "$CC" -pg -mfentry
index_of entry/liblive.so mcount/liblive.so fentry/liblive.so
for kind in plt entry patchable mcount fentry; do
	known "$kind"
done
known calls program
if [ -n "$CLANG" ]; then
	build xray "$CLANG" -fxray-instrument -fxray-instruction-threshold=1
	known xray
else
	skip 8 'no clang here'
fi

# Callers know a function by several names, of which the file has one description.
rules plt
live plt names
values_of d >got
is "$status $out$(cat got)" '0 entry v_named(1)
exit v_named = -1
entry v_named_too(2)
exit v_named_too = -2
entry v_named(3)
exit v_named = -3
entry v_named_too(4)
exit v_named_too = -4' 'a function has its values by each of its names'

# What is not known of calls that the program tells of is left out.
build cyg "$CC" -finstrument-functions
rules cyg
live cyg all
is "$status $out $(values_of d | grep -c '[(=]')" '0  0' 'cyg: there are no values'
values_of d | sed 's/ = .*//; s/[ (].*//' | sort | uniq -c | sed 's/^ *//' >got
is "$(cat got)" '29 entry
29 exit' 'but all events'
done_testing
