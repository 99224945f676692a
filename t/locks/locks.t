#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit locks: a planted holder, chain, inversion and deadlock are found, with their numbers; a correct program has
# none; locks of C++ are those of libc; what can't be reported is said.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
unset XAUDIT_CONFIG XAUDIT_RULES
need "${CXX%% *}"
program "$CC" planted planted.c
program "$CXX" standard standard.cc -std=c++17
mkdir where
TMPDIR=$tmp/where
export TMPDIR

# locks ARG...: sets $status, $out and $err.
locks() {
	status=0
	bounded 60 "$XAUDIT" locks "$@" >"$tmp/.out" 2>"$tmp/.err" </dev/null || status=$?
	out=$(cat "$tmp/.out")
	err=$(cat "$tmp/.err")
}
# json FILTER: of the JSON that was printed. lock NUMBER and the like are of the program: the dynamic linker has others.
json() {
	printf '%s\n' "$out" | jq -r "
		def lock(id): (.locks + .conditions)[] | select(.id == id)
			| if .offset > 0 then \"\(.variable)+\(.offset)\" else .variable end;
		def own: select(.library // \"\" | endswith(\"/$of\"));
		$1"
}
of=planted

locks --format=json -F 'refresh@planted*' -F 'pause_ms@planted*' -F 'take@planted*' -- ./planted holder
is "$status $err" '0 ' 'a program is recorded, and reported of'
is "$(ls where)" '' 'and no trace is left'
is "$(json '.locks[] | own | "\(.variable) \(.kind) \(.calls) calls, \(.waits.count) waits, \(.free.count) free, " +
	"\(.holds.count) holds by \(.holders)"')" \
	'queue_lock mutex 13 calls, 12 waits, 1 free, 13 holds by 13' 'by lock, with the name of its variable'
is "$(json '. as $all | .holds[0] | .lock as $id |
	($all | lock($id)) + " " + .thread + " " + .locked_in + " " + (.meanwhile | join(" > ")) + " \(.waiters)"')" \
	'queue_lock flusher refresh pause_ms > nanosleep 12' 'who held it while 12 waited, and what that thread did'
is "$(json '.holds[0] | .time_ns >= 40000000 and .time_ns < 30000000000 and .others_waited_ns >= 12 * 40000000 and
	.others_waited_ns <= 12 * .time_ns and .meanwhile_ns >= 40000000 and .meanwhile_ns <= .time_ns')" true \
	'40 ms, each of them'
is "$(json '.places[] | "\(.locked_in) \(.function) \(.calls) \(.waits.count)"' | LC_ALL=C sort)" \
	'refresh pthread_mutex_lock 1 0
take pthread_mutex_lock 12 12' 'who waited, and for whom, by place'
is "$(json '[.places[].waits.total_ns] | add')" "$(json '[.locks[].waits.total_ns] | add')" \
	'waits by place and by lock are the same in all'
is "$(json '([.holders[].others_waited_ns] | add) == ([.places[].others_waited_ns] | add)')" true \
	'and so is what others waited, by holder and by place'
is "$(json '(.inversions | length), (.chains | length), (.held_at_end | length), (.waiting_at_end | length)' |
	tr '\n' ' ')" '0 0 0 0 ' 'nothing else is found'

locks --keep=kept -F 'refresh@planted*' -- ./planted holder
like "$out" '^ +13 +12 .* 13  mutex +queue_lock \[planted\]$' 'as text: by lock'
like "$out" \
	'^thread [0-9]+ \(flusher\) held queue_lock \[planted\] [0-9.]+ ms in refresh > nanosleep while 12 waited, ' \
	'by holder'
kept=$(printf '%s\n' "$out")
locks kept
is "$status $err" '0 ' 'a trace that is there is reported of'
is "$out" "$kept" 'in the same way'
"$XAUDIT" pack kept >/dev/null 2>&1
locks kept.pack
is "$out" "$kept" 'a packed one, too'
locks kept --format=json -n 1
is "$(json '.locks | length > 1')" true 'with options behind its name; JSON has all rows'
locks -n 1 kept
like "$out" '^and [0-9]+ more: -n shows them$' 'text as many as asked for'

