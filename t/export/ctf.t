#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit export --format=ctf, read back by babeltrace2.
. "${top_srcdir:-.}/t/lib/tap.sh"
command -v babeltrace2 >/dev/null || skip_all 'no babeltrace2'
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/written.sh"
. "$top_srcdir/t/export/app.sh"

# to_ctf TRACE [OPTION]...: into $tmp/TRACE.ctf, and what babeltrace2 says of it into $tmp/TRACE.txt
to_ctf() {
	trace=$1
	shift
	rm -rf "$trace.ctf"
	bounded 60 "$XAUDIT" export --format=ctf -o "$trace.ctf" "$@" "$trace" || { echo "status $?"; return; }
	bounded 60 babeltrace2 --clock-cycles "$trace.ctf" >"$trace.txt" 2>"$trace.err" ||
		echo "babeltrace2 ends with $?: $(cat "$trace.err")"
}

# What babeltrace2 wrote, as events: a line for each, in the order of time.
cat >events.py <<'END'
import re
def events(file):
    last, named = 0, {}
    for line in open(file):
        found = re.match(r'\[(\d+)\] \(\+[?\d.]+\) \S+ (\S+): \{ vpid = (\d+), vtid = (\d+), procname = (".*?") \}, '
                         r'\{ (.*?) ?\}$', line)
        assert found, line
        time = int(found[1])
        assert time >= last, line
        last = time
        fields = found[6]
        function = re.search(r'function = \( ("(?:[^"\\]|\\.)*") : container = (\d+) \)', fields)
        if function and found[2] == "xaudit:function":
            symbol = re.sub(r"\\(.)", r"\1", re.search(r'symbol = "((?:[^"\\]|\\.)*)"', fields)[1])
            named[function[2]] = symbol
        yield time, found[2], int(found[4]), function and named.get(function[2], function[1]), fields
END
cat >compare.py <<'END'
from chains import Chains
from events import events
chains = Chains()
for time, event, tid, name, fields in events("app.data.txt"):
    if event == "lttng_ust_cyg_profile:func_entry":
        chains.enter(tid, name, time)
    elif event == "lttng_ust_cyg_profile:func_exit":
        chains.leave(tid, name, time)
chains.compare("report.json")
chains.write("chains")
END

app_record
is "$(to_ctf app.data)" '' 'a real program is exported, and babeltrace2 reads it'
is "$(cat app.data.err)" '' 'without a warning'
report app.data
printf '%s\n' "$report" >report.json
is "$(PYTHONPATH=$top_srcdir/t/export PYTHONDONTWRITEBYTECODE=1 python3 compare.py)" "18 $app_all_calls [] []" \
	'all calls are there in the order of time, nest, and have the times that they had'
bounded 60 "$XAUDIT" stacks --format=folded --sort=calls --no-demangle app.data |
	python3 -c 'import sys; sys.stdout.writelines(sorted(sys.stdin))' >own_chains
ok 'every call is in the calls that it was in' cmp chains own_chains
like "$(cat app.data.txt)" 'function = \( "shop_greet" : container = 0 \), arguments = "\(\\"plain\\"\)"' 'arguments'
like "$(cat app.data.txt)" 'arguments = "\(\\"grüße 日本 🐧\\"\)"' 'UTF-8 in them'
like "$(cat app.data.txt)" 'function = \( "shop_measure" .* how = \( "returned" : container = 1 \), result = "194"' \
	'results'
like "$(cat app.data.txt)" 'how = \( "unwound" : container = 3 \)' 'how a call ended'
is "$(grep -c 'request = "\\"order 7, ' app.data.txt)" 6 'the request that a call belongs to'
is "$(grep -c 'callers = \[ \[0\] = ".* \[app\]", .*__libc_start_main.* \[libc\.so\.6\]"' app.data.txt)" 6 \
	'recorded callers'
