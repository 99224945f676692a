#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The page of `xaudit html`, in Chromium, with made traces (make_page.mjs): what it shows, how one moves in it, what it
# finds, and that names do no harm. Its types are checked, and it is the same each time it is built.
. "${top_srcdir:-.}/t/lib/tap.sh"

need node chromium
page=$top_srcdir/tool/html/page
for modules in "${XAUDIT_NODE_MODULES-}" "$top_builddir/tool/html/node_modules" "$page/node_modules" ''; do
	[ -z "$modules" ] || [ ! -d "$modules/puppeteer-core" ] || break
done
[ -n "$modules" ] || skip_all 'no puppeteer-core here: npm was missing when this was built'
XAUDIT_NODE_MODULES=$modules CHROMIUM=$(command -v chromium) CHROMIUM_FOLDER=$tmp/chromium HOME=$tmp
export XAUDIT_NODE_MODULES CHROMIUM CHROMIUM_FOLDER HOME

# results FILE: a check for each line that the script said; the script's own end is one, too.
results() {
	while IFS='	' read -r word sentence seen; do
		tap_status=0
		[ "$word" = ok ] || tap_status=1
		tap_check "$tap_status" "$sentence" || diag "$seen"
	done <"$1"
}
browser() { # SCRIPT ARGUMENT...
	script=$1
	shift
	status=0
	bounded 240 node "$beside/$script" "$@" >"$tmp/said" 2>"$tmp/errors" || status=$?
	results "$tmp/said"
	is "$status $(cat "$tmp/errors")" '0 ' "$script came to its end"
}

ok 'the types are right' bounded 120 "$modules/.bin/tsc" --noEmit -p "$page" --typeRoots "$modules/@types"
ok 'the page is built' bounded 60 node "$page/build.mjs" "$tmp/page.html"
ok 'and once more' bounded 60 node "$page/build.mjs" "$tmp/again.html"
ok 'it is the same' cmp "$tmp/page.html" "$tmp/again.html"
is "$(grep -c '^<!--XAUDIT-DATA-->$' "$tmp/page.html")" 1 'one line is for the data'
loads='(src|href|action)=["'\''][^"'\'']*|url\([^)]*\)|@import'
is "$(grep -oE "$loads" "$tmp/page.html")" '' 'it names nothing else to load'
like "$(cat "$tmp/page.html")" 'Permission is hereby granted, free of charge' "uPlot's licence is in it"
is "$(grep -c '"resolved"' "$page/package-lock.json")" 0 'the lock file has no addresses'

for kind in known hostile; do
	ok "a page is made: $kind" bounded 60 node "$beside/make_page.mjs" "$tmp/page.html" "$tmp/$kind.html" $kind
done
sed 's/"format":1,/"format":99,/' "$tmp/known.html" >"$tmp/broken.html"
browser page_known.mjs "$tmp/known.html"
browser page_hostile.mjs "$tmp/hostile.html" "$tmp/broken.html"
done_testing
