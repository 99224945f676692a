#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit export --format=xray, read back by llvm-xray: account, stack, graph, convert and extract.
. "${top_srcdir:-.}/t/lib/tap.sh"
command -v llvm-xray >/dev/null || skip_all 'no llvm-xray'
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/written.sh"
. "$top_srcdir/t/export/app.sh"

# to_xray TRACE [OPTION]...: into $tmp/TRACE.xray
to_xray() {
	trace=$1
	shift
	rm -rf "$trace.xray"
	bounded 60 "$XAUDIT" export --format=xray -o "$trace.xray" "$@" "$trace" || echo "status $?"
}
# ask COMMAND TRACE [OPTION]...
ask() {
	command=$1 trace=$2
	shift 2
	bounded 60 llvm-xray "$command" -m "$trace.xray/instr-map.elf" "$@" "$trace.xray/basic.log" 2>&1
}

app_record
is "$(to_xray app.data)" '' 'a real program is exported'
is "$(ls app.data.xray)" 'basic.log
instr-map.elf' 'as two files'
is "$(($(wc -c <app.data.xray/basic.log) % 32))" 0 'of records'

# The log is told in full as YAML, with nothing rounded.
ask convert app.data -f yaml -symbolize --no-demangle >log.yaml
report app.data
printf '%s\n' "$report" >report.json
cat >compare.py <<'END'
import re
from chains import Chains
chains, last = Chains(), {}
for line in open("log.yaml", errors="replace"):
    found = re.match(r"  - \{ type: 0, func-id: \d+, function: (.*?), (?:args: \[.*?\], )?cpu: 0, thread: (\d+), "
                     r"process: \d+, kind: function-(enter|enter-arg|exit|tail-exit), tsc: (\d+), data: '' \}", line)
    if not found:
        continue
    name, thread, time = found[1], found[2], int(found[4])
    if name[0] in "'\"":
        name = name[1:-1].replace("''", "'")
    assert time >= last.get(thread, 0), line
    last[thread] = time
    if found[3].startswith("enter"):
        chains.enter(thread, name, time)
    else:
        chains.leave(thread, name, time)
chains.compare("report.json")
chains.write("chains")
END
is "$(PYTHONPATH=$top_srcdir/t/export PYTHONDONTWRITEBYTECODE=1 python3 compare.py)" "18 $app_all_calls [] []" \
	'llvm-xray convert: all calls nest, and have the times that they had'
bounded 60 "$XAUDIT" stacks --format=folded --sort=calls --no-demangle app.data |
	python3 -c 'import sys; sys.stdout.writelines(sorted(sys.stdin))' >own_chains
ok 'every call is in the calls that it was in' cmp chains own_chains
like "$(cat log.yaml)" \
	'function: shop_measure, args: \[ 18446744073709551609, 4609434218613702656, 200, 18364758544493064720 \]' \
	'arguments that are numbers'
is "$(grep -c 'kind: function-enter-arg' log.yaml)" 304 'for calls that have them'

ask account app.data -f csv >account.csv
is "$(ask account app.data -f csv | python3 -c '
import csv, sys
for row in csv.DictReader(sys.stdin):
    print(row["function"].split("(")[0].split("<")[0], row["count"], row["debug"])' |
	grep 'shop::walk\|shop::tree\|shop_greet\|plugin\|shop::leaf' | LC_ALL=C sort)" \
	'plugin::filter::operator 20 libplugin.so:0:0
plugin_apply 20 libplugin.so:0:0
shop::leaf 620 libapp.so:0:0
shop::tree 63 libapp.so:0:0
shop::walk 1 libapp.so:0:0
shop_greet 6 libapp.so:0:0' 'llvm-xray account: calls of functions, with their libraries'
like "$(cat account.csv)" '^[0-9]+,3,.*"libapp.so:0:0","two words; and 7"$' 'and odd names'
is "$(LC_ALL=C tr -d '\n -~\200-\377' <account.csv | wc -c)" 0 'in which nothing steers a terminal'
like "$(ask stack app.data)" '#0 +shop::walk\(int\) +1 .*
#1 +shop::tree<.* 1 .*
#2 +shop::tree<.* 2 .*
#3 +shop::tree<.* 4 ' 'llvm-xray stack: recursion'
like "$(ask graph app.data)" '^F[0-9]+ -> F[0-9]+' 'llvm-xray graph: callers'
is "$(bounded 60 llvm-xray extract -symbolize app.data.xray/instr-map.elf | grep -c 'kind: function-enter,')" 28 \
	'llvm-xray extract: each function that was called'
like "$(readelf -SW app.data.xray/instr-map.elf)" '/libplugin\.so +NOBITS' 'a library is a section'
is "$(to_xray app.data --no-values; ask convert app.data -f yaml | grep -c args:)" 0 '--no-values: no arguments'

# ---- made traces ----

# The second thread is the first in time: llvm-xray account wants its record to be the first one.
write_trace order <<END
process p100
pair first 1000 1000 5
pair last 90000 90000 5
$libraries
thread 100 main
entry 1 5000
entry 2 5010
tail 2 5020
exit 1 5030
entry 1 6000
thread 101 second
entry 1 1500
exit 1 1600
END
is "$(to_xray order)" '' 'a made trace is exported'
is "$(ask account order -f csv | cut -d, -f 1,2,8,10)" 'funcid,count,sum,function
1,3,1.300000e-07,"outer"
2,1,1.000000e-08,"inner"' 'the earliest record comes first; a call without an end is given up where the trace ends'
ask convert order -f yaml -symbolize >order.yaml
line='.*function: ([a-z]*),.*thread: ([0-9]*),.*kind: ([a-z-]*), tsc: ([0-9]*),.*'
is "$(sed -nE "s/$line/\1 \2 \3 \4/p" order.yaml)" \
	'outer 101 function-enter 1500
outer 101 function-exit 1600
outer 100 function-enter 5000
inner 100 function-enter 5010
inner 100 function-tail-exit 5020
outer 100 function-exit 5030
outer 100 function-enter 6000
outer 100 function-exit 6000' 'with jumps to other functions'

# Many threads: more than have their files' buffers at once.
{
	echo "process p100
pair first 1000 1000 5
pair last 900000 900000 5
$libraries"
	i=0
	while [ $((i += 1)) -le 600 ]; do
		printf 'thread %d t\nentry 1 %d\nentry 2 %d\nexit 2 %d\nexit 1 %d\n' $((i + 100)) $((9000 - i)) \
			$((9001 - i)) $((9002 - i)) $((9003 - i))
	done
} >made
write_trace many <made
is "$(to_xray many; ls many.xray)" 'basic.log
instr-map.elf' 'a trace of 600 threads is exported'
is "$(ask account many -f csv | cut -d, -f 1,2,8,10)" 'funcid,count,sum,function
1,600,1.800000e-06,"outer"
2,600,6.000000e-07,"inner"' 'with all of their calls'
like "$( (ulimit -f 4; trap '' XFSZ; to_xray many) 2>&1)" \
	"^xaudit export: many\.xray/.* can't be written: File too large
status 1$" 'a disk that is full is an error'
done_testing
