#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit index --values: plans of how values of functions are found, from prototypes. The code of these plans is run on
# calls that a compiler has made, whose arguments are known.
. "${top_srcdir:-.}/t/lib/tap.sh"

need "${CC%% *}"
plan_u=$top_builddir/t/values/plan_calls.u
cd "$tmp" || bail 'no scratch folder'

# make LIBRARY RULE...: its plan in ./plan; what is said in ./said. A rule is WHERE|PATTERN|KEY|VALUE.
make_plan() {
	library=$1
	shift
	status=0
	"$XAUDIT" index --values="$(printf '%s\n' "$@" | tr '|' '\t')" "$library" >plan 2>said || status=$?
}
# shown NAME: what the plan has of a function.
shown() {
	"$plan_u" plan | grep "^$1 "
}

cat >lib.c <<'END'
#include <stddef.h>
#include <sys/types.h>
long many(int a, unsigned char b, const char *text, double x, float y, long c, short d, int e, unsigned long f)
{
	return a + b + *text + (long)x + (long)y + c + d + e + (long)f;
}
ssize_t put(int fd, const void *buffer, size_t size, const char *password) { return fd + *(char *)buffer + *password; }
void other(void) { }
int counter = 7;
static int hidden(int x) { return x; }
int (*used)(int) = hidden;
END
$CC -O2 -fPIC -shared -Wl,-soname,libmine.so.1 -o lib.so lib.c || bail 'no library'
cat >calls.c <<'END'
#include <stdint.h>
#include <sys/types.h>
long many(int a, unsigned char b, const char *text, double x, float y, long c, short d, int e, unsigned long f);
ssize_t put(int fd, const void *buffer, size_t size, const char *password);
void calls(void (*callee)(void), void (*expect)(const char *name, uint64_t word, double real))
{
	expect("many", 0xfffffffe, 0);
	((__typeof__(&many))callee)(-3, 250, "a text", 2.5, -0.25, 1l << 40, -7, 8, 0x8000000000000000);
	expect("put", 3, 0);
	((__typeof__(&put))callee)(5, "bytes", 4, "hunter2");
	expect("put", -1, 0);
	((__typeof__(&put))callee)(5, "bytes", 4, "hunter2");
}
END
$CC -O2 -fPIC -shared -w -o calls.so calls.c || bail 'no calls'

many='p:1|||[[fails(-2)]] int many(int a, unsigned char b, const char *text, double x, float y,
p:1|||	long c, short d, int e, unsigned long f);'
put='p:2|||[[fails(-1)]] long put([[fd]] int fd, [[bytes(size)]] const void *buffer, unsigned long size,
p:2|||	const char *password);'

make_plan ./lib.so "$many" 'r:1|many|context|args retval'
is "$status$(cat said)" 0 'a plan is made of a prototype'
is "$(shown many)" "many entry: a=signed4,a0 b=unsigned1,a1 text=text0,a2 x=double8,a3 y=float4,a4 c=signed8,a5 \
d=signed2,a6 e=signed4,a7 f=unsigned8,a8 end: ret=signed4,r0 errno=errno4,e0 fails=-2" \
	'with types, roles and places'
is "$("$plan_u" plan ./calls.so | head -n 1)" \
	"many(a=-3,b=250,text=\"a text\",x=2.5,y=-0.25,c=1099511627776,d=-7,e=8,f=9223372036854775808) = ret=-2,\
errno=!2" \
	'and its code finds these values'
is "$("$plan_u" plan | wc -l)" 1 'others have none'

make_plan ./lib.so "$put" 'r:1|put|context|args' 'r:2|p*@libmine.so*|context|retval'
is "$(shown put)" "put entry: fd=signed4,a0,fd buffer=pointer8,a1 size=unsigned8,a2 password=pointer8,a3 \
end: ret=signed8,r0 errno=errno4,e0 fails=-1" \
	'several sections count; what is in buffers, or secret, is not read'
make_plan ./lib.so "$put" 'r:1|put|context|args:contents,retval'
is "$("$plan_u" plan ./calls.so | sed -n 's/0x[0-9a-f]*/ADDRESS/gp' | head -n 1)" \
	'put(fd=5,buffer="byte",size=4,password=ADDRESS) = ret=3,errno=!2' 'contents are, if they are asked for'
make_plan ./lib.so "$put" 'r:1|put|context|args:contents retval' 'r:1|put|secret|buf*'
like "$("$plan_u" plan ./calls.so)" '^put\(fd=5,buffer=0x[0-9a-f]+,size=4,' 'unless they are made a secret'
make_plan ./lib.so "$put" 'r:1|put|context|string:it:password'
like "$("$plan_u" plan ./calls.so)" '^put\(it="hunter2"' 'who asks for it by name gets it'
make_plan ./lib.so "$put" 'r:1|put|context|ret' 'r:1|put|if|ret < 0 && size == 4'
is "$("$plan_u" plan ./calls.so | tail -n 2 | tr '\n' ' ')" 'put) = out put) = ret=-1 ' \
	'conditions take names of parameters, and their types'
