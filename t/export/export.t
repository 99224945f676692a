#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit export itself, whatever the format: which calls it writes, and how it treats the file that it makes.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/written.sh"
need python3
cd "$tmp" || bail "no folder $tmp"

# csv [OPTION]... DIR: start, duration and self of each call, and its function, by the names of csv's columns.
csv() {
	bounded 60 "$XAUDIT" export --format=csv "$@" >"$tmp/csv" 2>"$tmp/err" || echo "status $?: $(cat "$tmp/err")"
	python3 -c '
import csv, sys
for row in csv.DictReader(open(sys.argv[1], newline="")):
    print(row["start_ns"], row["duration_ns"] or "-", row["self_ns"], row["depth"], row["function"])
' "$tmp/csv"
}

write_trace nested <<END
process p100
pair first 1000 1000 5
pair last 9000 9000 8005
$libraries
$nested_calls
entry 1 1400
entry 2 1410
exit 2 1450
entry 2 1460
thread 101 second
entry 4 1050
exit 4 1060
END
# The trace starts at 1000.
is "$(csv nested)" '100 30 30 1 inner
200 40 40 1 inner
0 300 230 0 outer
410 40 40 1 inner
460 - 0 1 inner
400 - 0 0 outer
50 10 10 0 bar' 'all calls are written, a thread after the other; those without an end have no duration'
is "$(csv --tid=101 nested)" '50 10 10 0 bar' '--tid: those of one thread'
is "$(csv --from=200ns --to=410ns nested)" '200 40 40 0 inner
400 - 0 0 outer' '--from and --to: those that began then, on tracks without the others'
is "$(csv --min=35ns nested)" '200 40 40 1 inner
0 300 230 0 outer
410 40 40 1 inner
400 - 0 0 outer' '--min: those that took as long; a call without an end, as far as it is known'
is "$(csv --pid=101 nested)" 'status 1: xaudit: no process 101 in nested; `xaudit info` lists them' \
	'a process that is not there is an error'

# ---- the file ----

is "$(bounded 60 "$XAUDIT" export --format=csv -o out.csv nested; echo $?; stat -c %a out.csv)" '0
600' 'a file is made, for its user alone'
bounded 60 "$XAUDIT" export --format=csv nested >whole.csv
ok 'with what standard output has' cmp whole.csv out.csv
echo old >kept.csv
chmod 640 kept.csv
ln -s kept.csv link.csv
bounded 60 "$XAUDIT" export --format=csv -o link.csv nested
is "$(stat -c '%a %F' kept.csv link.csv)" '600 regular file
777 symbolic link' 'a link stays, what it leads to is replaced, and is for its user alone'
ok 'with the calls' cmp whole.csv kept.csv
ln -s nowhere/at/all dangling
like "$(bounded 60 "$XAUDIT" export --format=csv -o dangling nested 2>&1; echo $?)" \
	"^xaudit export: dangling can't be written: No such file or directory
1$" 'a link to nowhere is an error'
like "$(bounded 60 "$XAUDIT" export --format=csv -o . nested 2>&1; echo $?)" \
	"^xaudit export: \. can't be written: Is a directory
1$" 'a folder, too'
like "$(bounded 60 "$XAUDIT" export --format=csv -o no/such/folder nested 2>&1; echo $?)" \
	"^xaudit export: no/such/folder can't be written: No such file or directory
1$" 'and a folder that is not there'
is "$(bounded 60 "$XAUDIT" export --format=csv -o /dev/stdout nested | cmp - whole.csv; echo $?)" 0 \
	'a pipe is written to as it is'
like "$(bounded 60 "$XAUDIT" export --format=csv -o /dev/full nested 2>&1; echo $?)" \
	"^xaudit export: /dev/full can't be written: No space left on device
1$" 'a full disk is an error'
like "$(bounded 60 "$XAUDIT" export --format=csv nested 2>&1 >/dev/full; echo $?)" \
	"No space left on device
1$" 'of standard output, too'
is "$(bounded 60 "$XAUDIT" export --format=csv nested | head -n 1 | wc -l; ls out.csv.* kept.csv.* 2>/dev/null)" 1 \
	'a reader that ends early is none, and nothing is left beside the files'

# What was there stays until the new file is whole: here a limit on the size of files cuts it.
i=0
{
	many_functions 1 4096
	echo 'thread 100 main'
	while [ $((i += 1)) -le 3000 ]; do printf 'entry 1 %d\nexit 1 %d\n' $((1000 + 10 * i)) $((1005 + 10 * i)); done
} >many
write_trace large <many
cp whole.csv before.csv
like "$( (ulimit -f 1; trap '' XFSZ; bounded 60 "$XAUDIT" export --format=csv -o kept.csv large 2>&1); echo $?)" \
	"^xaudit export: kept\.csv can't be written: File too large
1$" 'a file that becomes too large is an error'
ok 'the old one stays' cmp before.csv kept.csv
is "$(ls kept.csv.* 2>/dev/null)" '' 'and of the new one nothing is left'

# ---- wrong usage ----

wrong() { # MESSAGE ARGUMENT...
	want=$1
	shift
	like "$(bounded 60 "$XAUDIT" export "$@" 2>&1; echo $?)" "^xaudit export: $want
2$" "$*"
}
wrong '--format is missing: .*csv.*' nested
wrong "--format can't be 'png'.*csv.*" --format=png nested
wrong "--min can't be 'long'.*" --format=csv --min=long nested
wrong '--to must be later than --from.*' --format=csv --from=2s --to=1s nested
done_testing
