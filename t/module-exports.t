#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What libxaudit.so shows to ld.so: the audit interface and nothing else; what it needs at start-up: libc; no page that is writable and executable.
. "${top_srcdir:-.}/t/tap.sh"

need readelf nm
skip_sanitized
[ -f "$MODULE" ] || bail "no module $MODULE"

exports=$(nm -D --defined-only "$MODULE" | awk '{ print $3 }' | grep -v '^la_')
is "$exports" '' 'all exported symbols begin with la_'
ok 'la_version is exported' sh -c 'nm -D --defined-only "$MODULE" | grep -q " la_version$"'

needed=$(readelf -dW "$MODULE" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -v -e '^libubsan' | LC_ALL=C sort | tr '\n' ' ')
# inih comes from its archive where that can be linked.
is "${needed%libinih.so.1 }" 'libc.so.6 ' 'it needs libc, and libinih at most'

sites=${MODULE%.so}-sites.so
is "$(nm -D --defined-only "$sites" | awk '{ print $3 }' | LC_ALL=C sort | tr '\n' ' ')" 'site_free site_scan ' 'libxaudit-sites.so exports site discovery only'
needed=$(readelf -dW "$sites" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -v -e '^libubsan' | LC_ALL=C sort | tr '\n' ' ')
is "$needed" 'libc.so.6 libelf.so.1 ' 'libxaudit-sites.so needs libc and libelf'

segments=$(readelf -lW "$MODULE" | grep -E 'RWE|R E.*GNU_STACK|GNU_STACK.* E ')
is "$segments" '' 'no segment is writable and executable, the stack neither'
unlike "$(readelf -dW "$MODULE")" '\(TEXTREL\)' 'its text has no relocations'
like "$(readelf -dW "$MODULE")" 'BIND_NOW|FLAGS_1.*NOW' 'it is bound at load'
done_testing
