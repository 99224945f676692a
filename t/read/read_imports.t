#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The command reads traces by the public functions of the reader's library alone, as any other program can: its objects
# import only xaudit_read_*, and its files include xaudit-read.h only. tool/record/trim.c writes, so it is none of them;
# tool/pack/ does not read traces, but makes files that the library reads, with the same code for their format. Nobody
# else has asked for the names of functions that were never called (tool/record/unmatched.c), or where each file was
# mapped (tool/perf/loads.c), or for calls while they are recorded (tool/trace/, tool/alloc/follow.c): so that is not
# public.
. "${top_srcdir:-.}/t/lib/tap.sh"

need nm
skip_sanitized

library=$top_builddir/tool/read/.libs/libread.a
[ -f "$library" ] || bail "no $library"
nm --defined-only "$library" 2>/dev/null | awk 'NF == 3 && $2 ~ /[A-TV-Z]/ { print $3 }' | LC_ALL=C sort -u \
	>"$tmp/defined"
# What the library has of tool/base/ is the command's, too.
nm --defined-only "$top_builddir"/tool/base/.libs/*.o | awk 'NF == 3 && $2 ~ /[A-TV-Z]/ { print $3 }' >"$tmp/shared"
grep -v '^xaudit_read_' "$tmp/defined" | grep -vxF -f "$tmp/shared" >"$tmp/inside"

# imports OBJECT: what it needs of the library's inside.
imports() {
	nm -u "$1" | awk 'NF == 2 { print $2 }' | grep -xF -f "$tmp/inside"
}

# inside SOURCE BUILD: files in the folder SOURCE, and in those below but for read/ and pack/, that include the
# library's inside, or whose objects in BUILD need it.
inside() {
	(cd "$1" && find . \( -name read -o -name pack \) -prune -o -name '*.[ch]' -print | LC_ALL=C sort) |
		while read -r file; do
		file=${file#./}
		object=$2/$(dirname "$file")/xaudit-$(basename "$file" .c).o
		if grep '^#include "tool/read/' "$1/$file" | grep -qv 'tool/read/api/xaudit-read\(-[a-z]*\)*\.h"'; then
			echo "$file"
		elif [ -f "$object" ] && imports "$object" >/dev/null; then
			echo "$file"
		fi
	done
}

ok 'the library has functions of both sorts' test "$(grep -c '^xaudit_read_' "$tmp/defined")" -gt 10 -a \
	"$(wc -l <"$tmp/inside")" -gt 10

# The test itself must be able to fail.
mkdir -p "$tmp/tool/a" "$tmp/tool/read"
echo 'void f(void); void read_clock_setup(void); void f(void) { read_clock_setup(); }' >"$tmp/tool/a/needs.c"
echo '#include "tool/read/clock.h"' >"$tmp/tool/a/includes.h"
echo 'void g(void); void xaudit_read_close(void); void g(void) { xaudit_read_close(); }' >"$tmp/tool/good.c"
echo '#include "tool/read/api/xaudit-read.h"' >"$tmp/tool/good.h"
echo '#include "tool/read/clock.h"' >"$tmp/tool/read/clock.c"
for file in a/needs good; do
	$CC -c -o "$tmp/tool/$(dirname $file)/xaudit-${file#a/}.o" "$tmp/tool/$file.c" || bail 'no compiler'
done
is "$(inside "$tmp/tool" "$tmp/tool")" "a/includes.h
a/needs.c" 'a file that needs what is inside is found, and one that includes it'

ok 'the command has objects to look at' test "$(find "$top_builddir/tool" -name 'xaudit-*.o' | wc -l)" -gt 50
is "$(inside "$top_srcdir/tool" "$top_builddir/tool")" 'alloc/follow.c
perf/loads.c
record/trim.c
record/unmatched.c
trace/descriptors.h
trace/follow.c
trace/line.c
trace/line.h' 'those named above do, and no other file'
done_testing
