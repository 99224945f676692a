#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Rules that every source file keeps: a licence line, at most 600 lines of 120 columns, a reason at each atomic access
# and fence, no assembly outside of x86_64/, no include from a folder above its own; what X.c defines for others is
# declared in X.h; nothing is written twice. Only certain folders are compiled for threads of the program, none of the
# module's is a heap; and each test has its line in t/areas.
. "${top_srcdir:-.}/t/lib/tap.sh"

cd "$top_srcdir" || bail "no source folder $top_srcdir"
# What npm brought, and the page that is made of the sources in tool/html/page/, are not ours.
sources=$(find format x86_64 runtime audit tool t doc -name npm -prune -o -type f \
	\( -name '*.[chS]' -o -name '*.cc' -o -name '*.sh' -o -name '*.mk' -o -name '*.bash' -o -name '*.awk' -o \
	-name '*.t' -o -name '*.ts' -o -name '*.mjs' -o -name '*.css' -o -name '*.html' \) -print |
	grep -v -e '^x86_64/offsets\.h$' -e '^tool/html/page\.html$' | LC_ALL=C sort)
set -- $sources Makefile.am configure.ac bootstrap .ci/run t/areas
ok 'there are source files to look at' test $# -gt 20

missing=$(awk '/SPDX-License-Identifier: MIT/ && FNR <= 2 { has[FILENAME] }
	END { for (i = 1; i < ARGC; i++) if (!(ARGV[i] in has)) print ARGV[i] }' "$@")
is "$missing" '' 'each source file names its licence in its first two lines'

long=$(awk 'FNR == 601 { print FILENAME }' "$@")
is "$long" '' 'no source file is longer than 600 lines'

# One width, with tabs of 8. Tables of Markdown can't be wrapped.
wide() {
	awk '
	{ tabs = $0 }
	length + 7 * gsub(/\t/, "", tabs) > 120 && !(FILENAME ~ /[.]md$/ && /^[|]/) {
		columns = 0
		n = split($0, part, "\t")
		for (i = 1; i < n; i++)
			columns += length(part[i]) + 8 - (columns + length(part[i])) % 8
		columns += length(part[n])
		if (columns > 120)
			print FILENAME ":" FNR ": " columns " columns"
	}' "$@"
}
printf '%121s\n' x >"$tmp/wide.c"
printf '\t%112s\nabc\t%112s\n' x x >"$tmp/good.c"
printf '\t%113s\n' x >"$tmp/tab.c"
is "$(wide "$tmp/good.c" "$tmp/wide.c" "$tmp/tab.c")" "$tmp/wide.c:1: 121 columns
$tmp/tab.c:1: 121 columns" 'lines of 121 columns are found, and those of 120 are none'
# Others have no lines of code, but are read as such.
others=$(find doc t runtime/api audit tool -name npm -prune -o \( -name '*.py' -o -name '*.map' -o -name '*.in' -o \
	-name '*.supp' -o -path 't/fuzz/corpus/*.trace' -o -path tool/values/prototypes \) -print)
is "$(wide "$@" README NEWS doc/*.md doc/*.[1-8] $others)" '' 'no line is wider than 120 columns'

# Only whole folders are compiled for threads of the program.
threads() {
	awk '
	/_la_CFLAGS *=/ {
		folder = FILENAME
		sub(/[/]local[.]mk$/, "", folder)
		wants = folder ~ /(^|[/])(x86_64|runtime|runtime[/]handlers|audit[/](live|index|match|model))$/
		if (wants != /MODULE_THREAD_CFLAGS/)
			print FILENAME ":" FNR ": " $1
	}' "$@"
}
mkdir -p "$tmp/audit/live" "$tmp/audit/rules"
echo 'rules_la_CFLAGS = $(MODULE_THREAD_CFLAGS)' >"$tmp/audit/rules/local.mk"
echo 'live_la_CFLAGS = $(MODULE_CFLAGS)' >"$tmp/audit/live/local.mk"
is "$(threads "$tmp/audit/rules/local.mk" "$tmp/audit/live/local.mk" | wc -l)" 2 \
	'thread code in another folder is found, and other code among thread code'
is "$(threads $(find format x86_64 runtime audit tool -name local.mk))" '' \
	'thread code is in the folders that are compiled for it'

marks=$(grep -nE '\b(TODO|FIXME|XXX)\b' "$@" | grep -v '^t/docs/source-rules\.t:')
is "$marks" '' 'no mark of unfinished work is left'

# Each test has a line in t/areas, whose areas are folders that hold sources; each such folder has a test.
is "$(sed -n 's/^\(t[^ ]*\) .*/\1/p' t/areas)" \
	"$(sed '/^soak_tests/,/[^\\]$/d' t/local.mk t/*/local.mk | grep -o '\<t/[a-z]*/[a-z_-]*\.[tu]\>' |
		LC_ALL=C sort -u)" \
	't/areas has the tests that are in the lists, in order'
