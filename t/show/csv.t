#!/bin/sh
# SPDX-License-Identifier: MIT
#
# CSV of report and loads: read back by python3's csv and by sqlite3, with names that have in them what a row could end
# by; the same values as in JSON, for each question that report answers.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/written.sh"
need python3

cd "$tmp" || exit 1
export top_srcdir
xa() {
	bounded 60 "$XAUDIT" "$@"
}
write_trace calls <<END
process p100 flags=1
pair first 1000 1000 5
pair last 9000 9000 8005
text host alpha
text exe /opt/app
text command app -x
$libraries
function 1 0 5 0x500 _ZN2ns1fIiEEvT_
type 1 request
layout 1 entry 1 i4:arg0:n text:arg1:request
load 1 1 1000 0x7f0000000000 100
load 2 2 2000 0x7f0000100000 100
loader maps 100 1900 2100 50
unload 2 2500 100
thread 100 main
custom 1 1000 =one
values 1 1000 3 =a,_b
entry 2 1100
exit 2 1130
entry 2 1200
exit 2 1240
exit 1 1300
custom 1 1900 =two,_"three"
entry 5 2000
entry 4 2010
exit 4 2060
exit 5 2200
entry 3 2300
END
# csv [OPTION]...: a report, without CR.
csv() {
	xa report --format=csv "$@" calls | tr -d '\r'
}
is "$(xa report --format=csv calls | od -c | grep -c '\\r  *\\n')" 6 'rows end in CR LF'
is "$(csv --columns=calls,total,share,self)" "$(cat <<'END'
function,demangled,library,calls,total_ns,share,self_ns
outer,outer,/usr/lib/libfoo.so,1,300,0.460000,230
_ZN2ns1fIiEEvT_,void ns::f<int>(int),/usr/lib/libfoo.so,1,200,0.300000,150
inner,inner,/usr/lib/libfoo.so,2,70,0.140000,70
bar,bar,/opt/bar/libbar.so,1,50,0.100000,50
libfoo.so+0x300,libfoo.so+0x300,/usr/lib/libfoo.so,1,0,0.000000,0
END
)" 'a row for each function: times in ns, shares of 1, the name of the object file and the demangled one'
is "$(csv --columns=calls,min,max | tail -n 1)" 'libfoo.so+0x300,libfoo.so+0x300,/usr/lib/libfoo.so,1,,' \
	'what is not known is empty'
is "$(csv | head -n 1)" \
	'function,demangled,library,calls,total_ns,self_ns,min_ns,p50_ns,p90_ns,p99_ns,max_ns,counted' \
	'without --columns it has those of JSON'
is "$(csv --apart --columns=calls | sed -n 2p)" 'outer,outer,/usr/lib/libfoo.so,calls,100,1' \
	'with --apart rows say folder and process'
is "$(csv --by=library --columns=self)" 'library,self_ns
/usr/lib/libfoo.so,450
/opt/bar/libbar.so,50' 'by library'
is "$(csv --by=thread --columns=self)" 'folder,pid,tid,name,self_ns
calls,100,100,main,500' 'by thread'
is "$(csv --by=process --columns=self)" 'folder,pid,name,self_ns
calls,100,/opt/app,500' 'by process'
is "$(csv --by=host --columns=self)$(csv --by=command --columns=self)" 'host,self_ns
alpha,500command,self_ns
app -x,500' 'by host and command'
is "$(csv --callers=inner --columns=calls,self)" 'function,demangled,library,caller_function,caller_demangled,'\
'caller_library,calls,self_ns
inner,inner,/usr/lib/libfoo.so,outer,outer,/usr/lib/libfoo.so,2,70' 'callers'
is "$(csv --callers=outer --columns=calls,self | tail -n 1)" 'outer,outer,/usr/lib/libfoo.so,,,,1,230' \
	'where nobody called, the caller is empty'
is "$(csv --callees=ns::f --columns=calls,self | tail -n 1)" '_ZN2ns1fIiEEvT_,void ns::f<int>(int),'\
'/usr/lib/libfoo.so,bar,bar,/opt/bar/libbar.so,1,50' 'callees'
is "$(csv --hist=inner | python3 -c 'import csv, sys
print(sum(int(row["calls"]) for row in csv.DictReader(sys.stdin)))')" \
	2 'a histogram has a row for each bar'
