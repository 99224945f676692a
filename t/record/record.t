#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit record, mostly without the real module: what it passes on, sets up and leaves alone, and its messages.
. "${top_srcdir:-.}/t/lib/recorded.sh"
need python3

# Tells how a command ended, which a shell's $? can't: 143 may be an exit or a signal. Bounded by an alarm.
cat >end.c <<'END'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	int status;
	pid_t pid = fork();
	(void)argc;
	if (!pid) {
		alarm(60);
		execvp(argv[1], argv + 1);
		_exit(99);
	}
	waitpid(pid, &status, 0);
	if (WIFSIGNALED(status))
		printf("signal %d%s\n", WTERMSIG(status), WCOREDUMP(status) ? " core" : "");
	else
		printf("exit %d\n", WEXITSTATUS(status));
	return 0;
}
END
echo 'int main(void) { return 5; }' >five.c
$CC -o end end.c && $CC -o five five.c || bail 'the helpers of this test do not compile'

# record ARG...: sets $end to how it ended, and $said to its messages (standard error).
record() {
	end=$(./end "$XAUDIT" record "$@" 2>said 3>&1 >out)
	end=$(tail -n 1 out)
	said=$(cat said)
}

# ---- how it ends ----
FAKE_TRACE=selected
export FAKE_TRACE
record -o d sh -c 'exit 0'
is "$end/$said" 'exit 0/' 'a command that succeeds'
record -o d sh -c 'exit 7'
is "$end/$said" 'exit 7/' 'a command that exits with 7'
record -o d sh -c 'exit 255'
is "$end/$said" 'exit 255/' 'a command that exits with 255'
for signal in 9 15 1 2; do
	record -o d sh -c "kill -$signal \$\$"
	is "$end/$said" "signal $signal/" "a command that dies of signal $signal"
done
for signal in 11 6 3; do
	record -o d sh -c "ulimit -c 0; kill -$signal \$\$"
	is "$end/$said" "signal $signal/" "a command that dies of signal $signal leaves no core of ours"
done
like "$(cat d/record)" '^status: signal 3$' 'the status is in the trace: the signal'
record -o d no-such-command-here
is "$end/$said" 'exit 127/xaudit record: no-such-command-here is in no folder of PATH' 'a command that is not found'
PATH=/usr/bin:/bin record -o d five
is "$end/$said" 'exit 127/xaudit record: five is in no folder of PATH; ./five is the one that is here' 'nor is one here'
record -o d ''
is "$end/$said" 'exit 127/xaudit record: the command is an empty word' 'a command without a name'
record -o d ./none
is "$end/$said" 'exit 127/xaudit record: ./none is not there' 'a path that is not there'
record -o d ./five.c
is "$end/$said" "exit 126/xaudit record: ./five.c can't be executed: Permission denied" 'a file that is not executable'
record -o d /
is "$end/$said" "exit 126/xaudit record: / can't be executed: Permission denied" 'a folder'
like "$(cat d/record)" '^status: signal 3$' 'none of these touched the trace that was there'
printf '#!/none/such\n' >script
chmod +x script
cp -r d.old expected.old
record -o d ./script
is "$end/$said" "exit 127/xaudit record: ./script can't be executed: the interpreter that it names is not there" \
	'a script without its interpreter'
like "$(cat d/record)" '^status: signal 3$' 'and the trace that was there is in its place again'
is "$(diff -r d.old expected.old && echo d d.*)" 'd d.old' 'so is the one before it'
mkdir empty
record -o empty ./script
is "$(ls -A empty)$(rmdir empty && echo there)" there 'an empty folder that was there stays, and is empty'
printf 'exit 3\n' >noscript
chmod +x noscript
record -o d ./noscript
is "$end" 'exit 3' 'a script without #! is run by sh, as execvp does'
PATH=$here:$PATH record -o d five
is "$end" 'exit 5' 'PATH is searched'
record -o d -- sh -c 'exit 4'
is "$end" 'exit 4' '-- ends the options'
record -o d sh -c 'echo "$*" >words' sh -l x --help -o -- y
is "$end/$(cat words)" 'exit 0/-l x --help -o -- y' 'what follows the command belongs to the command'
record -o d sh -c 'cat' <five.c
is "$(head -n 1 out)" "$(cat five.c)" 'standard input and output are those of the command'

