#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Under LD_AUDIT alone a family's file is little larger than what is in it, however its processes end; and it is compact
# when the last one has ended by exit(), after a life that was not too short for that. Those that lose the way to their
# file have room in it for what comes.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
need tar

chmod 755 "$tmp"
library "$CC" libcounted.so counted.c
program "$CC" alone alone.c -L. -lcounted
install -m 755 "$MODULE" .

# alone STEPS [COMMAND...]: the trace goes to d, whose processes have all ended then.
alone() {
	steps=$1
	shift
	rm -rf d
	printf '[trace]\noutput = %s\nfollow = yes\n' "$tmp/d" >conf
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

# The first process's place, 24 of the directory, and eight, of 512 KiB.
first=$((33 * 524288))

alone c
kept 100 $first 'a short life: the file is small'
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
kept 200 $first 'a thread that was recorded goes on at the exit: it is left alone'
alone csk
kept 100 $first 'killed: the file is small'
alone csfk
kept 100 compact 'a child is killed, and its parent ends by exit(): it is compact'
alone cssm
kept 3100 compact '30 threads, which have ended: it is compact'
twice '30 threads'
alone csmk
# 25 places, and 31 of chunks: 33 grew by 8, then by 10, then by 12.
kept 3100 $((63 * 524288)) '30 threads, killed: the file has grown with its places'
if unshare -pf --mount-proc true 2>err; then
	alone cfcs unshare -pf --mount-proc
	kept 200 compact 'in a namespace of processes: it is compact'
else
	skip 1 'no namespaces of processes here'
fi

# Those that can't open their file, or make it larger, from some moment on.
far=4294967296
alone cpm
kept 3100 $far 'under a filter: each thread has its place'
alone clm
kept 3100 $far 'where no file may grow'
alone com
kept 3100 $far 'without descriptors'
if [ "$(id -u)" -eq 0 ]; then
	alone cum
	kept 3100 $far 'with other rights'
else
	skip 1 'not root: there are no rights to drop'
fi
done_testing
