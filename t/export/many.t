#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Each format of xaudit export on a large trace: all of its calls are there, in 300 MB of memory at most. They are
# counted by what is simplest in the format, since its tool would take too long; that reads smaller ones
# (t/export/FORMAT.t). XAUDIT_ALL: 10 million events instead of 200 000, and 100 million in those formats that people
# want of so many.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/written.sh"
built max_rss
need python3 sqlite3
[ -z "$XAUDIT_ASAN$XAUDIT_TSAN" ] || skip_all 'sanitizers take memory of their own'
cd "$tmp" || bail "no folder $tmp"
ok 'what counts packets is built' bounded 60 $CC -O2 -o packets "$top_srcdir/t/export/packets.c"

# made NAME EVENTS: a trace of two threads.
made() {
	{
		many_functions 100 1048576
		for t in 100 101; do
			echo "thread $t"
			echo "random $t $(($2 / 2)) 100 50"
		done
	} | write_trace "$1"
}

# count FORMAT: calls in the file or folder `out`, and their self time in ns where that is to be had.
count() {
	case $1 in
	chrome) grep -c '"ph":"[XB]",.*"cat":"libfoo.so"' out ;;
	perfetto) ./packets <out | { read -r begins ends && [ "$begins" -eq "$ends" ] && echo "$begins"; } ;;
	sqlite) sqlite3 out 'SELECT count(*) || " " || sum(self) FROM calls' ;;
	csv) python3 -c '
import csv
with open("out", newline="") as file:
    n = s = 0
    for row in csv.DictReader(file):
        n += 1
        s += int(row["self_ns"])
print(n, s)' ;;
	ndjson) grep -c '"what":"call"' out ;;
	folded) awk '{ n += $NF } END { printf "%.0f\n", n }' out ;;
	# 16 bytes for the begin of a call, and for its end.
	uftrace) echo $(($(cat out/*.dat | wc -c) / 32)) ;;
	# 32 bytes for each, behind a head of 32.
	xray) echo $((($(wc -c <out/basic.log) - 32) / 64)) ;;
	# Packets have a head of 48 bytes; an entry has 35, an exit 36; each track an event of its own, of 35.
	ctf) python3 -c '
import glob, mmap, struct
n = 0
for name in glob.glob("out/track-*"):
    with open(name, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        at = 0
        while at < len(data):
            size = struct.unpack_from("<Q", data, at + 24)[0] // 8
            n += size - 48
            at += size
    n -= 35
print(n / 71 if n % 71 else n // 71)' ;;
	*) [ -s out ] || [ -d out ] && echo many ;;
	esac
}

# check NAME FORMAT...: the trace in each of them.
check() {
	name=$1
	shift
	bounded 120 "$XAUDIT" report --format=json "$name" >report.json
	calls=$(python3 -c 'import json; print(sum(f["calls"] for f in json.load(open("report.json"))["functions"]))')
	self=$(python3 -c 'import json; print(sum(f["self_ns"] for f in json.load(open("report.json"))["functions"]))')
	for format; do
		rm -rf out
		start=$(date +%s%N)
		kib=$(bounded 600 "$max_rss" "$XAUDIT" export --format="$format" -o out "$name")
		diag "$format: $(awk -v n="$calls" -v t="$(($(date +%s%N) - start))" \
			'BEGIN { printf "%.1f million calls per second", n / t * 1e3 }'), $kib KiB"
		ok "$format: $calls calls take at most 300 MB" test "${kib:-9999999}" -le 300000
		case $format in
		sqlite | csv) want="$calls $self" ;;
		folded) want=$self ;;
		chrome | perfetto | ndjson | uftrace | xray | ctf) want=$calls ;;
		*) want=many ;;
		esac
		is "$(count "$format")" "$want" "$format: and are all there"
	done
	rm -rf out
}

events=200000
[ -z "$XAUDIT_ALL" ] || events=10000000
made some "$events"
is "$("$XAUDIT" info some | sed -n 's/^Events *\([0-9]*\) .*/\1/p')" "$events" "the trace has $events events"
check some $("$XAUDIT" export --help | sed -n '/^Formats:/,$s/^  \([a-z]*\) .*/\1/p')
# So many rows that SQLite writes them while others are made.
if [ -n "$XAUDIT_ALL" ]; then
	(ulimit -f 20000; trap '' XFSZ; bounded 60 "$XAUDIT" export --format=sqlite -o out some) >said 2>&1
	like "$? $(cat said)" "^1 xaudit export: out can't be written: .*(full|disk I/O error)\$" \
		'sqlite: a disk that is full in the middle is an error'
	is "$(ls out* 2>/dev/null)" '' 'sqlite: and nothing is left'
fi
rm -rf some
# One call that is shorter than --min has a million others in it.
{
	many_functions 2 1048576
	echo 'thread 100'
	echo 'entry 1 1000'
	echo 'loop 1000000 20'
	echo 'entry 2 1100'
	echo 'exit 2 1105'
	echo 'end'
	echo 'exit 1 30000000'
} | write_trace short
kib=$(bounded 60 "$max_rss" "$XAUDIT" export --format=csv --min=1 -o out short)
ok "calls in a call that is too short are not kept: $kib KiB" test "${kib:-9999999}" -le 60000
is "$(wc -l <out)" 1 'nor told'
rm -rf short out
if [ -n "$XAUDIT_ALL" ]; then
	made most 100000000
	check most chrome perfetto sqlite folded
fi
done_testing
