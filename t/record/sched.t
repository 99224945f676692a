#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Times on processors (record --sched): what report says is what the program's own clock of processor time says, within
# 1 %, beside busy processes. What the kernel refuses, or what was lost, is told, and makes no number.
#
# That clock leaves out of each preemption the interrupt that made it, some 4 us, and in a virtual machine the time that
# the processor was taken from it (steal), which the switches have: where something wakes up 10 000 times a second
# beside, or the host is busy, that is more than 1 %. It counts some 3 us of a switch that the switches have not, for
# their moments lie within it. So these are allowed for: by the number of preemptions, and by what the kernel tells of
# interrupts and steal.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
library "$CC" libsched_part.so sched_part.c -fpatchable-function-entry=5
program "$CC" sched sched.c -L. -lsched_part

busy=
trap 'kill $busy 2>/dev/null; exit 143' TERM
# load N: so many processes that are busy, until `calm`, for two minutes at most.
load() {
	for i in $(seq "$1"); do
		timeout 120 sh -c 'while :; do :; done' &
		busy="$busy $!"
	done
}
calm() {
	for pid in $busy; do
		kill "$pid"
		wait "$pid"
	done 2>/dev/null
	busy=
}

# interrupts: how long all processors were in interrupts, or taken away, since the start of the system, ns.
interrupts() {
	awk -v hz="$(getconf CLK_TCK)" '$1 == "cpu" { printf "%.0f\n", ($7 + $8 + $9) * 1e9 / hz }' /proc/stat
}
# run ARG...: records ./sched ARG... into d. Sets $interrupted: how long there were interrupts meanwhile, ns.
clock=auto
run() {
	interrupted=$(interrupts)
	record d --sched --clock=$clock -k patchable -- ./sched "$@"
	interrupted=$(($(interrupts) - interrupted))
	report d
}
# of FUNCTION KEY: of the report.
of() {
	printf '%s\n' "$report" | jq -r ".functions[] | select(.function == \"$1\") | .$2"
}
# true_of NAME: what the program says.
true_of() {
	printf '%s\n' "$out" | awk -v n="$1" '$1 == n { sum += $2 } END { printf "%.0f\n", sum }'
}
# waited FUNCTION: how long its calls were off processors, by the report.
waited() {
	echo $(($(of "$1" total_ns) - $(of "$1" cpu_ns)))
}
# near GOT TRUE: within 1 %.
near() {
	preempted=$("$XAUDIT" info --format=json d | jq .sched.preempted)
	awk -v g="$1" -v t="$2" -v p="$preempted" -v i="${interrupted:-0}" \
		'BEGIN { exit !(g ~ /^[0-9]+$/ && t > 0 && g >= 0.99 * t - 5000 * p && g <= 1.01 * t + 5000 * p + i) }'
}
# run_near FUNCTION 'NAME...' ARG...: run, up to three times, until the function's time is near what the program says
# under these names: a host may take time from a virtual machine without telling it.
run_near() {
	near_function=$1 near_names=$2
	shift 2
	for try in 1 2 3; do
		run "$@"
		# shellcheck disable=SC2086
		near "$(of "$near_function" cpu_ns)" "$(true_sum $near_names)" && return
		diag "try $try: $near_function $(of "$near_function" cpu_ns)"
	done
}
# as_true FUNCTION SENTENCE: the report is near what the program says.
as_true() {
	ok "$2" near "$(of "$1" cpu_ns)" "$(true_of "$1")" ||
		diag "report: $(of "$1" cpu_ns), truth: $(true_of "$1"), total: $(of "$1" total_ns)" \
			"preempted $preempted, interrupts: $interrupted"
}

# ---- does the kernel give switches here? ----
record d --sched -k patchable -- ./sched short 1 1000
if [ -n "$err" ]; then
	diag "$err"
	refused='the kernel gives no context switches here'
fi
switches() { # N COMMAND...: N checks that need them
	number=$1
	shift
	if [ -n "${refused:-}" ]; then skip "$number" "$refused"; else "$@"; fi
}

