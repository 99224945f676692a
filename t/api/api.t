#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Every call of xaudit.h works, with and without the module, however the library is linked; events arrive byte for byte
# and in order.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

include="-I$top_srcdir -I$top_srcdir/runtime/api"
shared="-L$top_builddir/.libs -lxaudit-api -Wl,-rpath,$top_builddir/.libs"
static=$top_builddir/libxaudit-api.a
$CC -O2 -Wall -Wextra -Werror $include -o api_read "$beside/api_read.c" || bail 'api_read does not compile'
library "$CC" libcounted.so api_parts.c $include -DPART_COUNTED -fpatchable-function-entry=5
# made OUT FLAG...: the program, linked in this way.
made() {
	name=$1
	shift
	program "$CC" "$name" api.c $include -Wall -Wextra -Werror -rdynamic "$@" -L. -lcounted
}

cat >without.expected <<'END'
flush -38
event -38 -38 -38 -38
register -38 -38 -38 -38 -38
long name -38
typed -38 -38 -38 -38 -38
mark -38 -38 -38
macro -38
flush -38
status -38 state 0 mode 0 recording 9 types 0
folder 
small status -38
enable -38 functions 0 changed 0 already 0 refused 0
find -38 on 0 name none kind none at its place 0
function -38 same 1
no function -38 -38
disable -38 functions 0 changed 0 already 0 refused 0
find -38 on 0
bad rules -38 -38 -38
for each -38 some 0
bad fd -38
table -38
sum 14
END
cat >with.expected <<'END'
flush 0
event 0 -22 0 -7
register 16 17 16 -22 -22
long name -36
typed 0 0 -22 -22 -7
mark 0 0 -7
macro 0
flush 0
status 0 state 1 mode 0 recording 1 types 2
folder is this process's
small status -22
enable 0 functions 1 changed 1 already 0 refused 0
find 7 on 1 name api_counted kind patchable at its place 1
function 0 same 1
no function -2 -2
disable 0 functions 1 changed 1 already 0 refused 0
find 7 on 0
bad rules -22 -22 -36
for each 0 some 1
bad fd -9
table 0
sum 14
END
{
	printf 'event 0 4096 %s\n' "$(printf '%4096s' '' | tr ' ' b)"
	cat <<'END'
event 0 5 hello
event 0 5 macro
event 1 0 
event 1 6 a mark
event 16 3 one
event 17 0 
type 16 alpha
type 17 beta
END
} >events.expected

# linked NAME FLAG...
linked() {
	name=$1
	shift
	made api_linked "$@"
	bounded 60 ./api_linked calls >without 2>&1
	is "$(diff without.expected without)" '' "$name: without the module each call answers ENOSYS and does nothing"
	record d -l libcounted.so --start-disabled ./api_linked calls
	is "$(printf '%s\n' "$out" | diff with.expected -)$err" '' "$name: with it each call answers as it should"
	./api_read -p d/p* >events
	is "$(LC_ALL=C sort events | diff events.expected -)" '' \
		"$name: all events and types are in the trace, and no other"
	report d
	is "$(calls api_counted) $(sums)" '2 0 lost 0 unfinished' \
		"$name: the library's function was traced between enable and disable alone"
}
linked 'shared, PIE' -fPIE -pie $shared
like "$(cat table)" \
	'^function	[0-9]+	[0-9]+	patchable	off	(0x[0-9a-f]+	){3}api_counted	/.*/libcounted.so$' \
	'the table lists the function'
is "$(head -n 1 table) $(grep -c '^point' table)" 'xaudit-table	1 1' 'the table has a head line and the one point'
is "$(grep -vcE '^(xaudit-table|function|point)	' table)" 0 'the table has no other line'
linked 'shared, not PIE' -fno-pie -no-pie $shared
linked 'shared, bound at load' -Wl,-z,now,-z,relro $shared
linked 'static, PIE' -fPIE -pie "$static"
linked 'static, not PIE, bound at load' -fno-pie -no-pie -Wl,-z,now "$static"
linked 'static, stripped, unused sections left out' -s -ffunction-sections -fdata-sections -Wl,--gc-sections "$static"

# The macro alone, without the library.
macro() {
	name=$1 compiler=$2 language=$3
	shift 3
	$compiler -O2 -Wall -Wextra -Werror $include "$@" -x "$language" -c -o one.o "$beside/api_parts.c" &&
		$compiler -O2 -Wall -Wextra -Werror $include "$@" -DPART_OTHER -x "$language" -c -o two.o \
			"$beside/api_parts.c" &&
		$compiler -O2 "$@" -o macro one.o two.o || bail "$name: the macro does not compile"
	is "$(bounded 60 ./macro)" 'macro -38 -38 evaluated 0' "macro, $name: without the module nothing is evaluated"
	record d -l nothing.so ./macro
	is "$out" 'macro 0 0 evaluated 1' "macro, $name: with it the events are taken"
	is "$(./api_read -p d/p* | tr '\n' ';')" 'event 0 12 by the macro;event 0 17 from another file;' \
		"macro, $name: and are in the trace"
}
macro "$CC, C" "$CC" c
macro "$CC, link-time optimisation" "$CC" c -flto
macro "$CC, unused sections left out" "$CC" c -ffunction-sections -fdata-sections -Wl,--gc-sections
macro "$CC, not PIE" "$CC" c -fno-pie -no-pie
if [ -n "$CXX" ]; then macro "$CXX, C++" "$CXX" c++; else skip 3 'no C++ compiler'; fi
if [ -n "$CLANG" ]; then
	macro "$CLANG, C" "$CLANG" c
	macro "$CLANG, C++" "$CLANG" c++
else
	skip 6 'no clang'
fi

