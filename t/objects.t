#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What an object is: whatever form its file has, whoever loads it, it is seen, named as it is, and taken for no other.
. "${top_srcdir:-.}/t/tap.sh"
. "$top_srcdir/t/traced.sh"

program "$CC" edit elf_edit.c
patchable_library good.so counted.c -Wl,-soname,libcounted.so
cp good.so libcounted.so
program "$CC" count count.c -L. -lcounted

# counted SENTENCE: ./count runs as ever, and all its calls of counted() are recorded, in libcounted.so.
counted() {
	record d -k patchable -l libcounted.so -- ./count 1 1000
	report d
	is "$status/$out/$err" '7/1000/' "$1: the program runs as ever"
	is "$(printf '%s\n' "$report" | jq -r '.functions[] | "\(.calls) \(.function) \(.library)"')" \
		"1000 counted $tmp/libcounted.so" "$1: its calls are recorded"
}
counted 'a library as the linker makes it'
has_headers_outside() {
	[ "$(readelf -hW libcounted.so | sed -n 's/.*Start of program headers: *\([0-9]*\).*/\1/p')" -gt 4096 ]
}

# ---- program headers and segments in other places ----

./edit headers good.so libcounted.so
ok '(program headers behind all segments)' has_headers_outside
counted 'program headers at the end of the file, in no segment'
patchable_library libcounted.so counted.c -Wl,-Ttext-segment=0x200000
is "$(readelf -lW libcounted.so | awk '$1 == "LOAD" { print $3; exit }')" 0x0000000000200000 '(a first segment at 2 MiB)'
counted 'a first segment that is not at 0'

# ---- notes where nothing is mapped ----

./edit notes good.so libcounted.so
is "$(readelf -lW libcounted.so | grep -c '^ *NOTE .* 0x0*40000000 ')" "$(readelf -lW libcounted.so | grep -c '^ *NOTE ')" \
	'(notes at an address that no segment has)'
record d -k plt -l libcounted.so -- ./count 1 1000
report d
is "$status/$out/$err $(calls counted)" '7/1000/ 1000' 'a library whose notes lie outside of its segments is loaded and traced'
record d ./count 1 1000
is "$status/$out/$err" '7/1000/' 'so it is where nothing of it is to be traced'
cp good.so libcounted.so

done_testing
