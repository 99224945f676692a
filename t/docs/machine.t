#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The test of the test run: what tests leave behind is found (t/lib/machine.sh), each kind, and nothing else.
. "${top_srcdir:-.}/t/lib/tap.sh"

need unshare
skip_sanitized
cd "$tmp" || bail 'no temporary folder'
script=$(cd "$top_srcdir" && pwd)/t/lib/machine.sh
mkdir temporary shm cache settings
echo 2 >settings/paranoid
echo 1 >settings/other
echo 1 >settings/counter
chmod 444 settings/counter
XAUDIT_TEST_RUN=test-of-machine-$$
TMPDIR=$tmp/temporary MACHINE_SETTINGS=$tmp/settings MACHINE_SHM=$tmp/shm MACHINE_CACHES=$tmp/cache
export XAUDIT_TEST_RUN TMPDIR MACHINE_SETTINGS MACHINE_SHM MACHINE_CACHES
touch cache/old shm/xaudit-before temporary/xaudit-before

look() {
	bounded 60 sh "$script" look >"$tmp/before" || bail 'machine.sh does not look'
}
# left [SECONDS]: waits so long, at most.
left() {
	MACHINE_WAIT=${1:-1} bounded 60 sh "$script" left "$tmp/before" 2>&1
}
look
ok 'it sees mounts, limits and settings' test "$(cut -f 1 before | sort -u | tr '\n' ' ')" = \
	'cache limit mount setting shm tmp '
is "$(left)" '' 'where nothing was changed it says nothing'

# What comes and goes by itself.
touch temporary/of-another shm/of-another
echo 3 >settings/new
chmod 644 settings/counter
echo 2 >settings/counter
chmod 444 settings/counter
rm cache/old
is "$(left)" '' "nor of others' files, what the kernel counts, a new setting, or an index that is gone"

touch temporary/xaudit-t.123 shm/xaudit-x cache/new
echo 3 >settings/paranoid
rm settings/other
is "$(left)" "cache $tmp/cache/new was left: is there
setting $tmp/settings/other is gone
setting $tmp/settings/paranoid was 2, is 3
shm $tmp/shm/xaudit-x was left: is there
tmp $tmp/temporary/xaudit-t.123 was left: is there" 'files, and settings that are others'

# A process that lives on; without the mark it is somebody else's.
rm -rf temporary/xaudit-t.123 shm/xaudit-x cache/new
echo 2 >settings/paranoid
echo 1 >settings/other
look
sleep 300 &
pid=$!
env -u XAUDIT_TEST_RUN sleep 300 &
other=$!
# A child of ours is told from what the script itself begins.
is "$(left)" "process $pid was left: sleep 300" 'a process, and no other'
kill $pid $other
wait $pid $other 2>/dev/null
sleep 1 &
is "$(left 10)" '' 'not one that is just ending'

# Limits of the shell that asks.
was=$(ulimit -S -n) hard=$(ulimit -H -n)
is "$(
	ulimit -S -n 64
	left
)" "limit Max open files was $was $hard files, is 64 $hard files" 'a limit'

# Mounts, in a namespace of their own: one whose options are others, of the whole file system too, one that is there,
# and one that is gone. One elsewhere is not ours.
if bounded 20 unshare -m true 2>/dev/null; then
	mkdir temporary/new elsewhere gone
	cat >mounts <<'EOS'
mount -t tmpfs -o size=1m first gone
mount -t tmpfs -o size=1m second settings
sh "$1" look >before
umount gone
mount -o remount,ro settings
mount -t tmpfs -o size=1m third temporary/new
mkdir -p /mnt && mount -t tmpfs -o size=1m fourth /mnt
sh "$1" left before
EOS
	said=$(MACHINE_WAIT=1 bounded 60 unshare -m sh mounts "$script" | sed 's/ was .*//; s/ was left.*//')
	is "$said" "mount $tmp/gone is gone
mount $tmp/settings
mount $tmp/temporary/new" 'mounts'
else
	skip 1 'no mount namespaces here'
fi
done_testing
