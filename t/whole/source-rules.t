#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Rules that every source file keeps: a licence line, at most 600 lines, a reason beside each atomic access and fence, no
# assembly outside of x86_64/, no include of what stands on its folder.
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
# The machine: no assembly but in x86_64/ and in public headers and libraries, which other compilations see.
assembly() {
	for f; do
		case $f in
		x86_64/* | runtime/api/* | t/*) continue ;;
		*.S) echo "$f" ;;
		*) grep -nE '__asm__|(^|[^[:alnum:]_])asm *(volatile|[(])|__builtin_ia32|<([a-z/]*/)?(x86|imm|cpu)[a-z]*\.h>' "$f" |
			sed "s,^,$f:," ;;
		esac
	done
}
# Folders stand on those before them: format, x86_64, runtime, audit; the command uses what it links.
order() {
	awk '
	function rank(path) {
		sub(/\/.*/, "", path)
		return index(" format x86_64 runtime audit tool t ", " " path " ")
	}
	/^#[ \t]*include "(format|x86_64|runtime|audit|tool|t)\// {
		split($0, part, "\"")
		if (rank(part[2]) > rank(FILENAME))
			print FILENAME ":" FNR ": includes " part[2]
	}' "$@"
}

# Each of them must be able to fail.
here=$(pwd)
cd "$tmp" || bail 'no temporary folder'
mkdir -p x86_64 runtime audit
echo 'int f(void) { __asm__ volatile("nop"); }' | tee audit/a.c >x86_64/a.c
echo '#include <sys/platform/x86.h>' >runtime/a.c
is "$(assembly audit/a.c x86_64/a.c runtime/a.c | cut -d: -f1 | tr '\n' ' ')" 'audit/a.c runtime/a.c ' \
	'assembly outside of x86_64/ is found'
echo '#include "audit/a.h"' | tee x86_64/b.c >audit/b.c
is "$(order x86_64/b.c audit/b.c)" 'x86_64/b.c:1: includes audit/a.h' 'an include of what stands above is found'
cd "$here" || bail 'no source folder'
set -- $(find format x86_64 runtime audit tool -name '*.[chS]' ! -name offsets.h)
is "$(assembly "$@")" '' 'assembly stands in x86_64/ alone'
is "$(order "$@")" '' 'no folder includes what stands on it'
done_testing
