#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit trace: the lines of calls and of processes, their order, exit statuses, and what each option does.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
unset XAUDIT_CONFIG XAUDIT_RULES
program "$CC" calls calls.c -O0 -fno-builtin
mkdir where
TMPDIR=$tmp/where
export TMPDIR

# trace ARG...: sets $status, $out, $err, and $calls: of $err the lines that are about no words of the command line, of
# which `calls` compares all with strcmp().
trace() {
	status=0
	bounded 60 "$XAUDIT" trace "$@" >"$tmp/.out" 2>"$tmp/.err" </dev/null 3<&- 4<&- 5<&- || status=$?
	out=$(cat "$tmp/.out")
	err=$(cat "$tmp/.err")
	calls=$(grep -v 'strcmp("[a-z]*", "[a-z]\{3,\}")' "$tmp/.err")
}
# Threads, and addresses, have names: P1 is the first one that is met, A any.
named() {
	awk '{
		gsub(/0x[0-9a-f]+/, "A")
		line[NR] = $0
		if (match($0, /^(\[pid +)?[0-9]+/)) {
			pid = substr($0, RSTART, RLENGTH)
			gsub(/[^0-9]/, "", pid)
			if (!(pid in name))
				name[pid] = "P" ++pids
		}
	}
	END {
		for (i = 1; i <= NR; i++) {
			for (pid in name)
				gsub(pid, name[pid], line[i])
			if (line[i] ~ /^P/)
				sub(/  +/, " ", line[i])
			print line[i]
		}
	}'
}

# ---- lines ----

trace ./calls text 'a "text"' 8
is "$status/$out" '0/' 'the status is that of the command'
is "$calls" 'strlen("a \"text\"") = 8
strtoul("8", NULL, 10) = 8
+++ exited with 0 +++' 'a line has the call, with arguments and result, and the last one how the process ended'
is "$err" 'strcmp("text", "open") = 5
strcmp("text", "many") = 7
strcmp("text", "nested") = 6
strcmp("text", "threads") = -3
strcmp("text", "busy") = 18
strcmp("text", "children") = 17
strcmp("text", "exit") = 15
strcmp("text", "kill") = 9
strcmp("text", "text") = 0
'"$calls" 'and all calls have one, in their order'
is "$(ls -A where)" '' 'nothing is left in TMPDIR'
is "$(ls -A | grep -c xaudit)" 0 'or where the command ran'

trace ./calls nested
is "$(echo "$calls" | named)" 'strcmp("b", "a") = 1
qsort(A, 2, 8, A)
strlen("a") = 1
+++ exited with 0 +++' 'a call in another one ends before it'
trace -n ./calls nested
is "$(echo "$calls" | named)" 'qsort(A, 2, 8, A <unfinished ...>
  strcmp("b", "a") = 1
<... qsort resumed>)
strlen("a") = 1
+++ exited with 0 +++' '-n: it has a line where the other one begins, and is indented'
trace -n -e qsort,bsearch,strcmp,atoi --context='bsearch:if=ret != 0' ./calls missing
# The files of ltrace, where it is installed, say that bsearch looks for a text.
is "$(echo "$calls" | sed 's/bsearch("a"/bsearch(0x1/' | named)" 'qsort(A, 2, 8, A <unfinished ...>
  bsearch(A, A, 1, 8, A <unfinished ...>
    strcmp("a", "b") = -1
  atoi("1") = 1
<... qsort resumed>)
atoi("3") = 3
+++ exited with 3 +++' 'what comes behind a call that is left out in the end is not in it' || diag "$err"

mkdir files
for i in 0 1 2 3 4 5; do echo "file $i" >"files/file$i"; done
trace -e open,openat ./calls open files 6
is "$err" 'openat(AT_FDCWD, "files/file0", O_RDONLY) = 3
open("files/file1", O_RDONLY|O_CLOEXEC) = 3
openat(AT_FDCWD, "files/file2.no", O_RDONLY) = -1 ENOENT (No such file or directory)
open("files/file3", O_RDONLY|O_CLOEXEC) = 3
openat(AT_FDCWD, "files/file4", O_RDONLY) = 3
open("files/file5.no", O_RDONLY|O_CLOEXEC) = -1 ENOENT (No such file or directory)
+++ exited with 0 +++' '-e: these functions alone; behind -1 is the error'

