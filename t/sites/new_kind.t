#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The work for a new kind of sites, NOPs of five bytes that a section names: a copy of the sources gets the kind `test`
# by a line or two in each of a few files; the rest of audit/site/ is compiled with them unchanged, and handles the
# kind.
. "${top_srcdir:-.}/t/lib/tap.sh"

copy=$tmp/copy
mkdir -p "$copy/format" "$copy/audit/site" "$copy/audit/match"

# change FILE PROGRAM: changes a file of the copy, by awk.
change() {
	awk "$2" "$top_srcdir/$1" >"$copy/$1" || bail "can't change $1"
}
# Its number and word.
change format/trace.h '
	/^#define TRACE_KINDS\(X\)/ { listing = 1 }
	listing && /X\([0-9]+,/ { kinds++ }
	listing && !/\\$/ { print $0 " \\"; $0 = "\tX(" kinds ", TEST, \"test\")"; listing = 0 }
	/^#define TRACE_KIND_WORDS/ { sub(/"$/, ", test\"") }
	{ print }'
# Its row.
change audit/match/kinds.h '
	/^#define KINDS\(X\)/ { listing = 1 }
	listing && !/\\$/ {
		print $0 " \\"
		$0 = "\tX(TEST, KIND_BY_SECTION | KIND_EVENTS | KIND_RETURNS, \"xaudit_test_sites\", 0, " \
			"KINDS_SLED(PATCHABLE), CELL, SITES, \"functions that a test lists\")"
		listing = 0
	}
	{ print }'
# Its sites are found and scanned as those of patchable.
change audit/site/site.c '
	{ print }
	/^} scanners\[TRACE_KIND_COUNT\] = \{/ {
		print "\t[TRACE_KIND_TEST] = {SITE_PATCHABLE_ENTRY_SIZE, NULL, site_scan_patchable},"
	}'

cd "$top_srcdir" || bail "no source folder $top_srcdir"
changed=$(cd "$copy" && find . -type f | LC_ALL=C sort | while read -r file; do
	cmp -s "$file" "$OLDPWD/$file" || echo "${file#./}"
done)
is "$(echo $changed)" 'audit/match/kinds.h audit/site/site.c format/trace.h' 'three files of code have to be changed'

# All of audit/site/, files of the copy first, and what is linked with it.
sources=$(for file in audit/site/*.c; do
	if [ -e "$copy/$file" ]; then echo "$copy/$file"; else echo "$file"; fi
done)
build() {
	timeout 120 $CC -std=gnu11 -O1 -I"$copy" -I. -o "$tmp/new_kind" t/sites/new_kind.c $sources \
		audit/match/kinds.c audit/match/match.c audit/match/cxx.c runtime/base/arena.c x86_64/sled.c \
		2>"$tmp/err"
}
build || { diag "$(head -n 20 "$tmp/err")"; bail "$CC does not compile it"; }
kinds=$(awk '/^#define TRACE_KINDS/ { n = 1; next } n { print; if (!/\\$/) exit }' format/trace.h | wc -l)
is "$(bounded 60 "$tmp/new_kind")" "number of its word: $kinds
announced by sections: patchable test
default: xray patchable guard
patchable: patchable, patchable of 5 bytes
test: two, patchable of 5 bytes
test: one, patchable of 5 bytes
misplaced: 0" 'rules, the look at sections and the scan know the kind and its sites'

# The result must depend on the added lines: without them, there is no such kind.
copy=.
sources=$(echo audit/site/*.c)
build || bail "$CC does not compile the sources as they are"
is "$(bounded 60 "$tmp/new_kind" | grep -c '^test')" 0 'without those lines there is no such kind'
done_testing
