#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Programs that concern dl_iterate_phdr or addresses: programs that list the objects of the process, that interpose
# dl_iterate_phdr, and programs built with sanitizers.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
[ -n "$CXX" ] || skip_all 'no C++ compiler'

# ---- the list ----
program "$CXX" listed listed.cc
program "$CXX" listed-now listed.cc -Wl,-z,now
library "$CXX" libinterpose.so listed.cc -DINTERPOSE
program "$CXX" listed-interposed listed.cc -L. -Wl,--no-as-needed -linterpose
library "$CXX" liblists.so listed.cc -DLIBRARY

# expected: from the untraced program's lists, the lists that the traced one must print: with the module at the end of
# each.
expected() {
	awk '{ if (last && $1 != last) print last " libxaudit.so 1"; last = $1 ~ /^t?here$/ ? $1 : ""; print }
		END { if (last) print last " libxaudit.so 1" }' "$1"
}
# lists SENTENCE COMMAND...
lists() {
	sentence=$1
	shift
	bounded 60 "$@" >plain || bail "$* fails untraced"
	expected plain >wanted
	record d -k plt "$@"
	is "$(printf '%s\n' "$out" | diff wanted - | head -n 20) $status" ' 0' "$sentence"
}
lists 'the program comes first, the module last, answers of callbacks are kept' ./listed "$tmp/liblists.so"
like "$(cat plain)" '^answers 7 -3 after 2 objects$' '(the first object ends the list)'
like "$(cat plain)" '^there ' '(there is another namespace)'
like "$(cat plain)" '^caught 1$' '(an exception leaves the callback)'
lists 'the same, bound at the start' ./listed-now "$tmp/liblists.so"
lists 'a library interposes the function and calls the next one' ./listed-interposed
lists 'a preloaded library does so' env LD_PRELOAD="$tmp/libinterpose.so" ./listed

# ---- sanitizers ----
# same SENTENCE COMMAND...: with all kinds, output and end are as untraced; sets $refused.
same() {
	sentence=$1
	shift
	plain_status=0
	bounded 60 "$@" >plain 2>plain-err || plain_status=$?
	record d -k patchable,plt,calls "$@"
	is "$out $status" "$(cat plain) $plain_status" "$sentence"
	refused=$(printf '%s\n' "$err" |
		grep -c "^xaudit: not recorded of this program: kind patchable, plt, calls: .* $sanitizer's ")
}
# sanitized NAME FLAG COMPILER REFUSED ERROR
sanitized() {
	sanitizer=$1 compiler=$3 wanted=$4 error=$5
	if ! $compiler -g -O1 -pthread "$2" -o sanitized "$beside/sanitized.c" 2>.cc ||
		! bounded 60 ./sanitized >plain 2>&1; then
		skip 5 "$compiler $2 makes no program that runs here"
		return
	fi
	is "$(cat plain)" '10 digits' "$sanitizer: (the program does what it is for)"
	same "$sanitizer: the program does the same under all kinds" ./sanitized
	is "$refused" "$wanted" "$sanitizer: one line says what is not recorded, if anything"
	same "$sanitizer: the program has errors" ./sanitized 1
	is "$(printf '%s\n' "$err" | grep -o -m 1 "$error") $(grep -o -m 1 "$error" plain-err)" "$error $error" \
		"$sanitizer: they are reported"
}
sanitized AddressSanitizer -fsanitize=address "$CC" 0 'ERROR: AddressSanitizer: heap-use-after-free'
report d
like "$(calls malloc)" '^[5-9]$' 'AddressSanitizer: calls of its functions are recorded'
sanitized ThreadSanitizer -fsanitize=thread "$CC" 1 'WARNING: ThreadSanitizer: data race'
if [ -n "$CLANG" ]; then
	sanitized ThreadSanitizer -fsanitize=thread "$CLANG" 1 'WARNING: ThreadSanitizer: data race'
	sanitized MemorySanitizer -fsanitize=memory "$CLANG" 1 'WARNING: MemorySanitizer: use-of-uninitialized-value'
	# XRay functions have exits of their own.
	xray_library libcounted.so counted.c
	if $CC -fsanitize=thread -o starts "$beside/loader_starts.c" -L. -lcounted -Wl,-rpath,"$tmp" 2>.cc &&
		./starts >plain 2>&1; then
		record d -k xray,plt ./starts
		report d
		is "$out $(calls counted), $(sums)" "$(cat plain) 7, 0 lost 0 unfinished" \
			'ThreadSanitizer: XRay functions are recorded'
	else
		skip 1 "$CC -fsanitize=thread makes no program that runs here"
	fi
else
	skip 11 'no clang'
fi
done_testing
