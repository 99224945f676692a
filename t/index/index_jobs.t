#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit index by several threads: the index is the same, byte for byte; small files have one thread; where there can be
# no more threads, one does it all; and a file that is cut off meanwhile ends none of them.
. "${top_srcdir:-.}/t/lib/tap.sh"

cd "$tmp" || bail 'no temporary folder'

# What the command's threads are asked of: counted, refused (REFUSE), or the file is cut off before they begin (CUT).
cat >threads.c <<'END_OF_C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
	__typeof__(pthread_create) *real = dlsym(RTLD_NEXT, "pthread_create");
	int fd = open("threads", O_WRONLY | O_CREAT | O_APPEND, 0600);

	if (write(fd, "x", 1) != 1 || close(fd) || (getenv("CUT") && truncate(getenv("CUT"), 4096)))
		_exit(99);
	return getenv("REFUSE") ? EAGAIN : real(thread, attributes, run, argument);
}
END_OF_C
$CC -shared -fPIC -o threads.so threads.c -ldl || bail 'threads.so does not compile'

# index N FILE [ARG]...: analyses it by N threads ('': as the command likes), into the folder of that name.
index() {
	jobs=$1
	shift
	rm -rf "by$jobs" threads
	: >threads
	bounded 300 env LD_PRELOAD="$tmp/threads.so" "$XAUDIT" index -q ${jobs:+-j "$jobs"} --cache="by$jobs" "$@" 2>err
}
# same FILE N...: is the index by N threads each that by one?
same() {
	file=$1
	shift
	index 1 "$file" || return 1
	[ ! -s threads ] || return 1
	for n; do
		index "$n" "$file" || return 1
		[ "$(wc -c <threads)" -eq "$n" ] || return 1 # one is the first thread, and one hashes the content
		cmp "by1/$(cd by1 && echo *.index)" "by$n/$(cd "by$n" && echo *.index)" || return 1
	done
}

"$CC" -shared -nostdlib -Wl,-Bsymbolic -Wl,--build-id -o forms.so "$top_srcdir/t/fixtures/index_functions.S" ||
	bail 'forms.so does not link'
ok 'a library with each form has the same index by 2, 3 and 7 threads' same ./forms.so 2 3 7
# Of two functions that jump to a part without a name, the first one owns it, whoever is decoded last.
cat >owned.S <<'END_OF_S'
	.macro function name
	.globl \name
	.type \name, @function
\name:	.cfi_startproc
	lea 1(%rdi), %rax
	lea 2(%rdi), %rdx
	jmp .Lpart
	.cfi_endproc
	.size \name, . - \name
	.endm
	function first
	function second
	function third
.Lpart:	.cfi_startproc
	mov (%rsp), %rax
	ret
	.cfi_endproc
	.section .note.GNU-stack, "", @progbits
END_OF_S
"$CC" -shared -nostdlib -Wl,--build-id -o owned.so owned.S || bail 'owned.so does not link'
ok 'so has one in which functions share a part' same ./owned.so 2 4
is "$("$XAUDIT" index -nv -j 4 ./owned.so | sed -n 's/.*[+][0-9]* *\([a-z]*\)  (entry only.*/\1/p')" first \
	'which is that of the first one'
# With tables of addresses, calls of mcount, a copy of libc: at fixed addresses, where any word may be a pointer.
if "$CC" -O2 -pg -no-pie -static -o fixed "$top_srcdir/t/fixtures/digits.c" "$top_srcdir/t/fixtures/digits_library.c" \
	2>err; then
	ok 'so has a static program at fixed addresses' same ./fixed 2 4 7
else
	diag "$(cat err)"
	skip 1 'no static libraries'
fi
cp "$XAUDIT" xaudit || bail 'xaudit can not be copied'
ok 'so has the command' same ./xaudit 2 4 64
libc=$(ldd "$XAUDIT" | sed -n 's/.*libc\.so\.6 => \([^ ]*\).*/\1/p')
cp "$libc" libc.so || bail 'libc can not be copied'
ok 'so has libc, which calls by words of its own, too' same ./libc.so 2 4
large_ones() {
	large=$(ls /usr/lib/x86_64-linux-gnu/libLLVM-*.so.1 2>/dev/null | tail -n 1)
	if [ -n "$large" ]; then
		ok "so has $large" same "$large" 4
	else
		skip 1 'no libLLVM'
	fi
}
more large_ones

index '' ./forms.so
is "$?/$(cat threads)" 0/ 'a small file has one thread'
index '' ./xaudit
processors=$(nproc)
[ "$processors" -le 8 ] || processors=8
if [ "$processors" -gt 1 ]; then
	ok 'a larger one has more' test -s threads
else
	is "$(cat threads)" '' 'on one processor a larger one has one, too'
fi
ok 'but no more than there are processors, and the one that hashes' test "$(wc -c <threads)" -le "$processors"
ok 'and the same index' cmp "by64/$(cd by64 && echo *.index)" "by/$(cd by && echo *.index)"
if [ "$processors" -gt 1 ]; then
	rm -rf by threads
	: >threads
	bounded 60 taskset -c "$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')" \
		env LD_PRELOAD="$tmp/threads.so" "$XAUDIT" index -q --cache=by ./xaudit
	is "$?/$(cat threads)" 0/ 'of the processors, those count that the command may use'
else
	skip 1 'there is one processor'
fi
rm -rf by1 && index 1 ./xaudit
REFUSE=1 index 4 ./xaudit
is "$?/$(wc -c <threads)/$(cat err)" 0/2/ 'where there can be no more threads'
ok 'the first one does it all' cmp "by1/$(cd by1 && echo *.index)" "by4/$(cd by4 && echo *.index)"
CUT=./xaudit index 4 ./xaudit
is "$?/$(cat err)" "1/xaudit index: ./xaudit: the file changed while it was read" \
	'a file that is cut off while several threads read it is told'
is "$(ls by4 2>/dev/null)" '' 'and has no index'
for wrong in 65 x -1; do
	bounded 60 "$XAUDIT" index -j "$wrong" ./forms.so >out 2>err
	is "$?/$(wc -l <err)" 2/1 "-j $wrong is refused"
done
done_testing
