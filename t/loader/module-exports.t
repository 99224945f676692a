#!/bin/sh
# SPDX-License-Identifier: MIT
#
# libxaudit.so exports the audit interface for ld.so, one symbol for xaudit ctl, and nothing else. It needs no library,
# whose cost each start would have, and has no page that is writable and executable.
. "${top_srcdir:-.}/t/lib/tap.sh"

need readelf nm
skip_sanitized
[ -f "$MODULE" ] || bail "no module $MODULE"

exports=$(nm -D --defined-only "$MODULE" | awk '{ print $3 }' | grep -v '^la_')
is "$exports" xaudit_control 'all exported symbols but the one for xaudit ctl begin with la_'
ok 'la_version is exported' sh -c 'nm -D --defined-only "$MODULE" | grep -q " la_version$"'

is "$(readelf -dW "$MODULE" | grep '(NEEDED)')" '' 'it needs no library'
is "$(nm -D --undefined-only "$MODULE")" '' 'and no symbol of others'

segments=$(readelf -lW "$MODULE" | grep -E 'RWE|R E.*GNU_STACK|GNU_STACK.* E ')
is "$segments" '' 'no segment is writable and executable, the stack neither'
unlike "$(readelf -dW "$MODULE")" '\(TEXTREL\)' 'its text has no relocations'
like "$(readelf -dW "$MODULE")" 'BIND_NOW|FLAGS_1.*NOW' 'it is bound at load'
done_testing
