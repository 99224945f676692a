#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Damaged traces: the readable part is read, for the rest there is one line with file and offset, and status 1; and
# whatever a file holds, no reader crashes, hangs or takes unlimited memory.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/written.sh"
built spoil

cat >"$tmp/script" <<'END'
record version: 0.1.0
record clock: 1000000000 400000000 7
process p100 flags=1 clock=tsc lost=2
pair first 2000000000 800000000 1700000000000000000
pair last 6000000000 2400000000 1700000001600000000
text exe /usr/bin/app
text command app -x
object 1 /usr/lib/libfoo.so soname=libfoo.so kinds=7 build=0123456789abcdef
object 2 /usr/lib/libbar.so kinds=7
sites 1 0:0:12 1:10:3
function 1 0 1 0x100 outer
function 1 0 2 0x200 inner
function 2 0 3 0x300
load 1 1 2000000000 0x7f0000000000 100
load 2 2 2000000000 0x7f1100000000 100
unload 1 5000000000 100
thread 100 main
stream
loop 5000 1000
entry 1 2000000000
entry 2 2000000010
exit 2 2000000020
tail 1 2000000030
point 3 2000000040
end
thread 101 worker
stream
loop 100 5000000000
entry 3 2000000000
unwind 3 2000000010
end
switch 102
entry 1 602000000100
END
write_trace good <"$tmp/script"

# spoiled NAME: a copy of the good trace to be damaged.
spoiled() {
	rm -rf "$tmp/$1"
	cp -R "$tmp/good" "$tmp/$1"
}
# bytes FILE OFFSET TEXT: overwrites; TEXT is a format of printf.
bytes() {
	printf "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null
}
# check NAME ERROR SENTENCE: report fails with that one line (a pattern) but shows the calls in the undamaged part.
check() {
	bounded 60 "$XAUDIT" report "$tmp/$1" >"$tmp/out" 2>"$tmp/err"
	is "$? $(wc -l <"$tmp/err")" '1 1' "$3: status 1, one line"
	like "$(cat "$tmp/err")" "^xaudit: $tmp/$1/$2" "$3: the line names file, offset and fault"
}
calls() { # FUNCTION: what the last check showed
	awk -v name="$1" '$0 ~ " " name " " { print $1 }' "$tmp/out"
}

bounded 60 "$XAUDIT" report "$tmp/good" >"$tmp/out" 2>"$tmp/err"
is "$? $(cat "$tmp/err")" '0 ' 'the trace is good before it is damaged'
is "$(calls outer) $(calls inner)" '5001 5000' 'and its calls are counted'

spoiled magic
bytes "$tmp/magic/p100/t0" 65536 'XXXX'
check magic 'p100/t0: offset 65536: there is no chunk where one should begin, and 1 more; the rest' \
	'a chunk without its mark'
ok 'the other chunks are read' test "$(calls inner)" -gt 3000

spoiled cut
truncate -s 100000 "$tmp/cut/p100/t0"
check cut 'p100/t0: offset 100000: the file is cut off; the rest' 'a thread file that is cut off'
ok 'what is left of it is read' test "$(calls inner)" -gt 1000

spoiled headcut
truncate -s 65600 "$tmp/headcut/p100/t0"
check headcut 'p100/t0: offset 65536: the file ends within the head of a chunk; the rest' \
	'a thread file that is cut off in a head'

spoiled size
bytes "$tmp/size/p100/t0" 32 '\377\377\377\377\377\377\377\377'
check size "p100/t0: offset 0: the chunk has an impossible size; the rest" 'a chunk that is larger than its place'
is "$(calls inner)" 5000 'all its events are read'

spoiled used
bytes "$tmp/used/p100/t0" 40 '\377\377\377\377\377\377\377\377'
check used "p100/t0: offset 0: the chunk's used size is impossible; the rest" 'a chunk with an impossible size'
is "$(calls inner)" 5000 'all its events are read'

spoiled type
bytes "$tmp/type/p100/t0" 151 '\240'
check type 'p100/t0: offset 144: an event of unknown type; the rest' 'an event of unknown type'

spoiled name
bytes "$tmp/name/p100/t0" 132 '\115'
check name 'p100/t0: offset 128: an event of a function that meta does not name; the rest' 'an event without a name'
like "$(cat "$tmp/out")" ' 1 .* \[unknown\]' 'it is counted as unknown'

spoiled record
bytes "$tmp/record/p100/meta" 4100 '\377\377\377\177'
check record 'p100/meta: offset 4096: a record has an impossible size, so the names behind it are lost, and [0-9]+ '\
'more; the rest' \
	'a record of impossible size'