like "$(cat app.data.txt)" 'function = \( "plugin::filter::operator\(\)\(int\) const" :' 'names, demangled'
like "$(cat app.data.txt)" 'function = \( "two words; and 7" :' 'and odd ones'
like "$(cat app.data.txt)" 'xaudit:mark: .*text = "ends" \}$' 'custom events: text'
like "$(cat app.data.txt)" 'xaudit:shop\.order: .*size = 16, data = \[ \[0\] = 0x7, ' 'and bytes'
is "$(grep -c 'lttng_ust_dl:dlopen: .*libplugin\.so' app.data.txt),$(grep -c 'dl:dlclose: .*libplugin' app.data.txt)" \
	4,4 'each load of the plugin'
is "$(grep -c 'lttng_ust_statedump:bin_info: .*libapp\.so' app.data.txt)" 2 'what children have from their parent'
like "$(cat app.data.txt)" 'xaudit:track: .* stack = 0, beside = 0, name = "(wor\\"ker; 1|odd|app)" \}$' \
	'threads have names'
is "$(grep -c 'xaudit:track: .*vtid = 1000000[12],' app.data.txt)" 2 \
	'coroutines have numbers that no thread has'
is "$(LC_ALL=C tr -d '\n -~\200-\377' <app.data.ctf/metadata | tr -d '\t' | wc -c)" 0 \
	'nothing in the metadata steers a terminal'
to_ctf app.data --no-values --event-format='shop.order=u32 number, u32 amount, string what'
is "$(grep -c 'arguments =\|result =\|request =' app.data.txt)" 0 '--no-values: there are none'
like "$(cat app.data.txt)" 'xaudit:shop\.order: .*number = 8, amount = 1250, what = "te\\"a" \}$' \
	'--event-format: fields'

# ---- made traces ----

# Moments that differ by more than 32 bits of ns, a loss, two functions of one name, and more than a packet.
{
	cat <<'END'
process p100
pair first 1000 1000 5
pair last 90000000000 90000000000 5
object 1 /one/libx.so
object 2 /two/libx.so
function 1 0 1 0x100 same
function 2 0 2 0x100 same
function 2 0 3 0x200 counted
thread 100 main
entry 1 1100
entry 2 5000000000
exit 2 30000000000
exit 1 30000000100
lost 7
chunk 30000000200
END
	i=0
	while [ $((i += 1)) -le 2000 ]; do
		printf 'entry 1 %d\nexit 1 %d\n' $((30000000200 + i * 10)) $((30000000205 + i * 10))
	done
	echo 'counts 0 100 main 3:42'
} >made
write_trace gaps <made
is "$(to_ctf gaps)" '' 'a made trace is exported'
is "$(python3 -c '
from events import events
for i, (time, event, tid, name, fields) in enumerate(events("gaps.txt")):
    if "cyg" in event and time < 30000000220:
        print(time, event[-5:], fields.split(" : ")[0].split(" \"")[1])
print(i + 1)')" '1100 entry same"
5000000000 entry same@libx.so"
30000000000 _exit same@libx.so"
30000000100 _exit same"
30000000210 entry same"
30000000215 _exit same"
4010' 'times of a day are whole, and functions of one name told apart'
like "$(cat gaps.err)" 'discarded 7 events' 'losses are told'
like "$(cat gaps.txt)" 'xaudit:counted: .*function = \( "counted" : container = 2 \), calls = 42' \
	'calls that were only counted'
is "$(($(wc -c <gaps.ctf/track-0) > 65536))" 1 'in more than one packet'

# When a thread was on a processor: on for 200 ns, off for 500 in the first call of inner, then on.
head="process p100
pair first 1000 1000 5
pair last 9000 9000 8005
$libraries"
. "$top_srcdir/t/lib/calls.sh"
write_waiting waiting "$waiting_switches"
is "$(to_ctf waiting)" '' 'a trace with switches is exported'
line='\[0*([0-9]*)\].* xaudit:run: .*vtid = 100, .*state = \( "(.*)" : .*duration = ([0-9]*) \}'
is "$(sed -nE "s/^$line$/\1 \2 \3/p" waiting.txt)" \
	'1000 on 200
1200 waits 500
1700 on 7300' 'with a stream of when threads were on a processor'
done_testing
