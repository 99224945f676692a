#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Code that was compiled for a profiler (-pg): by each option of gcc and clang, in libraries that come and go and in
# programs, each call is traced, with its return, in the right tree; and no profiler is called there.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/ctl.sh"

need nm
XAUDIT_INDEX=$tmp/index
export XAUDIT_INDEX
program "$CC" reload reload.c
names='pg_aligned pg_large pg_leaf pg_many pg_middle pg_run pg_sum pg_variadic'

# tree N [INDENT]: what replay shows of pg_run(N).
tree() {
	echo "pg_run() {
  pg_leaf();"
	if [ "$1" -eq 0 ]; then
		echo '  pg_middle();'
	else
		echo '  pg_middle() {'
		i=0
		while [ $i -lt "$1" ]; do
			i=$((i + 1))
			echo '    pg_leaf();'
		done
		echo '  } /* pg_middle */'
	fi
	echo '  pg_large();'
	indent='  ' i=0
	while [ $i -lt "$1" ]; do
		i=$((i + 1))
		echo "${indent}pg_sum() {"
		indent="  $indent"
	done
	echo "${indent}pg_sum();"
	while [ $i -gt 0 ]; do
		i=$((i - 1))
		indent=${indent#  }
		echo "$indent} /* pg_sum */"
	done
	echo '  pg_many();
  pg_variadic();
  pg_aligned();
} /* pg_run */'
}
replayed() {
	bounded 60 "$XAUDIT" replay d | sed -n 's/^[^#]*\] | //; /^\/\*/d; /pg_/p'
}
# counted CYCLES [MAIN]: is the report that of so many times pg_run(0 ... 3), and of MAIN calls of main()?
counted() {
	report d
	is "$(for f in $names; do printf '%s ' "$(calls "$f")"; done)$(sums)" \
		"$((4 * $1)) $((4 * $1)) $((10 * $1)) $((4 * $1)) $((4 * $1)) $((4 * $1)) $((10 * $1)) $((4 * $1)) \
0 lost 0 unfinished" "$name: exactly so many calls, each with its return"
	is "$(printf '%s\n' "$report" | jq -c '[.functions[] | select(.function | startswith("pg_") | not) |
		[.function, .calls]]')" "${2-[]}" "$name: and of nothing else"
}
expected=$(for n in 0 1 2 3; do tree $n; done)
expected_thrice=$expected$(printf '\n%s\n%s' "$expected" "$expected")
# traced CYCLES: the library that was built is loaded so often; in each load pg_run(0 ... 3) is called.
traced() {
	record d -k "$kind" -l libpg.so ./reload "$1" 4 "$tmp/libpg.so:pg"
	is "$status/$(printf '%s\n' "$out" | sed 's/.*=\([0-9]*\) .*/\1/')/$err" 0/0/ "$name: its results are right"
	counted "$1"
	is "$(object d libpg.so .sites)" "{\"$kind\":{\"traced\":8}}" \
		"$name: all functions are sites"
	[ "$1" -ne 3 ] || is "$(replayed)" "$expected_thrice" "$name: the tree of calls"
}
# library_of COMPILER KIND OPTION...
library_of() {
	compiler=$1 kind=$2
	shift 2
	name="$compiler $*"
	if ! "$compiler" -g -fPIC -shared -Wl,-soname,libpg.so "$@" -o libpg.so "$sources/pg_part.c" 2>err; then
		skip 5 "$compiler has no $*"
		return
	fi
	index_of libpg.so
	traced 3
}

for compiler in "$CC" "$CLANG"; do
	[ -n "$compiler" ] && command -v "${compiler%% *}" >/dev/null || continue
	for level in -O0 -O2; do
		library_of "$compiler" mcount $level -pg
		library_of "$compiler" fentry $level -pg -mfentry
	done
	library_of "$compiler" mcount -O2 -pg -fno-plt
	library_of "$compiler" fentry -O2 -pg -mfentry -fno-plt
	library_of "$compiler" mcount -O2 -pg -fcf-protection=full -Wl,-z,now
	library_of "$compiler" fentry -O2 -pg -mfentry -fcf-protection=full -Wl,-z,now
done
# Libraries with text relocations, beside their code.
library_of "$CC" mcount -O2 -pg -mrecord-mcount
library_of "$CC" fentry -O2 -pg -mfentry -mrecord-mcount
name="$CC -O2 -pg -mfentry -mrecord-mcount, 200 loads"
traced 200

# Programs. main() is one of their functions.
cat >main.c <<'END'
int pg_work(int);
int main(void)
{
	int wrong = 0;

	for (int n = 0; n < 4; n++)
		wrong += pg_work(n);
	return wrong;
}
END
# program_of COMPILER KIND OPTION...
program_of() {
	compiler=$1 kind=$2
	shift 2
	name="$compiler $*"
	if ! "$compiler" -g "$@" -o pg "$sources/pg_part.c" main.c 2>err; then
		skip 4 "$compiler has no $*"
		return
	fi
	index_of pg
	printf '[library *]\nkinds = none\n[program]\nkinds = %s\n' "$kind" >conf
	record d -c conf ./pg
	is "$status/$out/$err" 0// "$name: its results are right"
	counted 1 '[["main",1]]'
	is "$(replayed | sed 's/^  //')" "$expected" "$name: the tree of calls, which main() makes"
}
for level in -O0 -O2; do
	program_of "$CC" mcount $level -fPIE -pie -pg
	program_of "$CC" fentry $level -fPIE -pie -pg -mfentry -mrecord-mcount
	program_of "$CC" mcount $level -fno-pie -no-pie -pg -mrecord-mcount
	program_of "$CC" mcount $level -fno-pie -no-pie -pg -mnop-mcount
	program_of "$CC" fentry $level -fno-pie -no-pie -pg -mfentry -mnop-mcount
	program_of "$CC" fentry $level -fno-pie -no-pie -pg -mfentry -mnop-mcount -mrecord-mcount -fcf-protection=full
