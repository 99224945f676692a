#!/bin/sh
# SPDX-License-Identifier: MIT
#
# An object whose 1000 calls ld.so binds at once: not each of them is to take the lock, which is three system calls.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
need strace
strace -f -o /dev/null true 2>/dev/null || skip_all 'strace may not trace here'

awk 'BEGIN { for (i = 0; i < 1000; i++) printf "int f_%d(int a) { return a + %d; }\n", i, i
	print "int both(int a) { return a + 1; }" }' >many.c
awk 'BEGIN {
	for (i = 0; i < 1000; i++) printf "int f_%d(int a);\n", i
	print "int both(int a);\nint f_all(int a)\n{"
	for (i = 0; i < 1000; i++) printf "\ta = f_%d(a);\n", i
	print "\treturn both(a);\n}" }' >caller.c
$CC -shared -fPIC -o libmany.so many.c || bail 'libmany.so does not compile'
# shellcheck disable=SC2016
$CC -shared -fPIC -o libcaller.so caller.c -L. -lmany -Wl,-rpath,'$ORIGIN' || bail 'libcaller.so does not compile'
program "$CC" bindings bindings.c -rdynamic

# blocks: how often signals were blocked or restored in each of the three dlopen().
blocks() {
	awk '/sched_yield/ { if (n++ % 2) print count; count = 0 } /rt_sigprocmask/ { count++ }' calls
}

for kind in plt calls; do
	library=libmany.so
	[ $kind = plt ] || library=libcaller.so
	rm -rf d calls
	status=0
	bounded 100 strace -f -e trace=sched_yield,rt_sigprocmask -o calls "$XAUDIT" record -o d -k $kind \
		-l $library -- ./bindings >out 2>err || status=$?
	is "$status $(tr '\n' ' ' <out)$(cat err)" '0 500500 500500 500500 ' \
		"$kind: the program prints what it does untraced"
	# shellcheck disable=SC2046
	set -- $(blocks)
	is $# 3 "$kind: strace saw three times how the library was opened"
	ok "$kind: the first time signals were blocked for few of the bindings ($1)" [ "$1" -lt 300 ]
	ok "$kind: then, too ($2, $3)" [ "$2" -lt 150 -a "$3" -lt 150 ]
	report d
	wanted='1000 3 3 0'
	[ $kind = plt ] || wanted='1001 3 3 1'
	is "$(printf '%s\n' "$report" | jq -r '.functions | map(select(.calls > 0)) |
		"\(length) \(map(.calls) | "\(min) \(max)") \(map(select(.function == "both")) | length)"')" "$wanted" \
		"$kind: each function has its calls; 'both' is the program's, as ld.so finds it"
done
done_testing
