#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Guards are switched by rules, at load and while the program runs, from inside and from outside, and xaudit's commands
# and functions show them. XAUDIT_SOAK=1: for longer.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/ctl.sh"

include="-I$top_srcdir/runtime/api"
library "$CC" libspin.so guard_spin.c "$include"
program "$CC" live guard_live.c "$include" "$top_builddir/libxaudit-api.a"
printf '[trace]\noutput = %s/nothing\n[library nosuch.so]\n' "$tmp" >none
rounds=400 reloads=1000
[ -z "$XAUDIT_SOAK" ] || rounds=40000 reloads=20000

# audited CONF COMMAND...: runs it under the module with these rules; prints its messages in one line.
audited() {
	conf=$1
	shift
	bounded 300 env XAUDIT_CONFIG="$tmp/$conf" LD_AUDIT="$MODULE" "$@" 2>.err | tr '\n' ';'
}

# ---- by rules, at load ----

# ruled STATE SENTENCE: the rules on standard input leave the guards in this state.
ruled() {
	{
		printf '[trace]\noutput = %s/nothing\n' "$tmp"
		cat
	} >ruled
	is "$(audited ruled ./live)" "state $1;" "$2"
}
ruled 1/13 'guards are on in a library that no section names' </dev/null
ruled 1/13 'and in one that a section names without kinds' <<'END'
[library *]
END
ruled 0/0 'not where a section names other kinds' <<'END'
[library libspin.so]
kinds = xray patchable
END
ruled 1/13 'but where it names theirs' <<'END'
[library libspin.so]
kinds = guard
END
ruled 0/0 'not where it wants nothing' <<'END'
[library libspin.so]
kinds = none
END
ruled 1/10 'a function is excluded' <<'END'
[library libspin.so]
exclude = guard_three
END
ruled 0/10 'one is selected' <<'END'
[library libspin.so]
kinds = guard
functions = *_local
END
ruled 0/0 'enabled = no' <<'END'
enabled = no
END
ruled 0/0 'prepare = none' <<'END'
prepare = none
END

# ---- from inside ----

cat >expected <<'END'
begins 1/13
disable guard:guard_three: 0, 1 functions, 3 changed, 0 already, 0 refused
off 1/10
disable guard:*_local@libspin*: 0, 1 functions, 1 changed, 0 already, 0 refused
off 1/0
disable guard:nothing: 0, 0 functions, 0 changed, 0 already, 0 refused
off 1/0
disable xray,plt:*: 0, 0 functions, 0 changed, 0 already, 0 refused
off 1/0
disable *: 0, 3 functions, 1 changed, 4 already, 0 refused
off 0/0
disable guard:*: 0, 3 functions, 0 changed, 5 already, 0 refused
enable guard:guard_three: 0, 1 functions, 3 changed, 0 already, 0 refused
on 0/3
enable guard:*_local@libspin*: 0, 1 functions, 1 changed, 0 already, 0 refused
on 0/13
enable guard:nothing: 0, 0 functions, 0 changed, 0 already, 0 refused
on 0/13
enable xray,plt:*: 0, 0 functions, 0 changed, 0 already, 0 refused
on 0/13
enable *: 0, 3 functions, 1 changed, 4 already, 0 refused
on 1/13
END
is "$(audited none ./live rules)" "$(tr '\n' ';' <expected)" \
	'rules switch the guards of functions, all of one function together'
is "$(audited none ./live threads $rounds)" \
	"0 failed, $((rounds * 5)) changed, own $((rounds / 2 * 10)), wrong 0, sure of both;" \
	"$rounds switches under eight threads: every call behind one is in its state"
diag "$(cat .err)"
is "$(audited none ./live fork)" 'child 1/13;disable guard:*: 0, 3 functions, 5 changed, 0 already, 0 refused;'\
'child 0/0;parent 1/13;' \
	'a forked child has them on, and switches its own alone'
