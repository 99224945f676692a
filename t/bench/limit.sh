# SPDX-License-Identifier: MIT
#
# Part of run.sh: how near a call is to the limit, sites of the same kind whose hook reads the clock and does nothing
# else (limit_sites.S); how fast much is written; for how long calls are held up; many threads. With BASE, the build
# folder of another xaudit, that one writes much, too.
need_calls

other=$(sed -n 's/^Cpus_allowed_list:[^0-9]*\([0-9]*\).*/\1/p' /proc/self/status)
beside=
if [ -n "$pin" ]; then beside="taskset -c $other"; fi
pairs='plt:limitplt gcc5:limitpatchable'
[ -z "$CLANG" ] || pairs="$pairs xray:limitxray"

# file_system FOLDER: its type.
file_system() {
	df --output=fstype "$1" | tail -n 1
}

# Folders for traces: on disk, and in memory where there is one. How large the pages of that one are matters.
folders=$tmp
memory=
if [ "$(file_system "$MEMORY" 2>/dev/null)" = tmpfs ] &&
	memory=$(mktemp -d "$MEMORY/xaudit-bench.XXXXXX" 2>/dev/null); then
	heading "tmpfs is $MEMORY, huge=$(findmnt -no OPTIONS -T "$MEMORY" 2>/dev/null |
		sed -n 's/.*huge=\([^,]*\).*/\1/p' | grep . || echo default)"
	trap 'rm -rf "$tmp" "$memory"' EXIT
	folders="$folders $memory"
fi

# traced WAY FOLDER COMMAND...: runs it on its own processor, `xaudit record` on the other one.
traced() {
	way=$1 folder=$2
	shift 2
	rm -rf "$folder/limit"
	case $way in
	alone)
		{
			printf '[trace]\noutput = %s\nmode = stream\n' "$folder/limit"
			cat "$tmp/calls.conf"
		} >"$tmp/alone.conf"
		run env LD_AUDIT="$MODULE" XAUDIT_CONFIG="$tmp/alone.conf" "$@"
		;;
	coarse)
		{
			printf '[trace]\nclock = coarse\n'
			cat "$tmp/calls.conf"
		} >"$tmp/coarse.conf"
		# shellcheck disable=SC2086
		run $beside "$XAUDIT" record -c "$tmp/coarse.conf" -o "$folder/limit" "$@"
		;;
	*)
		# shellcheck disable=SC2086
		run $beside "$XAUDIT" record -c "$tmp/calls.conf" -m "$way" -o "$folder/limit" "$@"
		;;
	esac
}

# ---- the limit ----

limit_modes='ring stream alone count'
printf '[trace]\nclock = coarse\n' >"$tmp/coarse.conf"
# shellcheck disable=SC2086
if timeout 20 "$XAUDIT" record -c "$tmp/coarse.conf" -o "$tmp/limit" true >/dev/null 2>&1; then
	limit_modes="$limit_modes coarse"
fi
ways=
for pair in $pairs; do ways="$ways none:$pair"; done
: >"$tmp/limits"
round=0
part=$(elapsed)
while [ "$round" -lt "$ROUNDS" ] && { [ "$round" -lt 3 ] || [ $(($(elapsed) - part)) -lt 30 ]; }; do
	round=$((round + 1))
	for folder in $folders; do
		for mode in $limit_modes; do
			# shellcheck disable=SC2086
			traced "$mode" "$folder" "$tmp/call_cost" -c "$cpu" -r 20 -n "$((CALLS / 2))" $ways
			grep '^[a-z][a-z0-9:]* [0-9.]* [0-9.]*' "$tmp/output" |
				sed "s|^|$round $folder $mode |" >>"$tmp/limits"
			if [ "$mode" != count ]; then
				run "$XAUDIT" info --format=json "$folder/limit"
				bytes=$(grep -o '"bytes_per_event":[0-9.]*' "$tmp/output" | head -n 1 | cut -d : -f 2)
				echo "$round $folder $mode bytes 0 $bytes" >>"$tmp/limits"
			fi
			rm -rf "$folder/limit"
		done
	done
	ways="${ways#* } ${ways%% *}"
done

