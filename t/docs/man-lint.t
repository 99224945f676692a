#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The man pages are clean for mandoc's linter.
. "${top_srcdir:-.}/t/lib/tap.sh"

need mandoc
set -- "$top_srcdir"/doc/*.[1-8]
[ -e "$1" ] || skip_all 'no man page in doc/'

for page; do
	# -W style reports everything. It also looks for the pages of SEE ALSO in the system, where ours need not be
	# installed, and installed pages need not be in the index.
	complaints=$(mandoc -T lint -W style "$page" 2>&1 |
		grep -v -e 'referenced manual not found' -e 'outdated mandoc.db lacks')
	is "$complaints" '' "mandoc finds no fault in ${page##*/}"
done
done_testing
