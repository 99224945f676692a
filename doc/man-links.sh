#!/bin/sh
# SPDX-License-Identifier: MIT
#
# man-links.sh install|uninstall MANDIR PAGE...: a page for each name that these pages have in their section NAME, so
# that `man xaudit_read_open` finds the page that tells of it. PAGE: path of a page of section 3, which is installed in
# MANDIR/man3. uninstall removes what install made, and nothing else.
set -e
what=$1 to=$2/man3
shift 2
[ "$what" != install ] || mkdir -p "$to"

for page; do
	file=${page##*/}
	# The page's own name is the page.
	for name in $(sed -n '/^\.Sh NAME/,/^\.Nd/s/^\.Nm \([^ ]*\).*/\1/p' "$page"); do
		link=$to/$name.3
		[ "$name.3" != "$file" ] || continue
		case $what in
		install)
			printf '.so man3/%s\n' "$file" >"$link"
			chmod 644 "$link"
			;;
		uninstall)
			[ "$(cat "$link" 2>/dev/null)" != ".so man3/$file" ] || rm -f "$link"
			;;
		esac
	done
done
