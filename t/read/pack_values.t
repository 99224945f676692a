#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit pack --no-values: of calls, counts and times the packed file has all, of values nothing, wherever they were in
# the trace: behind the end of a buffer, in one that nobody ended, in places that were given back, in words that were
# being written. What can't be known to have none is left out. (t/read/valued.t compares all that commands say.)
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/written.sh"
. "$top_srcdir/t/lib/traced.sh"

cd "$tmp" || exit 1

# packed NAME: packs it without values as NAME.pack, and unpacks that as NAME.bare. Says what is said on stderr.
packed() {
	bounded 60 "$XAUDIT" pack --no-values -o "$1.pack" "$1" 2>&1 >packed.out
	bounded 60 "$XAUDIT" unpack -o "$1.bare" "$1.pack" 2>&1
}
# secrets DIR: files with a part of the text that all values here have.
secrets() {
	grep -raclF xyzzy "$1" | wc -l
}

start='process p100 chunk=65536 flags=1 clock=mono
pair first 1000 1000 5
pair last 900000 900000 900005
object 1 /usr/lib/libfoo.so
function 1 0 1 0x100 foo
function 1 0 2 0x200 bar
layout 1 entry 1 text:arg0:xyzzy_name u4:arg1:n
layout 2 exit 1 fails=-1 i4:ret: text:arg0:to:w'

# ---- finished, not finished, behind the end ----

write_trace ended <<END
record command: app
$start
thread 100 main
values 1 1000 =xyzzy_one 7
entry 2 1010
exit 2 1020
values 2 1030 5 =xyzzy_two
custom 16 1040 =hello
reserved - 1050 0x5f797a7a7978 0x2f797a7a79785f5f
given_up - 1060 0x5f797a7a7978 0x2f797a7a79785f5f
raw 0xf000026300000424 0x5f797a7a7978 0x2f797a7a79785f5f
thread 101 other
values 1 2000 cut:=xyzzy_three 8
END
# In a place of meta that is free, behind a chunk's words, and in a file that is not the trace's.
size=$(stat -c %s ended/p100/meta)
printf xyzzy_free | dd of=ended/p100/meta bs=1 seek=$((size - 40)) conv=notrunc 2>/dev/null
echo xyzzy >ended/notes
echo xyzzy >ended/p100/t0.txt
ok 'values are in the trace, and beside it' test "$(secrets ended)" -eq 3
is "$(packed ended)" '' 'it is packed without values'
is "$(secrets ended.bare) $(cat ended.pack ended.bare/*/* | grep -ac xyzzy)" '0 0' 'none are left'
is "$(cd ended.bare && find . -type f | sort | tr '\n' ' ')" './p100/meta ./record ' 'nor other files'
is "$(ls -d ended.pack*)" ended.pack 'nor the copy'
cat >dumped <<'END'
0.000001000 100 entry foo
0.000001010 100 entry bar
0.000001020 100 exit bar
0.000001030 100 exit foo
0.000001040 100 custom 
0.000002000 101 entry foo
END
# dumped TRACE: time, thread, event and function of each.
dumped() {
	"$XAUDIT" dump "$1" 2>&1 | awk '$3 !~ /load/ { print $1, $2, $3, $3 == "custom" ? "" : $5 }'
}
is "$(dumped ended.pack | sed 's/^[0-9]*\.//')" "$(sed 's/^[0-9]*\.//' dumped)" 'each event is there, at its time'
is "$("$XAUDIT" dump ended.pack | grep -c hello)" 1 'with what the program itself has said'
is "$("$XAUDIT" report --format=json ended.pack 2>&1)" "$("$XAUDIT" report --format=json ended 2>&1)" \
	'report says the same'
is "$("$XAUDIT" info ended.pack 2>&1 | grep -c 'damaged\|contradicts')" 0 'nothing is damaged'

# ---- refused, left out ----

cp -r ended two
mkdir two/p7
echo xyzzy >two/p7/meta
is "$(packed two)" "xaudit pack: two/p7 can't be read, so it is left out: it may have values" \
	'a process that can not be read is left out'
is "$(secrets two.bare) $(dumped two.pack | wc -l)" '0 6' 'the others are there'
mkdir none
echo xyzzy >none/record
is "$(packed none 2>&1 | head -1)" "xaudit pack: none can't be read, and what can't be read may have values" \
	'so is a trace of which nothing can be read'
is "$(ls -d none*)" none 'and nothing is left of it'
# Behind a word of an unknown type payloads may look like events.
write_trace odd <<END
$start
thread 100 main
values 1 1000 =xyzzy_one 7
raw 0xd000000200000410 0x2f797a7a79785f5f 0x2f797a7a79785f5f
exit 1 1020
END
is "$(packed odd)" '' 'a trace with a word that is none'
is "$(secrets odd.bare) $(dumped odd.pack | tail -1 | sed 's/^.*100/100/')" '0 100 entry foo' \
	'keeps what is in front of it'

# ---- standard output ----

mkdir temporary
TMPDIR=$tmp/temporary bounded 60 "$XAUDIT" pack --no-values -o - ended >piped.pack 2>err
is "$? $(cat err)$(ls temporary)" '0 ' 'to standard output'
ok 'the same file' cmp piped.pack ended.pack
TMPDIR=$tmp/nowhere bounded 60 "$XAUDIT" pack --no-values -o - ended >piped.pack 2>err
is "$? $(sed 's/bare\.[0-9]*/bare.N/' err)" "1 xaudit pack: $tmp/nowhere/xaudit.bare.N, a copy without values, can't \
be made: No such file or directory" 'which needs room for a copy'

# ---- running programs ----

# Names of files: values of strlen(), which ls asks for each.
mkdir files
for i in $(seq 1 300); do : >"files/xyzzy_$i"; done
for mode in stream ring; do
	for buffer in 64k 4M; do
		bounded 60 "$XAUDIT" record -o "$mode$buffer" --mode=$mode -b $buffer -F strlen \
			--context 'strlen:args,retval' ls -l files >out 2>err
		is "$? $(cat err)" '0 ' "$mode, buffers of $buffer: a program is recorded"
		ok 'with values' test "$("$XAUDIT" dump "$mode$buffer" | grep -c '"xyzzy_[0-9]*"')" -ge 300
		is "$(packed "$mode$buffer")" '' 'packed'
		is "$(secrets "$mode$buffer.bare")" 0 'without any'
		"$XAUDIT" report --format=json "$mode$buffer" >counted
		is "$("$XAUDIT" report --format=json "$mode$buffer.pack" | diff counted -)" '' \
			'and with all calls and times'
	done
done
bounded 60 "$XAUDIT" record -o running -F strlen --context strlen:args \
	sh -c '"$0" pack --no-values -o running.pack running; echo $?' "$XAUDIT" >out 2>&1
is "$(grep -c 'being written, so running is not packed' out) $(tail -1 out)$(ls -d running.pack* 2>/dev/null)" '1 1' \
	'a trace that is being written is refused'
done_testing
