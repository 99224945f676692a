#!/bin/sh
# SPDX-License-Identifier: MIT
#
# An index is made once: of processes that need it at the same time one makes it, and the others wait; what takes longer
# than a program waits goes on without it, within bounds, and the next run finds it.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

XAUDIT_INDEX=$tmp/kept XAUDIT_COMMAND=$tmp/slow
export XAUDIT_INDEX XAUDIT_COMMAND
library "$CC" libcounted.so counted.c
echo 'void counted(void); int main(void) { counted(); return 0; }' |
	$CC -o once -x c - -L. -lcounted -Wl,-rpath,"$tmp" || bail 'once does not link'
printf '[trace]\noutput = %s\n[library libcounted.so]\nkinds = entry\n' "$tmp/d" >conf

# Its work begins when the file `go` is there.
cat >slow <<END
#!/bin/sh
echo \$\$ >>'$tmp/log'
until [ -e '$tmp/go' ]; do sleep 0.1; done
ps -o ni= -p \$\$ >'$tmp/nice'
ulimit -t >'$tmp/cpu'
exec '$XAUDIT' "\$@"
END
chmod +x slow
# alone: runs the program under the module alone.
alone() {
	rm -rf d
	bounded 60 env LD_AUDIT="$MODULE" XAUDIT_CONFIG="$tmp/conf" ./once 2>err
}
# wait_for TEST...: until the test is true; a minute at most.
wait_for() {
	tries=600
	until "$@"; do
		[ $((tries -= 1)) -gt 0 ] || return 1
		sleep 0.1
	done
}
has_index() {
	[ -n "$(find kept -name '[!.]*.index' 2>/dev/null)" ]
}
is_gone() {
	! kill -0 "$1" 2>/dev/null || grep -q '^State:.*Z' "/proc/$1/status"
}

alone
why='no index of it could be made: it took longer than 10 seconds; `xaudit index` goes on, for later runs'
is "$?/$(sed 's/.*: no index/no index/' err)" "0/$why" 'a program waits for an index for ten seconds'
pid=$(tail -n 1 log)
ok 'then the command goes on' kill -0 "$pid"
ok 'and nothing is kept yet' test ! -e kept
touch go
ok 'when it has made the index' wait_for has_index
ok 'it ends' wait_for is_gone "$pid"
is "$(tr -d ' ' <nice) $(cat cpu)" '19 300' 'it was niced, and bounded'
rm -f log
alone
report d
is "$(cat err)/$(calls counted)/$(ls log 2>/dev/null)" /1/ 'the next run finds it, and is traced'

# A program that is killed meanwhile.
rm -rf kept go log
rm -rf d
env LD_AUDIT="$MODULE" XAUDIT_CONFIG="$tmp/conf" ./once 2>err &
program=$!
ok 'a program waits' wait_for test -s log
kill -KILL "$program"
wait "$program" 2>/dev/null
touch go
ok 'and is killed: the index comes all the same' wait_for has_index

# A lock that somebody has is waited for; who has it meanwhile does not make the index once more.
cat >renames.c <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
int renameat(int from_at, const char *from, int to_at, const char *to)
{
	int fd = open(RENAMES, O_WRONLY | O_CREAT | O_APPEND, 0600);
	if (write(fd, to, strlen(to)) < 0 || write(fd, "\n", 1) < 0)
		_exit(99);
	close(fd);
	return (int)syscall(SYS_renameat, from_at, from, to_at, to);
}
END
$CC -shared -fPIC -DRENAMES="\"$tmp/renames\"" -o librenames.so renames.c || bail 'librenames.so does not compile'
rm -rf kept
three() {
	for i in 1 2 3; do
		LD_PRELOAD=$tmp/librenames.so bounded 60 "$XAUDIT" index --quiet --kept "$1" 2>"err.$i" &
	done
	wait
	cat err.1 err.2 err.3
}
is "$(three "$XAUDIT")" '' 'three processes want an index'
is "$(grep -c '\.index$' renames) $(grep -vc '\.index$' renames)" '1 3' 'one makes it, and each puts a stamp there'
is "$(ls -A kept | grep -c '^\.')" 0 'no lock is left'
# So that it is no chance: all wait for a lock that is held.
if command -v flock >/dev/null; then
	name=$(cd kept && ls -- *.index)
	rm -f renames kept/*
	flock "kept/.$name.0" sleep 3 &
	ok 'a lock is held' wait_for test -e "kept/.$name.0"
	(three "$XAUDIT" >said) &
	sleep 1.5
	is "$(ls kept)" '' 'as long as it is, no index is made'
	wait
	is "$(cat said)/$(grep -c '\.index$' renames)" /1 'and then one'
	# So it is of commands that index a file on their way to something else.
	rm -rf kept
	bounded 60 "$XAUDIT" index --quiet libcounted.so
	name=$(cd kept && ls -- *.index)
	rm -f renames kept/*
	mkfifo stay
	exec 9<>stay
	printf '%s\n' '#include <stdio.h>' 'void counted(void);' 'int main(void) { getchar(); counted(); return 0; }' |
		$CC -o server -x c - -L. -lcounted -Wl,-rpath,"$tmp" || bail 'server does not link'
	sed 's/^kinds.*/kinds = plt/; s/^output.*/&.server\nenabled = no\ncontrol = any/' conf >server.conf
	LD_AUDIT=$MODULE XAUDIT_CONFIG=$tmp/server.conf ./server <stay 2>server.err 9>&- &
	server=$!
	ok 'a program runs' wait_for grep -q libcounted "/proc/$server/maps"
	flock "kept/.$name.0" sleep 5 9>&- &
	ok 'a lock of a library is held' wait_for test -e "kept/.$name.0"
	for i in 1 2; do
		LD_PRELOAD=$tmp/librenames.so bounded 60 "$XAUDIT" record -k entry -l libcounted.so -o "$tmp/d$i" \
			-- ./once >"err.$i" 2>&1 &
	done
	LD_PRELOAD=$tmp/librenames.so bounded 60 "$XAUDIT" ctl "$server" enable 'entry:counted@*libcounted*' \
		>err.ctl 2>&1 &
	ctl=$!
	sleep 2
	is "$(ls kept)" '' 'two record and a ctl wait for it'
	wait "$ctl"
	is "$?" 0 'ctl has the function switched on'
	exec 9>&-
	wait
	is "$(grep -c '\.index$' renames)" 1 'and one of them makes the index'
	for i in 1 2; do
		report "d$i"
		is "$(calls counted)" 1 "record $i traces by it"
	done
	rm -rf kept/*
	ln -s "$tmp/elsewhere" "kept/.$name.0"
	rm -f kept/*
	bounded 60 "$XAUDIT" index --quiet --kept "$XAUDIT"
	is "$?/$(ls elsewhere 2>/dev/null)" 0/ 'a link that has the name of a lock is not followed, and no obstacle'
else
	skip 11 'no flock here'
fi
done_testing
