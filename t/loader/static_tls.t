#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Libraries that need much static TLS can be loaded together with the module, without help by the user, and the program
# does not notice how.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

# Initial-exec: takes 20000 bytes of the room that ld.so sets aside. Once more with the model of libraries that are
# loaded later, which takes none.
cat >big.c <<'end'
static __thread char big[20000] __attribute__((aligned(32)));
int big_add(int i) { return big[i] += 2; }
end
mkdir late
$CC -O2 -shared -fPIC -ftls-model=initial-exec -Wl,-soname,libbig.so -o libbig.so big.c || bail libbig.so
$CC -O2 -shared -fPIC -Wl,-soname,libbig.so -o late/libbig.so big.c || bail late/libbig.so
program "$CC" start start.c -L. -lbig
cp start late
printf '#! %s/start -x\n' "$tmp" >script
chmod +x script
# Another object's variable: the library is not marked to need static TLS.
echo '__thread char big[20000];' >variable.c
echo 'extern __thread char big[] __attribute__((tls_model("initial-exec")));
int big_add(int i) { return big[i] += 2; }' >user.c
mkdir other
$CC -O2 -shared -fPIC -Wl,-soname,libvariable.so -o other/libvariable.so variable.c &&
	$CC -O2 -shared -fPIC -Wl,-soname,libbig.so -o other/libbig.so user.c -Lother -lvariable -Wl,-rpath,'$ORIGIN' ||
		bail 'two libraries'
cp start other
$CC -pthread -o thread "$sources/small_thread.c" || bail thread

# same SENTENCE COMMAND...: the command prints the same, and ends with 8, with LD_AUDIT alone.
same() {
	sentence=$1
	shift
	bounded 60 env "$@" >plain 2>&1
	plain=$?
	out=$(XAUDIT_CONFIG=follow.conf LD_AUDIT=$MODULE bounded 60 env "$@" 2>&1 | grep -v '^XAUDIT_CONFIG=')
	rm -rf d
	XAUDIT_CONFIG=follow.conf LD_AUDIT=$MODULE bounded 60 env "$@" >/dev/null 2>&1
	status=$?
	is "$plain/$status" 8/8 "$sentence: it runs"
	# LD_AUDIT and XAUDIT_CONFIG are two more.
	is "$(printf '%s\n' "$out" | awk '/ variables, next/ { $1 -= 2 } { print }' | diff plain -)" '' \
		"$sentence: it sees the same"
	report d
	is "$(calls big_add)" 3 "$sentence: it is traced"
}
printf '[trace]\noutput = %s/d\nfollow = yes\n[library libbig.so]\nkinds = plt\n' "$tmp" >follow.conf
same 'a program' ./start one 'two words' ''
out=$(bounded 60 env -i XAUDIT_CONFIG=follow.conf LD_AUDIT="$MODULE" ./start)
is "$?/$(printf '%s\n' "$out" | tail -n 2 | sed 's/, next.*//' | tr '\n' ' ')" \
	'8/XAUDIT_CONFIG=follow.conf 2 variables ' \
	'without tunables, there are none for the program either'
same 'with tunables of the user' GLIBC_TUNABLES=glibc.malloc.check=0 ./start
same 'with empty tunables' GLIBC_TUNABLES= ./start
same 'with less than it needs' GLIBC_TUNABLES=glibc.rtld.optional_static_tls=0x1000:glibc.malloc.check=0 ./start
same 'a script' ./script one ''
same 'a program with another name' bash -c 'exec -a other ./start one'
same 'ld.so as a command' /lib64/ld-linux-x86-64.so.2 --inhibit-cache ./start one
same "another library's variable" other/start
same 'TLS that is not static' late/start

# The last library is recognized by its name; this one has two names, and no soname itself.
mkdir links
cp libbig.so links
echo 'int plain(void) { return 1; }' >plain.c
$CC -O2 -shared -fPIC -o links/libplain.so plain.c && ln -s libplain.so links/libalias.so &&
	$CC -O2 -o links/start "$sources/start.c" -Llinks -Wl,--no-as-needed -lbig -lplain -lalias \
		-Wl,-rpath,'$ORIGIN' || bail 'a library and a link to it'
