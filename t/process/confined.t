#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Programs that put themselves under a filter of system calls that kills: they run on, and their calls are recorded.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

library "$CC" libcounted.so counted.c
program "$CC" confined confined.c -L. -lcounted
program "$CC" confined_wait confined_wait.c -L. -lcounted
program "$CC" confined_fork confined_fork.c -L. -lcounted
[ "$(bounded 60 ./confined syscall 10)" = "done" ] || skip_all 'the kernel takes no such filter'

# alone MODE WAY CALLS: under the module alone, into d.
alone() {
	rm -rf d
	printf '[trace]\noutput = %s\nmode = %s\nbuffer = 64k\nring = 1M\n[library libcounted.so]\nkinds = plt\n' \
		"$tmp/d" "$1" >conf
	status=0
	out=$(bounded 60 env LD_AUDIT="$MODULE" XAUDIT_CONFIG="$tmp/conf" ./confined "$2" "$3" 2>err) || status=$?
	err=$(cat err)
	report d
}

for way in prctl syscall probe return late; do
	all=$([ $way = late ] && echo 321000 || echo 322000)
	# Five times the ring.
	alone ring $way 160000
	is "$status/$out/$err/$(sums)" '0/done//0 lost 0 unfinished' \
		"$way: mode ring, alone: it runs on, and nothing is lost"
	# Threads that start late have a quarter of it.
	is "$(printf '%s\n' "$report" | jq '.overwritten_chunks > 30 and .functions[0].calls > 50000')" true \
		"$way: and the ring has been round"
	alone count $way 160000
	is "$status/$out/$err/$(calls counted) $(sums)" "0/done//$all 0 lost 0 unfinished" "$way: mode count: the same"
	alone stream $way 160000
	is "$status/$out/$err/$(calls counted) $(sums)" "0/done//$all 0 lost 0 unfinished" \
		"$way: mode stream, alone: each call is there"
	record d -b 64k -k plt -l libcounted.so "$tmp/confined" $way 160000
	report d
	is "$status/$out/$err/$(calls counted) $(sums)" "0/done//$all 0 lost 0 unfinished" \
		"$way: mode stream, under record: each call is there"
done

for mode in stream ring count; do
	record d -b 64k -m $mode -k plt -l libcounted.so "$tmp/confined_fork"
	report d
	is "$status/$out/$err/$(calls counted) $(sums)" '0/done//100001 0 lost 0 unfinished' \
		"mode $mode, under record: children that are forked under a filter run on, and each call is there"
done

record d -m ring --snapshot=signal:USR2 -k plt -l libcounted.so "$tmp/confined" return 1000
is "$status/$out/$err/$(info d '.processes[0].notes')" '0/done//[]' 'who asks for no snapshot is told of none'
record d -m ring --snapshot=exit -k plt -l libcounted.so "$tmp/confined" return 1000
is "$status/$out/$err/$(ls -d d.snapshot.* 2>/dev/null)" '0/done//' 'no snapshot is taken under a filter'
is "$(info d '.processes[0].notes')" \
	'["no snapshot: the program is under a filter of system calls (seccomp); the trace itself goes on"]' \
	'which the trace tells'

# Filters that are made by functions called without a PLT.
mkdir direct
library "$CC" direct/libcounted.so counted.c -fpatchable-function-entry=5
program "$CC" direct/confined confined.c -Ldirect -lcounted -fno-plt
for way in prctl syscall; do
	record d -b 64k -k patchable -l libcounted.so ./direct/confined $way 160000
	report d
	is "$status/$out/$err/$(calls counted) $(sums)" '0/done//322000 0 lost 0 unfinished' \
		"$way without a PLT: each call is there"
done

# Libraries that are opened and closed under a filter.
program "$CC" confined_load confined_load.c -L. -lcounted
library "$CC" plugin_plt.so confined_plugin.c -L. -lcounted
patchable_library plugin_patchable.so confined_plugin.c -L. -lcounted
xray_library plugin_xray.so confined_plugin.c -L. -lcounted || :
for how in kill deny; do
	for kind in plt patchable xray; do
		[ -e plugin_$kind.so ] || {
			skip 1 'no clang here'
			continue
		}
		record d -b 64k -k plt -k $kind -l libcounted.so -l 'plugin_*' \
			./confined_load $how 1000 ./plugin_$kind.so
		report d
		is "$status/$out/$err/$(calls counted) $(calls plugin) $(sums)" \
			'0/done//5000 2000 0 lost 0 unfinished' \
			"$how, $kind: libraries come and go, and each call is there"
	done
done

# Threads don't sleep in every run.
turns=
for turn in 1 2 3 4 5 6; do
	record d -b 64k -k plt -l libcounted.so "$tmp/confined_wait"
	report d
	turns="$turns $status/$out/$err/$(calls counted)/$(sums)"
	[ "$status" -eq 0 ] || break
	rm -rf d
done
is "$turns" "$(printf ' 0/done//4000/0 lost 0 unfinished%.0s' 1 2 3 4 5 6)" \
	'threads that slept for a lock at the filter go on'

