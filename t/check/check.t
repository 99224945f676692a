#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit check: each mistake of a plugin host is reported, with the names of its functions, and a correct host gets no
# reports.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
need "${CXX%% *}"
. "$top_srcdir/t/lib/checked.sh"
library "$CC" user.so check_user.c -L. -l:plugin.so
library "$CC" bound.so check_user.c
library "$CXX" unique.so check_unique.cc -std=c++17 -DUNIQUE
library "$CXX" local.so check_unique.cc -std=c++17

kinds() {
	ask '[.findings[].kind] | join(" ")'
}
# Only findings with the severity error change the status.
severity() {
	ask '[.findings[].severity] | join(" ")'
}
# stack N: functions on stack N of the first finding.
stack() {
	ask --argjson n "$1" '.findings[0].stacks[$n].frames | map(.function // "?") | join(" ")'
}

# ---- mistakes ----

check -- ./host inside ./plugin.so
is "$status $(kinds)" '1 thread-inside' 'a thread that sleeps in a plugin at dlclose is found, and the status is 1'
like "$(stack 0)" ' plugin_wait call_wait ' 'its stack shows who is inside'
like "$(stack 1)" '^close_plugin .*_start$' 'the other stack shows who unloads, without the way through dlclose'
is "$(ask '.findings[0].stacks[0].frames[] | select(.function == "plugin_wait") | .file | split("/") | last')" \
	check_plugin.c \
	'debug information gives the source file'

check -- ./host inside-handler ./plugin.so
is "$status $(kinds)" '1 thread-inside' 'it is found too when it is in a signal handler, on a stack of its own'
like "$(stack 0)" 'sleep_in_handler .* plugin_wait call_wait ' 'the stack leads from one to the other'
check -- ./host close-inside ./plugin.so
is "$status $(kinds)" '139 thread-inside late-call' 'a plugin that closes itself is found, and so is the return into it'
is "$(ask '.findings[].text')" 'plugin.so is unloaded by a thread that is inside it, in plugin_close
return into plugin_close of plugin.so' 'both say where'

check -- ./host late ./plugin.so
is "$status $(kinds)" '139 late-call' \
	'a callback that is called after dlclose is found, and the program dies of SIGSEGV'
is "$(ask '.findings[0].text')" 'call into plugin_callback of plugin.so' \
	'the called function is named'
like "$(ask '.findings[0].more')" '^unloaded [0-9]+ ms ago by close_plugin \(check_host\.c:[0-9]+\)$' \
	'it says when and by whom it was unloaded'
like "$(stack 0)" '^plugin_callback call_too_late ' 'the stack shows who calls'
like "$(stack 1)" '^close_plugin ' 'and who unloaded'

check -- ./host late-fork ./plugin.so
is "$status $(kinds)" '1 late-call' 'a late call in a forked child is found'
check -- ./host namespace ./plugin.so
is "$status $(kinds) $(ask '.notes | length')" '139 late-call 0' 'a late call into a namespace of its own is found'
check -- ./host access ./plugin.so
is "$status $(kinds) $(ask '.findings[0].text')" '139 late-access use of plugin_number of plugin.so' \
	'a use of data after dlclose is found'

cp plugin.so stripped.so
cp host stripped
strip stripped.so stripped
bounded 60 env DEBUGINFOD_URLS="file://$tmp/server/" DEBUGINFOD_CACHE_PATH="$tmp/asked" HOME="$tmp" \
	"$XAUDIT" check ./stripped inside ./stripped.so >out 2>err
is "$? $(grep -c '^xaudit check: thread-inside: .* in plugin_wait$' err)" '1 1' \
	'a thread is found in a stripped library'
ok 'no server is asked for its debug file' test ! -e asked
like "$(cat err)" '    #0  stripped\+0x[0-9a-f]+$' 'frames without a name are said by their address in the file'

if [ -n "$CLANG" ]; then
	program "$CLANG" clang_host check_host.c
	check -- ./clang_host inside ./plugin.so
	is "$(ask '[.findings[].stacks[].frames[] | select(.object | endswith("/clang_host")) | .line] |
		"\(all(. != 0)) \(any(. != null))"')" \
		'true true' 'code of no line that clang made is given the line before it'
fi

check -- ./host handler ./plugin.so
is "$status $(kinds)" '1 signal-handler' 'a signal handler that is left behind is found'
is "$(ask '.findings[0].text')" 'the handler of SIGUSR1 is plugin_on_signal of plugin.so, which is unloaded' \
	'signal and function are named'

