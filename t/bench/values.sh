# SPDX-License-Identifier: MIT
#
# Part of run.sh: what values of calls cost: two integers and the result, a text of 16 bytes. The limit is a site of the
# same kind whose hook reads the clock and stores the words that such events have, and does nothing else
# (limit_sites.S).

build gcc libbench_vnone.so -shared -fPIC -DNAME values_function.c
build gcc libbench_values.so -shared -fPIC values_function.c
build gcc libbench_limit.so -shared -nostdlib limit_sites.S
build gcc values_cost values_cost.c "$tmp/libbench_vnone.so" "$tmp/libbench_values.so" "$tmp/libbench_limit.so" \
	"-Wl,-rpath,$tmp"
{
	printf '[library libbench_values.so]\nkinds = plt\n'
	printf '[context bench_ints]\ncontext = int:a:arg1, int:b:arg2, int:r:ret\n'
	for where in stack load heap; do printf '[context bench_%s]\ncontext = string:s:arg1\n' "$where"; done
} >"$tmp/values.conf"

: >"$tmp/values"
values_ways='none plain ints limitvalues stack load heap'
round=0
values_lost=0
while [ "$round" -lt "$ROUNDS" ]; do
	round=$((round + 1))
	rm -rf "$tmp/values.trace"
	# shellcheck disable=SC2086
	run "$XAUDIT" record -c "$tmp/values.conf" -o "$tmp/values.trace" "$tmp/values_cost" -c "$cpu" \
		-n "$((CALLS / 5))" $values_ways
	grep '^[a-z]* [0-9.]* [0-9.]*$' "$tmp/output" >>"$tmp/values"
	values_ways="${values_ways#* } ${values_ways%% *}"
	run "$XAUDIT" info --format=json "$tmp/values.trace"
	values_lost=$((values_lost + $(json_number lost <"$tmp/output")))
done
rm -rf "$tmp/values.trace"

heading "values of calls: ns added per call, and as a multiple of the limit ($round rounds; lost events: $values_lost)
                                            within a chunk, best      sustained, median"
awk "$of_ways"'
	function show(name, label, in_chunk, long_run) {
		in_chunk = within[name] - within["none"]
		long_run = middle(name) - middle("none")
		printf "  %-40s %8.2f %8.2f x    %8.2f %8.2f x\n", label, in_chunk,
			in_chunk / (within["limitvalues"] - within["none"]), long_run,
			long_run / (middle("limitvalues") - middle("none"))
	}
	END {
		show("limitvalues", "limit: clock and words of two integers")
		show("plain", "no values")
		show("ints", "two integers and the result")
		show("stack", "a text of 16 bytes on the stack")
		show("load", "in the library that is called")
		show("heap", "elsewhere (the kernel copies it)")
	}' "$tmp/values"
# peer LABEL: what a call cost, of the line that values_cost has printed; two integers and the result were recorded.
peer() {
	awk -v label="$1, two integers and the result" '
		$1 == "ints" && NF == 3 { printf "  %-40s %8.0f ns\n", label, $3; found = 1 }
		END { if (!found) printf "  %-40s it does not run here\n", label }' "$tmp/output"
}
if command -v uftrace >/dev/null; then
	run uftrace record --force -d "$tmp/uftrace.data" -A 'bench_ints@arg1/i32,arg2/i32' -R 'bench_ints@retval/i32' \
		"$tmp/values_cost" -c "$cpu" -n 200000 -r 10 ints
	peer uftrace
	rm -rf "$tmp/uftrace.data"
fi
if command -v bpftrace >/dev/null; then
	# Its status is not 0 where it has no right to take its probes away, too.
	timeout -k 5 60 bpftrace -e "uprobe:$tmp/libbench_values.so:bench_ints { @a = arg0; @b = arg1; }
		uretprobe:$tmp/libbench_values.so:bench_ints { @r = retval; }" \
		-c "$tmp/values_cost -c $cpu -n 20000 -r 0 ints" >"$tmp/output" 2>&1 || :
	peer bpftrace
fi
if command -v ltrace >/dev/null; then
	run ltrace -o "$tmp/ltrace" -e bench_ints "$tmp/values_cost" -c "$cpu" -n 2000 -r 0 ints
	peer ltrace
fi
