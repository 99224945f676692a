#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Backtraces are those that gdb sees at the same moment, frame by frame, in the same process: in python3 and perl, in a
# C++ program while exceptions unwind, in frames of all kinds, in handlers of signals that come in anywhere, and on
# other stacks. 150 random calls each; 10 000 with XAUDIT_ALL=1, and then also 1000 up to the code of their compilers in
# node and java, where they are installed.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

need gdb python3
echo 'int main(void) { return 7; }' >seven.c
$CC -o seven seven.c || bail 'no compiler'
bounded 60 gdb --batch -nx -ex run ./seven 2>&1 | grep -q 'exited with code 07' ||
	skip_all 'gdb may not run programs here'
bounded 60 gdb --batch -nx -ex 'python print(6 * 7)' 2>&1 | grep -q '^42$' || skip_all 'this gdb has no python'

most=150 longest=100
[ -z "$XAUDIT_ALL" ] || most=10000 longest=900

# compare KIND CALLERS EVERY PROGRAM ARG...: $said is what the comparison says of calls of $functions, of one in EVERY.
functions=crc32 library=libz.so jit=''
compare() {
	kind=$1 callers=$2 every=$3
	shift 3
	rm -rf "$tmp/trace"
	printf '[trace]\noutput = %s\n[library %s*]\nkinds = %s\nfunctions = %s\n' "$tmp/trace" "$library" "$kind" \
		"$functions" >walks.conf
	printf '[program]\nkinds = none\n[context *]\ncontext = backtrace:%s\n' "$callers" >>walks.conf
	WALKS_OUT=$tmp/walks.out WALKS_MOST=$most WALKS_EVERY=$every bounded "$longest" gdb --batch -nx \
		-iex "set environment LD_AUDIT $MODULE" -iex "set environment XAUDIT_CONFIG $tmp/walks.conf" \
		-x "$beside/walks_gdb.py" --args "$@" >gdb.out 2>&1
	bounded 100 "$XAUDIT" dump --format=json "$tmp/trace" >dump.json 2>gdb.err || cat gdb.err gdb.out
	# shellcheck disable=SC2086 # nothing, or a word
	said=$(bounded 100 python3 "$beside/walks_compare.py" walks.out dump.json $jit 2>&1)
}

$CXX -std=c++20 -O2 -g -fomit-frame-pointer -o walks "$beside/walks.cc" -l:libz.so.1 || bail 'walks.cc does not compile'
for what in throw frames signals coroutines; do
	for kind in entry plt; do
		compare "$kind" 32 3 ./walks "$what" 1000000
		is "$said" "$most compared, 0 differ, 0 cut" "$what, $kind: as gdb sees them"
	done
done
compare entry 2 3 ./walks frames 1000000
is "$said" "$most compared, 0 differ, $most cut" 'two callers each: those that gdb sees first'

cat >calls.py <<'END'
import ctypes, functools, re, zlib

def deep(n, f):
    return deep(n - 1, f) if n else f(b"abc")

class Thing:
    def __del__(self):
        zlib.crc32(b"del")
    def __getattr__(self, name):
        return zlib.crc32(b"attr")

def numbers():
    for k in range(3):
        yield zlib.crc32(b"gen")

integer = ctypes.POINTER(ctypes.c_int)

@ctypes.CFUNCTYPE(ctypes.c_int, integer, integer)
def compare(a, b):
    zlib.crc32(b"callback")
    return a[0] - b[0]

for i in range(1000000):
    deep(i % 20, zlib.crc32)
    sorted(range(5), key=lambda k: zlib.crc32(b"%d" % k))
    re.sub("b", lambda match: str(zlib.crc32(b"x")), "abab")
    list(map(zlib.crc32, [b"a", b"b"]))
    functools.reduce(lambda a, b: zlib.crc32(b, a), [b"a", b"b", b"c"], 0)
    Thing().x
    ctypes.CDLL(None).qsort((ctypes.c_int * 4)(3, 1, 2, 0), 4, 4, compare)
    sum(numbers())
END
compare entry 100 20 "$(python3 -c "import sys; print(sys.executable)")" calls.py
is "$said" "$most compared, 0 differ, 0 cut" 'python3: as gdb sees them'

cat >calls.pl <<'END'
use Compress::Raw::Zlib;
sub deep { my $n = shift; return $n ? deep($n - 1) : crc32("abc") }
{ package V; sub TIESCALAR { bless {}, shift } sub FETCH { Compress::Raw::Zlib::crc32("fetch") } }
for my $i (1 .. 1000000) {
	deep($i % 15);
	my @sorted = sort { crc32($a) <=> crc32($b) } ("a" .. "e");
	my $x = "abab"; $x =~ s/b/crc32("x")/ge;
	my @mapped = map { crc32($_) } 1 .. 3;
	{ package T; sub DESTROY { Compress::Raw::Zlib::crc32("del") } my $t = bless {}, "T"; undef $t; }
	eval { local $SIG{__DIE__} = sub { crc32("die") }; die "x" };
	tie my $v, "V"; my $y = $v;
	local $SIG{USR1} = sub { crc32("sig") }; kill USR1 => $$;
}
END
if bounded 60 perl -MCompress::Raw::Zlib -e 1; then
	compare entry 100 20 "$(command -v perl)" calls.pl
	is "$said" "$most compared, 0 differ, 0 cut" 'perl: as gdb sees them'
else
	skip 1 'perl has no zlib here'
fi

# ---- up to the code of a compiler, which gdb knows nothing of ----

functions='open open64 read' library=libc.so jit=jit
if [ -z "$XAUDIT_ALL" ]; then
	skip 2 'XAUDIT_ALL is not 1'
	done_testing
	exit
fi
most=1000
cat >calls.js <<'END'
const fs = require('fs');
function deep(n) { return n ? deep(n - 1) + 1 : fs.readFileSync('/dev/null').length; }
let sum = 0;
for (let i = 0; i < 100000; i++)
	sum += deep(i % 10);
console.log(sum);
END
if bounded 60 node -e 0; then
	compare entry 100 3 "$(command -v node)" calls.js
	like "$said" "^$most compared, 0 differ, [1-9][0-9]* cut$" 'node: as gdb sees them, up to code of V8'
else
	skip 1 'no node here'
fi
cat >Calls.java <<'END'
public class Calls {
	static int deep(int n) throws java.io.IOException {
		return n > 0 ? deep(n - 1) + 1 : new java.io.FileInputStream("/dev/null").read();
	}
	public static void main(String[] words) throws java.io.IOException {
		long sum = 0;
		for (int i = 0; i < 1000000; i++)
			sum += deep(i % 10);
		System.out.println(sum);
	}
}
END
if bounded 60 javac Calls.java 2>/dev/null; then
	home=$(java -XshowSettings:properties -version 2>&1 | sed -n 's/^ *java.home = //p')
	compare entry 100 5 "$home/bin/java" Calls
	like "$said" "^$most compared, 0 differ, [1-9][0-9]* cut$" 'java: as gdb sees them, up to code of its compilers'
else
	skip 1 'no javac here'
fi
done_testing