# ---- signals: t/record/record-signals.t has those that record gets ----
record -o d sh -c 'trap' sh
is "$(sed '$d' out)" '' 'the command begins with no signal ignored'
record -o d sh -c 'grep SigBlk /proc/self/status'
like "$(cat out)" 'SigBlk:.0000000000000000$' 'and with none blocked'

# ---- wrong usage ----
usage 'xaudit record: no command to run; usage: xaudit record [OPTION]... [--] COMMAND [ARGUMENT]...' 'no command'
usage "xaudit record: unknown option '--what'; see xaudit record --help" 'an unknown long option' --what true
usage "xaudit record: option '-z' is unknown or takes no value; see xaudit record --help" \
	'an unknown short option' -z true
usage "xaudit record: option '-o' needs a value; see xaudit record --help" 'an option without its value' -o
usage "xaudit record: unknown kind 'foo'; allowed: xray, patchable, plt, calls, guard, entry, cyg, fentry, mcount" \
	'an unknown kind' -k plt,foo true
usage "xaudit record: unknown kind ''; allowed: xray, patchable, plt, calls, guard, entry, cyg, fentry, mcount" \
	'an empty kind' -k plt, true
usage "xaudit record: bad size '3M' for -b; allowed: a power of two from 64k to 1G, as in 4M" 'a bad size' -b 3M true
usage "xaudit: $here/none.conf: the configuration can't be read: no such file" \
	'a configuration that is not there' -c none.conf true
printf '[trace]\nsize = 4M\n' >bad.conf
usage "xaudit: $here/bad.conf:2: unknown key 'size' in [trace]; allowed: output, buffer, clock, follow, mode, ring, \
size-limit, overflow, enabled, prepare, throttle, depth, time, below, stack-copying, snapshot, control, merge, sched, \
perf, values, event-backtrace, request, trust" 'a bad configuration' -c "$here/bad.conf" true
usage "xaudit: command line: no function in pattern '@libc*'; allowed: FUNCGLOB or FUNCGLOB@LIBGLOB" 'a bad pattern' \
	-F '@libc*' true
usage "xaudit record: library 'x ;y' holds a blank before ';', which begins a remark; the configuration can't express \
that, use another name or a pattern" 'a library that INI cannot express' -l 'x ;y' true
record --help
is "$end/$(head -n 1 out)" 'exit 0/Usage: xaudit record [OPTION]... [--] COMMAND [ARGUMENT]...' '--help tells the usage'
XAUDIT_MODULE=$here/none.so record true
is "$end/$said" "exit 125/xaudit record: XAUDIT_MODULE names $here/none.so, which can't be read: No such file or \
directory" \
	'a module that is not there'
mkdir a:b
cp fake.so a:b
XAUDIT_MODULE=a:b/fake.so record true
is "$end/$said" "exit 125/xaudit record: the module's path $here/a:b/fake.so holds a ':', which separates paths in \
LD_AUDIT; move or link it elsewhere" 'a module whose path holds a colon'
ok 'nothing was made by all this' test ! -e xaudit.data

# ---- the environment ----
environment
like "$environment" "^LD_AUDIT=$here/fake.so\$" 'LD_AUDIT is the module'
like "$environment" '^GLIBC_TUNABLES=glibc.rtld.optional_static_tls=1024$' 'GLIBC_TUNABLES asks for static TLS'
like "$environment" "^output = $here/xaudit.data\$" 'the default output, absolute'
like "$environment" '^buffer = 262144$' 'the default buffer'
unlike "$environment" '^XAUDIT_CONFIG' 'no configuration, none named'
default='[library *]
kinds = xray patchable guard
[program]
kinds = xray patchable calls guard'
is "$(rules)" "$default" 'no option and no configuration: default kinds, and calls of the program'
if [ -n "$XAUDIT_TSAN" ]; then
	skip 1 'a command with ThreadSanitizer needs more static TLS than any auditor leaves it'