locks --format=json -- ./planted readers
is "$(json '.locks[] | own | "\(.variable) \(.calls) calls, \(.waits.count) waits, \(.holders) holders"')" \
	'table_lock 6 calls, 1 waits, 6 holders' 'a lock that several hold at once'
is "$(json '[.holds[] | select(.waiters == 1 and .thread == "reader" and .time_ns >= 10000000)] |
	"\(length) \(map(.tid) | unique | length)"')" '5 5' 'each of them held it while the writer waited'
is "$(json '[.holders[] | select(.thread == "writer") | .waits.total_ns] | add >= 50000000')" true \
	'who waited as long as the last one held it'
is "$(json '[.holds[].others_waited_ns] | (max / min) >= 2 and max >= 50000000')" true 'each for its time'
is "$(json '.chains + .inversions | length')" 0 'that is no chain, and no inversion'

locks --format=json -- ./planted chain
is "$(json '.chains | length')" 1 'one chain'
is "$(json '. as $all | .chains[0] | [.locks[] as $id | $all | lock($id)] | join(" ")')" \
	'in_struct+8 second_lock queue_lock' 'through three locks, one in a structure'
is "$(json '.chains[0] | "\(.deadlock) \(.count) \(.threads | length) \(.longest_ns >= 30000000)"')" 'false 1 4 true' \
	'of four threads, once, for 30 ms'
is "$(json '.inversions | length')" 0 'and no inversion'

locks --format=json -- ./planted inversion
is "$(json '. as $all | .inversions[] | "\(.gate) \(.one_thread) " + ([.orders[] | .before as $b | .after as $a |
	($all | lock($b)) + " before " + ($all | lock($a)) + " \(.count)"] | sort | join(", "))')" \
	'null false queue_lock before second_lock 3, second_lock before queue_lock 1' 'an inversion, with both orders'
locks -- ./planted inversion
like "$out" '^1\. by several threads: a deadlock if they do it at the same time$' 'as text'
locks --format=json -- ./planted gated
is "$(json '. as $all | .inversions[] | .gate as $id | $all | lock($id)')" gate 'one that a gate keeps from happening'

locks --format=json -- ./planted correct
is "$status $(json '.inversions | length') $(json '.waiting_at_end | length') $(json '.held_at_end | length')" \
	'0 0 0 0' 'a correct program has no inversions, and leaves nothing'
is "$(json '[.locks[] | own | "\(.variable) \(.calls)"] | sort | .[] | select(test("queue_lock") | not)')" \
	'gate 400
second_lock 400
spin 400
table_lock 800' 'its calls'
is "$(json '.locks[] | own | select(.variable == "table_lock") | "\(.kind) \(.holds.count)"')" 'rwlock 800' \
	'readers and writers'
is "$(json '[.locks[] | select(.library == null and .kind == "mutex") | "\(.calls) \(.holds.count)"] | join(", ")')" \
	'200 100, 200 100, 200 100, 200 100' 'of recursive mutexes on the heap a hold is one for two calls'
is "$(json '.conditions[] | own | "\(.variable) \(.kind) \(.calls) \(.in_vain)"' | LC_ALL=C sort)" \
	'filled condition 4 4
tokens semaphore 400 0' 'conditions and semaphores'

locks --format=json -- ./planted deadlock
is "$(json '. as $all | [.chains[] | .deadlock] | join(" ")')" true 'a deadlock'
is "$(json '. as $all | [.waiting_at_end[] | .lock as $id | $all | lock($id)] | sort | join(" ")')" \
	'queue_lock second_lock' 'and who waited in the end'
is "$(json '. as $all | [.held_at_end[] | .lock as $id | "\(.thread_ended) " + ($all | lock($id))] | sort |
	join(", ")')" \
	'false queue_lock, false second_lock, true in_struct+8' 'what was held then, and by whom when it ended'

# Killed by a signal, a shell would tell so: what is expected is its number.
(locks --format=json -- ./planted killed; echo "$status" >killed) 2>/dev/null
out=$(cat "$tmp/.out")
is "$(cat killed) $(json '[.chains[] | .deadlock] | join(" ")')" '137 true' \
	'a program that is killed in its deadlock is reported of, and its signal passed on'

