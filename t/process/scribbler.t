#!/bin/sh
# SPDX-License-Identifier: MIT
#
# One process of a family stores what it likes to all that the family shares, on a small disk which may become full
# meanwhile: all others go on, call, open libraries, fork, take snapshots and end as ever. Only the trace is damaged,
# and the commands that read it say so. XAUDIT_SOAK=1 (make soak): 20 minutes, with four siblings.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

each=2 siblings=1
if [ "${XAUDIT_SOAK:-0}" = 1 ]; then
	each=200 siblings=4
fi
chmod 755 "$tmp"
library "$CC" libcounted.so counted.c
library "$CC" plug.so plugin.c -DNAME=plug
program "$CC" scribbler scribbler.c -I"$top_srcdir" -L. -lcounted
mkdir -m 777 small
# A small disk, as far as one may be had; else what is there.
cat >in_small <<'EOS'
mount -t tmpfs -o size=256m,mode=777 none small 2>/dev/null
"$@"
EOS
isolated=
unshare -m true 2>/dev/null && isolated='unshare -m'

# scribbled MODE SECONDS SIBLINGS [spare]: records to `out`, then reads: `read` has each command that ended in another
# way than it may.
cat >scribbled <<'EOS'
mode=$1 each=$2 siblings=$3
shift 3
"$XAUDIT" record -o small/d -m "$mode" -b 64k --snapshot=signal:USR1 -k plt -l libcounted.so -l plug.so \
	./scribbler "$each" "$siblings" "$@" >out 2>err
echo "status $?" >>out
for trace in small/d small/d.snapshot.1; do
	[ -d "$trace" ] || continue
	for command in 'report --format=json' info dump graph 'pack -o small/packed'; do
		s=0
		timeout 200 "$XAUDIT" $command "$trace" >/dev/null 2>said || s=$?
		# Where nothing is said nothing was found wrong.
		if [ $s -gt 1 ] || { [ $s -eq 1 ] && ! [ -s said ]; }; then
			echo "$command: $s $(head -c 300 said)"
		fi
		rm -f small/packed
	done
done >read
EOS
for mode in stream ring count; do
	for how in '' spare; do
		what="$mode${how:+, all but the first pages}"
		bounded $((each + 800)) $isolated sh in_small sh scribbled $mode $each $siblings $how
		is "$(cat out)" 'all well
status 0' "$what: all go on, and nothing of theirs is touched"
		is "$(cat read)" '' "$what: commands read what is left, or say that it is damaged"
	done
done
done_testing
