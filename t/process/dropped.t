#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Programs that dropped their rights, or see another root, get their files from record; other processes get none.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

[ "$(id -u)" -eq 0 ] || skip_all 'not root: there are no rights to drop'
need setpriv
chmod 755 "$tmp"
library "$CC" libcounted.so counted.c
program "$CC" dropped dropped.c -L. -lcounted
program "$CC" count count.c -L. -lcounted
program "$CC" ask ask.c -I"$top_srcdir" -Wno-stringop-truncation
install -m 755 "$MODULE" "$XAUDIT" .
XAUDIT_MODULE=$tmp/libxaudit.so
export XAUDIT_MODULE
mkdir empty
nobody='setpriv --reuid=65534 --regid=65534 --clear-groups'

# accounts CALLS: is each call in the trace d, or counted as lost? A call is two events.
accounts() {
	report d
	printf '%s\n' "$report" | jq -r --argjson n "$1" '
		([.functions[] | select(.function == "counted") | .calls] | add // 0) as $calls |
		if .lost == 2 * ($n - $calls) + .unfinished then (if .lost > 0 then "some lost" else "none lost" end)
		else "of \($n) calls \($calls) are there, \(.lost) events lost, \(.unfinished) unfinished" end'
}
# dropped STEPS: records the program `dropped` with these steps into d.
dropped() {
	record d -b 64k -k plt -l libcounted.so "$tmp/dropped" "$1" "$tmp/empty"
}

# ---- all events ----
dropped u
is "$status/$out/$err/$(accounts 121000)" '0/121000 calls//none lost' 'another user: each call of new threads is there'
dropped c
is "$status/$out/$err/$(accounts 121000)" '0/121000 calls//none lost' 'another root: the same'
dropped fcu
is "$status/$out/$err/$(accounts 121000)" '0/120000 calls//none lost' \
	"a child that is another user's in another root before it has a folder: each call of it is there"
is "$(find d -mindepth 1 -printf '%y %m %u %n\n' | sort | uniq -c | tr -s ' \n' ' ')" \
	' 2 d 700 root 2 6 f 600 root 1 ' \
	'and all files are of the user of record, for that one alone'
is "$(info d '[.processes[] |
	[(.program | split("/") | last), (.command | split(" ") | first | split("/") | last), .ended]] | unique')" \
	'[["dropped","dropped",true]]' 'it is named as it is, though there is no /proc to ask'
mkdir -m 755 empty/tmp && mkdir -p "empty$tmp/d" && chmod 777 "empty$tmp" "empty$tmp/d"
dropped fcu
is "$status/$err/$(accounts 121000)/$(ls "empty$tmp/d")" '0//none lost/' \
	"a folder by the trace's path in that root is not taken for it"
rm -rf empty
mkdir empty
record d -b 64k -k plt -l libcounted.so $nobody "$tmp/count" 3 40000
is "$status/$out/$(accounts 120000)" '7/120000/none lost' \
	'a program that is executed as another user: each call is there'
record d -k plt -l libcounted.so sh -c "for i in 1 2 3 4 5; do $nobody $tmp/count 4 100; done"
is "$status/$(accounts 2000)/$(ls -d d/p* | wc -l)" '7/none lost/11' 'and five of them, one after the other'
record d -b 64k -m count -k plt -l libcounted.so "$tmp/dropped" fcu "$tmp/empty"
report d
is "$status/$err/$(calls counted)" '0//121000' 'counters, too'
record d -m ring --ring=16M -k plt -l libcounted.so "$tmp/dropped" fcu "$tmp/empty"
is "$status/$err/$(accounts 121000)" '0//none lost' 'and flight recorders'

# ---- record does not answer ----
dropped scu
# record may find a request of a process that has ended by then, and say so.
is "$status/$out/$(accounts 121000)" '0/121000 calls/none lost' \
	'record is stopped: the program ends, and all is in the file of its family'
rm -f done
rm -rf d
bounded 60 "$XAUDIT" record -o d -b 64k -k plt -l libcounted.so sh -c 'exec >done; exec "$@"' - \
	"$tmp/dropped" kcu "$tmp/empty" 2>err
is "$?" 137 'record is killed'
wait_until 60 grep -q calls done
wait_until 60 sh -c 'test "$("$1" info --format=json d | jq "[.processes[] | select(.ended | not)] | length")" = 1' - \
	"$XAUDIT"
is "$(cat done)/$(accounts 121000)" '121000 calls/none lost' \
	'the program goes on, and all is in the file of its family'
