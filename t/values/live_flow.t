#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Values of calls through forks, threads, coroutines, jumps, exceptions, tail calls and a timer's handlers: what is kept
# from a call's entry to its end is that call's.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/live.sh"

# build_flow KIND COMPILER [FLAG]...
build_flow() {
	kind=$1 compiler=$2
	shift 2
	mkdir "$kind"
	library "$compiler" "$kind/liblive.so" live_flow_part.c -fexceptions "$@"
	program "$CXX" "$kind/live" live_flow.cc "-L$kind" -llive
}
handlers=$(rounds 200 2000 100000)
# flow KIND WORD EXPECTED [AWK-OPTION]...
flow() {
	live "$1" "$2"
	is "$status $out" '0 ' "$1, $2: the program notices nothing"
	values_of d >got
	word=$2 expected=$3
	shift 3
	is "$(awk "$@" -f "$beside/live_flow.awk" got | tr '\n' ';')" "$expected" "$kind, $word: all values are there"
}
flows() {
	kind=$1
	rules "$kind" '' "${2-}" '[context v_*]
context = args retval
[context v_swap]
context = out:long:doubled:+0(arg2)'
	# A child ends the calls that are open where it is forked, too: of 4 in all, two at the first fork, which is in
	# one more, two at the second, in each of 2 processes.
	flow "$kind" fork 'v_number 612 612 0;v_quick 612 612 0;v_swap 16 22 0;' -v children=1
	flow "$kind" threads 'v_number 10944 10944 0;v_quick 10944 10944 0;v_swap 10944 10944 0;'
	flow "$kind" coroutines 'v_number 606 606 0;v_quick 606 606 0;v_swap 600 600 0;'
	flow "$kind" leave 'v_number 200 200 0;v_quick 200 200 0;v_swap 801 1 800;'
	flow "$kind" tail "${tail-$jumped}"
	live "$kind" signals "$handlers"
	is "$status $out" '0 ' "$kind, a timer: the program notices nothing"
	values_of d >got
	is "$(awk -f "$beside/live_flow.awk" got | awk '$2 != $3 || $4 || NF != 4')" '' "$kind: all values are there"
	ok "$kind: of $handlers handlers, too" test "$(grep -c '^entry v_swap(500000' got)" -ge "$handlers"
}
# Of these, no more is known of the call that jumps.
jumped='v_number 100 100 0;v_swap 1 1 0;v_tail 100 0 100;'

build_flow plt "$CC"
cp -r plt entry
build_flow patchable "$CC" -fpatchable-function-entry=5
index_of entry/liblive.so
tail='v_swap 1 1 0;v_tail 100 100 0;'
flows plt
unset tail
flows entry 'clock = coarse'
flows patchable
if [ -n "$CLANG" ]; then
	build_flow xray "$CLANG" -fxray-instrument -fxray-instruction-threshold=1
	flows xray
else
	skip 8 'no clang here'
fi
done_testing
