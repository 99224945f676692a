#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Windows of probes where code goes to its places in ways of its own, as compilers make it and as hands do: planned and
# run, at each instruction, by windows_run.u.
. "${top_srcdir:-.}/t/lib/tap.sh"

need "${CC%% *}"
here=$(cd "$top_srcdir" && pwd)
run_u=$(cd "$top_builddir" && pwd)/t/index/windows_run.u
cd "$tmp" || bail 'no scratch folder'

for flags in -O0 -O2 '-Os -fcf-protection=full'; do
	$CC $flags -fPIC -shared -o libodd.so "$here/t/index/windows_odd.c" "$here/t/index/windows_odd.S" 2>err ||
		bail "no library: $(cat err)"
	status=0
	timeout 100 "$run_u" ./libodd.so >ran 2>&1 || status=$?
	is "$status $(grep '^not ok' ran)" '0 ' "compiled with $flags"
	diag "$(grep '^# ' ran)"
done
done_testing
