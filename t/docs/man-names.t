#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The pages of section 3 have all functions that the libraries export, and no others; and each of these is found by its
# name where the pages are installed.
. "${top_srcdir:-.}/t/lib/tap.sh"

need nm
skip_sanitized

# exported LIBRARY: its functions that begin with xaudit_. named PAGE, synopsis PAGE: those that the page lists.
exported() {
	nm -D --defined-only "$top_builddir/.libs/$1" | sed -n 's/.* [TW] \(xaudit_[a-z_0-9]*\).*/\1/p' | sort -u
}
named() {
	sed -n '/^\.Sh NAME/,/^\.Nd/s/^\.Nm \(xaudit_[a-z_0-9]*\).*/\1/p' "$top_srcdir/doc/$1" | sort
}
synopsis() {
	sed -n '/^\.Sh SYNOPSIS/,/^\.Sh DESC/s/^\.F[no] \(xaudit_[a-z_0-9]*\).*/\1/p' "$top_srcdir/doc/$1" | sort
}
for pair in libxaudit-read.so:xaudit-read.3 libxaudit-api.so:xaudit-api.3; do
	library=${pair%:*} page=${pair#*:}
	ok "$library has functions" test "$(exported "$library" | wc -l)" -gt 10
	is "$(named "$page")" "$(exported "$library")" "NAME of $page has what $library exports"
	is "$(synopsis "$page")" "$(exported "$library")" 'so has its synopsis'
	is "$(sed '1,/^\.Sh DESCRIPTION/d' "$top_srcdir/doc/$page" >"$tmp/text"
		exported "$library" | while read -r name; do grep -qw "$name" "$tmp/text" || echo "$name"; done)" '' \
		'and its text tells of each'
done

# ---- what is installed ----

root=$tmp/root
make -C "$top_builddir" DESTDIR="$root" install-man install-data-hook >"$tmp/install" 2>&1 ||
	{ diag "$(cat "$tmp/install")"; bail 'make install-man failed'; }
man=$(find "$root" -type d -name man3)
missing=
for name in $(exported libxaudit-read.so) $(exported libxaudit-api.so) __xray_patch XAUDIT_EVENT; do
	[ -f "$man/$name.3" ] || missing="$missing $name"
done
is "$missing" '' 'each function has a page'
is "$(cat "$man/xaudit_read_open.3")" '.so man3/xaudit-read.3' 'which is that of its library'
is "$(stat -c %a "$man/xaudit_read_open.3")" 644 'for everybody'
if command -v man >/dev/null && [ -z "$(man -M "${man%/*}" xaudit_mark 2>&1 >/dev/null)" ]; then
	like "$(MANPAGER=cat man -M "${man%/*}" xaudit_mark 2>&1)" \
		'what a program can say to xaudit' 'man finds it'
else
	skip 1 'no man(1) here that reads pages'
fi
echo mine >"$man/xaudit_read_close.3"
make -C "$top_builddir" DESTDIR="$root" uninstall-man uninstall-hook >"$tmp/install" 2>&1
is "$(ls "$man")" xaudit_read_close.3 "uninstall takes away what install made, and no one else's page"
done_testing
