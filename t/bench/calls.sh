# SPDX-License-Identifier: MIT
#
# Part of run.sh: what a call costs, in nanoseconds.

need_calls

# own gcc|clang NAME [FLAG]...: bench_local in a program of its own, for tracers that know no libraries.
own() {
	compiler=$1 name=$2
	shift 2
	build "$compiler" "$name.o" -c -DNAME=local "$@" bench_function.c
	build "$compiler" "$name.main.o" -c -DBENCH_LOCAL call_cost.c
	build "$compiler" "$name" "$tmp/$name.main.o" "$tmp/$name.o" "$@"
}

own gcc own_untraced
uftrace=
if command -v uftrace >/dev/null; then
	uftrace=1
	own gcc own_patchable -fpatchable-function-entry=5
	own gcc own_pg -pg
fi
# funtrace, where FUNTRACE names a folder with its source: linked in, as its wrapper for gcc does.
funtrace=
if [ -n "$FUNTRACE" ]; then
	build gcc own_funtrace.o -c -DNAME=local -pg -mfentry -minstrument-return=call bench_function.c
	build gcc own_funtrace.main.o -c -DBENCH_LOCAL call_cost.c
	build gcc own_funtrace -pthread "$tmp/own_funtrace.main.o" "$tmp/own_funtrace.o" "$FUNTRACE/funtrace.cpp" \
		"$FUNTRACE/funtrace_pg.S" "-Wl,--dynamic-list=$FUNTRACE/funtrace.dyn" -lstdc++ -lm -ldl
	funtrace=1
fi
xray=
if [ -n "$CLANG" ] && (own clang own_xray -fxray-instrument -fxray-instruction-threshold=1) 2>/dev/null; then xray=1; fi

# add NAME: takes "WAY WITHIN SUSTAINED" lines from the last command, and NAME instead of the way `local`.
add() {
	grep '^[a-z][a-z0-9]* [0-9.]* [0-9.]*$' "$tmp/output" | sed "s/^local /$1 /" >>"$tmp/costs"
}

# uftrace_record NAME PROGRAM [OPTION]...
uftrace_record() {
	name=$1 program=$2
	shift 2
	rm -rf "$tmp/uftrace.data"
	run uftrace record --no-libcall -d "$tmp/uftrace.data" "$@" \
		"$tmp/$program" -c "$cpu" -r 10 -n "$((CALLS / 5))" local
	add "$name"
	lost=$(sed -n 's/.*LOST \([0-9]*\) records.*/\1/p' "$tmp/output" | head -n 1)
	[ -z "$lost" ] || uftrace_lost="$uftrace_lost $lost"
	rm -rf "$tmp/uftrace.data"
}

: >"$tmp/costs"
uftrace_lost=
ways="tsc none $kinds"
round=0
# On a busy machine fewer rounds have to do, but three.
while [ "$round" -lt "$ROUNDS" ] && { [ "$round" -lt 3 ] || [ "$(elapsed)" -lt 20 ]; }; do
	round=$((round + 1))
	rm -rf "$tmp/calls"
	# shellcheck disable=SC2086
	run "$XAUDIT" record -c "$tmp/calls.conf" -o "$tmp/calls" "$tmp/call_cost" -c "$cpu" -n "$CALLS" $ways
	add local
	# Each follows another one in each round, and meets other changes of chunks.
	ways="${ways#* } ${ways%% *}"
	run "$tmp/own_untraced" -c "$cpu" -n "$((CALLS / 5))" local
	add own
	if [ -n "$uftrace" ]; then
		uftrace_record uftrace_patchable own_patchable -P .
		uftrace_record uftrace_pg own_pg
	fi
	if [ -n "$funtrace" ]; then
		FUNTRACE_FTRACE_EVENTS_IN_BUF=0 run "$tmp/own_funtrace" -c "$cpu" -n "$((CALLS / 5))" local
		add funtrace
	fi
	if [ -n "$xray" ]; then
		export XRAY_FDR_OPTIONS=func_duration_threshold_us=0 XRAY_BASIC_OPTIONS=func_duration_threshold_us=0
		for mode in basic fdr; do
			XRAY_OPTIONS="patch_premain=true xray_mode=xray-$mode xray_logfile_base=$tmp/xray-log." \
				run "$tmp/own_xray" -c "$cpu" -r 10 -n "$((CALLS / 5))" local
			add "xray_$mode"
			rm -f "$tmp"/xray-log.*
		done
	fi
