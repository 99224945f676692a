#!/bin/sh
# SPDX-License-Identifier: MIT
#
# perf finds the callers of traced functions, by frame pointers and by unwinding a copy of the stack, in processes that
# were started with --perf, or `perf = yes`.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

need perf
HOME=$tmp XDG_CACHE_HOME=$tmp/cache
export HOME XDG_CACHE_HOME
# sample ARG...: perf record.
sample() {
	bounded 100 perf record -q -e cpu-clock -F 997 -o data "$@"
}
if ! sample -g true >said 2>&1 || ! bounded 60 perf script -i data >/dev/null 2>&1; then
	skip_all "perf may not sample here: $(head -n 1 said)"
fi

# chains PROGRAM: of the samples in data, a line for each: the functions, from the innermost on, without the kernel's.
chains() {
	bounded 60 perf script -i data --comm "$1" -F ip,sym,dso 2>perf.err |
		awk 'NF > 1 { if ($NF != "([kernel.kallsyms])" && !/\(inlined\)$/) line = line $2 " "; next }
			line != "" { print line; line = "" }
			END { if (line != "") print line }'
}

# judge INNERMOST CHAIN: how many samples begin in that function, and how many of these don't begin with that chain.
judge() {
	awk -v first="$1" -v chain="$2 " '$1 ~ "^(" first ")$" { all++; bad += index($0, chain) != 1 ? more($0) : 0 }
	function more(line) { if (said++ < 5) print "# " line >"/dev/stderr"; return 1 }
	END { print all + 0, bad + 0 }'
}

# right NAME: checks what `judge` has printed: there are samples, and the chain is right in all of them.
right() {
	ok "$1: there are samples ($samples)" test "$samples" -ge 20
	is "$wrong" 0 "$1: the callers are right in all of them"
}

frames='-fno-omit-frame-pointer -fno-shrink-wrap -fno-optimize-sibling-calls'
without='-fomit-frame-pointer -fno-optimize-sibling-calls'

how=run
# build FLAGS: makes library and program.
build() {
	# shellcheck disable=SC2086
	library "$CC" libperf_1.so perf_part.c $1 -DPART=1
	# shellcheck disable=SC2086
	library "$CC" libperf_2.so perf_part.c $1 -DPART=2 -L. -lperf_1
	# shellcheck disable=SC2086
	library "$CC" libperf_3.so perf_part.c $1 -DPART=3 -L. -lperf_1 -lperf_2
	# shellcheck disable=SC2086
	program "$CC" perf_app perf_app.c $1 -L. -lperf_3 -Wl,-rpath-link,.
}

# spun CALL-GRAPH KINDS [OPTION]...: samples the chain of calls under record, which reports what it has seen.
spun() {
	graph=$1 kinds=$2
	shift 2
	rm -rf d data
	status=0
	sample "$graph" "$XAUDIT" record -o "$tmp/d" -k "$kinds" -l 'libperf_*.so' "$@" \
		./perf_app "$how" 20 16000000 >out 2>err || status=$?
	report d
	samples='' wrong=''
	# shellcheck disable=SC2046
	set -- $(chains perf_app | judge inner 'inner middle outer run main')
	samples=$1 wrong=$2
}

judged=$(printf 'a b c \na c \nx b \na b cc d \n' | judge a 'a b c' 2>/dev/null)
is "$judged" '3 2' 'the judge finds chains that are wrong'

build "$frames"
sample -g ./perf_app run 20 16000000
# shellcheck disable=SC2046
set -- $(chains perf_app | judge inner 'inner middle outer run main')
samples=$1 wrong=$2
right 'untraced, frame pointers'

for kinds in plt entry plt,entry; do
	spun -g "$kinds" --perf
	is "$status/$(cat err)" 0/ "$kinds, frame pointers: the program runs as ever"
	is "$(calls outer) $(calls middle) $(calls inner) $(sums)" '20 20 20 0 lost 0 unfinished' \
		"$kinds, frame pointers: it is traced"
	right "$kinds, frame pointers"
	spun --call-graph=dwarf "$kinds" --perf
	right "$kinds, unwound"
done

# What it is for.
spun -g plt
ok "without --perf no chain is right ($wrong of $samples)" test "$wrong" -eq "$samples" -a "$samples" -ge 20
ok 'nor is there a file for that' test ! -e d/p*/labels

build "$without"
for kinds in plt entry; do
	spun --call-graph=dwarf "$kinds" --perf
	right "$kinds, no frame pointers, unwound"