is "$(sed -n 's/^\(t[^ ]*\)[.][tu] .*/\1/p' t/areas | uniq -d)" '' 'no two tests have one log'
is "$(sed -n 's/^t[^ ]* //p' t/areas | tr ' ' '\n' | grep -vx all | LC_ALL=C sort -u)" \
	"$(for f in $(find format x86_64 runtime audit tool doc t -maxdepth 2 -name local.mk | LC_ALL=C sort); do
		case $f in t/*/*) ;; *) echo "${f%/*}" ;; esac
	done | LC_ALL=C sort)" 'and their areas are the folders of the source'
is "$(sed -n 's/^\(t[^ ]*\) .*/\1/p' t/areas | sed 's/\.u$/.c/' |
	xargs grep -lE 'XAUDIT_ALL|\$\(rounds |^[[:space:]]*more ' | sed 's/\.c$/.u/' |
	grep -v -e bootstrap -e source-rules | while read -r test; do
		grep -q "^$test .*\<all$" t/areas || echo "$test"
	done)" '' 'a test that does more where XAUDIT_ALL is 1 has the mark for that'

# git ignores the programs of C tests by their suffix: so no script may have it.
is "$(grep -l 'lib/tap\.sh' t/*/*.u 2>/dev/null)" '' 'no script has the suffix of programs of C tests'

# The reason of each ordering must be where it is used: on the line itself, in the three lines before it, or in the
# comment block that ends there.
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
# The machine: assembly only in x86_64/, and in public headers and libraries, which other projects compile.
assembly() {
	awk '
	FILENAME ~ /^(x86_64|runtime[/]api)[/]/ { next }
	(FNR == 1 && FILENAME ~ /[.]S$/) || /__asm__|(^|[^A-Za-z0-9_])asm *(volatile|[(])|__builtin_ia32/ ||
		/<([a-z/]*[/])?(x86|imm|cpu)[a-z]*[.]h>/ { print FILENAME ":" FNR ": " $0 }' "$@"
}
# Folders stand on those above them in the table of the file PLAN.
order() { # PLAN FILE...
	awk '
	function folder(path) {
		sub(/[^\/]*$/, "", path)
		return path
	}
	FILENAME == ARGV[1] {
		if (/^\| folder \|/)
			house = 1
		if (!/^\|/)
			house = 0
		if (house)
			rank[$2] = FNR
		next
	}
	FNR == 1 {
		own = folder(FILENAME)
		if (!(own in rank))
			print FILENAME ": has no row"
	}
	/^#[ \t]*include "(format|x86_64|runtime|audit|tool|t)\// {
		split($0, part, "\"")
		of = folder(part[2])
		if (of != own && (!(of in rank) || rank[of] > rank[own]))
			print FILENAME ":" FNR ": includes " part[2]
	}' "$@"
}

