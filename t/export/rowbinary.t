#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit export --format=rowbinary: its rows, and how they are sent to a server that refuses, drops and delays them.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/export/app.sh"
. "$top_srcdir/t/lib/written.sh"
app_record
printf '%s\n' "$report" >json
unset CLICKHOUSE_USER CLICKHOUSE_PASSWORD CURL_CA_BUNDLE http_proxy HTTP_PROXY ALL_PROXY all_proxy
HOME=$tmp
export HOME
cp "$top_srcdir/t/export/clickhouse_server.py" .

# ---- rows ----

bounded 60 "$XAUDIT" export --format=rowbinary --no-demangle -o rows app.data || bail 'export fails'
cat >read_rows.py <<'END'
import collections, json, sys
from clickhouse_server import decode
rows = decode(open("rows", "rb").read())
totals = collections.Counter()
for row in rows:
    totals[row["function"].decode("utf-8", "replace"), row["library"].decode(), "calls"] += 1
    totals[row["function"].decode("utf-8", "replace"), row["library"].decode(), "self"] += row["self"]
expected = collections.Counter()
for f in json.load(open("json"))["functions"]:
    expected[f["function"], f["library"], "calls"] = f["calls"]
    expected[f["function"], f["library"], "self"] = f["self_ns"]
by_id = {row["id"]: row for row in rows}
print(len(rows), len(by_id), totals == expected)
print(all(row["caller"] == (by_id[row["parent"]]["function"] if row["parent"] else b"") for row in rows),
      all(row["start"] >= row["process_start"] for row in rows), all(row["build_id"] for row in rows),
      {row["cpu"] for row in rows}, len({row["process"] for row in rows}), len({row["block"] for row in rows}))
print(sorted({row["how"] for row in rows}))
print([row["values"].decode() for row in rows if row["function"] == b"shop_measure"])
print(sorted({row["request"].decode() for row in rows}))
END
is "$(python3 read_rows.py 2>&1)" "$app_all_calls $app_all_calls True
True True True {None} 3 3
[1, 3, 5]
['(-7, 1.5, 200, 18364758544493064720) = 194']
['', '\"order 7, \\\\\"blue\\\\\"\"', '8']" 'rows have the calls and times of report, and all columns'
[ "$tap_failed" -eq 0 ] || python3 read_rows.py 2>&1 | sed 's/^/# /'

# ---- a server ----

server=
stop() {
	[ -z "$server" ] || kill "$server" 2>/dev/null
	server=
}
trap 'tap_status=$?; trap - EXIT; stop; cd /; tap_pack; tap_clear; exit $tap_status' EXIT
serve() { # FAILURE...
	stop
	rm -f port
	# Not by bounded(): its shell would be killed, and the server stay.
	timeout -k 5 300 python3 clickhouse_server.py port "$@" >server.out 2>&1 &
	server=$!
	for _ in $(seq 100); do
		[ -f port ] && break
		sleep 0.1
	done
	port=$(cat port) || bail "the server does not start: $(cat server.out)"
}
get() {
	bounded 20 python3 -c 'import sys, urllib.request
print(urllib.request.urlopen(sys.argv[1]).read().decode(), end="")' "http://127.0.0.1:$port/$1"
}
load() { # TRACE OPTION...
	bounded 120 "$XAUDIT" export --to="http://127.0.0.1:$port/" "$@" 2>&1
}
# there: blocks, rows, and distinct ids of all blocks.
there() {
	get rows | awk '{ n++; rows += $2; ids += $3 } END { print n + 0, rows + 0, ids + 0 }'
}

# 250 000 calls of one process: three blocks.
{
	printf 'process p100 flags=1 chunk=262144\npair first 1000 1000 1800000000000000000\n'
	printf 'pair last 90000000 90000000 1800000000089999000\ntext host one\n'
	printf 'object 1 /usr/lib/libfoo.so\nfunction 1 0 1 16 foo\nthread 100 main\n'
	echo 'loop 250000 20'
	printf 'entry 1 1000\nexit 1 1010\nend\n'
} | write_trace many
serve refuse '' drop half slow
is "$(load many)" '250000 calls loaded in 3 blocks' 'a load goes on when a server refuses and drops requests'
is "$(there)" '3 250000 250000' 'each row is there once'
is "$(get log)" 'running 0
asked a process
insert 100000 refuse
running 0
asked a block
insert 100000 
insert 100000 drop
running 0
asked a block
insert 50000 half
running 0
asked a block
insert 25000 slow
running 1
running 1
running 0
asked a block' 'it is sent again only if it is neither there nor running; of a half, what is missing'
is "$(load many; there)" '0 calls loaded in 0 blocks; 250000 were there already
3 250000 250000' 'a second load sends nothing'
like "$(load --min=1us many; echo $?)" '^0 calls loaded in 0 blocks' 'one of no calls neither'
like "$(load --from=1ms many; echo $?)" \
	'^xaudit export: http:.* has other calls of process 100 of host one than this: .*remove them' \
	'one with other options is an error'
