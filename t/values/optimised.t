#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Parameters that a compiler has optimised out, or made a constant, in running programs: as gdb shows them, by each
# command that shows values.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
unset XAUDIT_CONFIG XAUDIT_RULES

cat >lib.c <<'END'
volatile long work;
enum how { SLOWLY = 1, QUICKLY = 7 };
/* `other` is not used, and `count` and `how` are the same in all calls; so none of them is passed. */
static __attribute__((noinline)) int part(long more, char *other, int count, enum how how, int value)
{
	for (int i = 0; i < count; i++)
		work += value + (long)how + more;
	return value + count;
}
/* Nothing of it is passed. */
static __attribute__((noinline)) int none(int gone)
{
	return (int)(work += 3);
}
/* What is left is in a register. */
static __attribute__((noinline)) int some(int gone, int left)
{
	return (int)(work += left);
}
/* The same text in all calls. */
static __attribute__((noinline)) int note(const char *what, int n)
{
	for (int i = 0; what[i]; i++)
		work += what[i];
	return (int)(work += n);
}
int whole(char *text, int n)
{
	return part(n + 40, text, 5, QUICKLY, n) + none(n) + some(n, n * 2) + note("constant", n) + note("constant", 1);
}
END
cat >prog.c <<'END'
int whole(char *text, int n);
int main(void) { return whole("one", 7) + whole("two", 8) > 1000000; }
END
cat >expected <<'END'
whole("one", 7)
part(47, <optimized out>, 5, QUICKLY, 7)
none(<optimized out>)
some(<optimized out>, 14)
note(WHAT, 7)
note(WHAT, 1)
whole("two", 8)
part(48, <optimized out>, 5, QUICKLY, 8)
none(<optimized out>)
some(<optimized out>, 16)
note(WHAT, 8)
note(WHAT, 1)
END
grep -v whole expected >parts
# shown COMPILER WHAT: what note() has.
shown() {
	$1 -g -O2 -w -fPIC -shared -Wl,-soname,libgone.so -o libgone.so lib.c &&
		$1 -w -o prog prog.c -L. -lgone -Wl,-rpath,'$ORIGIN' || bail "no library of $1"
	index_of libgone.so
	record d -F 'part*' -F 'none*' -F 'some*' -F 'note*' -F whole -l libgone.so --context args,retval -- ./prog
	is "$status $err" '0 ' "$1: the program is recorded"
	names='s/^\([a-z]*\)\.[.a-z0-9]*(/\1(/; s/ = -*[0-9]*;*$//'
	"$XAUDIT" dump d | sed -n 's,^.* entry *[0-9a-fx]*  *\(.*\)  .*libgone.so$,\1,p' | sed "$names" >dumped
	is "$(cat dumped)" "$(sed "s/WHAT/$2/" expected)" "$1: dump"
	"$XAUDIT" replay d | sed -n 's/.*] | *\(\(part\|none\|some\|note\).*\)/\1/p' | sed "$names" >replayed
	is "$(cat replayed)" "$(sed "s/WHAT/$2/" parts)" "$1: replay"
	bounded 60 "$XAUDIT" trace -o traced -F 'part*' -F 'none*' -F 'some*' -F 'note*' -l libgone.so ./prog
	is "$(sed -n 's/^[0-9 ]*\(\(part\|none\|some\|note\).*\)/\1/p' traced | sed "$names")" \
		"$(sed "s/WHAT/$2/" parts)" "$1: trace"
	"$XAUDIT" dump --format=json d | jq -c 'select(.event == "entry" and (.function | startswith("part"))) |
		[.values[] | [.name, .type, .state, .value, .shown]]' >json
	is "$(sed -n 1p json)" '[["more","signed","whole",47,"47"],["other","none","optimized out",null,'\
'"<optimized out>"],["count","signed","whole",5,"5"],["how","unsigned","whole",7,"QUICKLY"],'\
'["value","signed","whole",7,"7"]]' "$1: JSON"
	is "$("$XAUDIT" report --by-value=gone d | grep -c '<optimized out>')" 2 "$1: report"
}
shown "$CC" '"constant"'
if [ -n "$CLANG" ] && command -v "${CLANG%% *}" >/dev/null 2>&1; then
	shown "$CLANG" '<optimized out>'
else
	skip 6 'no clang here'
fi
done_testing
