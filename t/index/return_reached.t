#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Functions that reach their return address by another register than rsp run as they do untraced: only their entries
# are seen. Those that come near it have their returns seen, too.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

XAUDIT_INDEX=$tmp/cache
export XAUDIT_INDEX
reach='by_copy by_address by_frame by_later_address by_load by_sum by_push by_word by_ways by_way_back by_string'
reach="$reach by_vector"
stay='stays_below stays_above stays_aligned stays_with_another stays_either_way stays_behind_call'
{
	printf '#include <stdio.h>\n'
	for name in $reach $stay; do printf 'int %s_called(int);\n' "$name"; done
	printf 'int main(void)\n{\n\tint sum = 0;\n\n'
	for name in $reach $stay; do printf '\tsum += %s_called(0) + %s_called(1);\n' "$name" "$name"; done
	printf '\tprintf("%%d\\n", sum);\n\treturn 0;\n}\n'
} >reach.c
expected=$(printf '%s\n' $reach | sort)

for way in bare cfi; do
	flag=
	[ $way = bare ] || flag=-DWITH_CFI
	library "$CC" lib$way.so return_reached.S -nostdlib -Wl,-Bsymbolic,--build-id $flag
	"$CC" -o $way reach.c -L. -l$way -Wl,-rpath,"$tmp" 2>err || bail "$CC: $(cat err)"
	is "$(./$way)" 36 "$way: untraced"
	is "$("$XAUDIT" index -nv lib$way.so | sed -n 's/.* \([^ ]*\)  (entry only: it, .*/\1/p' | sort)" \
		"$expected" "$way: these are entry alone, no others"
	record d -k entry -l lib$way.so ./$way
	is "$status $out" '0 36' "$way: they run as they do untraced"
	report d
	is "$(calls by_copy) $(calls by_vector) $(calls stays_above) $(calls stays_behind_call)" '2 2 2 2' \
		"$way: each call is seen"
	dump d
	is "$(jq -rs 'map(select(.event == "exit" or .return == false)) | group_by([.event, .function[0:3]]) |
		map("\(.[0].event) \(.[0].function[0:3]): \(length)") | join(", ")' d.json)" \
		'entry by_: 24, exit by_: 24, exit sta: 26' "$way: of those that reach it no return is seen"
done
done_testing
