#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Requests: which calls belong to which, by a value of the function that begins one, and by the program's own calls:
# nested ones, in threads, in coroutines, in calls that longjmp leaves. The counts are known in advance.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
unset XAUDIT_CONFIG
need "${CC%% *}"
cd "$tmp" || bail 'no scratch folder'
$CC -g -O1 -fPIC -shared -fno-optimize-sibling-calls -fno-inline -I"$top_srcdir" -o librequests.so \
	"$top_srcdir/t/show/requests_library.c" "$top_builddir/libxaudit-api.a" || bail 'no library'
$CC -g -O1 -I"$top_srcdir" -o program "$top_srcdir/t/show/requests.c" -L. -lrequests -Wl,-rpath,"$tmp" -pthread \
	"$top_builddir/libxaudit-api.a" || bail 'no program'

own=''
# record OPTION...: the trace in ./trace.
record() {
	rm -rf trace*
	bounded 60 "$XAUDIT" record -o trace -l librequests.so -F handle -F leaf -F leave -F around "$@" -- \
		./program $own >out 2>said
}
# counts OPTION...: calls by request.
counts() {
	"$XAUDIT" report --by-request --columns=calls "$@" trace |
		sed -n '3,/^$/{/^$/!{s/^ *//;s/  / /;p;};}' | LC_ALL=C sort -k2
}

# Of 11: twice handle and a leaf each; 12: handle, two leaves and the one behind the inner request; 13, 24: a hundred
# times handle, with three or four leaves, and one more behind each second one; 91: of 101 inner ones, handle and a
# leaf; 30, 31: around and twenty leaves; 41: leave and a leaf. Of none: 1 + 22 + 5.
expected='28 (none)
4 11
4 12
450 13
550 24
21 30
21 31
10 41
202 91'
record --request handle:id --request leave:arg2 --request around:id
is "$(cat said)" '' 'the program is recorded'
is "$(counts)" "$expected" 'calls by a value of their request'
"$XAUDIT" report --by-request --by=function --columns=calls --sort=calls trace >functions
like "$(cat functions)" '^ *350  13: leaf \[librequests\.so\]$' 'with --by=function for each function'
"$XAUDIT" report --by-request --format=json trace >json
like "$(cat json)" '\{"request":"91","calls":202,' 'in JSON, too'
like "$(cat json)" '\{"request":null,"special":"none","calls":28,' 'with those of none'
record --request 'handle@librequests.so*:string:who:arg3'
is "$(counts)" '202 "inner"
1008 "outer"
80 (none)' 'a text is a value, too'
printf '%s\n' '[trace]' 'request = handle@librequests.so:name' '[library librequests.so]' 'kinds = none' \
	'fallback = entry' 'functions = handle leaf leave around' >requests.conf
rm -rf trace
bounded 60 "$XAUDIT" record -c requests.conf -o trace -- ./program >out 2>said
is "$(cat said)$(counts)" '202 "inner"
1008 "outer"
80 (none)' 'so it is in a configuration, by the name of the parameter'
own=yes
record
is "$(cat said)" '' 'the program tells of its requests'
is "$(counts)" "$(echo "$expected" | sed 's/^28 /33 /; s/^10 41/5 41/')" \
	'and the same calls belong to them, but for the one that the last begins in'
own=''
record --request 'handle:nowhere'
like "$(cat said)" "nowhere" 'a name that there is not is told'
is "$("$XAUDIT" report --by-request trace 2>&1)" 'xaudit report: no call of a request is in the trace' \
	'a trace without requests'
for wrong in handle handle: :id handle:ret 'handle:regs' 'handle:args'; do
	status=0
	bounded 60 "$XAUDIT" record -o none --request="$wrong" -- true >out 2>said || status=$?
	is "$status $(wc -l <said)" '125 1' "--request=$wrong is refused"
done

# ---- traces that make_trace wrote ----

# asked COMMAND NAME [ARG]...
. "$top_srcdir/t/lib/calls.sh"
{
	echo "$head"
	echo 'layout 1 entry 1 i4:request:request u4:arg0:n'
	echo 'thread 100 main'
	# Of no call: an end, and a request that lasts on.
	echo 'custom 4 900'
	echo 'entry 2 1000'
	echo 'exit 2 1010'
	echo 'custom 2 1100 =_base"'
	echo 'entry 2 1200'
	echo 'exit 2 1210'
	# A call with its own request; in it one that is ended further in, and one that is not ended.
	echo 'values 1 1300 -5 7'
	echo 'entry 2 1310'
	echo 'exit 2 1320'
	echo 'custom 3 1330 0900000000000000'
	echo 'entry 4 1340'
	echo 'custom 4 1350'
	echo 'entry 2 1360'
	echo 'exit 2 1370'
	echo 'exit 4 1380'
	echo 'entry 2 1390'
	echo 'exit 2 1400'
	echo 'custom 3 1410 0a00000000000000'
	echo 'exit 1 1450'
	echo 'entry 2 1500'
	echo 'exit 2 1700'
	echo 'custom 4 1800'
	echo 'custom 4 1810'
	echo 'entry 2 1900'
	echo 'exit 2 1920'
	# What was begun where events are missing is not known.
	echo 'custom 2 1930 =lost'
	echo 'lost 3'
	echo 'chunk 0'
	echo 'entry 2 2000'
	echo 'exit 2 2010'
	# Another thread has its own.
	echo 'thread 101 other'
	echo 'entry 2 3000'
	echo 'exit 2 3010'
} | write_trace written
rows=$("$XAUDIT" report --by-request --by=function --columns=calls,total,self --format=json written | tr -d '\n')
row() { # REQUEST FUNCTION CALLS TOTAL
	like "$rows" "\"request\":$1,(\"special\":\"none\",)?\"function\":\"$2\"[^}]*\"calls\":$3,\"total_ns\":$4," \
		"$3 calls of $2 belong to $1"
}
row null inner 4 50
row '"." base[^,]*"' inner 2 210
row '"-5"' outer 1 150
row '"-5"' inner 2 20
row '"9"' bar 1 40
row '"9"' inner 1 10
unlike "$rows" '"10"|"request":"[^"]*lost' 'none began in what is over'
is "$(asked slow written -n 1 inner | grep request)" '   request " base\""' 'slow names that of the longest call'
like "$(asked slow written --format=json -n 1 inner)" '"request":"\\" base' 'in JSON, too'
{
	echo "$head"
	echo 'thread 100 main'
	at=1000
	while [ $at -lt 5000 ]; do
		echo "entry 2 $at"
		echo "exit 2 $((at + 10))"
		at=$((at + 20))
	done
	echo 'custom 3 6000 0700000000000000'
	echo 'entry 2 6010'
	echo 'exit 2 7010'
	echo 'custom 4 7020'
} | write_trace long
like "$(asked outliers long)" 'inner \[libfoo\.so\] of request 7$' 'so does outliers'
like "$(asked outliers long --format=json | tr -d '\n')" '"function":"inner".*"request":"7"' 'in JSON, too'
like "$(asked dump written)" 'outer\(7\) request=-5' 'dump shows where one begins by a value'
like "$(asked dump written)" 'request-number' 'and by an event'
like "$(asked replay written)" 'outer\(7\) request=-5 \{' 'replay, too'
is "$("$XAUDIT" report --by-request --by=thread written 2>&1)" "xaudit report: with --by-request, --by is function or \
library; \`xaudit report --help\` lists what there is" '--by=thread is refused'
done_testing
