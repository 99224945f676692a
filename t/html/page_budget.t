#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What a page of a large trace takes in Chromium: time until one can use it, script time of frames, memory. Only the
# long form, with 300 threads, 2000 rows and 12 windows of 100 000 calls, fails where it takes more than it should.
. "${top_srcdir:-.}/t/html/browser.sh"

ok 'the page is built' bounded 60 node "$page/build.mjs" "$tmp/page.html"
kind=half assert=
more eval 'kind=many assert=assert'
ok "a page is made: $kind" bounded 120 node "$beside/make_page.mjs" "$tmp/page.html" "$tmp/large.html" "$kind"
browser page_budget.mjs "$tmp/large.html" $assert
done_testing
