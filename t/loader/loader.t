#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What ld.so can do with libraries: each program prints the same as without us, with nothing selected and traced, and
# each call is counted. loader.c does one thing per name below.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/loader.sh"

# scenarios NAME KIND BUILD...
scenarios() {
	name=$1 kind=$2
	shift 2
	libraries "$@"
	program "$CC" loader loader.c -rdynamic -L. -lstart -Wl,-z,lazy,--allow-shlib-undefined
	does reopen 'one_begin 3, one_end 3, one_work 6' \
		'a library closed and opened again is traced again, with its constructors'
	like "$(cat plain)" '^one: 2 calls, 3$' "$name: (the program does what it is for)"
	does again 'one_begin 1, one_end 1, one_work 4' 'a library that is open already is opened once more'
	does fails 'one_begin 3, one_end 3, one_work 6' 'libraries with a missing dependency or function fail to open'
	like "$(cat plain)" '^bad: ./libbad.so: undefined symbol: not_there_at_all$' "$name: (they fail)"
	does nested 'one_begin 1, one_end 1, two_begin 1, two_end 1, two_work 2' 'a destructor closes another library'
	does opens 'one_begin 1, one_end 1, two_begin 1, two_end 1, two_work 4' \
		'a destructor opens another library, which stays'
	does turns 'one_begin 1, one_end 1, two_begin 1, two_end 1, two_work 2' \
		'a destructor opens and closes another library'
	does after 'dep_begin 1, dep_end 1, dep_work 5, two_begin 1, two_end 1, two_work 2, x_begin 1, x_end 1, '\
'x_work 5' \
		"a dependency's destructor calls back into the library closed before, with others opened, failing and \
closed meanwhile"
	does constructor 'one_begin 1, one_end 1, one_work 1, two_begin 1, two_end 1, two_work 3' \
		'a constructor opens another library'
	does nodelete 'nodelete_begin 1, nodelete_end 1, nodelete_work 2' 'a library linked with -z nodelete stays'
	like "$(cat plain)" '^nodelete: is there$' "$name: (it stays)"
	does nodelete-flag 'one_begin 1, one_end 1, one_work 2' 'a library opened with RTLD_NODELETE stays'
	like "$(cat plain)" '^one: is there$' "$name: (it stays)"
	does unique 'unique_begin 1, unique_end 1, unique_work 2' 'a library with a STB_GNU_UNIQUE symbol stays'
	like "$(cat plain)" '^unique: is there$' "$name: (it stays)"
	does bound 'glob_begin 1, glob_end 1, glob_work 2, start_glob 2' \
		'a library stays that one from the start is bound to'
	like "$(cat plain)" '^glob: is there$' "$name: (it stays)"
	does thread-local 'one_begin 1, one_end 1, tls_begin 1, tls_end 1, tls_last 1, tls_pend 1, tls_work 1' \
		'a pending thread_local destructor keeps a library until an unrelated one is closed'
	is "$(grep '^tls: is' plain | tr '\n' ' ')" 'tls: is there tls: is there tls: is gone ' "$name: (it does)"
	does namespace "dep_begin 20, dep_end 20, dep_work 20, one_begin 20, one_end 20, one_work 40, x_begin 20, \
x_end 20, x_work 20" \
		'namespaces of dlmopen come and go, with their proxies of ld.so'
	does namespace-fails 'one_begin 1, one_end 1, one_work 2' \
		'dlmopen fails in new namespaces, and one is open at exit'
	if [ "$kind" = plt ]; then
		does text 'text_work 2' 'a library with text relocations'
	else
		does text '' 'a library with text relocations is not patched'
		like "$(object d libtext.so '.sites')" "\"$kind\":{\"the object has text relocations\":" \
			"$name: and info says why"
	fi
	does choice 'choice_begin 2, choice_end 2, choice_resolve 2, choice_work 4, chosen 4' \
		'IFUNC resolvers are called while relocating'
	callers='far_begin 1, far_end 1, far_near 1, near_begin 1, near_end 1, next_begin 1, next_end 1, next_next 1, '\
'one_begin 1, one_end 1'
	does caller "$callers, one_work 1" 'dlsym(RTLD_NEXT) and dlopen by RUNPATH see their true caller'
	is "$(grep -cE '^RTLD_NEXT: 1$|^near: 1$|^near: not' plain)" 3 "$name: (they do)"
	does_many
	does_late late 'code that runs after its own closing at exit'
	does_late late-thread 'the same where another thread than the first calls exit'
	does_ends
	does_busy busy-exit 60 'while others open, close and call libraries'
	does_busy busy-namespaces 20 'while others call libraries in namespaces of their own, which are closed before'
}