is "$(csv --hist=inner | head -n 1)" 'function,demangled,library,from_ns,to_ns,calls' 'with these fields'
is "$(csv --by-event=request --columns=calls,self)" 'value,special,calls,self_ns
one,,3,300
"two, ""three""",,3,200' 'events'
is "$(csv --by-value=n --columns=calls,self)" 'value,special,function,demangled,library,calls,self_ns
3,,outer,outer,/usr/lib/libfoo.so,1,230' 'values'
write_trace requests <<END
process p100 flags=1
pair first 1000 1000 5
pair last 9000 9000 8005
$libraries
layout 1 entry 1 i4:request:request u4:arg0:n
thread 100 main
values 1 1000 7 2
entry 2 1100
exit 2 1130
exit 1 1300
entry 4 2000
exit 4 2050
END
is "$(xa report --format=csv --by-request --by=library --columns=calls,self requests | tr -d '\r')" \
	'request,special,library,calls,self_ns
7,,/usr/lib/libfoo.so,2,300
,none,/opt/bar/libbar.so,1,50' 'requests; what belongs to none says so'
write_trace stacks <<END
process p100 flags=1
pair first 1000 1000 5
pair last 9000 9000 8005
$libraries
load 2 2 1000 0x40000 100
layout 1 entry 1 stack:-:backtrace
thread 100 main
values 1 1000 7 chain 0x40010 0x40020 0x2000000000000000
exit 1 1100
END
is "$(xa report --format=csv --by=stack --columns=calls,self stacks | tr -d '\r')" \
	'callers,function,demangled,library,calls,self_ns
libbar.so+0x20;libbar.so+0x10,outer,outer,/usr/lib/libfoo.so,1,100' 'backtraces'
is "$(csv --diff --columns=calls,self calls | grep -e '^function' -e '^outer')" \
	'function,demangled,library,by_mean,by_median,old_calls,old_self_ns,new_calls,new_self_ns
outer,outer,/usr/lib/libfoo.so,0,0,1,230,1,230' 'two runs'
is "$(xa loads --format=csv calls | tr -d '\r')" "$(cat <<'END'
library,pid,tid,load_ns,after_start_ns,unload_ns,loaded_for_ns,opening,opening_ns,closing,closing_ns,calls
/usr/lib/libfoo.so,100,100,1000,0,,,,,,,5
/opt/bar/libbar.so,100,100,2000,1000,2500,500,0,150,,,1
END
)" 'loads has a row for each life of a library'
xa report --format=csv calls 2>&1 >/dev/null | cat >err
is "$(cat err)" '' 'where nothing was lost, nothing is said'
write_trace lost <<END
process p100 flags=1
pair first 1000 1000 5
pair last 9000 9000 8005
$libraries
$nested_calls
lost 3
END
is "$(xa report --format=csv lost 2>&1 >/dev/null)" 'xaudit report: 3 events were lost, 0 calls are unfinished' \
	'else messages say so, as a table does'
is "$(xa report --format=csv --hist=inner --columns=calls calls 2>&1)" "xaudit report: --columns goes with --hist only \
in JSON; \`xaudit report --help\` lists what there is" 'a histogram has its own columns'
xa report --format=csv --callers=nobody calls >out 2>err
is "$? $(cat out err)" '1 xaudit report: no call of a function '"'nobody'"' is in the trace' \
	'where there is nothing, there are no heads either'

# ---- names that could end a row ----

{
	cat <<'END'
process p100 flags=1
pair first 1000 1000 5
pair last 9000 9000 8005
text host HOSTILE0
text command HOSTILE3
END
	for i in 0 1 2 3 4 5; do
		printf '%s\n' "object $((i + 1)) /lib/HOSTILE$i.so" "function $((i + 1)) 0 $((i + 1)) 0x100 HOSTILE$i" \
			"load $((i + 1)) $((i + 1)) 1000 0x7f000000${i}000 100"
	done
	echo 'type 1 request'
	echo 'thread 100 HOSTILE4'
	for i in 0 1 2 3 4 5; do
		at=$((i * 1000 + 2000))
		printf '%s\n' "custom 1 $at =HOSTILE$i" "entry $((i + 1)) $at" "exit $((i + 1)) $((at + i * 100 + 100))"
	done
} >script
write_trace hostile <script
cat >hostile.py <<'END'
import csv, json, os, subprocess, sys
texts = [b'a,"b"\n\'c', b'=\xc3\xbc\r\nx;y', b'\x1b[31mz\x07 ', b' \xff\xfe,z\t" ', b'""""""""',
         b'\xe2\x80\xae\xf0\x9f\x98\x80,']
