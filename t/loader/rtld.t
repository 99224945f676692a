#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Guarantees of the loader, and errors of its versions, beyond t/loader/loader.t: libraries that other libraries hold,
# ends inside of constructors and destructors, threads that need ld.so's lock, bindings by many threads at once,
# thread-local storage, files that are no libraries. rtld.c does one thing per name below.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/loader.sh"
subject=rtld

# shows PATTERN SENTENCE: checks the output without us: that the scenario does what it is made for.
shows() {
	like "$(tr '\n' ';' <plain)" "$1" "$name: ($2)"
}

both='one_begin 1, one_end 1'
twos='two_begin 1, two_end 1'
# all NAME KIND BUILD...
all() {
	name=$1 kind=$2
	shift 2
	rtld_libraries "$@"
	program "$CC" rtld rtld.c -rdynamic -L. -Wl,--no-as-needed -lthousand -lm -Wl,-z,lazy
	does needed 'dep_begin 1, dep_end 1, dep_work 2, x_begin 1, x_end 1, x_work 2' \
		'a library stays while another one needs it'
	shows 'dep: closed 0;dep: is there;.*x: is gone;dep: is gone;' 'it stays, then goes'
	does bound-by-another 'glob_begin 1, glob_end 1, glob_work 2, start_glob 2' \
		'a library stays while one that was opened before is bound to it'
	shows 'glob: closed 0;glob: is there;.*user: is gone;glob: is gone;' 'it stays, then goes'
	does promoted 'one_begin 1, one_end 1, one_work 3' 'RTLD_NOLOAD makes a library global, RTLD_DEEPBIND opens it'
	shows 'one: open;local;global;the same;.*one: is there;' \
		'it does, and stays, since the program asked for its symbol'
	does same-namespace "$both, one_work 2, $twos, two_work 4" \
		'a library is opened into a namespace that another one opened'
	does broken "$both, one_work 3" \
		'files that are not ELF, too short, of another machine or class, or want too much static TLS fail to '\
'open'
	is "$(grep -cE '^(garbage|truncated|machine|class|static-tls): .*'\
'(invalid ELF header|too short|ELFCLASS32|static TLS|cannot open)' plain)" \
		10 "$name: (they fail)"
	does exit-with-namespaces "$both, one_work 2, $twos, two_work 5" \
		'the process ends while a thread works in the last of two namespaces'
	shows '2 calls in the other namespace;3 calls in the other namespace;status 0;$' \
		'it works on when they are closed'
	does exit-in-constructor "$both" 'a constructor calls exit()'
	shows '^one: begins;one: ends;status 6;$' 'the destructor runs'
	left_open='2 loads 1 unloads' # the process ends before what is being closed is
	does exit-in-destructor "$both" 'a destructor in dlclose() calls exit()'
	left_open=
	shows '^one: open;one: begins;one: ends;status 7;$|^one: begins;one: open;one: ends;status 7;$' \
		'the process ends there'
	# When it asks for a function there, the other load is closed already, and bindings belong to the new one.
	if [ "$kind" = plt ]; then calls=; else calls=', two_work 2'; fi
	does exit-closes "$both, one_work 3, $twos$calls" 'a destructor closes another library at exit'
	shows 'two: ends;one: ends;two: 2 calls, 3;two: closed 0;two: is gone' 'it calls it, and closes it'
	left_open='3 loads 2 unloads'
	does exit-opens "$both, one_work 3, two_begin 1, two_work 2" 'a destructor opens another library at exit'
	shows 'one: ends;two: begins;two: open;two: 2 calls, 3;status' 'that one stays'
	left_open=
	does signal-in-constructor "$both, $twos, two_work 2" \
		'a signal handler opens a library within the constructor of another'
	does signal-in-destructor "$both, $twos, two_work 2" \
		'a signal handler opens a library within the destructor of another'
	does vdso '' 'a function of the vDSO is found and called'
	shows 'vDSO: found;0 1;0 1;0 1;1;' 'it works'
	does math '' 'IFUNCs of the C library are bound at their first call'
	does_inside
	does_locked
	does_binding
	does tls 'copy_touch 120' '20 copies of a library, with thread-local variables each, are open at once, three '\
'times'
	shows '^(sum: [0-9]*;){6}status 0;$' 'they have their own variables'
	does keys 't_004 501' "the program's 500 thread-specific keys keep their values"
	shows 'wrong: 0;destroyed: 500;' 'they do'
}

# The number of calls of two functions depends on time.
does_inside() {
	end_of plain ./rtld inside
	record d -k "$kind" -l 'lib*.so' ./rtld inside
	is "$(printf '%s\nstatus %s\n' "$out$err" "$status")" "$(cat plain)" \
		"$name: libraries are closed while a thread inside a traced function wants ld.so's lock: none waits \
for the other"
	report d
	is "$(calls one_work) $(calls part_hold), $(sums), $(balance d)" '50 1, 0 lost 0 unfinished, balanced' \
		"$name: and each call is counted"
}

does_locked() {
	end_of plain ./rtld locked
	shows 'one: ends;backtrace: 1;touched: 42;thread: 0;fork: 7;one: closed 0;' 'none of it needs the lock'
	record d -k "$kind" -l 'lib*.so' ./rtld locked
	is "$(printf '%s\nstatus %s\n' "$out$err" "$status")" "$(cat plain)" \
		"$name: first events of threads and processes, and bindings, while another thread is in dlclose()"
	report d
	is "$(calls t_000) $(calls t_001) $(calls t_002) $(calls t_003) $(calls part_touch), $(sums)" \
		'1 1 1 1 1, 0 lost 0 unfinished' \
		"$name: and each call is counted"
}

does_binding() {
	end_of plain ./rtld binding
	for bind in '' 1; do
		LD_BIND_NOW=$bind record d -b 64k -k "$kind" -l libthousand.so ./rtld binding
		is "$(printf '%s\nstatus %s\n' "$out$err" "$status")" "$(cat plain)" \
			"$name: eight threads call a thousand functions for the first time, LD_BIND_NOW='$bind'"
		report d
		is "$(printf '%s\n' "$report" |
			jq -r '.functions | map(.calls) | "\(length) \(min) \(max)"'), $(sums)" \
			'1000 8 8, 0 lost 0 unfinished' \
				"$name: each thread's call of each is counted, LD_BIND_NOW='$bind'"
	done
}

tls=-mtls-dialect=gnu2
all plt plt library "$CC"
all patchable patchable patchable_library
if [ -n "$CLANG" ]; then
	tls=
	more all xray xray xray_library
else
	skip 48 'no clang here'
fi
done_testing
