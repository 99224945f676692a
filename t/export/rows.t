#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit export --format=csv and ndjson: read back by python3, sqlite3 and jq, with the calls and times of report.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/export/app.sh"
need jq
app_record
printf '%s\n' "$report" >json
# Calls and self time of each function, in lines to compare.
jq -r '.functions[] | [.function, .library, .calls, .self_ns] | @json' json >expected ||
	bail 'report has no JSON'
LC_ALL=C sort -o expected expected
[ "$(wc -l <expected)" -gt 20 ] || bail 'report has no functions'

# ---- csv ----

export_to() { # FILE OPTION...
	export_file=$1
	shift
	bounded 60 "$XAUDIT" export "$@" app.data >"$export_file" || bail "export $* fails"
}
export_to calls.csv --format=csv --no-demangle
cat >read_csv.py <<'END'
import collections, csv, json, os, sys
rows = list(csv.DictReader(open("calls.csv", newline="", encoding="utf-8")))
totals = collections.defaultdict(lambda: [0, 0])
for row in rows:
    totals[row["function"], row["library"]][0] += 1
    totals[row["function"], row["library"]][1] += int(row["self_ns"])
with open("csv.totals", "w") as out:
    for (function, library), (calls, own) in totals.items():
        out.write(json.dumps([function, library, calls, own], separators=(",", ":"), ensure_ascii=False) + "\n")
by_id = {row["id"]: row for row in rows}
inner = collections.Counter()
for row in rows:
    if row["parent"]:
        around = by_id[row["parent"]]
        assert int(around["start_ns"]) <= int(row["start_ns"]) and around["pid"] == row["pid"], row
        inner[row["parent"]] += int(row["duration_ns"] or 0)
    else:
        assert row["depth"] == "0", row
# Each time is rounded by itself.
odd = [row for row in rows if row["duration_ns"] and
       abs(int(row["duration_ns"]) - int(row["self_ns"]) - inner[row["id"]]) > 50]
print(len(rows), len(by_id), len(odd), sum(row["how"] == "unfinished" for row in rows),
      sum(row["how"] == "unwound" or row["how"] == "cut" for row in rows),
      {row["host"] for row in rows} == {os.uname().nodename}, all(row["time"].endswith("Z") for row in rows))
# Of a thread that goes on in another one's buffer the name is not known.
print(*({row["thread"][:-1] for row in rows if row["thread"].startswith("wor")}), sep="|")
print(*(row["values"] for row in rows if row["function"] == "shop_greet"), sep="\n")
END
# dig throws from four deep, 20 times.
is "$(python3 read_csv.py 2>&1)" "$app_all_calls $app_all_calls 0 1 80 True True
wor\"ker; 
(\"plain\") = 5
(\"\\\"quoted\\\", with a \\\\ and 'single' ones\") = 36
(\"grüße 日本 🐧\") = 19
(\"control \\1\\33[31m\\t\\n bytes\\177\") = 23
(\"not \\377\\376 UTF-8, <b>&amp;</b> \\342\\200\\256bidi\") = 34
(NULL) = -1" 'csv: calls nest, and have their threads, ends and values'
# jq writes U+007F and above as they are, like python3.
python3 - <<'END' && LC_ALL=C sort expected.py >expected.sorted && LC_ALL=C sort csv.totals >csv.sorted
import json
with open("expected.py", "w") as out:
    for line in open("expected"):
        out.write(json.dumps(json.loads(line), separators=(",", ":"), ensure_ascii=False) + "\n")
END
ok 'and the calls and times of report for each function, whatever its name' cmp csv.sorted expected.sorted
export_to short.csv --format=csv --no-values
is "$(grep -c '[Pp]lain\|= 36' short.csv)" 0 '--no-values: without values'
is "$(sed -n 's/.*,"\(shop::tree<[^"]*::walk(int)\)",.*/\1/p' short.csv | sort -u | wc -l)" 1 \
	'names of C++ are demangled, unless --no-demangle is given'
if command -v sqlite3 >/dev/null; then
	sum=$(jq '[.functions[].self_ns] | add' json)
	is "$(sqlite3 :memory: '.import --csv calls.csv calls' \
		'select count(*), count(distinct id), sum(self_ns) from calls' \
		"select count(*) from calls a join calls b on a.parent = b.id where b.function like '%work%'")" \
		"$app_all_calls|$app_all_calls|$sum
606" 'sqlite3 imports all rows, and finds what work calls'
else
	skip 1 'no sqlite3 here'
fi

# ---- ndjson ----

export_to all.ndjson --format=ndjson --event-format='shop.order=u32 number, u32 amount, string what'
jq -s '[.[] | select(.what == "call")] | group_by([.symbol, .library]) | .[] |
	[.[0].symbol, .[0].library, length, ([.[].self_ns] | add)]' -c all.ndjson | LC_ALL=C sort >ndjson.totals
ok 'ndjson: the calls and times of report for each function' cmp ndjson.totals expected
jq -c 'select(.what == "call")' all.ndjson >calls.ndjson
is "$(jq -s 'map({(.id | tostring): .}) | add as $by | [.[] | select(.parent) | $by[.parent | tostring] as $p |
	select($p.start_ns > .start_ns or $p.pid != .pid)] | length' calls.ndjson)" 0 'calls have the one around them'
is "$(grep '"symbol":"shop_measure"' all.ndjson | grep -o '"value":[^,}]*' | tr '\n' ' ')" \
	'"value":-7 "value":1.5 "value":200 "value":18364758544493064720 "value":194 ' 'values have types'
jq -r 'select(.symbol == "shop_greet") | .entered[0].value' all.ndjson >texts
is "$(sed -n 3p texts)" 'grüße 日本 🐧' 'and texts are as they were'
ok 'control bytes, too' grep -Fq "$(printf 'control \001\033[31m\t')" texts
plugins() { # WHAT
	jq -r --arg what "$1" 'select(.what == $what and (.library | endswith("/libplugin.so"))) | .load' all.ndjson |
		sort -u | wc -l
}
is "$(plugins load) $(plugins unload)" '4 4' 'each load of a plugin has its line, and each unload'
export_to none.ndjson --format=ndjson --no-values
is "$(jq -c 'select(.entered or .ended or .request)' none.ndjson | wc -l)" 0 '--no-values: without values'
is "$(jq -c 'select(.type == "shop.order") | [.fields[], .size]' all.ndjson)" '[7,1250,"te\"a",16]
[8,1250,"te\"a",16]
[9,1250,"te\"a",16]' 'events have the fields of --event-format'
is "$(jq -c 'select(.what == "event" and .text) | .text' all.ndjson)" '"order 7, \"blue\""
""
""
"ends"
"child"
"child"' 'or text'
is "$(jq -s '[.[] | select(.what == "event" and .call)] | length' all.ndjson)" 3 'and the call that they are made in'
is "$(jq -r 'select(.what == "call" and .request) | [.request, .symbol] | @tsv' all.ndjson |
	LC_ALL=C sort | uniq -c | awk '{ $1 = $1; print }')" '4 "order 7, \\"blue\\"" _ZN4shop4leafEi
2 "order 7, \\"blue\\"" _ZN4shop4workEi
2 8 _ZN4shop4leafEi
1 8 _ZN4shop4workEi' 'calls have their request'
done_testing
