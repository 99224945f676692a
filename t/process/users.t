#!/bin/sh
# SPDX-License-Identifier: MIT
#
# LD_AUDIT alone, and processes of several users: a process that can't have its trace where it is told to is off, which
# ctl says, with the reason; with %u in the output, each user has a folder.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/ctl.sh"
[ "$(id -u)" -eq 0 ] || skip_all 'needs root'

chmod 1777 "$tmp"
library "$CC" libcounted.so counted.c
program "$CC" users users.c -L. -lcounted
install -m 755 "$MODULE" libxaudit.so

# serve OUTPUT: the server of the rules begins, as $server with $worker.
serve() {
	printf '[trace]\noutput = %s\nmode = ring\ncontrol = any\nenabled = no\n' "$1" >conf
	printf '[library libcounted.so]\nkinds = plt\n[library *]\nkinds = none\n' >>conf
	LD_AUDIT="$tmp/libxaudit.so" XAUDIT_CONFIG="$tmp/conf" ./users >out 2>err &
	wait_until 60 grep -q '^ready ' out || bail "users does not begin: $(cat err)"
	server=$(sed 's/^ready \(.*\) .*/\1/' out)
	worker=$(sed 's/.* //' out)
}
end() {
	kill -KILL "$server" "$worker"
	wait "$server" 2>/dev/null
}
# some FOLDER: calls are in the trace.
some() {
	report "$1"
	[ "$(calls counted)" -gt 0 ] 2>/dev/null
}

# ---- one folder ----
serve "$tmp/one"
ctl "$worker" enable counted
like "$status $out $err" '^0 1 function: 1 site switched on, ' 'one folder: the worker is enabled first, and makes it'
wait_until 60 some one || diag "$(ls -lR one)"
ctl "$server" enable counted
why="can't make the trace folder: another user made $tmp/one"
said="1  xaudit ctl: process $server: nothing is recorded there: $why"
is "$status $out $err" "$said" 'enable fails in the server, which belongs to another user, and says why'
ctl "$server" status
is "$status $(printf '%s\n' "$out" | grep '^Recording') $err" "0 Recording   no, mode ring: $why " 'and so does status'
pid=$server
is "$(status '[.off, .recording, .reason]')" "[true,false,\"$why\"]" 'in JSON, too'
is "$(status '[.objects[].kinds.plt.on // 0] | add')" 0 'nothing is on there'
ctl "$server" disable '*'
is "$status $out $err" "$said" 'and nothing more can be changed'
pid=$worker
is "$(status '[.off, .recording, .reason]')" '[false,true,null]' 'the worker is recorded'
end

# ---- a folder that can't be made ----
serve "$tmp/none/such/%u"
ctl "$server" enable counted
is "$status $out $err" "1  xaudit ctl: process $server: nothing is recorded there: can't make the trace folder \
$tmp/none/such/0: No such file or directory" 'a folder that can not be made: enable fails, and says why'
ctl "$worker" enable counted
is "$status $out $err" "1  xaudit ctl: process $worker: nothing is recorded there: can't make the trace folder \
$tmp/none/such/65534: No such file or directory" 'of the worker, too'
end

# ---- one folder for each user ----
mkdir -m 1777 all
serve "$tmp/all/%u"
ctl "$worker" "$server" enable counted
is "$status $(printf '%s\n' "$out" | grep -c '1 function: 1 site switched on, ') $err" '0 2 ' \
	'%u: both are enabled'
is "$(stat -c '%n %u %a' all/* | tr '\n' ' ')" 'all/0 0 700 all/65534 65534 700 ' 'each has a folder of its own'
wait_until 60 some all/0
ok 'the calls of the server are in one' some all/0
wait_until 60 some all/65534
ok 'and those of the worker in the other' some all/65534
end
record 'kept.%u' -k plt -l libcounted.so sh -c :
is "$status $(echo kept.*)" '0 kept.0' 'record: %u is the number of its user'
done_testing
