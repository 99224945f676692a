#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit ctl add-context, del-context, contexts: values of calls, while the program runs, of each kind of functions.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/ctl.sh"

XAUDIT_INDEX=$tmp/cache
export XAUDIT_INDEX
mkdir plain patchable xray
library "$CC" plain/libweighed.so weighed_library.c
library "$CC" patchable/libweighed.so weighed_library.c -fpatchable-function-entry=5
for folder in plain patchable; do
	program "$CC" $folder/weighed weighed.c -L$folder -lweighed
done
index_of plain/libweighed.so

# rules KINDS [LINE]...
weighed_rules() {
	kinds=$1
	shift
	printf '[trace]\noutput = %s\n[library libweighed.so]\nkinds = %s\n' "$tmp/d" "$kinds" >conf
	[ $# = 0 ] || printf '%s\n' "$@" >>conf
	rm -rf d
}
# events TEXT FUNCTION: how it is written in the events of that type, without times and addresses, each once, with its
# count.
events() {
	bounded 60 "$XAUDIT" dump d | sed -n "s/^[0-9.]*  *[0-9]*  *$1 *0x[0-9a-f]* *\\($2\\(\$\\|[ (].*\\)\\)/\\1/p" |
		sed 's/  .*//; s/0x[0-9a-f][0-9a-f]*/PTR/g' | uniq -c | sed 's/^ *//'
}

# kind NAME KIND PROGRAM
kind() {
	name=$1
	weighed_rules "$2"
	begin "$3"
	tell 'call 10'
	ctl "$pid" contexts
	is "$status $out $err" '0 no values of calls are asked for ' "$name: at first there are none"
	ctl "$pid" add-context 'weigh' args retval
	is "$status $(printf '%s\n' "$out" | sed 's/[0-9.]* ms/T ms/') $err" \
		'0 1 traced function has values by that, paused T ms ' "$name: values of a function are asked for"
	tell 'call 2'
	ctl "$pid" add-context 'weigh_*@libweigh*' args 'fret' 'if=farg1 < 1'
	tell 'call 3'
	ctl "$pid" contexts
	is "$out" "weigh: context = args  (ctl add-context)
weigh: context = retval  (ctl add-context)
weigh_*@libweigh*: context = args  (ctl add-context)
weigh_*@libweigh*: context = fret  (ctl add-context)
weigh_*@libweigh*: if = farg1 < 1  (ctl add-context)" "$name: they are listed"
	ctl "$pid" del-context weigh
	is "$status $(printf '%s\n' "$out" | sed 's/[0-9.]* ms/T ms/') $err" \
		'0 1 traced function had values, paused T ms ' "$name: they are asked for no more"
	tell 'call 5'
	ctl "$pid" del-context '*'
	tell 'call 1'
	finish
	is "$status $(cat err)" '0 ' "$name: the program notices nothing"
	is "$(events entry weigh)" '10 weigh
1 weigh(10, 30)
1 weigh(11, 33)
1 weigh(12, 36)
1 weigh(13, 39)
1 weigh(14, 42)
6 weigh' "$name: five calls have arguments"
	is "$(events exit weigh)" '10 weigh
1 weigh = 40
1 weigh = 44
1 weigh = 48
1 weigh = -1
1 weigh = 56
6 weigh' "$name: and results"
	is "$(events entry weigh_text)" '12 weigh_text
1 weigh_text("12", 0.5)
1 weigh_text("13", 0.5)
1 weigh_text("14", 0.5)
1 weigh_text("15", 0.5)
1 weigh_text("16", 0.5)
1 weigh_text("17", 0.5)
1 weigh_text("18", 0.5)
1 weigh_text("19", 0.5)
1 weigh_text' "$name: texts and doubles"
	report d
	is "$(calls weigh) $(calls weigh_text), $(sums)" '21 21, 0 lost 0 unfinished' "$name: no call is lost"
}
kind plt plt plain/weighed
kind patchable patchable patchable/weighed
kind entry entry plain/weighed
if xray_library xray/libweighed.so weighed_library.c; then
	program "$CC" xray/weighed weighed.c -Lxray -lweighed
	kind xray xray xray/weighed
else
	skip 9 'no clang here'
fi

# ---- what is recorded in another way, or not at all, and then again ----

weighed_rules plt '[context weigh]' 'context = args retval'
begin plain/weighed
# step COMMAND...: then five calls.
step() {
	ctl "$pid" "$@"
	ok "$*" test "$status" -eq 0
	tell 'call 5'
}
tell 'call 5'
step stop
step start
step mode count
step mode ring
ctl "$pid" snapshot
copy=${out%%:*}
step mode stream
finish
is "$status $(cat err)" '0 ' 'the program notices nothing'
made=$(seq 0 4; seq 10 14; seq 20 29)
is "$(events entry weigh)" "$(for i in $made; do echo "1 weigh($i, $((3 * i)))"; done)" \
	'calls that are recorded have values, in each mode'
is "$(events exit weigh)" "$(for i in $made; do
	echo "1 weigh = $([ "$i" -eq 13 ] && echo -1 || echo $((4 * i)))"
done)" 'and results'
is "$(bounded 60 "$XAUDIT" dump "$copy" | grep -c ' weigh(2[0-4], [0-9]*)')" 5 'so have those in a snapshot'