does_many() {
	end_of plain ./loader many
	record d -k "$kind" -l 'lib*.so' ./loader many
	is "$out" "$(sed '$d' plain)" "$name: a library with a thousand functions comes and goes 100 times"
	report d
	if [ "$kind" = plt ]; then expected='1 100 100'; else expected='1003 100 100'; fi
	is "$(printf '%s\n' "$report" | jq -r '.functions | map(.calls) | "\(length) \(min) \(max)"'), $(sums)" \
		"$expected, 0 lost 0 unfinished" "$name: each of its functions is counted each time"
}

# The program's function and the libraries', called by destructors and atexit() handlers after both are closed.
does_late() {
	end_of plain ./loader "$1"
	record d -k "$kind" ./loader "$1"
	{ printf '%s\n' "$out"; echo "status $status"; [ -z "$err" ] || printf '%s\n' "$err"; } >traced
	is "$(diff plain traced)" '' "$name: $2: the program prints the same"
	is "$(grep -c '^late: ' plain)" 4 "$name: $2: it did run"
	report d
	if [ "$kind" = plt ]; then
		is "$(calls one_work)/$(calls x_work)$(calls dep_work)/$(printf '%s\n' "$report" | jq .lost)" '2/11/0' \
			"$name: $2: it is traced"
	else
		late=4
		[ "$kind" = patchable ] || late=
		ends=$(calls one_end)$(calls x_end)$(calls dep_end)
		is "$(calls one_work)/$ends/$(calls x_work)$(calls dep_work)/$(calls late)/$(printf '%s\n' "$report" |
			jq .lost)" \
			"2/111/11/$late/0" "$name: $2: it is traced"
	fi
}

does_ends() {
	for how in exit _exit quick_exit abort fault signal execve; do
		end_of plain ./loader $how
		record d -k "$kind" -l 'lib*.so' ./loader $how
		is "$status $out" "$(sed -n 's/^status //p' plain) $(grep -v -e '^status ' -e '^Aborted' -e '^Segm' -e \
			'^Term' plain)" \
			"$name: a process that ends by $how does so"
		report d
		is "$(calls one_work), $(sums)" '5, 0 lost 0 unfinished' \
			"$name: its trace can be read, all calls are there"
	done
}

# does_busy WHAT RUNS SENTENCE: the calls of other threads while the process ends are not known; the first thread's are.
does_busy() {
	runs=$(rounds "$2" 200)
	[ "$kind" = patchable ] || runs=$(rounds 20 50)
	untraced=$(bounded 100 ./again $runs 5 ./loader "$1" | tail -n 1)
	rm -rf d
	traced=$(bounded 200 "$XAUDIT" record -o "$tmp/d" -b 64k -k "$kind" -l 'lib*.so' ./again $runs 5 ./loader \
		"$1" 2>err | tail -n 1)
	is "$traced $(grep -v 'nothing was selected in .*/again ' err)" "$runs " "$name: $runs processes exit $3"
	[ "$untraced" = $runs ] || diag "$name: untraced, $untraced did"
	report d
	is "$(calls calm_work)" $((3 * runs)) "$name: $1: what the exiting thread called is in the trace"
	is "$(printf '%s\n' "$report" | jq .lost) $report_status $(cat .report-err)" '0 0 ' \
		"$name: $1: nothing is lost, and it can be read"
	rm -rf d
}

program "$CC" again loader_again.c
scenarios plt plt library "$CC"
# Of everything, the C library and ld.so's own functions in it too.
for what in reopen nested after nodelete unique bound thread-local namespace choice caller late; do
	end_of plain ./loader $what
	record d -k plt,calls ./loader $what
	is "$status $out" "$(sed -n 's/^status //p' plain) $(sed '/^status /,$d' plain)" \
		"plt and calls of everything: $what prints the same"
done
scenarios patchable patchable patchable_library
if [ -n "$CLANG" ]; then
	more scenarios xray xray xray_library
else
	skip 73 'no clang here'
fi

# ---- the ways to be loaded ----

rm -rf lib*.so d
library "$CC" libcounted.so counted.c
library "$CC" libone.so loader_part.c -DNAME=one
library "$CC" libtwo.so loader_part.c -DNAME=two
library "$CC" libstart.so loader_start.c
program "$CC" starts loader_starts.c -L. -lcounted

