#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Handlers set through xaudit.h, under the module; handlers in a plugin that is closed.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

include="-I$top_srcdir -I$top_srcdir/runtime/api"
static=$top_builddir/libxaudit-api.a
library "$CC" libcounted.so api_parts.c $include -DPART_COUNTED -fpatchable-function-entry=5
library "$CC" plugin.so handlers_plugin.c $include -Wall -Wextra -Werror "$static"
program "$CC" handlers handlers_api.c $include -Wall -Wextra -Werror "$static" -L. -lcounted -lpthread

is "$(bounded 60 ./handlers ./plugin.so)" \
	' -38 -38 -38 -38 -38 -38 -38 -38 -38 -38; -38 -38; -38 -38 -38 -38 -38 -38 -38 -38 -38 -38; -38; 0 0 0 0 0 0 '\
'0 0 0 0; wrong 0 same object 1' \
	'without the module each call answers ENOSYS'
record d -l libcounted.so ./handlers ./plugin.so
is "$out" ' 0 0 0 0 0 0 0 0 0 0; -22 -22; 0 0 0 0 0 0 0 0 0 0; -22; 1 1 0 0 1 1 1 0 1 1; wrong 0 same object 1' \
	'with it each handler is told its events, and no more when it is removed'
is "$err" '' 'and nothing is said'
report d
is "$(calls api_counted) $(sums)" '3 0 lost 0 unfinished' 'the recorder has all calls, with that inside of a handler'

record d -l libcounted.so --mode=ring --ring=256k ./handlers ./plugin.so 300
is "$out$err" '300 rounds, called in most' 'a plugin with handlers is closed 300 times while threads are in them'
done_testing