taken=$((reloads / 2 * 14 + reloads / 2 * 13))
is "$(audited none ./live reload $reloads)" \
	"disable guard:guard_spin@libspin.so: 0, 0 functions, 0 changed, 0 already, 0 refused;taken $taken, \
off $((reloads / 2)), as many mappings;" \
	"$reloads loads and unloads: each time they are on; what is switched off meanwhile stays so"

# ---- what is written ----

is "$(audited none ./live text one)/$(audited none ./live text two)" 'text r-xp;/text r-xp;' \
	'the text is protected as ever, and nothing is writable and executable'
ok 'patched text is the same in every process' cmp one two
# It works as well where memory that was writable must not become executable.
program "$CC" deny deny.c
denied() {
	bounded 300 ./deny "$how" env XAUDIT_CONFIG="$tmp/none" LD_AUDIT="$MODULE" "$@" 2>.err | tr '\n' ';'
}
for how in mdwe eperm kill; do
	status=0
	./deny "$how" true || status=$?
	if [ "$status" -eq 77 ]; then
		skip 3 "this kernel has no $how"
		continue
	fi
	is "$(denied ./live rules)" "$(tr '\n' ';' <expected)" "where $how is in force: rules switch guards"
	is "$(denied ./live threads 60)" '0 failed, 300 changed, own 300, wrong 0, sure of both;' \
		"where $how is in force: under eight threads, too"
	is "$(denied ./live text denied; cmp one denied)" 'text r-xp;' \
		"where $how is in force: the text is protected as ever, and the same"
done
# Without /proc nothing can be learned from it, and text can't be written through it.
bare='mount -t tmpfs none /proc && exec "$@"'
if ./deny eperm unshare -m sh -c "$bare" bare true 2>/dev/null; then
	is "$(bounded 60 ./deny eperm unshare -m sh -c "$bare" bare env XAUDIT_CONFIG="$tmp/none" LD_AUDIT="$MODULE" \
		./live rules 2>.err |
		tr '\n' ';')" "$(tr '\n' ';' <expected)" 'so where there is no /proc either'
else
	skip 1 'no mount namespace here'
fi
bounded 60 ./live text file >/dev/null
is "$(cmp -l file one | awk '$2 == 17 && $3 == 351 { n++; at = $1 } $1 >= at + 5 { other++ }
	END { print n, other + 0 }')" '5 0' \
	'it is the file but for five places, where a NOP of 0f became a jump of e9'
audited none ./live table | tr ';' '\n' >table
is "$(awk -F '\t' '$1 == "function" { print $2, $4, $5, $9 }' table | sort | tr '\n' ';')" \
	'0 guard on guard_local;0 guard on guard_spin;0 guard on guard_three;' 'the table tells functions'
is "$(awk -F '\t' '$1 == "function" { name = $9 } $1 == "point" { print name, $2, $5, $6 }' table | sort | uniq -c |
	tr -s ' ' | tr '\n' ';')" \
	' 1 guard_local 0 guard 5; 1 guard_spin 0 guard 5; 3 guard_three 0 guard 5;' 'and points'
is "$(bounded 60 "$XAUDIT" list --format=json libspin.so | jq -c \
	'.sites.guard, ([.functions[] | select(.kinds | index("guard")) | .name] | sort)' |
	tr '\n' ' ')" '5 ["guard_local","guard_spin","guard_three"] ' 'xaudit list knows them'

# ---- from outside ----

