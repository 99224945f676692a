#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit report by what processes have in common: hosts, programs and commands, over several traces, and over the
# processes of one. A process that executed another program is two.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/written.sh"

cd "$tmp" || exit 1
library='pair first 1000 1000 5
pair last 9000 9000 8005
object 1 /usr/lib/libfoo.so
function 1 0 1 0x100 outer
function 1 0 2 0x200 inner'
# On alpha: env, which becomes app, and a process of which nothing is recorded.
write_trace a <<END
process p100 flags=1
text host alpha
text exe /usr/bin/env
text command env app -x
$library
thread 100 main
entry 1 1000
exit 1 1100
process p100.1 flags=1
text host alpha Linux 6.1.0 x86_64
text exe /opt/app
text command app -x
$library
thread 100 main
entry 1 2000
entry 2 2010
exit 2 2040
exit 1 2200
thread 101 worker
entry 2 2000
exit 2 2400
process p200 flags=1
$library
thread 200 main
entry 2 1000
exit 2 1007
END
# On beta, another command of the same program; and one that calls nothing.
write_trace b <<END
process p100 flags=1
text host beta
text exe /opt/app
text command app -y
$library
thread 100 main
entry 1 1000
exit 1 1050
process p101 flags=1
text host gamma
text exe /opt/idle
$library
thread 101 main
END
ask() {
	bounded 60 "$XAUDIT" report --format=json "$@"
}
# rows LIST KEY [OPTION]...: "NAME calls total self p50 max"; the median is true within 0.8 %.
rows() {
	list=$1 key=$2
	shift 2
	ask "--by=$key" "$@" | jq -r ".${list}[] |
		\"\(.$key) \(.calls) \(.total_ns) \(.self_ns) \(.p50_ns) \(.max_ns)\""
}
is "$(rows hosts host a b)" 'alpha 4 700 700 100 400
beta 1 50 50 50 50
null 1 7 7 7 7' 'by host: what a host called, over all of its processes and threads'
is "$(rows programs program a b)" '/opt/app 4 650 650 50 400
/usr/bin/env 1 100 100 100 100
null 1 7 7 7 7' 'by program: the calls before a process executed another one are not counted for that'
is "$(rows commands command a b)" 'app -x 3 600 600 201 400
env app -x 1 100 100 100 100
app -y 1 50 50 50 50
null 1 7 7 7 7' 'by command'
is "$(rows programs program a)" '/opt/app 3 600 600 201 400
/usr/bin/env 1 100 100 100 100
null 1 7 7 7 7' 'of one trace, too'
is "$(rows hosts host --from=500ns a b)" 'alpha 3 600 600 201 400' 'with --from, of each trace from its own start on'
is "$(rows hosts host --tid=101 a b)" 'alpha 1 400 400 400 400' 'of one thread'
is "$(rows hosts host --pid=200 a)" 'null 1 7 7 7 7' 'of one process'
is "$(rows hosts host --sort=calls b a | head -n 1)" 'alpha 4 700 700 100 400' 'sorted by another column'
is "$(ask --by=host --columns=calls,min a b | jq -c '.hosts[0]')" '{"host":"alpha","calls":4,"min_ns":30}' \
	'with columns as wanted'
is "$(ask --by=program -j1 a b)" "$(ask --by=program -j3 a b)" 'several threads count the same'
is "$(bounded 60 "$XAUDIT" report --by=host --columns=calls,total a b | sed -n 1,5p)" "$(cat <<'END'
     Calls        Total  Host
==========  ===========  ====================
         4     0.700 us  alpha
         1     0.050 us  beta
         1     0.007 us  (not recorded)
END
)" 'people see which hosts are not known'
is "$(bounded 60 "$XAUDIT" report --by=program --columns=total a b | sed -n 's/^ .*  //p')" 'Program
/opt/app
/usr/bin/env
(not recorded)' 'programs'
is "$(bounded 60 "$XAUDIT" report --by=command --columns=total a b | sed -n 's/^ .*[s]  //p')" 'app -x
env app -x
app -y
(not recorded)' 'and commands'
for by in host program command; do
	bounded 60 "$XAUDIT" report --by=$by --apart a b >out 2>&1
	is "$? $(cat out)" "2 xaudit report: --apart does not go with --by=host, --by=program or --by=command; \
\`xaudit report --help\` lists what there is" "processes that are added up by $by can't be apart"
done
bounded 60 "$XAUDIT" report --by-event=x --by=host a >out 2>&1
is "$? $(cat out)" "2 xaudit report: with --by-event, --by is function or library; \`xaudit report --help\` lists what \
there is" 'and events are not counted by host'
done_testing
