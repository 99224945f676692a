#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Rules that every source file keeps: a licence line, at most 600 lines, and a reason beside each atomic access and
# fence.
. "${top_srcdir:-.}/t/lib/tap.sh"

cd "$top_srcdir" || bail "no source folder $top_srcdir"
sources=$(find format x86_64 runtime audit tool t doc -type f \
	\( -name '*.[chS]' -o -name '*.cc' -o -name '*.sh' -o -name '*.mk' -o -name '*.bash' -o -name '*.t' \) |
	grep -v -e '^x86_64/offsets\.h$' | LC_ALL=C sort)
scripts=$(for f in $sources; do
	case $f in
	# A program of a C test lies beside its source when the source folder is the build folder.
	*.t) if head -c 2 "$f" | grep -q '^#!'; then echo "$f"; fi ;;
	*) echo "$f" ;;
	esac
done)
set -- $scripts Makefile.am configure.ac
ok 'there are source files to look at' test $# -gt 20

missing=$(for f; do head -n 2 "$f" | grep -q 'SPDX-License-Identifier: MIT' || echo "$f"; done)
is "$missing" '' 'each source file names its licence in its first two lines'

long=$(for f; do awk -v f="$f" 'END { if (NR > 600) print f ": " NR " lines" }' "$f"; done)
is "$long" '' 'no source file is longer than 600 lines'

marks=$(grep -nE '\b(TODO|FIXME|XXX)\b' "$@" | grep -v '^t/whole/source-rules\.t:')
is "$marks" '' 'no mark of unfinished work is left'

# Programs of C tests are ignored by one pattern: so no script may lie among them.
is "$(grep -l 'lib/tap\.sh' t/unit/*.t 2>/dev/null)" '' 'no script lies where programs of C tests are made'

# Whoever changes an ordering later must find why it is there: on the line itself, in the three lines before it, or in
# the comment block that ends there.
atomics() {
	awk '
	FNR == 1 { last = -9; open = 0 }
	{
		comment = open || /\/\*/ || /\/\//
		if (comment)
			last = FNR
		if (/\/\*/ && !/\*\//)
			open = 1
		else if (/\*\//)
			open = 0
		code = $0
		sub(/\/\*.*/, "", code)
		if (code !~ /^[ \t]*\*/ && !(comment && code == "") &&
			(code ~ /__atomic_|__sync_|atomic_(load|store|exchange|compare|fetch)/ ||
				code ~ /atomic_(thread|signal)_fence|[^_a-z][lms]fence/) && FNR - last > 3)
			print FILENAME ":" FNR ": " $0
	}' "$@"
}

# The check itself must be able to fail.
printf 'int f(int *p)\n{\n\n\n\treturn __atomic_load_n(p, __ATOMIC_ACQUIRE);\n}\n' >"$tmp/bare.c"
printf 'int f(int *p)\n{\n\t/* pairs with g() */\n\treturn __atomic_load_n(p, __ATOMIC_ACQUIRE);\n}\n' >"$tmp/told.c"
is "$(atomics "$tmp/bare.c" | wc -l)" 1 'an atomic access without a comment is found'
is "$(atomics "$tmp/told.c")" '' 'an atomic access with a comment is accepted'
set -- $(find format x86_64 runtime audit -name '*.[chS]' ! -name offsets.h)
is "$(atomics "$@")" '' 'each atomic access and fence of the module has a comment on its line or the three before'
done_testing
