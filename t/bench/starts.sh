# SPDX-License-Identifier: MIT
#
# Part of run.sh: what the module costs where hardly anything is recorded: the start of a process, a program of
# which nothing is selected, and the load of a library with very many sleds.

need_calls
need_none
build gcc start_cost start_cost.c
build gcc load_cost load_cost.c
build gcc call_none call_none.c "$tmp/libbench_none.so" "-Wl,-rpath,$tmp"
build gcc empty.so -fPIC -shared empty_auditor.c
build gcc bare.so -fPIC -shared -nostdlib -DBARE empty_auditor.c

printf '[trace]\noutput = %s\n' "$tmp/starts" >"$tmp/default.conf"
printf '[trace]\noutput = %s\n[library *]\nkinds = plt\n[program]\nkinds = plt\n' "$tmp/starts.plt" >"$tmp/plt.conf"

# start_row NAME LABEL: what NAME costs more than the first, from lines "NAME MINIMUM MEDIAN" in $tmp/output.
start_row() {
	awk -v name="$1" -v label="$2" '
		NR == 1 { first[1] = $2; first[2] = $3 }
		$1 == name {
			printf "  %-44s %8.0f %+6.0f   %8.0f %+6.0f\n", label, $2, $2 - first[1], $3, $3 - first[2]
		}' "$tmp/output"
}

# shellcheck disable=SC2086
run $pin "$tmp/start_cost" 200 /bin/true -- without -- bare "$tunables" LD_AUDIT="$tmp/bare.so" \
	-- empty "$tunables" LD_AUDIT="$tmp/empty.so" \
	-- default "$tunables" LD_AUDIT="$MODULE" XAUDIT_CONFIG="$tmp/default.conf" \
	-- plt "$tunables" LD_AUDIT="$MODULE" XAUDIT_CONFIG="$tmp/plt.conf"
heading 'start to end of /bin/true, us, 200 runs each'
printf '  %-44s %8s %6s   %8s %6s\n' '' best added median added
start_row without 'no module'
start_row bare 'an auditor that needs nothing'
start_row empty 'an auditor that only needs libc'
start_row default 'libxaudit.so, default rules'
start_row plt "libxaudit.so, -k plt -l '*'"
rm -rf "$tmp/starts" "$tmp/starts.plt"

# /bin/true calls nothing through a PLT, so no trace comes of it. This one makes one call into a library of its own.
# shellcheck disable=SC2086
run $pin "$tmp/start_cost" 200 "$tmp/call_none" -- without -- bare "$tunables" LD_AUDIT="$tmp/bare.so" \
	-- empty "$tunables" LD_AUDIT="$tmp/empty.so" \
	-- plt "$tunables" LD_AUDIT="$MODULE" XAUDIT_CONFIG="$tmp/plt.conf"
traced=$(find "$tmp/starts.plt" -name meta | wc -l)
[ "$traced" -eq 201 ] || fail "201 processes ran with plt, $traced were traced"
heading 'start to end of a program that makes one traced call, us, 200 runs each'
printf '  %-44s %8s %6s   %8s %6s\n' '' best added median added
start_row without 'no module'
start_row bare 'an auditor that needs nothing'
start_row empty 'an auditor that only needs libc'
start_row plt "libxaudit.so, -k plt -l '*'"
rm -rf "$tmp/starts.plt"

# The same calls as in the first table, by a program that is only watched. The runs take turns in the order ABBA,
# so that each way comes first as often as the other. Of the slices of a run come the best and the median, of the
# runs the lowest: what other load touched least. Start and end of the process are not in it, they stand above.
: >"$tmp/none"
round=0
part=$(elapsed)
# On a busy machine fewer rounds have to do.
while [ "$round" -lt 100 ] && { [ "$round" -lt 20 ] || [ $(($(elapsed) - part)) -lt 10 ]; }; do
	round=$((round + 1))
	if [ $((round % 2)) -eq 0 ]; then order='without none'; else order='none without'; fi
	for way in $order; do
		set -- env
		[ $way = without ] || set -- env "$tunables" LD_AUDIT="$MODULE" XAUDIT_CONFIG="$tmp/none.conf"
		# shellcheck disable=SC2086
		run $pin "$@" "$tmp/call_none" 50
		echo "$way $(cat "$tmp/output")" >>"$tmp/none"
	done
