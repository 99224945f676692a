#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A program opens a library that nobody knew of before: the index of it is found, made, kept in memory, or refused with
# the reason, and the program sees nothing of that. (t/index/index_helper.c has the rest.)
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

program "$CC" opens index_made.c
library "$CC" libone.so plugin.c -DNAME=one -Wl,--build-id
XAUDIT_INDEX=$tmp/cache
export XAUDIT_INDEX
quiet='0 0 0' # signals, children, descriptors

# opens ROUNDS [WORD]: the library is opened and called; sets $out, $err and $report.
opens() {
	record d -k entry -l libone.so ./opens ./libone.so "$@"
	report d
}
# reason: of kind entry of the library, from info.
reason() {
	bounded 60 "$XAUDIT" info d 2>&1 | sed -n '\,/libone.so ,,/^    \//{s/^ *entry  *1  *//p;}'
}
# one_work(k) is k + 2.
opens 1
is "$status/$out/$err" "0/65 $quiet/" 'a library without an index: the program sees nothing of its making'
is "$(calls one_work) $(calls one_inner), $(sums)" '10 10, 0 lost 0 unfinished' \
	'it is made in time: all calls are traced'
is "$(find cache -name '*.index' | wc -l)" 1 'and kept'
kept=$(ls -i cache/*.index)
opens 3
is "$out/$err/$(calls one_work)" "195 $quiet//30" 'the next process finds it'
is "$(ls -i cache/*.index)" "$kept" 'and makes no other'

: >"$(echo cache/*.index)"
opens 1
is "$out/$err/$(calls one_work)" "65 $quiet//10" 'one that is damaged'
ok 'is made again' test "$(ls -i cache/*.index)" != "$kept"
chmod 777 cache
opens 1
is "$out/$(calls one_work)" "65 $quiet/" 'one that others could have written'
like "$(reason)" "index.*others may write" 'is refused'
chmod 700 cache
rm -rf cache

cat >counts <<END
#!/bin/sh
echo x >>$tmp/runs
exec '$XAUDIT' "\$@"
END
chmod +x counts
XAUDIT_INDEX=/proc/no/folder XAUDIT_COMMAND=$tmp/counts
export XAUDIT_COMMAND
opens 5
is "$out/$(calls one_work)" "325 $quiet/50" \
	'where none can be kept, one is in memory, for all times that it is loaded' || diag "$err"
is "$(wc -l <runs)" 1 'made once'

XAUDIT_INDEX=$tmp/cache XAUDIT_COMMAND=/nowhere/xaudit
opens 2
is "$out" "130 $quiet" 'without the command the program does what it does'
is "$(printf '%s\n' "$err" | grep -v '^xaudit record: ')" \
	"xaudit: $tmp/./libone.so: no index of it could be made: /nowhere/xaudit can't be executed: No such file or \
directory" \
	'it is said once'
like "$(reason)" "no index of the file" 'and info tells'
unset XAUDIT_COMMAND
opens 2 filter
if [ "$status" = 77 ]; then
	skip 2 'no filter can be set here'
else
	is "$out/$(calls one_work)" "130 $quiet/" 'under a filter of system calls none is made'
	like "$(reason)" "no index of the file" 'which info tells, too'
fi
is "$(ls cache 2>/dev/null)" '' 'nothing was kept'
done_testing
