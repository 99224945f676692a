#!/bin/sh
# SPDX-License-Identifier: MIT
#
# All that xaudit index allows, done: every function of every library of a program is displaced, and programs that we
# did not write do what they did.
. "${top_srcdir:-.}/t/lib/tap.sh"

need python3 ldd
skip_sanitized
[ -x "$XAUDIT" ] || bail "no $XAUDIT"
cd "$tmp" || bail 'no temporary folder'
"$CC" -O2 -shared -fPIC "-I$top_srcdir" -o apply.so "$beside/index_apply.c" \
	"$top_builddir/audit/index/.libs/libindex.a" "$top_builddir/audit/match/.libs/libmatch.a" \
	"$top_builddir/x86_64/.libs/libsled.a" 2>err || bail "$(cat err)"

# A program's libraries, and itself: all but ld.so.
objects() {
	command -v "$1"
	ldd "$(command -v "$1")" | sed -n 's,.*=> \(/.*\) (.*,\1,p'
}
# same NAME PROGRAM COMMAND: with the program's objects displaced it does what it did, and almost all of them were.
same() {
	name=$1
	# t/sites/entry_programs.t runs all of them, and traces them.
	case $name$XAUDIT_ALL$XAUDIT_SOAK in
	python | openssl | *1) ;;
	*) return ;;
	esac
	if ! command -v "$2" >/dev/null; then
		skip 2 "no $2 here"
		return
	fi
	bounded 120 "$XAUDIT" index --cache=cache $(objects "$2") >/dev/null 2>err || bail "no index: $(cat err)"
	rm -f report
	timeout 120 sh -c "$3" >plain 2>&1
	plain=$?
	APPLY_CACHE=$tmp/cache APPLY_OBJECTS=/ APPLY_REPORT=$tmp/report LD_PRELOAD=$tmp/apply.so \
		timeout 300 sh -c "$3" >displaced 2>&1
	is "$? $(cat displaced)" "$plain $(cat plain)" "$name does the same"
	# path, functions, displaced, with other bytes
	ok "$name: nearly all of its functions were displaced" awk '
		{ all += $2; done += $3; other += $4 }
		END { print all + 0, done + 0, other + 0; exit !(all > 3000 && done >= all * 0.97 && !other) }' report
}

. "$top_srcdir/t/lib/workloads.sh"
done_testing
