#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit ctl function: functions of a running process by names of their own, which all that reads the trace has, with
# values from their first event on; what the trace knows already gets its name, too.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/ctl.sh"

XAUDIT_INDEX=$tmp/cache
export XAUDIT_INDEX
mkdir plain patchable
library "$CC" plain/libweighed.so weighed_library.c
library "$CC" patchable/libweighed.so weighed_library.c -fpatchable-function-entry=5
for folder in plain patchable; do
	program "$CC" $folder/weighed weighed.c -L$folder -lweighed
done
# weighed_rules KINDS: of the library.
weighed_rules() {
	printf '[trace]\noutput = %s\n[library libweighed.so]\nkinds = %s\n' "$tmp/d" "$1" >conf
	printf '[library *]\nkinds = none\n[program]\nkinds = none\n' >>conf
	rm -rf d
}
# answer: of ctl, without times.
answer() {
	printf '%s %s %s\n' "$status" "$out" "$err" | sed 's/[0-9.]* ms/T ms/g'
}
# entries NAME: how many calls of that name the trace has; valued NAME: how many of them have an argument.
entries() {
	bounded 60 "$XAUDIT" dump --format=json d |
		jq -n --arg n "$1" '[inputs | select(.event == "entry" and .function == $n)] | length'
}
valued() {
	bounded 60 "$XAUDIT" dump --no-pager d | grep -c "  entry  *0x[0-9a-f]*  $1([12]"
}

for kind in plain patchable; do
	weighed_rules none
	[ $kind = plain ] || weighed_rules patchable
	[ $kind = plain ] || sed -i 's/^kinds = patchable$/&\nfunctions = nothing_of_that_name/' conf
	begin $kind/weighed
	tell 'call 10'
	ctl "$pid" function 'my weigh=weigh@libweigh*' --context=args
	like "$(answer)" '^0 1 function: 1 site switched on, 0 were already, paused T ms *$' \
		"$kind: a function is switched on, by a name"
	tell 'call 5'
	ctl "$pid" function --every=5 text=weigh_text
	like "$(answer)" '^0 1 function: 1 site switched on, ' \
		"$kind: another one, of which one call in five is recorded"
	tell 'call 5'
	ctl "$pid" function again=weigh
	like "$(answer)" '^0 1 function: 0 sites switched on, 1 was already, ' \
		"$kind: the first one gets another name"
	tell 'call 5'
	ctl "$pid" disable weigh
	tell 'call 5'
	ctl "$pid" add-context weigh_text longer=100s
	tell 'call 5'
	finish
	is "$status $(cat err)" '0 ' "$kind: the program notices nothing"
	is "$(entries again) $(entries 'my weigh') $(entries weigh)" '15 0 0' \
		"$kind: all its calls have the newest name"
	is "$(valued again)" 15 "$kind: and their values, from the first one on"
	is "$(entries text)" 3 "$kind: the other one has a fifth of its calls, and then those alone that take long"
	for word in again weigh; do
		bounded 60 "$XAUDIT" graph "$word" d >graph.out 2>&1
		is $? 0 "$kind: graph finds it by $word"
	done
done

weighed_rules plt
begin plain/weighed
tell 'call 3'
ctl "$pid" function 'bound=weigh'
tell 'call 2'
finish
is "$(entries bound) $(entries weigh)" '5 0' 'a binding that is on has the name, for all its calls'

weighed_rules none
begin plain/weighed
tell 'call 1'
ctl "$pid" function
like "$(answer)" "^2 .*function what[?] give functions: .NAME=.SYMBOL" 'without a function'
ctl "$pid" function weigh+4
like "$(answer)" "^2 .*function weigh[+]4: that is no function's name; .probe. takes any instruction" \
	'a place that is none'
ctl "$pid" function --context='int:x' n=weigh
is "$status $(printf '%s\n' "$err" | wc -l)" '2 1' 'a wrong context'
ctl "$pid" function n=nosuch@libweighed.so
like "$(answer)" "'nosuch@libweighed.so' names nothing: .* .it holds for what is loaded later" 'a name that nothing has'
is "$status" 1 'is no success'
finish
is "$status $(cat err)" '0 ' 'the program notices nothing of that'
done_testing