locks --format=json -- ./planted forks
is "$(json '[.locks[] | own | "\(.variable) \(.calls)"] | sort | join(", ")')" 'queue_lock 3, queue_lock 5' \
	'each process has its locks'
is "$(json '[.locks[] | own | .pid] | unique | length')" 2 'with its number'
locks -- ./planted forks
is "$(printf '%s\n' "$out" | grep -c ' queue_lock \[planted\] of process [0-9]*$')" 2 'which text has, too'

of=standard
locks --format=json -- ./standard
is "$(json '[.locks[] | own | "\(.variable) \(.kind) \(.calls) \(.waits.count) \(.holds.count)"] | sort | .[]' |
	grep -v '^\(again\|basket\) ')" 'slow mutex 2 1 1
table rwlock 4 3 4' 'locks of C++'
is "$(json '.locks[] | own | select(.variable == "again" or .variable == "basket") | "\(.variable) \(.holds.count)"' |
	LC_ALL=C sort)" "again 13
basket $(json '8 + .conditions[0].calls')" 'a hold ends where a condition is waited for'
is "$(json '.conditions[] | own | "\(.variable) \(.waits.max_ns >= 10000000)"')" 'filled true' 'condition_variable'
is "$(json '.inversions | length')" 0 'std::scoped_lock inverts nothing'

# At fixed addresses, and with locks that are not seen.
cat >rust.s <<'END'
.section .comment
.string "rustc version 1.63.0"
END
program "$CC" fixed planted.c -no-pie -fno-pie "$tmp/rust.s"
of=fixed
locks --format=json -- ./fixed inversion
is "$(json '[.locks[] | own | .variable] | sort | join(" ")')" 'queue_lock second_lock' \
	'names of variables in a program at a fixed address'
is "$(json '.not_seen | join(" ")')" 'glibc rust' 'what has locks of its own is told'
locks -- ./fixed inversion
like "$out" "^not seen: glibc's, Rust's own locks, which call no function of pthreads; see xaudit-locks\(1\)\$" \
	'as text'
# What returns from main() has locks of the dynamic linker's.
printf '%s\n' '#include <unistd.h>' 'int main(void) { _exit(0); }' >"$tmp/none.c"
$CC -o none "$tmp/none.c" || bail 'a program does not compile'
locks -- ./none
is "$status $(printf '%s\n' "$out" | head -n 1)" '0 no function that locks was called' \
	'of a program without locks that is said'

# What can't be reported.
locks -- sh -c 'exit 7'
is "$status" 7 'the exit status is that of the command'
locks -- ./no-such-program
is "$status" 127 'or tells that there is none'
$CC -static -o static "$tmp/none.c" 2>/dev/null && {
	locks -- ./static
	is "$status $out" '1 ' 'nor what is no dynamic program'
	like "$err" '^xaudit locks: nothing was traced, so there is nothing to show$' 'which is said'
	is "$(printf '%s\n' "$err" | wc -l)" 2 'behind the line that says why'
}
locks -x
is "$status" 125 'or that the options are wrong'
locks kept -x
is "$status" 125 'behind the name of a trace, too'
is "$(ls where)" '' 'no trace is left'
"$XAUDIT" record -o other -k plt -- ./planted inversion >/dev/null 2>&1
locks other
is "$status" 1 'a trace that has no locks'
like "$err" 'has calls that lock, but not of what; `xaudit locks --keep=DIR COMMAND` records that$' \
	'is told how to have some'
"$XAUDIT" record -o coarse --clock=coarse -F 'pthread_mutex_*lock' --context arg1,ret ./planted inversion \
	>/dev/null 2>&1
locks coarse
is "$status" 1 'a clock that does not tell who came first'
like "$err" 'the clock of the trace is coarse, so nothing tells who came first' 'is refused'
"$XAUDIT" record -o values -a -F 'pthread_mutex_*lock' -- ./planted inversion >/dev/null 2>&1
locks --format=json values
is "$(json '.inversions | length')" 1 'values that `xaudit record -a` has will do'
done_testing