else
	cp fake.so other.so
	LD_AUDIT=$here/other.so:$here/fake.so: environment
	like "$environment" "^LD_AUDIT=$here/fake.so:$here/other.so\$" \
		'the module comes before what is in LD_AUDIT, and once'
fi
XAUDIT_MODULE=fake.so environment
like "$environment" "^LD_AUDIT=$here/fake.so\$" 'a relative path of the module is made absolute'
GLIBC_TUNABLES=glibc.malloc.check=0 environment
like "$environment" '^GLIBC_TUNABLES=glibc.malloc.check=0:glibc.rtld.optional_static_tls=1024$' \
	'other tunables are kept'
GLIBC_TUNABLES=glibc.rtld.optional_static_tls=4096:glibc.malloc.check=0 environment
like "$environment" '^GLIBC_TUNABLES=glibc.rtld.optional_static_tls=4096:glibc.malloc.check=0$' \
	"the user's own size is kept"
environment -l 'libfoo.so*' -l /opt/x/libbar.so -l 'libfoo.so*'
is "$(rules)" '[library libfoo.so*]
kinds = xray patchable plt guard
[library /opt/x/libbar.so]
kinds = xray patchable plt guard' '-l alone: xray, patchable, guard and plt of these libraries'
environment -k plt,calls -k xray
is "$(rules)" '[library *]
kinds = xray plt calls
[program]
kinds = xray plt calls' '-k alone: these kinds of everything'
environment --library='lib[ab].so' --kinds=calls -F 'a*' --filter 'b@libb*' -N c --notrace=d
is "$(rules)" '[library lib[ab].so]
kinds = calls
functions = a*
functions = b@libb*
exclude = c
exclude = d' '-l, -k, -F and -N together'
environment -F malloc
is "$(rules)" '[library *]
kinds = xray patchable guard
fallback = entry
functions = malloc
[program]
kinds = xray patchable calls guard
fallback = entry
functions = malloc' '-F alone: these functions, of the default kinds and calls, or by entry'
environment -l libx.so -F 'a*@libx*'
is "$(rules)" '[library libx.so]
kinds = xray patchable plt guard
fallback = entry
functions = a*@libx*' '-l and -F: these functions by entry, where they have no site'
environment -l libx.so -F 'a*' -F '*@libx*'
is "$(rules)" '[library libx.so]
kinds = xray patchable plt guard
functions = a*
functions = *@libx*' 'but not where -F takes all'
environment -N malloc
is "$(rules)" '[library *]
kinds = xray patchable guard
exclude = malloc
[program]
kinds = xray patchable calls guard
exclude = malloc' '-N alone names no function to trace'
environment -b 64k -o 'out %p'
like "$environment" '^buffer = 65536$' '-b sets the buffer'
like "$environment" "^output = $here/out [0-9]+\$" '%p in the output is replaced, one folder for all'
ok 'and this folder was made' test -e "$(echo out\ [0-9]*)/record"

# ---- static TLS ----
# size COMMAND...: the size that record asks for when it runs the command; none if the user has set a value.
size() {
	rm -f environment
	FAKE_ENVIRONMENT=$here/environment record -o tls "$@"
	size=$(sed -n 's/^GLIBC_TUNABLES=.*glibc\.rtld\.optional_static_tls=//p' environment | sort -u)
}
# Initial-exec TLS of start-up libraries uses the room that the tunable sets aside.
for n in 300 20000 40000; do
	mkdir "tls$n"
	cat >big.c <<END
static __thread char big[$n] __attribute__((aligned(32)));
int big_add(int i) { return big[i] += 2; }
END
	echo "int big_add(int); int main(void) { return big_add(1) + big_add(1) + big_add($n - 1); }" >big_main.c
	$CC -O2 -shared -fPIC -ftls-model=initial-exec -Wl,-soname,libbig.so -o "tls$n/libbig.so" big.c &&
		$CC -O2 -o "tls$n/big" big_main.c "tls$n/libbig.so" -Wl,-rpath,'$ORIGIN' ||
		bail 'a library with much TLS does not compile'
