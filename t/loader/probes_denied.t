#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Probes where the system denies what the module asks for: under a filter of system calls that kills, and where what was
# writable may not become executable. Programs run on, and each event is there.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/probed_loads.sh"

library "$CC" libcounted.so counted.c
program "$CC" confined "../process/confined.c" -L. -lcounted
probed_loads
program "$CC" deny deny.c

if [ "$(bounded 60 ./confined syscall 10)" = "done" ]; then
	for way in prctl syscall return; do
		for context in tid reg:rdi,backtrace:4; do
			record d -b 64k --probe p=counted@libcounted.so --context "$context" ./confined $way 20000
			is "$status/$out/$err/$(counts)" '0/done//42000 p,' \
				"$way, a filter that kills: each event is there, with $context"
		done
	done
else
	skip 6 'the kernel takes no such filter'
fi
probes <<'END2'
[probe jump]
at = probed_jump@libprobed.so
[probe shared]
at = libprobed.so:probed_far+0xc
[probe loop]
at = libprobed.so:probed_loop+6
context = reg:rdi
END2
if ./deny mdwe true; then
	rm -rf d
	status=0
	bounded 60 ./deny mdwe "$XAUDIT" record -o d -c rules ./probed ./libprobed.so 20 10 >out 2>err || status=$?
	is "$status $(cut -d' ' -f1-3 out)$(cat err)/$(counts)" '0 600 0 0/200 jump,800 loop,200 shared,' \
		'where what was writable may not become executable: each event is there'
else
	skip 1 'the kernel has no PR_SET_MDWE'
fi
# A process that begins under a filter runs no helper, so there is no plan.
for how in eperm kill; do
	rm -rf d
	status=0
	bounded 60 ./deny $how "$XAUDIT" record -o d -c rules ./probed ./libprobed.so 20 10 >out 2>err || status=$?
	is "$status $(cut -d' ' -f1-3 out)/$(counts)" '0 600 0 0/' \
		"under a filter from its start ($how) a program runs on"
	like "$(cat err)" "nothing that was loaded has the place of probe 'jump'" 'and it is said that it has no probes'
done
done_testing
