#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit record with kind entry, from no index to the report: a library of the system that a program we did not write
# loads, and functions that are named.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

export XAUDIT_INDEX=$tmp/cache XAUDIT_CONFIG=/dev/null
unset XAUDIT_RULES
lines() {
	printf '%s' "$1" | grep -c .
}
# The kinds of an object, and the functions that each traces.
kinds() { # DIR PATH
	bounded 60 "$XAUDIT" info --format=json "$tmp/$1" |
		jq -c --arg p "$2" '.. | objects | select(.path? // "" | endswith($p)) | [.kinds, .sites.entry.traced]'
}

# ---- python's zlib: 5 calls of deflate(), by arithmetic, as the whole input is given at once ----
python=$(command -v python3 && python3 -c 'import zlib' 2>/dev/null)
if [ -n "$python" ]; then
	# Not a script that starts it.
	python=$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))')
	cat >work.py <<'end'
import zlib
data = b"hello world, " * 1000
for i in range(5):
    packed = zlib.compress(data)
assert zlib.decompress(packed) == data
print(zlib.crc32(data))
end
	expected=$("$python" work.py)
	loaded=$("$python" -c 'import zlib; print([l for l in open("/proc/self/maps") if "libz.so" in l][:1])')
	case $loaded in
	*libz.so*)
		record d -k entry -l 'libz.so*' "$python" work.py
		is "$status/$out/$err" "0/$expected/" 'a program whose library has no index runs as untraced'
		report d
		is "$(calls deflate) $(calls deflateInit2_) $(calls inflateEnd) $(calls crc32)" '5 5 1 1' \
			'its calls are there'
		ok 'those between functions without names, too' test "$(printf '%s' "$report" |
			jq '[.functions[] | select(.function | startswith("libz.so.1+0x"))] | length')" -ge 1
		# As root, somebody may have kept it for all.
		ls -d cache/*.index /var/cache/xaudit/*.index >indexes 2>/dev/null
		ok 'an index was made' test -s indexes
		before=$(stat -c '%i %y' cache/* 2>&1)
		record d -k entry -l 'libz.so*' "$python" work.py
		is "$status/$out/$err" "0/$expected/" 'once more'
		report d
		is "$(calls deflate) $(calls deflateInit2_) $(calls inflateEnd) $(calls crc32)" '5 5 1 1' \
			'the same calls are there'
		is "$(stat -c '%i %y' cache/* 2>&1)" "$before" 'and nothing was made'
		;;
	*) skip 7 "this python's zlib is not the system's" ;;
	esac
else
	skip 7 'no python3 with zlib'
fi

# ---- functions that are named ----
cat >named.c <<'end'
#include <stdio.h>

static __attribute__((noinline, noclone)) int inner(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x * 3;
}

static __attribute__((noinline, noclone)) int inner_two(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x * 5;
}

__attribute__((noinline)) int outer(int x)
{
	return inner(x) + inner_two(x) + inner_two(x + 1);
}

int main(void)
{
	int total = 0;

	for (int i = 0; i < 7; i++)
		total += outer(i);
	printf("%d\n", total);
	return 0;
}
end
"$CC" -O2 -o named named.c || bail "$CC"
expected=$(./named)
rm -rf cache
record d -F inner ./named
is "$status/$out/$err" "0/$expected/" 'a static function is named'
report d
is "$(calls inner) $(lines "$(printf '%s' "$report" | jq '.functions[].function')")" '7 1' 'it alone is traced'
record d -F 'inner*' ./named
is "$status/$out/$err" "0/$expected/" 'a pattern names two'
report d
is "$(calls inner) $(calls inner_two) $(lines "$(printf '%s' "$report" | jq '.functions[].function')")" '7 14 2' \
	'both are traced'
record d -F 'inner*' -N '*_two' ./named
report d
is "$(calls inner) $(lines "$(printf '%s' "$report" | jq '.functions[].function')")" '7 1' '-N leaves one out'
record d -k entry -F inner ./named
report d
is "$(calls inner)" 7 'entry as a kind does the same'
record d -F main ./named
report d
is "$(calls main)" 1 'even main'
# A copy of the same build-id.
rm cache/*
strip -o stripped named || bail strip
offset=0x$(nm named | sed -n 's/ t inner_two$//p' | sed 's/^0*//')
record d -k entry -F '*' ./stripped
report d
is "$(calls "stripped+$offset")" 14 'without names, a function is known by its place'
record d -F inner ./named
report d
is "$(calls inner)" 7 'the index of a stripped copy does not do for a file with names'
# Prepared sites come first.
"$CC" -O2 -fpatchable-function-entry=5 -o prepared named.c || bail "$CC"
record d -F 'inner*' ./prepared
report d
is "$(calls inner) $(calls inner_two)" '7 14' 'functions that are prepared need no index'
is "$(bounded 60 "$XAUDIT" info --format=json d | jq -c '.. | objects | select(.path? // "" | endswith("/prepared")) |
	[.sites.patchable.traced, .sites.entry.traced]')" '[2,null]' 'and are traced by the site they have'

