#!/bin/sh
# SPDX-License-Identifier: MIT
#
# libxaudit-read as other programs have it: what it exports, what is installed, and the examples, which say what xaudit
# report says.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/written.sh"

need nm
skip_sanitized
library=$top_builddir/.libs/libxaudit-read.so
headers=$top_srcdir/tool/read/api
[ -f "$library" ] || bail "no $library: run make check"

# ---- what it exports ----

# Declared in a header: names before a parenthesis, outside of comments.
cat "$headers"/xaudit-read*.h | sed 's,//.*,,; s,/\*.*\*/,,; /\/\*/,/\*\//d' | grep -o 'xaudit_read_[a-z_0-9]*(' |
	tr -d '(' | LC_ALL=C sort -u >"$tmp/declared"
nm -D --defined-only "$library" | awk '$2 != "A" { sub("@.*", "", $3); print $3 }' | LC_ALL=C sort >"$tmp/exported"
ok 'many functions are declared' test "$(wc -l <"$tmp/declared")" -gt 20
is "$(diff "$tmp/declared" "$tmp/exported")" '' 'it exports the functions of its headers, and no others'
is "$(nm -D --undefined-only "$library" | grep -w -e printf -e puts -e exit -e _exit -e abort -e signal -e sigaction \
	-e stdout -e stderr)" '' 'it can neither print nor end the process'

# ---- what is installed ----

# Only this library's: of libxaudit-api there is a test already.
root=$tmp/root
unset MAKEFLAGS MFLAGS MAKELEVEL
make -C "$top_builddir" DESTDIR="$root" install-libLTLIBRARIES install-includeHEADERS install-nodist_pkgconfigDATA \
	>"$tmp/install" 2>&1 || { diag "$(cat "$tmp/install")"; bail 'make install failed'; }
