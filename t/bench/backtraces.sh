# SPDX-License-Identifier: MIT
#
# Part of run.sh: what a backtrace of 20 callers costs, beside that of libc, which libgcc's unwinder makes.

build gcc libbench_vnone.so -shared -fPIC -DNAME values_function.c
build gcc libbench_values.so -shared -fPIC values_function.c
# 200 calls, each with 16 callers of its own, all of whose rules are new to the thread.
awk 'BEGIN {
	print "typedef long function(long a, long b);"
	calls = 200
	for (i = calls * 16; i-- > 0;) {
		printf "static __attribute__((noinline)) long f%d(function *call)\n{\n", i
		printf "\tlong result = %s;\n", i % 16 == 15 ? "call(0, 1)" : "f" i + 1 "(call)"
		print "\t__asm__ volatile(\"\");\n\treturn result + 1;\n}"
	}
	print "extern long (*const bench_fresh[])(function *call);\nextern const long bench_fresh_count;"
	print "long (*const bench_fresh[])(function *call) = {"
	for (i = 0; i < calls; i++)
		printf "\tf%d,\n", i * 16
	printf "};\nconst long bench_fresh_count = %d;\n", calls
}' >"$tmp/backtrace_fresh.c"
build gcc backtrace_cost -fno-optimize-sibling-calls backtrace_cost.c "$tmp/backtrace_fresh.c" \
	"$tmp/libbench_vnone.so" "$tmp/libbench_values.so" "-Wl,-rpath,$tmp"
printf '[library libbench_values.so]\nkinds = plt\n[context bench_plain]\ncontext = backtrace\n' >"$tmp/backtraces.conf"

: >"$tmp/backtraces"
backtraces_lost=0
round=0
while [ "$round" -lt "$ROUNDS" ]; do
	round=$((round + 1))
	rm -rf "$tmp/backtraces.trace"
	run "$XAUDIT" record -c "$tmp/backtraces.conf" -o "$tmp/backtraces.trace" "$tmp/backtrace_cost" -c "$cpu" \
		-n "$((CALLS / 10))" none plain none_new plain_new libc
	grep '^[a-z_]* [0-9.]* [0-9.]*$' "$tmp/output" >>"$tmp/backtraces"
	run "$XAUDIT" info --format=json "$tmp/backtraces.trace"
	backtraces_lost=$((backtraces_lost + $(json_number lost <"$tmp/output")))
done
rm -rf "$tmp/backtraces.trace"

heading "backtraces of 20 callers: ns added per call ($round rounds; lost events: $backtraces_lost)
                                            within a chunk, best      sustained, median"
awk "$of_ways"'
	function show(name, base, label) {
		printf "  %-40s %8.1f ns         %8.1f ns\n", label, within[name] - (base == "" ? 0 : within[base]),
			middle(name) - (base == "" ? 0 : middle(base))
	}
	END {
		show("plain", "none", "seen before (limit 600)")
		show("plain_new", "none_new", "in an order not seen before (limit 1500)")
		show("first", "", "callers not seen before")
		show("libc", "none", "backtrace() of libc, without a trace")
	}' "$tmp/backtraces"
