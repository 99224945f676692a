# SPDX-License-Identifier: MIT
#
# Part of run.sh: what it costs to open and close a library with 1000 sites, and what the first pair of a process
# costs, which makes the trace folder and lists the functions, too. xray: 500 functions, each has two sleds. plt,
# calls: a library with 1000 functions and one that calls all of them; the pair opens and closes both, and binds every
# call. noplt: the same with calls that go without a PLT.
need_none

pair_count=40 # pairs per process

# pair_source FUNCTIONS
pair_source() {
	awk -v n="$1" 'BEGIN { for (i = 0; i < n; i++) printf "int f_%d(int a) { return a + %d; }\n", i, i }'
}

pair_source 1000 >"$tmp/pair1000.c"
pair_source 500 >"$tmp/pair500.c"
awk 'BEGIN {
	for (i = 0; i < 1000; i++) printf "int f_%d(int a);\n", i
	print "int f_all(int a)\n{"
	for (i = 0; i < 1000; i++) printf "\ta = f_%d(a);\n", i
	print "\treturn a;\n}" }' >"$tmp/pair_all.c"
build gcc pair_cost pair_cost.c
build gcc libpair_patchable.so -fPIC -shared -fpatchable-function-entry=5 "$tmp/pair1000.c"
build gcc libpair_mcount.so -fPIC -shared -pg "$tmp/pair1000.c"
build gcc libpair_fentry.so -fPIC -shared -pg -mfentry "$tmp/pair1000.c"
build gcc libpair_cyg.so -fPIC -shared -finstrument-functions "$tmp/pair1000.c"
build gcc libpair_entry.so -fPIC -shared "$tmp/pair1000.c"
build gcc libpair_plt.so -fPIC -shared "$tmp/pair1000.c"
build gcc libpair_calls.so -fPIC -shared "$tmp/pair_all.c" "$tmp/libpair_plt.so" "-Wl,-rpath,$tmp"
build gcc libpair_noplt.so -fPIC -shared -fno-plt "$tmp/pair_all.c" "$tmp/libpair_plt.so" "-Wl,-rpath,$tmp"
pair_kinds='patchable mcount fentry cyg entry plt calls noplt'
if [ -n "$CLANG" ]; then
	build clang libpair_xray.so -fPIC -shared -fxray-instrument -fxray-instruction-threshold=1 "$tmp/pair500.c"
	pair_kinds="xray $pair_kinds"
fi
# kind_of KIND: the kind as the rules call it.
kind_of() {
	if [ "$1" = noplt ]; then echo calls; else echo "$1"; fi
}

for kind in $pair_kinds; do
	case $kind in
	xray | patchable | plt)
		sites=$("$XAUDIT" list --format=json "$tmp/libpair_$kind.so" | json_number "$kind")
		[ "$sites" -eq 1000 ] || fail "libpair_$kind.so has ${sites:-no} sites, not 1000"
		;;
	esac
	printf '[trace]\noutput = %s\n[library libpair_%s.so]\nkinds = %s\n' "$tmp/pair_$kind" "$kind" \
		"$(kind_of "$kind")" >"$tmp/pair_$kind.conf"
	[ "$kind" != entry ] || echo "functions = f_*" >>"$tmp/pair_$kind.conf"
done

# pair KIND WAY: adds "KIND WAY FIRST BEST MEDIAN" to $tmp/pairs.
pair() {
	kind=$1 way=$2
	library=$tmp/libpair_$kind.so symbol=f_499
	case $kind in
	plt) library=$tmp/libpair_calls.so symbol=f_all ;;
	calls | noplt) symbol=f_all ;;
	esac
	set -- env "$tunables" LD_AUDIT="$MODULE"
	case $way in
	without) set -- env ;;
	none) set -- "$@" XAUDIT_CONFIG="$tmp/none.conf" ;;
	traced) set -- "$@" XAUDIT_CONFIG="$tmp/pair_$kind.conf" ;;
	esac
	# shellcheck disable=SC2086
	run $pin "$@" "$tmp/pair_cost" "$library" "$symbol" "$pair_count"
	echo "$kind $way $(cat "$tmp/output")" >>"$tmp/pairs"
}

: >"$tmp/pairs"
round=0
part=$(elapsed)
# All take turns. On a busy machine fewer rounds have to do.
while [ "$round" -lt 11 ] && { [ "$round" -lt 5 ] || [ $(($(elapsed) - part)) -lt 10 ]; }; do
	round=$((round + 1))
	for kind in $pair_kinds; do
		pair "$kind" without
		pair "$kind" none
		pair "$kind" traced
	done
done

# A figure is of worth only if all sites were traced, by all.
for kind in $pair_kinds; do
	sites=1000
	"$XAUDIT" info -v "$tmp/pair_$kind" >"$tmp/output" || fail "the traces of libpair_$kind.so are damaged"
	# Functions of the object, but each binding of each load.
	case $kind in
	xray) sites=500 ;;
	plt | calls | noplt) sites=$((1000 * pair_count)) ;;
	esac
	good=$(grep -c "^ *$(kind_of "$kind")  *$sites  traced$" "$tmp/output")
	[ "$good" -eq $round ] || fail "libpair_$kind.so was traced in $round processes, all of it in $good"
	rm -rf "$tmp/pair_$kind"
done

heading "open+close of a library with 1000 sites, us ($round processes each, of $pair_count pairs each)"
printf '  %-40s %-25s  %-25s  %s\n' '' '       on the wall' '      processor time' '   first, on the wall'
printf '  %-40s %8s %8s %6s   %8s %8s %6s   %8s %8s %6s\n' '' best bound met median bound met best bound met
for kind in $pair_kinds; do
	# The bound is 1.5 times the untraced pair plus 0.2 ms. The median is that of the processes' medians.
	sort -n -k 5 "$tmp/pairs" | awk -v kind="$kind" '
		$1 == kind {
			n = ++count[$2]
			if (!($2 in first) || $3 < first[$2]) first[$2] = $3
			if (!($2 in best) || $4 < best[$2]) best[$2] = $4
			median[$2, n] = $5
		}
		function middle(way) { return median[way, int((count[way] + 1) / 2)] }
		function verdict(us, bound) { return sprintf("%8.1f %8.1f %6s", us, bound, us <= bound ? "yes" : "no") }
		function plain(us) { return sprintf("%8.1f %15s", us, "") }
		END {
			form = "  %-40s %s   %s   %s\n"
			printf form, kind ": untraced", plain(best["without"]), plain(middle("without")),
				plain(first["without"])
			printf form, kind ": libxaudit.so, kinds = none", plain(best["none"]), plain(middle("none")),
				plain(first["none"])
			printf form, kind ": traced", verdict(best["traced"], 1.5 * best["without"] + 200),
				verdict(middle("traced"), 1.5 * middle("without") + 200),
				verdict(first["traced"], 1.5 * first["without"] + 200)
		}'
done