done
spun --call-graph=dwarf entry --perf --clock=monotonic
right 'by another clock'
spun --call-graph=dwarf entry --perf --clock=coarse
right 'by a coarse clock'
spun --call-graph=dwarf plt --perf -t 1us -N nothing -D 9
right 'with filters'
how=fork
spun --call-graph=dwarf entry --perf
is "$(calls outer) $(sums)" '20 0 lost 0 unfinished' 'fork: all calls are in the trace'
right 'fork: parent and child'
is "$(ls -d d/p*/labels | wc -l)" 1 'which share a file'
how=run

# Without `record`: the module alone, and the command afterwards.
printf '[trace]\noutput = %s/alone\nperf = yes\n[library libperf_*.so]\nkinds = plt\n' "$tmp" >perf.conf
rm -rf alone
sample --call-graph=dwarf env LD_AUDIT="$MODULE" XAUDIT_CONFIG="$tmp/perf.conf" \
	./perf_app run 20 16000000 >out 2>err
bounded 60 "$XAUDIT" perf alone >out 2>err
is "$?/$(cat out err)" 0/ 'xaudit perf does it afterwards'
# shellcheck disable=SC2046
set -- $(chains perf_app | judge inner 'inner middle outer run main')
samples=$1 wrong=$2
right 'by LD_AUDIT and xaudit perf'
is "$("$XAUDIT" perf alone 2>&1; echo $?)" 0 'and once more, when it was done'

# Where all time goes into the trampolines: at the very instruction where a call has returned, and in code outside of
# all files (stubs), callers are not found.
build "$without"
rm -rf d
sample --call-graph=dwarf,1024 "$XAUDIT" record -o "$tmp/d" --perf -m ring -k plt \
	-l 'libperf_*.so' ./perf_app each 20 16000000 >out 2>err
chains perf_app >list
all=$(wc -l <list) good=$(grep -c '\<each repeat main ' list)
diag "$(sort list | uniq -c | sort -rn | head -n 5)"
ok "callers of calls that are short are found in $good of $all samples" \
	test "$good" -ge "$((all * 85 / 100))" -a "$all" -ge 50

# Who looks for pointers reads all data of the module, where the file is mapped.
if $CC -fsanitize=leak -o leaks "$beside/perf_app.c" -L. -lperf_3 -Wl,-rpath,"$tmp" -Wl,-rpath-link,. 2>/dev/null &&
	bounded 60 ./leaks run 3 1 2>/dev/null; then
	record d --perf -k plt -l 'libperf_*.so' ./leaks run 3 1
	report d
	is "$status/$err/$(calls outer)" 0//3 'LeakSanitizer finds nothing amiss'
else
	skip 1 'no LeakSanitizer here'
fi

# What can't be.
if [ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null; then
	mkdir noexec
	# shellcheck disable=SC2016
	bounded 60 unshare -m sh -c 'mount -t tmpfs -o noexec none noexec || exit 1
		"$@"
		echo $?
		ls noexec/d/p*' mounts "$XAUDIT" record -o noexec/d --perf -k plt -l 'libperf_*.so' ./perf_app run 3 1 \
		>out 2>err
	is "$(cat out)" "$(printf '0\nmeta')" 'where no file may be executed, the program runs, and is traced'
	why="profilers will not find callers of traced functions: can't make $tmp/noexec/d/p[0-9]*/labels: "
	like "$(cat err)" "^xaudit: ${why}Permission denied$" 'and it is said'
else
	skip 2 'no mounts here'
fi
printf '[trace]\noutput = %s/alone\n[library libperf_*.so]\nkinds = plt\n' "$tmp" >perf.conf
rm -rf alone
bounded 100 env LD_AUDIT="$MODULE" XAUDIT_CONFIG="$tmp/perf.conf" ./perf_app run 1 1
is "$("$XAUDIT" perf alone 2>&1; echo $?)" \
	'xaudit perf: no process in alone has such a file; `xaudit record --perf` makes one
1' 'a trace that was made without says so'
like "$("$XAUDIT" perf nothing 2>&1; echo $?)" "can't open the trace nothing: No such file or directory
1" 'and so does one that is not there'
record d --perf --pack -k plt ./perf_app run 1 1
is "$status/$err" \
	'125/xaudit record: --perf, or perf = yes, makes a file for perf in the trace folder, which --pack removes' \
	'a packed trace is not for perf'
record d --perf -k plt -l 'libperf_*.so' ./perf_app run 1 1
printf 'Z' | dd of="$(echo d/p*/labels)" bs=1 seek=512 conv=notrunc 2>/dev/null
like "$("$XAUDIT" perf d 2>&1; echo $?)" "can't tell perf of the callers in d/p[0-9]*/labels: it is damaged
1" 'a damaged file is refused'
record d --perf -k plt -l 'libperf_*.so' ./perf_app run 1 1
record d --perf -k plt -l 'libperf_*.so' ./perf_app run 1 1
is "$status/$err" 0/ 'an older trace is removed as ever'
done_testing