# Of each round what ours adds to the untraced call, the limit, and the ratios.
limit_rows() {
	awk -v pairs="$pairs" -v folder="$1" -v mode="$2" '
		$2 != folder || $3 != mode { next }
		split($4, side, ":") == 3 { print side[2], $7, $8, $5, $6; next }
		$4 == "bytes" { print $4, $6; next }
		!($4 in within) || $5 < within[$4] { within[$4] = $5 }
		END {
			n = split(pairs, pair, " ")
			for (i = 1; i <= n; i++) {
				split(pair[i], side, ":")
				limit = within[side[2]] - within["none"]
				print side[1] "-within", (limit > 0 ? (within[side[1]] - within["none"]) / limit : 0)
			}
		}' "$tmp/limits" >"$tmp/limit_rows"
}
column() {
	awk -v name="$1" -v n="$2" '$1 == name { print $n }' "$tmp/limit_rows" | median
}
heading "what a call adds: ours, the limit, their ratio in turns of a chunk, in turns of 16, and within a chunk, best
  ($round rounds; medians)"
printf '  %-28s' ''
for pair in $pairs; do printf ' %34s' "${pair%:*}"; done
echo '  bytes per event'
for folder in $folders; do
	for mode in $limit_modes; do
		limit_rows "$folder" "$mode"
		case $mode in
		stream) label='stream, record beside' ;;
		alone) label='stream alone' ;;
		coarse) label='coarse, record beside' ;;
		*) label=$mode ;;
		esac
		printf '  %-28s' "$(file_system "$folder"), $label"
		for pair in $pairs; do
			ours=${pair%:*}
			printf ' %6.2f %6.2f %6.3f %6.3f %6.3f' "$(column "$ours" 2)" "$(column "$ours" 3)" \
				"$(column "$ours" 4)" "$(column "$ours" 5)" "$(column "$ours-within" 2)"
		done
		echo "  $(column bytes 2)"
	done
done

# ---- much, to disk ----

: "${GIGABYTES:=5}"
room=$(df -k --output=avail "$tmp" | tail -n 1)
if [ "$GIGABYTES" -gt 0 ] && [ "$room" -gt $((GIGABYTES * 2000000)) ]; then
	heading "$GIGABYTES GB of events to disk, seconds to the end of the command, and until they are on the disk"
	calls=$((GIGABYTES * 62500000))
	: >"$tmp/large"
	# large NAME XAUDIT: adds "NAME SECONDS SECONDS".
	large() {
		name=$1
		rm -rf "$tmp/large.trace"
		sync -f "$tmp"
		start=$(now)
		# shellcheck disable=SC2086
		timeout -k 5 300 $beside "$2" record -c "$tmp/calls.conf" -o "$tmp/large.trace" \
			"$tmp/call_cost" -c "$cpu" -r 1 -n "$calls" plt >"$tmp/output" 2>&1 || {
			cat "$tmp/output" >&2
			fail "$2 record failed"
		}
		end=$(now)
		find "$tmp/large.trace" -type f -exec sync -d {} +
		drained=$(now)
		run "$2" info --format=json "$tmp/large.trace"
		events=$(json_number events <"$tmp/output")
		echo "$name $(((end - start) / 1000000)) $(((drained - start) / 1000000)) $events" >>"$tmp/large"
		rm -rf "$tmp/large.trace"
	}
	for round in 1 2 3; do
		[ -z "$BASE" ] || large base "$BASE/xaudit"
		large ours "$XAUDIT"
	done
	for name in base ours; do
		grep -q "^$name " "$tmp/large" || continue
		label='this one'
		[ "$name" != base ] || label=$BASE
		for field in 2 3 4; do
			awk -v n="$name" -v f="$field" '$1 == n { print $f }' "$tmp/large" | median
		done | awk -v label="$label" -v made="$((2 * calls + 40000))" '
			{ v[NR] = $1 }
			END { printf "  %-44s %8.2f %8.2f  events %d of %d\n",
				label, v[1] / 1000, v[2] / 1000, v[3], made }'
	done
else
	heading "$GIGABYTES GB to disk: left out (GIGABYTES is 0, or there is no room)"
fi

# ---- how long calls are held up ----

