#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Objects: whatever form a file has, and however it is loaded, the object is found, has its right name, and is not taken
# for another.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

program "$CC" edit elf_edit.c
patchable_library good.so counted.c -Wl,-soname,libcounted.so
cp good.so libcounted.so
program "$CC" count count.c -L. -lcounted

# counted SENTENCE: ./count runs as usual, and all its calls of counted() are recorded, in libcounted.so.
counted() {
	record d -k patchable -l libcounted.so -- ./count 1 1000
	report d
	is "$status/$out/$err" '7/1000/' "$1: the program runs as ever"
	is "$(printf '%s\n' "$report" | jq -r '.functions[] | "\(.calls) \(.function) \(.library)"')" \
		"1000 counted $tmp/libcounted.so" "$1: its calls are recorded"
}
counted 'a library as the linker makes it'
has_headers_outside() {
	[ "$(readelf -hW libcounted.so | sed -n 's/.*Start of program headers: *\([0-9]*\).*/\1/p')" -gt 4096 ]
}

# ---- program headers and segments in other places ----

./edit headers good.so libcounted.so
ok '(program headers behind all segments)' has_headers_outside
counted 'program headers at the end of the file, in no segment'
patchable_library libcounted.so counted.c -Wl,-Ttext-segment=0x200000
is "$(readelf -lW libcounted.so | awk '$1 == "LOAD" { print $3; exit }')" 0x0000000000200000 \
	'(a first segment at 2 MiB)'
counted 'a first segment that is not at 0'

# ---- notes where nothing is mapped ----

./edit notes good.so libcounted.so
is "$(readelf -lW libcounted.so | grep -c '^ *NOTE .* 0x0*40000000 ')" \
	"$(readelf -lW libcounted.so | grep -c '^ *NOTE ')" \
	'(notes at an address that no segment has)'
record d -k plt -l libcounted.so -- ./count 1 1000
report d
is "$status/$out/$err $(calls counted)" '7/1000/ 1000' \
	'a library whose notes lie outside of its segments is loaded and traced'
record d ./count 1 1000
is "$status/$out/$err" '7/1000/' 'so it is where nothing of it is to be traced'
cp good.so libcounted.so

# ---- ld.so as a command ----

ld=$(readelf -lW count | sed -n 's/.*program interpreter: \(.*\)\]/\1/p')
program "$CC" own count.c "$sources/counted.c" -fpatchable-function-entry=5
# by_loader SENTENCE: the trace in d has the program's right name, with its own functions.
by_loader() {
	report d
	is "$status/$out/$err" '7/1000/' "$1: the program runs as ever"
	is "$(printf '%s\n' "$report" | jq -r '.functions[] | select(.function == "counted" or .function == "main") |
		"\(.calls) \(.function) \(.library)"' |
		sort | tr '\n' ' ')" "1 main $tmp/own 1000 counted $tmp/own " \
		"$1: its functions are recorded as its own"
	is "$(info d '.processes[] | .program, (.objects[] |
		select(.role == "program" or .role == "loader") | .role, .path)' | tr '\n' ' ')" \
		"\"$tmp/own\" \"program\" \"$tmp/own\" \"loader\" \"$ld\" " "$1: program and loader are what they are"
}
record d -k patchable -- ./own 1 1000
by_loader 'a program that the kernel starts'
record d -k patchable -- "$ld" ./own 1 1000
by_loader 'ld.so PROGRAM'
record d -k patchable -- "$ld" --inhibit-cache --argv0 other --library-path "$tmp" ./own 1 1000
by_loader 'ld.so OPTION... PROGRAM'
printf '[trace]\noutput = %s/d\nfollow = yes\n[program]\nkinds = patchable\n' "$tmp" >program.conf
rm -rf d
status=0
out=$(XAUDIT_CONFIG=program.conf LD_AUDIT=$MODULE bounded 60 "$ld" ./own 1 1000 2>err) || status=$?
err=$(cat err)
by_loader 'ld.so PROGRAM with LD_AUDIT alone'

record d -- "$ld" --list ./own
like "$err" '^xaudit record: .* ran untraced: it is ld.so itself, which ran no program that takes audit modules$' \
	'of ld.so that runs nothing, that is said'

# ---- one build-id, several files ----

