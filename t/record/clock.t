#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Times in the trace equal those of the program's own clock, whichever clock the trace used.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

library "$CC" libbusy.so busy_library.c
program "$CC" busy busy.c -L. -lbusy

# inside X LOW HIGH ALLOWED: X lies between the two, or beside them by at most ALLOWED less what lies between: so, where
# they are close, X is within ALLOWED of both. A quarter of ALLOWED is allowed however far they lie apart.
inside() {
	awk -v x="$1" -v low="$2" -v high="$3" -v a="$4" 'BEGIN {
		beside = a - (high - low)
		if (beside < a / 4) beside = a / 4
		exit !(x >= low - beside && x <= high + beside)
	}'
}
# moment FUNCTION EVENT: of the last such event.
moment() {
	jq -rn --arg f "$1" --arg e "$2" '[inputs | select(.function == $f and .event == $e) | .time_ns] | max' d.json
}
# summed FUNCTION: how long all its calls took, by their events.
summed() {
	jq -n --arg f "$1" '[inputs | select(.function == $f) | if .event == "exit" then .time_ns else -.time_ns end] |
		add' d.json
}
total() {
	printf '%s\n' "$report" | jq --arg f "$1" '.functions[] | select(.function == $f) | .total_ns'
}

# One run. The program reads its clock just before and behind each call ($o1 to $o4), and just inside ($i1 to $i4): the
# trace's moments of both calls lie in between, wherever the program loses the processor.
run() {
	record d "$@" -l libbusy.so ./busy
	report d
	dump d
	begun=$(moment busy_short entry) paused=$(moment busy_short exit)
	resumed=$(moment busy_long entry) ended=$(moment busy_long exit)
	read -r o1 i1 i2 o2 o3 i3 i4 o4 <"$tmp/.out" || bail "the program prints no times: $out $err"
}
short_is_true() {
	inside $((paused - begun)) $((i2 - i1)) $((o2 - o1)) 50000
}
long_is_true() {
	inside $((ended - resumed)) $((i4 - i3)) $((o4 - o3)) 200000
}
begin_is_true() {
	inside "$begun" "$o1" "$i1" 500000
}
end_is_true() {
	inside "$ended" "$i4" "$o4" 500000
}
pause_is_true() {
	inside $((resumed - paused)) $((o3 - o2)) $((i3 - i2)) 130000
}
is_true() {
	short_is_true && long_is_true && begin_is_true && end_is_true && pause_is_true
}
# Did the program keep the processor where it matters? Then its own measures leave open less than half of what is
# allowed.
is_narrow() {
	test $((i1 - o1 + o2 - i2)) -le 25000 -a $((i3 - o3 + o4 - i4)) -le 100000 -a $((o2 - i2 + i3 - o3)) -le 65000
}
# How far the module was off when it compared clocks.
precise() {
	test "$(info d '.clock.ppm <= 100')" = true
}
# try ARG...: a few runs, until one is not interrupted; on a busy machine there may be none. $untrue tells of runs whose
# times are not the program's.
try() {
	untrue=
	for turn in 1 2 3 4 5 6 7 8 9 10; do
		run "$@"
		is_true || untrue="$untrue run $turn: $begun $paused $resumed $ended of $out"
		if is_narrow; then break; fi
		diag "run $turn was interrupted: $out"
	done
}

# compare NAME: the times of the program equal those of the trace, in the last run.
compare() {
	is "$untrue" '' "$1: in each run, all moments lie between the program's own readings around them"
	is "$(calls busy_short) $(calls busy_long), $(sums)" '2 2, 0 lost 0 unfinished' "$1: all calls are there"
	ok "$1: a call of 50 ms takes that, within 0.1 %" short_is_true
	ok "$1: a call of 200 ms takes that, within 0.1 %" long_is_true
	ok "$1: report has the sum of the calls" inside "$(total busy_long)" "$(summed busy_long)" \
		"$(summed busy_long)" 10
	ok "$1: the first call begins when the program says, by CLOCK_MONOTONIC" begin_is_true
	ok "$1: the last call ends when the program says" end_is_true
	ok "$1: the pause between the two is as long as the program says, within 100 ppm and 0.1 ms" pause_is_true
	diag "$1: $((paused - begun)) of $((o2 - o1)), $((ended - resumed)) of $((o4 - o3)) ns"
}

try -k plt
is "$status/$err" '0/' 'the program runs with the default clock'
compare default
like "$(info d .clock.source)" '^"(tsc|monotonic)"$' 'info says which clock it is'
ok 'info tells of an error of no more than 100 ppm' precise

