#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit export --format=sqlite: the questions of xaudit-export(1), asked by sqlite3, have the answers that are known of
# the program and those of report.
. "${top_srcdir:-.}/t/lib/tap.sh"
need sqlite3
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/export/app.sh"
app_record
printf '%s\n' "$report" >json
# `total` of a call that is not over has what is known of calls in it; report counts those that are.
bounded 60 "$XAUDIT" export --format=sqlite -o app.db \
	--event-format='shop.order=u32 number, u32 amount, string what' app.data || bail 'export fails'
asks() {
	bounded 60 sqlite3 "${2-app.db}" "$1" 2>&1
}
is "$(asks 'PRAGMA integrity_check; PRAGMA foreign_key_check')" ok \
	'the database is whole, and all that rows name is there'

# A question that takes no index reads all of the table.
indexes="SELECT group_concat(name) FROM (SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'calls'
	ORDER BY 1)"
is "$(asks "$indexes")" calls_parent,calls_request,calls_start 'calls have their indexes'
for column in parent start request; do
	like "$(asks "EXPLAIN QUERY PLAN SELECT sum(self) FROM calls WHERE $column = 5")" "INDEX calls_$column" \
		"what asks for calls by $column takes it"
done
is "$(asks "SELECT count(*) FROM sqlite_schema WHERE name LIKE '%waiting%' OR sql LIKE '%VIRTUAL%'")" 0 \
	'nothing is left of how they came'

# ---- the table of report ----

jq -r '.functions[] | [.function, .library, .calls, .total_ns, .self_ns] | @json' json | LC_ALL=C sort >expected
[ "$(wc -l <expected)" -gt 20 ] || bail 'report has no functions'
# JSON has U+FFFD for bytes that are no UTF-8, as the name has.
asks "SELECT json_array(
	CASE WHEN typeof(f.symbol) = 'text' THEN f.symbol ELSE p.name END, p.library, calls, total, self)
	FROM profile p JOIN functions f ON f.id = p.function" | jq -c . | LC_ALL=C sort >profile
ok 'the view profile has the calls and times of report, whatever a function is called' cmp profile expected
is "$(asks "SELECT hex(symbol) FROM functions WHERE typeof(symbol) = 'blob'")" FFFE2062616420C328 \
	'a name that is no UTF-8 is there as a blob'

# ---- the questions of the manual ----

# Each begins with its line of comment, and ends with an empty line.
awk '/^\.Bd -literal$/ { on = 1; next } /^\.Ed$/ { on = 0 }
	on && /^-- / { file = "question." ++n } on && n { print >file } END { print n + 0 }' \
	"$top_srcdir/doc/xaudit-export.1" >questions
is "$(cat questions)" 10 'the manual has ten questions'
answer() { # NUMBER WORD
	grep -q "^-- .*$2" "question.$1" || bail "question $1 is not about $2: $(cat "question.$1")"
	bounded 60 sqlite3 app.db <"question.$1" 2>&1
}
is "$(answer 1 'most time')" "$(jq -r '.functions | sort_by(-.self_ns)[:10][] |
	"\(.demangled // .function)|\(.calls)|\(.total_ns)|\(.self_ns)"' json)" 'which functions take the most time'
answer 2 'took longest' >longest
is "$(wc -l <longest) $(cut -d '|' -f 4 longest | sort -rnc && echo sorted)" '10 sorted' 'which calls took longest'
is "$(sed 's/.*|//;q' longest)" "$(jq '[.functions[].max_ns] | max' json)" 'the first took as long as report says'
is "$(answer 3 'who called leaf')" 'shop::work(int)|606
shop::child(int)|14' 'who called a function'
is "$(answer 4 'longest call of walk' | sed 's/tree<.*>::/tree::/')" 'shop::tree::walk(int)|63
shop::walk(int)|1' 'what was called in a call'
is "$(answer 5 'did not return' | grep -v 'cut|shop::dig\|unwound|shop::dig')" 'unfinished|shop::stay(void (*)())|1' \
	'which calls did not return'
is "$(answer 5 'did not return' | awk -F '|' '/dig/ { n += $3 } END { print n }')" 80 'those that were unwound'
is "$(answer 6 'with what')" "$(printf 'plain|5\n"quoted", with a \\ and '\''single'\'' ones|36\ngrüße 日本 🐧|19
control \001\033[31m\t\n bytes\177|23\nnot \377\376 UTF-8, <b>&amp;</b> \342\200\256bidi|34\n|-1')" \
	'with what a function was called, and what came back'
is "$(answer 7 'each request' | sed 's/|[0-9]*$//')" '"order 7, \"blue\""|6
8|3' 'what each request costs'
like "$(answer 8 'plugin loaded')" "^$tmp/\./libplugin\.so\|4\|[0-9]+\$" 'how often a plugin was loaded'
p99=$(answer 9 '99 %')
is "$(jq --argjson p "$p99" '.functions[] | select(.function == "_ZN4shop4leafEi") | .p99_ns |
	. <= $p * 65 / 64 + 1 and $p <= . * 65 / 64 + 1' json)" true \
	'a percentile, within the width of a bucket of report, and a ns'
is "$(answer 10 'events')" 'shop.order|shop::take(void const*, unsigned long, int)|7
shop.order|shop::take(void const*, unsigned long, int)|8
shop.order|shop::take(void const*, unsigned long, int)|9' \
	'events with their data'

# ---- whole or not at all ----

export_fails() { # SENTENCE MESSAGE OPTION...
	sentence=$1 message=$2
	shift 2
	like "$(bounded 60 "$XAUDIT" export --format=sqlite "$@" app.data 2>&1)" "^xaudit export: $message\$" \
		"$sentence"
}
export_fails 'standard output is no file' '--format=sqlite writes all over a file: -o names it'
export_fails 'nor is a pipe' '--format=sqlite goes into a regular file, which /dev/null is not' -o /dev/null
cp app.db kept.db
like "$( (ulimit -f 40; trap '' XFSZ; bounded 60 "$XAUDIT" export --format=sqlite -o kept.db app.data 2>&1); echo $?)" \
	"^xaudit export: kept\.db can't be written: .*(full|disk I/O error)
1$" 'a disk that is full is an error'
is "$(cmp app.db kept.db; echo "$?"; ls kept.db?* 2>/dev/null)" 0 'what was there stays, and nothing is left beside it'
export_fails 'a folder that is not there, too' "no/such/folder can't be written: No such file or directory" \
	-o no/such/folder
bounded 60 "$XAUDIT" export --format=sqlite --no-values -o kept.db app.data
is "$(asks "$indexes" kept.db)" calls_parent,calls_start 'there is no index of requests where there are none'
is "$(asks 'SELECT count(*) FROM call_values' kept.db) $(asks 'SELECT count(*) FROM requests' kept.db)
$(asks 'SELECT count(*) FROM calls' kept.db)" "0 0
$app_all_calls" '--no-values: without values and requests'
# The library is opened when it is needed.
mkdir lib
: >lib/libsqlite3.so.0
like "$(LD_LIBRARY_PATH=lib bounded 60 "$XAUDIT" export --format=sqlite -o none.db app.data 2>&1; echo $?)" \
	"^xaudit export: --format=sqlite needs libsqlite3 (Debian: libsqlite3-0), which can't be opened: .*
1$" 'without the library it says so'
is "$(ls none.db* 2>/dev/null)" '' 'and leaves nothing'
is "$(LD_LIBRARY_PATH=lib bounded 60 "$XAUDIT" export --format=ndjson app.data | grep -c '"what":"call"')" \
	"$app_all_calls" 'other formats do without'
done_testing