# site WORD: of the guards of libspin.so.
site() {
	status ".objects[] | select(.path | endswith(\"libspin.so\")) | .kinds.guard.$1"
}
begin_live() {
	cp none conf
	begin ./live serve
}
# called: what the program prints of its guards.
called() {
	tell .
	tail -n 1 out
}
begin_live
is "$(called)" 'called 1/13' 'a program runs with its guards on'
is "$(site functions) $(site sites) $(site on)" '3 5 5' 'ctl status counts its guards'
ctl "$pid" disable 'guard:guard_three'
like "$out" '^1 function: 3 sites switched off, 0 ' 'ctl disable switches those of a function off'
is "$(called), $(site on)" 'called 1/10, 2' 'they are'
ctl "$pid" stop
is "$status $(called)" '0 called 1/10' 'ctl stop leaves guards as they are'
ctl "$pid" mode count
is "$status $(called)" '0 called 1/10' 'mode count does, too'
ctl "$pid" start
ctl "$pid" disable '*'
like "$out" '^[0-9]* functions: 2 sites switched off, 3 ' 'a rule for all kinds concerns guards'
is "$(called), $(site on)" 'called 0/0, 0' 'all of them are off'
is "$(awk '/^[0-9a-f]+-/ { ours = $2 ~ /x/ && /libspin/ } ours && /^Anonymous/ { print $2 }' "/proc/$pid/smaps")" 0 \
	'and the text is the file again'
ctl "$pid" enable 'guard:guard_spin' 'guard:guard_local@libspin.so'
like "$out" '^2 functions: 2 sites switched on, 0 ' 'ctl enable switches them on'
is "$(called), $(site on)" 'called 1/10, 2' 'they are on'
finish
is "$status $(cat err)" '0 ' 'the program ends as it should'
ok 'none of these processes made a trace' test ! -e nothing

# ---- beside functions, in a trace ----

library "$CC" libspin.so guard_spin.c "$include" -fpatchable-function-entry=5
record d -l libspin.so ./live
report d
is "$out, $(calls guard_spin) $(calls guard_three) $(calls guard_local)" 'state 1/13, 1 1 1' \
	'a function may have a patchable entry and guards: both work'
is "$(object d libspin.so '[.kinds, .sites.patchable, .sites.guard]')" \
	'[["xray","patchable","plt","guard"],{"traced":3},{"traced":3}]' 'xaudit info tells of both'
record d -k patchable -l libspin.so ./live
is "$out" 'state 0/0' 'with kinds that leave guards out they are off'
record d -N 'guard_*' ./live
is "$out" 'state 0/0' 'as with -N'

library "$CC" libspin.so guard_spin.c "$include" -DBOGUS
record d -l libspin.so ./live
is "$status $out" '0 state 1/13' 'guards work beside entries and notes that make no sense'
is "$(object d libspin.so .sites.guard)" \
	'{"traced":3,"the file'"'"'s tables contradict each other":1,'\
'"the bytes at the site are not what the compiler writes":2}' 'which are refused with the reason'
is "$(bounded 60 "$XAUDIT" check ./live 2>.err) $?" 'state 0/0 0' 'under xaudit check they are off'

# ---- without names ----

library "$CC" libspin.so guard_spin.c "$include" -s
cat >expected <<'END'
begins 1/13
disable guard:guard_three: 0, 1 functions, 3 changed, 0 already, 0 refused
off 1/10
disable guard:*_local@libspin*: 0, 0 functions, 0 changed, 0 already, 0 refused
off 1/10
END
is "$(audited none ./live rules | tr ';' '\n' | head -n 5)" "$(cat expected)" \
	'in a stripped library, functions that are not exported have no name'
is "$(audited none ./live table | tr ';' '\n' | awk -F '\t' '$1 == "function" { print $5, $9 }' | sort | tr '\n' ';')" \
	'on ;on guard_spin;on guard_three;' \
	'but are known, by where they begin'
status=0
./deny kill true || status=$?
if [ "$status" -eq 0 ]; then
	cp none conf
	begin ./deny kill env LD_AUDIT="$MODULE" ./live serve
	ctl "$pid" disable 'guard:guard_three'
	is "$(called)" 'called 1/10' 'ctl switches guards off where memory may not become executable'
	ctl "$pid" enable 'guard:*'
	is "$(called)" 'called 1/13' 'and on'
	finish
	is "$status" 0 'the program ends as ever'
else
	skip 3 'no filters here'
fi
done_testing