done
# From here on: libc, and 512 bytes for libraries that are loaded later. The program has none.
size tls300/big
is "$size/$end" '1024/exit 8' 'a program that needs less than 1024 bytes of static TLS gets 1024'
size tls20000/big
need=$size
ok 'one that needs more gets that, with what the C library needs and 512 bytes' test "$need" -gt 20512 -a \
	"$need" -lt 21536
size tls40000/big
is "$size" $((need + 20000)) 'it is the sum: a library with 20000 bytes more makes it 20000 more'
printf '#!%s/tls20000/big\n' "$here" >tls1
printf '#! %s/tls1 -x\n' "$here" >tls2
printf '#!/usr/bin/env big\n' >tls-env
printf '#!/usr/bin/env -S big -x\n' >tls-split
printf '#!/usr/bin/env no-such-command-here\n' >tls-none
printf '#!%s/tls-loop\n' "$here" >tls-loop
chmod +x tls1 tls2 tls-env tls-split tls-none tls-loop
size ./tls1
is "$size/$end" "$need/exit 8" 'a script gets what its interpreter needs'
size ./tls2
is "$size/$end" "$need/exit 8" 'a script of a script too'
path=$PATH
PATH=$here/tls20000:$PATH
size big
is "$size/$end" "$need/exit 8" 'a command is looked for in PATH'
size ./tls-env
is "$size/$end" "$need/exit 8" 'a script with #!/usr/bin/env gets what the program that env finds needs'
size ./tls-split
is "$size/$end" "$need/exit 8" 'with the option -S of env too'
PATH=$path
size ./tls-none
is "$size/$end" '1024/exit 127' 'a script for env of a program that is not there gets 1024'
size ./noscript
is "$size/$end" '1024/exit 3' 'what is neither script nor ELF is a script of sh'
record -o tls ./tls-loop
is "$end" 'exit 126' 'a script that is its own interpreter is left to the kernel'
if [ -n "$XAUDIT_ASAN" ]; then
	skip 1 'ASan in xaudit lets no other library come first'
else
	LD_PRELOAD=$here/tls20000/libbig.so size true
	is "$size" "$need" 'a preloaded library counts'
fi
GLIBC_TUNABLES=glibc.rtld.optional_static_tls=70000 size tls20000/big
is "$size" 70000 "the user's own value is kept"
FAKE_ENVIRONMENT=$here/environment LD_DEBUG=files LD_DEBUG_OUTPUT=$here/debug "$XAUDIT" record -o tls tls20000/big
is "$(ls | grep -c '^debug\.')" 2 'of all that is run, only xaudit and the command write for LD_DEBUG_OUTPUT'
rm -f environment
FAKE_ENVIRONMENT=$here/environment sh -c 'trap "" CHLD; exec "$XAUDIT" record -o tls tls20000/big'
is "$?/$(sed -n 's/^GLIBC_TUNABLES=.*=//p' environment)" "8/$need" 'an ignored SIGCHLD does no harm'