eight() {
	load 3
	run_near mixed mixed threads 8 20 10000 10000
	is "$status $(calls mixed) $err" '0 160 ' '8 threads wait 10 ms and work 10 ms, 20 times each'
	as_true mixed 'a function that waits and works was on a processor as long as its own clock says'
	as_true working 'and so was what it calls to work'
	ok 'it took longer than that' test "$(of mixed total_ns)" -gt $(($(of mixed cpu_ns) + 160 * 9900000))
	like "$("$XAUDIT" info d)" '^Switches +[0-9]+ off processors, [0-9]+ of them preempted$' \
		'info tells how many switches there are'
	is "$("$XAUDIT" stacks --sort=waiting --format=json d | jq -r '.stacks[0].frames[0].function'),$(
		"$XAUDIT" stacks --sort=cpu --format=json d | jq -r '.stacks[0].frames[0].function')" \
		"$(if [ "$(waited waiting)" -gt "$(waited working)" ]; then
			echo waiting
		else
			echo working
		fi),working" 'stacks tell what waits from what works'
	ok 'the longest call worked, and waited' test "$("$XAUDIT" slow --format=json -n 1 mixed d | jq '.slow[0] |
		.cpu_ns >= 9500000 and .waiting_ns >= 9500000 and .cpu_ns + .waiting_ns == .time_ns')" = true
	little=$(($(of working cpu_ns) / 100 + interrupted))
	ok 'waiting took nearly nothing of a processor' test "$(of waiting cpu_ns)" -lt $little
	ok 'what it did itself is the rest' test "$(of mixed cpu_self_ns)" -eq \
		$(($(of mixed cpu_ns) - $(of waiting cpu_ns) - $(of working cpu_ns))) -o \
		"$(of mixed cpu_self_ns)" -lt $little
	is "$(of mixed cpu_unknown)" null 'all of it is known'
	report d --by=thread
	is "$(printf '%s\n' "$report" |
		jq '[.threads[] | select(.cpu_ns > 190000000 and .cpu_ns <= .total_ns)] | length')" 8 \
		'each of the threads worked 200 ms'
	calm
}
# true_sum NAME...: what the program says of the function "working" under these names.
true_sum() {
	true_sums=0
	for name; do true_sums=$((true_sums + $(true_of "$name"))); done
	echo "$true_sums"
}
others() {
	load 2
	run_near working working short 200 500
	is "$status $(calls working)" '0 200' '200 threads begin and end'
	as_true working 'times of threads that end are right'
	run_near working 'parent child' fork 30000
	is "$status $(calls working)" '0 2' 'a process and its child'
	ok 'times of both are right' near "$(of working cpu_ns)" "$(true_sum parent child)"
	run_near working 'first second' exec 20000 300000
	is "$status $(calls working)" '0 2' 'a process that executes another program'
	ok 'times of both are right' near "$(of working cpu_ns)" "$(true_sum first second)"
	info=$("$XAUDIT" info --format=json d)
	ok 'each program has its own time' test "$(printf '%s\n' "$info" | jq '[.processes[].cpu_ns] |
		length == 2 and .[0] > 19000000 and .[1] > 290000000 and .[1] - .[0] > 100000000')" = true ||
		diag "$(printf '%s\n' "$info" | jq '[.processes[].cpu_ns]')"
	run_near shared shared coroutines 5000
	is "$status $(calls shared)" '0 2' 'two coroutines'
	ok 'a call that waits while another stack runs is not working then' near "$(of shared cpu_ns)" \
		"$(true_of shared)" || diag "$(of shared cpu_ns) $(true_of shared)"
	calm
}
migrations() {
	load 2
	run_near working working moving 40 2000
	calm
	if [ "$status" -eq 77 ]; then
		skip 2 'there is one processor'
		return
	fi
	is "$status $(calls working)" '0 40' 'a thread is moved between processors 40 times'
	as_true working 'its time is right'
}
clocks() {
	clock=monotonic
	run_near mixed mixed threads 2 10 2000 5000
	clock=auto
	as_true mixed 'times are right where events have CLOCK_MONOTONIC'
	run_near mixed mixed threads 2 10 2000 5000
	report d/p*
	as_true mixed 'a process of the trace that is opened alone has them, too'
	"$XAUDIT" pack -o "$tmp/packed" d >/dev/null
	report packed
	as_true mixed 'so does a packed trace'
	is "$("$XAUDIT" report --format=json -j 2 d)" "$("$XAUDIT" report --format=json -j 1 d)" \
		'whether one thread reads them or two'
}
switches 11 eight
switches 9 others
switches 2 migrations
switches 4 clocks

# ---- nothing is seen in the program ----
is "$("$XAUDIT" record --sched -o "$tmp/f" ./sched files | sort | tr '\n' ' ')" \
	"$(./sched files | sort | tr '\n' ' ')" 'the program has no descriptor more'

# ---- switches that are lost ----
# begun: does the recorder look, and is its command there? Sets $child. ended: did that end, maybe unnoticed?
begun() {
	child=$(cat "/proc/$recorder/task/$recorder/children")
	child=${child% }
	[ -n "$child" ] && [ -e d/sched ] && [ "$(wc -c <d/sched)" -gt 56 ]
}
ended() {
	! kill -0 "$child" 2>/dev/null || grep -q '^State:.Z' "/proc/$child/status"
}
lost() {
	rm -rf d go
	"$XAUDIT" record -o d --sched -k patchable -- ./sched switches 200000 go >out 2>err &
	recorder=$!
	wait_until 60 begun
	kill -STOP "$recorder"
	: >go
	# It is stopped until its rings are long full: 200 000 turns are 800 000 records, 4 times what they hold.
	wait_until 300 ended
	kill -CONT "$recorder"
	status=0
	wait "$recorder" || status=$?
	is "$status" 0 'a recorder that had no processor for long goes on'
	like "$(cat err)" '^xaudit record: [0-9]+ context switches were lost: times on processors are not known' \
		'it says that switches were lost'
	report d
	is "$(of mixed cpu_ns) $(of mixed cpu_unknown)" 'null 1' 'what lies in the stretch has no number'
	like "$("$XAUDIT" report d)" '^of [0-9]+ calls it is not known how long they were on processors: ' \
		'the table says so'
	like "$("$XAUDIT" info d)" '; [0-9]+ were lost, in [0-9]+ stretches of time$' 'and info'
}
switches 5 lost

