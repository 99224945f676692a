#!/bin/sh
# SPDX-License-Identifier: MIT
#
# doc/fleet.md, command by command: hosts (UTS namespaces) record two releases of a program, pack and ship; a collector
# receives and loads, in spite of an interruption, into two servers of ClickHouse 18.16 and into today's; what is asked
# there has the answers of report. XAUDIT_ALL: 20 hosts with 20 million calls.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/export/readers.sh"
. "$top_srcdir/t/export/clickhouse.sh"
need unshare python3
if unshare -u true 2>/dev/null; then
	own_name='unshare -u'
elif unshare -ru true 2>/dev/null; then
	own_name='unshare -ru'
else
	skip_all 'no names of hosts for tests here'
fi
has_server=
command -v clickhouse-server >/dev/null && command -v clickhouse-client >/dev/null && has_server=1
# Where it is not installed yet, that would take a while.
has_chdb=
[ -n "$XAUDIT_ALL" ] || [ -f "$top_builddir/readers/chdb/installed" ] && has_chdb=1
[ -n "$has_server$has_chdb" ] || skip_all 'no clickhouse-server here'
unset CLICKHOUSE_USER CLICKHOUSE_PASSWORD http_proxy HTTP_PROXY all_proxy ALL_PROXY
HOME=$tmp
export HOME
hosts=4 rounds=400
[ -z "$XAUDIT_ALL" ] || hosts=20 rounds=100000
calls=$((hosts * rounds * 10)) # two releases, and five calls a round

# step NAME: the commands of that name in doc/fleet.md; ask NAME likewise what is asked. VARIABLE=VALUE: as the page has
# them, $VARIABLE.
awk '/^```/ { on = !on; name = ""; next }
	on && name == "" { name = $2; gsub(/[:,].*/, "", name); gsub("/", "-", name) }
	on { print >"step." name }' "$top_srcdir/doc/fleet.md"
mkdir -p bin
ln -s "$XAUDIT" bin/xaudit
PATH=$tmp/bin:$PATH
XAUDIT_MODULE=$MODULE
inbox=$tmp/inbox
export PATH XAUDIT_MODULE inbox
step() {
	(. "$tmp/step.$1")
}
ask() { # NAME [VARIABLE=VALUE]...
	ask_text=$(cat "$tmp/step.$1") || bail "no $1 in doc/fleet.md"
	shift
	for ask_value; do
		ask_text=$(printf '%s\n' "$ask_text" | sed "s,\\\$${ask_value%%=*}\\b,${ask_value#*=},g")
	done
	bounded 300 clickhouse-client -q "$ask_text" 2>&1
}
sql() {
	bounded 300 clickhouse-client -q "$1" 2>&1
}

# ---- hosts ----

for release in 1 2; do
	mkdir -p "release$release"
	library "$CC" "release$release/libfleet.so" fleet_library.c -fpatchable-function-entry=5 "-DRELEASE=$release" \
		-I"$top_srcdir"
	program "$CC" "release$release/fleet" fleet.c -I"$top_srcdir" -I"$top_srcdir/runtime/api" \
		"release$release/libfleet.so" "$top_builddir/libxaudit-api.a"
done
# Since the release, query takes ten times as long on the second host.
record_on() { # HOST RELEASE
	slow=$([ "$1 $2" != 'host02 2' ]; echo $?)
	(
		spool=$tmp/spool.$1 name=release$2
		what="-k patchable -l libfleet.so --context handle:args" command="./release$2/fleet $rounds $slow"
		export spool name what command
		mkdir -p "$spool"
		bounded 300 $own_name sh -ec 'hostname "$1"; . "$2"' sh "$1" "$tmp/step.record"
	) >"said.$1" 2>&1 || bail "record on $1: $(cat "said.$1")"
}
as_host() { # NAME-AND-SIZE
	SSH_ORIGINAL_COMMAND=$1 sh "$tmp/step.receive" "$host"
}
all_hosts=$(seq -f 'host%02g' "$hosts")
for host in $all_hosts; do
	record_on "$host" 1
	record_on "$host" 2
	spool=$tmp/spool.$host ssh=as_host
	step ship
	[ -z "$(ls "$spool")" ] || bail "left on $host: $(ls "$spool")"
