#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What the reader's library tells of a process that is no event: through the example in Python, for a trace whose facts
# are known.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/written.sh"

need python3
skip_sanitized
[ -f "$top_builddir/.libs/libxaudit-read.so.0" ] || bail "no $top_builddir/.libs/libxaudit-read.so.0: run make check"
LD_LIBRARY_PATH=$(cd "$top_builddir/.libs" && pwd)
export LD_LIBRARY_PATH

info() {
	bounded 60 python3 "$top_srcdir/doc/examples/info.py" "$tmp/$1" >"$tmp/out" 2>"$tmp/err"
	status=$?
}

write_trace trace <<'END'
process p100 chunk=65536 ring_size=131072 lost=5 lost_disk=3
pair first 1000 1000 5
pair last 900000 900000 8005
text exe /usr/bin/server
text note of the parent alone
object 1 /usr/lib/libfoo.so
sites 1 0:0:12 5:1:300
function 1 0 1 0x100 outer
change mode 1500 100 1
fork 101
thread 100 main
both
loop 100 10
entry 1 1000
exit 1 1005
end
counts 0 100 main 1:5
child 101
object 2 /usr/lib/libbar.so
sites 2 2:22:7
change throttled 2500 101 1
thread 101 main
both
entry 1 2000
END
info trace
is "$status
$(cat "$tmp/out" "$tmp/err")" "0
p100: /usr/bin/server, ended: 200 events of 1 threads, 5 counted calls, 8 lost
  thread 100 main: 200 events in 1 buffers
  5 lost for other reasons
  3 lost since the disk was full
  note: of the parent alone
  after 500 ns: mode 1 
  /usr/lib/libfoo.so: 12 xray: traced
  /usr/lib/libfoo.so: 300 entry: not selected by the rules
p101: /usr/bin/server, ended: 1 events of 1 threads, 0 counted calls, 0 lost
  thread 101 main: 1 events in 1 buffers
  after 1500 ns: throttled 1 
  /usr/lib/libfoo.so: 12 xray: traced
  /usr/lib/libfoo.so: 300 entry: not selected by the rules
  /usr/lib/libbar.so: 7 plt: bound before it was selected: its callers go past xaudit" 'the facts of two processes'
bounded 60 "$XAUDIT" info --format=json "$tmp/trace" >"$tmp/json" 2>&1
cat >"$tmp/processes.py" <<'END'
import json, sys
for process in json.load(sys.stdin)["processes"]:
    print(*(process[key] for key in ("folder", "events", "counted", "lost")))
END
is "$(python3 "$tmp/processes.py" <"$tmp/json" 2>&1 | tr '\n' ' ')" \
	'p100 200 5 8 p101 1 0 0 ' 'which are those that info shows'

cp -r "$tmp/trace" "$tmp/cut"
truncate -s 4200 "$tmp/cut/p100/meta"
info cut
like "$status $(cat "$tmp/err")" "^0 $tmp/cut/p100/meta.*offset [0-9]*: [^ ]" 'what is damaged is told in a line'
info nothing
like "$status $(cat "$tmp/err")" "^1 can't open the trace $tmp/nothing: No such file" 'what is not there is, too'
done_testing