for folder, _, files in os.walk('hostile'):
    for name in files:
        path = os.path.join(folder, name)
        data = open(path, 'rb').read()
        for i, text in enumerate(texts):
            assert len(text) == 8
            data = data.replace(b'HOSTILE%d' % i, text)
        open(path, 'wb').write(data)
shown = [t.decode('utf-8', 'replace') for t in texts]
xaudit = os.environ['XAUDIT']

def run(command, form, *options):
    out = subprocess.run([xaudit, command, '--format=' + form, *options, 'hostile'], stdout=subprocess.PIPE,
                         timeout=60, check=True).stdout.decode('utf-8')
    if form == 'json':
        return json.loads(out)
    open('out.csv', 'w', newline='').write(out)
    return list(csv.DictReader(open('out.csv', newline='')))

rows = run('report', 'csv')
print('names', sorted(r['function'] for r in rows) == sorted(shown),
      sorted(r['library'] for r in rows) == sorted('/lib/%s.so' % t for t in shown))
print('times', [(r['calls'], r['total_ns']) for r in rows] == [('1', str(i * 100)) for i in range(6, 0, -1)])

# The same as in JSON, member by member.
def same(command, members, *options):
    want = run(command, 'json', *options)
    for member in members.split('.'):
        want = want[member]
    got = run(command, 'csv', *options)
    good = len(want) == len(got) and len(want) > 0
    for w, g in zip(want, got):
        for key, value in w.items():
            if key == 'share':
                good &= float(g[key]) == value
            elif not isinstance(value, (list, dict)) and key in g:
                good &= g[key] == ('' if value is None else str(value))
    print(' '.join((command, *options)), len(got), good)
same('report', 'functions')
same('report', 'functions', '--apart', '--columns=calls,share,self-avg,deviation')
same('report', 'libraries', '--by=library')
same('report', 'threads', '--by=thread')
same('report', 'processes', '--by=process')
same('report', 'hosts', '--by=host')
same('report', 'commands', '--by=command')
same('report', 'rows', '--by-event=request')
same('report', 'rows', '--by-event=request', '--by=function', '--apart')
same('loads', 'loads')
END
export XAUDIT
is "$(bounded 120 python3 hostile.py 2>&1)" 'names True True
times True
report 6 True
report --apart --columns=calls,share,self-avg,deviation 6 True
report --by=library 6 True
report --by=thread 1 True
report --by=process 1 True
report --by=host 1 True
report --by=command 1 True
report --by-event=request 6 True
report --by-event=request --by=function --apart 6 True
loads 6 True' 'python reads all names and numbers back, the same as from JSON'
is "$(bounded 90 python3 "$top_srcdir/t/lib/terminal.py" --columns=200 "$XAUDIT" report --format=csv \
	--no-pager hostile |
	tr -d '\r' | python3 "$top_srcdir/t/lib/steering.py" look)" '' 'on a terminal nothing steers it'
if command -v sqlite3 >/dev/null; then
	xa report --format=csv hostile >report.csv
	xa report --format=csv --callers='*' hostile >callers.csv
	xa loads --format=csv hostile >loads.csv
	is "$(sqlite3 -bail :memory: '.import --csv report.csv report' '.import --csv callers.csv callers' \
		'.import --csv loads.csv loads' 'SELECT count(*), sum(total_ns), sum(length(function)) FROM report' \
		'SELECT hex(function) FROM report ORDER BY CAST(total_ns AS INTEGER) LIMIT 1' \
		'SELECT count(*), sum(caller_function = "") FROM callers' \
		'SELECT sum(r.total_ns) FROM report r JOIN loads l ON r.library = l.library')" \
		"$(python3 -c "print('6|2100|%d' % (8 + 7 + 8 + 8 + 8 + 3)); print(b'a,\"b\"\n\'c'.hex().upper())
print('6|6'); print('2100')")" 'sqlite3 imports them, and joins report and loads'
else
	skip 1 'no sqlite3'
fi
done_testing