# ---- a recorder that is killed ----
# known: has the recorder written what mixed() did?
known() {
	report d
	[ "$(of mixed cpu_unknown)" = null ]
}
killed_once() {
	rm -rf d made go
	interrupted=$(interrupts)
	"$XAUDIT" record -o d --sched -k patchable -- ./sched steps 20000 made go >out 2>err &
	recorder=$!
	wait_until 60 test -e made
	wait_until 60 begun
	wait_until 60 known
	kill -KILL "$recorder"
	wait "$recorder" 2>/dev/null
	: >go
	wait_until 60 ended
	out=$(cat out)
	interrupted=$(($(interrupts) - interrupted))
	report d
}
killed() {
	# As in run_near.
	for try in 1 2 3; do
		killed_once
		near "$(of mixed cpu_ns)" "$(true_of mixed)" && break
		diag "try $try: mixed $(of mixed cpu_ns)"
	done
	like "$("$XAUDIT" info d)" '; nothing is known after the last, since xaudit record was killed' 'info tells'
	as_true mixed 'what came before a recorder was killed has its time'
	is "$(of working calls) $(of working cpu_ns) $(of working cpu_unknown)" '2 null 1' \
		'what came later has no number'
}
switches 3 killed

# ---- where the kernel refuses ----
for number in 1 13 38; do
	status=0
	./sched refuse $number "$XAUDIT" record -o "$tmp/r$number" --sched -k patchable -- \
		./sched threads 2 10 1000 20000 >out 2>err || status=$?
	is "$status $(wc -l <err)" '0 1' "errno $number: it runs, and one line tells"
	like "$(cat err)" \
		'^xaudit record: (context switches are refused \(perf_event_open: |the kernel refuses context switch)' \
		'what is refused'
	like "$(cat err)" "so --sched has only what each thread ran in all" 'and what there is instead'
	out=$(cat out)
	report r$number
	is "$(of mixed calls) $(of mixed cpu_ns)" '20 null' 'the trace is there, without times on processors'
	like "$("$XAUDIT" info r$number)" '^Switches +none, but what each thread ran in all: the kernel refused them' \
		'info says why'
	info=$("$XAUDIT" info --format=json r$number)
	ok 'the total of the program is at least that of its calls' test \
		"$(printf '%s\n' "$info" | jq '.processes[0].cpu_ns')" -ge "$(true_of mixed)"
	ok 'those of its threads are at most that, and not nothing' test \
		"$(printf '%s\n' "$info" | jq '[.processes[0] | .cpu_ns >= (.cpu_threads | map(.cpu_ns) | add),
			(.cpu_threads | map(select(.cpu_ns > 20000000)) | length >= 2)] | all')" = true
done

# ---- where the sysctl refuses ----
# A namespace in which that file says 3, and a filter that does what the kernel does then.
echo 3 >paranoid
if unshare -m mount --bind paranoid /proc/sys/kernel/perf_event_paranoid 2>/dev/null; then
	status=0
	bounded 60 unshare -m sh -c 'mount --bind paranoid /proc/sys/kernel/perf_event_paranoid; exec "$@"' sh \
		./sched refuse 13 "$XAUDIT" record -o "$tmp/r" --sched -k patchable -- ./sched short 1 1000 \
		>out 2>err || status=$?
	is "$status $(cat err)" "0 xaudit record: the kernel refuses context switches (kernel.perf_event_paranoid is \
3), so --sched has only what each thread ran in all; \`sysctl kernel.perf_event_paranoid=2\`, or CAP_PERFMON, would \
give them" 'what would give more'
	like "$("$XAUDIT" info r)" '\(Permission denied; kernel.perf_event_paranoid was 3\)$' 'info tells, too'
else
	skip 2 'there are no mounts of its own here'
fi

# ---- without a trace ----
status=0
"$XAUDIT" record --sched -o "$tmp/none" ./nothing >out 2>err || status=$?
is "$status $(ls -d none 2>/dev/null)" '127 ' 'a command that is not there leaves no folder'
record d --sched -k patchable -- ./sched short 1 1000
record d --sched -k patchable -- ./sched short 1 1000
ok 'the older trace gives way' test ! -e d.old.old -a -e d/sched
done_testing
