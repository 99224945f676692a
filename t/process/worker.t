#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A worker that was taken over stores what it likes to the trace that it shares with its server, to have that store to
# an address of the worker's choice: nothing but the trace changes. One that gave up rights shares none.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

chmod 755 "$tmp"
library "$CC" libcounted.so counted.c
program "$CC" worker worker.c -I"$top_srcdir" -L. -lcounted
install -m 755 "$MODULE" .

# server STEPS SHARED [COMMAND]...: the server runs under record, and under LD_AUDIT alone; commands read what is left.
# So many mappings are shared.
server() {
	steps=$1 shared=$2 what="$mode, steps $1${3+, not root}"
	shift 2
	printf '[trace]\noutput = %s\nmode = %s\nbuffer = 64k\n[library libcounted.so]\nkinds = plt\n' \
		"$tmp/alone" "$mode" >conf
	rm -rf alone
	record d -m "$mode" -b 64k -k plt -l libcounted.so "$@" ./worker "$steps"
	is "$status/$out" "0/variable ok, shared $shared" "$what, record: the server's variable stays"
	out=$(bounded 60 "$@" env LD_AUDIT="$tmp/libxaudit.so" XAUDIT_CONFIG="$tmp/conf" ./worker \
		"$steps" 2>&1)
	is "$?/$out" "0/variable ok, shared $shared" "$what, alone: the server's variable stays"
	bad=
	for trace in d alone; do
		[ -d "$trace" ] || continue
		for command in report info dump; do
			s=0
			bounded 60 "$XAUDIT" $command "$trace" >.shown 2>&1 || s=$?
			[ "$s" -le 1 ] || bad="$bad $command $trace: $s"
		done
	done
	is "$bad" '' "$what: commands that read the traces end as they should"
}
for mode in stream ring count; do
	server '' 1
	server c 1
	if [ "$(id -u)" -eq 0 ]; then
		server cl 0
		server cr 0
		server l 0
		server r 0
		chmod 777 .
		server c 1 setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all
		chmod 755 .
	else
		skip 15 'not root: no rights to give up'
	fi
done
done_testing
