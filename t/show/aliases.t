#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Functions that have several names: a displaced entry is recorded under the name that people type, and whoever reads
# the trace may use any of them.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

printf 'V1 { global: verb; };\nV2 { global: *; };\n' >"$tmp/map"
library "$CC" libaliased.so aliased_library.c -Wl,--build-id,--version-script="$tmp/map"
program "$CC" aliased aliased.c -L. -laliased
XAUDIT_INDEX=$tmp/cache
export XAUDIT_INDEX
# found COMMAND WORD: the status of the command that asks for a function, and what it says where that is not 0.
found() {
	status=0
	bounded 60 "$XAUDIT" "$1" "$2" "$tmp/entry" >/dev/null 2>"$tmp/said" || status=$?
	printf '%s%s' "$status" "$(cat "$tmp/said")"
}

record entry -k entry -F __lib_put -F put_quickly -F 'verb*' -F __mangle ./aliased
is "$status;$err" '0;' 'names that people do not type select, and none is said to name nothing'
report entry
is "$(calls put) $(calls verb_today) $(calls verb) $(calls _Z6mangleiii)" '3 1 3 1' \
	'each function has its exported name without a _, of the default version, and the shorter one'
is "$(printf '%s\n' "$report" | jq '.functions | length')" 4 'and no other'
for word in put __lib_put put_quickly 'put_q*' __lib_put@libaliased.so 'mangle(int, int, int)' __mangle; do
	is "$(found graph "$word") $(found slow "$word")" '0 0' "graph and slow know $word"
done
is "$(found graph verb)" 0 'the name of one function is that, though it is an alias of another'
is "$(found graph __verb_old)" 0 'the other one by an alias of its own'
is "$(found graph '*put*')" 0 'a pattern that names several names of one function names one'
is "$(found graph lib_put | cut -d';' -f1)" "1xaudit graph: no call of a function 'lib_put' is in what was read" \
	'a name that no function has'
for option in callers callees hist; do
	bounded 60 "$XAUDIT" report --format=json "--$option=__lib_put@libaliased*" "$tmp/entry" >"$tmp/json"
	is "$(grep -c '"put"' "$tmp/json")" 1 "report --$option"
done

record entry -k entry -l 'libaliased*' -N put_quickly ./aliased
report entry
is "$(calls put);$(calls verb)" ';3' '-N leaves out by any name'
record entry -k entry -l 'libaliased*' -C __lib_put -C verb ./aliased
report entry
is "$(calls put) $(calls verb)" '3 3' '-C chooses by any name'

record plt -k plt -l 'libaliased*' ./aliased
report plt
is "$(calls put) $(calls put_quickly)" '1 2' 'a binding has the name by which it is bound'
record entry -k entry -l 'libaliased*' ./aliased
record other -k plt -F put_quickly ./aliased
diff=$(bounded 60 "$XAUDIT" report --diff --format=json "$tmp/other" "$tmp/entry")
is "$(printf '%s\n' "$diff" | jq -r '.functions[] | select(.old.calls and .new.calls) |
	"\(.function) \(.old.calls) \(.new.calls)"')" 'put_quickly 2 3' \
	'--diff compares a binding and an entry of one function'
diff=$(bounded 60 "$XAUDIT" report --diff --format=json "$tmp/entry" "$tmp/other")
is "$(printf '%s\n' "$diff" | jq -r '.functions[] | select(.old.calls and .new.calls) |
	"\(.function) \(.old.calls) \(.new.calls)"')" 'put 3 2' 'in either order'
diff=$(bounded 60 "$XAUDIT" report --diff --format=json "$tmp/plt" "$tmp/entry")
is "$(printf '%s\n' "$diff" | jq -r '.functions[] | select(.function | test("put")) |
	"\(.function) \(.old.calls // 0) \(.new.calls // 0)"' | sort)" 'put 1 3
put_quickly 2 0' 'a function that is there by its own name is compared with that'

# Aliases that a damaged trace has.
made() {
	rm -rf "$tmp/made"
	{
		printf 'process p100 flags=1\npair first 1000 1000 5\npair last 900000 900000 900005\n'
		printf 'object 1 /usr/lib/libfoo.so\nfunction 1 0 1 0x100 one\nfunction 1 0 2 0x200 two\n%s\n' "$1"
		printf 'thread 100 main\nentry 1 1000\nexit 1 1100\nentry 2 1200\nexit 2 1400\n'
	} | "$top_builddir/t/lib/make_trace" "$tmp/made" || bail 'make_trace failed'
}
graph() {
	bounded 60 "$XAUDIT" graph "$1" "$tmp/made" 2>&1 | sed 's/^.*made/made/' | sed -n '1p;$p'
}
made 'aliases 1 uno een
aliases 2 duo een'
is "$(graph een)" "xaudit graph: 'een' names 2 functions, one is needed: one@libfoo.so, two@libfoo.so
xaudit graph: 'een' names 2 functions, one is needed: one@libfoo.so, two@libfoo.so" \
	'an alias of two functions is that of both'
made 'aliases 1 uno two'
is "$(bounded 60 "$XAUDIT" slow two --format=json "$tmp/made" | jq -c '[.function, .calls]')" '["two",1]' \
	'slow leaves out calls of an alias where a function has the name as its own'
made 'aliases 7 uno'
is "$(bounded 60 "$XAUDIT" report "$tmp/made" 2>&1 >/dev/null | grep -c 'a record contradicts itself')" 1 \
	'aliases of a function that is not there are damage'
made 'aliases 1'
is "$(bounded 60 "$XAUDIT" graph one "$tmp/made" 2>&1 | grep -c libfoo)" 1 'an empty list'
done_testing