check -- ./host atexit ./plugin.so
is "$status $(kinds) $(ask '.findings[0].text' | grep -o plugin_callback)" '1 atexit plugin_callback' \
	'a function for exit that is left behind is found'
check -- ./host key ./plugin.so
is "$status $(kinds) $(ask '.findings[0].text' | grep -o plugin_destroy)" '1 key-destructor plugin_destroy' \
	'a destructor of a key that is left behind is found'

check -- ./host many ./plugin.so
is "$status $(ask '.findings[].text')" '1 a function given to on_exit is plugin_destroy of plugin.so, which is unloaded
a function to be called at exit is plugin_callback of plugin.so, which is unloaded' \
	'functions for exit are found amid 238 others'
is "$(ask '.findings[1].details[]')" 'given to libc by host' 'it says who gave them to libc'
check -- ./host circle-many ./plugin.so
is "$status $(ask '.findings[].text' | cut -d ' ' -f 1-6)" '1 a function given to on_exit is
a function to be called at' 'so they are after unloads that were in order'
check -- ./host namespace-exit ./plugin.so
is "$status $(ask '.findings[].text')" '1 a function given to on_exit is plugin_destroy of plugin.so, which is '\
'unloaded' \
	'so they are in the C library of a namespace that came later'
check -- ./host quick ./plugin.so
is "$status $(ask '.findings[].text')" \
	'1 a function to be called at quick_exit is plugin_callback of plugin.so, which is unloaded' \
		'so are those for quick_exit'
for others in 0 7 48 100; do
	check -- ./host atfork ./plugin.so $others
	is "$status $(kinds): $(ask '.findings[].text')" \
		'1 atfork: a function to be called after fork in the parent is plugin_callback of plugin.so, which is '\
'unloaded' \
		"a function for fork that is left behind is found beside $others others"
done

# --scan must not report them twice.
for option in '' --scan; do
	check $option -- ./host thread-atexit ./plugin.so
	is "$status $(kinds): $(ask '.findings[] | "\(.times) \(.text)"')" \
		"1 thread-atexit: 1 a function to be called at a thread's end is plugin_destroy of plugin.so, which is \
unloaded" \
		"a function for the end of a thread is found once ${option:-without --scan}"
done
is "$(ask '.findings[0] | .details[] | sub("thread [0-9]+"; "thread N")')" \
	'at the end of thread N, given to libc for the program' 'it says for whom it was given to libc'
check -- ./host thread-atexit-other ./plugin.so
is "$status $(kinds) $(ask '.findings[0].thread == .findings[0].process')" '1 thread-atexit false' \
	'it is found too in another thread, between others'

# ---- libraries that stay ----

reasons() {
	ask '.findings[0].details | join("; ")'
}
check -- ./host stay ./unique.so
is "$status $(severity) $(kinds)" '1 error stayed' 'a library that stays because of a unique symbol is found'
is "$(reasons)" 'because it defines the unique symbol unique::shared_between_all' 'the symbol is named'
for flags in -DCLOSE_BY_PLT '-DCLOSE_BY_PLT -Wl,-z,now' '-fno-plt -Wl,-z,relro,-z,now'; do
	program "$CC" other check_host.c $flags
	check -- ./other stay ./unique.so
	is "$status $(kinds)" '1 stayed' "also in a program built with $flags"
done
check -- ./host stay ./local.so
is "$status $(severity) $(kinds): $(reasons)" \
	'1 error stayed: because 1 destructor of its thread_local objects must still run' \
	'a destructor of a thread_local object is the reason'
check -- ./host stay ./nodelete.so
is "$status $(severity) $(kinds): $(reasons)" '0 note stayed: because it is marked NODELETE (-z nodelete)' \
	'a mark in the library is the reason: a note, which leaves the status alone'
check -- ./host exit ./nodelete.so 7
is "$status $(severity) $(kinds)" '7 note stayed' 'beside a note, the status is the command'"'"'s'
check -- ./host stay-flag ./plugin.so
is "$status $(severity) $(kinds): $(reasons)" \
	'0 note stayed: because it was opened with RTLD_NODELETE, or one that was needs it' 'so is RTLD_NODELETE'
check -- ./host bound ./bound.so ./plugin.so
is "$status $(severity) $(kinds): $(reasons)" \
	'0 note stayed: because bound.so is bound to its symbol plugin_call' \
		'so is another library that is bound to a symbol of it'
