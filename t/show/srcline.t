#!/bin/sh
# SPDX-License-Identifier: MIT
#
# --srcline: file and line of functions, from the object itself or from a file with its debug information, if the
# build-id is that of the trace; else nothing.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/written.sh"
need objcopy strip readelf python3

tmp=$(readlink -f "$tmp")
cd "$tmp" || exit 1
export XAUDIT_DEBUG_PATH="$tmp/debug"

# Lines are told here, 10, 20 and 30; `twice` is in two units, at 12 and 5.
cat >one.c <<'END'
#line 10 "/src/one.c"
int first(int a) { return a + 1; }

static __attribute__((noinline, used)) int twice(int a) { return a + 2; }
#line 20
int second(int a) { return first(a) + twice(a); }
#line 30 "/src/header.h"
int third(int a) { return second(a); }
END
cat >two.c <<'END'
#line 5 "/src/two.c"
static __attribute__((noinline, used)) int twice(int a) { return a + 3; }
int fourth(int a) { return twice(a); }
END
# build COMPILER [OPTION]...: libs.so, and its build-id and the addresses of its functions as variables.
build() {
	rm -rf libs.so debug
	"$@" -fPIC -shared -O1 -Wl,--build-id -o libs.so one.c two.c || bail 'no library'
	build=$(readelf -n libs.so | sed -n 's/.*Build ID: //p')
	for function in first second third fourth; do
		eval "$function=0x$(readelf -Ws libs.so | awk -v f=$function '$8 == f { print $2; exit }')"
	done
}
# trace BUILD-ID: a trace of the library.
trace() {
	write_trace d <<END
process p100 flags=1
pair first 1000 1000 5
pair last 9000 9000 8005
object 1 $tmp/libs.so build=$1
object 2 /no/such.so build=$1
function 1 0 1 $first first
function 1 0 2 $second second
function 1 0 3 $third third
function 1 0 4 $fourth
function 1 0 5 $fourth twice
function 2 0 6 $fourth first
thread 100 main
entry 3 1000
entry 2 1100
entry 1 1200
exit 1 1300
exit 2 1400
exit 3 1500
entry 4 1600
exit 4 1700
entry 5 1800
exit 5 1900
entry 6 2000
exit 6 2100
END
}
xa() {
	bounded 60 "$XAUDIT" "$@" 2>&1
}
# lines: functions with file and line, of a report.
lines() {
	xa report --srcline --format=json d | jq -r '.functions[] | select(.source) |
		"\(.function) \(.source):\(.line)"' | sed 's/+0x[0-9a-f]*/+0x/' | LC_ALL=C sort
}
all='first /src/one.c:10
libs.so+0x /src/two.c:6
second /src/one.c:20
third /src/header.h:30'

for compiler in "$CC" "$CLANG"; do
	[ "$compiler" ] || continue
	build $compiler -g
	trace "$build"
	is "$(lines)" "$all" "$compiler: report has the lines, of what has one name"
done
build "$CC" -g
trace "$build"
is "$(xa report --srcline d | sed -n 's/.*  \(first .*libs.*\)/\1/p')" 'first [libs.so] /src/one.c:10' \
	'the table has them behind the library'
is "$(xa report --srcline --format=csv --columns=calls d | tr -d '\r' | sed 's/+0x[0-9a-f]*/+0x/g' |
	grep -o '^[a-z.]*[+0x]*,.*,/src/[a-z.]*,[0-9]*' | sed 's/,.*,\(.*\),/ \1:/' | LC_ALL=C sort)" "$all" \
	'and CSV in columns'
is "$(xa report --srcline --format=csv --columns=calls d | head -n 1 | tr -d '\r')" \
	'function,demangled,library,source,line,calls' 'of their own'
is "$(xa report d | grep -c /src)" 0 'without the option there are none'
is "$(xa replay --srcline d | sed '1d; s/^[^|]*| *//')" "third() { /src/header.h:30
second() { /src/one.c:20
first(); /src/one.c:10
} /* second */
} /* third */
libs.so+0x$(printf %x "$fourth")(); /src/two.c:6
twice(); /src/two.c:6
first();" 'replay has them where calls begin'
is "$(xa graph --srcline d | grep -o 'third .*')" 'third [libs.so] /src/header.h:30' 'graph has them'
is "$(xa slow --srcline third d | grep -o 'third .*:30' | head -n 1)" 'third [libs.so] /src/header.h:30' \
	'slow has them'

# ---- separate debug files ----

objcopy --only-keep-debug libs.so libs.debug
strip -g libs.so
is "$(lines)" '' 'of a stripped library nothing is known'
mkdir -p "debug/.build-id/$(printf %.2s "$build")"
cp libs.debug "debug/.build-id/$(printf %.2s "$build")/$(printf %s "$build" | cut -c3-).debug"
is "$(lines)" "$all" 'unless its debug file is there by its build-id'
strip libs.so
is "$(lines)" "$all" 'also where it has no symbols but for the dynamic ones'
XAUDIT_DEBUG_PATH=/none:$tmp/debug
is "$(lines)" "$all" 'the path may name several folders'
XAUDIT_DEBUG_PATH=/none
is "$(lines)" '' 'and there it is not'
objcopy --add-gnu-debuglink=libs.debug libs.so
is "$(lines)" "$all" 'the debug link names one beside it'
mkdir .debug
mv libs.debug .debug
is "$(lines)" "$all" 'or in .debug'
mkdir -p "far$tmp"
mv .debug/libs.debug "far$tmp"
XAUDIT_DEBUG_PATH=$tmp/far
is "$(lines)" "$all" 'or below one of the folders'

# ---- what does not agree ----

other=$(printf %s "$build" | tr 0-9a-f 1-9a-f0)
trace "$other"
is "$(lines)" '' 'a library with another build-id than the trace is not believed'
trace 00
is "$(lines)" '' 'nor is one of another length'
build "$CC" -g
objcopy --only-keep-debug libs.so wrong.debug
sed -i 's/a + 1/a + 7/' one.c
build "$CC" -g
strip -g libs.so
trace "$build"
mkdir -p "debug/.build-id/$(printf %.2s "$build")"
cp wrong.debug "debug/.build-id/$(printf %.2s "$build")/$(printf %s "$build" | cut -c3-).debug"
XAUDIT_DEBUG_PATH=$tmp/debug
is "$(lines)" '' 'nor is a debug file of another build'
rm -f libs.so
mkfifo libs.so
is "$(lines)" '' 'a FIFO in the place of the library is not waited for'
done_testing