for clock in tsc monotonic; do
	printf '[trace]\nclock = %s\n' $clock >conf
	try -c conf -k plt
	is "$status/$err" '0/' "the program runs with clock = $clock"
	is "$(info d .clock.source)" "\"$clock\"" "clock = $clock: info says so"
	compare "clock = $clock"
done
like "$(bounded 60 "$XAUDIT" info d)" '^Clock +CLOCK_MONOTONIC' 'clock = monotonic: info says so to people'

# A program that disables the TSC in the middle of its calls (prctl), where the trace is in its ticks, and where libc
# would read it for CLOCK_MONOTONIC.
# The times of a coarse clock are no measure: one check less.
# left NAME INNER OPTION...: INNER: how many of the library's calls of itself are recorded.
left() {
	name=$1 inner=$2
	shift 2
	record d "$@" -l libleaving.so ./leaving
	# The handler is called in the child too, but the child prints nothing.
	is "$status $out $err" "0 child 0
sum 44856, handled $((305 + inner))
$trapped " \
		"$name: a program that disables the TSC runs on"
	report d
	is "$(calls library_step) $(calls library_sleep) $(calls library_call) $(calls library_tail), $(sums)" \
		"$((400 + inner)) 2 2 1, 0 lost 0 unfinished" "$name: all its calls are there"
	dump d
	is "$(jq -n '[inputs | select(.event == "entry" or .event == "exit")] | group_by(.tid) |
		map([.[].time_ns] | . == sort) | all' d.json)" true "$name: no thread's times step back"
	is "$(events d '.event == "custom" and .type == "mark"')" 2 "$name: events of the program are there"
	[ "$checks" = 5 ] || return 0
	printf '%s\n' "$report" | \
		jq -c '.functions[] | select(.function == "library_sleep") | [.min_ns, .max_ns]' >slept
	ok "$name: 20 ms are that long by both clocks" jq -e '.[0] >= 19990000 and .[1] < 60000000000' slept
}
library "$CC" libleaving.so leaving_tsc_library.c
program "$CC" leaving leaving_tsc.c "-I$top_srcdir/runtime/api" -L. -lleaving "$top_builddir/libxaudit-api.a"
# There are machines (emulated, virtual) where prctl() says yes, and the instruction runs all the same.
case $(bounded 60 ./leaving 2>&1) in
*'rdtsc runs') trapped='rdtsc runs' && diag 'this machine does not trap rdtsc, whatever prctl() says' ;;
*) trapped='rdtsc is trapped' ;;
esac
for clock in coarse tsc monotonic; do
	case $clock in coarse) checks=4 ;; *) checks=5 ;; esac
	printf '[trace]\nclock = %s\n' $clock >conf
	library "$CC" libleaving.so leaving_tsc_library.c
	left "clock = $clock, plt" 0 -c conf -k plt
	patchable_library libleaving.so leaving_tsc_library.c
	left "clock = $clock, patchable" 1 -c conf -k patchable
	if xray_library libleaving.so leaving_tsc_library.c; then
		left "clock = $clock, xray" 1 -c conf -k xray
	else
		skip "$checks" 'no clang here'
	fi
done

# Sleds have a path of their own through the recorder.
patchable_library libbusy.so busy_library.c
try -c conf -k patchable
compare 'clock = monotonic, patchable'
if xray_library libbusy.so busy_library.c; then
	try -c conf -k xray
	compare 'clock = monotonic, xray'
else
	skip 8 'no clang here'
fi

# CLOCK_MONOTONIC of a process in another time namespace is off by what it likes.
if unshare -T --monotonic 100 -f true 2>/dev/null; then
	for clock in tsc monotonic; do
		for offset in 100000 -1; do
			printf '[trace]\nclock = %s\n' $clock >conf
			record d -c conf -k plt -l libbusy.so sh -c "./busy; unshare -T --monotonic $offset -f ./busy"
			dump d
			is "$status $(events d '.event == "exit" and .function == "busy_long"')" '0 4' \
				"clock = $clock, $offset s: a process in another time namespace is traced"
			ok "clock = $clock, $offset s: info tells of an error of no more than 100 ppm there" precise
			is "$(jq -n '[inputs | .time_ns // empty] | max - min < 60e9 and . == sort' d.json)" true \
				"clock = $clock, $offset s: all times are on one clock, and in their order"
		done
	done
else
	skip 12 'no time namespaces here'
fi
done_testing
