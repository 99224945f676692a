#!/bin/sh
# SPDX-License-Identifier: MIT
#
# System calls at the start of a process: bindings before the program's code runs cost none.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
need strace readelf
strace -o /dev/null true 2>/dev/null || skip_all 'strace may not trace here'

# A library of 300 functions, all bound at load.
awk 'BEGIN { for (i = 0; i < 300; i++) printf "int f_%d(int a) { return a + %d; }\n", i, i }' >many.c
awk 'BEGIN {
	for (i = 0; i < 300; i++) printf "int f_%d(int a);\n", i
	print "int main(void)\n{\n\tint a = 0;"
	for (i = 0; i < 300; i++) printf "\ta = f_%d(a);\n", i
	print "\treturn a != 44850;\n}" }' >main.c
$CC -O2 -fPIC -shared -Wl,-soname,libmany.so -o libmany.so many.c || bail 'libmany.so does not compile'
$CC -O2 -o main main.c -L. -lmany -Wl,-z,now -Wl,-rpath,'$ORIGIN' || bail 'main does not compile'

printf '[trace]\noutput = %s\n[library libmany.so]\nkinds = plt\n' "$tmp/d" >conf
status=0
bounded 60 strace -o calls -E LD_AUDIT="$MODULE" -E XAUDIT_CONFIG="$tmp/conf" ./main >out 2>&1 || status=$?
is "$status$(cat out)" 0 'the program runs under strace'
report d
is "$(calls f_299) $(printf '%s\n' "$report" | jq '.functions | length') $(sums)" '1 300 0 lost 0 unfinished' \
	'and all its 300 calls are recorded'

# Up to the folder of the trace, which is made when everything is bound.
sed '/^mkdirat(.*"d"/,$d' calls >start
ok 'its start is seen' test "$(wc -l <start)" -gt 50
# asked PATTERN: how many lines of the start match.
asked() {
	grep -cE "$1" start
}
is "$(asked '^rt_sigprocmask')" 0 'signals are not blocked: there is no handler yet'
is "$(asked '^mprotect.*PROT_EXEC')" 0 'no code is made'
is "$(asked '/proc/[^"]*/status|libelf|libz\.')" 0 \
	'no status is read, and no library loaded that the module could do without'
is "$(asked '^openat.*libc\.so\.6".* = [0-9]')" 1 'libc is loaded once, for the program'
is "$(grep -oE '^openat[^"]*"/(proc|sys)/[^"]*"' calls | cut -d'"' -f2 | sort -u)" /proc/sys/kernel/random/boot_id \
	"of the kernel's files, one is read, for the trace"
ok 'at most a dozen pieces of memory are mapped, by ld.so and the module together' test \
	"$(asked '^mmap\(NULL, .*MAP_PRIVATE\|MAP_ANONYMOUS, -1, 0')" -le 12

# The command line is told without that file, as the kernel would tell it.
bounded 60 env LD_AUDIT="$MODULE" XAUDIT_CONFIG="$tmp/conf" ./main '' 'a  b' '' || bail 'main fails'
loader=$(readelf -l main | sed -n 's/.*interpreter: \(.*\)]/\1/p')
bounded 60 env LD_AUDIT="$MODULE" XAUDIT_CONFIG="$tmp/conf" "$loader" ./main one || bail 'main fails under ld.so'
is "$("$XAUDIT" info --format=json d | jq -r '.processes[].command' | LC_ALL=C sort)" \
	"$(printf '%s\n' ./main "./main '' 'a  b' ''" "$loader ./main one" | LC_ALL=C sort)" \
	'the command line is told: empty words, blanks, and what was told to ld.so'
done_testing