check -- ./host bound ./bound.so ./local.so
is "$status $(severity) $(kinds)" '1 error stayed' 'one with destructors to run, too, is no note'
bounded 60 "$XAUDIT" check -- \
	sh -c './host stay ./nodelete.so; ./host stay ./nodelete.so; ./host handler ./plugin.so' >out 2>err
is "$? $(grep '^xaudit check: ' err)" \
	'1 xaudit check: note: stayed: nodelete.so was closed for the last time, but it stays
xaudit check: signal-handler: the handler of SIGUSR1 is plugin_on_signal of plugin.so, which is unloaded
xaudit check: 2 times: note: stayed: nodelete.so was closed for the last time, but it stays
xaudit check: 1 finding, 1 note; 1 unload in 4 processes checked' 'the text tells notes apart, and counts them'
check -- ./host needed ./user.so ./plugin.so
is "$status $(severity) $(kinds): $(reasons)" '0 note stayed: because user.so still needs it' \
	'another library that needs it to the end is the reason, and a note'
check -- ./host needed-too ./user.so ./plugin.so
is "$status $(kinds)" '0 ' 'when the other library goes too, nothing is said'

# ---- options ----

check --scan -- ./host pointer ./plugin.so
is "$status $(severity) $(kinds) $(ask '.findings[0].possible')" '0 note pointer true' \
	'--scan finds a pointer on the heap, as a possible one that does not change the status'
like "$(ask '.findings[0].details[]')" ' points to plugin_callback$' 'the function that it points to is named'
check --scan -- ./host pointers ./plugin.so
like "$(ask '.findings[0].details | sort | join("; ")')" \
	'^0x[0-9a-f]+040 in anonymous memory points to plugin_callback; callback of host points to plugin_callback$' \
	'a variable is named; memory that lies right behind those of the program is not taken for one'
# What is in order, in the memory that --scan searches.
cat >own.c <<'END'
#include <pthread.h>
#include <stdlib.h>

static void at_exit(void)
{
}

static void *run(void *argument)
{
	return argument;
}

__attribute__((constructor)) static void begin(void)
{
	pthread_t thread;

	atexit(at_exit);
	if (!pthread_create(&thread, NULL, run, NULL))
		pthread_join(thread, NULL);
}
END
cat >opens.c <<'END'
#include <dlfcn.h>

int main(int argc, char **argv)
{
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : 0;

	return !library || dlclose(library);
}
END
if "$CC" -g -pthread -shared -fPIC -o own.so own.c && "$CC" -g -o opens opens.c; then
	check --scan -- ./opens ./own.so
	is "$status $(kinds): $(ask '.findings[].details[]')" '0 : ' \
		"--scan takes neither a library's own function for exit(), which ran, for one for a thread's end, nor "\
"the stack of a thread that was joined for a pointer"
else
	skip 1 'no library with a thread'
fi
check -- ./host pointer ./plugin.so
is "$status $(kinds)" '0 ' 'without --scan it is not searched'

check --cycles -- ./host leak ./plugin.so 40
is "$status $(kinds)" '1 growth' '--cycles finds memory that each cycle leaves behind'
like "$(ask '.findings[0].more')" '^[0-9]+ bytes in each of [0-9]+ cycles$' 'what each of them leaves is told'
bytes=$(ask '.findings[0].more' | sed 's/ .*//')
ok "and its size, 64 KiB and malloc's own, is about right: $bytes" test "${bytes:-0}" -gt 60000 -a \
	"${bytes:-0}" -lt 75000
check --cycles -- ./host cycle ./plugin.so 40
is "$status $(kinds) $(ask '.unloads')" '0  40' 'without a leak there is nothing to report'
check -- ./host leak ./plugin.so 40
is "$status $(kinds)" '0 ' 'without --cycles a leak is not looked for'

check --error-exitcode=42 -- ./host handler ./plugin.so
is "$status" 42 '--error-exitcode is the status when something was found'
check --error-exitcode=0 -- ./host handler ./plugin.so
is "$status $(kinds)" '0 signal-handler' 'with 0, it is the status of the command'
check --error-exitcode=42 -- ./host exit ./plugin.so 7
is "$status $(kinds)" '7 ' 'when nothing was found, it is the status of the command'
for bad in --error-exitcode=256 --error-exitcode=-1 --error-exitcode=x --format=xml; do
	bounded 60 "$XAUDIT" check "$bad" true >out 2>err
	is "$? $(wc -l <err)" '125 1' "$bad is refused in one line"
