#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A traced process gets nothing that it did not ask for: no thread, open file, socket, child, timer or signal handler,
# and no changed signal mask, in any mode. With a snapshot on a signal, only that handler.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

patchable_library libinventory.so inventory_library.c
program "$CC" inventory inventory.c -L. -linventory
./inventory >plain
is "$(grep -cE '^(tasks 4|SigCgt:|Threads:)' plain)" 3 'the program lists what it has'

# listed NAME LINE...: under a configuration with these lines of [trace].
listed() {
	name=$1
	shift
	rm -rf d
	{
		printf '[trace]\noutput = %s\n' "$tmp/d"
		printf '%s\n' "$@"
		printf '[library libinventory.so]\nkinds = patchable plt\n[library *]\nkinds = plt\n'
	} >"$name.conf"
	bounded 60 env LD_AUDIT="$MODULE" XAUDIT_CONFIG="$tmp/$name.conf" ./inventory >"$name.out" 2>"$name.err"
}
for way in 'stream mode = stream' 'ring mode = ring' 'count mode = count' 'off enabled = no' 'any control = any' \
	'throttle throttle = 10%' \
	'filters depth = 2' 'everything prepare = all'; do
	listed "${way%% *}" "${way#* }"
	is "$(diff plain "${way%% *}.out") $(cat "${way%% *}.err")" ' ' "${way#* }: it has the same, and says nothing"
	ok "${way#* }: it was traced" test -s "$(find d -name meta 2>/dev/null)"
done
listed signal 'snapshot = signal:SIGUSR2'
is "$(diff plain signal.out | grep -v SigCgt | grep '^[<>]')" '' 'a snapshot on a signal: nothing else than a handler'
is "$(sed -n 's/^SigCgt:[[:space:]]*//p' signal.out)" \
	"$(printf '%016x' $((0x$(sed -n 's/^SigCgt:[[:space:]]*//p' plain) | 1 << 11)))" \
	'a snapshot on a signal: of this signal'

# With events of its own, the command's other ways to start it make no difference.
record d -k plt ./inventory
is "$(printf '%s\n' "$out" | diff plain -)" '' 'under xaudit record: it has the same'
done_testing
