#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Variables of a library that are in the program, by copy relocations: values are those that program and library use,
# not what the library's file began with. By name, and by address.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
need nm readelf
unset XAUDIT_CONFIG XAUDIT_RULES

cat >lib.c <<'END'
struct pair { long first; const char *text; } pair = { 5, "the file's" };
int counter = 1, own = 30;
extern int counter_too __attribute__((alias("counter")));
char name[16] = "first";
int step(int by)
{
	counter += by;
	own++;
	return counter;
}
END
cat >prog.c <<'END'
extern int counter;
extern char name[16];
extern struct pair { long first; const char *text; } pair;
int step(int by);
int main(void)
{
	step(counter);
	counter = 100;
	name[0] = 'w';
	pair.first = 6;
	pair.text = "the program's";
	step(name[0] - 'w' + pair.first);
	return 0;
}
END
$CC -O1 -g -fPIC -shared -Wl,-soname,libcopied.so -o libcopied.so lib.c || bail 'no library'
at() {
	nm libcopied.so | sed -n "s/^0*\([0-9a-f]*\) D $1\$/0x\1/p"
}
{
	printf '[library libcopied.so]\nkinds = plt\nfunctions = step\n[context step]\n'
	printf 'context = int:c:counter int:t:counter_too int:o:own string:n:name long:f:pair string:s:+8(pair)\n'
	printf 'context = int:a:%s int:b:%s string:e:+8(%s)\n' "$(at counter)" "$(at own)" "$(at pair)"
} >conf
for how in '-no-pie -fno-pic' '-pie -fPIE'; do
	# shellcheck disable=SC2086
	$CC -O1 $how -o prog prog.c -L. -lcopied -Wl,-rpath,'$ORIGIN' || bail "no program with $how"
	if ! readelf -rW prog | grep -q 'R_X86_64_COPY .* counter'; then
		skip 2 "no copies with $how"
		continue
	fi
	record d -c conf ./prog
	is "$status $err" '0 ' "$how: the program is recorded"
	is "$("$XAUDIT" replay d | sed -n 's/.*] | \(step.*\);/\1/p')" \
		"step() c=1 t=1 o=30 n=\"first\" f=5 s=\"the file's\" a=1 b=30 e=\"the file's\"
step() c=100 t=100 o=31 n=\"wirst\" f=6 s=\"the program's\" a=100 b=31 e=\"the program's\"" "$how: its copies are read"
done
done_testing