# ---- backtraces, for which indexes are made of all objects, and looked for in those that are loaded ----

weighed_rules plt
begin plain/weighed
tell 'call 3'
ctl "$pid" add-context '' args
is "$status $err" '2 xaudit ctl: add-context: a word is empty' 'no function'
ctl "$pid" del-context nothing
is "$status $err" "1 xaudit ctl: 'nothing' names no probe, and no function of which values were asked for; \
\`contexts\` lists them" 'values that nobody asked for'
ctl "$pid" add-context later_one args
ctl "$pid" del-context later_one
is "$status $err" '0 ' 'what was asked for of functions that are loaded later is taken back'
ctl "$pid" add-context weigh backtrace
tell 'call 4'
finish
is "$status $(cat err)" '0 ' 'the program notices nothing of backtraces that are asked for while it runs'
is "$(bounded 60 "$XAUDIT" dump --format=json d | jq -r 'select(.event == "entry" and .function == "weigh") |
	[.values // [] | .[].value | .end, .frames[].function] | join(" ")' | uniq -c | sed 's/^ *//')" \
	'3 
4 nobody called it main __libc_start_call_main __libc_start_main _start' 'calls from then on have them'

# From the constructor of a library, which ld.so has called, and from handlers that came in the middle of the module.
cat >opened.c <<'END'
int weigh(int a, long b);
static __attribute__((constructor)) void construct(void)
{
	weigh(-1, 0);
}
END
$CC -O2 -fno-optimize-sibling-calls -fPIC -shared -o plain/opened.so opened.c -Lplain -lweighed ||
	bail 'the library does not compile'
rm -rf cache/*
weighed_rules plt
begin plain/weighed
tell 'call 1'
ctl "$pid" add-context weigh backtrace:40
ctl "$pid" add-context weigh_text backtrace:40
tell "open $tmp/plain/opened.so"
tell 'signals 1000'
finish
is "$status $(cat err)" '0 ' 'the program notices nothing of that either'
# chains FUNCTION [TEXT]: how its backtraces end, and whether they have main(); of those with that text.
chains() {
	bounded 60 "$XAUDIT" dump --format=json -F "$1" d | grep -F "${2-\"backtrace\"}" | jq -r --arg f "$1" \
		'select(.event == "entry" and .function == $f) |
		.values[] | select(.name == "backtrace") | .value |
		.end + ", " + ([.frames[].function] | if any(. == "construct") then "construct " else "" end +
			if any(. == "main") then "main" else "" end)' | sort | uniq -c | sed 's/^ *//'
}
is "$(chains weigh '"construct"')" '1 nobody called it, construct main' 'a constructor has callers, through ld.so'
chains weigh_text >by
is "$(sed 's/^[0-9]* //' by | tr '\n' ';')" \
	'nobody called it, main;unwind information in a form that is not followed, ;' \
	'so have handlers that come in the middle of the module, but where it returns'
ok 'and each has its backtrace' [ "$(awk '{ all += $1 } END { print all }' by)" -ge 1000 ]

# ---- what is left out, and what is wrong ----

weighed_rules plt
begin plain/weighed
ctl "$pid" add-context weigh args retval 'if=ret < 0'
tell 'call 20'
ctl "$pid" add-context nowhere args
is "$status $(printf '%s\n' "$out" | sed 's/[0-9.]* ms/T ms/')" \
	'1 0 traced functions have values by that, paused T ms' 'a function that is not there has no values'
is "$err" "xaudit ctl: 'nowhere' names no probe, and no function that is traced and can have these values (it holds \
for what is loaded later)" 'that is said'
ctl "$pid" add-context weigh argz
like "$status $out $err" "^2  xaudit.*: no context is called 'argz'" 'nor is a context that does not exist asked for'
ctl "$pid" add-context weigh
like "$status $out $err" '^2  xaudit ctl: add-context what[?] ' 'nor none at all'
ctl "$pid" del-context
like "$status $out $err" '^2  xaudit ctl: del-context what[?] ' 'nor is none deleted'
ctl "$pid" contexts weigh
is "$status $out $err" '2  xaudit ctl: contexts takes no argument' 'contexts takes no argument'
finish
is "$(events entry weigh)|$(events exit weigh)" '1 weigh(13, 39)|1 weigh = -1' \
	'of all calls, the one is there that the condition wants'
report d
is "$(calls weigh_text), $(sums)" '20, 0 lost 0 unfinished' 'and all those of the other function'
done_testing