done

# ---- the command ----

bounded 60 "$XAUDIT" check no-such-command-anywhere 2>err
is "$? $(cat err)" '127 xaudit check: no-such-command-anywhere is in no folder of PATH' \
	'a command that is not there gives 127'
echo nothing >plain
bounded 60 "$XAUDIT" check ./plain 2>err
is "$? $(wc -l <err)" '126 1' 'one that cannot be executed gives 126'
bounded 60 "$XAUDIT" check -o no/such/folder true 2>err
is "$? $(wc -l <err)" '125 1' 'a report that cannot be written gives 125, and the command does not run'
"$XAUDIT" check -o /dev/full true 2>err
is "$? $(cat err)" "125 xaudit check: /dev/full can't be written: No space left on device" 'one that is cut short, too'

check -- ./host trap ./plugin.so
is "$status $(kinds) $(ask .unloads)" '0  1' 'SIGTRAP stays blocked and ignored where it was'
check -- ./host leader ./plugin.so
is "$status $(kinds) $(ask .unloads)" '3  5' 'a program whose first thread has ended is checked'
check -- sh -c './host correct ./plugin.so 100 & sleep 0.3; kill -STOP $!; sleep 0.2; kill -CONT $!; wait $!; exit $?'
is "$status $(kinds) $(ask .unloads)" '0  125' 'a program can be stopped and continued'
check -- sh -c 'kill -TERM $$'
is "$status $(kinds)" '143 ' 'the death by a signal is passed on'
echo text | bounded 60 "$XAUDIT" check cat >out 2>err
is "$(cat out)" text 'input and output are those of the command'
is "$(cat err)" 'xaudit check: 0 findings; 0 unloads in 1 process checked' \
	'the report is one line when nothing was found'

check -- sh -c './host handler ./plugin.so; ./host handler ./plugin.so; exit 0'
is "$status $(kinds) $(ask '.findings[0].times') $(ask .processes)" '1 signal-handler 2 3' \
	'what the command starts is checked too; the same mistake is told once, and counted'
bounded 60 "$XAUDIT" check ./host handler ./plugin.so >out 2>err
is "$? $(grep -c '^xaudit check: ' err)" '1 2' 'the text has a line for each finding and one for all'
like "$(cat err)" '    #0  close_plugin at .*check_host\.c:[0-9]+ in host$' 'and its stacks have lines of source'
like "$(cat err)" '    #[0-9]+ +_start in host$' 'where there are any: start files have none'
bounded 60 "$XAUDIT" check ./host late ./plugin.so >out 2>err
like "$(grep late-call err)" \
	'late-call: call into plugin_callback of plugin\.so, unloaded [0-9]+ ms ago by close_plugin '\
'\(check_host\.c:[0-9]+\)$' \
	'a late call is told in one sentence'

# Debug files are named by files, and may be anything.
mkdir linked
for file in host plugin.so; do
	echo "$file" >"linked/$file.debug"
	objcopy --strip-debug --remove-section=.note.gnu.build-id --add-gnu-debuglink="linked/$file.debug" \
		"$file" "linked/$file" || bail 'no debuglink'
	rm "linked/$file.debug"
	mkfifo "linked/$file.debug" || bail 'no FIFO'
done
check -- linked/host inside "$tmp/linked/plugin.so"
is "$status $(kinds)" '1 thread-inside' 'FIFOs in the place of debug files are not waited for'

# The name of a source file may be anything that the builder of the program chose.
{
	printf '#line 1 "evil\033[31m\302\2331m.c"\n'
	cat "$beside/check_host.c"
} >evil.c
"${CC%% *}" -O2 -g -pthread -o evil evil.c -ldl || bail 'evil.c does not compile'
bounded 60 "$XAUDIT" check ./evil late ./plugin.so >out 2>err
like "$(grep late-call err)" ' by close_plugin \(evil\?\[31m\?1m\.c:[0-9]+\)$' \
	'no name of a source file steers the terminal'

# LeakSanitizer ends a program with 23, AddressSanitizer's leak check with 1, when it finds a leak, or a tracer.
printf '%s\n' '#include <stdlib.h>' \
	'int main(void) { void *volatile p = malloc(10); p = NULL; return p ? 1 : 5; }' >leaky.c
