#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit check: findings that a file describes are not reported; such descriptions can be generated.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/checked.sh"
library "$CC" LLVMgold.so check_plugin.c -Wl,-z,nodelete

# result: status, reported kinds, number of suppressed findings.
result() {
	printf '%s %s %s' "$status" "$(ask '[.findings[].kind] | join(" ")')" "$(ask .suppressed)"
}
# block LINE...: writes one suppression to the file "supp", with its name in the second line.
block() {
	{
		printf '{\n  of a test\n'
		printf '   %s\n' "$@"
		printf '}\n'
	} >supp
}

# ---- patterns ----

block Xaudit:signal-handler lib:plugin.so
check --suppressions=supp -- ./host handler ./plugin.so
is "$(result)" '0  1' 'a finding that a file names by kind and library is not told, and does not change the status'
is "$(ask -c .suppressions)" '[{"name":"of a test","file":"supp","line":2,"times":1}]' \
	'the report says which suppression it was'
bounded 60 "$XAUDIT" check --suppressions=supp ./host handler ./plugin.so >out 2>err
is "$? $(cat err)" '0 xaudit check: 0 findings, 1 suppressed; 1 unload in 1 process checked' 'the text counts it'

# try WANTED SENTENCE LINE...: are the findings of the host suppressed by such a block?
try() {
	wanted=$1 sentence=$2
	shift 2
	block "$@"
	check --suppressions=supp -- ./host handler ./plugin.so
	is "$(result)" "$wanted" "$sentence"
}
yes='0  1' no='1 signal-handler 0'
try "$yes" 'kinds are patterns' 'Xaudit:signal-*'
try "$no" 'another kind leaves it alone' Xaudit:atexit
try "$no" 'so does another library' Xaudit:signal-handler lib:nodelete.so
try "$no" 'a pattern is of the whole name' Xaudit:signal-handler lib:plugin
try "$yes" 'a pattern with a slash is of the path' Xaudit:signal-handler "lib:$tmp/pl?gin.so"
try "$no" 'and of all of it' Xaudit:signal-handler lib:/plugin.so
try "$yes" 'functions are those of the beginning of a stack' Xaudit:signal-handler fun:close_plugin 'fun:m?in'
try "$no" 'and of its very beginning' Xaudit:signal-handler fun:main
try "$yes" 'dots stand for any number of frames' Xaudit:signal-handler ... fun:main
try "$yes" 'none, too' Xaudit:signal-handler ... fun:close_plugin ... fun:main ...
try "$no" 'what comes earlier in the stack is not found behind them' Xaudit:signal-handler ... fun:main ... \
	fun:close_plugin
try "$yes" 'after a false start, the right place is found' Xaudit:signal-handler ... obj:host fun:main
try "$yes" 'objects are named like libraries' Xaudit:signal-handler obj:host 'obj:*/host' 'fun:*'
try "$no" 'a stack that is too short does not match' Xaudit:signal-handler ... fun:main 'obj:*' 'obj:*' 'obj:*' \
	'obj:*' 'obj:*' 'obj:*'
try "$yes" 'a block can be of several tools' Memcheck,Xaudit:signal-handler
try "$no" 'one of another tool is passed over, whatever is in it' Memcheck:Leak match-leak-kinds:possible \
	fun:close_plugin

block Xaudit:thread-inside fun:close_plugin
check --suppressions=supp -- ./host inside ./plugin.so
is "$(result)" '0  1' 'each stack of a finding counts'

# ---- files ----

block Xaudit:atexit
mv supp other
block Xaudit:signal-handler
printf '# nothing\n\n' | cat - supp >two
check --suppressions=other --suppressions=two -- sh -c \
	'./host handler ./plugin.so; ./host atexit ./plugin.so; ./host key ./plugin.so'
is "$(result)" '1 key-destructor 2' 'there may be several files; what they do not describe is told'
is "$(ask '.suppressions[] | "\(.file):\(.line)"' | sort | tr '\n' ' ')" 'other:2 two:4 ' \
	'comments and empty lines count as lines'

