#!/bin/sh
# SPDX-License-Identifier: MIT
#
# build-page.sh SOURCE OUT NPM NODE: makes the page of `xaudit html`, OUT, of what is in SOURCE/page, if there is none
# yet or it is older. SOURCE/page.html came with the tarball: if nothing in SOURCE/page is newer, it is taken as it is.
# Else npm gets the modules, once, and esbuild bundles the page. Where that can't be done, OUT is a page without a place
# for data, so that `xaudit html` can say why it has none; all else is built as ever.
set -u

source=$1 out=$2 npm=$3 node=$4
mark='XAUDIT-DATA'
modules=$(dirname "$out")/npm

# fresh PAGE: it is a page, and no source is newer.
fresh() {
	[ -f "$1" ] && grep -q "$mark" "$1" || return
	newer=$(find "$source/page" -name node_modules -prune -o -type f -newer "$1" -print 2>/dev/null)
	[ -z "$newer" ]
}

# placeholder WHY: what was made before stays, though it is older.
placeholder() {
	grep -qs "$mark" "$out" && return
	echo "xaudit html and xaudit view will not work: $1" >&2
	echo '<!-- no page: xaudit was built without npm -->' >"$out.new" && mv -f "$out.new" "$out"
}

# In the source folder both are one file.
same() {
	[ "$source/page.html" -ef "$out" ]
}

if fresh "$out"; then
	exit 0
elif ! same && { fresh "$source/page.html" || [ -z "$npm$node" ]; } && grep -qs "$mark" "$source/page.html"; then
	cp -f "$source/page.html" "$out.new" && chmod u+w "$out.new" && mv -f "$out.new" "$out"
	exit
elif [ -z "$npm" ] || [ -z "$node" ] || [ ! -f "$source/page/build.mjs" ]; then
	placeholder 'there is no npm to build their page with'
	exit 0
fi

# The modules, from the network or from npm's cache, unless those of this list are there.
if ! cmp -s "$source/page/package-lock.json" "$modules/installed" || [ ! -d "$modules/node_modules" ]; then
	rm -rf "$modules"
	mkdir -p "$modules" && cp "$source/page/package.json" "$source/page/package-lock.json" "$modules" || exit 1
	if (cd "$modules" && "$npm" ci --omit=dev --prefer-offline --no-audit --no-fund --loglevel=error) >&2; then
		cp "$modules/package-lock.json" "$modules/installed"
	else
		placeholder "npm could not get the modules of $source/page/package.json; make tries it again"
		exit 0
	fi
fi
rm -f "$out.new"
XAUDIT_NODE_MODULES=$(cd "$modules/node_modules" && pwd) "$node" "$source/page/build.mjs" "$out.new" || exit 1
mv -f "$out.new" "$out"
