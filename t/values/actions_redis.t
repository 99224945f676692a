#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Snapshots of redis when a request takes long, under load: each has the slow request whole, all that came before it
# without a gap, and the other threads; there are as many as are allowed; the server waits for none, since `record`
# makes them.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/ctl.sh"
# The server is in redis-tools, by another name.
server=$(command -v redis-server) || server=/usr/bin/redis-check-rdb
[ -x "$server" ] && command -v redis-cli >/dev/null || skip_all 'no redis here'
ln -s "$(readlink -f "$server")" redis-server
objdump -f redis-server 2>/dev/null | grep -q x86-64 || skip_all 'redis is another kind of program'
program "$CC" clients actions_redis.c
elements=150000

{
	printf '[trace]\nmode = ring\nring = 16M\n[library libc.so.6]\nkinds = plt\nfunctions = strtod\n'
	printf '[library *]\nkinds = none\n[program]\nkinds = entry\n'
	printf 'functions = processCommand call sortCommand addReplyBulk readQueryFromClient writeToClient\n'
	printf '[context addReplyBulk]\ncontext = string:text:+8(arg2)\n'
} >conf

redis() {
	bounded 60 redis-cli -s "$tmp/s" "$@"
}
# start [COMMAND]...: the server by that command; sets $pid.
start() {
	rm -rf d d.snapshot.* slow.* s
	timeout -k 5 900 "$@" ./redis-server --unixsocket "$tmp/s" --port 0 --save '' --appendonly no --dir "$tmp" \
		--io-threads "$io" --io-threads-do-reads yes --enable-debug-command yes >log 2>err &
	child=$!
	wait_until 60 redis ping >/dev/null 2>&1 || bail "redis does not begin: $(cat log err)"
	pid=$(redis info server | tr -d '\r' | sed -n 's/^process_id://p')
	awk -v n=$elements 'BEGIN { for (i = 0; i < n; i++) print i * 7919 % n ".5" }' |
		bounded 60 xargs -n 5000 redis-cli -s "$tmp/s" rpush slow >/dev/null
}
recorded() {
	start "$XAUDIT" record -o "$tmp/d" -c conf --
}
# end: of the server, by its own command; sets $status.
end() {
	redis shutdown nosave >/dev/null 2>&1
	status=0
	wait "$child" || status=$?
}
# load MS SLOWS
load() {
	bounded 300 ./clients "$tmp/s" "$1" "$2" >answers 2>&1 || echo "status $?" >>answers
}
# made: the names of all snapshots.
made() {
	for one in slow.* d.snapshot.*; do
		[ ! -d "$one" ] || echo "$one"
	done | tr '\n' ' '
}
# text FOLDER: its events, as text.
text() {
	bounded 60 "$XAUDIT" dump "$1" >"$1.text" || bail "no dump of $1"
}
# look FOLDER: what a snapshot has, by its text: the last SORT, with as many strtod() as the list has elements; whether
# each connection's requests are there without a gap; how many of these had some before it; threads that read or wrote
# for clients.
look() {
	awk -v elements=$elements '
		$3 == "entry" && $5 ~ /^addReplyBulk/ && $6 ~ /^text="c[0-9]*\./ {
			split($6, part, /[".]/)
			gap = gap || (number[part[2]] && part[3] != number[part[2]] + 1)
			connections += !number[part[2]]
			number[part[2]] = part[3]
		}
		$3 == "entry" && $5 ~ /^call/ { begun[$2] = 1; converted = 0 }
		$3 == "entry" && $5 == "strtod" { converted++ }
		$3 == "exit" && $5 == "call" && begun[$2] && converted {
			slow = converted == elements ? "whole" : converted + 0 " of " elements
			before = connections
		}
		$5 ~ /Client(\(\))?$/ { threads += !known[$2]++ }
		END {
			print slow ",", (gap ? "gap," : "no gap,"), before + 0, "connections before,",
				threads, "threads"
		}' "$1.text"
}
# ends FOLDER: in ns, how long it took from the end of call() to that of its caller, which is next: "slow NS" of those
# above 10 ms, which ask for snapshots, "other NS".
ends() {
	awk '$5 == "call" && $3 == "entry" { begun[$2] = $1 }
		$5 == "call" && $3 == "exit" { ended[$2] = $1 }
		$5 == "processCommand" && $3 == "exit" && begun[$2] && ended[$2] {
			printf "%s %.0f\n", (ended[$2] - begun[$2] > 0.01 ? "slow" : "other"), 1e9 * ($1 - ended[$2])
			begun[$2] = ended[$2] = 0
		}' "$1.text"
}

# ---- each slow request has its snapshot ----

slows=$(rounds 2 40)
# For who reads the log, how long clients wait: untraced, without snapshots, and with them. By Debian's configuration: a
# second thread for clients, which is busy waiting, takes a processor of its own.
compare() {
	what=$1 action=$2
	shift 2
	"$@"
	[ -z "$action" ] || ctl "$pid" when 'call longer 10ms' $action -o 'slow.%n'
	load $((slows * 500)) "$slows"
	end
	diag "$what, $(made | wc -w) snapshots: $(cat answers)"
}
io=1
more compare untraced '' start
more compare recorded '' recorded
more compare 'with snapshots' snapshot recorded
io=2
recorded
# Where others have the processors, any call may take so long.
ctl "$pid" when 'sortCommand longer 10ms' snapshot -o 'slow.%n'
is "$status $(echo "$out" | sed 's/[0-9.]* ms/T ms/') $err" '0 1 traced function does that, paused T ms ' \
	'an action for a running server'
load $((slows * 500)) "$slows"
is "$(sed 1q answers | sed 's/^[1-9][0-9]* //')" "requests, $slows slow, 0 wrong" 'each request has the right answer'
diag "$(cat answers)"
end
is "$status $(sed "s/the program asked for .*//" err)" '0 xaudit record: ' \
	'all are made by record, and it says where they are'
is "$(made | wc -w)" "$slows" 'there is one for each slow request'
for one in $(made); do
	text "$one"
	look "$one"
	# Of the next one it has this one's end, too.
	ends "$one" >>ended
	rm "$one.text"
done >looks
for which in slow other; do
	diag "ns from the end of call() to that of its caller, $which: $(sed -n "s/^$which //p" ended | sort -n |
		awk '{ n[NR] = $1 } END { print "median", n[int((NR + 1) / 2)], "most", n[NR], "of", NR }')"
done
is "$(sort -u looks)" 'whole, no gap, 8 connections before, 2 threads' \
	'each has a slow request whole, what came before it, without a gap, and the other thread'

# ---- one in a time ----

recorded
ctl "$pid" when 'call longer 2ms' snapshot -o 'slow.%n' --at-most=10s
ms=$(rounds 2 20)
begun=$(date +%s%N)
answers=$(bounded 200 redis-cli -s "$tmp/s" -r 1000 debug sleep 0.0$(printf %02d $ms)5 | grep -c OK)
took=$((($(date +%s%N) - begun) / 1000000))
end
is "$answers $status $(made | wc -w)" "1000 0 $((took / 10000 + 1))" \
	"of 1000 slow requests in $took ms one in 10 s makes a snapshot"
for one in $(made); do
	text "$one"
	grep -c ' exit .* call ' "$one.text"
done | awk '{ empty += $1 == 0 } END { print NR, empty + 0 }' >looks
is "$(cat looks)" "$((took / 10000 + 1)) 0" 'each has requests'
done_testing
