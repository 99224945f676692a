#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A thousand probes set and taken away in nginx, whose workers answer requests: see t/lib/thousand.sh.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/ctl.sh"
. "$top_srcdir/t/lib/thousand.sh"
need python3 openssl
nginx=/usr/sbin/nginx
is_for_us $nginx || skip_all 'no nginx here'

has_begun() {
	[ -s pid ] || ! kill -0 "$record" 2>/dev/null
}
has_workers() {
	[ "$(pgrep -P "$(cat pid)" | wc -l)" -eq 2 ]
}

places 400 "$nginx"
for library in libcrypto:200 libc.so:200 libssl:80 libpcre2:60 libz:60; do
	places "${library#*:}" "$(of_library "$nginx" "${library%:*}")"
done
openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=localhost -keyout key.pem -out cert.pem -days 2 2>err ||
	bail "no certificate: $(cat err)"
mkdir www
head -c 20000 /dev/zero | tr '\0' x >www/page
# Its workers give up root's rights.
chmod 755 . www
tries=0
while :; do
	ports=$(python3 -c 'import socket
s = [socket.create_server(("127.0.0.1", 0)) for i in range(2)]
print(*(x.getsockname()[1] for x in s))')
	# shellcheck disable=SC2086
	set -- $ports
	cat >nginx.conf <<-END
		pid $tmp/pid; error_log $tmp/nginx.err; worker_processes 2; daemon off;
		events { worker_connections 256; }
		http { access_log off; gzip on; gzip_types *;
		client_body_temp_path $tmp/b; proxy_temp_path $tmp/p; fastcgi_temp_path $tmp/f;
		uwsgi_temp_path $tmp/u; scgi_temp_path $tmp/s;
		ssl_certificate $tmp/cert.pem; ssl_certificate_key $tmp/key.pem; ssl_session_tickets off;
		server { listen 127.0.0.1:$1; listen 127.0.0.1:$2 ssl; root $tmp/www;
		location ~ ^/re/(\d+)/(x|z)/(.*)\$ { return 200 "<\$1> <\$3>\n"; } } }
	END
	rm -f pid
	rules 'mode = stream'
	timeout -k 5 900 "$XAUDIT" record -o "$tmp/d" -c conf -- "$nginx" -c "$tmp/nginx.conf" \
		-e "$tmp/nginx.err" >record.out 2>record.err &
	record=$!
	wait_until 60 has_begun
	[ ! -s pid ] || break
	tries=$((tries + 1))
	[ $tries -lt 5 ] || bail "nginx does not begin: $(cat record.err nginx.err)"
done
master=$(cat pid)
wait_until 60 has_workers || bail 'nginx has no workers'
pids=$(pgrep -P "$master" | tr '\n' ' ')
said=0
alone python3 "$beside/probe_load.py" ask $threads "$1" "$2" www/page cert.pem
soak nginx "ngx_http_process_request@nginx" "ngx_http_handler@nginx" 3000
finish
is "$status $(cat err)" '0 ' 'nginx: no request failed'
kill -QUIT "$master"
status=0
wait "$record" || status=$?
is "$status $(cat record.out record.err)" '0 ' 'nginx: it ends as it does else'
counted nginx
done_testing