# ---- processes ----

trace ./calls exit 5
is "$status $calls" '5 atoi("5") = 5
exit(5) = ?
+++ exited with 5 +++' 'a call that does not return has = ?'
trace ./calls kill 15
is "$status $(echo "$calls" | grep -v '^Terminated' | tail -n 2)" '143 raise(SIGTERM) = ?
+++ killed by SIGTERM +++' 'a signal that kills the command kills us'
trace ./calls kill 11
is "$status $(echo "$calls" | sed -n 's/ (core dumped) +++/ +++/; /^+++/p')" \
	'139 +++ killed by SIGSEGV +++' 'so does a crash'
trace -o lines ./calls children
is "$status/$err" '5/' '-o: nothing on stderr'
# A child may run before fork() has returned in its parent.
is "$(named <lines | sed -E '/strcmp|fork|exited/d; s/waitpid\((P.), .*, 0\)/waitpid(\1)/')" 'P2 atoi("11") = 11
P2 _exit(40) = ?
P1 waitpid(P2) = P2
P3 atoi("11") = 11
P3 _exit(41) = ?
P1 waitpid(P3) = P3
P4 atoi("11") = 11
P4 _exit(42) = ?
P1 waitpid(P4) = P4
P1 atoi("5") = 5' 'children are traced; all lines are in the order of time' || diag "$(cat lines)"
is "$(named <lines | grep fork)" 'P1 fork() = P2
P1 fork() = P3
P1 fork() = P4' 'so are those that made them'
is "$(named <lines | grep exited | sort)" 'P1 +++ exited with 5 +++
P2 +++ exited with 40 +++
P3 +++ exited with 41 +++
P4 +++ exited with 42 +++' 'and each of them ends'
is "$(named <lines | tail -n 1)" 'P1 +++ exited with 5 +++' 'the command last'
trace ./calls children
like "$err" '^\[pid +[0-9]+\] atoi\("11"\) = 11$' 'on stderr, lines tell the process when there are several'

trace -e strlen,atoi -o lines ./calls threads
is "$status $(grep -c 'strlen("four") = 4' lines) $(grep -c 'atoi("7") = 7' lines)" '0 3 3' 'threads are traced'
is "$(grep four lines | cut -d' ' -f1 | sort -u | wc -l)" 3 'each under its own number'

# Their records have several chunks each, which change their places while they are read.
trace -o lines ./calls busy 20000
is "$status $(grep -c 'atoi("5") = 5$' lines) $(grep -c 'not recorded' lines)" '0 320000 0' \
	'of threads that call much, each call has a line'
is "$(grep 'atoi("5")' lines | cut -d' ' -f1 | sort | uniq -c | awk '{ print $1 }' | sort | uniq -c | tr -s ' ')" \
	' 16 20000' 'as many for each'

# Entries are recorded before it is known whether their calls count: they are taken back, also after they were read.
for which in '--context=atoi:if=ret>7' '--time=10us'; do
	trace "$which" --keep=kept -o lines ./calls busy 40000
	report kept
	is "$status $(grep -c 'atoi(.*) = [0-9]*$' lines) $(grep -c atoi lines)" "0 $(calls atoi) $(calls atoi)" \
		"$which: each call that is recorded has a line, and no other"
	rm -rf kept
done

trace -o lines ./calls daemon
is "$status" 3 'of a daemon, the status of its parent'
is "$(named <lines | grep -v -e strcmp -e fork)" 'P1 +++ exited with 3 +++
P2 usleep(300000) = 0
P2 atoi("9") = 9
P2 _exit(9) = ?
P2 +++ exited with 9 +++' 'its lines go on until it ends' || diag "$(cat lines)"