done

# No profiler is called, not by functions that are not traced either; but where nobody asks for the kind.
if command -v gprof >/dev/null && "$CC" -O2 -fPIE -pie -pg -o pg "$sources/pg_part.c" main.c 2>err; then
	index_of pg
	# gprofs [ARG]...: how many lines of gprof tell of calls of pg_leaf when the program is recorded so.
	gprofs() {
		rm -f gmon.out
		record d "$@" ./pg
		gprof -bq pg gmon.out 2>err | grep -c '^ .* pg_leaf '
	}
	printf '[library *]\nkinds = none\n[program]\nkinds = mcount\nfunctions = pg_leaf\n' >conf
	gprofs -c conf >/dev/null
	ok 'no profiler is left where the kind is asked for' test ! -e gmon.out
	report d
	is "$(printf '%s\n' "$report" | jq -c '[.functions[] | [.function, .calls]]'), $(sums)" \
		'[["pg_leaf",10]], 0 lost 0 unfinished' 'of one function that is selected, all calls are traced'
	is "$(object d pg .sites)" '{"mcount":{"traced":1,"not selected by the rules":8}}' 'the others are known'
	sed 's/mcount/plt/' conf >other
	ok 'elsewhere they stay' test "$(gprofs -c other)" -gt 0
	ok 'as those of others do where a function is displaced as any other' test "$(gprofs -F pg_sum)" -gt 0
	report d
	is "$(calls pg_sum), $(sums)" '10, 0 lost 0 unfinished' 'and counted'
else
	skip 6 'no gprof here'
fi

# Switched while they run, from outside; in processes that were not asked to trace them, too.
all_on() {
	ctl "$pid" enable "$kinds:*"
	[ "$(on)" -eq 102 ]
}
switched() {
	name="$1, $4" kinds=$2
	mkdir -p "$kinds"
	library "$CC" "$kinds/libcontrolled.so" controlled_library.c -DDIGITS=2 $3
	program "$CC" "$kinds/controlled" controlled.c "-L$kinds" -lcontrolled
	index_of "$kinds/libcontrolled.so"
	[ "$4" = none ] || rules 'enabled = no' "$4"
	[ "$4" != none ] || (kinds=none && rules)
	begin "$kinds/controlled" counters 3 8 signals
	tell 'call 100'
	is "$(on)" 0 "$name: nothing is on at first"
	ctl "$pid" enable "$kinds:counted"
	is "$status $(printf '%s\n' "$out" | sed 's/[0-9.]* ms/T ms/') $err" \
		'0 1 function: 1 site switched on, 0 were already, paused T ms ' "$name: one function is switched on"
	tell 'call 50'
	ctl "$pid" disable '*'
	is "$(on)" 0 "$name: it is off again"
	tell 'call 30'
	# Where a thread is among the instructions that would be displaced, it says: try again.
	ok "$name: all are switched on" wait_until 60 all_on
	tell 'call 7'
	ctl "$pid" disable counted
	tell 'call 100'
	ctl "$pid" enable counted
	tell 'call 11'
	ctl "$pid" disable '*'
	is "$(on)" 0 "$name: and off"
	tell 'call 100'
	finish
	is "$status $(tail -n 1 out) $(cat err)" '7 interrupted 0 wrong 0 ' "$name: the program notices nothing"
	report d
	is "$(calls counted), $(sums)" '68, 0 lost 0 unfinished' "$name: exactly those calls are in the trace"
}
switched -pg mcount -pg 'prepare = selected'
switched -pg mcount -pg 'prepare = none'
switched '-pg -mfentry' fentry '-pg -mfentry' 'prepare = selected'
switched '-pg -mfentry' fentry '-pg -mfentry' 'prepare = none'
for flags in '-pg' '-pg -O0' '-pg -mfentry' '-pg -mfentry -fno-plt' '-pg -mfentry -mrecord-mcount'; do
	case $flags in *mfentry*) kind=fentry ;; *) kind=mcount ;; esac
	switched "$flags" $kind "$flags" none
done

# In libraries that come later.
program "$CC" reopened reopened.c
for kinds in fentry mcount; do
	(kinds=none && rules)
	begin ./reopened $kinds/libcontrolled.so
	tell 'open 0'
	tell 'call 3'
	ctl "$pid" enable $kinds:counted
	like "$out" '^1 function: 1 site switched on, ' "$kinds: it is switched on in what is loaded"
	tell 'call 5'
	tell 'close 0'
	tell 'open 0'
	tell 'call 7'
	ctl "$pid" disable '*'
	tell 'call 9'
	finish
	report d
	is "$status $(cat err) $(calls counted), $(sums)" '5  12, 0 lost 0 unfinished' "$kinds: and in what comes later"
done
done_testing
