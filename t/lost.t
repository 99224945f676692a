#!/bin/sh
# SPDX-License-Identifier: MIT
#
# When events were lost, whoever looks at the numbers is told how many, of how many, and why.
. "${top_srcdir:-.}/t/tap.sh"
. "$top_srcdir/t/traced.sh"

cat >million.c <<'END'
#include <stdlib.h>
int main(void)
{
	for (int i = 0; i < 500000; i++)
		srand((unsigned)i);
	return 0;
}
END
"${CC%% *}" -O1 -fno-builtin -o million million.c || bail 'million.c does not compile'

bounded 60 "$XAUDIT" record -o d -k plt -F srand ./million 2>said
is "$? $(cat said)" '0 ' 'where nothing is lost, nothing is said'
bounded 60 "$XAUDIT" record -o d -k plt -F srand --size-limit=1M ./million 2>said
like "$(tail -n 1 said)" \
	'^xaudit record: the trace reached its size limit \(size-limit\), and what came later is not in it; --size-limit=SIZE ' \
	'a trace that reached its limit is told at the end'

# A file system with room for a tenth of the million events.
if unshare -m true 2>/dev/null && mkdir small; then
	bounded 120 unshare -m sh -c 'mount -t tmpfs -o size=1m none small || exit 99
		"$XAUDIT" record -o small/d -b 64k -k plt -F srand ./million 2>said
		"$XAUDIT" report --format=json small/d >report
		"$XAUDIT" info small/d >info'
	if [ $? -eq 99 ]; then
		skip 3 'no mounts here'
	else
		lost=$(sed -n 's/^xaudit record: \([0-9]*\) of 1000000 events were lost: the disk is full$/\1/p' said)
		ok 'of a million events, how many were lost is told, and why' test "${lost:-0}" -gt 500000
		is "$(sed -n '1s/^{"lost":\([0-9]*\),.*/\1/p' report)" "$lost" 'report says the same number'
		is "$(sed -n 's/^  Why lost *//p' info)" 'the disk is full' 'and info why'
	fi
else
	skip 3 'no mount namespaces here'
fi
done_testing
