# SPDX-License-Identifier: MIT
#
# Servers of the farm: started as Debian starts them (root, then their own user), asked, told to stop; see run.sh.

# until_ready COMMAND...: waits for the server, at most 30 s.
until_ready() {
	tries=0
	until "$@" >/dev/null 2>&1; do
		tries=$((tries + 1))
		if [ $tries -gt 300 ] || ! alive "$server"; then
			echo 'it did not get ready'
			return 1
		fi
		sleep 0.1
	done
}

# stop [SIGNAL]: ends the server; prints its status, which nobody but init learns of a daemon.
stop() {
	kill -"${1-TERM}" "$server"
	(
		sleep 30
		pkill -KILL -P "$server"
		kill -KILL "$server"
	) 2>/dev/null &
	guard=$!
	if [ -z "$daemon" ]; then
		wait "$server"
		echo "server $?"
	else
		tries=0
		while alive "$server" && [ $tries -lt 250 ]; do
			tries=$((tries + 1))
			sleep 0.1
		done
		[ $tries -lt 250 ] && echo 'server ended'
	fi
	kill $guard 2>/dev/null
}

# start COMMAND...: as a child of the shell; but in the background where $daemon says so: then the command ends at once,
# and the server is the process in the file pid.
start() {
	if [ -z "$daemon" ]; then
		wrap "$@" &
		server=$!
		return
	fi
	(wrap "$@") || return
	tries=0
	until [ -s pid ] && server=$(cat pid) && alive "$server"; do
		tries=$((tries + 1))
		[ $tries -le 300 ] || return
		sleep 0.1
	done
	keep_switching "$server"
}

# renew SIGNAL: tells the server to take new children; waits until it has, and none of the old ones is left.
renew() {
	master=$(cat pid)
	children=" $(pgrep -P "$master" | tr '\n' ' ')"
	kill -"$1" "$master"
	tries=0
	while sleep 0.1 && tries=$((tries + 1)); do
		now=$(pgrep -P "$master")
		old=0
		for child in $now; do
			case $children in *" $child "*) old=$((old + 1)) ;; esac
		done
		if [ -n "$now" ] && [ $old = 0 ]; then
			echo renewed
			return
		fi
		[ $tries -le 300 ] || break
	done
	echo "$old old children are left, and $(echo "$now" | wc -w) children in all"
}

# requests URL: of ab, which counts what failed.
requests() {
	ab -q -n "${2-2000}" -c 8 -H 'Accept-Encoding: gzip' "$1" 2>&1 | grep -E 'Complete|Failed|Non-2xx'
}

# As a unit of systemd has it that knows the server's process; program_nginxd() is Debian's unit.
program_nginx() {
	nginx_asked 'daemon off;'
}

program_nginxd() {
	# It ends with the command.
	unfit check && return
	daemon=1 nginx_asked 'daemon on; master_process on;'
}

nginx_asked() {
	needs nginx ab curl pgrep || return
	here_is=$(pwd)
	mkdir www && head -c 20000 /dev/zero | tr '\0' x >www/index.html
	cat >conf <<END
pid $here_is/pid; error_log $here_is/err; worker_processes 2; user www-data;
events { worker_connections 256; }
http { access_log off; gzip on; gzip_types *; client_body_temp_path $here_is/b; proxy_temp_path $here_is/p;
fastcgi_temp_path $here_is/f;
uwsgi_temp_path $here_is/u; scgi_temp_path $here_is/s; server { listen 127.0.0.1:18181; root $here_is/www; } }
END
	start nginx -c "$here_is/conf" -g "$1"
	until_ready curl -sf http://127.0.0.1:18181/ || return
	requests http://127.0.0.1:18181/index.html
	for _ in 1 2 3; do
		renew HUP
		requests http://127.0.0.1:18181/ 500
	done
	curl -s -H 'Accept-Encoding: gzip' http://127.0.0.1:18181/ | md5sum
	stop QUIT
	least 9
}

program_apache() {
	# It signals its whole process group.
	apache_asked setsid apache2 -DFOREGROUND
}

# As apachectl does.
program_apached() {
	# It ends with the command.
	unfit check && return
	daemon=1 apache_asked apache2 -k start
}

apache_asked() {
	needs apache2 setsid ab curl pgrep /usr/lib/apache2/modules/libphp8.2.so || return
	here_is=$(pwd)
	mkdir www && head -c 20000 /dev/zero | tr '\0' x >www/index.html
	# shellcheck disable=SC2016
	echo '<?php $a = []; for ($i = 0; $i < 1000; $i++) $a[] = md5((string)$i); echo md5(json_encode($a));' \
		>www/t.php
	{
		for module in mpm_prefork authz_core authz_host mime dir alias deflate filter rewrite headers \
			setenvif; do
			[ -f /usr/lib/apache2/modules/mod_$module.so ] &&
				echo "LoadModule ${module}_module /usr/lib/apache2/modules/mod_$module.so"
		done
		cat <<END
ServerName x
PidFile $here_is/pid
Listen 127.0.0.1:18182
User www-data
Group www-data
ErrorLog $here_is/err
DocumentRoot $here_is/www
StartServers 2
LoadModule php_module /usr/lib/apache2/modules/libphp8.2.so
TypesConfig /etc/mime.types
AddOutputFilterByType DEFLATE text/html
<FilesMatch "\.php$">
SetHandler application/x-httpd-php
</FilesMatch>
<Directory $here_is/www>
Require all granted
</Directory>
END
	} >conf
	start "$@" -f "$here_is/conf"
	until_ready curl -sf http://127.0.0.1:18182/ || return
	requests http://127.0.0.1:18182/index.html
	requests http://127.0.0.1:18182/t.php 500
	for _ in 1 2 3; do
		renew USR1
		requests http://127.0.0.1:18182/ 300
		requests http://127.0.0.1:18182/t.php 100
	done
	grep -c 'Graceful restart requested' err
	curl -s http://127.0.0.1:18182/t.php
	echo
	sleep 1
	stop WINCH
	least 9
}

