#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Under LD_AUDIT alone a tar of a trace takes at most twice its disk use, however its processes end: places are half
# full at least, and what is in t<n> has no holes. The file is compact when the last process has ended by exit(), after
# a life that was not too short for it. Those that lose the way to their file have room in it for what comes.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
need tar

chmod 755 "$tmp"
library "$CC" libcounted.so counted.c
program "$CC" alone alone.c -L. -lcounted
install -m 755 "$MODULE" .

mode=stream
# alone STEPS [COMMAND...]: the trace goes to d, whose processes have all ended then.
alone() {
	steps=$1
	shift
	rm -rf d
	printf '[trace]\noutput = %s\nfollow = yes\nmode = %s\n' "$tmp/d" "$mode" >conf
	printf '[library libcounted.so]\nkinds = plt\n' >>conf
	status=0
	# All of them have the pipe.
	bounded 60 "$@" env LD_AUDIT="$tmp/libxaudit.so" XAUDIT_CONFIG="$tmp/conf" ./alone "$steps" 2>.err |
		cat >.out ||
		status=$?
	report d
}
# sizes: of all meta, and whether they are compact.
sizes() {
	for f in $(find d -name meta | LC_ALL=C sort); do
		if [ "$(head -c 8 "$f")" = xaudcomp ]; then
			echo compact
		else
			stat -c %s "$f"
		fi
	done | sort | paste -s -d' '
}
# kept CALLS SIZES WHAT
kept() {
	is "$(cat .out; grep -v "^Killed" .err)/$(calls counted)/$(sums)/$(sizes)" "/$1/0 lost 0 unfinished/$2" "$3"
}
# twice WHAT
twice() {
	tar=$(tar cf - d | wc -c) disk=$(du -s -B1 d | cut -f1)
	ok "$1: a tar of $tar bytes is at most twice what it takes on disk, $disk" test "$tar" -le $((2 * disk))
}

# places N: bytes of so many.
places() {
	if [ "$mode" = count ]; then
		echo $(($1 * 131072))
	else
		echo $(($1 * 524288))
	fi
}

# However it ends: with one thread, with 30 more of which each takes a place, with 20 children.
for mode in stream ring count; do
	first=$(places 1)
	for end in k x ''; do
		alone "c$end"
		kept 100 $first "$mode, c$end: one place"
		twice "$mode, c$end"
		alone "cm$end"
		kept 3100 $(places 31) "$mode, cm$end: one for each thread"
		twice "$mode, cm$end"
		alone "cn$end"
		kept 2100 $(places 21) "$mode, cn$end: one for each process"
		twice "$mode, cn$end"
	done
done
mode=stream first=$(places 1)

alone cs
kept 100 compact 'a longer one: it is compact'
twice 'a longer life'
alone cfcfcs
kept 300 compact 'children, and their parents wait: it is compact'
twice 'children'
alone csdcs
kept 200 compact 'a child that outlives its parent: it is compact'
twice 'a child that outlives its parent'
alone csecs
kept 200 "$first compact" 'it executes another program: each has its file, and one is compact'
alone tcs
kept 200 $(places 2) 'a thread that was recorded goes on at the exit: it is left alone'
alone csk
kept 100 $first 'killed: the file is small'
alone csfk
kept 100 compact 'a child is killed, and its parent ends by exit(): it is compact'
alone cssm
kept 3100 compact '30 threads, which have ended: it is compact'
twice '30 threads'
alone csmk
kept 3100 $(places 31) '30 threads, killed: the file has grown with its places'
if unshare -pf --mount-proc true 2>err; then
	alone cfcs unshare -pf --mount-proc
	kept 200 compact 'in a namespace of processes: it is compact'
else
	skip 1 'no namespaces of processes here'
fi

# Full chunks: the next one begins where the words of the one before end, which are dense.
for end in k x ''; do
	alone "b$end"
	is "$(cat .out; grep -v "^Killed" .err)/$(calls counted)/$(sums)" '/3000000/0 lost 0 unfinished' \
		"3 million calls, b$end: all are there"
	twice "b$end"
	t0=$(find d -name t0)
	ok "b$end: its file of $(stat -c %s "$t0") bytes has no holes" \
		test "$(stat -c %s "$t0")" -le "$(($(stat -c %b "$t0") * 512))"
done

# Those that can't open their file, or make it larger, from some moment on.
far=$(places 512)
for mode in stream count; do
	alone cpm
	kept 3100 $far "$mode, under a filter: each thread has its place"
	alone clm
	kept 3100 $far "$mode, where no file may grow"
	alone com
	kept 3100 $far "$mode, without descriptors"
	if [ "$(id -u)" -eq 0 ]; then
		alone cum
		kept 3100 $far "$mode, with other rights"
	else
		skip 1 'not root: there are no rights to drop'
	fi
done

# Counters of so many functions that the first run of a thread is too small, and perhaps the second: each is made as
# large as two of the ids that there are then.
awk 'BEGIN {
	for (i = 0; i < 24000; i++)
		printf "void f%d(void) { __asm__ volatile(\"\"); }\n", i
	for (i = 0; i < 24000; i += 1000)
		printf "void f%d(void);\n", i >"calls.c"
	print "#define CALLS", "\\" >"calls.c"
	for (i = 0; i < 24000; i += 1000)
		printf "f%d(); \\\n", i >"calls.c"
	print "\n#include \"large.c\"" >"calls.c"
}' >functions.c
cp "$(source_of large.c)" .
$CC -fPIC -shared -fpatchable-function-entry=5 -Wl,-soname,libfunctions.so -o libfunctions.so functions.c &&
	$CC -O2 -pthread -o large calls.c -L. -lfunctions -Wl,-rpath,'$ORIGIN' || bail 'large does not compile'
printf '[trace]\noutput = %s\nmode = count\n[library libfunctions.so]\nkinds = patchable\n' "$tmp/d" >conf
rm -rf d
status=0
bounded 60 env LD_AUDIT="$tmp/libxaudit.so" XAUDIT_CONFIG="$tmp/conf" ./large 2>.err || status=$?
report d
is "$status/$(printf '%s\n' "$report" | jq -c '[.functions[] | .calls] | [length, min, max]')/$(sums)" \
	'137/[24,6,6]/0 lost 0 unfinished' '24000 functions, five threads and a child, killed: each call is there'
twice '24000 functions'
done_testing
