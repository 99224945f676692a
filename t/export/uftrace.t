#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit export --format=uftrace, read back by uftrace: report, replay, graph, dump and info.
. "${top_srcdir:-.}/t/lib/tap.sh"
command -v uftrace >/dev/null || skip_all 'no uftrace'
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/written.sh"
. "$top_srcdir/t/export/app.sh"

# to_uftrace TRACE [OPTION]...: into $tmp/TRACE.uftrace
to_uftrace() {
	trace=$1
	shift
	rm -rf "$trace.uftrace"
	bounded 60 "$XAUDIT" export --format=uftrace -o "$trace.uftrace" "$@" "$trace" || echo "status $?"
}
# ask COMMAND TRACE [OPTION]...
ask() {
	command=$1 trace=$2
	shift 2
	bounded 60 uftrace "$command" -d "$trace.uftrace" --no-pager --color=no "$@" 2>&1
}

app_record
is "$(to_uftrace app.data)" '' 'a real program is exported'
ask report app.data --demangle=no >report.txt
# The columns: total, self, calls, function. What has no time has blanks there.
is "$(sed -E '1,2d; s/^ *([0-9.]+ [num]?s +){0,2} *([0-9]+)  (.*)/\3\t\2/' report.txt | app_counts)" "$app_calls" \
	'uftrace report: each function has its calls'
# The chain of open calls around each call, against the stacks of calls that xaudit has.
cat >chains.py <<'END'
import collections, re, sys
count, stacks = collections.Counter(), collections.defaultdict(list)
for line in sys.stdin.buffer.read().decode(errors="replace").splitlines():
    found = re.match(r"\d+\.\d+ +(\d+): \[(entry|exit) ?\] (.*)\(([0-9a-f]+)\) depth: (\d+)$", line)
    if not found:
        continue
    stack = stacks[found[1]]
    if found[2] == "entry":
        assert len(stack) == int(found[5]), line
        stack.append(found[3].replace(";", ":"))
        count[";".join(stack)] += 1
    else:
        assert stack.pop() == found[3].replace(";", ":") and len(stack) == int(found[5]), line
assert not any(stacks.values())
for chain in sorted(count):
    print(chain, count[chain])
END
ask dump app.data --demangle=no | python3 chains.py >chains
bounded 60 "$XAUDIT" stacks --format=folded --sort=calls --no-demangle app.data |
	python3 -c 'import sys; sys.stdout.writelines(sorted(sys.stdin))' >own_chains
ok 'uftrace dump: every call is in the calls that it was in, on 11 tracks' cmp chains own_chains
report app.data
cat >totals.py <<'END'
# Times in uftrace's report are rounded to 1 ns below 1 ms, and to 1 us above; calls without an end count there, too.
import json, re, sys
wrong, seen = [], 0
units = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
own, inner = {}, {}
for line in open("own_chains", errors="replace"):
    chain, calls = line.rsplit(" ", 1)
    for name in chain.split(";")[-2:-1]:
        inner[name] = inner.get(name, 0) + int(calls)
for row in json.load(open("report.json"))["functions"]:
    name = re.sub(r"[\0-\x1f\x7f]|[\u2028-\u202e\u2066-\u2069]", "?", row["function"])
    own[name.encode(errors="replace").decode()] = row
for line in open("report.txt", errors="replace"):
    found = re.match(r" *([\d.]+) ([num]?s) +([\d.]+) ([num]?s) +(\d+)  (.*)", line)
    if not found:
        continue
    row = own.get(found[6])
    if row is None:
        continue
    seen += 1
    if int(found[5]) != row["calls"]:
        wrong.append(line)
    for value, unit, key in ((found[1], found[2], "total"), (found[3], found[4], "self")):
        exact = row[key + "_ns"] if key + "_ns" in row else row[key]
        # Each of its calls, and of those in them, may be rounded by 1 ns.
        if abs(float(value) * units[unit] - exact) > units[unit] / 1000 + row["calls"] + inner.get(found[6], 0):
            wrong.append((key, exact, line))
print(seen, wrong)
END
printf '%s\n' "$report" >report.json
is "$(python3 totals.py)" '26 []' 'and its times'

is "$(ask info app.data | sed -n 's/.*number of tasks *: //p')" 11 'a stack of a coroutine is a task'