make_plan ./lib.so "$many" 'r:1|many|context|ret' 'r:1|many|if|x >= 2.25 && farg2 < -.125'
is "$status$(cat said)$("$plan_u" plan ./calls.so | head -n 1)" '0many) = ret=-2' \
	'numbers with a point are of double and float'
make_plan ./lib.so "$many" 'r:1|many|context|ret' 'r:1|many|if|x > 2.5e0'
is "$status$("$plan_u" plan ./calls.so | head -n 1)" '0many(out) = ret=-2' 'by their types'
make_plan ./lib.so "$many" 'r:1|many|context|ret' 'r:1|many|if|a > 2.5'
is "$status $(cat said)" "1 xaudit: r:1: what is '.5' behind a condition" 'but of no others'
make_plan ./lib.so 'r:1|put|every|5' 'r:1|put|longer|1.5ms' 'r:2|p*|every|3'
is "$(shown put)" 'put every 5 longer 1500000' 'of several the strictest holds'
make_plan ./lib.so 'r:1|*|context|args retval'
is "$status$("$plan_u" plan | wc -l)" 00 'nothing is guessed of functions without a prototype'
make_plan ./lib.so 'r:1|many|context|int:counter:counter'
is "$status$(shown many)" '0many entry: counter=signed4,o0' 'a symbol is the variable there'
make_plan ./lib.so 'r:1|hidden|context|arg1' 'p:1|||int hidden(int x);'
is "$(shown hidden)" 'hidden entry: arg1=signed4,o0' 'functions that are not exported have plans, too'

make_plan ./lib.so 'x:1|other|context|arg1 arg0' 'x:2|*|context|int:v:nowhere' 'x:3|many|if|size > 3' \
	'x:4|put|evry|1' 'x:5|put|longer|5' 'x:6|||int f(nothing x);' 'x:7|@a|context|arg1' 'x:8|put|every|0' \
	'x:9|||int put(int first);' 'x:10|put|context|args'
is "$status" 1 'wrong rules are a failure'
is "$(cat said)" "xaudit: x:1: no context is called 'arg0'; there are args, retval, argN, fargN, ret, fret, errno, \
tid, cpu, comm, calls, backtrace, sample:BYTES:FUNCTION, regs, reg:NAME, TYPE:NAME:EXPRESSION, out:CONTEXT
xaudit: x:4: unknown key 'evry'; allowed: context, if, every, longer, secret, request, trust, then
xaudit: x:5: bad value '5' for key 'longer'; allowed: a time, as in 500ns, 10us, 1.5ms or 2s
xaudit: x:7: no function has the name ''; allowed: FUNCGLOB or FUNCGLOB@LIBGLOB
xaudit: x:8: bad value '0' for key 'every'; allowed: a number from 1 to 4294967295
xaudit: x:6: no type is called 'nothing'
xaudit: x:2: no symbol 'nowhere' is known
xaudit: x:3: no symbol 'size' is known" 'each is said in a line'
is "$("$plan_u" plan | sort)" 'other entry: arg1=signed8,o0
put entry: first=signed4,a0' 'and the rest holds'

make_plan ./lib.so "r:1|other|context|regs $(seq -f 'int:v%.0f:arg1' 1 17 | tr '\n' ' ')"
is "$status$(cat said)" \
	'0xaudit index: ./lib.so: more values than 32, or 1504 bytes, are asked of other; the last ones are left out' \
	'more than there may be is left out'
is "$(shown other | tr ' ' '\n' | grep -c =)" 32 'but no more than that'

# What a rule names need not be known of each function that it is about.
make_plan ./lib.so "$many" "$put" 'r:1|*|if|size > 3' 'r:2|*|context|ret'
is "$status$(cat said)$("$plan_u" plan)" '0put entry: end: ret=signed8,r0 fails=-1' \
	'a condition does not hold of functions without what it names'
make_plan ./lib.so "$many" "$put" 'r:1|*|context|int:n:size'
is "$status$(cat said)$("$plan_u" plan)" '0put entry: n=signed4,o0' 'and they have no such value'

# What ltrace knows: of functions that nothing else tells of.
mkdir home
printf 'long many(int,char,string,double,float,hex(long),short,int,+int*);\nint open(int);\n' >home/.ltrace.conf
HOME=$tmp/home
export HOME
make_plan ./lib.so 'r:1|many|context|args retval'
is "$(shown many)" "many entry: arg1=signed4,a0 arg2=signed1,a1 arg3=text0,a2 arg4=double8,a3 arg5=float4,a4 \
arg6=hex8,a5 arg7=signed2,a6 arg8=signed4,a7 end: arg9=signed4,a8,out ret=signed8,r0" "files of ltrace are read"
make_plan ./lib.so "$many" 'r:1|many|context|retval'
is "$(shown many)" 'many end: ret=signed4,r0 errno=errno4,e0 fails=-2' 'prototypes of the rules win'

