#!/bin/sh
# SPDX-License-Identifier: MIT
#
# locks.sh FOLDER EVENTS: writes a trace of so many events (a multiple of 32) of locks into the folder. Four threads,
# one after the other, take a lock that they share, for 190 ns of each 1000, and in it one of their own; three of the
# four find it taken, and wait 190 ns.
: "${top_builddir:=.}"
rounds=$(($2 / 32))
end=$((rounds * 1000 + 10000))
{
	echo 'process p100 chunk=262144'
	echo 'pair first 1000 1000 5'
	echo "pair last $end $end $end"
	cat <<'END'
object 1 /usr/lib/libc.so.6
function 1 5 1 0x100 pthread_mutex_lock
function 1 5 2 0x200 pthread_mutex_unlock
load 1 1 900 0x7f0000000000 100
layout 1 entry 1 p8:-:arg1
layout 2 exit 1 i4:ret:
layout 3 entry 2 p8:-:arg1
layout 4 exit 2 i4:ret:
END
	for thread in 0 1 2 3; do
		start=$((2000 + thread * 200))
		cat <<END
thread 10$thread
loop $rounds 1000
values 1 $start 0x1000
values 2 $((start + 190)) 0
values 1 $((start + 200)) 0x200$thread
values 2 $((start + 210)) 0
values 3 $((start + 300)) 0x200$thread
values 4 $((start + 310)) 0
values 3 $((start + 380)) 0x1000
values 4 $((start + 385)) 0
end
END
	done
} | "$top_builddir/t/lib/make_trace" "$1"