record d -F innr ./named
is "$status/$out" "0/$expected" 'a name that no function has changes nothing'
like "$err" "^xaudit record: nothing was selected in .*/named .*: -F 'innr' names none of its functions; did you mean \
-F 'inner'\\?\$" 'and is told at the end, with the one that was meant'
is "$(lines "$err")" 1 'in one line'
record d -F no_such_name ./named
like "$err" ": -F 'no_such_name' names none of its functions: \`xaudit list FILE PATTERN\` shows those that match in a \
file; one of C\\+\\+ in no namespace is ::NAME\$" 'or with what to look at, where none is like it'
# What is said of another object says nothing about these.
record d -l 'libc.so*' -F 'inner@named' -F '*@libc.so*' ./named
report d
is "$status/$err/$(calls inner)" '0//7' '-l leaves out the program, but for functions that are named with it'
record d -F 'inner@named' -F '*@libc.so*' ./named
report d
is "$status/$err/$(calls inner)" '0//7' 'a name is traced by entry, whatever else is said of a library'

record d -F setcontext ./named
like "$err" '1 function: it goes to another stack.*; `xaudit list FILE FUNCTION` shows why, and its code$' \
	'one that can not be traced, with the reason'

# A function that a resolver chooses is called by the name that the resolver has.
cat >chosen.c <<'end'
static int plain(void)
{
	return 7;
}
static int (*resolve(void))(void)
{
	return plain;
}
int chosen(void) __attribute__((ifunc("resolve")));
end
cat >choosing.c <<'end'
int chosen(void);
int main(void)
{
	return chosen();
}
end
"$CC" -O1 -fPIC -shared -o libchosen.so chosen.c && "$CC" -O1 -o choosing choosing.c -L. -lchosen \
	-Wl,-rpath,"$tmp" || bail 'no library with a resolver'
record d -k entry -F chosen ./choosing
like "$status $err" "^7 .*1 function: an IFUNC resolver, or called by one.*; -k plt traces, by the same name, what an \
IFUNC resolver chooses\$" 'of a resolver, what to try'
record d -k plt -F chosen ./choosing
report d
is "$status/$err/$(calls chosen)" '7//1' 'which helps'

# ---- one name of several ----
library "$CC" libcounted.so counted.c
program "$CC" count count.c -L. -lcounted
record d -F counted -F countd -l 'libcounted*' -l 'libnone*' -F 'counted@libnone*' -F 'co*@libcounted.so' \
	./count 1 1000
report d
is "$status/$out $(calls counted)" "7/1000 1000" 'what some names choose is traced'
is "$err" "xaudit record: no library that was loaded is named by -l 'libnone*'; \`xaudit info\` lists them
xaudit record: no function that was traced is named by -F 'countd', -F 'counted@libnone*'; \
\`xaudit list FILE PATTERN\` shows those that match in a file" 'those that name nothing are told'
record d -F counted -F 'coun?ed' -F '[c]ou*@lib?ounted*' -l libcounted.so -l 'libc.so.?' ./count 1 1000
is "$status/$out/$err" '7/1000/' 'none of these'
record d -k entry -C inner_two -C innr ./named
like "$err" "^xaudit record: no function that was traced is named by -C 'innr'; " 'of -C, too'
record d -k calls -F nosuch -F none ./named
like "$err" ' bindings?: not selected.*; is it the name of a function[?] .*; -k entry traces them whoever calls them$' \
	'where nothing was chosen, that is told alone'
is "$(lines "$err")" 1 'in one line'
record d -k calls -N '*' ./named
like "$err" '; do -l, -F and -N leave anything[?] `xaudit info` lists what was loaded$' \
	'where all is left out, that is what is asked, and no other kind is proposed'
done_testing