# named SENTENCE: two libraries of one build-id are told apart: 2 calls of `first` in one library, 3 of `other` in the
# other.
named() {
	record d -k "$kind" -l 'lib[ab].so' -- ./both
	report d
	is "$status $(printf '%s\n' "$report" |
		jq -r '.functions[] | "\(.calls) \(.function) \(.library | sub(".*/"; ""))"' | sort | tr '\n' ' ')" \
		'0 2 first liba.so 3 other libb.so ' "$kind: $1"
}
cat >both.c <<'end'
void first(void);
void other(void);
int main(void) { first(); first(); other(); other(); other(); return 0; }
end
for name in first other; do
	printf 'void %s(void) { __asm__ volatile(""); }\n' $name >$name.c
done
id=-Wl,--build-id=0x0123456789abcdef
$CC -O2 -fPIC -shared -fpatchable-function-entry=5 $id -o liba.so first.c &&
	$CC -O2 -fPIC -shared -fpatchable-function-entry=5 $id -o libb.so other.c &&
	$CC -O2 -o both both.c -L. -la -lb -Wl,-rpath,'$ORIGIN' || bail 'libraries of one build-id'
is "$(stat -c %s liba.so)" "$(stat -c %s libb.so)" '(two libraries of one size)'
for kind in patchable plt; do
	named 'libraries of one build-id have their own names'
done
# Functions outside of the dynamic symbol table are at other places in the file: only the bytes differ.
kind=patchable
for name in here gone; do
	printf 'void work(void); static void __attribute__((noinline)) %s(void) { __asm__ volatile(""); }\n'\
'void work(void) { %s(); }\n' $name $name >w.c
	$CC -O2 -fPIC -shared -fpatchable-function-entry=5 $id -o lib$name.so w.c || bail 'libraries of one build-id'
done
is "$(stat -c %s libhere.so) $(readelf -lW libhere.so | tail -n +3)" \
	"$(stat -c %s libgone.so) $(readelf -lW libgone.so | tail -n +3)" \
	'(two libraries that differ in the name of a static function)'
cat >plugins.c <<'end'
#include <dlfcn.h>
int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		void *h = dlopen(argv[i], RTLD_NOW);
		void (*work)(void) = h ? (void (*)(void))dlsym(h, "work") : 0;
		if (!work)
			return 1;
		work();
	}
	return 0;
}
end
$CC -O2 -o plugins plugins.c -ldl || bail plugins
cp libhere.so libcopy.so
record d -k patchable -l 'lib*' -- ./plugins ./libhere.so ./libgone.so ./libcopy.so
report d
is "$status $(printf '%s\n' "$report" | jq -r '.functions[] | "\(.calls) \(.function) \(.library | sub(".*/"; ""))"' |
	sort | tr '\n' ' ')" \
	'0 1 gone libgone.so 1 work libgone.so 2 here libhere.so 2 work libhere.so ' \
		'static functions are named by their own file, a copy is the same library'

# ---- opened by a descriptor ----

cat >by_number.c <<'end'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
/* by_number memory|file FORMAT FILE: opens it, or a copy in memory, by its descriptor, which is another file's then. */
int main(int argc, char **argv)
{
	char bytes[65536], name[64];
	int from = open(argv[3], O_RDONLY), fd = from;
	if (argc != 4 || from < 0)
		return 1;
	if (!strcmp(argv[1], "memory")) {
		long n = read(from, bytes, sizeof(bytes));
		fd = memfd_create("libwhere.so", 0);
		if (n <= 0 || write(fd, bytes, n) != n)
			return 1;
	}
	snprintf(name, sizeof(name), argv[2], fd);
	void *h = dlopen(name, RTLD_NOW);
	void (*work)(void) = h ? (void (*)(void))dlsym(h, "work") : 0;
	if (!work || dup2(0, fd) != fd)
		return 1;
	work();
	return 0;
}
end
$CC -O2 -Wno-format-nonliteral -o by_number by_number.c -ldl || bail by_number
# by_number WHAT FORMAT KIND PATTERN NAME
by_number() {
	record d -k "$3" -l "$4" -- ./by_number "$1" "$2" libhere.so
	report d
	called=$(printf '%s\n' "$report" | jq -r '.functions[] | select(.function == "work") | "\(.calls) \(.library)"')
	is "$status/$err/$called" "0//1 $5" "$3, $1, $2: the library is known by the name of the descriptor's file"
}
for kind in patchable entry; do
	for format in /proc/self/fd/%d /dev/fd/%d; do
		by_number memory $format $kind 'memfd:libwh*' '/memfd:libwhere.so (deleted)'
		by_number file $format $kind 'libhere*' "$tmp/libhere.so"
	done
done

done_testing