is "$(there)" '3 250000 250000' 'and nothing came of it'
serve '' hopeless
like "$(load many; echo $?)" \
	"^xaudit export: http:.* can't be loaded into: status 404: Code: 60, .* Table xaudit.calls doesn't exist\.
1$" 'what is hopeless is not tried again'
is "$(load many; there)" '150000 calls loaded in 2 blocks; 100000 were there already
3 250000 250000' 'the next load goes on where that one ended'

# A process that was killed: its head does not say how long it ran.
{
	echo 'process p300 clock=mono'
	echo 'pair first 1000 1000 5000000000000'
	echo 'text host one'
	echo "$libraries"
	echo 'thread 300 main'
	echo 'entry 1 2000'
	echo 'exit 1 3000'
	echo 'entry 1 50000000000'
	echo 'exit 1 60000000000'
} | write_trace killed
is "$(load killed; load killed)" '2 calls loaded in 1 blocks
0 calls loaded in 0 blocks; 2 were there already' 'a process that was killed is there once, too'

# ---- what is sent, and by whom ----

serve
printf 'machine 127.0.0.1 login loader password s3cret\n' >.netrc
chmod 600 .netrc
is "$(load app.data)" "$app_all_calls calls loaded in 3 blocks" 'the calls of three processes'
is "$(get log | grep '^as ' | sort -u)" 'as loader:s3cret' 'user and password come from ~/.netrc'
CLICKHOUSE_USER=other CLICKHOUSE_PASSWORD=word
export CLICKHOUSE_USER CLICKHOUSE_PASSWORD
load app.data >/dev/null
is "$(get log | grep '^as ' | tail -n 1)" 'as other:word' 'or from the environment'
bounded 60 "$XAUDIT" export --format=rowbinary --no-values -o rows app.data
is "$(grep -ac 'blue\|plain' rows)" 0 'a file without values has no requests either'
sums=$(get rows | LC_ALL=C sort)
serve
load --values app.data >/dev/null
is "$(get rows | LC_ALL=C sort)" "$sums" 'blocks do not depend on values'

# ---- wrong usage ----

wrong() { # SENTENCE MESSAGE OPTION...
	sentence=$1 message=$2
	shift 2
	like "$(bounded 60 "$XAUDIT" export "$@" app.data 2>&1; echo $?)" "^xaudit export: $message
[12]$" "$sentence"
}
wrong 'a password in the address is an error' '--to: others would see the password: write it into ~/.netrc, .*' \
	--to=http://me:secret@127.0.0.1:1/
wrong 'so is one behind it' '--to: others would see the password: .*' "--to=http://127.0.0.1:1/?password=x"
wrong '--values is for a server' '--values is for --to=URL; a file has them, unless --no-values is given' \
	--values --format=csv
wrong 'so is another format' '--to=URL sends rows of --format=rowbinary, and has no other output' --format=csv \
	--to=http://127.0.0.1:1/
wrong 'a server that is not there is told at once' "http://127.0.0.1:1/ can't be loaded into: .*connect.*" \
	--to=http://127.0.0.1:1/
wrong 'so is one that does not speak TLS' "https://127.0.0.1:$port/ can't be loaded into: .*" \
	"--to=https://127.0.0.1:$port/"
like "$("$XAUDIT" export --schema=clickhouse:a-b 2>&1)" "^xaudit export: --schema can't be" 'a cluster is a name'
for kind in clickhouse clickhouse-18; do
	is "$("$XAUDIT" export --schema=$kind | grep -c '^CREATE')/$("$XAUDIT" export --schema=$kind:hosts |
		grep -c '^CREATE\|Distributed(hosts, ')" 4/8 "--schema=$kind prints tables, of a cluster more"
done
done_testing