# started SENTENCE: of the trace in d: libcounted.so's function was called 7 times.
started() {
	report d
	is "$status/$out/$err" '0/7 calls/' "$1: the program prints the same"
	is "$(calls counted), $(sums)" '7, 0 lost 0 unfinished' "$1: its calls are counted"
}
# directly [VARIABLE=VALUE]... COMMAND: without the command xaudit.
directly() {
	rm -rf d
	status=0
	out=$(bounded 60 env XAUDIT_CONFIG=plt.conf "$@" 2>err) || status=$?
	err=$(cat err)
}
config plt plt.conf d
directly LD_AUDIT="$MODULE" LD_BIND_NOW=1 ./starts
started 'LD_BIND_NOW'
program "$CC" starts-now loader_starts.c -L. -lcounted -Wl,-z,now
directly LD_AUDIT="$MODULE" ./starts-now
started '-z now'
directly /lib64/ld-linux-x86-64.so.2 --audit "$MODULE" ./starts
started 'ld.so --audit'
program "$CC" starts-audit loader_starts.c -L. -lcounted -Wl,--audit="$MODULE"
directly ./starts-audit
started 'DT_AUDIT'
program "$CC" starts-depaudit loader_starts.c -L. -lcounted -Wl,--depaudit="$MODULE"
directly ./starts-depaudit
started 'DT_DEPAUDIT'
$CC -O2 -fPIC -shared -o other.so "$beside/loader_auditor.c" || bail 'the other auditor does not compile'
directly LD_AUDIT="$tmp/other.so:$MODULE" ./starts
started 'behind another auditor'
directly LD_AUDIT="$MODULE:$tmp/other.so" ./starts
started 'before another auditor'
$CC -O2 -fPIC -shared -DNO_SYMBIND -o blind.so "$beside/loader_auditor.c" || bail 'the other auditor does not compile'
directly LD_AUDIT="$tmp/blind.so:$MODULE" ./starts
started 'behind an auditor without la_symbind'
unlike "$(info d '.processes[].objects[].path')" 'other[.]so' 'objects of the other auditor are none of ours'
directly LD_AUDIT="$MODULE:$MODULE" ./starts
is "$status/$out/$err" '0/7 calls/' 'the module twice: the program prints the same'
report d
is "$report_status" 0 'and the trace can be read'

# Code that runs before constructors: the program's preinit functions, and IFUNC resolvers during relocation.
program "$CC" starts-preinit loader_starts.c -DPREINIT -L. -lcounted
directly LD_AUDIT="$MODULE" ./starts-preinit
report d
is "$status/$out/$err $(calls counted), $(sums)" '0/7 calls/ 8, 0 lost 0 unfinished' \
	"calls of the program's preinit functions are counted"
patchable_library libchoice.so loader_part.c -DNAME=choice -DCHOICE
program "$CC" starts-choice loader_starts.c -L. -lcounted -Wl,--no-as-needed -lchoice -Wl,-z,now
config patchable patchable.conf d
directly XAUDIT_CONFIG=patchable.conf LD_AUDIT="$MODULE" LD_BIND_NOW=1 ./starts-choice
report d
is "$status/$out/$err $(calls choice_resolve) $(calls choice_begin), $(sums)" '0/7 calls/ 1 1, 0 lost 0 unfinished' \
	"a start-up library's IFUNC resolver is traced, before anything is consistent"

# Here la_preinit is not called, and destructors don't run.
program "$CC" starts-bare starts_bare.c -nostartfiles -L. -lcounted
directly LD_AUDIT="$MODULE" ./starts-bare
started 'a program that does not start through __libc_start_main'
program "$CC" starts-alone starts_bare.c -nostdlib -L. -lcounted
library "$CC" libcounted.so counted.c -nostdlib
is "$(LD_TRACE_LOADED_OBJECTS=1 ./starts-alone | grep -c libc.so)" 0 '(a program without a C library)'
directly LD_AUDIT="$MODULE" ./starts-alone
started 'a program without a C library'
library "$CC" libcounted.so counted.c

# All objects are bound to its function.
library "$CC" libpreloaded.so counted.c
directly LD_AUDIT="$MODULE" LD_PRELOAD="$tmp/libpreloaded.so" ./starts
started LD_PRELOAD
is "$(printf '%s\n' "$report" | jq -r '.functions[] | select(.function == "counted") | .library | sub(".*/"; "")')" \
	libpreloaded.so \
	"the preloaded library's function is the one that is called"

