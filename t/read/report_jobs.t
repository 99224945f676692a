#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit report -j: however many threads read, the output is the same to the last byte, errors too.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/written.sh"
built spoil

# process NAME SEED LAST: what all processes have: seven threads of 30 functions, some of which are equal.
process() {
	echo "process $1 flags=1 clock=tsc"
	printf 'pair first 2000000 1000000 5\npair last %s\n' "$3"
	echo 'object 1 /usr/lib/libfoo.so'
	echo 'object 2 /usr/lib/libbar.so'
	i=0
	while [ $((i += 1)) -le 30 ]; do
		echo "function $((i % 2 + 1)) 0 $i $((i * 16)) $([ "$i" -lt 10 ] || echo "of_$1_")foo_$i"
	done
	echo 'type 16 request'
	i=0
	while [ $((i += 1)) -le 7 ]; do
		echo "thread $(($2 + i)) name$i"
		[ "$i" -gt 4 ] || echo stream
		printf 'unwind 3 2000000\nentry 1 2000100\nentry 2 2000200\n' # an orphan, two calls that have no end
		echo "random $(($2 + i)) $((i * 997)) 30 20"
		echo "custom 16 9000000 =$1"
		printf 'point 5 9000000\nlost %s\n' "$i"
	done
	echo "counts 1 $2 - 1:5 7:$2"
}
{
	echo 'record version: 0.1.0'
	process p100 100 '80000000 40000000 39000005'
	echo 'change throttled 3000000 100 4'
	process p200 200 '80000000 40000000 39000005'
	echo 'fork 201'
	echo 'child 201 flags=1'
	printf 'pair first 2000000 1000000 5\npair last 80000000 40000000 39000005\nthread 209\n'
	printf 'entry 1 2000100\nexit 1 2000300\nexit 2 2000300\ncrash 11\n'
	process p300 300 '80000000 40000000 39000005'
	echo 'head moved=1'
	printf 'thread 309 main\nstack 5 5000000\nentry 2 5000000\nentry 3 5000010\n'
	printf 'thread 310\nstack 5 5000100\nexit 3 5000110\nexit 2 5000120\n'
} | write_trace same
# Another rate of the clock: times are no ticks then.
{
	process p100 100 '80000000 41000000 39000005'
} | write_trace other

# of JOBS OPTION...: output, errors and status.
of() {
	jobs=$1
	shift
	bounded 60 "$XAUDIT" report "-j$jobs" "$@" 2>&1
	echo "status $?"
}

# same WORDS OPTION...
same() {
	words=$1
	shift
	of 1 "$@" >"$tmp/one"
	wrong=
	for jobs in 2 3 16; do
		of "$jobs" "$@" >"$tmp/many"
		cmp -s "$tmp/one" "$tmp/many" || wrong="$wrong $jobs"
	done
	is "$wrong $(tail -n 1 "$tmp/one")" ' status 0' "$words"
}

of 1 --format=json "$tmp/same" >"$tmp/one"
is "$(grep -c '"function"' "$tmp/one")" 72 'there are 9 functions that processes share, and 21 of each'
same 'by function' --format=json "$tmp/same"
same 'as a table' "$tmp/same"
same 'by library' --format=json --by=library "$tmp/same"
same 'by thread' --format=json --by=thread "$tmp/same"
is "$(grep -o '"tid":309,.*"self_ns":[0-9]*' "$tmp/many")" \
	'"tid":309,"name":"main","calls":2,"total_ns":60,"self_ns":60' 'calls that another thread goes on with are its'
same 'by process' --format=json --by=process "$tmp/same"
same 'processes apart' --format=json --apart "$tmp/same"
same 'a thread' --format=json --tid=203 "$tmp/same"
same 'a time' --format=json --from=300us --to=2ms "$tmp/same"
same 'a process' --format=json --pid=300 "$tmp/same"
same 'two folders whose clocks differ' --format=json "$tmp/same" "$tmp/other"
same 'two folders by thread' --format=json --by=thread "$tmp/same" "$tmp/other"

# Damage is told in the order of the trace, and counted.
seed=0
wrong=
found=0
while [ $((seed += 1)) -le 60 ]; do
	rm -rf "$tmp/bad"
	cp -R "$tmp/same" "$tmp/bad"
	for file in "$tmp"/bad/p*/*; do
		[ $(((seed + ${#file}) % 2)) -eq 0 ] || "$spoil" "$file" "$seed" || bail 'spoil failed'
	done
	of 1 --format=json "$tmp/bad" >"$tmp/one"
	of 3 --format=json "$tmp/bad" >"$tmp/many"
	cmp -s "$tmp/one" "$tmp/many" || wrong="$wrong $seed"
	[ "$(tail -n 1 "$tmp/one")" = 'status 0' ] || found=$((found + 1))
done
is "$wrong" '' 'so are numbers and errors of damaged traces'
ok 'of which there are some' [ "$found" -gt 20 ]
diag "$found of 60 readings found the damage"
done_testing