done

# A figure is of worth only if the calls were recorded, all of them. The first SHORT and 50 rounds of SHORT
# calls are call_cost's.
run "$XAUDIT" report --format=json "$tmp/calls"
lost=$(json_number lost <"$tmp/output")
made=$((20000 * 51 + CALLS))
for kind in $kinds; do
	calls=$(grep -o "\"function\":\"bench_$kind\"[^}]*" "$tmp/output" | json_number calls)
	[ "$((${calls:-0} + ${lost:-0}))" -ge "$made" ] ||
		fail "$made calls of bench_$kind were made, ${calls:-no} recorded, $lost lost"
done
rm -rf "$tmp/calls"

# costs_of NAME: sets least (of the short runs), best and median (of the long ones).
costs_of() {
	# shellcheck disable=SC2046
	set -- $(awk -v n="$1" '$1 == n { print $2, $3 }' "$tmp/costs" | sort -n -k 2 | awk '
		NR == 1 || $1 < least { least = $1 }
		{ long[NR] = $2 }
		END { print least, long[1], long[int((NR + 1) / 2)] }')
	least=$1 best=$2 median=$3
}

# call_row NAME LABEL BASE: added and ratio are over the call of BASE; without it, the plain figures.
call_row() {
	costs_of "$1"
	set -- "$1" "$2" "$3" "$least" "$best" "$median"
	base='0 0 0'
	if [ -n "$3" ]; then
		costs_of "$3"
		base="$least $best $median"
	fi
	echo "$4 $5 $6 $base $tsc" | awk -v label="$2" -v of="$3" '
		of == "" { printf "  %-34s %7.2f %22.2f %22.2f\n", label, $1, $2, $3 }
		of != "" {
			printf "  %-34s", label
			for (i = 1; i <= 3; i++)
				printf "%s %7.2f %6.2f %5.2f", i == 1 ? "" : "  ",
					$i, $i - $(i + 3), ($i - $(i + 3)) / $(i + 6)
			print ""
		}'
}

heading "calls of a function that returns its argument + 1, ns per call ($round rounds; lost events: $lost)"
printf '  %-34s %-22s %s\n' '' ' within a chunk' "sustained: $CALLS calls, chunk changes and file included"
printf '  %-34s %7s %6s %5s   %7s %6s %5s   %7s %6s %5s\n' '' best added /2TSC best added /2TSC median added /2TSC
costs_of tsc
tsc="$least $best $median"
call_row tsc 'two TSC reads' ''
call_row none 'untraced call into a library' ''
call_row plt 'plt' none
call_row calls 'calls' none
call_row gcc5 'patchable, gcc =5' none
[ -z "$CLANG" ] || call_row clang5 'patchable, clang =5' none
call_row gcc16 'patchable, gcc =16,14' none
if [ -n "$CLANG" ]; then
	call_row xray 'xray, clang, entry and exit sleds' none
else
	echo '  no clang here: nothing of xray and of patchable by clang'
fi
call_row own 'untraced call inside the program' ''
if [ -n "$uftrace" ]; then
	call_row uftrace_patchable 'uftrace, patchable (-P)' own
	call_row uftrace_pg 'uftrace, -pg' own
	version=$(uftrace --version | sed 's/^uftrace v\([^ ]*\).*/\1/')
	echo "  uftrace $version: $((CALLS / 5)) calls; events that it lost, per run: ${uftrace_lost:-none}"
else
	echo '  no uftrace here'
fi
[ -z "$funtrace" ] || call_row funtrace 'funtrace, ring in memory of 1 MiB' own
if [ -n "$xray" ]; then
	call_row xray_basic "XRay's own runtime, basic mode" own
	call_row xray_fdr "XRay's own runtime, FDR mode" own
	echo "  XRay's runtime: $((CALLS / 5)) calls; basic mode writes a file, FDR mode keeps 1.6 MB in memory"
else
	echo "  XRay's own runtime cannot be linked here"
fi