program_haproxy() {
	needs haproxy curl pgrep /usr/bin/python3 || return
	echo back >index.html
	/usr/bin/python3 -m http.server --bind 127.0.0.1 18184 >/dev/null 2>&1 &
	back=$!
	mkdir root
	cat >conf <<END
global
	chroot $(pwd)/root
	user haproxy
	group haproxy
defaults
	mode http
	timeout connect 5s
	timeout client 5s
	timeout server 5s
frontend f
	bind 127.0.0.1:18183
	default_backend b
backend b
	server s 127.0.0.1:18184
END
	start haproxy -Ws -f conf -p "$(pwd)/pid" -q
	until_ready curl -sf http://127.0.0.1:18183/index.html
	fetch_100 http://127.0.0.1:18183/index.html
	renew USR2
	fetch_100 http://127.0.0.1:18183/index.html
	stop TERM
	kill $back
	least 3
}

# fetch_100 URL: prints what came, and how often.
fetch_100() {
	i=0
	while [ $i -lt 100 ]; do
		curl -s "$1"
		i=$((i + 1))
	done | sort | uniq -c
}

program_redis() {
	needs redis-server redis-cli redis-benchmark setpriv || return
	trace_of redis
	start setpriv --reuid=redis --regid=redis --init-groups redis-server --port 18185 --bind 127.0.0.1 --save '' \
		--supervised systemd --daemonize no --dir "$(pwd)" >/dev/null
	until_ready redis-cli -p 18185 ping || return
	redis-benchmark -p 18185 -n 20000 -c 10 -q -t set,get,lpush >/dev/null 2>&1
	redis-cli -p 18185 info commandstats | tr -d '\r' |
		sed -n 's/^cmdstat_\(get\|set\|lpush\):\(calls=[0-9]*\).*,\(rejected.*\)/\1 \2 \3/p' | sort
	redis-cli -p 18185 set k v
	redis-cli -p 18185 eval 'local s = 0 for i = 1, 1000 do s = s + i end return s' 0
	redis-cli -p 18185 bgsave >/dev/null
	tries=0
	until redis-cli -p 18185 info persistence | grep -q 'bgsave_in_progress:0' || [ $tries -gt 300 ]; do
		tries=$((tries + 1))
		sleep 0.1
	done
	redis-cli -p 18185 info persistence | grep -o 'last_bgsave_status:ok'
	redis-cli -p 18185 shutdown nosave 2>/dev/null
	wait "$server"
	echo "server $?"
	least 2
}

program_memcached() {
	needs memcached /usr/bin/python3 || return
	start memcached -l 127.0.0.1 -p 18186 -u memcache -t 2
	until_ready sh -c 'echo version |
		timeout 1 bash -c "exec 3<>/dev/tcp/127.0.0.1/18186; cat >&3; head -n 1 <&3"' ||
		return
	/usr/bin/python3 -c '
import socket
s = socket.create_connection(("127.0.0.1", 18186)); f = s.makefile("rwb")
n = 0
for i in range(2000):
    f.write(b"set k%d 0 0 5\r\nhello\r\nget k%d\r\n" % (i, i)); f.flush()
    n += [f.readline() for _ in range(4)][2] == b"hello\r\n"
print(n)'
	stop TERM
	least 1
}