# "plain" is what an untraced program is held up for that writes as much by itself, a chunk of the same size at a time.
build gcc hold_cost hold_cost.c "$tmp/libbench_none.so" "$tmp/libbench_plt.so" "-Wl,-rpath,$tmp"
chunk=262144
: >"$tmp/holds"
round=0
while [ $((round += 1)) -le 3 ]; do
	for folder in $folders; do
		for mode in ring stream alone plain; do
			case $mode in
			plain) run "$tmp/hold_cost" "$cpu" "$((CALLS * 2))" "$folder/plain" "$chunk" ;;
			*) traced "$mode" "$folder" "$tmp/hold_cost" "$cpu" "$((CALLS * 2))" ;;
			esac
			sed -nE "s;^(plt|none) ;$folder $mode &;p" "$tmp/output" >>"$tmp/holds"
			rm -rf "$folder/limit" "$folder/plain"
		done
	done
done
heading "for how long a call was held up: $((CALLS * 2)) calls, in turns with untraced ones, the quietest of 3 rounds;
  without waiting for the processor, and in all rounds; then with that, and how long it was in sum"
printf '  %-22s %9s %7s %7s %7s %10s   %9s %7s %9s %9s   %12s\n' '' 'longest' '>50us' '>300us' '>1ms' '>300, all' \
	'longest' '>300us' 'queue, ms' 'host, ms' 'untraced, us'
for folder in $folders; do
	for mode in ring stream alone plain; do
		awk -v label="$(file_system "$folder"), $mode" -v folder="$folder" -v mode="$mode" '
			$1 != folder || $2 != mode { next }
			$3 == (mode == "plain" ? "plt" : "none") { if (!other || $4 < other) other = $4; next }
			{ all += $6 }
			!held || $4 < least {
				least = $4
				held = sprintf("%9.1f %7d %7d %7d", $4, $5, $6, $7)
				lasted = sprintf("%9.1f %7d %9.1f %9.1f", $8, $9, $10, $11)
			}
			END { printf "  %-22s %s %10d   %s   %12.1f\n", label, held, all, lasted, other }' "$tmp/holds"
	done
done

# ---- many threads ----

build gcc threads_cost threads_cost.c -pthread "$tmp/libbench_none.so" "$tmp/libbench_plt.so" "$tmp/libbench_limit.so" \
	"-Wl,-rpath,$tmp"
recorder=8388608
: >"$tmp/threads"
round=0
two=
if [ -n "$pin" ] && [ "$other" != "$cpu" ]; then two="taskset -c $other,$cpu"; fi
while [ $((round += 1)) -le 5 ]; do
	for folder in $folders; do
		for threads in 1 2 64; do
			rm -rf "$folder/limit"
			# shellcheck disable=SC2086
			run "$XAUDIT" record -c "$tmp/calls.conf" -m ring -o "$folder/limit" \
				$two "$tmp/threads_cost" "$threads" "$((CALLS * 2))" "$recorder"
			grep '^[0-9. ]*$' "$tmp/output" | sed "s|^|$folder $threads |" >>"$tmp/threads"
			rm -rf "$folder/limit"
		done
	done
done
# threads_column FOLDER THREADS FIELD: what a call adds to the untraced one of the same column; best of the rounds.
threads_column() {
	awk -v f="$1" -v n="$2" -v c="$3" '$1 == f && $2 == n { print $c - $(c < 7 ? 4 : 8) }' "$tmp/threads" |
		sort -n | head -n 1
}
heading "mode ring, many threads on two processors: processor time that a call adds, ns; means, best of 5 rounds; and
  one of the quickest turns. limit: the hook reads the clock and does nothing else; kept: and two words are stored"
printf '  %-28s %27s   %27s\n' '' 'ours, limit, kept' 'ours, limit, kept'
for folder in $folders; do
	for threads in 1 2 64; do
		printf '  %-28s' "$(file_system "$folder"), $threads threads"
		for field in 3 5 6 7 9 10; do
			[ "$field" != 7 ] || printf '  '
			printf ' %8.2f' "$(threads_column "$folder" "$threads" "$field")"
		done
		echo
	done
done
[ -z "$memory" ] || rm -rf "$memory"
