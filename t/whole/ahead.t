#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Mode stream without `xaudit record`, to tmpfs, where memory for t<n> is made ahead: all events are there, however the
# process ends, and a file takes no more memory than it holds; where the process was killed, a large page more at most.
if [ -z "${own_mounts-}" ]; then
	# Mounts end with this process.
	for with in '' --map-root-user; do
		# shellcheck disable=SC2086
		if unshare --mount $with mount -t tmpfs none /mnt 2>/dev/null; then
			# shellcheck disable=SC2086
			own_mounts=1 exec unshare --mount $with "$0"
		fi
	done
fi
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

[ -n "${own_mounts-}" ] || skip_all 'no file system can be mounted here'
program "$CC" drain drain.c -fno-builtin -I"$top_srcdir"
library "$CC" libcounted.so counted.c
program "$CC" count count.c -L. -lcounted
mkdir small && mount -t tmpfs -o size=300m none small || bail 'no tmpfs'
large=2097152

# alone FOLDER BUFFER COMMAND...
alone() {
	dir=$1
	printf '[trace]\noutput = %s\nmode = stream\nbuffer = %s\n[library *]\nkinds = plt\nfunctions = %s\n' \
		"$tmp/$dir" "$2" 'srand counted' >conf
	shift 2
	rm -rf "$dir"
	status=0
	bounded 100 env LD_AUDIT="$MODULE" XAUDIT_CONFIG="$tmp/conf" "$@" >.out 2>.err || status=$?
	out=$(cat .out)
	err=$(cat .err)
}
# all FOLDER FUNCTION CALLS WHAT
all() {
	report "$1"
	is "$(calls "$2"), $(sums)" "$3, 0 lost 0 unfinished" "$4"
}
# wasted FOLDER: of each t<n>, by how much its memory is larger than its size in whole pages; the largest.
wasted() {
	stat -c '%b %B %s' "$1"/p*/t* | awk '
		{ more = $1 * $2 - int(($3 + 4095) / 4096) * 4096 }
		NR == 1 || more > most { most = more }
		END { printf "%d", most }'
}
# files FOLDER: how many t<n> are larger than the part without large pages.
files() {
	find "$1" -name 't*' -size +9000k | wc -l
}

for buffer in 64k 256k 4m; do
	alone small/a $buffer ./drain - 1000000
	is "$status $err" '0 ' "buffers of $buffer: a program ends"
	all small/a srand 1000000 'all is in the trace'
	ok 'its file has no more memory than it holds' test "$(wasted small/a)" -le 0
	[ "$buffer" = 4m ] || is "$(info small/a '.bytes_per_event < 8.3')" true 'and the trace is small'
done

alone small/b 64k ./count 3 700000
is "$status $out" '7 2100000' 'a program with three threads, which end'
all small/b counted 2100000 'all is in the trace'
is "$(files small/b) $(wasted small/b)" '3 0' 'no file has more memory than it holds'

alone small/c 64k ./drain - 600000 die
is "$status" 137 'a program that is killed'
all small/c srand 600000 'all is in the trace'
more=$(wasted small/c)
ok 'its file has less than a large page more than it holds' test "$more" -lt $large
diag "$more bytes more"

alone small/d 64k ./drain - 600000 fork 700000
is "$status $err" '0 ' 'a program that forks'
all small/d srand 2000000 'all is in the trace, of the child, too'
is "$(files small/d) $(wasted small/d)" '2 0' 'neither file has more memory than it holds'
rm -rf small/?

# Of 300 MiB, 128 must be free. Events go to t0 as long as it has room, then stay in meta, which has none either.
head -c 155000000 /dev/zero >small/rest
alone small/e 256k ./drain - 12000000
is "$status $err" '0 ' 'a program that fills the file system'
is "$(info small/e '[.events + .lost, .lost > 0, .processes[0].meta_lost]')" '[24000000,true,0]' \
	'each event is recorded or counted as lost'
is "$(info small/e '[.processes[0].lost_by[].cause] | join(",")')" '"since the disk was full"' 'and it is said why'
ok 'no room was left' test "$(df --output=avail -k small | tail -n 1)" -lt 1024
done_testing
