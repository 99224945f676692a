#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Values of calls in libraries that come and go: what is read of a library is of the load that is called.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/live.sh"

# loads KIND COMPILER [FLAG]...: libraries, and the program.
loads() {
	kind=$1 compiler=$2
	shift 2
	mkdir "$kind"
	library "$compiler" "$kind/liblive.so" live_loads_part.c "$@"
	for i in 2 3; do
		library "$compiler" "$kind/liblive$i.so" live_loads_part.c "-DNUMBER=\"$i\"" "$@"
	done
	program "$CC" "$kind/live" live_loads.c
	rules "$kind" 'library liblive*' '' '[context v_*]
context = args retval
[context v_self]
context = ptr:itself:v_itself long:variable:v_variable'
}
# judged: of the events, calls of v_self() with the right address of the variable, with none, and with another one;
# then what else is wrong.
judged() {
	values_of d >got
	bounded 60 "$XAUDIT" dump d | awk '$3 == "entry" && $5 ~ /^v_self/ {
			split($0, part, /v_self\(|, |itself=| /)
			at = substr($5, 8)
			sub(/,$/, "", at)
			its = $0
			sub(/^.* itself=/, "", its)
			sub(/ .*/, "", its)
			if (its == at) right++; else if (its == "(fault)") none++; else wrong++
		}
		END { print right + 0, none + 0, wrong + 0 }'
	grep -Ev -e '^entry v_self\(PTR, "([0-9]+|constant[23]?)", [0-9]+\) itself=PTR variable=[0-9]+$' \
		-e '^entry v_self\(PTR, "([0-9]+|constant[23]?)", [0-9]+\) itself=.fault. variable=.fault.$' \
		-e '^exit v_(self|plain) = [0-9]+$' -e '^entry v_plain\([0-9]+\)$' got | head -n 5
}
rounds=$(rounds 100 300 2000)
for kind in plt patchable xray; do
	case $kind in
	plt) loads plt "$CC" ;;
	patchable) loads patchable "$CC" -fpatchable-function-entry=5 ;;
	*)
		if [ -z "$CLANG" ]; then
			skip 6 'no clang here'
			continue
		fi
		loads xray "$CLANG" -fxray-instrument -fxray-instruction-threshold=1
		;;
	esac
	live "$kind" own "$rounds" "$kind/liblive.so" "$kind/liblive2.so" "$kind/liblive3.so"
	others=$out
	ok "$kind, loads while others run: the program notices nothing" test "$status" = 0 -a \
		"$others" -ge $((7 * rounds))
	# Two files come and go, the third one is that of the others.
	is "$(judged)" "$((2 * (2 * rounds + others))) 0 0" "$kind: each call is there, and told of its own library"
	live "$kind" shared "$rounds" "$kind/liblive.so"
	is "$status $out" '0 ' "$kind, eight threads load and close: the program notices nothing"
	is "$(judged)" "$((16 * rounds)) 0 0" "$kind: each call is told of its own load"
	# Of a file in two places it can't be said which is called; of the one that stays, it can.
	live "$kind" twice 6 "$kind/liblive.so"
	is "$status $out" '0 ' "$kind, twice at once: the program notices nothing"
	is "$(judged)" '12 24 0' "$kind: none is told of another load"
done
done_testing
