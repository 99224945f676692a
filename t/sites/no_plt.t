#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Objects that were built without a PLT: what they call in others is seen, as by a PLT, and functions keep their
# addresses.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/ctl.sh"

XAUDIT_INDEX=$tmp/cache
export XAUDIT_INDEX
library "$CC" libput.so no_plt_put.c
# build COMPILER PROGRAM-FLAGS LIBRARY-FLAGS
build() {
	program "$1" no_plt no_plt.c $2 -L. -lput
	library "$1" libpart.so no_plt_part.c $3 -L. -lput
}
# traced WHAT RULE... : the calls of put() and other() by these rules are those that are in $expected.
traced() {
	what=$1
	shift
	record d "$@" ./no_plt 6 100
	is "$status;$out;$err" "0;$plain;" "$what: the program runs as it does"
	report d
	is "$(calls put),$(calls other) $(sums)" "$expected 0 lost 0 unfinished" "$what: and all its calls are there"
}
# Six rounds: in each, the program calls put() once, the part 101 times, and other() once.
cases() { # NAME
	plain=$(bounded 60 ./no_plt 6 100 | tr '\n' ' ')
	plain=${plain% }
	plain=$(printf '%s\n' "$plain" | sed 's/ \([0-9-]*\) \(same\)$/\n\1 \2/')
	expected=612,6
	traced "$1, kind plt" -k plt -l 'libput*'
	expected=606,6
	traced "$1, kind calls of a library that is opened" -k calls -l 'libpart*'
}

for compiler in "$CC" $CLANG; do
	build "$compiler" -fno-plt -fno-plt
	cases "$compiler -fno-plt"
	expected=6,
	printf '[program]\nkinds = calls\nfunctions = put\n' >conf
	traced "$compiler -fno-plt, kind calls of the program" -c conf
	record d ./no_plt 6 100
	report d
	is "$(calls put) $(calls dlopen) $(calls fork)" '6 6 1' \
		"$compiler -fno-plt: \`record\` alone shows what the program calls"
	build "$compiler" '-fno-plt -Wl,-z,now' '-fno-plt -Wl,-z,now'
	cases "$compiler -fno-plt, bound at once"
done
# With a PLT, the linker makes one stub of the program's calls of put() and of its address, which is in the GOT.
for flags in '-Wl,-z,lazy' '-Wl,-z,now' '-fcf-protection=full -Wl,-z,now' '-fcf-protection=full -Wl,-z,ibtplt'; do
	build "$CC" "-fplt $flags" -fno-plt
	cases "a program with a PLT, $flags"
done
# At fixed addresses, the program's own PLT stub may stand for put(): then the part is left alone.
build "$CC" '-fno-plt -fno-pie -no-pie' -fno-plt
plain=$(bounded 60 ./no_plt 6 100)
for kind in plt calls; do
	record d -k "$kind" -l 'lib*' ./no_plt 6 100
	is "$status;$out;$err" "0;$plain;" "a program at fixed addresses runs as it does, kind $kind"
	report d
	is "$(calls other) $(sums)" '6 0 lost 0 unfinished' 'and calls of what it does not call itself are there'
done

# Mixed: other() and one call of put() by the PLT. It is looked through where its index is asked for.
printf '[library libput*]\nkinds = plt\n[library libpart*]\nkinds = entry\nfunctions = none\n' >conf
for flags in -Wl,-z,now -Wl,-z,lazy; do
	$CC -O2 -fPIC -c -o others.o "$top_srcdir/t/sites/no_plt_others.c"
	build "$CC" -fno-plt "-fno-plt -DOTHERS others.o $flags"
	plain=$(bounded 60 ./no_plt 6 100)
	expected=618,6
	traced "one object with a PLT and without, $flags" -c conf
done

# A program whose own PLT stub stands for the function, and a part without a PLT that takes its address.
build "$CC" '-fplt -fno-pie -no-pie' -fno-plt
plain=$(bounded 60 ./no_plt 6 100)
record d -k plt -l 'libput*' ./no_plt 6 100
is "$status;$out;$err" "0;$plain;" "a function whose address is the program's PLT stub keeps it"

# Modes, and what is left alone.
build "$CC" -fno-plt -fno-plt
plain=$(bounded 60 ./no_plt 6 100)
record d -m count -k plt -l 'libput*' ./no_plt 6 100
report d
is "$(calls put) $(calls other)" '612 6' 'mode count'
record d -k plt -l 'libput*' --start-disabled ./no_plt 6 100
report d
is "$out;$(calls put)" "$plain;" 'switched off'
record d -k calls -l 'libpart*' ./no_plt 6 100
is "$(bounded 60 "$XAUDIT" info d | sed -n '/libpart.so /,/^    \//s/^ *calls *\([0-9]*\)  called by an.*/\1/p' |
	sort -u)" 2 \
	'functions whose address is taken are counted'
record d -k plt -l 'libput*' ./no_plt 2 100
XAUDIT_COMMAND=
export XAUDIT_COMMAND
XAUDIT_INDEX=$tmp/none
record d -k plt -l 'libput*' ./no_plt 2 100
report d
is "$(calls put);$(bounded 60 "$XAUDIT" info d | grep -c 'no index of the file')" ';4' 'without an index, it says so'
XAUDIT_INDEX=$tmp/cache
unset XAUDIT_COMMAND

# Live.
printf '[trace]\noutput = %s/live\nenabled = no\n[library libput*]\nkinds = plt\n' "$tmp" >conf
begin ./no_plt 0
tell 10
ctl "$pid" enable 'plt:put'
is "$status" 0 'ctl switches them on'
tell 100
ctl "$pid" disable 'plt:put'
tell 1000
finish
is "$status" 0 'the program ends well'
report live
is "$(calls put)" 100 'calls are there from when they were on to when they were off'
done_testing
