#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Objects that must be left alone: their functions run as usual, and info says why they are not traced.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

library "$CC" libhelp.so swap_library.c
library "$CC" swap.so swap.c -L. -lhelp

# audited AUDITORS [NAME=VALUE]...: runs count, which calls counted 1000 times, with these auditors.
audited() {
	auditors=$1
	shift
	rm -rf d
	status=0
	bounded 60 env LD_AUDIT="$auditors" "$@" ./count 1 1000 >.out 2>.err || status=$?
	out=$(cat .out)
	err=$(cat .err)
}
# left SENTENCE SITES: the program ran as usual, and nothing was traced, for this reason.
left() {
	is "$status/$out/$err" '7/1000/' "$1: the program runs as ever"
	is "$(object d libcounted.so .sites | jq -cS .)" "$2" "$1: info says why"
	report d
	is "$(calls counted)/$(sums)" '/0 lost 0 unfinished' "$1: nothing is traced"
}

# ---- the file is another one than what was mapped ----
build() {
	patchable_library libcounted.so counted.c "$@"
	program "$CC" count count.c -L. -lcounted
}
changed='{"patchable":{"the file changed since it was mapped":1},"xray":{"the file changed since it was mapped":1}}'
# Only under xaudit record is there a folder when nothing is selected.
XAUDIT_RULES='[trace]
output = d
[library libcounted.so]
kinds = xray patchable
'
export XAUDIT_RULES
build
audited "$tmp/swap.so:$MODULE"
is "$status/$out/$err/$(object d libcounted.so .sites)" \
	'7/1000//{"xray":{"no compile-time sites in the file":1},"patchable":{"traced":2}}' \
		'a library that nobody touches is traced'
report d
is "$(calls counted)" 1000 'with all its calls'

patchable_library new.so counted.c -DWITH_ADDRESS
audited "$tmp/swap.so:$MODULE" SWAP_OLD=/libcounted.so SWAP_NEW=new.so
left 'another file, with another build-id, has taken the name' "$changed"
build
cp libcounted.so new.so
audited "$tmp/swap.so:$MODULE" SWAP_OLD=/libcounted.so SWAP_NEW=new.so
left 'a copy with the same build-id' "$changed"
build -Wl,--build-id=none
patchable_library new.so counted.c -DWITH_ADDRESS -Wl,--build-id=none
audited "$tmp/swap.so:$MODULE" SWAP_OLD=/libcounted.so SWAP_NEW=new.so
left 'another file, neither with a build-id' "$changed"
build
audited "$tmp/swap.so:$MODULE" SWAP_OLD=/libcounted.so SWAP_NEW=
left 'the file was removed' "$(echo "$changed" | sed "s/the file changed since it was mapped/the file can't be read/g")"

# ---- what the file is like ----
build
# No section headers: e_shoff, e_shnum and e_shstrndx are zero.
printf '\0\0\0\0\0\0\0\0' | dd of=libcounted.so bs=1 seek=40 conv=notrunc 2>/dev/null
printf '\0\0\0\0' | dd of=libcounted.so bs=1 seek=60 conv=notrunc 2>/dev/null
audited "$MODULE"
left 'no section headers' \
	'{"patchable":{"the file has no section headers":1},"xray":{"the file has no section headers":1}}'

if "$CC" -O2 -fno-pic -mcmodel=large -shared -Wl,-z,notext -Wl,-soname,libcounted.so -fpatchable-function-entry=5 \
	-DWITH_ADDRESS -o libcounted.so "$sources/counted.c" 2>/dev/null &&
	readelf -d libcounted.so | grep -q TEXTREL; then
	audited "$MODULE"
	left 'text relocations' \
		'{"patchable":{"the object has text relocations":1},"xray":{"the object has text relocations":1}}'
else
	skip 3 'the linker makes no text relocations'
fi

# ---- sleds that cannot be used ----
if [ -n "$CLANG" ]; then
	"$CLANG" -Os -fPIC -shared -Wl,-soname,libcounted.so -fxray-instrument -fxray-instruction-threshold=1 -o \
		libcounted.so \
		"$beside/conditional.c" || bail 'it does not compile'
	audited "$MODULE"
	is "$status/$out/$err" '7/1000/' 'a conditional tail call: the program runs as ever'
	sites=$(object d libcounted.so '.sites.xray | to_entries | sort_by(.key) | map("\(.key): \(.value)") | .[]')
	report d
	version=$("$CLANG" -dumpversion)
	if [ "${version%%.*}" -lt 17 ]; then
		is "$sites" '"a conditional tail call shares the sled (clang before 17): 1"
"traced: 2"' 'clang before 17: one function is refused for it, two are traced'
		is "$(calls counted) $(calls leaf) /$(calls branch)/" '1000 2000 //' 'and exactly these two have calls'
	else
		is "$sites" '"traced: 3"' 'clang from 17 on: all three functions are traced'
		is "$(calls counted) $(calls leaf) $(calls branch)" '1000 2000 2000' 'and have their calls'
	fi
else
	skip 3 'no clang here'
fi

# ---- other auditors ----
build
XAUDIT_RULES='[trace]
output = d
[library *]
kinds = plt calls patchable
[program]
kinds = calls
'
for order in "$tmp/swap.so:$MODULE" "$MODULE:$tmp/swap.so"; do
	audited "$order"
	name=$(echo "$order" | sed 's,[^:]*/,,g')
	is "$status/$out/$err" '7/1000/' "$name: the program runs as ever"
	is "$(info d '[.processes[].objects[].path |
		select(test("/(libhelp|swap|libxaudit[a-z-]*|libelf|libz)[^/]*$"))]')" \
		'[]' \
		"$name: no object of an auditor appears"
	is "$(info d '[.processes[].objects[].path | select(endswith("/libc.so.6"))] | length')" 1 \
		"$name: and libc once, the program's"
	report d
	is "$(calls counted)" 1000 "$name: the program's calls are traced"
	is "$(calls counted_by_auditor)/$(calls la_objopen)/$(calls getenv)" '//' "$name: and no calls of an auditor"
done
done_testing
