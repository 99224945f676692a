# SPDX-License-Identifier: MIT
#
# For tests that run programs under the module; sourced after t/lib/tap.sh. Goes into $tmp, builds fixtures there,
# records, and asks the trace.
need jq "${CC%% *}"
skip_sanitized
cd "$tmp" || bail 'no temporary folder'
tmp=$(pwd -P)
export tmp
sources=$top_srcdir/t/fixtures

# source_of NAME: the path of a fixture. It lies beside the test, or in $sources if tests of several folders use it.
source_of() {
	if [ -f "$beside/$1" ]; then echo "$beside/$1"; else echo "$sources/$1"; fi
}

# library COMPILER OUT SOURCE [FLAG]...: makes a shared library; `program` likewise a program. Both find libraries in
# their own folder.
library() {
	compiler=$1 out=$2 source=$3
	shift 3
	$compiler -O2 -g -fPIC -shared -Wl,-soname,"${out##*/}" -o "$out" "$(source_of "$source")" \
		"$@" -Wl,-rpath,'$ORIGIN' ||
		bail "$out does not compile"
}
program() {
	compiler=$1 out=$2 source=$3
	shift 3
	$compiler -O2 -g -pthread -o "$out" "$(source_of "$source")" "$@" -ldl -Wl,-rpath,'$ORIGIN' ||
		bail "$out does not compile"
}

# xray_library, patchable_library and cyg_library OUT SOURCE [FLAG]...; no clang: status 1.
xray_library() {
	[ -n "$CLANG" ] || return 1
	library "$CLANG" "$@" -fxray-instrument -fxray-instruction-threshold=1
}
patchable_library() {
	library "$CC" "$@" -fpatchable-function-entry=5
}
cyg_library() {
	library "$CC" "$@" -finstrument-functions
}

# record DIR ARG...: xaudit record into $tmp/DIR, at most $seconds, a minute if not set. Sets $status, $out and $err.
record() {
	dir=$1
	shift
	rm -rf "${tmp:?}/$dir"
	status=0
	bounded "${seconds:-60}" "$XAUDIT" record -o "$tmp/$dir" "$@" >"$tmp/.out" 2>"$tmp/.err" || status=$?
	out=$(cat "$tmp/.out")
	err=$(cat "$tmp/.err")
}

# report DIR [OPTION]...: sets $report and $report_status; `sums` prints the sums only if that status is 0.
report() {
	dir=$1
	shift
	report_status=0
	report=$(bounded 60 "$XAUDIT" report --format=json "$@" "$tmp/$dir" 2>"$tmp/.report-err") || report_status=$?
}

# calls FUNCTION: of the report, the rows' calls, as "5" or, with two rows, "3 2"; nothing where there is no row.
calls() {
	printf '%s\n' "$report" | jq -r --arg f "$1" \
		'[.functions[] | select(.function == $f) | .calls] | sort | reverse | join(" ")'
}
# sums: "LOST lost UNFINISHED unfinished" of the report, or how it failed.
sums() {
	if [ "$report_status" -ne 0 ] || [ -s "$tmp/.report-err" ]; then
		echo "report ends with $report_status: $(cat "$tmp/.report-err")"
		return
	fi
	printf '%s\n' "$report" | jq -r '"\(.lost) lost \(.unfinished) unfinished"'
}

# rows: "FUNCTION CALLS" of each function in the report, in order of names, with a comma between.
rows() {
	printf '%s\n' "$report" | jq -r '.functions | sort_by(.function) | map("\(.function) \(.calls)") | join(", ")'
}

# dump DIR [OPTION]...: every event as a JSON line, into $tmp/DIR.json.
dump() {
	dir=$1
	shift
	bounded 60 "$XAUDIT" dump --format=json "$@" "$tmp/$dir" >"$tmp/$dir.json" 2>"$tmp/.err"
}
# events DIR FILTER: how many lines of the dump the jq condition is true of.
events() {
	jq -n "[inputs | select($2)] | length" "$tmp/$1.json"
}

# info DIR FILTER: jq's output about the trace, compact.
info() {
	bounded 60 "$XAUDIT" info --format=json "$tmp/$1" 2>"$tmp/.err" | jq -c "$2"
}
# object DIR NAME FILTER: jq's output about the object with this basename, in all processes.
object() {
	bounded 60 "$XAUDIT" info --format=json "$tmp/$1" 2>"$tmp/.err" |
		jq -c --arg n "/$2" ".processes[].objects[] | select(.path | endswith(\$n)) | $3"
}

# index_of FILE...: makes indexes, where the module finds them.
index_of() {
	bounded 100 "$XAUDIT" index -q --cache="$XAUDIT_INDEX" "$@" 2>err || bail "no index: $(cat err)"
}

# stamp_name FILE: what the stamp is called that says which index is the file's (format/index.h).
stamp_name() {
	# shellcheck disable=SC2046
	printf '%x-%x-%x-%x-%x.stamp' $(stat -c '%d %i %s %.9Y %.9Z' "$1" | tr -d '.,')
}

# wait_until SECONDS COMMAND...: repeats the command each 20 ms until it succeeds; status 1 after about so long.
wait_until() {
	tries=$(($1 * 50))
	shift
	until "$@"; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || return 1
		sleep 0.02
	done
}
