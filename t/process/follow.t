#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Programs that a traced program executes: they are traced under `xaudit record` and with follow = yes, else left alone.
. "${top_srcdir:-.}/t/lib/tap.sh"

need sh env
skip_sanitized
cd "$tmp" || bail 'no scratch folder'

folders() {
	ls -d "$1"/p* 2>/dev/null | wc -l | tr -d ' '
}

run() { # NAME FOLLOW: a shell that runs another shell
	printf '[trace]\noutput = %s\n%s[program]\nkinds = calls\n[library *]\nkinds = none\n' "$tmp/$1" "$2" >"$1.conf"
	bounded 60 env XAUDIT_CONFIG="$tmp/$1.conf" LD_AUDIT="${3-}$MODULE" sh -c \
		"sh -c 'echo \$LD_AUDIT; exit 7'; echo \$?" >"$1.out" 2>"$1.err"
}

run default ''
is "$(folders default)" 1 'LD_AUDIT alone: the program is traced, what it executes is not'
is "$(cat default.out)" "$(printf '\n7')" 'the executed program has no LD_AUDIT left, and its status comes back'
run yes 'follow = yes
'
is "$(folders yes)" 2 'follow = yes: both are traced'
is "$(cat yes.out)" "$(printf '%s\n7' "$MODULE")" 'LD_AUDIT is as it was'
run no 'follow = no
'
is "$(folders no)" 1 'follow = no: one'

printf 'unsigned la_version(unsigned version)\n{\n\treturn version;\n}\n' >other.c
$CC -shared -fPIC -o other.so other.c || bail 'no compiler'
run others '' "$tmp/other.so:"
is "$(cat others.out)" "$(printf '%s:\n7' "$tmp/other.so")" 'other auditors stay'

ln -s "$MODULE" link.so || bail 'no link'
MODULE=$tmp/link.so
run link ''
is "$(cat link.out)" "$(printf '\n7')" 'nor has it where the module is loaded by another name'

bounded 60 "$XAUDIT" record -o recorded -k calls -- sh -c 'sh -c "exit 7"; :' 2>record.err
is "$(folders recorded)" 2 'xaudit record: both are traced'
done_testing