trace -e atoi -o lines sh -c './calls exit 3; exec ./calls exit 4'
is "$status $(sed -n 's/^[0-9]* *//; /^atoi/p' lines) $(sed -n 's/^[0-9]* *//; /^+++/p' lines | sort)" \
	'4 atoi("3") = 3
atoi("4") = 4 +++ exited +++
+++ exited with 4 +++' 'programs that are executed are traced' || diag "$(cat lines)"

trace nonexist-command
is "$status $err" "127 xaudit trace: nonexist-command is in no folder of PATH" 'a command that is not there'
trace ./files/file0
is "$status $err" "126 xaudit trace: ./files/file0 can't be executed: Permission denied" 'one that is no program'
is "$(ls -A where)" '' 'nothing is left of these in TMPDIR'
TMPDIR=$tmp/nowhere trace true
is "$status $(echo "$err" | sed "s|$tmp||; s/X*[A-Za-z0-9]* for/ for/")" \
	"125 xaudit trace: the folder /nowhere/xaudit-trace. for the trace can't be made: No such file or directory; \
TMPDIR names another place" 'a TMPDIR that is not there'

# ---- options ----

trace -q ./calls exit 0
unlike "$err" '\+\+\+' '-q: no lines about processes'
trace -Z -e open,openat ./calls open files 6
is "$(echo "$err" | grep -c ENOENT) $(echo "$err" | wc -l)" '2 3' '-Z: calls that failed'
trace -z -e open,openat ./calls open files 6
is "$(echo "$err" | grep -c ' = 3$') $(echo "$err" | wc -l)" '4 5' '-z: those that did not'
trace -s 3 -e strlen ./calls text abcdefgh 8
is "$(echo "$err" | head -n 1)" 'strlen("abc"...) = 8' '-s: so much of a text'
trace -s 8 -e strlen ./calls text abcdefgh 8
is "$(echo "$err" | head -n 1)" 'strlen("abcdefgh") = 8' 'a text of just that length is whole'
trace -y -e open,openat,read,close ./calls open files 2
is "$(echo "$err" | sed -nE "s,$tmp/,,; s/^(read|close)\(([^,)]*).*/\1 \2/p")" 'read 3<files/file0>
close 3<files/file0>
read 3<files/file1>
close 3<files/file1>' '-y: what descriptors are' ||
	diag "$err"
trace -T -e usleep -q sh -c './calls daemon; exit 0'
like "$err" '^(\[pid +[0-9]+\] )?usleep\(300000\) = 0 <0\.[34][0-9]{5}>$' '-T: how long a call took'
trace -t -e strlen -q ./calls text x 1
like "$err" '^[0-2][0-9]:[0-5][0-9]:[0-6][0-9] strlen' '-t: the time of day'
trace -tt -e strlen -q ./calls text x 1
like "$err" '^[0-2][0-9]:[0-5][0-9]:[0-6][0-9]\.[0-9]{6} strlen' '-tt: with microseconds'
begin=$(date +%s)
trace -ttt -e strlen -q ./calls text x 1
at=$(echo "$err" | sed -nE 's/^([0-9]+)\.[0-9]{6} strlen.*/\1/p')
ok '-ttt: in seconds since 1970' test "$at" -ge "$begin" -a "$at" -le "$(date +%s)"
trace -r -e usleep,atoi -q ./calls daemon
like "$err" '^(\[pid +[0-9]+\] )? 0\.[34][0-9]{5} atoi\("9"\) = 9$' '-r: how long after the line before'
trace -c ./calls many 1000
is "$(echo "$err" | awk '/strlen/ { print $4, $5 }')" '1000 strlen' '-c: a table'
is "$(echo "$err" | sed -n '1p;$p' | tr -s ' ' | sed 's/[0-9.]* [0-9]* \([0-9]* total\)/T \1/')" \
	'% time seconds usecs/call calls errors function
100.00 T 1004 total' 'with the sums' || diag "$err"
is "$(echo "$err" | grep -c '(')" 0 'and no calls'
trace -c -e open ./calls open files 6
is "$(echo "$err" | awk '$6 == "open" { print $4, $5 }')" '3 1' 'it has the calls that failed'
trace -C -e strlen -q ./calls many 5
is "$(echo "$err" | grep -c 'strlen("many") = 4') $(echo "$err" | awk '$5 == "strlen" { print $4 }')" '5 5' \
	'-C: calls, and the table'
