#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Semaphores of a program's own probes (USDT): raised while a probe is on, so that the program does what it does for
# listeners: in each load, in forked children, while `xaudit ctl` sets and takes away; and what is no word that the
# program may write to stays as it is.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/ctl.sh"

library "$CC" libsemaphores.so semaphores_library.c
program "$CC" semaphores semaphores.c
XAUDIT_INDEX=$tmp/index
export XAUDIT_INDEX
events() {
	bounded 60 "$XAUDIT" dump --format=json d | jq -n '[inputs | select(.event == "probe")] | length'
}
printf 'open\nvisit 5\nfork 3\nclose\nopen\nvisit 2\nclose\n' >lines
# recorded PLACE: what the program says.
recorded() {
	record d --probe "p=$1" -- ./semaphores ./libsemaphores.so <lines
	printf '%s/' "$status"
	printf '%s\n' "$out" | sed 1d | tr '\n' ';'
}

is "$(recorded libsemaphores.so:tell)" \
	'0/called 0 0 77;called 0 0 77;called 0 0 77;called closed;called 0 0 77;called 0 0 77;called closed;' \
	'nobody listens by another probe'
is "$(recorded usdt:sem:item)" \
	'0/called 1 0 77;called 1 5 77;called 1 8 77;called closed;called 1 0 77;called 1 2 77;called closed;' \
	'a probe listens: in each load, and in a child'
is "$(events)" 10 'and has its events'
is "$(recorded usdt:sem:odd)" \
	'0/called 0 0 77;called 0 0 77;called 0 0 77;called closed;called 0 0 77;called 0 0 77;called closed;' \
	'what is constant is not written to'
is "$(events)" 10 'its probe has its events'

printf '[trace]\noutput = %s/d\n[library *]\nkinds = none\n[program]\nkinds = none\n' "$tmp" >conf
rm -rf d
begin ./semaphores ./libsemaphores.so
last() {
	tail -n 1 out
}
tell open
ctl "$pid" probe item=usdt:sem:item odd=usdt:sem:odd
is "$status $err" '0 ' 'xaudit ctl sets probes'
tell 'visit 4'
is "$(last)" 'called 1 4 77' 'from then on one listens'
tell 'fork 2'
is "$(last)" 'called 1 6 77' 'in children, too'
ctl "$pid" unprobe item
tell 'visit 9'
is "$(last)" 'called 0 4 77' 'when it is taken away nobody does'
tell 'fork 3'
is "$(last)" 'called 0 4 77' 'in no child either'
ctl "$pid" probe item=usdt:sem:item
ctl "$pid" probe item=usdt:sem:item
tell 'visit 1'
is "$(last)" 'called 1 5 77' 'a probe that is set twice listens once'
tell close
tell open
is "$(last)" 'called 1 0 77' 'in the next load it listens again'
tell 'visit 6'
is "$(last)" 'called 1 6 77' 'and the program works for it'
ctl "$pid" unprobe item odd
tell 'visit 8'
is "$(last)" 'called 0 6 77' 'up to its end'
finish
is "$status" 0 'the program ends well'
is "$(bounded 60 "$XAUDIT" dump --format=json d | jq -r 'select(.event == "probe") | .probe' | sort | uniq -c |
	tr -s ' ' | tr '\n' ',')" ' 13 item, 25 odd,' 'events are those of while it was there'
done_testing