# A request may have been under way.
like "$(info d '[.processes[].record_reason | select(.)]')" \
	'^\["xaudit record (had ended, or was out of reach \(network or user namespace\)|broke off: it ended, or did '\
'not know the process)"\]$' \
	'and info tells that nobody could be asked'
dropped cux
is "$status/$out/$err/$(accounts 121000)" '0/121000 calls//none lost' \
	'a filter kills who asks for a socket: nobody does, and nothing is lost'
if unshare -n true 2>/dev/null; then
	record d -b 64k -k plt -l libcounted.so unshare -n "$tmp/dropped" u
	is "$status/$out/$(accounts 121000)" '0/121000 calls/none lost' \
		'in a network namespace of its own it is out of reach: nothing is lost'
else
	skip 1 'no network namespaces here'
fi

# ---- who gets nothing ----
mkfifo questions
record_and_ask() {
	bounded 60 "$XAUDIT" record -o asked -k plt -l libcounted.so \
		sh -c 'printf "%s\n" "$XAUDIT_RECORD" >variable.new; unset LD_AUDIT; mv variable.new variable
			sleep 1000 & echo $! >sleeper; wait' \
		2>err &
	job=$!
	wait_until 60 test -e variable
	variable=$(cat variable)
}
record_and_ask
exec 9<>questions
stranger() {
	printf '%s\n' "$@" | bounded 60 $nobody ./ask "$variable" | tr '\n' ' '
}
is "$(stranger 'wrong 00000000000000000000000000000000' new 'open p1 meta .')" 'nothing nothing ' \
	'a stranger who does not know the secret gets nothing'
is "$(stranger cut)" 'nothing ' 'half a question neither'
own=$(ls asked | grep '^p')
answers=$(printf '%s\n' "open $own meta asked/$own" "open $own t7 asked/$own" | bounded 60 ./ask "$variable" |
	tr '\n' ' ')
is "$answers/$(ls "asked/$own" | tr '\n' ' ')" 'error 1 error 1 /meta ' \
	"who knows it gets no file of another process's folder"
for pair in '../asked meta' 'p1/../p2 meta' '. record' 'p meta' 'p1. meta' 'record meta' "$own ../record" \
	"$own meta.x" "$own t" "$own t-1" "$own x0" "$own t0/../../record" "$own t12345678901234567890" \
	'p1234567890123456789012345678901234567890 meta'; do
	echo "open $pair ."
done >names
is "$(bounded 60 ./ask "$variable" <names | sort -u)" 'error 22' 'names that are none of a trace are refused'
# In a folder of its own: the process that asks goes on to live.
./ask "$variable" <questions >answers &
asker=$!
echo new >&9
wait_until 60 grep -q . answers
is "$(cat answers)/$(stat -c '%a %u' "asked/p$asker" "asked/p$asker/meta" | tr '\n' ' ')" "file p$asker/700 0 600 0 " \
	'who knows it gets a new folder, of its own number'
echo secret >other
ln -s ../../other "asked/p$asker/t1"
ln other "asked/p$asker/t2"
mkfifo "asked/p$asker/t3"
mkdir swapped
printf '%s\n' "open p$asker t0 asked/p$asker" "open p$asker t1 asked/p$asker" "open p$asker t2 asked/p$asker" \
	"open p$asker t3 asked/p$asker" "open p$asker t0 swapped" >&9
wait_until 60 sh -c 'test $(wc -l <answers) -eq 6'
is "$(sed 1d answers | tr '\n' ' ')" 'file  error 40 error 1 error 1 error 116 ' \
	'files there, but none that is a link or a pipe, or lies in another folder than it means'
yes new | head -n 1000 >&9
wait_until 60 sh -c 'test $(wc -l <answers) -eq 1006'
is "$(tail -n 2 answers | tr '\n' ' ')/$(ls -d "asked/p$asker"* | wc -l)" "file p$asker.999 error 122 /1000" \
	'a thousand folders, and no more'
yes silent | head -n 100 >&9
wait_until 60 sh -c 'test $(wc -l <answers) -eq 1106'
is "$($nobody ./ask "$variable" <names | sort -u)" 'error 22' 'a hundred who connect and say nothing hold up nobody'
exec 9>&-
kill $asker
kill "$(cat sleeper)"
wait $job
like "$(grep 'in vain' err)" \
	'^xaudit record: [0-9]* processes asked for files of the trace in vain, first ask \([0-9]*\): Operation' \
	'record says that somebody asked in vain'
is "$(bounded 60 ./ask "$variable" <names)" 'connect 111' 'when record has ended there is nobody to ask'
done_testing