done
is "$(find inbox -name '*.pack' | wc -l)" $((2 * hosts)) 'all traces have been shipped'
host=host01
is "$(printf 1234 | as_host 'x.pack 9' 2>&1; echo $?)" 1 'one that ends early is not received'
is "$(printf x | as_host '../x.pack 1' 2>&1; echo $?)
$(printf x | as_host '.x.pack 1' 2>&1; echo $?) $(printf x | as_host 'x 1' 2>&1; echo $?)" '1
1 1' 'nor one with a name of other places'
is "$(ls -A inbox/host01)" 'release1.pack
release2.pack' 'and nothing of them is left'
# A host that speaks for another one.
mkdir -p inbox/rogue
cp inbox/host01/release1.pack inbox/rogue/
if command -v systemd-analyze >/dev/null; then
	for unit in xaudit-load xaudit-ship; do
		for kind in service timer; do
			sed 's,^ExecStart=.*,ExecStart=/bin/true,; s,^User=.*,User=root,' "step.$unit.$kind" \
				>"$unit.$kind"
		done
	done
	is "$(systemd-analyze verify ./xaudit-*.service ./xaudit-*.timer 2>&1 | grep '/xaudit-')" '' \
		'units are well formed'
else
	skip 1 'no systemd here'
fi

# ---- what report says ----

for file in inbox/host*/*.pack; do
	host=${file%/*} host=${host##*/}
	bounded 300 "$XAUDIT" report --format=json "$file" | jq -r --arg host "$host" --arg file "${file##*/}" \
		'.functions[] | [$host, $file, .function, .calls, .self_ns, .p50_ns, .p99_ns] | @tsv'
done | LC_ALL=C sort >reported
is "$(awk '{ n += $4 } END { print n }' reported)" "$calls" 'all calls were recorded'
awk -v OFS='\t' '{ n[$1 OFS $3] += $4; t[$1 OFS $3] += $5 } END { for (k in n) print k, n[k], t[k] }' reported |
	LC_ALL=C sort >expected
build_id() {
	readelf -n "release$1/libfleet.so" | sed -n 's/.*Build ID: //p'
}
old=$(build_id 1) new=$(build_id 2)

# ---- load and ask ----