# Eight threads, and a signal handler in each.
made api_threads "$static"
expected() {
	i=0
	while [ $i -lt 8 ]; do
		echo "source $i events $1"
		i=$((i + 1))
	done
	printf '%s\n' "$out" | awk '$1 == "handled" && $3 { print "source", $2, "events 0-" $3 - 1 }' | sort -k2n
}
record d -l libcounted.so ./api_threads threads
is "$(printf '%s\n' "$out" | tail -n 1)$err" 'all were taken' 'eight threads and their handlers: every event is taken'
ok 'eight threads and their handlers: handlers came in between' test \
	"$(printf '%s\n' "$out" | awk '$1 == "handled" { n += $3 } END { print n + 0 }')" -gt 20
./api_read d/p* >events
is "$(expected 0-5999 | diff - events)" '' \
	'eight threads and their handlers: all are in the trace, byte for byte and in order'
report d
is "$(sums)" '0 lost 0 unfinished' 'eight threads and their handlers: nothing is lost, and report reads the trace'

# The last events of a flight recorder are complete; after 4096 numbers the bytes repeat.
record d -l libcounted.so --mode=ring --ring=256k ./api_threads threads
is "$(printf '%s\n' "$out" | tail -n 1)$err" 'all were taken' 'flight recorder: every event is taken'
./api_read d/p* >events
is "$(grep -c wrong events)" 0 'flight recorder: no event is torn, mixed up or left out'
is "$(awk '$1 == "source" && $2 < 8 && $4 ~ /-1903$/' events | wc -l)" 8 \
	'flight recorder: the last event of each thread is there'
ok 'flight recorder: it has lost the oldest' test "$(awk '$2 < 8 && $4 !~ /^0-/' events | wc -l)" -eq 8

# Forked children know the types.
record d -l libcounted.so ./api_threads forks
child=$(printf '%s\n' "$out" | sed -n 's/^child \([0-9]*\) status 0$/\1/p')
ok 'fork: the child gets the same number for the same name' test -n "$child"
is "$(./api_read -p -P "$child" d/p* | sort | tr '\n' ';')" \
	'event 16 5 child;event 17 3 new;type 16 from the parent;type 17 from the child;' \
	"fork: the child has its own events and all names"
parent=$(basename d/p* | tr -d p)
is "$(./api_read -p -P "$parent" d/p* | sort | tr '\n' ';')" \
	'event 16 12 parent again;event 16 6 parent;type 16 from the parent;' \
	"fork: the parent's has its own"

# A plugin with a copy of its own, loaded three times; the program has another copy.
library "$CC" plugin.so api_parts.c $include -DPART_PLUGIN "$static"
record d -l libcounted.so ./api_threads plugin ./plugin.so
is "$(printf '%s\n' "$out" | tr '\n' ';')$err" 'plugin 0;plugin 0;plugin 0;program 0;' \
	'a plugin with a static copy: its events are taken, and those of the program'
is "$(./api_read -p d/p* | sort | uniq -c | tr -s ' ' | tr '\n' ';')" \
	' 3 event 0 15 from the plugin; 1 event 0 16 from the program;' \
	'a plugin with a static copy: they are in the trace'
is "$(bounded 60 ./api_threads plugin ./plugin.so | tr '\n' ';')" 'plugin -38;plugin -38;plugin -38;program -38;' \
	'a plugin with a static copy: without the module, ENOSYS'

# Libraries of other versions than the module.
$CC -O2 -Wall -Wextra -Werror $include -DPART_NEWER -o newer "$beside/api_parts.c" || bail 'newer does not compile'
record d -l nothing.so ./newer
is "$out" 'missing 0 behind 0 others 0' \
	'a newer library gets what the module knows, and nothing is written where a note does not fit'

has_turned() {
	test "$(grep -c '^event' turns)" -eq "$1"
}
# Recording that is stopped and started from outside.
bounded 60 "$XAUDIT" record -o d2 -l libcounted.so ./api_threads turns 5 >turns 2>err &
ok 'stopped from outside: it runs' wait_until 60 grep -q '^event' turns
pid=$(sed -n 's/^pid //p' turns)
for step in 2:stop 3:start '4:mode count' '5:mode ring'; do
	bounded 60 "$XAUDIT" ctl "$pid" ${step#*:} >ctl.out 2>&1
	ok "${step#*:}: its events' fate changes" wait_until 60 has_turned "${step%%:*}"
done
wait
is "$(grep event turns | tr '\n' ';')" \
	'event 0 mode 0 recording 1;event -125 mode 0 recording 0;event 0 mode 0 recording 1;event -125 mode 2 '\
'recording 1;event 0 mode 1 recording 1;' \
	'each change is told rightly by event and status'

# Where nothing is recorded.
record d -l libcounted.so --mode=count ./api_threads plugin ./plugin.so
is "$(printf '%s\n' "$out" | tail -n 1)" 'program -125' 'mode count: an event is refused'
echo x >file
bounded 60 env LD_AUDIT="$MODULE" XAUDIT_RULES="[trace]
output = $tmp/file/d
[library libcounted.so]" ./api_threads plugin ./plugin.so >out 2>err
is "$(tail -n 1 out)" 'program -125' 'no folder can be made: an event is refused'
bounded 60 "$XAUDIT" check -- ./api_threads plugin ./plugin.so >out 2>err
is "$(grep -c '^program -38$' out)" 1 'under xaudit check: as without the module'
# The program's own events make a trace, whatever is selected.
bounded 60 env LD_AUDIT="$MODULE" XAUDIT_RULES="[trace]
output = $tmp/own
[library nothing.so]" ./api_threads plugin ./plugin.so >out 2>err
is "$(./api_read -p own/p* | grep -c '^event')/$(cat err)" 4/ 'nothing is selected: the events make a trace'
done_testing