is "$(readelf -dW links/start | grep -cE 'NEEDED.*lib(plain|alias)[.]so')" 2 \
	'(a library that is needed under two names)'
same 'a library that is needed under two names' links/start

# ---- children ----

record d -k plt -l libbig.so -- sh -c './start >/dev/null; exit $?'
report d
is "$status $(calls big_add)" '8 3' 'under record, a program that the command starts runs'
is "$(info d '.processes | length')" 2 'as one process, which is no other than before'
for how in './start' 'sh -c "./start; exit \$?"'; do
	THEN=./thread record d -k plt -l libbig.so -- sh -c "exec $how"
	is "$status" 8 "$how: what it starts can make threads with a stack of 16 kB"
done
record d -k plt -l libbig.so -- late/start
is "$(printf '%s\n' "$out" | sed -n 's/^GLIBC_TUNABLES=//p')" glibc.rtld.optional_static_tls=1024 \
	'TLS that is not static asks for nothing'
THEN=./thread record d -k plt -l libbig.so -- late/start
is "$status" 8 'nor do its threads lose anything'

# ---- not for ever ----

bounded 60 env GLIBC_TUNABLES=xaudit.once=1:glibc.rtld.optional_static_tls=1024 LD_AUDIT="$MODULE" \
	./start >/dev/null 2>err
is "$?/$(grep -c 'cannot allocate memory in static TLS block' err)" 127/1 \
	'a second start that has not enough either says so, and ends'
out=$(bounded 60 env LD_AUDIT="$MODULE" LD_TRACE_LOADED_OBJECTS=1 ./start | grep -c 'libbig.so =>')
is "$out" 1 'ldd lists the libraries'
"$XAUDIT" check ./start >/dev/null 2>err
is "$?/$(cat err)" '8/xaudit check: 0 findings; 0 unloads in 1 process checked' 'under xaudit check it runs too'

# A tracer that uses PTRACE_TRACEME alone gets a SIGTRAP for each execve; here it passes all but the first on.
cat >tracer.c <<'end'
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	int status = 0, stops = 0;
	pid_t pid = fork();
	if (!pid) {
		setenv("LD_AUDIT", argv[argc - 1], 1);
		if (!ptrace(PTRACE_TRACEME, 0, 0, 0))
			execv(argv[1], argv + 1);
		_exit(77);
	}
	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status))
		ptrace(PTRACE_CONT, pid, 0, stops++ ? WSTOPSIG(status) : 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}
end
cat >trap.c <<'end'
#include <signal.h>
int big_add(int i);
int main(void) { return signal(SIGTRAP, SIG_DFL) == SIG_DFL ? 6 + big_add(0) : 9; }
end
$CC -o tracer tracer.c && $CC -o trap trap.c -L. -lbig -Wl,-rpath,'$ORIGIN' || bail tracer
status=0
XAUDIT_CONFIG=follow.conf bounded 60 ./tracer ./trap "$MODULE" >out 2>&1 || status=$?
if [ "$status" -eq 77 ]; then
	skip 1 'nobody may trace here'
else
	is "$status" 8 'a tracer that passes on the SIGTRAP of the second start does not end the program, which finds '\
'its default action'
fi
if command -v strace >/dev/null 2>&1; then
	is "$(bounded 60 strace -E LD_AUDIT="$MODULE" -E XAUDIT_CONFIG=follow.conf -f -e trace=execve \
		./start 2>&1 >/dev/null | grep -c '^execve.* = 0$')" 2 \
		'it is executed twice'
	is "$(bounded 60 strace -E LD_AUDIT="$MODULE" -E XAUDIT_CONFIG=follow.conf -f -e trace=execve \
		./thread 2>&1 >/dev/null | grep -c '^execve.* = 0$')" 1 \
		'what needs no more is executed once'
else
	skip 2 'no strace here'
fi
done_testing
