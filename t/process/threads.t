#!/bin/sh
# SPDX-License-Identifier: MIT
#
# libc tells us of the end of a thread; the kernel is asked only about threads that ended without that.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
need strace
strace -f -o /dev/null true 2>/dev/null || skip_all 'strace may not trace here'
library "$CC" libhandled.so handled.c
program "$CC" waves waves.c -L. -lhandled

# waves N HOW...: N threads at once, in each wave; a slab has 256 records. Sets $asked: how often the kernel was asked.
waves() {
	status=0
	bounded 100 strace -f -e trace=tgkill -o calls "$XAUDIT" record -o d -k plt -l libhandled.so -b 64k -- \
		./waves "$@" >out 2>err || status=$?
	asked=$(grep -c 'tgkill(' calls)
	report d
}
waves 270 libc libc
is "$status $(calls counted) $(sums)" '0 540 0 lost 0 unfinished' 'two waves of 270 threads: all calls are there'
is "$asked" 0 'no system call asks whether a thread is gone'
waves 130 exit exit exit exit libc
is "$status $(calls counted) $(sums)" '0 650 0 lost 0 unfinished' \
	'where 520 threads end by the system call alone: all calls are there'
# 520 begin on such a stack: of those that a full slab has asked for, nobody asks again; but the kernel may know a
# thread that was joined for a moment longer, and then each of the two events of who begins asks.
ok "there the kernel is asked, once for each record when 512 are in use, and by who begins on such a stack: $asked" \
	test "$asked" -ge $((512 + 390)) -a "$asked" -le $((512 + 2 * 520))
done_testing