# What X.c defines for other files is declared in X.h beside it. The others are bound by name:
#	libc's functions, which the compiler calls		audit/freestanding.c
#	la_*, which ld.so calls					audit/audit.c
#	what trampolines call					x86_64/contract.h, with the file that has it
#	what programs call					public headers
#	main() of each command					tool/base/tool.h
#	a program's main(), and what is compiled alone		tool/main.c, x86_64/offsets.c
headers() { # FILE.c...
	awk '
	function load(path,    line, text) {
		while ((getline line < path) > 0)
			text = text line "\n"
		close(path)
		gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, "", text)
		return text
	}
	# As a function, not as part of another word.
	function has(text, name) {
		return text ~ ("(^|[^a-zA-Z0-9_])" name "\\(")
	}
	function is_bound(file, name) {
		return file == "audit/freestanding.c" || file == "x86_64/offsets.c" ||
			(file == "audit/audit.c" && name ~ /^la_/) || (file == "tool/main.c" && name == "main") ||
			contract[name] == file || (file ~ /^runtime[/]api[/]/ && has(api, name)) ||
			(name ~ /^xaudit_read_/ && has(reader, name)) || (name ~ /_main$/ && has(commands, name))
	}
	function defined(    name) {
		gsub(/__attribute__\(\([^()]*(\([^()]*\))?[^()]*\)\)/, "", signature)
		if (signature ~ /(^|[ \t])(static|[A-Z]+_INLINE)([ \t]|$)/ || !match(signature, /[a-zA-Z_0-9]+\(/))
			return
		name = substr(signature, RSTART, RLENGTH - 1)
		if (!has(own, name) && !is_bound(FILENAME, name))
			print FILENAME ": " name
	}
	BEGIN {
		api = load("runtime/api/xaudit.h") load("runtime/api/xray.h")
		reader = load("tool/read/api/xaudit-read.h") load("tool/read/api/xaudit-read-events.h") \
			load("tool/read/api/xaudit-read-facts.h") \
			load("tool/read/api/xaudit-read-frames.h") load("tool/read/api/xaudit-read-values.h")
		commands = load("tool/base/tool.h")
		while ((getline line < "x86_64/contract.h") > 0) {
			if (line ~ /^ \*\truntime[/].*:$/) {
				file = line
				gsub(/^ \*\t|:$/, "", file)
			} else if (file && line ~ /^ \*\t\t/) {
				n = split(substr(line, 5), part, /[ ,]+/)
				for (i = 1; i <= n; i++)
					contract[part[i]] = file
			} else
				file = ""
		}
	}
	FNR == 1 {
		path = FILENAME
		sub(/c$/, "h", path)
		own = load(path)
		signature = ""
	}
	/^\{/ { defined(); signature = ""; next }
	/^[a-zA-Z_]/ && !/;[ \t]*$/ { signature = $0; next }
	signature && /^[ \t]+[^ \t]/ { signature = signature " " $0; next }
	{ signature = "" }' "$@"
}

# Six lines that are equal letter by letter stand in one place; lines without a letter, and includes, are left out.
# Prints where the second piece begins, and where the first one does.
twins() {
	awk '
	FNR == 1 { count = 0 }
	!/[A-Za-z0-9]/ || /^#include/ { next }
	{
		line[count % 6] = $0
		at[count++ % 6] = FNR
		if (count < 6)
			next
		piece = ""
		for (i = count; i < count + 6; i++)
			piece = piece line[i % 6] "\n"
		if (piece in first)
			print FILENAME ":" at[count % 6] ": as " first[piece]
		else
			first[piece] = FILENAME ":" at[count % 6]
	}' "$@"
}

# No folder of the module is a heap.
heaps() { # MOST FOLDER...
	most=$1
	shift
	for folder in "$@"; do
		files=$(find "$folder" -maxdepth 1 -name '*.[chS]' | wc -l)
		[ "$files" -le "$most" ] || echo "$folder: $files files"
	done
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
mkdir tool
echo '#include "audit/live/a.h"' | tee audit/c.c >tool/c.c
printf '| folder |\n| x86_64/ |\n| audit/ |\n| audit/live/ |\n\n| tool/ |\n' >plan.md
is "$(order plan.md x86_64/b.c audit/b.c audit/c.c tool/c.c)" "x86_64/b.c:1: includes audit/a.h
audit/c.c:1: includes audit/live/a.h
tool/c.c: has no row
tool/c.c:1: includes audit/live/a.h" 'an include of what stands on a folder is found, and a folder that the table lacks'
printf '/* b() and c() */\nint a(int x);\nint cc(void);\n' >audit/e.h
printf 'int a(\n\tint x)\n{\n}\n\nint b(void)\n{\n}\n\nstatic int d(void)\n{\n}\n\nint c(void)\n{\n}\n' >audit/e.c
printf ' *\truntime/f.c:\n *\t\te, f\n *\truntime/g.c:\n *\t\tg\n' >x86_64/contract.h
printf 'int f(void)\n{\n}\n\nint g(void)\n{\n}\n' >runtime/f.c
is "$(headers audit/e.c runtime/f.c)" "audit/e.c: b
audit/e.c: c
runtime/f.c: g" 'a function that its header does not declare is found, and one that the contract has elsewhere'
printf 'a\n\nb\nc\nd\n}\ne\nf\n' | tee audit/twin.c >runtime/twin.c
printf 'a\nb\nc\nd\ne\n#include <f>\ng\n' >audit/five.c
is "$(twins audit/five.c audit/twin.c runtime/twin.c)" 'runtime/twin.c:1: as audit/twin.c:1' \
	'six lines that stand in two places are found'
is "$(heaps 1 runtime x86_64) $(heaps 3 runtime x86_64)" \
	"runtime: $(ls runtime | wc -l) files
x86_64: $(ls x86_64 | wc -l) files " 'a folder with too many files is found'
cd "$here" || bail 'no source folder'
set -- $(find format x86_64 runtime audit tool -name '*.[chS]' ! -name offsets.h)
is "$(assembly "$@")" '' 'assembly stands in x86_64/ alone'
is "$(order doc/design.md "$@")" '' 'no folder includes what stands on it in doc/design.md'
is "$(headers $(find format x86_64 runtime audit tool -name '*.c') | LC_ALL=C sort)" '' \
	'each function for other files is declared in the header of the file that defines it'
set -- "$@" $(find tool/html/page -name '*.ts')
is "$(twins $(printf '%s\n' "$@" | LC_ALL=C sort))" '' 'no six lines of what is built stand in two places'
is "$(heaps 24 $(find runtime audit -type d ! -path audit/live ! -name '.*')) $(heaps 48 audit/live)" ' ' \
	'no folder of runtime and audit has more than 24 sources, audit/live not more than 48'
is "$(find t -name '*.t' ! -perm -u=x)" '' 'each test in shell can be executed'
done_testing
