#!/bin/sh
# SPDX-License-Identifier: MIT
#
# From a program to its picture: recorded, made into a page by xaudit html, and looked at in Chromium. Its numbers are
# those of the report.
. "${top_srcdir:-.}/t/html/browser.sh"

skip_sanitized
[ -n "$CXX" ] || skip_all 'no C++ compiler here'
cd "$tmp" || bail 'no temporary folder'
$CXX -O1 -g -fno-inline -fno-optimize-sibling-calls -fPIC -shared -I"$beside" -o libshop.so "$beside/page_library.cc" ||
	bail 'the library does not compile'
$CXX -O1 -g -I"$beside" -I"$top_srcdir/runtime/api" -o shop "$beside/page_program.cc" -L. -lshop -Wl,-rpath,"$tmp" \
	"$top_builddir/libxaudit-api.a" -pthread || bail 'the program does not compile'
unset XAUDIT_CONFIG
bounded 120 "$XAUDIT" record -o trace -k entry -l libshop.so --sched -A 'shop::Server::handle' \
	-A 'shop::Database::query' -- ./shop 4 200 >out 2>said
is "$? $(cat said)" '0 ' 'the program is recorded'
ok 'the report is written' sh -c '"$XAUDIT" report --format=json trace >report.json'
bounded 60 "$XAUDIT" html -o shop.html trace >out 2>said
is "$? $(cat said)" '0 ' 'the page is written'
[ -s shop.html ] || bail 'no page'
browser page_live.mjs "$tmp/shop.html" "$tmp/report.json" ${XAUDIT_PICTURE:+"$XAUDIT_PICTURE"}
done_testing
