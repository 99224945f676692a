#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit export, and html: probes in formats that have them, of a trace whose numbers are known; others leave them out.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/written.sh"

write_trace known <<END
process p100 flags=1 chunk=65536
pair first 1000 1000 5
pair last 9000 9000 8005
$probed_functions
thread 100 main
$probed_calls
counts 1 101 w 5:7
END
cd "$tmp" || bail 'no folder'
# export_to FORMAT [OPTION]...
export_to() {
	format=$1
	shift
	bounded 60 "$XAUDIT" export --format="$format" "$@" known 2>&1
}

is "$(export_to chrome | grep '"cat":"probe"')" \
'{"ph":"i","pid":100,"tid":100,"ts":0.002,"s":"t","name":"item","cat":"probe","args":{"at":"0x300"}},
{"ph":"i","pid":100,"tid":100,"ts":0.012,"s":"t","name":"order","cat":"probe","args":'\
'{"at":"f+0x12","rax":"0x7f01","name":"two words","arg1":-3}},
{"ph":"i","pid":100,"tid":100,"ts":0.014,"s":"t","name":"order","cat":"probe","args":{"at":"f+0x18"}},' \
	'chrome: instants on the track, with their values as arguments'
is "$(export_to chrome --no-values | grep -c rax)" 0 'chrome: --no-values leaves these out'
is "$(export_to chrome --min=6ns |
	sed -n 's/.*"ph":"\(.\)".*"ts":\([0-9.]*\).*,"name":"\([a-z]*\)","cat":.*/\1 \2 \3/p' | tr '\n' ,)" \
	'B 0.001 main,i 0.002 item,B 0.01 f,i 0.012 order,i 0.014 order,E 0.02 f,E 0.04 main,' \
	'chrome: with --min they stay in their order'
is "$(export_to chrome --min=6ns | sed -n 's/.*"name":"order".*"args"/args/p')" \
	"$(export_to chrome | sed -n 's/.*"name":"order".*"args"/args/p')" 'chrome: and so do their values'

place='"library":"/usr/lib/libfoo.so","offset":'
is "$(export_to ndjson | grep '"what":"probe"' | sed 's/.*"track":0,//; s/"time":"[^"]*",//; s/"values".*"arg/&ument/
	s/,"values":\[.*\]/,VALUES/')" \
"\"call\":1,\"start_ns\":2,\"probe\":\"item\",\"function\":null,\"symbol\":null,${place}768,\"start\":null}
\"call\":2,\"start_ns\":12,\"probe\":\"order\",\"function\":\"f\",\"symbol\":\"f\",${place}530,\"start\":512,VALUES}
\"call\":2,\"start_ns\":14,\"probe\":\"order\",\"function\":\"f\",\"symbol\":\"f\",${place}536,\"start\":512}" \
	'ndjson: an object for each'

is "$(export_to ndjson --min=35ns |
	sed -n 's/.*"what":"probe".*\("call":[0-9a-z]*\).*"probe":\("[a-z]*"\).*/\1 \2/p')" \
	'"call":1 "item"
"call":1 "order"
"call":1 "order"' 'ndjson: with --min an event is in the innermost call that is left'

if command -v sqlite3 >/dev/null; then
	export_to sqlite -o known.db
	is "$(sqlite3 known.db 'SELECT e.id, p.name, "offset", function, e.call, e.time, l.path FROM probe_events e
		JOIN probes p ON p.id = e.probe JOIN libraries l ON l.id = p.library ORDER BY e.id' 2>&1)" \
'1|item|768||1|2|/usr/lib/libfoo.so
2|order|530|f|2|12|/usr/lib/libfoo.so
3|order|536|f|2|14|/usr/lib/libfoo.so' 'sqlite: tables of probes, and of their events'
	is "$(sqlite3 known.db 'SELECT event, role, place, name, value, shown FROM probe_values' 2>&1)" \
'2|named||rax|32513|0x7f01
2|named||name|two words|"two words"
2|argument|0||-3|-3' 'sqlite: and of their values'
	is "$(sqlite3 known.db 'SELECT count(*) FROM functions; SELECT count(*) FROM calls')" '2
3' 'sqlite: they are neither functions nor calls'
else
	skip 3 'no sqlite3'
fi

export_to ctf -o known.ctf
is "$(sed -n 's/event { name = "\(xaudit:probe[^"]*\)"; id = [0-9]*; \(.*\)/\1 \2/p' known.ctf/metadata)" \
'xaudit:probe:item stream_id = 0; fields := struct { string _at; string _values; }; };
xaudit:probe:order stream_id = 0; fields := struct { string _at; string _values; }; };' \
	'ctf: a kind of event per name'
if command -v babeltrace2 >/dev/null; then
	is "$(bounded 60 babeltrace2 known.ctf 2>&1 | sed -n 's/.*\(xaudit:probe:[a-z]*\).*}, { \(.*\) }/\1 \2/p')" \
'xaudit:probe:item at = "0x300", values = ""
xaudit:probe:order at = "f+0x12", values = "(rax=0x7f01, name=\"two words\", -3)"
xaudit:probe:order at = "f+0x18", values = ""' 'ctf: babeltrace2 reads them'
else
	skip 1 'no babeltrace2'
fi

export_to uftrace -o known.uftrace
is "$(cat known.uftrace/events.txt)" \
"EVENT: 1000000 xaudit:probe:item
EVENT: 1000001 xaudit:probe:order(rax=0x7f01,_name='two_words',_-3)
EVENT: 1000002 xaudit:probe:order" 'uftrace: its events have them in their names'
if command -v uftrace >/dev/null; then
	is "$(bounded 60 uftrace replay -d known.uftrace --no-pager --color=no 2>&1 | grep -c 'xaudit:probe:')" 3 \
		'uftrace: replay shows them'
else
	skip 1 'no uftrace'
fi

if command -v protoc >/dev/null && command -v python3 >/dev/null && command -v jq >/dev/null; then
	export_to perfetto -o known.pb
	protoc --decode=Trace -I"$top_srcdir/t/export" perfetto.proto <known.pb >known.txt 2>/dev/null
	python3 "$top_srcdir/t/export/perfetto.py" known.txt >known.json
	is "$(jq -c 'select(.category == "probe") | [.name, .time, .args]' known.json)" \
'["item",2,{"at":"0x300"}]
["order",12,{"at":"f+0x12","rax":"0x7f01","name":"two words","arg1":-3}]
["order",14,{"at":"f+0x18"}]' 'perfetto: instants with arguments'
else
	skip 1 'no protoc, python3 or jq'
fi

for format in csv folded callgrind speedscope pprof rowbinary xray; do
	case $format in pprof | rowbinary | xray) set -- -o "known.$format" ;; *) set -- ;; esac
	is "$(export_to "$format" "$@" | grep -ac -e order -e item)" 0 "$format leaves them out"
done
is "$(cat known.pprof known.rowbinary known.xray/* | grep -ac -e order -e item)" 0 'and so do these in files'
done_testing