is "$(calls '[[]unknown[]]')" 15101 'events without names are counted'

spoiled meta
truncate -s 4200 "$tmp/meta/p100/meta"
check meta 'p100/meta: offset 4200: the file is cut off' 'a meta file that is cut off'

spoiled metamagic
bytes "$tmp/metamagic/p100/meta" 0 'ELF'
check metamagic 'p100/meta: offset 0: this is not the meta file of a trace' 'a meta file of something else'

# The last chunks are in meta.
sed '/^stream$/d' "$tmp/script" | write_trace missing
rm "$tmp/missing/p100/t0"
check missing 'p100/meta: offset [0-9]*: chunks before this one are missing; the rest' 'a thread file that is missing'
is "$(calls outer)" 99 'the last chunk and the other thread are read'

# Not damage: a process that was killed before it had written much.
mkdir -p "$tmp/empty/p1"
bounded 60 "$XAUDIT" report "$tmp/empty" >"$tmp/out" 2>"$tmp/err"
is "$? $(cat "$tmp/err")" "1 xaudit: no traced process in $tmp/empty; is it a folder that \`xaudit record\` made?" \
	'a process folder in which nothing is, is no process'
# Opening a FIFO waits for a writer.
for file in p100/meta p100/t0 record; do
	spoiled fifo
	rm -f "$tmp/fifo/$file"
	mkfifo "$tmp/fifo/$file"
	for command in report replay dump info; do
		bounded 60 "$XAUDIT" "$command" "$tmp/fifo" >/dev/null 2>"$tmp/err"
		echo "$command $? $(sed "s|$tmp||" "$tmp/err")"
	done >"$tmp/fifos"
	case $file in
	record) is "$(cut -d' ' -f2- "$tmp/fifos" | sort -u)" '0 ' "$file is a FIFO: what it would say is not there" ;;
	*) is "$(grep -c " 1 xaudit: /fifo/$file: this is not a file" "$tmp/fifos")" 4 \
		"$file is a FIFO: that is said" ;;
	esac
done

# A command without the NUL after its last word. (A build with --enable-asan notices reads beyond it.)
{
	printf 'process p100 flags=1\npair first 1000 1000 5\npair last 9000 9000 8005\ntext command '
	head -c 4000 /dev/zero | tr '\0' a
	printf '\nthread 100 main\nentry 1 1000\n'
} | write_trace command
bounded 60 "$XAUDIT" info "$tmp/command" >"$tmp/out" 2>"$tmp/err"
is "$(sed -n 's/^  Command *//p' "$tmp/out" | tr -d '\n' | wc -c)" 4000 \
	'a command of one long word without an end is shown as it is'

spoiled young
mkdir "$tmp/young/p200"
: >"$tmp/young/p200/meta"
bounded 60 "$XAUDIT" report "$tmp/young" >/dev/null 2>"$tmp/err"
is "$? $(cat "$tmp/err")" '0 ' 'nor is an empty meta file damage to the others'
bounded 60 "$XAUDIT" report "$tmp/nowhere" 2>"$tmp/err"
is "$? $(cat "$tmp/err")" \
	"1 xaudit: can't open the trace $tmp/nowhere: No such file or directory; \`xaudit record COMMAND\` makes one" \
	'a folder that is not there is an error in one line'

# A few hundred damaged files. No reader may use more than 1 GiB or 20 s, or end with another status than 0 and 1.
. "$top_srcdir/t/lib/spoiled.sh"
: "${FUZZ_ROUNDS:=$(rounds 80 250)}"
for seed in $(seq 1 "$FUZZ_ROUNDS"); do
	spoiled fuzz
	case $((seed % 4)) in
	0) "$spoil" "$tmp/fuzz/p100/meta" "$seed" ;;
	1) "$spoil" "$tmp/fuzz/p100/t0" "$seed" ;;
	2) "$spoil" "$tmp/fuzz/p100/t1" "$seed" ;;
	3) "$spoil" "$tmp/fuzz/p100/meta" "$seed"; "$spoil" "$tmp/fuzz/p100/t0" "$seed" ;;
	esac
	read_spoiled "$seed" 'report' 'report --by=thread --format=json' 'replay' 'dump --format=json' 'info'
done
is "$(cat "$tmp/bad")" '' 'no damage brings a reader down'
diag "$found of $((FUZZ_ROUNDS * 5)) readings found the damage"
ok 'many of them are noticed' test "$found" -gt "$((FUZZ_ROUNDS * 5 / 4))"
done_testing
