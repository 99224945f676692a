#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Functions that get a name of their own, by `--function NAME=SYMBOL` or a configuration: whoever reads the trace has
# that name, of every kind of event, and may still ask by the symbol.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

printf 'V1 { global: verb; };\nV2 { global: *; };\n' >"$tmp/map"
library "$CC" libaliased.so aliased_library.c -Wl,--build-id,--version-script="$tmp/map"
program "$CC" aliased aliased.c -L. -laliased
XAUDIT_INDEX=$tmp/cache
export XAUDIT_INDEX
# found COMMAND WORD: does the command find calls of it?
found() {
	bounded 60 "$XAUDIT" "$1" "$2" "$tmp/entry" >/dev/null 2>&1 && echo yes
}

record entry -k entry --function 'my put=put_quickly@libaliased*' --function old=__verb_old -F verb ./aliased
is "$status;$err" '0;' 'nothing is said'
report entry
is "$(calls 'my put') $(calls old) $(calls verb);$(calls put)$(calls verb_today)" '3 1 3;' \
	'report has the names, of functions by any of their symbols'
for word in 'my put' put __lib_put put_quickly old verb; do
	is "$(found graph "$word") $(found slow "$word")" 'yes yes' "graph and slow know $word"
done
bounded 60 "$XAUDIT" dump --format=json entry >dump
is "$(jq -r 'select(.event == "entry") | .function' dump | sort | uniq -c | tr -s ' ' | tr '\n' ';')" \
	' 3 my put; 1 old; 3 verb;' 'so has dump'
is "$(bounded 60 "$XAUDIT" export --format=folded entry | sed 's/.*;//; s/ [0-9]*$//' | sort | tr '\n' ';')" \
	'my put;old;verb;' 'so have exports'

record plt -k plt --function A=put --function B=put_quickly ./aliased
report plt
is "$(calls A) $(calls B);$(calls put)$(calls put_quickly)" '1 2;' 'bindings have the names of what they are bound by'

patchable_library libaliased.so aliased_library.c -Wl,--version-script="$tmp/map"
printf '[trace]\nvalues = no\n[library libaliased*]\n[context __lib_put]\nname = from a file ; remark\n' >named.conf
record patchable -c named.conf ./aliased
report patchable
is "$status;$err;$(calls 'from a file') $(calls __lib_put)" '0;;3 ' 'a configuration names functions that have sleds'
printf '[context __lib_put]\nname = found\n[context __verb_new]\nname = verbose\n' >xaudit.conf
record found -k patchable --function given=__lib_put -F __verb_new ./aliased
report found
is "$(calls given) $(calls verbose) $(calls found)$(calls __verb_new)" '3 3 ' \
	'options name before a configuration that is found'
rm xaudit.conf
bounded 60 "$XAUDIT" trace -q --function traced=put ./aliased >/dev/null 2>lines
is "$(cat lines)" 'traced(1) = 2' 'trace prints the name'
done_testing
