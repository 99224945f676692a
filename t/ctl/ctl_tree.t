#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit ctl of a tree whose processes come and go all the time: those that end meanwhile are no error.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

bounded 120 "$XAUDIT" record -o d --start-disabled -k plt sh -c 'echo $$ >number; mv number pid
	while [ ! -e stop ]; do /bin/true; done' >out 2>err &
record=$!
waiting=0
while [ ! -e pid ] && [ "$waiting" -lt 300 ]; do
	waiting=$((waiting + 1))
	sleep 0.1
done
pid=$(cat pid)
good=0
: >ctl.err
for round in 1 2 3 4 5 6 7 8 9 10; do
	case $round in *[13579]) set -- enable 'malloc' ;; *) set -- status ;; esac
	bounded 60 "$XAUDIT" ctl --tree "$pid" "$@" >ctl.out 2>>ctl.err && good=$((good + 1))
done
is "$good $(grep -v 'names nothing' ctl.err)" '10 ' 'each answer is a success, and nothing is said of those that ended'
: >stop
wait "$record"
is "$?" 0 'the command ends'
bounded 60 "$XAUDIT" ctl --tree "$pid" enable malloc >ctl.out 2>ctl.err
is "$? $(cat ctl.err)" "1 xaudit ctl: there is no process $pid" 'a tree without its root is an error'
done_testing
