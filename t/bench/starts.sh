# SPDX-License-Identifier: MIT
#
# Part of run.sh: what the module costs where hardly anything is recorded: the start of a process, a program of
# which nothing is selected, and the load of a library with very many sleds.

build gcc start_cost start_cost.c
build gcc load_cost load_cost.c
build gcc call_none -DCALLS=100000000 call_none.c "$tmp/libbench_none.so" "-Wl,-rpath,$tmp"
build gcc call_once -DCALLS=1 call_none.c "$tmp/libbench_none.so" "-Wl,-rpath,$tmp"
build gcc empty.so -fPIC -shared empty_auditor.c

tunables=GLIBC_TUNABLES=glibc.rtld.optional_static_tls=24576 # as `xaudit record` sets it
printf '[trace]\noutput = %s\n' "$tmp/starts" >"$tmp/default.conf"
printf '[trace]\noutput = %s\n[library *]\nkinds = plt\n[program]\nkinds = plt\n' "$tmp/starts.plt" >"$tmp/plt.conf"
printf '[trace]\noutput = %s\n[library *]\nkinds = none\n[program]\nkinds = none\n' "$tmp/starts.none" >"$tmp/none.conf"

# start_row NAME LABEL: what NAME costs more than the first, from lines "NAME MINIMUM MEDIAN" in $tmp/output.
start_row() {
	awk -v name="$1" -v label="$2" '
		NR == 1 { first[1] = $2; first[2] = $3 }
		$1 == name {
			printf "  %-44s %8.0f %+6.0f   %8.0f %+6.0f\n", label, $2, $2 - first[1], $3, $3 - first[2]
		}' "$tmp/output"
}

# shellcheck disable=SC2086
run $pin "$tmp/start_cost" 200 /bin/true -- without -- empty "$tunables" LD_AUDIT="$tmp/empty.so" \
	-- default "$tunables" LD_AUDIT="$MODULE" XAUDIT_CONFIG="$tmp/default.conf" \
	-- plt "$tunables" LD_AUDIT="$MODULE" XAUDIT_CONFIG="$tmp/plt.conf"
heading 'start to end of /bin/true, us, 200 runs each'
printf '  %-44s %8s %6s   %8s %6s\n' '' best added median added
start_row without 'no module'
start_row empty 'an auditor that only needs libc'
start_row default 'libxaudit.so, default rules'
start_row plt "libxaudit.so, -k plt -l '*'"
rm -rf "$tmp/starts" "$tmp/starts.plt"

# /bin/true calls nothing through a PLT, so no trace comes of it. This one makes one call into a library of its own.
# shellcheck disable=SC2086
run $pin "$tmp/start_cost" 200 "$tmp/call_once" -- without -- empty "$tunables" LD_AUDIT="$tmp/empty.so" \
	-- plt "$tunables" LD_AUDIT="$MODULE" XAUDIT_CONFIG="$tmp/plt.conf"
traced=$(find "$tmp/starts.plt" -name meta | wc -l)
[ "$traced" -eq 201 ] || fail "201 processes ran with plt, $traced were traced"
heading 'start to end of a program that makes one traced call, us, 200 runs each'
printf '  %-44s %8s %6s   %8s %6s\n' '' best added median added
start_row without 'no module'
start_row empty 'an auditor that only needs libc'
start_row plt "libxaudit.so, -k plt -l '*'"
rm -rf "$tmp/starts.plt"

# The same calls as in the first table, by a program that is only watched: the whole process, so start and end
# are in it.
# shellcheck disable=SC2086
run $pin "$tmp/start_cost" 9 "$tmp/call_none" -- without \
	-- none "$tunables" LD_AUDIT="$MODULE" XAUDIT_CONFIG="$tmp/none.conf"
heading 'a program that makes 100 million calls into a library, nothing of it selected'
awk '
	{ least[NR] = $2; median[NR] = $3 }
	END {
		printf "  %-44s %8.1f ms, median %8.1f ms\n", "no module", least[1] / 1e3, median[1] / 1e3
		printf "  %-44s %8.1f ms, median %8.1f ms\n", "libxaudit.so, kinds = none", least[2] / 1e3, median[2] / 1e3
		printf "  %-44s %8.3f   , median %8.3f\n", "ratio", least[2] / least[1], median[2] / median[1]
	}' "$tmp/output"

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