# What comes with xaudit: of the C library, by whatever name.
libc=$(ldd "$XAUDIT" | sed -n 's/.*libc.so.6 => \([^ ]*\).*/\1/p')
make_plan "$libc" 'r:1|open|context|args retval' 'r:1|__libc_malloc|context|args'
ok 'the plan of libc is made' test "$status" -eq 0
like "$("$plan_u" plan)" ' flags=signed4,a1,flags,\(0/3=O_RDONLY,1/3=O_WRONLY,.*\) mode=unsigned4,a2,octal end' \
	'open is known, its flags have names'
make_plan ./lib.so 'r:1|other|context|args' 'p:1|||int strlen(int x);'
is "$status" 0 'prototypes of others are no harm'

# ---- plans that are kept ----
XAUDIT_INDEX=$tmp/kept
plans() {
	find "$XAUDIT_INDEX" -name '*.plan' 2>/dev/null | wc -l
}
make_plan ./lib.so 'r:1|other|context|arg1'
first=$(shown other)
is "$(plans)" 1 'a plan is kept'
kept=$(find "$XAUDIT_INDEX" -name '*.plan')
is "$(stat -c %a "$kept")" 600 'for the user'
make_plan ./lib.so 'r:1|many|context|arg1'
is "$(plans)" 2 'one for other rules is another'
find "$XAUDIT_INDEX" -name '*.plan' ! -path "$kept" -exec cp -f {} "$kept" ';'
make_plan ./lib.so 'r:1|other|context|arg1'
is "$status$(shown many)" '0many entry: arg1=signed4,o0' 'what is kept is taken'
chmod 666 "$kept"
make_plan ./lib.so 'r:1|other|context|arg1'
is "$(shown other)" "$first" 'but not what others may have written'
is "$(stat -c %a "$kept")" 600 'it is made anew'
printf 'xauplan' >"$kept"
make_plan ./lib.so 'r:1|other|context|arg1'
is "$(shown other)" "$first" 'nor what is damaged'
touch lib.so
make_plan ./lib.so 'r:1|other|context|arg1'
is "$(plans)" 3 'a file that was changed has another'
printf 'int other(int);\n' >"$HOME/.ltrace.conf"
make_plan ./lib.so 'r:1|other|context|arg1'
is "$(plans)" 4 'so have other prototypes'
is "$(shown other)" 'other entry: arg1=signed4,o0' 'which count'
make_plan ./lib.so 'r:1|other|context|arg1 int:v:nowhere'
make_plan ./lib.so 'r:1|other|context|arg1 int:v:nowhere'
like "$(cat said)" 'nowhere' 'what is said is said again'
is "$(plans)" 4 'nothing is kept then'
"$XAUDIT" index -n --values='r:1	o*	context	arg1' ./lib.so >plan
is "$(plans)" 4 '--dry-run keeps nothing'
find "$XAUDIT_INDEX" -name '*.plan' -exec touch -d '40 days ago' {} ';'
make_plan ./lib.so 'r:1|oth*|context|arg1'
is "$(plans)" 1 'what nobody used goes'

"$XAUDIT" index --values='r:1	other	context	arg1' --quiet --fd=3 ./lib.so 3>at_3 >out 2>&1
is "$?$(cat out)$("$plan_u" at_3)" '0other entry: arg1=signed4,o0' '--fd takes it'
printf 'r:1\tother\tcontext\targ1' >rules && "$XAUDIT" index --values-fd=4 --quiet ./lib.so 4<rules >at_4 2>out
is "$? $(cmp at_3 at_4 2>&1) $(cat out)" '0  ' 'with --values-fd, rules are read from a descriptor'
"$XAUDIT" index --values-fd=4 ./lib.so 4<&- >plan 2>out
is "$? $(cat out)" "1 xaudit index: RULES can't be read from descriptor 4: Bad file descriptor" 'if it can be read'
"$XAUDIT" index --values='' ./lib.so >plan && "$plan_u" plan >out
is "$?$(cat out)" 0 'no rules make an empty plan'
"$XAUDIT" index --values='' ./lib.so ./calls.so >out 2>&1
is "$?" 2 'of one file'
"$XAUDIT" index --values='' calls.c >out 2>&1
is "$?$(cat out)" '1xaudit index: calls.c: not an x86-64 ELF file' 'which is one'
# An exported function whose dynamic symbol has lost its name, before the one in .symtab is seen, which has it.
echo 'int loses_its_name(int a) { return a; }' >lost.c
$CC -O2 -fPIC -shared -o lost.so lost.c || bail 'no library'
at=$(grep -abo loses_its_name lost.so | sed 's/:.*//; q')
printf '\0' | dd of=lost.so bs=1 seek="$at" conv=notrunc 2>/dev/null
make_plan ./lost.so 'p:1|||int loses_its_name(int a);' 'r:1|loses*|context|args'
is "$status $(cat said) $(grep -c loses_its_name plan)" '0  1' 'of two symbols, the one with a name names the function'
done_testing