pc=$(find "$root" -name xaudit-read.pc)
ok 'there is a file for pkg-config' test -f "$pc"
PKG_CONFIG_PATH=${pc%/*}
PKG_CONFIG_SYSROOT_DIR=$root
export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR
installed=$(find "$root" -name libxaudit-read.so.0)
ok 'it is there under the name that programs are linked with' test -f "$installed"
LD_LIBRARY_PATH=${installed%/*}
export LD_LIBRARY_PATH
flags=$(pkg-config --cflags --libs xaudit-read 2>"$tmp/err") || diag "$(cat "$tmp/err")"
$CC -std=c11 -O2 -Wall -Wextra -Wpedantic -Werror -o "$tmp/calls" "$top_srcdir/doc/examples/calls.c" $flags \
	2>"$tmp/err"
ok 'the example is compiled as it says' test -x "$tmp/calls" || diag "$(cat "$tmp/err")"

# Compilers and languages that users have, old and new. All of them know long long.
has() {
	command -v "${1%% *}" >/dev/null
}
includes=$(pkg-config --cflags xaudit-read)
clang=${CLANG:-clang}
clangxx=$(echo "${clang%% *}" | sed 's/clang/clang++/')
# compiles COMPILER STANDARD LANGUAGE: what is on stdin, without any warning
compiles() {
	$1 -std="$2" -pedantic -Wall -Wextra -Wno-long-long -Werror -fsyntax-only $includes -x "$3" - 2>"$tmp/err" ||
		{ diag "$(cat "$tmp/err")"; return 1; }
}
for header in xaudit-read xaudit-read-events xaudit-read-facts xaudit-read-frames xaudit-read-values; do
	# Macros are only looked at where they are used.
	cat >"$tmp/alone" <<-END
		#include <$header.h>
		static uint64_t unknown(const struct xaudit_read_options *o) { return o->pid + XAUDIT_READ_UNKNOWN; }
		uint32_t use(const struct xaudit_read_options *o);
		uint32_t use(const struct xaudit_read_options *o)
		{
			return o->size && unknown(o) ? XAUDIT_READ_ALL_CPUS : 0;
		}
	END
	for std in c89 c99 c11 c++98 c++20; do
		case $std in
		c++*) language=c++ compilers="$CXX|$clangxx" ;;
		*) language=c compilers="$CC|$clang" ;;
		esac
		for compiler in "${compilers%%|*}" "${compilers#*|}"; do
			if has "$compiler"; then
				ok "$header.h stands alone, in $std by ${compiler%% *}" \
					compiles "$compiler" $std $language <"$tmp/alone"
			else
				skip 1 "no ${compiler%% *}"
			fi
		done
	done
done
is "$(echo 'enum e { A, };' | compiles "$CC" c89 c 2>&1 | grep -c 'comma at end')" 1 \
	'a header with a warning would be found'

# ---- the examples ----

# rows: "calls total self function library" of objects of JSON, one per line.
text='"\([^"]*\)"' number='\([0-9]*\)'
rows() {
	sed 's/": /":/g; s/, "/,"/g' | sed -n "s/^.*\"function\":$text,\"library\":$text,\"calls\":$number,$(
		)\"total_ns\":$number,\"self_ns\":$number.*$/\3 \4 \5 \1 \2/p" | LC_ALL=C sort
}

# reports NAME: of the trace in $tmp/NAME, the examples say what report says.
reports() {
	bounded 60 "$XAUDIT" report --format=json "$tmp/$1" >"$tmp/report" 2>"$tmp/report.err"
	status=$?
	grep '^{"function"' "$tmp/report" | rows >"$tmp/expected"
	bounded 60 "$tmp/calls" "$tmp/$1" >"$tmp/out" 2>"$tmp/err"
	is "$? $(grep -v '^0 ' "$tmp/out" | LC_ALL=C sort)" "$status $(cat "$tmp/expected")" "$1: the example in C"
	if ! command -v python3 >/dev/null; then
		skip 1 'no python3'
		return
	fi
	bounded 60 python3 "$top_srcdir/doc/examples/calls.py" "$tmp/$1" >"$tmp/out" 2>"$tmp/err"
	is "$? $(sed 's/}, {/}\n{/g' "$tmp/out" | rows | grep -v '^0 ')" "$status $(cat "$tmp/expected")" \
		"$1: the example in Python"
}

write_trace small <<'END'
process p100 chunk=65536 ring_size=131072 clock=tsc
pair first 3000000 1000000 5
pair last 33000000 11000000 5
object 1 /usr/lib/libfoo.so
function 1 0 1 0x100 outer
function 1 0 2 0x200 inner
function 1 0 3 0x300
fork 101
thread 100 main
both
entry 1 3000001
loop 500 2000
entry 2 3000001
entry 1 3000100
exit 1 3000901
exit 2 3001001
end
exit 1 5000000
entry 3 5000001
counts 0 100 main 1:5 3:7
child 101
thread 101
both
exit 1 5000000
entry 2 5000005
exit 2 5000006
END
reports small
{
	many_functions 300 4194304
	printf 'thread 100\nrandom 1 100000 300 200\nthread 101\nrandom 2 100000 300 3\n'
} | write_trace random
reports random
cp -r "$tmp/small" "$tmp/cut"
truncate -s 300000 "$tmp/cut/p100/meta"
reports cut
bounded 60 "$tmp/calls" "$tmp/nothing" >"$tmp/out" 2>"$tmp/err"
is "$? $(cat "$tmp/out" "$tmp/err")" "1 can't open the trace $tmp/nothing: No such file or directory; \
\`xaudit record COMMAND\` makes one" 'what is not there is told in a line'

# The example of the manual: as it stands there.
sed -n '/^\.Sh EXAMPLES/,/^\.Sh SEE/{/^\.Bd -literal/,/^\.Ed/{/^\./d;s/\\e/\\/g;p;};}' "$top_srcdir/doc/xaudit-read.3" \
	>"$tmp/manual.c"
$CC -std=c11 -Wall -Wextra -Wpedantic -Werror -o "$tmp/manual" "$tmp/manual.c" $flags 2>"$tmp/err"
is "$(bounded 60 "$tmp/manual" "$tmp/small" 2>&1)" 'outer, called by nobody: 666667 ns' 'the example of the manual'

# The example in Python has its structures by hand.
if command -v python3 >/dev/null; then
	cat >"$tmp/sizes.c" <<'END'
#include <stdio.h>
#include <xaudit-read.h>
int main(void)
{
	printf("%zu %zu %zu %zu %zu\n", sizeof(struct xaudit_read_object), sizeof(struct xaudit_read_function),
		sizeof(struct xaudit_read_flat), sizeof(struct xaudit_read_calls_options),
		sizeof(struct xaudit_read_error));
	return 0;
}
END
	$CC -o "$tmp/sizes" "$tmp/sizes.c" $flags || bail 'no compiler'
	{
		sed '/^read = /,$d' "$top_srcdir/doc/examples/calls.py"
		echo 'print(*(ctypes.sizeof(s) for s in (Object, Function, Flat, Options, Error)))'
	} >"$tmp/sizes.py"
	is "$(python3 "$tmp/sizes.py")" "$("$tmp/sizes")" \
		'the structures of the example in Python are as large as those in C'
else
	skip 1 'no python3'
fi
done_testing
