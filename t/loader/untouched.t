#!/bin/sh
# SPDX-License-Identifier: MIT
#
# With the module loaded and nothing selected, every program that the other tests trace prints the same as without it,
# and ends the same; also with another auditor before or after it. No folder is made.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/loader.sh"
. "$top_srcdir/t/lib/transparent.sh"
chmod 755 "$tmp"

printf '[trace]\noutput = %s/none\n[library *]\nkinds = none\n[program]\nkinds = none\n' "$tmp" >none.conf
# The rules match no library, with all kinds and `follow`.
printf '[trace]\noutput = %s/nomatch\nfollow = yes\n[library no-such-*.so]\nkinds = plt, calls, patchable, xray\n' \
	"$tmp" >nomatch.conf
printf '[library *]\nkinds = none\n[program]\nkinds = none\n' >>nomatch.conf
$CC -O2 -fPIC -shared -o auditor.so "$beside/auditor.c" || bail 'the other auditor does not compile'

# Output that may differ from run to run: a sed script of the test masks it.
mask=
# said FILE COMMAND...: masked output, status, masked standard error.
said() {
	said_file=$1
	shift
	end_of .said "$@" </dev/null
	sed "$mask" .said >"$said_file"
}
prepare() { # what each run finds
	:
}
# both SENTENCE COMMAND...: without the module, and with it in each way, the same; in check in two of the four ways, by
# turns.
turn=0 every=$(rounds 2 1)
both() {
	sentence=$1 turn=$(((turn + 1) % 2))
	shift
	prepare
	said plain "$@"
	for way in none.conf:"$MODULE" nomatch.conf:"$MODULE" none.conf:"$MODULE:$tmp/auditor.so" \
		none.conf:"$tmp/auditor.so:$MODULE"; do
		turn=$((turn + 1))
		[ $((turn % every)) -eq 0 ] || continue
		prepare
		said untouched env XAUDIT_CONFIG="$tmp/${way%%:*}" LD_AUDIT="${way#*:}" "$@"
		cmp -s plain untouched || break
	done
	is "$(diff plain untouched | head -n 20)" '' "$sentence: the same" || diag "$way"
}
# each SUBJECT WHAT...: for programs that take one word.
each() {
	each_subject=$1
	shift
	for what; do
		both "${each_subject##*/} $what" $each_subject $what
	done
}

# ---- the loader ----
libraries library "$CC"
program "$CC" loader loader.c -rdynamic -L. -lstart -Wl,-z,lazy,--allow-shlib-undefined
each ./loader reopen again fails nested opens turns after constructor nodelete nodelete-flag unique bound thread-local \
	namespace \
	namespace-fails text choice caller many late late-thread exit _exit quick_exit abort fault signal execve id \
		nothing
program "$CC" again loader_again.c
is "$(LD_AUDIT=$MODULE XAUDIT_CONFIG=none.conf bounded 100 ./again 100 5 ./loader busy-exit 2>&1 | tail -n 1)" 100 \
	'100 processes exit while others open, close and call libraries'
LD_BIND_NOW=1
export LD_BIND_NOW
each ./loader reopen nested after namespace choice late
unset LD_BIND_NOW
rtld_libraries library "$CC"
program "$CC" rtld rtld.c -rdynamic -L. -Wl,--no-as-needed -lthousand -lm -Wl,-z,lazy
# Which of two threads is first, and how often. If rules ask for bindings, whatever they match, the module shows itself
# to the program's unwinders.
mask='s/^sum: .*/sum/; /^object .*libxaudit/d'
each ./rtld needed bound-by-another promoted same-namespace broken exit-in-constructor exit-in-destructor exit-closes \
	exit-opens \
	signal-in-constructor signal-in-destructor locked inside binding tls keys vdso math views
mask=
like "$(cat plain)" '^keys: [0-9]+$' '(views tells how many keys there are)'

# ---- ways to start ----
library "$CC" libcounted.so counted.c
program "$CC" starts loader_starts.c -L. -lcounted
program "$CC" starts-now loader_starts.c -L. -lcounted -Wl,-z,now
program "$CC" starts-preinit loader_starts.c -DPREINIT -L. -lcounted
program "$CC" starts-bare starts_bare.c -nostartfiles -L. -lcounted
both 'lazily bound' ./starts
both 'LD_BIND_NOW' env LD_BIND_NOW=1 ./starts
both '-z now' ./starts-now
both 'preinit functions' ./starts-preinit
both 'without __libc_start_main' ./starts-bare
both 'LD_PRELOAD' env LD_PRELOAD="$tmp/libother.so" ./starts
mask='s/(0x[0-9a-f]*)//'
both 'LD_TRACE_LOADED_OBJECTS' env LD_TRACE_LOADED_OBJECTS=1 ./starts
both 'ldd' ldd ./starts
mask=

# ---- the life of a process ----
library "$CC" libwithin.so within.c
program "$CC" forks forks.c -L. -lwithin
# Process numbers; and numbers of calls that depend on time.
mask='s/^[0-9][0-9]* /process /'
each ./forks fork within thread vfork vfork-calls spawn exec idle clone clone-stack clone-thread clone-memory
mask='s/^[0-9][0-9]* [0-9]*/process/'
each ./forks threads
mask='s/^[0-9 ]*$/numbers/'
library "$CC" libhandled.so handled.c
program "$CC" signals signals.c -L. -lhandled -lrt
each ./signals prof fast nested stack-below stack-above jump-anywhere
mask=
each ./signals jump jump-stack
if compile cxx "$CC" g++ && link cxx cxx g++; then
	cd cxx || bail 'no folder'
	for what in abi flow stack threads smallest cancel coroutines signals; do
		both "transparent $what" ./transparent.exe $what exit
	done
	both 'transparent exit-thread' ./transparent.exe exit-thread
	both 'transparent terminate' ./transparent.exe terminate
	both 'transparent uncaught' ./transparent.exe uncaught
	both 'transparent abort' ./transparent.exe abort
	cd .. || bail 'no folder'
else
	ok 'the program was built' false
fi

# ---- hostile surroundings ----
program "$CC" hostile hostile.c -L. -lcounted
mkdir -p empty
both 'hostile, nothing' ./hostile
each ./hostile descriptors memory file-size sandbox strict-sandbox umask threads
if [ "$(id -u)" -eq 0 ]; then
	both 'hostile chroot' ./hostile chroot empty
	both 'hostile nobody' ./hostile nobody
else
	skip 2 'not root'
fi
if unshare -U true 2>/dev/null; then
	both 'hostile namespaces' ./hostile namespaces
else
	skip 1 'no user namespaces here'
fi
prepare() {
	rm -rf used.d
	mkdir used.d
}
both 'hostile reuse' ./hostile reuse used.d

is "$(ls -d none nomatch 2>/dev/null)" '' 'no trace folder was made'
done_testing
