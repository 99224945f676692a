#!/bin/sh
# SPDX-License-Identifier: MIT
#
# trust = arguments: texts that a function reads itself are read directly, so that no call asks the kernel for them;
# their values are the same. What the kernel reads for a function, or what no prototype is known to read, is as ever.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
unset XAUDIT_CONFIG
need "${CC%% *}" strace
cd "$tmp" || bail 'no scratch folder'
$CC -w -O0 -fno-builtin -o program "$top_srcdir/t/values/trust.c" || bail 'no program'
bounded 60 strace -o strace true 2>/dev/null || skip_all 'strace may not trace here'

# run NAME LINE...: records with these lines in the configuration: into NAME.values, and how often the kernel was asked.
run() {
	name=$1
	shift
	printf '%s\n' '[library libc.so*]' 'kinds = plt' '[context strlen]' 'context = args retval' '[context fopen*]' \
		'context = args' "$@" >$name.conf
	bounded 60 strace -f -qq -e trace=process_vm_readv -e signal=none -o $name.strace \
		"$XAUDIT" record -c $name.conf -o $name.data -k plt -- ./program >$name.out 2>$name.said
	"$XAUDIT" dump $name.data | grep -o '\(strlen\|fopen[64]*\)(.*) *[^/]*' |
		sed 's/0x[0-9a-f]*/ADDRESS/' >$name.values
	asked=$(grep -c process_vm_readv $name.strace)
}
run plain
is "$(cat plain.said)" '' 'the program is recorded'
plain=$asked
ok "without it, the kernel is asked ($plain times)" test "$plain" -ge 1010
ok 'all texts are there' test "$(grep -c 'strlen("on the heap")' plain.values)" -eq 1000
run trust '[trace]' 'trust = arguments'
is "$(cat trust.said)" '' 'with it, too'
is "$((plain - asked))" 1000 'it is not asked for what strlen reads'
ok 'and all values are the same' cmp plain.values trust.values
run section '[context str*]' 'trust = arguments'
is "$((plain - asked))" 1000 'it may be of some functions alone'
run no '[trace]' 'trust = arguments' '[context strlen]' 'trust = no'
is "$asked" "$plain" 'the last one counts'
for place in '[trace]' '[context x]'; do
	printf '%s\n' "$place" 'trust = yes' >wrong.conf
	like "$(bounded 60 "$XAUDIT" record -c wrong.conf -o none -- true 2>&1)" \
		"wrong.conf:2: bad value 'yes' for key 'trust'; allowed: arguments, no" "in $place yes is no value"
done
done_testing
