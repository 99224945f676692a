#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Return labels of their own, for perf: where they can't be made they cost the program nothing, and who makes them, and
# their names, asks for nothing that nobody waits for. No perf is needed.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

library "$CC" libcounted.so counted.c
program "$CC" own_labels own_labels.c -L. -lcounted -Wl,-z,lazy

# alone PERF WAY: under the module alone, into d. The first call of the library is the first time that one is bound.
alone() {
	rm -rf d
	printf '[trace]\noutput = %s\nperf = %s\n[library libcounted.so]\nkinds = plt\n' "$tmp/d" "$1" >conf
	status=0
	out=$(bounded 60 env LD_AUDIT="$MODULE" XAUDIT_CONFIG="$tmp/conf" ./own_labels "$2" 2>err) || status=$?
	err=$(cat err)
}

for perf in no yes; do
	alone $perf vfork
	report d
	is "$status/$err/$(calls counted) $(printf '%s\n' "$report" | jq .lost)" '0//1 1' \
		"perf = $perf: of a child that shares the memory the call is lost, not the parent's"
	parents=$("$XAUDIT" info d | sed -n 's/^Process \([0-9]*\) .* child of \([0-9]*\):.*/\1 \2/p')
	ok "and the process is not its own parent ($parents)" test "${parents% *}" -ne "${parents#* }"
	ok "and has labels, or none: $perf" test "$([ -e d/p*/labels ] && echo yes || echo no)" = $perf
	if bounded 60 ./own_labels confined >/dev/null; then
		alone $perf confined
		is "$status/$out/$err" '0/done/' "perf = $perf: under a filter that kills it lives"
	else
		skip 1 'the kernel takes no such filter'
	fi
done

# Where xaudit itself is started by ld.so, /proc/self/exe is ld.so.
rm -rf d
status=0
bounded 60 env XAUDIT_MODULE="$MODULE" /lib64/ld-linux-x86-64.so.2 "$XAUDIT" record -o d --perf -k plt \
	-l libcounted.so ./own_labels vfork >out 2>err || status=$?
report d
is "$status/$(calls counted)" 0/1 'record that ld.so was told to start, starts programs'

# Where the configuration asks for them, too.
record e -c conf --pack ./own_labels vfork
why='xaudit record: --perf, or perf = yes, makes a file for perf in the trace folder, which --pack removes'
is "$status/$err/$(ls -d e e.pack 2>/dev/null)" "125/$why/" 'a packed trace is not for perf'

# Another user's file is copied before it is looked through, as far as it has a size to be copied.
names() {
	bounded 60 "$XAUDIT" perf d && nm d/p*/labels | sed 's/.* //' | sort -u
}
if [ "$(id -u)" -eq 0 ]; then
	program "$CC" foreign own_labels.c -L. -lcounted -Wl,-z,lazy
	record d --perf -k plt -l libcounted.so ./foreign vfork
	expected=$(names)
	like "$expected" '^[a-z_]*$' 'labels have names of functions'
	chown 65534 foreign
	is "$(names)" "$expected" "and so they have of another user's file"
	truncate -s 2G foreign
	like "$(names)" '^foreign[+]0x[0-9a-f]+$' 'but not of one that is too large to be copied'
	chown 0 foreign
	is "$(names)" "$expected" 'which, if it is our own, is read where it is'
else
	skip 4 'files of other users are made by root alone'
fi

# Names of a program without a symbol table.
strip own_labels
rm -rf d
status=0
bounded 60 env DEBUGINFOD_URLS="file://$tmp/server/" DEBUGINFOD_CACHE_PATH="$tmp/asked" HOME="$tmp" \
	"$XAUDIT" record -o d --perf -k plt -l libcounted.so ./own_labels vfork >out 2>err || status=$?
is "$status" 0 'names are given at the end of record'
bounded 60 env DEBUGINFOD_URLS="file://$tmp/server/" DEBUGINFOD_CACHE_PATH="$tmp/asked" HOME="$tmp" "$XAUDIT" perf d
is "$?" 0 'and once more'
ok 'no server is asked for debug files' test ! -e asked
done_testing
