#!/bin/sh
# SPDX-License-Identifier: MIT
#
# More probes than there may be mappings for: as many as there may be are placed, the others are refused, each with its
# reason, and the program does not notice.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/probed_loads.sh"

library "$CC" libmany.so probes_many.S
program "$CC" many probes_many.c -L. -lmany
own=$(./many | cut -d' ' -f3)
record d --probe place=usdt:many:place ./many
is "$status $(echo "$out" | cut -d' ' -f1,2)" '0 4000138c 4000138d' 'the program computes what it must'
maps=$(echo "$out" | cut -d' ' -f3)
ok "of 4096 mappings there are about as many: $((maps - own))" test $((maps - own)) -gt 3900 -a $((maps - own)) -lt 4200
events=$(bounded 60 "$XAUDIT" dump --no-pager d | awk '$3 == "probe"' | wc -l)
more=$(echo "$err" | sed -n 's/^xaudit: \([0-9]*\) more can.t be had in libmany.so: .*/\1/p')
is "$(echo "$err" | grep -c '^xaudit: probe place at usdt:many:place in libmany.so at 0x[0-9a-f]*: ')" 2 \
	'of those that are refused one is said for each reason, with its address'
ok "some for want of mappings" test \
	"$(echo "$err" | grep -c 'no memory for its stub, or for more stubs of probes (64 MiB, 4096 mappings)')" -gt 0
is $((events / 2 + 2 + more)) 5000 "each of the others ($((events / 2))) has its events in both calls"

# The same in a program whose heap grows where most of these stubs would lie. It has none yet when they are placed.
program "$CC" heap probes_heap.c -no-pie "$beside/probes_many.S"
fixed=$(setarch -R true 2>/dev/null && echo 'setarch -R')
record d --probe place=usdt:many:place -- $fixed ./heap
is "$status $out" '0 4000138c 200' 'the heap grows as if there were no probes'
events=$(bounded 60 "$XAUDIT" dump --no-pager d | awk '$3 == "probe"' | wc -l)
ok "and above that there are $events probes" test "$events" -gt 500
done_testing
