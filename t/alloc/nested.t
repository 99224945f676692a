#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Allocator functions that call each other, in a trace that is written by hand: a block counts once, for the outermost
# one that gives it; what it allocates beside that counts itself. Jumps, calls without an end, and the order of threads.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/written.sh"

functions='process p100 flags=1 clock=mono
pair first 1000 1000 5
pair last 9000 9000 5
object 1 /usr/lib/libc.so.6
object 2 /usr/lib/libstdc++.so.6
function 1 0 1 0x100 malloc
function 1 0 2 0x200 free
function 2 0 3 0x300 _Znwm
function 2 0 4 0x400 _Znam
function 2 0 5 0x500 _ZdlPv
function 1 0 6 0x600 other
function 1 0 7 0x700 posix_memalign
layout 1 entry 1 u8:arg0:n
layout 2 exit 1 p8:ret:ret
layout 3 entry 2 p8:arg0:block
layout 4 entry 3 u8:arg0:n
layout 5 exit 3 p8:ret:ret
layout 6 entry 4 u8:arg0:n
layout 7 entry 5 p8:arg0:block
layout 8 entry 7 p8:arg0:to u8:arg2:n
layout 9 exit 7 i4:ret:ret p8:-:block'
# told NAME: stacks, by the calls around, and sums, of the trace whose events are on stdin.
told() {
	{ echo "$functions" && cat; } | write_trace "$1"
	"$XAUDIT" alloc --format=folded "$tmp/$1" | tr '\n' '|'
	"$XAUDIT" alloc --format=folded --sort=live "$tmp/$1" | tr '\n' '|'
	"$XAUDIT" alloc "$tmp/$1" 2>&1 | sed -nE -e 's/^in all: ([0-9]+) calls, .*/\1/p' \
		-e 's/^([0-9]+) frees, ([0-9]+) of unknown blocks; ([0-9]+) lost.*/\1 \2 \3/p' \
		-e 's/^([0-9]+) calls without .*, ([0-9]+) without an end/\1 \2/p' | tr '\n' ' '
}

is "$(told new <<END
thread 100 main
values 4 1000 40
values 1 1010 40
values 2 1020 0x5000
values 5 1030 0x5000
values 7 1040 0x5000
values 3 1050 0x5000
exit 2 1060
exit 5 1070
END
)" 'operator new(unsigned long) 40|1 1 0 0 ' 'operator new calls malloc, and delete calls free: one block, one free'

is "$(told other <<END
thread 100 main
values 4 1000 40
values 1 1010 8
values 2 1015 0x9000
values 1 1020 40
values 2 1025 0x5000
values 5 1030 0x5000
END
)" 'operator new(unsigned long) 40|operator new(unsigned long);malloc 8|operator new(unsigned long) 40|operator new('\
'unsigned long);malloc 8|2 0 0 0 ' 'what a new-handler keeps is another block'

is "$(told inside <<END
thread 100 main
values 4 1000 40
values 1 1010 48
values 2 1020 0x5000
values 5 1030 0x5008
values 7 1040 0x5008
exit 5 1050
END
)" 'operator new(unsigned long) 40|1 1 0 0 ' 'a block within that of the inner call is the same'

is "$(told fails <<END
thread 100 main
values 4 1000 40
values 1 1010 40
values 2 1020 0
values 1 1022 16
values 2 1024 0x7000
unwind 3 1030
values 3 1040 0x7000
exit 2 1050
END
)" 'operator new(unsigned long);malloc 16|1 1 0 0 ' 'one that ends by an exception has given nothing, but the exception'

is "$(told jump <<END
thread 100 main
values 6 1000 80
tail 4 1010
values 4 1010 80
values 1 1015 80
values 2 1020 0x5000
values 5 1030 0x5000
values 7 1040 0x5000
tail 5 1050
values 3 1050 0x5000
exit 2 1060
END
)" 'operator new[](unsigned long) 80|1 1 0 0 ' 'one that jumps goes on as the one that it jumps to'

is "$(told jumps <<END
thread 100 main
values 6 1000 80
tail 4 1010
entry 6 1020
exit 6 1030
values 1 1040 8
values 2 1050 0x5000
END
)" 'malloc 8|malloc 8|1 0 0 0 0 1 ' 'one that jumps elsewhere is not known'

is "$(told out <<END
thread 100 main
values 8 1000 0x7fff0000 64
values 9 1010 0 0x5000
values 8 1020 0x7fff0000 64
values 9 1030 12 0x5000
END
)" 'posix_memalign 64|posix_memalign 64|1 0 0 0 ' 'posix_memalign says where, or that it failed'

# The second thread gets the address while the first one is still in free().
is "$(told threads <<END
thread 100 main
values 1 1000 10
values 2 1010 0x5000
values 3 1020 0x5000
exit 2 1060
values 3 1070 0x5000
exit 2 1080
thread 101 second
values 1 1030 20
values 2 1040 0x5000
END
)" 'malloc 30|2 2 0 0 ' 'frees count when they begin, allocations when they end'

is "$(told open <<END
thread 100 main
values 1 1000 10
END
)" '0 0 0 0 0 1 ' 'a call that is open at the end has given nothing, as far as is known'
done_testing
