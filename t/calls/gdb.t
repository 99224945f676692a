#!/bin/sh
# SPDX-License-Identifier: MIT
#
# gdb sees through intercepted frames: a backtrace of a traced program that crashed or was stopped reaches main, with
# the same functions of the program as untraced; finish and up work, and so does a core.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/transparent.sh"

need gdb
echo 'int main(void) { return 7; }' >seven.c
$CC -o seven seven.c || bail 'no compiler'
bounded 60 gdb --batch -nx -ex run ./seven 2>&1 | grep -q 'exited with code 07' ||
	skip_all 'gdb may not run programs here'

# debug MODULE-OR-NOTHING OPTION...: gdb's output, with the module in the program but not in gdb.
debug() {
	module=$1
	shift
	rm -rf "$tmp/gdb.xaudit"
	printf '[trace]\noutput = %s\n%s[library libstopped.so]\nkinds = %s\n[program]\nkinds = %s\n' \
		"$tmp/gdb.xaudit" "$labels" "$kinds" "$kinds" >"$tmp/gdb.conf"
	set -- --batch -nx -ex 'set confirm off' -ex 'set startup-with-shell off' -ex 'set disable-randomization on' \
		"$@"
	if [ -n "$module" ]; then
		set -- -iex "set environment LD_AUDIT $MODULE" -iex "set environment XAUDIT_CONFIG $tmp/gdb.conf" "$@"
	fi
	bounded 100 gdb "$@" 2>&1
}

# functions: of a backtrace, the program's own, innermost first.
functions() {
	sed -n 's/^#[0-9]* .*\<\(fall\|ending\|step\|run\|main\) (.*/\1/p' | tr '\n' ' '
}

# seen KIND: checks the program `stopped` of the current folder.
seen() {
	kinds=$1
	set -- "$1${labels:+, labels}"
	for thread in '' thread; do
		where="$1${thread:+, in a thread}"
		chain='fall ending step ending step ending step ending step run '
		[ -n "$thread" ] || chain="${chain}main "
		for module in '' "$MODULE"; do
			said=$(debug "$module" -ex run -ex bt --args ./stopped crash $thread)
			# It crashes in its very first instruction, which runs in the displaced copy.
			[ "$kinds$module" != "entry$MODULE" ] || chain=${chain#fall }
			is "$(printf '%s\n' "$said" | functions)" "$chain" \
				"$where: ${module:+traced, }a backtrace of a crash has the program's functions in order"
		done
		like "$said" 'received signal SIGSEGV' "$where: traced, it crashes where it does untraced"
		ok "$where: it was traced" test -s "$tmp/gdb.xaudit"/*/meta
		debug "$MODULE" -ex run -ex 'generate-core-file core' --args ./stopped crash $thread >/dev/null
		said=$(bounded 100 gdb --batch -nx ./stopped core -ex 'echo \nall:\n' -ex bt 2>&1 | sed '1,/^all:/d')
		is "$(printf '%s\n' "$said" | functions)" "$chain" \
			"$where: a backtrace of a core has the program's functions in order"
		rm -f core
	done
	said=$(debug "$MODULE" -ex 'break ending if depth == 0' -ex run -ex bt -ex finish -ex 'up-silently 3' \
		-ex 'info symbol $pc' -ex continue --args ./stopped)
	is "$(printf '%s\n' "$said" | functions)" 'ending step ending step ending step ending step run main ' \
		"$1: a backtrace of a stop has the program's functions in order"
	like "$said" 'Value returned is .* = 1$' "$1: finish returns from a frame"
	like "$said" '^step [+] [0-9]+ in section .text of' "$1: up goes through a frame"
	like "$said" '^result 8$' "$1: the program goes on to its end"
	like "$said" 'exited normally' "$1: and ends normally"
}

build() {
	$CC -O1 -fno-optimize-sibling-calls -g -fPIC -shared "$@" -o libstopped.so "$beside/stopped_library.c" &&
		$CC -O1 -fno-optimize-sibling-calls -g "$@" -o stopped \
			"$beside/stopped.c" -L. -lstopped -Wl,-rpath,"$tmp" \
			-pthread || bail 'the program does not compile'
}

build
XDG_CACHE_HOME=$tmp/cache
export XDG_CACHE_HOME
bounded 60 "$XAUDIT" index --quiet --cache="$tmp/cache/xaudit" stopped libstopped.so || bail 'no index'
labels=''
seen plt
seen entry
more seen calls
# Each return address has a label of its own.
labels='perf = yes
'
seen plt
seen entry
labels=''
build -fpatchable-function-entry=5
seen patchable

# The module's own stack, which the first dlopen left, lies above the stack of a later thread, so gdb has to go down.
cat >opens.c <<'END'
#include <dlfcn.h>
#include <pthread.h>
static void *opens(void *name) { return dlopen(name, RTLD_NOW); }
int main(void)
{
	pthread_t thread;
	return !dlopen("./one.so", RTLD_NOW) || pthread_create(&thread, NULL, opens, "./two.so") ||
		pthread_join(thread, NULL);
}
END
echo 'int one;' >one.c
$CC -fPIC -shared -o one.so one.c && cp one.so two.so && $CC -g -pthread -o opens opens.c -ldl || bail 'no compiler'
kinds=plt
said=$(debug "$MODULE" -ex 'break opens' -ex run -ex 'break image_read' -ex continue -ex bt --args ./opens)
named='s/^#[0-9]* .*\<\(image_read\|la_objopen\|_*dlopen\|opens\) (.*/\1/p'
is "$(printf '%s\n' "$said" | sed -n "$named" | tr -d _ | tr '\n' ' ')" \
	'imageread laobjopen dlopen opens ' 'a backtrace from a stack of ours reaches the function that opens a library'
done_testing
