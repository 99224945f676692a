#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What a page of a large trace takes in Chromium: time until one can use it, script time of frames, memory. Only the
# long form fails where it takes more than it should: with 300 threads, 2000 rows and 12 windows of 100 000 calls, and
# with the page that xaudit html makes of 100 million events.
. "${top_srcdir:-.}/t/html/browser.sh"
. "$top_srcdir/t/lib/written.sh"
. "$top_srcdir/t/lib/work.sh"

ok 'the page is built' bounded 60 node "$page/build.mjs" "$tmp/page.html"
if [ -z "$XAUDIT_ALL$XAUDIT_SOAK" ]; then
	ok 'a page is made' bounded 60 node "$beside/make_page.mjs" "$tmp/page.html" "$tmp/half.html" half
	browser page_budget.mjs "$tmp/half.html"
	done_testing
	exit
fi
ok 'a page is made' bounded 120 node "$beside/make_page.mjs" "$tmp/page.html" "$tmp/many.html" many
browser page_budget.mjs "$tmp/many.html" assert
rm "$tmp/many.html"
work 300 333333 | write_trace hundred
bounded 120 "$XAUDIT" html -o "$tmp/hundred.html" "$tmp/hundred" >"$tmp/out" 2>&1
is "$? $(cat "$tmp/out")" '0 ' 'a page is made of 100 million events in 300 threads'
rm -rf "$tmp/hundred"
browser page_budget.mjs "$tmp/hundred.html" assert
done_testing
