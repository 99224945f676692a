#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Values in memory that is not always there: unmapped beside a coroutine's stack, not to be asked for under a filter of
# system calls, of the library but not to be read, provided late.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/live.sh"

mkdir plt
library "$CC" plt/liblive.so live_part.c
program "$CC" plt/live live_memory.c -Lplt -llive
rules plt '' '' '[context v_text]
context = args
[context v_where]
context = args tid cpu comm calls int:counter:live_counter'
entries() {
	values_of d | sed -n 's/^entry //p'
}

live plt gone
is "$status $out" '0 ' 'a text beside the stack is gone: the program lives'
is "$(entries)" 'v_text("high")
v_text("low")
v_text("high")
v_text((fault))' 'and the others are there'

texts='v_text("on the stack")
v_text("writable")
v_text("last")
'
where='v_where(1) tid=ITS cpu=ANY comm="a live one" calls=1 counter=1000'
live plt confined
is "$status $out" '0 it lives' 'a program under a filter that kills lives'
is "$(entries)" "${texts}v_text(\"the program's\")
v_text(\"on the heap\")
$where
${texts}v_text((not read))
v_text((not read))
v_where(1) tid=ITS cpu=(not read) comm=(not read) calls=1 counter=1000" \
	'what its stack and its library have is recorded; for the rest the kernel is not asked'

for found in '' found; do
	live plt hidden $found
	is "$status $out" '0 ' "${found:+by dlsym, }a page of the library may not be read: the program lives"
	is "$(entries)" 'v_text("in a page")
v_text((fault))
v_text("writable")
v_text("in a page")
v_where(2) tid=ITS cpu=ANY comm="live" calls=1 counter=1000' 'and what can be read is'
done

cp -r plt entry
index_of entry/liblive.so
sed 's/^kinds = plt/kinds = entry/' conf >conf.entry && mv conf.entry conf
live entry hidden
is "$status $out $(entries | sed -n 2p)" '0  v_text((fault))' 'so it does where functions are traced at their entry'
sed 's/^kinds = entry/kinds = plt/' conf >conf.plt && mv conf.plt conf

live plt waits
case $out in
*'no userfaultfd'*) skip 2 "$out" ;;
*)
	is "$status $out" '0 ' 'who reads memory that comes late waits as the function would'
	is "$(entries | sort)" 'v_text("late")
v_text("meanwhile")' 'for its text; others go on'
	;;
esac
done_testing