ask replay app.data --event-full >replay.txt
like "$(cat replay.txt)" 'shop_greet\("plain"\) = 5;' 'uftrace replay: arguments and results'
like "$(cat replay.txt)" 'shop_greet\("grüße 日本 🐧"\) = 19;' 'UTF-8 in them'
like "$(cat replay.txt)" 'shop_greet\("control \\1\\33\[31m\\t\\n bytes\\177"\) = 23;' 'control characters, escaped'
like "$(cat replay.txt)" 'shop_greet\(NULL\) = -1;' 'no text'
like "$(cat replay.txt)" 'shop_measure\(-7, 1\.500000, 200, 0xfedcba9876543210\) = ' 'numbers'
like "$(cat replay.txt)" 'plugin::filter::operator\(\);' 'names of C++, demangled'
like "$(cat replay.txt)" 'two words; and 7\(\);' 'and odd ones'
is "$(grep -c '/\* xaudit:shop.order:' replay.txt)" 3 'custom events'
is "$(grep -c '/\* xaudit:mark:ends \*/' replay.txt)" 1 'with their text'
is "$(grep -c 'external-data: loads .*libplugin' replay.txt),$(grep -c '^DLOP .*libplugin' app.data.uftrace/task.txt)" \
	4,4 'each load of the plugin'
is "$(LC_ALL=C tr -d '\n -~\200-\377' <replay.txt | wc -c)" 0 'and nothing that steers a terminal'
like "$(ask graph app.data)" "\(1\) shop::walk
[^(]*\(1\) shop::tree::walk
[^(]*\(2\) shop::tree::walk
[^(]*\(4\) shop::tree::walk" 'uftrace graph: recursion'
to_uftrace app.data --no-values
like "$(ask replay app.data)" 'shop_greet\(\);' '--no-values: there are none'
to_uftrace app.data --event-format='shop.order=u32 number, u32 amount, string what'
like "$(ask replay app.data)" "xaudit:shop.order:number=8_amount=1250_what='te.'a'" '--event-format: fields'

# ---- made traces ----

# Two libraries of one name, one at the other's address later; a loss; and 3000 calls in each other.
{
	cat <<'END'
process p100
pair first 1000 1000 5
pair last 90000 90000 5
object 1 /one/libx.so
object 2 /two/libx.so
object 3 /a/"c".so
load 1 1 1000 0x700000000000 100
unload 1 2000 100
load 2 2 2000 0x700000000000 100
function 1 0 1 0x100 first
function 2 0 2 0x100 second
function 2 0 3 0x100 same_place
function 3 0 4 0x200 quoted
thread 100 main
entry 1 1100
exit 1 1130
entry 2 2100
exit 2 2160
entry 3 2200
exit 3 2290
entry 4 2300
exit 4 2400
lost 7
chunk 3000
entry 1 3010
exit 1 3020
END
	i=0
	while [ $((i += 1)) -le 3000 ]; do echo "entry 1 $((4000 + i))"; done
	while [ $((i -= 1)) -gt 0 ]; do echo "exit 1 $((12000 - i))"; done
} >made
write_trace twice <made
is "$(to_uftrace twice)" '' 'a made trace is exported'
is "$(ask report twice -D 4000 -s func -f self,call | sed '1,2d; s/  */ /g')" ' 8.038 us 3002 first
 0.100 us 1 quoted
 0.090 us 1 same_place
 0.060 us 1 second' \
	'libraries of one name, functions at one address, and 3000 calls in each other have their own numbers'
like "$(ask dump twice)" '100: \[lost ?\] <7>' 'a loss is told'

# A process that executed another program, under one number, and one of another host with a number that is taken.
write_trace again <<'END'
process p100
pair first 1000 1000 5
pair last 2000 2000 5
text exe /bin/one
object 1 /one/libx.so
function 1 0 1 0x100 before
thread 100 main
entry 1 1100
exit 1 1130
process p100.2
pair first 3000 3000 5
pair last 5000 5000 5
text exe /bin/two
object 1 /one/liby.so
function 1 0 1 0x100 after
thread 100 main
entry 1 3100
exit 1 3140
thread 100 main
entry 1 3110
exit 1 3130
END
is "$(to_uftrace again)" '' 'programs under one number are exported'
is "$(ask replay again -f tid | sed 1d)" ' [   100] | before();
 [   100] | after() {
 [10000001] | after();
 [   100] | } /* after */' 'they are one task; what does not nest is another'
is "$(grep -c ^SESS again.uftrace/task.txt)" 2 'in a session each'
done_testing
