# SPDX-License-Identifier: MIT
#
# Part of run.sh: what samples of memory cost, one in 512 KiB, with backtraces, beside the untraced program.

build gcc sample_cost -fno-builtin sample_cost.c
cat >"$tmp/samples.conf" <<'END'
[context malloc]
context = arg1 ret backtrace sample:512k:malloc
[context calloc]
context = arg1 arg2 ret backtrace sample:512k:calloc
[context realloc]
context = arg1 arg2 ret backtrace sample:512k:realloc
[context free]
context = arg1 sample:512k:free
END
: >"$tmp/samples"
round=0
samples_lost=0
samples_events=0
while [ "$round" -lt "$ROUNDS" ]; do
	round=$((round + 1))
	rm -rf "$tmp/samples.trace"
	run "$tmp/sample_cost" -c "$cpu" -n "$((CALLS / 5))"
	sed 's/^/untraced /' "$tmp/output" >>"$tmp/samples"
	run "$XAUDIT" record -c "$tmp/samples.conf" -F malloc -F calloc -F realloc -F free -o "$tmp/samples.trace" \
		"$tmp/sample_cost" -c "$cpu" -n "$((CALLS / 5))"
	grep '^[a-z]* [0-9.]* [0-9.]*$' "$tmp/output" | sed 's/^/traced /' >>"$tmp/samples"
	run "$XAUDIT" info --format=json "$tmp/samples.trace"
	samples_lost=$((samples_lost + $(json_number lost <"$tmp/output")))
	samples_events=$((samples_events + $(json_number events <"$tmp/output")))
done
# peer NAME LIBRARY VARIABLE=VALUE: what sampling adds to another allocator, which takes backtraces of its samples.
peer() {
	library=$(ldconfig -p | sed -n "s/^[[:space:]]*$2 .* => //p" | head -n 1)
	[ -n "$library" ] || return 0
	for way in untraced traced; do
		variable=NOTHING=1
		[ "$way" = untraced ] || variable=$3
		run env "LD_PRELOAD=$library" "$variable" "$tmp/sample_cost" -c "$cpu" -n "$((CALLS / 5))"
		sed -n "s/^pair/$way $1/p" "$tmp/output" >>"$tmp/samples"
	done
}
for again in 1 2 3; do
	peer jemalloc libjemalloc.so.2 MALLOC_CONF=prof:true,lg_prof_sample:19
	peer tcmalloc libtcmalloc.so.4 TCMALLOC_SAMPLE_PARAMETER=524288
done
rm -rf "$tmp/samples.trace"
[ "$samples_events" -gt 0 ] || fail 'nothing was sampled'

heading "samples of memory, one in 512k, with backtraces: ns a pair
  ($round rounds; events: $samples_events, lost: $samples_lost)
                                            untraced   added (best)   added (median)   ratio (median)"
sort -n -k 4 "$tmp/samples" | awk '
	{
		n = ++count[$1, $2]
		mean[$1, $2, n] = $4
		if (!(($1, $2) in best) || $3 < best[$1, $2]) best[$1, $2] = $3
	}
	function middle(way, name) { return mean[way, name, int((count[way, name] + 1) / 2)] }
	function show(name, label, u) {
		if (!(("untraced", name) in count))
			return
		u = middle("untraced", name)
		printf "  %-40s %8.1f %14.1f %16.1f %16.2f\n", label, u, best["traced", name] - best["untraced", name],
			middle("traced", name) - u, middle("traced", name) / u
	}
	END {
		show("pair", "malloc and free (limit 15)")
		show("full", "the same, while 3 GB are live")
		show("zeroed", "calloc and free")
		show("larger", "malloc, realloc and free")
		show("mixed", "sizes to 1024, freed 100 blocks later")
		show("jemalloc", "jemalloc, its own sampling (the pair)")
		show("tcmalloc", "tcmalloc, its own sampling (the pair)")
	}'
