#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Code that program threads run calls nothing but itself: no function of libc, no lazy TLS, no helper of the compiler.
. "${top_srcdir:-.}/t/lib/tap.sh"

need nm
skip_sanitized

threads="$top_builddir/x86_64/.libs/libx86_64.a $top_builddir/runtime/.libs/libruntime.a"
threads="$threads $top_builddir/runtime/.libs/libbase.a $top_builddir/audit/live/.libs/liblive.a"
threads="$threads $top_builddir/audit/live/.libs/libmatch.a $top_builddir/x86_64/.libs/libsled.a"
audit=$top_builddir/audit/.libs/libaudit.a
for archive in $threads $audit; do
	[ -f "$archive" ] || bail "no $archive"
done

# imports ARCHIVE...: symbols that none of these defines. Of audit/, its tables may be read.
imports() {
	nm --defined-only "$@" 2>/dev/null | awk 'NF == 3 { print $3 }' >"$tmp/defined"
	nm --defined-only "$audit" 2>/dev/null | awk 'NF == 3 && $2 ~ /^[BDR]$/ { print $3 }' >>"$tmp/defined"
	nm -u "$@" 2>/dev/null | awk 'NF == 2 && $1 == "U" { print $2 }' | grep -v '^_GLOBAL_OFFSET_TABLE_$' |
		LC_ALL=C sort -u >"$tmp/undefined"
	grep -vxF -f "$tmp/defined" "$tmp/undefined"
}

# The check itself must be able to fail.
printf 'unsigned long strlen(const char *);\nunsigned long f(const char *s);\n'\
'unsigned long f(const char *s) { return strlen(s) + 1; }\n' >"$tmp/f.c"
$CC -O2 -fPIC -fno-builtin -c -o "$tmp/f.o" "$tmp/f.c" || bail 'no compiler'
is "$(imports "$tmp/f.o")" strlen 'a call of libc is found'

ok 'there are objects to look at' test "$(nm --defined-only $threads 2>/dev/null | grep -c ' [TtDdBb] ')" -gt 10
is "$(imports $threads)" '' 'what program threads run calls no function of libc'
done_testing
