#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The options of `xaudit record` about values: what rules become of them, and what is said of wrong ones.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
unset XAUDIT_CONFIG XAUDIT_RULES
mkdir empty
export XDG_CONFIG_HOME="$tmp/empty"

# rules OPTION...: the sections about values that a traced process has.
rules() {
	bounded 60 "$XAUDIT" record -F nothing -o trace "$@" -- sh -c 'printf "%s\n" "$XAUDIT_RULES"' 2>said |
		sed -n '/^\[context/,$p; /^values/p'
}

is "$(rules --context args,retval)" 'values = yes
[context *]
context = args
context = retval' '--context alone is for all functions'
is "$(rules --context 'malloc:args' --context 'f*@libc.so.6=int:x:+0(arg1,arg2)')" '' 'what is wrong starts nothing'
is "$(rules --context 'malloc:args' --context 'f*@libc.so.6=int:x:+0(arg1)')" 'values = yes
[context malloc]
context = args
[context f*@libc.so.6]
context = int:x:+0(arg1)' 'a function is in front of a colon, or of ='
is "$(rules --context int:x:arg1 --context out:int:x:arg1 --context regs --context int=args)" 'values = yes
[context *]
context = int:x:arg1
[context *]
context = out:int:x:arg1
[context *]
context = regs
[context int]
context = args' 'words of contexts and types are no functions, but before ='
is "$(rules --context 'malloc:if=arg1>1000000 && ret != 0,every=10' \
	--context 'if=arg1==5,longer=1ms,secret=a*')" 'values = yes
[context malloc]
if = arg1>1000000 && ret != 0
every = 10
[context *]
if = arg1==5
longer = 1ms
secret = a*' 'keys are among contexts'
is "$(rules --context 'shop::Cart::add:args' --context 'shop::*=retval')" 'values = yes
[context shop::Cart::add]
context = args
[context shop::*]
context = retval' 'names of C++ have colons'
is "$(rules -a -A 'open*,close' -R malloc -A read)" 'values = yes
[context *]
context = args retval
[context open*]
context = args
[context close]
context = args
[context read]
context = args
[context malloc]
context = retval' '-a, -A and -R'
is "$(rules --no-values -a)" 'values = no
[context *]
context = args retval' '--no-values'
printf '[context f]\ncontext = args\n[prototypes]\nint f(int a,\n\tlong b);\n' >xaudit.conf
is "$(rules -a)" 'values = yes
[context *]
context = args retval
[context f]
context = args
[prototypes]
int f(int a,
[prototypes]
long b);' 'those of a configuration that is found hold for all processes'
is "$(rules -c xaudit.conf)" 'values = yes' 'one that is named is read by each'
printf '[context f]\ncontext = argh\n' >wrong.conf
rm xaudit.conf

# refused OPTION...: status and message.
refused() {
	bounded 60 "$XAUDIT" record -o trace "$@" -- sh -c 'echo it runs' 2>&1
	echo "$?"
}
is "$(refused -c wrong.conf)" "xaudit: $tmp/wrong.conf:2: no context is called 'argh'; there are args, retval, argN, \
fargN, ret, fret, errno, tid, cpu, comm, calls, backtrace, sample:BYTES:FUNCTION, regs, reg:NAME, \
TYPE:NAME:EXPRESSION, out:CONTEXT
125" 'what is wrong in a configuration is said before the command runs'
is "$(refused --context 'malloc:if=arg1')" "xaudit: record: --context malloc:if=arg1: a condition is as in arg1 > 100, \
not 'arg1'
125" 'and in an option'
is "$(refused -A 'f(int)')" "xaudit: record: -A: no function has the name 'f(int)'; allowed: FUNCGLOB or \
FUNCGLOB@LIBGLOB
125" 'so is a pattern that can have no function'
is "$(refused -R '')" "xaudit record: -R '' is empty; the configuration can't express that
125" 'or none'
printf '[context f]\ncontext = args\n[prototypes]\nint f(int a);\nstruct\n' >cut.conf
is "$(refused -c cut.conf | sed 's/, not.*//')" "xaudit: $tmp/cut.conf:5: expected the name of a structure
125" 'where a prototype has no end, its last line is told'
# ---- examples of the manual ----
sed -n '/^\.Sh EXAMPLES/,/^\.Sh SEE/{/^\.Bd -literal/,/^\.Ed/{/^\./d;s/\\e/\\/g;p;};}' \
	"$top_srcdir/doc/xaudit-contexts.7" >examples
sed -n '/^xaudit/p' examples >commands
sed '/^xaudit/d' examples >example.conf
mkdir bin
ln -s "$XAUDIT" bin/xaudit
while read -r example; do
	PATH=$tmp/bin:$PATH bounded 60 sh -c "$example" >out 2>err </dev/null
	is "$? $(grep -v 'job_' err)" '0 ' "it runs: $example"
	rm -rf xaudit.data*
done <commands
ok 'there are six' test "$(wc -l <commands)" -eq 6
bounded 60 "$XAUDIT" record -c example.conf true >out 2>err
is "$? $(grep -v 'nothing was selected' err)" '0 ' 'the configuration is taken'
like "$(bounded 60 "$XAUDIT" record -c example.conf sh -c 'cat "$XAUDIT_CONFIG"' 2>err)" 'shop_pay' \
	'and reaches processes'
done_testing
