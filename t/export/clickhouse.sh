# SPDX-License-Identifier: MIT
#
# For tests that load into ClickHouse; sourced after t/lib/tap.sh and readers.sh, in $tmp. Servers of Debian 12's
# version, on ports and in folders of their own, or chDB, which is today's. They end with the test.

clickhouse_pids=
clickhouse_real=$(command -v clickhouse-client)
trap 'tap_status=$?; trap - EXIT; clickhouse_end; cd /; tap_pack; tap_clear; exit $tap_status' EXIT
clickhouse_end() {
	for clickhouse_pid in $clickhouse_pids; do
		kill "$clickhouse_pid" 2>/dev/null
		i=0
		while kill -0 "$clickhouse_pid" 2>/dev/null && [ $((i += 1)) -le 100 ]; do sleep 0.1; done
		kill -9 "$clickhouse_pid" 2>/dev/null
		wait "$clickhouse_pid" 2>/dev/null
	done
	clickhouse_pids=
}

# clickhouse_cpu: processor time of the servers so far, in s.
clickhouse_cpu() {
	for clickhouse_pid in $clickhouse_pids; do
		for clickhouse_child in $(pgrep -P "$clickhouse_pid"); do cat "/proc/$clickhouse_child/stat"; done
	done 2>/dev/null | awk -v hz="$(getconf CLK_TCK)" '{ sub(/.*[)]/, ""); n += $12 + $13 } END { print n / hz }'
}

# clickhouse_ports N: so many that are free now, each in a line.
clickhouse_ports() {
	python3 -c '
import socket, sys
held = [socket.socket() for _ in range(int(sys.argv[1]))]
for one in held:
    one.bind(("127.0.0.1", 0))
print(*(one.getsockname()[1] for one in held), sep="\n")' "$1"
}

# clickhouse_client PORT: the program clickhouse-client of that name in $tmp/bin asks that server.
clickhouse_client() {
	mkdir -p "$tmp/bin"
	printf '#!/bin/sh\nexec %s --port %s "$@"\n' "$clickhouse_real" "$1" >"$tmp/bin/client.$1"
	chmod +x "$tmp/bin/client.$1"
	ln -sf "client.$1" "$tmp/bin/clickhouse-client"
}

# clickhouse_server NAME HTTP TCP SHARD...: starts one; SHARD are the ports of the servers of the cluster "hosts".
clickhouse_server() {
	clickhouse_name=$1 clickhouse_http=$2 clickhouse_tcp=$3
	shift 3
	clickhouse_folder=$tmp/$clickhouse_name
	mkdir -p "$clickhouse_folder/data/tmp"
	cat >"$clickhouse_folder/users.xml" <<END
<yandex><profiles><default><max_threads>2</max_threads></default></profiles>
<users><default><password></password><networks><ip>127.0.0.1</ip></networks><profile>default</profile>
<quota>default</quota></default></users><quotas><default></default></quotas></yandex>
END
	{
		cat <<END
<yandex><logger><level>warning</level><log>$clickhouse_folder/log</log><errorlog>$clickhouse_folder/errors</errorlog>
</logger><listen_host>127.0.0.1</listen_host><http_port>$clickhouse_http</http_port><tcp_port>$clickhouse_tcp</tcp_port>
<path>$clickhouse_folder/data/</path><tmp_path>$clickhouse_folder/data/tmp/</tmp_path>
<users_config>users.xml</users_config><default_profile>default</default_profile>
<default_database>default</default_database><mark_cache_size>100000000</mark_cache_size><remote_servers><hosts>
END
		for clickhouse_shard; do
			echo "<shard><replica><host>127.0.0.1</host><port>$clickhouse_shard</port></replica></shard>"
		done
		echo '</hosts></remote_servers></yandex>'
	} >"$clickhouse_folder/config.xml"
	timeout -k 10 3500 clickhouse-server --config-file="$clickhouse_folder/config.xml" \
		>"$clickhouse_folder/out" 2>&1 &
	clickhouse_pids="$clickhouse_pids $!"
	i=0
	until bounded 10 "$clickhouse_real" --port "$clickhouse_tcp" -q 'SELECT 1' >/dev/null 2>&1; do
		[ $((i += 1)) -le 150 ] ||
			bail "clickhouse-server does not start: $(tail -n 3 "$clickhouse_folder/out")"
		sleep 0.2
	done
}

# clickhouse_chdb: starts chDB, from npm, which is installed once in a build folder if `more` is done; sets $server, and
# has clickhouse-client ask it. Status 1 after a remark: it is not here.
clickhouse_chdb() {
	clickhouse_folder=$top_builddir/readers/chdb
	reader_npm_into "$clickhouse_folder" "$top_srcdir/t/export/chdb" || return 1
	mkdir -p "$tmp/chdb" "$tmp/bin"
	cp "$top_srcdir/t/export/chdb_server.mjs" "$clickhouse_folder/"
	(cd "$clickhouse_folder" && exec timeout -k 10 3500 node chdb_server.mjs "$tmp/chdb" "$tmp/chdb/port") \
		>"$tmp/chdb/out" 2>&1 &
	clickhouse_pids="$clickhouse_pids $!"
	i=0
	until [ -f "$tmp/chdb/port" ]; do
		[ $((i += 1)) -le 150 ] || bail "chDB does not start: $(cat "$tmp/chdb/out")"
		sleep 0.2
	done
	server=http://127.0.0.1:$(cat "$tmp/chdb/port")/
	rm -f "$tmp/bin/clickhouse-client"
	cat >"$tmp/bin/clickhouse-client" <<END
#!/bin/sh
exec python3 -c '
import sys, urllib.error, urllib.request
text = sys.argv[2] if sys.argv[1] == "-q" else sys.stdin.read()
for one in text.split(";\n"):
    if one.strip():
        try:
            print(urllib.request.urlopen("$server", one.encode()).read().decode(), end="")
        except urllib.error.HTTPError as error:
            sys.exit(error.read().decode())' "\$@"
END
	chmod +x "$tmp/bin/clickhouse-client"
}
