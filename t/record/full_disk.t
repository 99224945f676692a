#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The disk becomes full while a program records, stays full while its pages are written back, and has room again: the
# program goes on, and each event is recorded or counted as lost. On file systems that write in place and on others.
if [ "$(id -u)" -eq 0 ] && [ -z "${own_mounts-}" ] && unshare --mount true 2>/dev/null; then
	# Mounts end with this process.
	own_mounts=1 exec unshare --mount "$0"
fi
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

[ -n "${own_mounts-}" ] || skip_all 'only root can mount file systems, and not in all containers'
program "$CC" full_disk full_disk.c -fno-builtin

# later A B: version A of the kernel is B or later.
later() {
	[ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]
}
# A program that ended too early is noticed by its status.
trap "" PIPE

# round N: has the program make N calls, and waits for it.
round() {
	echo "$1" >&7
	IFS= read -r answer <&8
}

for fs in ext4 xfs btrfs; do
	why=
	command -v "mkfs.$fs" >/dev/null || why="no mkfs.$fs here"
	[ "$fs" != btrfs ] || later "$(uname -r)" 6.18 || why='btrfs needs room for each store before Linux 6.18'
	if [ -z "$why" ]; then
		rm -f image
		truncate -s 400M image
		mkdir -p "$fs"
		"mkfs.$fs" image >/dev/null 2>&1 && mount -o loop image "$fs" 2>/dev/null ||
			why="no $fs can be mounted from a file here"
	fi
	if [ -n "$why" ]; then
		skip 4 "$why"
		continue
	fi
	for mode in stream ring; do
		mkfifo said.$mode ask.$mode
		bounded 200 "$XAUDIT" record -o "$fs/$mode" -m $mode -b 64k --ring=256k -k plt -F srand ./full_disk \
			<ask.$mode >said.$mode 2>err.$mode &
		pid=$!
		exec 7>ask.$mode 8<said.$mode
		round 20000
		sync -f "$fs"
		dd if=/dev/zero of="$fs/rest" bs=64k 2>/dev/null
		dd if=/dev/zero of="$fs/last" bs=512 2>/dev/null
		# Each time all stored pages are written back, which protects them against the next store.
		for n in 1 2 3 4 5 6 7 8; do
			sync -f "$fs" 2>/dev/null
			round 20000
		done
		rm -f "$fs/rest" "$fs/last"
		sync -f "$fs"
		sleep 1.5
		round 20000
		exec 7>&- 8<&-
		status=0
		wait $pid || status=$?
		rm -f said.$mode ask.$mode
		is "$status $answer" '0 20000' "$fs, mode $mode: the program goes on, and ends by itself"
		case $mode in
		stream)
			is "$(info "$fs/$mode" '[.events + .lost, .processes[0].meta_lost]')" '[400000,0]' \
				'each event is recorded or counted as lost'
			diag "$fs: $(info "$fs/$mode" .lost) of 400000 events were lost"
			;;
		ring)
			is "$(info "$fs/$mode" .lost)" 0 'a flight recorder that had its places loses none'
			;;
		esac
	done
	umount "$fs"
done
done_testing