if [ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null; then
	mkdir etc
	cp /etc/ld.so.cache etc
	echo "$tmp/libpreloaded.so" >etc/ld.so.preload
	directly MODULE="$MODULE" unshare -m sh -c 'mount --bind etc /etc && LD_AUDIT=$MODULE exec ./starts'
	started '/etc/ld.so.preload'
	is "$(printf '%s\n' "$report" | jq -r \
		'.functions[] | select(.function == "counted") | .library | sub(".*/"; "")')" libpreloaded.so \
		"that library's function is the one that is called"
else
	skip 3 'no mounts of its own here'
fi

# ---- stacks ----
program "$CC" depth loader_depth.c
patchable_library libdeep.so loader_part.c -DNAME=deep -DMANY
untraced=$(./depth ./libdeep.so)
ok 'a thread opens and closes a library' test "$untraced" -gt 4000
for kinds in none plt 'patchable, plt, calls'; do
	printf '[trace]\noutput = %s\n[library *]\nkinds = %s\n' "$tmp/d" "$kinds" >deep.conf
	rm -rf d
	directly XAUDIT_CONFIG=deep.conf LD_AUDIT="$MODULE" ./depth ./libdeep.so
	ok "it takes at most 2 kB more of its stack with kinds = $kinds" test "$((out - untraced))" -le 2048
done
is "$(object d libdeep.so '.sites.patchable.traced >= 1000')" true '(it has much to prepare)'

# ---- where nothing is to be traced ----

config plt,patchable plt.conf d
plain=$(LD_TRACE_LOADED_OBJECTS=1 ./starts | sed 's/ (0x[0-9a-f]*)//')
directly LD_AUDIT="$MODULE" LD_TRACE_LOADED_OBJECTS=1 ./starts
is "$(printf '%s\n' "$out" | sed 's/ (0x[0-9a-f]*)//')/$err" "$plain/" 'ldd prints the same'
ok 'and makes no folder' test ! -e d
record d ldd ./starts
is "$(printf '%s\n' "$out" | sed 's/ (0x[0-9a-f]*)//')" "$(ldd ./starts | sed 's/ (0x[0-9a-f]*)//')" \
	'so it does under record'

if $CC -O2 -static -o static "$beside/loader_starts.c" "$sources/counted.c" 2>/dev/null; then
	directly LD_AUDIT="$MODULE" ./static
	is "$status/$out/$err" '0/7 calls/' 'a static program runs as ever'
	ok 'and leaves no folder' test ! -e d
	record d ./static
	is "$status/$out" '0/7 calls' 'so it does under record'
	like "$err" '^xaudit record: .*static' 'which says why there is nothing'
else
	skip 4 'no static C library here'
fi

directly LD_AUDIT="$tmp/not-there.so:$MODULE" ./starts
report d
is "$status/$out $(calls counted)" '0/7 calls 7' 'beside an auditor that is not there'
printf '[library x]\nkinds = of a wrong kind\n' >wrong.conf
directly XAUDIT_CONFIG=wrong.conf LD_AUDIT="$MODULE" ./starts
is "$status/$out" '0/7 calls' 'with a configuration that cannot be read the program runs on'
like "$err" '^xaudit: wrong.conf:2: ' 'and it is said'

if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null 2>&1; then
	chmod 755 "$tmp"
	program "$CC" setuid loader_starts.c "$sources/counted.c"
	chmod 4755 setuid
	setpriv --reuid=65534 --clear-groups ./setuid id >plain 2>&1
	if [ "$(cat plain)" = '65534 0' ]; then
		mkdir -m 777 open
		config plt,calls open.conf open/d
		# That user may not reach the build folder.
		install -m 755 "$MODULE" open/libxaudit.so
		directly XAUDIT_CONFIG="$tmp/open.conf" LD_AUDIT="$tmp/open/libxaudit.so" setpriv --reuid=65534 \
			--clear-groups ./setuid id
		is "$status/$out/$err" '0/65534 0/' 'a set-user-ID program runs as ever'
		ok 'and is not traced' sh -c '! grep -aq setuid open/d/*/meta'
		directly XAUDIT_CONFIG="$tmp/open.conf" LD_AUDIT="$tmp/open/libxaudit.so" setpriv --reuid=65534 \
			--clear-groups ./starts
		is "$status/$out/$err" '0/7 calls/' 'while another program of that user is'
		ok 'as can be seen' grep -aq starts open/d/p*/meta
	else
		skip 4 'set-user-ID has no effect here'
	fi
else
	skip 4 'not root, or no setpriv'
fi
done_testing
