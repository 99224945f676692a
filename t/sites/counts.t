#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A function is shown with exactly the number of calls that were made, whatever the kind of its site.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

# kind NAME KINDS PROGRAM [ARG]...: 5 001 000 calls by one thread, then 250 000 by each of eight.
kind() {
	name=$1 kinds=$2 command=$3
	shift 3
	for shape in '1 5001000 5001000 1' '8 250000 2000000 8'; do
		set -- $shape "$@"
		threads=$1 each=$2 all=$3 running=$4
		shift 4
		record d -k "$kinds" ${library:+-l "$library"} ${filter:+-F "$filter"} "$command" "$threads" "$each" \
			"$@"
		is "$status/$out/$err" "7/$all/" "$name, $threads x $each: the program runs as ever"
		report d
		is "$(calls counted), $(sums)" "$all, 0 lost 0 unfinished" \
			"$name, $threads x $each: exactly so many calls, none lost"
		is "$(printf '%s\n' "$report" | jq -c '[.functions[].function]')" '["counted"]' \
			"$name, $threads x $each: and calls of nothing else"
		is "$(info d '[.events, .threads]')" "[$((2 * all)),$running]" \
			"$name, $threads x $each: an entry and an exit each, by so many threads"
		rm -rf d
	done
}

library=libcounted.so filter=
mkdir plain gcc clang hot xray
library "$CC" plain/libcounted.so counted.c
library "$CC" gcc/libcounted.so counted.c -fpatchable-function-entry=5
library "$CC" hot/libcounted.so counted.c -fpatchable-function-entry=16,14
for folder in plain gcc hot; do
	program "$CC" $folder/count count.c -L$folder -lcounted -Wl,-z,lazy
done
program "$CC" plain/now count.c -Lplain -lcounted -Wl,-z,now
program "$CC" plain/dlsym count.c -DBY_DLSYM

kind 'patchable, gcc =5' patchable gcc/count
kind 'patchable, gcc =16,14' patchable hot/count
kind 'plt, lazy binding' plt plain/count
kind 'plt, -z now' plt plain/now
LD_BIND_NOW=1
export LD_BIND_NOW
kind 'plt, LD_BIND_NOW' plt plain/count
unset LD_BIND_NOW
kind 'plt, through dlsym' plt plain/dlsym "$tmp/plain/libcounted.so"
# The parts of files that record gives back at the end are no damage, whether a run of counters is in one place or in
# several.
for size in 64k 1M; do
	record d -m count -b $size -k plt -l libcounted.so plain/count 8 1000
	report d
	is "$status $(calls counted), $(sums)" '7 8000, 0 lost 0 unfinished' \
		"mode count, chunks of $size: exactly so many calls, none lost"
	rm -rf d
done
library= filter=counted
kind 'calls of the program' calls plain/count
library=libcounted.so filter=
if xray_library xray/libcounted.so counted.c; then
	program "$CC" xray/count count.c -Lxray -lcounted
	kind 'xray, clang' xray xray/count
	library "$CLANG" clang/libcounted.so counted.c -fpatchable-function-entry=5
	program "$CC" clang/count count.c -Lclang -lcounted
	kind 'patchable, clang =5' patchable clang/count
	# A function with a sled and traced bindings is recorded once per call, by its sled.
	kind 'xray and plt' xray,plt xray/count

	# In a function with a patchable entry, the compiler writes only exit sleds.
	cat >mixed.c <<'END'
__attribute__((patchable_function_entry(5), noinline)) int mixed_inner(int x) { return x + 1; }
__attribute__((noinline)) int mixed_outer(int x) { return mixed_inner(x) + 1; }
END
	echo 'int mixed_outer(int); int main(void) { return mixed_outer(1) != 3; }' >mixed_main.c
	$CLANG -O1 -fPIC -shared -fxray-instrument -fxray-instruction-threshold=1 -o libmixed.so mixed.c &&
		$CC -o mixed mixed_main.c -L. -lmixed -Wl,-rpath,'$ORIGIN' || bail 'the mixed library does not compile'
	for kinds in xray xray,patchable; do
		record d -k $kinds ./mixed
		report d
		is "$status $(calls mixed_outer) $([ $kinds = xray ] || calls mixed_inner), $(sums)" \
			"0 1 $([ $kinds = xray ] || echo 1), 0 lost 0 unfinished" "$kinds: calls have both ends or none"
		is "$(printf '%s\n' "$report" | jq .orphans)" 0 "$kinds: no end without its entry"
	done
	like "$(object d libmixed.so .)" \
		'has exit sleds without an entry sled' 'info says why such a function is no XRay function'
else
	skip 29 'no clang here'
fi
done_testing
