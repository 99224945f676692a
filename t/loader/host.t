#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A host that reloads three plugins as fast as it can, while four threads call them, a fifth forks, and a profiler sends
# signals: no call is lost or counted twice, and no memory, file or mapping is leaked. 5 000 cycles, or 20 000;
# XAUDIT_SOAK=1 (make soak) makes it 1 000 000, with hours to spare.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

cycles=$(rounds 5000 20000 1000000) limit=$(rounds 150 150 7200)
# Children write 300 kB each, calls 16 bytes each: the trace of the long run stays under 1 GB.
children=100
calls=$(rounds 30 30 5)

# used FIELD: the difference of this field between the host's first and last line "used".
used() {
	printf '%s\n' "$told" | awk -v f="$1" \
		'$1 == "used" { n++; if (n == 1) first = $f; last = $f } END { if (n == 2) print last - first }'
}
# expected FUNCTIONS...: rows of the report, computed from the host's output: of $1 = work (loads or calls), all
# processes or its own.
expected() {
	printf '%s\n' "$told" | awk -v sleds="$sleds" -v all="$1" '
		$1 == "used" || $1 == "pid" { next }
		$1 == "stay" { print "counted", $2; if (all) print "within_child", $3; next }
		{ n = $3 + (all ? $4 : 0); print $1 "_work", n }
		sleds { print $1 "_begin", $2; print $1 "_end", $2; print $1 "_inner", n }' | sort | tr '\n' ','
}
rows() {
	printf '%s\n' "$report" | jq -r '.functions[] | "\(.function) \(.calls)"' | sort | tr '\n' ','
}

# kind NAME KIND SLEDS BUILD...
# Plugins without a PLT: with any auditor that has la_symbind, ld.so (2.36) allocates 32 bytes per slot for each load,
# and never frees them.
kind() {
	name=$1 kind=$2 sleds=$3
	shift 3
	for plugin in one two three; do
		"$@" lib$plugin.so plugin.c -DNAME=$plugin -Wl,-Bsymbolic-functions
	done
	"$@" libstay.so host_stay.c
	rm -rf d
	status=0
	began=$(date +%s)
	# Small buffers, all of one size: a thread has as many as the command, which may have no processor for a while,
	# has not written yet, but no more than --ring has.
	bounded $limit "$XAUDIT" record -o "$tmp/d" -b 64k --ring=512k -k "$kind" -l 'libone.so' -l \
		'libtwo.so' -l libthree.so -l libstay.so \
		./host $cycles $calls $children one two three >told 2>err || status=$?
	diag "$name: $(($(date +%s) - began)) seconds, trace of $(du -sm d | cut -f1) MB"
	told=$(cat told)
	is "$status $(cat err)" '0 ' "$name: $cycles cycles end well"
	report d --pid "$(sed -n 's/^pid //p' told)"
	is "$(rows) $(sums)" "$(expected '') 0 lost 0 unfinished" "$name: every call of the host is counted, once"
	report d
	is "$(rows) $(sums)" "$(expected 1) 0 lost 0 unfinished" "$name: and every call of its children"
	is "$(find d -name meta | wc -l) $(info d '.processes | length')" "1 $((children + 1))" \
		"$name: each child is a process of its own in the host's folder"
	ok "$name: resident memory after the last cycle is within 1 MiB of that after cycle 1000" test \
		"$(used 4)" -le 1024
	ok "$name: and of the trace's file within that and 512 kB for each of six threads" \
		test "$(used 5)" -le $((1024 + 6 * 512))
	ok "$name: and address space" test "$(used 3)" -le 1024
	# Numbers of the allocator and the kernel may vary a little.
	ok "$name: and the number of mappings within ten" test "$(used 2)" -le 10
	[ "$(used 3)" -le 1024 ] && [ "$(used 4)" -le 1024 ] || diag "$(diff maps.1 maps.2)"
	diag "$name: $(used 4) kB resident, $(used 5) kB of the trace," \
		"$(used 3) kB of addresses, $(used 2) mappings more"
	rm -rf d
}

library "$CC" libstay.so host_stay.c
program "$CC" host host.c -L. -lstay
kind plt plt '' library "$CC"
kind patchable patchable 1 patchable_library
if [ -n "$CLANG" ]; then
	kind xray xray 1 xray_library
else
	skip 8 'no clang here'
fi
done_testing