# bad LINE-NUMBER WHAT SENTENCE: the present file "supp" gives this error.
bad() {
	status=0
	bounded 60 "$XAUDIT" check --suppressions=supp touch ran >out 2>err || status=$?
	is "$status $(wc -l <err) $(cut -c1-$((21 + ${#1} + ${#2})) err)" "125 1 xaudit check: supp:$1: $2" "$3"
}
block Xaudit:signal-handlers
bad 3 'there is no kind of finding: signal-handlers;' 'a kind that there is not is refused'
block signal-handler
bad 3 'expected Xaudit:KIND: signal-handler;' 'so is one without its tool'
block Xaudit:atexit fun:
bad 4 'expected lib:, fun: or obj:' 'a line without a pattern'
block Xaudit:atexit source:x.c
bad 4 'expected lib:, fun: or obj:' 'a line of another kind'
block Xaudit:atexit fun:x lib:y
bad 5 'lib: comes once, and before the stack;' 'a library in the wrong place'
printf 'Xaudit:atexit\n' >supp
bad 1 "expected '{': Xaudit:atexit;" 'a file of something else'
printf '{\nname\nXaudit:atexit\n' >supp
bad 3 "the last suppression has no '}';" 'a block without end'
bounded 60 "$XAUDIT" check --suppressions=none touch ran >out 2>err
is "$? $(cat err)" "125 xaudit check: suppressions none can't be read: No such file or directory" \
	'so is a file that is not there'
bounded 60 "$XAUDIT" check --suppressions=. touch ran >out 2>err
is "$? $(wc -l <err)" '125 1' 'or a folder'
bounded 60 "$XAUDIT" check --default-suppressions=perhaps touch ran >out 2>err
is "$? $(wc -l <err)" '125 1' 'a wrong word is refused in one line'
ok 'the command did not run' test ! -e ran

# ---- defaults ----

check -- ./host stay ./LLVMgold.so
is "$(result) $(ask -c '.suppressions[0] | [.name, .line > 0]') $(ask '.notes | length')" \
	'0  1 ["binutils: the linker plugin of LLVM",true] 0' 'the file that comes with xaudit is read'
library "$CXX" libstdc++.so.6.0.99 check_unique.cc -std=c++17 -DUNIQUE
check -- ./host stay ./libstdc++.so.6.0.99
is "$(result)" '0  1' 'unique symbols of the C++ library are nobody'"'"'s mistake'
check --default-suppressions=no -- ./host stay ./libstdc++.so.6.0.99
is "$(result)" '1 stayed 0' 'but for that file they are errors'
check --default-suppressions=no -- ./host stay ./LLVMgold.so
is "$(result)" '0 stayed 0' '--default-suppressions=no does without it'
check -- ./host stay ./nodelete.so
is "$(result)" '0 stayed 0' 'what it does not describe is told'
mkdir installed
cp "$XAUDIT" installed/xaudit
XAUDIT_MODULE=$MODULE bounded 60 installed/xaudit check true >out 2>err
status=$?
if [ -e "$(strings "$XAUDIT" | grep '/default\.supp$' | grep '^/' | head -n 1)" ]; then
	skip 1 'xaudit is installed here'
else
	is "$status $(grep -c 'default.supp, were not found$' err)" '0 1' 'where it is not found, that is said'
fi

# ---- generating ----

# again MISTAKE: the suppression generated for it suppresses it, and has the right text.
for mistake in handler inside late atexit key; do
	bounded 60 "$XAUDIT" check --gen-suppressions ./host $mistake ./plugin.so >out 2>err
	sed -n '/^{$/,/^}$/p' err >generated
	told=$(grep -c '^{$' generated)
	check --suppressions=generated -- ./host $mistake ./plugin.so
	is "$told $(ask '.findings | length') $(ask .suppressed)" '1 0 1' \
		"what is generated for the mistake '$mistake' suppresses it"
done
bounded 60 "$XAUDIT" check --gen-suppressions ./host handler ./plugin.so >out 2>err
sed -n '/^{$/,/^}$/p' err >generated
is "$(head -n 6 generated)" "{
   <name of a suppression>
   Xaudit:signal-handler
   lib:$tmp/plugin.so
   fun:close_plugin
   fun:main" 'it names kind, library and functions'
check --gen-suppressions -- ./host handler ./plugin.so
is "$(ask '.findings[0].suppression')" "$(cat generated)" 'JSON has it, too'
check -- ./host handler ./plugin.so
is "$(ask '.findings[0] | has("suppression")')" false 'when it was asked for'

# Characters with a meaning in patterns, and terminals' control characters.
odd=$(printf 'a[*]\\\033\302\2331m.so')
cp plugin.so "$odd"
bounded 60 "$XAUDIT" check --gen-suppressions ./host handler "./$odd" >out 2>err
sed -n '/^{$/,/^}$/p' err >generated
is "$(sed -n 's,^   lib:.*/,,p' generated)" 'a\[\*]\\???1m.so' 'odd characters of a path are masked'
check --suppressions=generated -- ./host handler "./$odd"
is "$(result)" '0  1' 'and it still matches'
check --suppressions=generated -- ./host handler ./plugin.so
is "$(result)" '1 signal-handler 0' 'but no other'
done_testing