loaded() {
	find inbox -name '*.loaded' | wc -l
}
# Takes back what load has done with the files.
unload() {
	for file in inbox/*/*.loaded inbox/*/*.refused; do
		[ ! -f "$file" ] || mv "$file" "${file%.*}"
	done
}
# A load that is killed in the middle, as well as one can.
interrupted_load() {
	setsid sh -c '. "$1"' sh "$tmp/step.load" >/dev/null 2>&1 &
	load=$!
	i=0
	while kill -0 "$load" 2>/dev/null && [ $((i += 1)) -le 3000 ]; do
		[ "$(sql 'SELECT count() > 0 FROM xaudit.calls')" != 1 ] || break
		sleep 0.02
	done
	kill -9 "-$load" 2>/dev/null
	wait "$load" 2>/dev/null
}
# in_bucket LOW HIGH VALUE: is the value of report between two of the server's, or a bucket's width from them?
in_bucket() {
	awk -v l="$1" -v h="$2" -v v="$3" 'BEGIN { exit !(v >= l * 63 / 64 - 1 && v <= h * 65 / 64 + 1) }'
}
# fleet NAME FORGET: all of it, on the servers that are there; FORGET: the table that partitions are dropped from.
fleet() {
	export server
	start=$(date +%s%N)
	interrupted_load
	interrupted=$(sql 'SELECT count() FROM xaudit.calls')
	step load >loads 2>&1
	load_time=$(($(date +%s%N) - start))
	cpu=$(clickhouse_cpu)
	like "$(cat loads)" "^$inbox/rogue/release1\.pack is of another host\$" \
		"$1: a trace that speaks for another host is refused"
	is "$(loaded)" $((2 * hosts)) "$1: all others are loaded, after an interruption at $interrupted calls"
	# The ids of each run are 1, 2, ...
	is "$(sql 'SELECT count(), sum(id) FROM xaudit.calls')" \
		"$calls	$((hosts * rounds * 5 * (rounds * 5 + 1)))" "$1: each call is there once"
	sql "SELECT host, function, count(), sum(self) FROM xaudit.calls GROUP BY host, function" |
		LC_ALL=C sort >found
	ok "$1: each host has the calls and times of its reports" cmp found expected
	unload
	step load >loads 2>&1
	is "$(grep -c 'were there already' loads)/$(sql 'SELECT count() FROM xaudit.calls')" "$((2 * hosts))/$calls" \
		"$1: a load that is repeated adds nothing"
	unload
	is "$(sql 'SELECT sum(calls) FROM xaudit.minutes')" "$calls" "$1: the minutes have all calls, too"
	is "$(sql "SELECT count() FROM xaudit.calls WHERE \`values\` != ''")" 0 "$1: values stayed on their hosts"

	# The one release of host01 alone, since report counts each by itself.
	for percent in 50 99; do
		mine=$(awk -v p="$percent" '$1 == "host01" && $2 == "release1.pack" && $3 == "query" {
			print p == 50 ? $6 : $7 }' reported)
		ends=$(sql "SELECT arrayStringConcat(arrayMap(x -> toString(x), quantilesExact(0.$((percent - 1))5,
			0.${percent}5)(duration)), ' ') FROM xaudit.calls
			WHERE host = 'host01' AND function = 'query' AND build_id = '$old'")
		# shellcheck disable=SC2086
		ok "$1: percentile $percent of report, $mine, lies between those around it, $ends" \
			in_bucket $ends "$mine"
	done
	is "$(ask p99 | cut -f 1,2 | sed 1q)" "host02	$((2 * rounds))" "$1: p99 of a function, per host"
	is "$(ask minutes | cut -f 1,2 | sed 1q)" "host02	$((2 * rounds))" "$1: likewise of the minutes"
	near=$(ask minutes | sed -n 's/^host02.*	//p')
	ends=$(sql "SELECT arrayStringConcat(arrayMap(x -> toString(x), quantilesExact(0.98, 0.998)(duration)), ' ')
		FROM xaudit.calls WHERE host = 'host02' AND function = 'query'")
	# shellcheck disable=SC2086
	ok "$1: which is $near there, between those around it, $ends" in_bucket $ends "$near"
	is "$(ask slower "old=$old" "new=$new" | cut -f 1-3 | sed 1q)" "query	host02	$((2 * rounds))" \
		"$1: what is slower since the release, and where"
	is "$(ask request 'request="order-3"' | cut -f 1,7 | LC_ALL=C sort | uniq -c | awk '{ print $1, $2, $3 }' |
		head -n 3)" '2 host01 handle
6 host01 parse
2 host01 query' "$1: all calls of a request on a host"
	is "$(ask request 'request="order-3"' | wc -l)" $((10 * hosts)) "$1: and on all of them"
	is "$(ask hosts | cut -f 1-3 | tail -n 1)" "host$(printf %02d "$hosts")	$((rounds * 10))	2" \
		"$1: what is there"
	size=$(sql "SELECT round(sum(bytes_on_disk) / sum(rows), 1) FROM system.parts
		WHERE active AND table LIKE 'calls%'")
	diag "$1: $calls calls loaded in $((load_time / 1000000)) ms; processor time of servers: $cpu s;" \
		"$size bytes a call"
}
forget() { # NAME TABLE
	ask forget-day "calls=$2" \
		"day=$(sql "SELECT toYYYYMMDD(toDateTime(intDiv(min(start), 1000000000))) FROM xaudit.$2")"
	is "$(sql "SELECT count() FROM xaudit.$2")" 0 "$1: a day is forgotten"
}

if [ -n "$has_server" ]; then
	# shellcheck disable=SC2046
	set -- $(clickhouse_ports 4)
	for number in 1 2; do
		eval "http=\$$number tcp=\$$((number + 2))"
		clickhouse_server "server$number" "$http" "$tcp" "$3" "$4"
		clickhouse_client "$tcp"
		sed 's/clickhouse:/clickhouse-18:/' step.tables-cluster >step.tables-18
		step tables-18 || bail 'the tables can not be made'
	done
	clickhouse_client "$3"
	server=http://127.0.0.1:$1/
	fleet '18.16'
	is "$(sql 'SELECT count() > 0 FROM xaudit.calls_local')$("$tmp/bin/client.$4" -q \
		'SELECT count() > 0 FROM xaudit.calls_local')" 11 'both shards have calls'
	ask forget-host calls=calls_local host=host01
	i=0
	left="SELECT count() FROM xaudit.calls_local WHERE host = 'host01'"
	until [ "$(sql "$left")" = 0 ] || [ $((i += 1)) -gt 100 ]; do sleep 0.2; done
	is "$(sql "$left")" 0 'a host is forgotten'
	forget '18.16' calls_local
	clickhouse_end
	rm -rf "$tmp"/server?
else
	skip 19 'no clickhouse-server here'
fi
if [ -n "$has_chdb" ] && clickhouse_chdb; then
	step tables || bail 'the tables can not be made'
	fleet today
	forget today calls
else
	skip 17 'no chDB here'
fi
done_testing
