# SPDX-License-Identifier: MIT
#
# The one run that all tests of xaudit export read back; sourced after t/lib/traced.sh. app_record makes it.
need "${CXX%% *}" python3

# The numbers of t/export/app.cc, known in advance: "SYMBOL CALLS", as app_counts prints them. leaf: two in each work,
# seven in each child; tree: 2^6 - 1; resume: 21 for each coroutine. Each odd name is called three times.
app_calls='_ZN4shop14call_odd_namesEv 3
_ZN4shop3digEi 80
_ZN4shop4leafEi 620
_ZN4shop4stayEPFvvE 1
_ZN4shop4takeEPKvmi 3
_ZN4shop4tree 63
_ZN4shop4walkEi 1
_ZN4shop4workEi 303
_ZN4shop5childEi 2
_ZN4shop5spawnEi 2
_ZN4shop6resumeEPFvvE 42
_ZN4shop7attemptEi 20
_ZN4shop7co_bodyEPFvvEi 2
_ZN4shop7co_stepEPFvvE 20
_ZNK6plugin6filterclEi 20
plugin_apply 20
shop_greet 6
shop_measure 1'
app_all_calls=1239 # with those of the odd names
app_unfinished=1   # stay

# app_counts: of lines "SYMBOL<tab>CALLS", without the odd names, what app_calls is compared with.
app_counts() {
	LC_ALL=C sed -n 's/^_ZN4shop4treeI[^	]*/_ZN4shop4tree/; /^[a-zA-Z0-9_]*	/s/	/ /p' | LC_ALL=C sort
}

# app_odd_names: each odd name in a line of Python's, by the number that the source has.
app_odd_names() {
	cat <<'END_OF_NAMES'
b'say "hi" \\n'
b'two words; and 7'
b'<script>alert(1)</script>'
'größe_日本'.encode()
b'esc\033[31m bell\007 tab\t'
b'new\nline\rend'
b'(3) fn=other +1 *'
b'\xff\xfe bad \xc3('
'bidi \u202e\u2066 end'.encode()
b"%s%n ${x} 'q' ,|"
END_OF_NAMES
}

# app_build: libapp.so, libplugin.so and the program app.
app_build() {
	library "$CXX" libapp.so app_library.cc -std=c++17 -fno-optimize-sibling-calls -fpatchable-function-entry=5 \
		-I"$top_srcdir" -I"$top_srcdir/runtime/api" "$top_builddir/libxaudit-api.a"
	library "$CXX" libplugin.so app_plugin.cc -std=c++17 -fpatchable-function-entry=5
	program "$CXX" app app.cc -std=c++17 -I"$top_srcdir" -I"$top_srcdir/runtime/api" -L. -lapp \
		"$top_builddir/libxaudit-api.a"
	app_odd_names | python3 -c '
import sys
data = open("libapp.so", "rb").read()
for number, line in enumerate(sys.stdin):
    old, new = b"odd_name_of_a_function_1%02d" % number, eval(line)
    assert old in data and len(new) <= len(old), (old, new)
    data = data.replace(old, new.ljust(len(old), b"\0"))
open("libapp.so", "wb").write(data)' || bail 'the odd names do not fit'
}

# app_record [OPTION]...: records it into $tmp/app.data, with values, and makes sure of the numbers.
app_record() {
	app_build
	record app.data -k patchable --context 'shop_greet:args,retval,backtrace' \
		--context 'shop_measure:args,retval' --context '*work*:args' "$@" ./app ./libplugin.so
	[ "$status" = 0 ] || bail "app ends with $status: $err"
	report app.data
	[ "$(printf '%s\n' "$report" | jq -r '.functions[] | "\(.function)\t\(.calls)"' | app_counts)" = \
		"$app_calls" ] &&
		[ "$(printf '%s\n' "$report" | jq '[.functions[].calls] | add')" = "$app_all_calls" ] &&
		[ "$(sums)" = "0 lost $app_unfinished unfinished" ] || bail 'app has other numbers than it should have'
}
