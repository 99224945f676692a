#!/bin/sh
# SPDX-License-Identifier: MIT
#
# PostgreSQL's own probes, each with a counter of who listens. In a process by itself they are those that gdb stops at,
# with the same arguments; the children that a server forks have what they are asked; and xaudit ctl, even where it is
# killed, sets and takes away probes of a server and of its children while they run.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/ctl.sh"
. "$top_srcdir/t/lib/usdt.sh"

bin=''
for folder in /usr/lib/postgresql/*/bin; do
	[ ! -x "$folder/postgres" ] || [ ! -x "$folder/psql" ] || bin=$folder
done
[ -n "$bin" ] || skip_all 'no postgresql here'
need gdb setarch readelf od
setarch -R true 2>/dev/null || skip_all 'addresses can not be the same in two runs: setarch -R does not work'
"$XAUDIT" list --usdt "$bin/postgres" 2>/dev/null | grep -q query__start ||
	skip_all "$bin/postgres has no probes of its own"
program "$CC" helper ../ctl/ctl_helper.c

# ---- a database, by a user who is not root ----

work=$tmp/work as=''
mkdir "$work"
if [ "$(id -u)" -eq 0 ]; then
	need setpriv
	chmod 711 "$tmp"
	chown 65534:65534 "$work"
	as='setpriv --reuid=65534 --regid=65534 --clear-groups'
	$as test -r "$MODULE" || skip_all "another user can not read $MODULE"
	$as test -x "$XAUDIT" || skip_all "another user can not run $XAUDIT"
fi
XAUDIT_INDEX=$work/index
HOME=$work LC_ALL=C PGTZ=UTC PGHOST=$work PGDATABASE=postgres PGUSER=asker PGCONNECT_TIMEOUT=20
export XAUDIT_INDEX HOME LC_ALL PGTZ PGHOST PGDATABASE PGUSER PGCONNECT_TIMEOUT
umask 022
cd "$work" || bail 'no folder'
bounded 120 $as "$bin/initdb" -D data -U asker -A trust -E UTF8 --no-locale -N >"$tmp/initdb" 2>&1 </dev/null ||
	bail "initdb fails: $(tail -n 3 "$tmp/initdb")"
cat >>data/postgresql.conf <<END
listen_addresses = ''
unix_socket_directories = '$work'
autovacuum = off
max_logical_replication_workers = 0
max_parallel_workers = 0
jit = off
fsync = off
shared_buffers = 4MB
max_connections = 8
log_checkpoints = off
log_min_messages = fatal
END

# ended: no server is left, at the latest when the test ends.
ended() {
	[ -s "$work/data/postmaster.pid" ] || return 0
	kill -INT "$(head -n 1 "$work/data/postmaster.pid")" 2>/dev/null
	wait_until 30 test ! -e "$work/data/postmaster.pid" && return
	kill -QUIT "$(head -n 1 "$work/data/postmaster.pid")" 2>/dev/null
	wait_until 30 test ! -e "$work/data/postmaster.pid"
}
trap 'tap_status=$?; trap - EXIT; exec 4>&- 5>&- 6>&- 7>&-; ended; cd /; tap_clear; exit $tap_status' EXIT

# ---- one process: what gdb sees ----

cat >queries <<'END'
create table t(n int, word text)
insert into t select i, 'w' || i from generate_series(1,300) i
select count(*), sum(n) from t
select n from t order by word limit 2
create index by_n on t(n)
begin
insert into t values (1000, 'none')
rollback
set enable_seqscan = off
select word from t where n = 250
select sum(n) from (select n from t order by n desc, word) as s
checkpoint
END
for copy in plain gdb xa; do
	cp -a data "data.$copy"
done
bounded 60 $as setarch -R "$bin/postgres" --single -D data.plain postgres <queries >plain.out 2>plain.err
{
	# shellcheck disable=SC2016
	stop postgresql:query__start 'query %s' '(char *)$_probe_arg0'
	# shellcheck disable=SC2016
	stop postgresql:statement__status 'status %s' '(char *)$_probe_arg0'
	for name in begin=transaction__start commit=transaction__commit abort=transaction__abort; do
		# shellcheck disable=SC2016
		stop "postgresql:${name#*=}" "${name%%=*} %ld" '(long)$_probe_arg0'
	done
	for name in 6=sort=sort__start 2=sorted=sort__done 8=read=smgr__md__read__done 5=flush=buffer__flush__start \
		2=wal=wal__insert; do
		format=${name#*=}
		arguments='' n=0
		format=${format%%=*}
		while [ $n -lt "${name%%=*}" ]; do
			format="$format %ld"
			arguments="$arguments (long)\$_probe_arg$n"
			n=$((n + 1))
		done
		# shellcheck disable=SC2086
		stop "postgresql:${name##*=}" "$format" $arguments
	done
	echo 'run --single -D data.gdb postgres <queries >gdb.own'
} >one.gdb
sees one "$bin/postgres"
bounded 120 $as setarch -R "$XAUDIT" record -o xa --probe query=usdt:postgresql:query__start \
	--context query:string:text:arg1 --probe status=usdt:postgresql:statement__status \
	--context status:string:text:arg1 --probe begin=usdt:postgresql:transaction__start \
	--probe commit=usdt:postgresql:transaction__commit --probe abort=usdt:postgresql:transaction__abort \
	--probe sort=usdt:postgresql:sort__start --probe sorted=usdt:postgresql:sort__done \
	--probe read=usdt:postgresql:smgr__md__read__done --probe flush=usdt:postgresql:buffer__flush__start \
	--probe wal=usdt:postgresql:wal__insert \
	-- "$bin/postgres" --single -D data.xa postgres <queries >xa.out 2>xa.err
is "$? $(cmp plain.out xa.out && cat xa.err)" "0 $(cat plain.err)" 'the database answers what it does untraced'
same one xa 12 query
is "$(sed -n 's/^query //p' one.seen)" "$(cat queries)" 'the texts are those of the queries'
# Of the start, each query but those in the block, and the block; that is not committed.
is "$(grep -c '^begin ' one.seen) $(grep -c '^commit ' one.seen) $(grep -c '^abort ' one.seen)" '11 10 1' \
	'transactions are as many as were asked for'
for word in sort sorted read flush wal; do
	ok "gdb has seen some: $word" grep -q "^$word " one.seen
done


# ---- a server that forks ----

semaphore=$(readelf -n "$bin/postgres" | awk '/Name: query__start$/ { on = 1 } on && /Semaphore/ { sub(",", "", $6)
	print $6; exit }')
# listens PID: how many listen to query__start there.
listens() {
	base=$(awk -v f="$bin/postgres" '$6 == f && $3 == "00000000" { sub("-.*", "", $1); print $1; exit }' \
		"/proc/$1/maps")
	dd "if=/proc/$1/mem" bs=1 skip=$((0x$base + semaphore)) count=2 2>"$tmp/dd" | od -An -tu2 | tr -d ' '
}
# up: the server answers; its process is $server.
up() {
	wait_until 60 grep -qs '^ready' data/postmaster.pid || bail "the server does not begin: $(tail -n 5 server.err)"
	server=$(head -n 1 data/postmaster.pid)
}
# client N: a client whose descriptor N is its input; its child of the server is $child_N.
client() {
	mkfifo "in$1"
	# shellcheck disable=SC2086
	$as "$bin/psql" -X -q -A -t <"in$1" >"out$1" 2>&1 &
	eval "exec $1>in$1"
	eval "lines_$1=0"
	asks "$1" 'select pg_backend_pid()'
	eval "child_$1=\$(tail -n 1 out$1)"
}
# asks N QUERY: waits for its line.
asks() {
	printf '%s;\n' "$2" >&"$1"
	eval "lines_$1=\$((lines_$1 + 1)) lines=\$lines_$1"
	wait_until 60 has_lines "$1" "$lines" || diag "no answer to: $2; $(tail -n 2 "out$1")"
}
has_lines() {
	[ "$(wc -l <"out$1")" -ge "$2" ]
}
# texts DIR: of all queries, by process.
texts() {
	bounded 60 "$XAUDIT" dump --format=json "$1" |
		jq -r 'select(.event == "probe" and .probe == "query") | "\(.tid) \(.values[0].value)"' |
		sort -s -n -k 1,1
}

rm -rf d
bounded 120 $as "$XAUDIT" record -o d --probe query=usdt:postgresql:query__start --context query:string:text:arg1 \
	--probe begin=usdt:postgresql:transaction__start --probe commit=usdt:postgresql:transaction__commit \
	--probe abort=usdt:postgresql:transaction__abort -- "$bin/postgres" -D data >server.out 2>server.err &
recorder=$!
up
client 4
client 5
is "$(listens "$server") $(listens "$child_4") $(listens "$child_5")" '1 1 1' \
	'somebody listens in the server, and in each child that it forks'
: >expected
for n in 1 2 3 4 5 6 7 8; do
	asks 4 "select $n + 4000"
	asks 5 "select $n + 5000"
done
# psql sends each as it is, and waits for its end.
bounded 60 "$bin/psql" -X -q -A -t -c 'create table many(n int)' -c begin -c 'insert into many values (1)' -c commit \
	-c begin -c 'insert into many values (2)' -c rollback \
	-c 'select pg_backend_pid(), count(*) from many' >last 2>&1
exec 4>&- 5>&-
ended
status=0
wait "$recorder" || status=$?
is "$status $(cut -d '|' -f 2 last)" '0 1' 'the server does what it was asked'
third=$(cut -d '|' -f 1 last)
{
	for n in 4 5; do
		eval "child=\$child_$n"
		echo "$child select pg_backend_pid();"
		for i in 1 2 3 4 5 6 7 8; do echo "$child select $i + ${n}000;"; done
	done
	for query in 'create table many(n int)' begin 'insert into many values (1)' commit begin \
		'insert into many values (2)' rollback 'select pg_backend_pid(), count(*) from many'; do
		echo "$third $query"
	done
} | sort -s -n -k 1,1 >expected
texts d >found
ok 'each child has the texts of its queries, in their order, and no other process has any' cmp expected found
diff expected found | head -n 5 | sed 's/^/# /'
# The first one of each child looks the user up.
is "$(bounded 60 "$XAUDIT" dump --format=json d | jq -r --argjson a "$child_4" --argjson c "$third" \
	'select(.event == "probe" and .probe != "query" and (.tid == $a or .tid == $c)) |
		"\(if .tid == $a then 1 else 3 end) \(.probe)"' | sort | uniq -c | tr -s ' ' | tr '\n' ',')" \
	' 10 1 begin, 10 1 commit, 1 3 abort, 5 3 begin, 4 3 commit,' 'and as many transactions as it was asked for'

# ---- a server that runs ----

printf '[trace]\noutput = %s/live\n[library *]\nkinds = none\n[program]\nkinds = none\n' "$work" >conf
rm -f in? out?
bounded 300 $as env XAUDIT_CONFIG="$work/conf" LD_AUDIT="$MODULE" "$bin/postgres" -D data >server.out 2>server.err &
up
probe() {
	ctl "$1" probe --context string:text:arg1 query=usdt:postgresql:query__start
}
counts() {
	printf '%s' "$(listens "$server")"
	for n; do
		eval "printf ' %s' \"\$(listens \"\$child_$n\")\""
	done
}
client 4
probe "$child_4"
is "$status $err" '0 ' 'a child of the server gets a probe'
client 5
is "$(counts 4 5)" '0 1 0' 'somebody listens there, and nowhere else'
asks 4 'select 41'
asks 5 'select 51'
probe "$server"
is "$status $err" '0 ' 'the server gets one'
client 6
is "$(counts 4 5 6)" '1 1 0 1' 'and its later children have it'
asks 4 'select 42'
asks 5 'select 52'
asks 6 'select 61'

bad='' n=0 killed=0
step=$(rounds 41 7 1)
for command in unprobe probe; do
	n=$((step - 1)) status=99
	while [ "$status" -eq 99 ] && [ $n -lt 3000 ]; do
		n=$((n + step)) status=0
		case $command in
		probe) set -- --context string:text:arg1 query=usdt:postgresql:query__start ;;
		*) set -- query ;;
		esac
		bounded 60 "$tmp/helper" kill $n "$XAUDIT" ctl "$child_5" "$command" "$@" >ctl.out 2>ctl.err ||
			status=$?
		[ "$status" -eq 99 ] || break
		killed=$((killed + 1))
		asks 5 'select 0'
		[ "$(tail -n 1 out5)" = 0 ] || bad="$bad; $command, call $n: the server does not answer"
		# To what it was before, and once more to what it is to be.
		case $command in probe) ctl "$child_5" unprobe '*' ;; *) probe "$child_5" ;; esac
		[ "$status $(listens "$child_5")" = "$([ $command = probe ] && echo 0 0 || echo 0 1)" ] ||
			bad="$bad; after $command, call $n: $status $(listens "$child_5") $err"
		status=99
	done
done
is "$bad" '' "killed $killed times, xaudit ctl leaves the right count, and a server that answers"
ok 'these were many' test "$killed" -ge 6
for one in "$server" "$child_4" "$child_5" "$child_6"; do
	ctl "$one" unprobe '*'
	[ "$status" -eq 0 ] || diag "$one: $err"
done
client 7
is "$(counts 4 5 6 7)" '0 0 0 0 0' 'taken away, nobody listens, in later children either'
asks 4 'select 43'
asks 7 'select 71'
exec 4>&- 5>&- 6>&- 7>&-
ended
is "$(texts live | sed 's/^[0-9]* //; s/;$//' | grep -v ' 0$' | tr '\n' ',')" \
	'select 41,select 42,select pg_backend_pid(),select 61,' \
	'the queries are there that were asked while somebody listened'
done_testing
