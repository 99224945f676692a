#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit ctl is killed at any moment: before and after each of its system calls, one after another, and after times of
# any length. The program runs on, with right results (system calls that the kernel does not restart by itself may end
# early then, and are not used here); its sites are in the old or in the new state; the next command works.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/ctl.sh"

program "$CC" helper ctl_helper.c
XAUDIT_INDEX=$tmp/index
export XAUDIT_INDEX
for kind in patchable plt entry; do
	mkdir $kind
	case $kind in
	entry) library "$CC" entry/libcontrolled.so controlled_library.c -DDIGITS=2 -DDISPLACED ;;
	patchable) library "$CC" patchable/libcontrolled.so controlled_library.c -DDIGITS=2 \
		-fpatchable-function-entry=5 ;;
	plt) library "$CC" plt/libcontrolled.so controlled_library.c -DDIGITS=2 ;;
	esac
	program "$CC" $kind/controlled controlled.c -L$kind -lcontrolled
done
if xray_library xray.so controlled_library.c -DDIGITS=2 -Wl,-soname,libcontrolled.so; then
	mkdir xray
	mv xray.so xray/libcontrolled.so
	program "$CC" xray/controlled controlled.c -Lxray -lcontrolled
fi

# Which of counted()'s sites are on, all, or none of them?
look() {
	on=$(on)
	case $on in
	0) now=off ;;
	"$sites") now=on ;;
	*)
		# Each site is on or off; the command was killed between two of them.
		now=between
		;;
	esac
}
# after: what must be true after a kill. Sets $wrong when it is not.
after() {
	# A thread that was sent to the module may still be on its way.
	ctl "$pid" start
	[ "$status" -eq 0 ] || wrong="$wrong; $1, start: $err"
	look
	[ "$now" = between ] || [ -n "$on" ] || wrong="$wrong; $1: status says '$(cat ctl.err)'"
	if [ "$now" = between ]; then
		ctl "$pid" disable "$off"
		[ "$status" -eq 0 ] || wrong="$wrong; $1: $err"
		now=off
	fi
	tell 'call 3'
	has_answered || wrong="$wrong; $1: the program does not go on"
	[ "$now" = off ] || expected=$((expected + 3))
}

# by_calls KIND SITES PREPARE COMMAND...: kills at system call after system call until the command survives.
by_calls() {
	kinds=$1 sites=$2 prepare=$3 program=$1/controlled function=counted off=counted
	shift 3
	# Of these, nothing is selected at the start; while nothing is displaced, a name to switch off names nothing.
	[ "$kinds" != entry ] || kinds=none function='entry:counted@libcontrolled*' off='*'
	rules 'enabled = no' "prepare = $prepare"
	begin "$program" counters 2 4 signals
	expected=0 wrong='' survived=0 n=0
	for command; do
		# Another sequence of times for each.
		first=$((first + 1))
		n=$((first % step)) status=99
		case $command in mode*) rule='' ;; *) rule=$function ;; esac
		while [ "$status" -eq 99 ] && [ $n -lt 3000 ]; do
			n=$((n + step))
			status=0
			bounded 60 ./helper kill $n "$XAUDIT" ctl "$pid" $command $rule >ctl.out 2>ctl.err || status=$?
			killed=$status
			[ "$killed" -eq 99 ] || [ "$killed" -eq 0 ] ||
				wrong="$wrong; $command, call $n: $killed $(cat ctl.err)"
			after "$command, call $n"
			# Again from the other state.
			case $command in
			enable) ctl "$pid" disable "$off" ;;
			disable) ctl "$pid" enable "$function" ;;
			*) ctl "$pid" mode count ;;
			esac
			[ "$status" -eq 0 ] || wrong="$wrong; after $command, call $n: $err"
			status=$killed
		done
		[ "$status" -ne 0 ] || survived=$((survived + 1))
		diag "$kinds, prepare = $prepare: $command makes $n calls of the system at most, with the stops behind \
them"
		ctl "$pid" mode stream
		case $command in enable) ctl "$pid" enable "$function" ;; disable) ctl "$pid" disable counted ;; esac
	done
	is "$survived$wrong" $# "$kinds, prepare = $prepare: killed at each of its system calls, ctl leaves the \
program as it was or as asked"
	ctl "$pid" enable "$function"
	is "$status $(on)" "0 $sites" "$kinds, prepare = $prepare: then it works"
	tell 'call 7'
	ctl "$pid" disable '*'
	tell 'call 5'
	finish
	is "$status $(tail -n 1 out) $(cat err)" '7 interrupted 0 wrong 0 ' \
		"$kinds, prepare = $prepare: the program noticed nothing"
	report d
	is "$(calls counted), $(sums)" "$((expected + 7)), 0 lost 0 unfinished" \
		"$kinds, prepare = $prepare: its trace has just the calls that were to be"
}
first=0 step=$(rounds 61 19 1)
by_calls patchable 1 selected enable disable 'mode ring' 'mode stream'
by_calls patchable 1 none enable disable
by_calls plt 1 selected enable disable
by_calls entry 1 none enable disable
if [ -d xray ]; then
	by_calls xray 2 none enable disable
else
	skip 4 'no clang here'
fi

# After times of any length, with 10 000 sites.
many patchable many
kinds=patchable
rules 'enabled = no' 'mode = ring' 'ring = 256k'
begin many/controlled counters 3 4 signals
times=$(rounds 15 40 2000) wrong='' killed=0
n=0
while [ $n -lt "$times" ]; do
	n=$((n + 1))
	[ $((n % 2)) -eq 0 ] && command=enable || command=disable
	timeout -s KILL "0.0$(printf '%02d' $((n * 7 % 60)))" "$XAUDIT" ctl "$pid" $command '*' >ctl.out 2>ctl.err &&
		continue
	killed=$((killed + 1))
	tell 'call 1'
	has_answered || wrong="$wrong; kill $n: the program does not go on"
done
is "$wrong" '' "killed $killed times in $times, the program goes on"
ctl "$pid" enable '*'
is "$status $(on) $err" '0 10002 ' 'then all sites can be switched on'
ctl "$pid" disable '*'
is "$status $(on) $(status '[.objects[].private_kb] | add')" '0 0 0' 'and off, and no page is private'
finish
is "$status $(tail -n 1 out) $(cat err)" '7 interrupted 0 wrong 0 ' 'and the program noticed nothing'
done_testing