# A dynamic linker that behaves otherwise. It replaces the program: it only prints its environment.
cat >loader.c <<'END'
__asm__(".globl _start\n_start: mov %rsp, %rdi\n and $-16, %rsp\n call begin\n");
static long call(long n, long a, const void *b, long c)
{
	long result;
	__asm__ volatile("syscall" : "=a"(result) : "a"(n), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
	return result;
}
static void say(const char *text)
{
	long n = 0;
	while (text[n])
		n++;
	call(1, 1, text, n);
	call(1, 1, "\n", 1);
}
void begin(long *stack)
{
	char **argument = (char **)(stack + 1), **variable = argument + stack[0] + 1;
	if (stack[0] == 3 && argument[1][0] == '-' && argument[1][2] == 'l') {
		say("\tlibbig.so => " BIG " (0x00007f0000000000)");
		CLOSE;
		for (int i = 0; i < (ENDS ? 0 : 60); i++) {
			long second[2] = { 1, 0 };
			call(35, (long)second, 0, 0);
		}
		call(231, ENDS - 1, 0, 0);
	}
	while (*variable)
		say(*variable++);
	call(231, 3, 0, 0);
}
END
# liar SENTENCE EXPECTED ENDS CLOSE: ENDS is its status + 1, or 0 if it sleeps 60 s before that.
liar() {
	$CC -O1 -static -nostdlib -fno-pie -no-pie -fno-stack-protector -DENDS="$3" -DCLOSE="$4" \
		-DBIG="\"$here/tls20000/libbig.so\"" -o ld-linux-x86-64.so.2 loader.c ||
		bail 'the other dynamic linker does not compile'
	begin=$(date +%s)
	record -o tls ./lied
	took=$(($(date +%s) - begin))
	is "$(sed -n 's/^GLIBC_TUNABLES=.*=//p' out)/$end" "$2/exit 3" "$1"
}
$CC -Wl,--dynamic-linker="$here/ld-linux-x86-64.so.2" -o lied five.c || bail 'a program for it does not compile'
liar 'what the dynamic linker of the program says is what counts' $((20000 + 512)) 1 '(void)0'
liar 'when it fails, the value is 1024' 1024 2 '(void)0'
liar 'when it closes its output and stays, the value is 1024' 1024 0 'call(3, 1, 0, 0)'
ok 'at once' test "$took" -lt 40
liar 'when it does not answer, the value is 1024' 1024 0 '(void)0'
ok 'after two seconds' test "$took" -ge 1 -a "$took" -lt 40

# ---- configurations ----
printf '[trace]\nclock = monotonic\nbuffer = 1M\n' >xaudit.conf
environment
is "$(rules)" "$default" 'a configuration without sections leaves the default ones, with calls'
like "$environment" '^clock = monotonic$' 'its clock counts'
like "$environment" '^buffer = 1048576$' 'its buffer counts'
printf '[library libx*]\nkinds = plt\n[trace]\noutput = from-config\n' >xaudit.conf
record -o d true
is "$end/$said" \
	"exit 0/xaudit record: the configuration $here/xaudit.conf was found and counts; -c FILE names another, \
-c /dev/null none" \
	'a configuration that was found is named'
record -c xaudit.conf -o d true
is "$end/$said" 'exit 0/' 'one that was given is not'
environment
is "$(rules)" '' 'a configuration with sections is left to decide'
like "$environment" "^XAUDIT_CONFIG=$here/xaudit.conf\$" 'and named, for processes in other folders'
like "$environment" "^output = $here/from-config\$" 'its output counts'
environment -k plt -o d
is "$(rules)" '[library *]
kinds = plt
[program]
kinds = plt' '-k comes before the sections of a configuration that was found'
unlike "$environment" '^XAUDIT_CONFIG' 'which is not named then'
printf '[library liby*]\n' >named.conf
environment -c named.conf -l 'libz*'
like "$environment" "^XAUDIT_CONFIG=$here/named.conf\$" '-c names its file, absolute'
is "$(rules)" '[library libz*]
kinds = xray patchable plt guard' 'with sections of the command line before it'
printf '[oops]\n' >xaudit.conf
record true
is "$end/$said" "exit 125/xaudit: ./xaudit.conf:1: unknown section 'oops'; allowed: [trace], [library GLOB], \
[program], [context PATTERN], [prototypes], [probe NAME]" \
	'an error in a configuration that was found is said before anything runs'
rm xaudit.conf

# ---- the trace folder ----
rm -rf d d.old
record -o d sh -c 'exit 1' 'a b' "it's" ''
is "$(sed -n 's/^command: //p' d/record)" "sh -c 'exit 1' 'a b' 'it'\\''s' ''" \
	'the command is in the trace, as a shell wants it'
like "$(cat d/record)" '^version: [0-9]+\.[0-9]+\.[0-9]+$' 'the version is in the trace'
like "$(cat d/record)" '^status: exit 1$' 'the status is in the trace'
# Two clocks that agree: the rate of the TSC is the same for monotonic and real time within 1 %, and lies from 0.5 to 10
# GHz.
record -o d sleep 0.2
rate=$(awk '$1 == "clock:" { n++; t[n] = $2; m[n] = $3; r[n] = $4 }
	END { if (n == 2) { a = (t[2]-t[1])/(m[2]-m[1]); b = (t[2]-t[1])/(r[2]-r[1])
		good = m[2]-m[1] > 2e8 && m[2]-m[1] < 3e11 && a > 0.5 && a < 10 && a/b > 0.99 && a/b < 1.01
		print good ? "good" : a " " b } }' \
	d/record)
is "$rate" good 'two clock lines: the ticks and both clocks agree'
like "$(cat d.old/record)" '^status: exit 1$' 'the trace that was there is kept as DIR.old'
record -o d true
ok 'an older DIR.old is removed' grep -q '^command: sleep' d.old/record
ok 'the new trace is in its place' grep -q '^command: true' d/record
record -o d/ true
is "$end/$said" 'exit 0/' 'a slash behind the folder does no harm'
# All files that a process may leave: meta, and files of threads.
for n in 1 2 3; do
	mkdir d/p1 d/p1.2
	touch d/p1/meta d/p1/t0 d/p1/t1.3 d/p1.2/meta d/p1.2/t17
	record -o d true
	is "$end/$said" 'exit 0/' "a trace with files of several threads gives way, time $n"
done
is "$(ls d.old/p1)" 'meta
t0
t1.3' 'and is kept'
rm -r d.old
mkdir d.old
: >d.old/thesis
record -o d true
is "$end/$said" "exit 125/xaudit record: $here/d.old is in the way of the trace that was there before: it holds no \
trace; move it away" 'a DIR.old of other origin is not removed'
ok 'its content is there' test -e d.old/thesis
ok 'and the trace too' test -e d/record
: >d.old/record
record -o d true
is "$end/$said" "exit 125/xaudit record: the older trace $here/d.old can't be removed: it holds files of other origin; \
remove it yourself" 'nor one that looks like a trace but holds more'
ok 'its content is still there' test -e d.old/thesis
mkdir mine
: >mine/thesis
record -o mine true
is "$end/$said" "exit 125/xaudit record: $here/mine exists and is no trace, so it stays untouched; name another one \
with -o" \
	"a user's own folder stays untouched"
ok 'its content is there, and no mine.old' test -e mine/thesis -a ! -e mine.old
record -o five true
is "$end/$said" "exit 125/xaudit record: $here/five exists and is no folder; name another one with -o" 'nor is a file'
mkdir empty
record -o empty true
is "$end/$said" 'exit 0/' 'an empty folder is used'
ok 'as it is' test -e empty/record -a ! -e empty.old
record -o none/such true
is "$end/$said" "exit 125/xaudit record: the folder $here/none/such can't be made: the one that it lies in can't be \
opened: No such file or directory" \
	'a folder in a folder that is not there'
mkdir here
cd here
for n in 1 2; do
	bounded 60 "$XAUDIT" record -o . true >../out 2>../err && status=0 || status=$?
done
cd ..
is "$status/$(cat err)" "125/xaudit record: the trace $here/here/. can't be kept as $here/here/..old: Device or \
resource busy; name another folder with -o" \
	'the current folder has no name that could change: the second trace is refused'

# ---- two at a time ----
rm -rf d d.old ready
record -o d sh -c 'exit 1'
record -o d sh -c 'exit 2'
FAKE_TRACE=selected "$XAUDIT" record -o d sh -c \
	': >ready; i=0; while [ ! -e go ] && [ $i -lt 1200 ]; do i=$((i+1)); sleep 0.1; done
	unset LD_AUDIT; sleep 60 >/dev/null 2>&1 & echo $! >stays; exit 3' 2>said.first &
first=$!
i=0
while [ ! -e ready ] && [ $i -lt 600 ]; do i=$((i + 1)); sleep 0.1; done
busy="exit 125/xaudit record: another xaudit record writes into $here/d; wait for its end, or name another folder with \
-o"
for n in 1 2; do
	record -o d true
	is "$end/$said" "$busy" "a folder that another one records into is refused, time $n"
done
is "$(sed -n 's/^status: //p' d.old/record)/$(echo d d.*)" 'exit 2/d d.old' 'and the trace before it is there'
mv d d.old.moved && mv d.old d && mv d.old.moved d.old
record -o d true
is "$end/$said" "$(echo "$busy" | sed "s,$here/d,&.old,")" 'so is one that it would remove'
mv d d.old.moved && mv d.old d && mv d.old.moved d.old
: >go
status=0
wait $first || status=$?
is "$status/$(cat said.first)/$(sed -n 's/^status: //p' d/record)" '3//exit 3' 'the first one has noticed nothing'
record -o d true
is "$end/$said" 'exit 0/' 'and leaves no lock behind, though a program that it started goes on'
kill "$(cat stays)"

# ---- afterwards ----
rm -rf d d.old
FAKE_TRACE='selected threads' record -o d true
is "$end/$said" 'exit 0/' 'a process with threads'
is "$(python3 "$top_srcdir/t/lib/compact.py" d/p*/meta size)" $((7 * 65536 + 128 + 24)) \
	'its file is cut behind the last event'
# The folder is made when sleep begins, which may be after its fork.
FAKE_TRACE='selected threads' record -o d sh -c 'sleep 90 >/dev/null 2>&1 3>&- & echo $!
	i=0; while [ ! -s d/p$!/meta ] && [ $i -lt 600 ]; do i=$((i+1)); sleep 0.1; done; sleep 0.2'
pid=$(head -n 1 out)
is "$(stat -c %s "d/p$pid/meta")" 524288 'that of a process that still runs is not'
kill "$pid"
FAKE_TRACE=some record -o d true
like "$said" '^xaudit record: nothing was selected in /bin/fake \(process [0-9]+\): 3 of 3 objects are chosen by the '\
'rules, 2 bindings: not selected by the rules, 10 functions: fewer than 5 bytes of NOPs, 2 objects: no compile-time '\
'sites in the file; '\
'try -k plt \(calls into libraries from outside\) or -k calls \(calls that an object makes\)$' \
	'nothing selected: the counts per reason, and what would help'
is "$(printf '%s\n' "$said" | wc -l)/$end" '1/exit 0' 'in one line'
FAKE_TRACE=selected record -o d sh -c 'FAKE_TRACE=some sleep 90 >/dev/null 2>&1 3>&- & echo $!
	i=0; while [ ! -s d/p$!/meta ] && [ $i -lt 600 ]; do i=$((i+1)); sleep 0.1; done; sleep 0.2'
pid=$(head -n 1 out)
is "$said/$(test -s "d/p$pid/meta" && echo there)" '/there' \
	'nothing is said of a process that still runs: it may select something yet'
kill "$pid"
FAKE_TRACE=plt record -o d sh -c 'true; exit 2'
like "$said" '; try -k calls \(calls that an object makes\)$' 'what was asked for already is not proposed'
is "$end" 'exit 2' 'the status stays'
FAKE_TRACE=unchosen record -o d true
like "$said" ": 0 of 3 objects are chosen by the rules.*; -l GLOB chooses libraries, -F 'FUNCTION@fake' functions of \
the program, and \`xaudit info\` lists what was loaded\$" 'rules that chose nothing are said'
record -o d sh -c 'FAKE_TRACE=some sh -c "true; true"; true'
is "$said" '' 'where something was selected in another process, nothing is said'
FAKE_TRACE=some record -o d sh -c '/bin/true; /bin/true; exit'
like "$said" '^xaudit record: nothing was selected in .* and 2 more processes: 3 of 3' \
	'several such processes are one line'

# ---- removed meanwhile ----
FAKE_TRACE=selected record -o d sh -c 'rm -r d; exit 4'
is "$end/$said" "exit 4/xaudit record: the trace folder $here/d was removed while the command ran, so there is no \
trace" \
	'a trace folder that the command removed is said to be removed'
FAKE_TRACE=selected record -o d sh -c 'rm -r d/*; exit 4'
is "$end/$said" "exit 4/xaudit record: $here/d/record was removed while the command ran, and perhaps more of the \
trace" \
	'so is its content'
FAKE_TRACE=selected record -o d sh -c 'rm d/record; exit 4'
is "$end/$said" "exit 4/xaudit record: $here/d/record was removed while the command ran, and perhaps more of the \
trace" \
	'and its file record alone'
like "$(cat d/record)" '^status: exit 4$' 'which gets the status'
rm -rf d
# The time that a folder has is that of the last tick. rm must not leave a process folder of its own.
FAKE_TRACE=selected record -o d sh -c 'sleep 0.1; unset LD_AUDIT; rm -r d/p*; exit 4'
is "$end/$said" \
	"exit 4/xaudit record: what was recorded in $here/d was removed while the command ran, so there is no trace" \
	'so are process folders'
rm -r d
FAKE_TRACE=selected record -o d sh -c 'mv d e'
is "$end/$said" 'exit 0/' 'a folder that was renamed keeps its trace'
ok 'with the status' grep -q '^status: exit 0$' e/record
rm -r e

# ---- untraced ----
unset FAKE_TRACE
record -o d ./five
is "$end/$said" "exit 5/xaudit record: ./five ran untraced: libxaudit.so did not start in it; lines above, if any, \
tell why" \
	'a program in which the module did not start'
untraced() { # EXPECTED SENTENCE COMMAND...
	untraced_expected=$1 untraced_sentence=$2
	shift 2
	record -o d "$@"
	is "$said" "xaudit record: $1 ran untraced: it is $untraced_expected" "$untraced_sentence"
}
static='statically linked, so there is no dynamic linker to load xaudit; link it dynamically'
if $CC -static -o static five.c 2>/dev/null; then
	untraced "$static" 'a static program' ./static
	is "$end" 'exit 5' 'which runs all the same'
	printf '#!%s/static\n' "$here" >s1
	printf '#! %s/s1 -x\n' "$here" >s2
	chmod +x s1 s2
	untraced "a script, and its interpreter $here/static is $static" 'a script of a static program' ./s1
	untraced "a script, and its interpreter $here/static is $static" 'a script of a script of one' ./s2
else
	skip 4 'static programs cannot be linked here'
fi
loader=$(LC_ALL=C ldd ./five | sed -n 's,^[[:space:]]*\(/.*ld-linux-x86-64\.so\.2\) .*,\1,p')
ln -s "$loader" ld-musl-x86_64.so.1
if [ -n "$loader" ] && $CC -Wl,--dynamic-linker="$here/ld-musl-x86_64.so.1" -o musl five.c; then
	untraced "for another C library (its loader is $here/ld-musl-x86_64.so.1); only glibc's takes audit modules" \
		'a program for another loader' ./musl
else
	skip 1 'no other loader to be had'
fi
if [ "$(id -u)" = 0 ]; then
	cp five setuid
	chown 1:1 setuid && chmod 4755 setuid
	untraced 'set-user-ID, and the dynamic linker accepts no audit module there; run a copy without that bit' \
		'a set-user-ID program' ./setuid
else
	skip 1 'only root can make a set-user-ID program of somebody else'
fi

# ---- static TLS, with the real module ----
unset FAKE_TRACE
if [ -n "$XAUDIT_ASAN$XAUDIT_TSAN" ]; then
	skip 8 'a module with ASan or TSan cannot be loaded through LD_AUDIT'
else
	XAUDIT_MODULE=$MODULE
	$CC -pthread -o thread "$top_srcdir/t/fixtures/small_thread.c" ||
		bail 'the program with a thread does not compile'
	tls20000/big
	is "$?" 8 'untraced, the program with much static TLS runs'
	record -k plt -o real tls20000/big
	is "$end/$said" 'exit 8/' 'traced, it runs the same'
	like "$("$XAUDIT" report real)" '^ *3 .* big_add \[libbig\.so\]$' 'and its three calls are in the trace'
	record -k plt -o real ./tls1
	is "$end/$said" 'exit 8/' 'so does a script of it'
	GLIBC_TUNABLES=glibc.rtld.optional_static_tls=8192 record -k plt -o real tls20000/big
	is "$end/$said" 'exit 8/' "with 8192 of the user's own, it runs too: it is executed once more"
	record -k plt -o real ./thread
	is "$end/$said" 'exit 0/' 'a program that makes a thread with a stack of 16 kB can make it'
	like "$("$XAUDIT" report real)" '^ *1 .* pthread_create \[libc\.so\.6\]$' 'and that call is in the trace'
	GLIBC_TUNABLES=glibc.rtld.optional_static_tls=24576 record -k plt -o real ./thread
	is "$end/$said" 'exit 22/' "with 24576 of the user's own it can't: EINVAL"
fi
done_testing
