#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The page of `xaudit html`, in Chromium, with made traces (make_page.mjs): what it shows, how one moves in it, what it
# finds, and that names do no harm. Its types are checked, and it is the same each time it is built.
. "${top_srcdir:-.}/t/html/browser.sh"

cat >"$tmp/tsconfig.json" <<END
{ "extends": "$page/tsconfig.json", "include": ["$page/src"],
	"compilerOptions": { "paths": { "uplot": ["$modules/uplot/dist/uPlot.d.ts"] } } }
END
ok 'the types are right' bounded 120 "$modules/.bin/tsc" --noEmit -p "$tmp/tsconfig.json"
echo 'export const wrong: number = "text";' >"$tmp/wrong.ts"
sed "s|\[\"$page/src\"\]|[\"$tmp/wrong.ts\"]|" "$tmp/tsconfig.json" >"$tmp/wrong.json"
like "$(bounded 120 "$modules/.bin/tsc" --noEmit -p "$tmp/wrong.json")" 'wrong\.ts.*TS2322' 'and a wrong one is found'
ok 'the page is built' bounded 60 node "$page/build.mjs" "$tmp/page.html"
ok 'and once more' bounded 60 node "$page/build.mjs" "$tmp/again.html"
ok 'it is the same' cmp "$tmp/page.html" "$tmp/again.html"
is "$(grep -c '^<!--XAUDIT-DATA-->$' "$tmp/page.html")" 1 'one line is for the data'
loads='(src|href|action)=["'\''][^"'\'']*|url\([^)]*\)|@import'
is "$(grep -oE "$loads" "$tmp/page.html")" '' 'it names nothing else to load'
like "$(cat "$tmp/page.html")" 'Permission is hereby granted, free of charge' "uPlot's licence is in it"
is "$(grep -c '"resolved"' "$page/package-lock.json")" 0 'the lock file has no addresses'

for kind in known hostile empty; do
	ok "a page is made: $kind" bounded 60 node "$beside/make_page.mjs" "$tmp/page.html" "$tmp/$kind.html" $kind
done
sed 's/"format":1,/"format":99,/' "$tmp/known.html" >"$tmp/broken.html"
browser page_known.mjs "$tmp/known.html" "$tmp/empty.html"
browser page_hostile.mjs "$tmp/hostile.html" "$tmp/broken.html"
done_testing