# xaudit ctl on a program under a filter. Who may suspend it has all done; else what the filter forbids is not done.
. "$top_srcdir/t/lib/ctl.sh"
mkdir control
library "$CC" control/libcontrolled.so counted.c -fpatchable-function-entry=5
program "$CC" control/confined_ctl confined_ctl.c -Lcontrol -lcontrolled
# on_and_off: each command in turn, and ten calls after it. Prints status and how many sites are on.
on_and_off() {
	for command in 'disable counted' 'enable counted' 'mode count' 'mode stream' stop start; do
		ctl "$pid" $command
		printf '%s %s, ' "$status" "$(on)"
		tell 'call 10'
	done
}
for kinds in patchable plt; do
	rules
	begin control/confined_ctl
	if bounded 60 "$XAUDIT" ctl "$pid" disable '*' >/dev/null 2>&1; then
		is "$(on_and_off)" '0 0, 0 1, 0 1, 0 1, 0 1, 0 1, ' \
			"ctl, $kinds: all is done where a filter can be suspended"
		ctl "$pid" disable counted
		tell 'call 10'
		finish
		report d
		is "$status/$(cat err)/$(calls counted) $(sums)" '0//50 0 lost 0 unfinished' \
			"ctl, $kinds: the program runs to its end, and what was on is there"
	else
		skip 2 'the filter can not be suspended here'
		finish
	fi
	rules
	begin control/confined_ctl
	XAUDIT_OWN=$XAUDIT
	XAUDIT="setpriv --bounding-set=-sys_admin --inh-caps=-sys_admin $XAUDIT_OWN"
	done=$(for command in 'mode ring' 'mode stream' 'disable counted' stop start; do
		status=0
		bounded 60 $XAUDIT ctl "$pid" $command >ctl.out 2>ctl.err || status=$?
		printf '%s %s/' "$status" "$(cat ctl.err)"
	done)
	XAUDIT=$XAUDIT_OWN
	way='its filter of system calls (seccomp) is in the way, and would end it; root has it suspended meanwhile'
	is "$done" "0 /0 /1 xaudit ctl: process $pid: $way/0 /0 /" \
		"ctl, $kinds: else only what needs no other system calls"
	tell 'call 10'
	finish
	is "$status/$(cat err)" '0/' "ctl, $kinds: the program runs to its end"
done

printf '%s\n' '#include <linux/seccomp.h>' '#include <stdio.h>' '#include <sys/prctl.h>' '#include <sys/syscall.h>' \
	'#include <unistd.h>' 'void counted(void);' 'int main(void) { char line[64];' 'counted();' \
	'int n = snprintf(line, sizeof(line), "ready %d\n", (int)getpid());' \
	'if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) || write(1, line, (unsigned)n) != n) return 2;' \
	'while (read(0, line, sizeof(line)) > 0) counted();' 'syscall(SYS_exit, 0); }' >strict.c
$CC -o strict strict.c -Lcontrol -lcontrolled -Wl,-rpath,"$tmp/control" || bail 'strict.c does not compile'
kinds=patchable
rules
begin ./strict
ctl "$pid" mode ring
said="process $pid: nothing is recorded there: the program allows itself no system calls (SECCOMP_MODE_STRICT)"
is "$status $err" "1 xaudit ctl: $said" 'ctl, a program that allows itself nothing: it is let alone'
finish
is "$status" 0 'ctl, a program that allows itself nothing: it runs to its end'

# Programs that limit themselves in other ways while they are recorded.
program "$CC" limited limited.c -L. -lcounted
chmod 755 "$tmp"
for way in strict as prlimit lock; do
	[ "$(bounded 60 ./limited $way)" = "done" ] || {
		skip 3 "$way is nothing that can be had here"
		continue
	}
	before=1000 said=
	[ $way != strict ] || said='xaudit: the program allows itself no system calls (SECCOMP_MODE_STRICT); nothing '\
'more is recorded'
	[ $way = strict ] || before=2000
	for mode in stream ring count; do
		record d -m $mode -k plt -l libcounted.so "$tmp/limited" $way
		report d
		is "$status/$out/$err/$(calls counted) $(sums)" "0/done/$said/$before 0 lost 0 unfinished" \
			"$way, mode $mode: the program runs as ever, and each call that may be recorded is"
	done
done
# Who asks for no limit (Wine does) takes nothing from us: other threads' flight recorders have room.
if [ "$(bounded 60 ./limited none)" = "done" ]; then
	record d -m ring --ring=64M -b 8M -k plt -l libcounted.so "$tmp/limited" none
	report d
	is "$status/$out/$err/$(calls counted) $(sums)" '0/done//2000 0 lost 0 unfinished' \
		'no limit: each call is recorded, also where there was no room left before'
else
	skip 1 'the program is limited here'
fi
# The room that is kept for stubs of calls that stay (entry_calls) is given back, too.
library "$CC" libentry.so entry_library.S -nostdlib -Wl,-Bsymbolic,--build-id
if [ "$(bounded 60 ./limited few)" = "done" ]; then
	XAUDIT_INDEX=$tmp/cache
	export XAUDIT_INDEX
	record d -k entry -l libcounted.so -l libentry.so env LD_PRELOAD="$tmp/libentry.so" ./limited few
	report d
	is "$status/$out/$(calls counted) $(sums)" "0/done/2000 0 lost 0 unfinished" \
		'few addresses, displaced entries: the program runs as ever'
else
	skip 1 'the program needs more addresses here'
fi
done_testing