program_postgres() {
	bin=$(echo /usr/lib/postgresql/*/bin)
	needs "$bin/postgres" setpriv || return
	chmod 755 .
	mkdir data && chown postgres data
	as='setpriv --reuid=postgres --regid=postgres --init-groups'
	trace_of postgres
	$as "$bin/initdb" -A trust -D data -N >log 2>&1 || return
	wrap $as "$bin/postgres" -D data -p 18187 -k "$(pwd)/data" -c fsync=off >>log 2>&1 &
	server=$!
	until_ready $as psql -h 127.0.0.1 -p 18187 -d postgres -c 'select 1' || return
	psql="$as psql -h 127.0.0.1 -p 18187 -d postgres -At"
	$psql -c 'create table t as select i, md5(i::text) m from generate_series(1, 20000) i' -c \
		'create index on t(m)' -c analyze \
		-c 'select count(*), sum(i), max(m) from t'
	(
		for i in 1 2 3 4 5; do
			$psql -c "select $i, count(*) from t where m like 'a$i%'" -c \
				"do \$\$ begin raise exception 'x'; exception when others then null; end \$\$" &
		done
		wait
	) | sort
	stop INT
	least 10
}

program_mariadb() {
	needs mariadbd mariadb mariadb-install-db || return
	mkdir data && chown mysql data
	mariadb-install-db --no-defaults --user=mysql --datadir="$(pwd)/data" \
		--auth-root-authentication-method=normal >log 2>&1 || return
	wrap mariadbd --no-defaults --user=mysql --datadir="$(pwd)/data" --socket="$(pwd)/data/s" --port=18188 \
		--bind-address=127.0.0.1 \
		--pid-file="$(pwd)/data/pid" >>log 2>&1 &
	server=$!
	until_ready mariadb --no-defaults -S data/s -e 'select 1' || return
	mariadb --no-defaults -S data/s -N -e 'create database d; use d; create table t (i int primary key, m char(32));
		insert into t select seq, md5(seq) from seq_1_to_5000; select count(*), sum(i), max(m) from t;'
	(
		for i in 1 2 3 4 5 6 7 8; do
			mariadb --no-defaults -S data/s -N -e "select $i, count(*) from d.t where m like '$i%';
				select sleep(0.01), sum(crc32(m)) from d.t" &
		done
		wait
	) | sort
	stop TERM
	least 1
}

program_sshd() {
	needs sshd ssh ssh-keygen || return
	mkdir -p /run/sshd
	ssh-keygen -q -t ed25519 -N '' -f host && ssh-keygen -q -t ed25519 -N '' -f key && cp key.pub authorized
	here_is=$(pwd)
	chmod 700 .
	printf 'Port 18189\nListenAddress 127.0.0.1\nHostKey %s/host\nPidFile %s/pid\n'\
'AuthorizedKeysFile %s/authorized\nStrictModes no\nUsePAM no\nPermitRootLogin yes\n' \
		"$here_is" "$here_is" "$here_is" >conf
	wrap /usr/sbin/sshd -D -e -f "$here_is/conf" 2>log &
	server=$!
	client="ssh -F none -p 18189 -i key -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null \
-o LogLevel=ERROR 127.0.0.1"
	until_ready $client true || return
	for i in 1 2 3; do
		$client "echo $i; exit $i" </dev/null
		echo "client $?"
	done
	stop TERM
}

program_gunicorn() {
	needs gunicorn ab curl /usr/lib/python3/dist-packages/gevent || return
	printf 'import json, zlib\ndef app(e, s):\n    s("200 OK", [])\n'\
'    return [str(len(zlib.compress(json.dumps(list(range(500))).encode()))).encode()]\n' >wapp.py
	wrap /usr/bin/python3 /usr/bin/gunicorn -w 2 -k gevent -b 127.0.0.1:18190 --worker-tmp-dir /tmp \
		wapp:app >log 2>&1 &
	server=$!
	until_ready curl -sf http://127.0.0.1:18190/ || return
	requests http://127.0.0.1:18190/ 500
	curl -s http://127.0.0.1:18190/
	echo
	stop TERM
}

# ask_names PORT COUNT: asks a name server for a.test, so many times; prints how many of the answers have its address.
ask_names() {
	/usr/bin/python3 -c '
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(0.5 if sys.argv[2] == "1" else 5)
q = b"\0\7\1\0\0\1\0\0\0\0\0\0\1a\4test\0\0\1\0\1"
n = 0
for i in range(int(sys.argv[2])):
    s.sendto(q, ("127.0.0.1", int(sys.argv[1]))); n += bytes([192, 0, 2, 1]) in s.recv(512)
print(n)' "$1" "$2"
}

program_unbound() {
	needs unbound unbound-checkconf /usr/bin/python3 || return
	printf 'server:\n interface: 127.0.0.1@18191\n username: unbound\n chroot: ""\n directory: "%s"\n'\
' pidfile: ""\n do-daemonize: no\n use-syslog: no\n logfile: ""\n num-threads: 2\n'\
' local-data: "a.test. A 192.0.2.1"\n local-zone: "test." static\n' \
		"$(pwd)" >conf
	wrap unbound -c "$(pwd)/conf" 2>log &
	server=$!
	until_ready ask_names 18191 1 || return
	ask_names 18191 2000
	stop TERM
}

program_named() {
	needs named /usr/bin/python3 || return
	chmod 777 .
	printf '%s\n' "options { directory \"$(pwd)\"; listen-on port 18192 { 127.0.0.1; }; listen-on-v6 { none; };" \
		'pid-file none; session-keyfile none; recursion no; dnssec-validation no; };' 'controls { };' \
		'zone "test" { type master; file "zone"; };' >conf
	printf '$TTL 60\n@ SOA a.test. a.test. 1 60 60 60 60\n@ NS a.test.\na A 192.0.2.1\n' >zone
	wrap named -f -u bind -n 2 -c "$(pwd)/conf" 2>log &
	server=$!
	until_ready ask_names 18192 1 || return
	ask_names 18192 2000
	stop TERM
}