done
[ ! -e "$tmp/starts.none" ] || fail 'something was traced, though nothing is selected'
heading 'a program that calls into a library, nothing of it selected, ns per call'
printf '  %-44s %8s %8s\n' "$round runs each, of 50 slices of 100 000 calls" best 'median'
awk '
	{
		for (i = 2; i <= 3; i++)
			if (!(($1, i) in least) || $i < least[$1, i]) least[$1, i] = $i
	}
	function line(label, way) { printf "  %-44s %8.4f %8.4f\n", label, least[way, 2], least[way, 3] }
	END {
		line("no module", "without")
		line("libxaudit.so, kinds = none", "none")
		for (i = 2; i <= 3; i++) least["ratio", i] = least["none", i] / least["without", i]
		line("ratio", "ratio")
	}' "$tmp/none"

if [ -z "$CLANG" ]; then
	heading 'no clang here: nothing about patching at load'
	return 0
fi

# 50 copies of what clang makes of 1000 functions: clang takes half a minute for all of them.
awk 'BEGIN { for (i = 0; i < 1000; i++) printf "int f_%d(int a) { return a + %d; }\n", i, i }' >"$tmp/many.c"
build clang many.s -S -fPIC -fno-addrsig -fxray-instrument -fxray-instruction-threshold=1 "$tmp/many.c"
copy=0
objects=
while [ $((copy += 1)) -le 50 ]; do
	sed "s/\\bf_/f_${copy}_/g" "$tmp/many.s" | as -o "$tmp/many$copy.o" - ||
		fail "as cannot assemble what clang made"
	objects="$objects $tmp/many$copy.o"
done
# shellcheck disable=SC2086
build clang libmany.so -shared $objects
rm -f "$tmp"/many*.o
sleds=$("$XAUDIT" list --format=json "$tmp/libmany.so" | json_number xray)
[ "$sleds" -eq 100000 ] || fail "libmany.so has ${sleds:-no} sleds, not 100000"

printf '[trace]\noutput = %s\n[library libmany.so]\nkinds = xray\n' "$tmp/load" >"$tmp/load.conf"
: >"$tmp/loads"
round=0
while [ $((round += 1)) -le 5 ]; do
	for way in without none xray; do
		set -- env "$tunables" LD_AUDIT="$MODULE"
		case $way in
		without) set -- env ;;
		none) set -- "$@" XAUDIT_CONFIG="$tmp/none.conf" ;;
		xray) set -- "$@" XAUDIT_CONFIG="$tmp/load.conf" ;;
		esac
		# shellcheck disable=SC2086
		run $pin "$@" "$tmp/load_cost" "$tmp/libmany.so" f_50_999
		echo "$way $(cat "$tmp/output")" >>"$tmp/loads"
	done
done
[ "$(find "$tmp/load" -name meta | wc -l)" -eq 5 ] || fail 'libmany.so was not traced'
heading "dlopen of a library with $sleds xray sleds (50000 functions), ms, best of 5"
for way in 'without no module' 'none libxaudit.so, kinds = none' 'xray libxaudit.so, all sleds patched'; do
	awk -v way="${way%% *}" -v label="${way#* }" '
		!($1 in least) || $2 < least[$1] { least[$1] = $2 }
		END { printf "  %-44s %8.2f %+7.2f\n", label, least[way], least[way] - least["without"] }' "$tmp/loads"
done
rm -rf "$tmp/load" "$tmp/libmany.so"
