#!/bin/sh
# SPDX-License-Identifier: MIT
#
# When events were lost, every command that shows numbers says how many, of how many, and why.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

cat >million.c <<'END'
#include <stdlib.h>
int main(void)
{
	for (int i = 0; i < 500000; i++)
		srand((unsigned)i);
	return 0;
}
END
# stderr HOW COMMAND...: runs it with an fd 2 that is a full pipe (full), or a pipe without a reader (unread). Otherwise
# the program replaces fd 2 by a file of its own (HOW tells which) before it makes a million events.
cat >stderr.c <<'END'
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	static char bytes[4096];
	int ends[2];
	if (argc == 2) {
		close(2);
		if (open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600) != 2 || write(2, "RECORD\n", 7) != 7)
			return 1;
		for (int i = 0; i < 500000; i++)
			srand((unsigned)i);
		return 0;
	}
	if (pipe(ends) || fcntl(ends[1], F_SETFL, O_NONBLOCK))
		return 1;
	while (!strcmp(argv[1], "full") && write(ends[1], bytes, sizeof(bytes)) > 0)
		;
	fcntl(ends[1], F_SETFL, 0);
	dup2(ends[1], 2);
	if (!strcmp(argv[1], "unread"))
		close(ends[0]);
	execvp(argv[2], argv + 2);
	return 1;
}
END
"${CC%% *}" -O1 -fno-builtin -o stderr stderr.c || bail 'stderr.c does not compile'
"${CC%% *}" -O1 -fno-builtin -o million million.c || bail 'million.c does not compile'

bounded 60 "$XAUDIT" record -o d -k plt -F srand ./million 2>said
is "$? $(cat said)" '0 ' 'where nothing is lost, nothing is said'
bounded 60 "$XAUDIT" record -o d -k plt -F srand --size-limit=1M ./million 2>said
like "$(tail -n 1 said)" \
	'^xaudit record: the trace reached its size limit \(size-limit\), and what came later is not in it; '\
'--size-limit=SIZE ' \
	'a trace that reached its limit is told at the end'

# Messages in the meantime go to the standard error of the start, or only into the trace.
printf '[trace]\noutput = %s/said.d\nsize-limit = 1M\n[library *]\nkinds = plt\nfunctions = srand\n' "$tmp" >conf
traced="env XAUDIT_CONFIG=$tmp/conf LD_AUDIT=$MODULE"
for how in full unread; do
	rm -rf said.d
	status=0
	bounded 60 ./stderr "$how" $traced ./million || status=$?
	is "$status" 0 "$how pipe: the program neither waits for a reader nor dies of it"
	is "$(info said.d '[.processes[].notes[]] | length')" 1 "$how pipe: what there was to say is in the trace"
done
rm -rf said.d
bounded 60 $traced ./stderr database
is "$? $(cat database)" '0 RECORD' 'a file of the program that is fd 2 is left alone'
is "$(info said.d '[.processes[].notes[]] | length')" 1 'what there was to say is in the trace'
rm -rf said.d
bounded 60 $traced ./million 2>said
like "$(cat said)" '^xaudit: the trace has reached its size limit' 'else it is said on standard error'

# A file system with room for a tenth of the million events.
if unshare -m true 2>/dev/null && mkdir small; then
	bounded 120 unshare -m sh -c 'mount -t tmpfs -o size=1m none small || exit 99
		"$XAUDIT" record -o small/d -b 64k -k plt -F srand ./million 2>said
		"$XAUDIT" report --format=json small/d >report
		"$XAUDIT" info small/d >info'
	if [ $? -eq 99 ]; then
		skip 3 'no mounts here'
	else
		lost=$(sed -n 's/^xaudit record: \([0-9]*\) of 1000000 events were lost since the disk was full$/\1/p' \
			said)
		ok 'of a million events, how many were lost is told, and why' test "${lost:-0}" -gt 500000
		is "$(sed -n '1s/^{"lost":\([0-9]*\),.*/\1/p' report)" "$lost" 'report says the same number'
		is "$(sed -n 's/^  Why lost *//p' info)" 'since the disk was full' 'and info why'
	fi
else
	skip 3 'no mount namespaces here'
fi
done_testing
