#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Copy-on-write: patched bytes are equal in every process, forked workers share them, and no page is private without
# need.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

# field LINE WORD: the number after the word in the line of $out that begins with LINE.
field() {
	printf '%s\n' "$out" | awk -v line="$1" -v word="$2" \
		'$1 == line { for (i = 1; i < NF; i++) if ($i == word) print $(i + 1) }'
}

# at_most A B: A is no more than 1.1 times B.
at_most() {
	[ -n "$1" ] && [ -n "$2" ] && [ $((10 * $1)) -le $((11 * $2)) ]
}

# kind NAME BUILD...: a library with eight functions, each in a page of its own.
kind() {
	name=$1
	shift
	"$@" libpages.so pages.c
	program "$CC" cow cow.c -L. -lpages

	record d -k "$name" -l libpages.so ./cow one
	is "$status $(field base anonymous)" '0 32' "$name: the traced text has eight private pages"
	bases=$(field base base) differ=
	for n in 1 2 3 4 5; do
		record d2 -k "$name" -l libpages.so ./cow two
		bases="$bases $(field base base)"
		cmp -s one two || differ="$differ $n"
	done
	if [ "$(printf '%s\n' $bases | sort -u | wc -l)" -eq 1 ]; then
		skip 1 'every process has its libraries at the same addresses here'
	else
		is "$differ" '' \
			"$name: text that is patched in six processes, at other addresses, is the same byte by byte"
	fi
	bounded 60 ./cow untraced >/dev/null
	unlike "$(cmp -l one untraced | head -n 1)" '^$' "$name: and it is not the file's"

	record d -k "$name" -l libpages.so ./cow one 32
	is "$status $(field workers workers)" '0 32' "$name: 32 forked workers call the functions"
	is "$(field workers private)" 0 "$name: none of them has a page of the text for itself"
	ok "$name: together they have at most 1.1 times the text of one ($(field workers pss) kB, one: $(field base \
		pss) kB)" \
		at_most "$(field workers pss)" "$(field base pss)"
	report d
	is "$(calls page_0)/$(calls page_7)" '33/33' "$name: all of them are traced"

	record d --prepare=none -k "$name,plt" -l libpages.so ./cow none
	is "$status $(field base anonymous)" '0 0' "$name: with prepare=none no page of the text is private"
	ok "$name: it is the file's" cmp none untraced
	report d
	is "$(calls page_0)" '' "$name: and nothing is traced"
	is "$(object d libpages.so ".sites.$name")" '{"switched off":8}' "$name: the trace says that it is off"

	record d --start-disabled -k "$name" -l libpages.so ./cow disabled
	is "$status $(field base anonymous)" "0 $ready" "$name: what begins switched off has $ready kB of private text"
	report d
	is "$(calls page_0)" '' "$name: and nothing is traced"

	record d --prepare=all -F page_0 -k "$name,plt" -l libpages.so ./cow all
	is "$status $(field base anonymous)" "0 $all" \
		"$name: one function on and all prepared have $all kB of private text"
	report d
	is "$(calls page_0)/$(calls page_1)" '1/' "$name: one is traced, the others are not"
}

# NOPs of one byte have to be joined; sleds are ready as they are.
ready=32 all=32
kind patchable patchable_library
if [ -n "$CLANG" ]; then
	ready=0 all=4
	kind xray xray_library
else
	skip 15 'no clang here'
fi

# Only bindings through us can be switched off and on again.
library "$CC" libpages.so pages.c
program "$CC" cow cow.c -L. -lpages
record d --prepare=all --start-disabled -k plt -l libpages.so ./cow plt
is "$status $(field base anonymous)" '0 0' 'bindings make no text private'
report d
is "$(calls page_0)" '' 'and are not traced when they begin switched off'

printf '[trace]\nmerge = yes\n[library libpages.so]\nkinds = patchable\n' >merge.conf
patchable_library libpages.so pages.c
status=0
bounded 60 "$XAUDIT" record -o d -c merge.conf ./cow merged >out 2>err || status=$?
is "$status" 0 'a program runs with merge = yes'
if [ "$(cat /sys/kernel/mm/ksm/run 2>/dev/null)" = 1 ]; then
	is "$(cat err)" '' 'nothing is said where the kernel merges pages'
else
	is "$(grep -c 'merges no pages' err)" 1 'it says once that the kernel merges no pages'
fi
done_testing