for sanitizer in address leak; do
	if ! "${CC%% *}" -fsanitize=$sanitizer -o leaky leaky.c 2>err ||
		[ "$(bounded 60 ./leaky >out 2>&1; echo $?)" -eq 5 ]; then
		skip 4 "-fsanitize=$sanitizer finds no leaks here"
		continue
	fi
	check -- ./leaky
	is "$status $(kinds)" '5 ' "a program with -fsanitize=$sanitizer has its own status"
	for mine in LSAN_OPTIONS=exitcode=7 ASAN_OPTIONS=exitcode=7; do
		status=0
		bounded 60 env "$mine" "$XAUDIT" check -o report -- sh -c \
			'./leaky; echo $? $LSAN_OPTIONS $ASAN_OPTIONS' >out 2>err || status=$?
		like "$status $(cat out)" '^0 5 (exitcode=7:detect_leaks=0|detect_leaks=0 exitcode=7)$' \
			"also with $mine"
	done
	bounded 60 env LSAN_OPTIONS=log_threads=0,detect_leaks=1 "$XAUDIT" check -o report -- sh -c \
		'echo $LSAN_OPTIONS' >out 2>err
	is "$(cat out)" 'log_threads=0,detect_leaks=1' 'who wants it, gets what it says'
done

# xaudit check lets a daemon go; its modules then are silent.
bounded 60 "$XAUDIT" check -o report -- sh -c '(sleep 1; ./host exit ./plugin.so 3; echo $? >late) & exit 4'
is "$?" 4 'the command is not waited for beyond its end'
i=0
while [ ! -s late ] && [ $i -lt 600 ]; do
	sleep 0.1
	i=$((i + 1))
done
is "$(cat late)" 3 'what it left behind goes on unchecked'

mkdir configured
printf '[library *]\nkinds = plt\n' >configured/xaudit.conf
(cd configured && bounded 60 "$XAUDIT" check -o ../report -- ../host exit ../plugin.so 3)
is "$? $(ls configured)" '3 xaudit.conf' 'a configuration is not followed: nothing is traced'

# ---- what it costs ----

# System calls that read, of host, module and xaudit check together; once they were 826, and 5000 if a word leads in a
# circle. A shell's count includes the processes that it has waited for.
reads() {
	bounded 60 sh -c '"$XAUDIT" check -o report -- ./host "$@" >out 2>err; cat /proc/$$/io' sh "$@" |
		awk '/^syscr/ { print $2 }'
}
for mode in cycle circle; do
	few=$(reads $mode ./plugin.so 1)
	many=$(reads $mode ./plugin.so 41)
	if [ -z "$many" ]; then
		skip 1 'the kernel does not count reads'
		continue
	fi
	each=$(((many - few) / 40))
	ok "mode $mode: a cycle of opening and closing takes few reads: $each" test "$each" -gt 10 -a "$each" -lt 150
done

# ---- a correct host ----

# Four callers under a lock, a thread that reloads, SIGALRM at 1 kHz, forks that close the plugin too.
wrong=
i=0
while [ $i -lt 20 ]; do
	check -- ./host correct ./plugin.so 12
	[ "$status $(kinds) $(ask .unloads)" = '0  15' ] || wrong="$wrong; $status $(kinds) $(ask .unloads)"
	i=$((i + 1))
done
is "$wrong" '' 'nothing is found in 20 runs of a correct host with threads, signals and forks'
check --scan --cycles -- ./host correct ./plugin.so 30
is "$status $(kinds) $(ask '.notes | length')" '0  0' 'nor with --scan and --cycles'

# ---- processes that can't be checked: they run, without a trace of us, and that is said ----
unchecked() {
	ask '[.notes[] | select(startswith("some processes ran unchecked: "))] | length'
}
cat >ends <<'END'
#!/bin/sh
cat /dev/null
exit 5
END
chmod 755 ends
check -- ./ends
is "$status $(unchecked)" '5 0' '(a script and what it runs are checked)'
if unshare -m -p -f --mount-proc true 2>/dev/null; then
	check -- unshare -m -p -f --mount-proc ./ends
	is "$status $(unchecked) $(ls -d xaudit.data 2>&1 | grep -c '^xaudit.data')" '5 1 0' \
		'processes of another namespace run unchecked, leave no trace, and that is said'
else
	skip 1 'no namespaces of processes may be made here'
fi
if command -v valgrind >/dev/null; then
	check -- valgrind -q --log-file=valgrind.log ./ends
	is "$status $(unchecked)" '5 1' 'and so does what valgrind executes'
else
	skip 1 'no valgrind'
fi
done_testing