trace -c -e strlen --probe at=main@calls ./calls many 5
is "$(echo "$err" | sed -n '/total/,$p' | sed 1d)" '
   events probe
--------- ----------------
        1 at' 'probes have a table of their own'
trace -q --probe main@calls --then 'snapshot once' ./calls many 1
left=$(printf '%s\n' "$err" | sed -n 's/.* asked for a snapshot, which is in \(.*\)\/trace.snapshot.1$/\1/p')
is "$(printf '%s\n' "$err" | sed 1,2d)/$(ls "$left")" "xaudit trace: the folder $left stays, since it holds more than \
the trace, such as snapshots; remove it when you have read them/trace.snapshot.1" \
	'of a trace that is removed the snapshots stay'
case $left in "${TMPDIR:-/tmp}"/xaudit-trace.*) rm -rf "$left" ;; esac
trace -q --probe nowhere ./calls many 1
is "$err" "xaudit trace: nothing that was loaded has the place of probe 'nowhere'; or it can't have a probe, as \
\`xaudit info\` of what --keep keeps tells; \`xaudit list FILE\` shows what a file has" \
	'where the trace is removed, its reader is told how to keep it'
trace -e '!strcmp,strlen' ./calls nested
is "$(echo "$err" | sed 's/(.*//')" 'qsort
+++ exited with 0 +++' '-e !: without these'
trace -e trace=strlen ./calls nested
is "$err" 'strlen("a") = 1
+++ exited with 0 +++' 'trace= may stand in front'
trace -l 'libc.so*' -F strlen --notrace=strcmp ./calls nested
is "$(echo "$err" | grep -c 'strlen("a") = 1')" 1 '-l, -F and words of record are taken' || diag "$err"
trace --command="./calls text 'a b' 3" -e strlen -q
is "$err" 'strlen("a b") = 3' '--command: words as a shell separates them'
trace --keep=kept -e strlen -q ./calls nested
is "$err/$("$XAUDIT" replay kept | grep -c strlen)" 'strlen("a") = 1/1' '--keep: the trace is there afterwards'
mkdir full
echo >full/file
trace --keep=full true
is "$status $err" "125 xaudit trace: $tmp/full exists and is no trace, so it stays untouched; name another one with \
--keep" \
	'what is wrong with its folder names this option'
trace --context='f:if=arg1' true
is "$status $err" "125 xaudit: trace: --context f:if=arg1: a condition is as in arg1 > 100, not 'arg1'" \
	'so does what is wrong with values'
trace --args=strlen ./calls nested
is "$(echo "$err" | grep -v '+++' | sort | uniq -c | tr -s ' ')" ' 1 qsort()
 4 strcmp()
 1 strlen("a")' '--args: the arguments of these alone' || diag "$err"
trace --no-values ./calls nested
unlike "$err" '\([^)]' '--no-values: only names'
trace -f -e strlen -q ./calls nested
is "$err" 'strlen("a") = 1' '-f changes nothing'

# ---- a process that runs ----

printf '[library *]\nkinds = entry\nfunctions = usleep _exit\n[context *]\ncontext = args, retval\n' >run.conf
"$XAUDIT" record --config=run.conf -o running ./calls wait >pid 2>/dev/null &
recorder=$!
for i in $(seq 500); do
	[ ! -s pid ] || break
	sleep 0.01
done
trace -p "$(cat pid)"
wait "$recorder"
is "$status $(echo "$calls" | sed s/_Exit/_exit/)" '0 usleep(1000000) = 0
_exit(9) = ?
+++ exited with 9 +++' '-p: what a process does from now on' || diag "$err"
sleep 60 &
trace -p $!
is "$status $(echo "$err" | sed "s/$!/N/")" \
	'125 xaudit trace: process N records nothing; `xaudit record` starts one that does' \
	'one that was not started so is refused, with what starts it'
kill $!
done_testing
