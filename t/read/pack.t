#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit pack and unpack: traces of every kind come back as they were, and all commands read the packed file as they
# read the folder; one that is cut short is read up to there, one with flipped bits but for the damaged block, each with
# one line; and what was made to deceive is refused, or harmless.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/written.sh"
. "$top_srcdir/t/lib/packed.sh"

built spoil make_pack
cd "$tmp" || exit 1

rest='; the rest of the trace was read'

# ---- the same content, the same output ----

# One process: two threads, one of them with chunks in both files, counters, an event of the program's own, lost events.
write_trace first <<'END'
record version: 0.1.0
record clock: 1000000000 400000000 7
process p100 chunk=65536 flags=1 clock=tsc lost=2 ring_size=131072
pair first 2000000000 800000000 1700000000000000000
pair last 6000000000 2400000000 1700000001600000000
text exe /usr/bin/app
object 1 /usr/lib/libfoo.so kinds=7
function 1 0 1 0x100 outer
function 1 0 2 0x200 inner
load 1 1 2000000000 0x7f0000000000 100
type 16 request
counts 0 100 main 1:5 2:6
thread 100 main
loop 5000 1000
entry 1 2000000000
entry 2 2000000010
exit 2 2000000020
tail 1 2000000030
end
thread 101 worker
both
loop 4000 5000000000
entry 2 2000000000
unwind 2 2000000010
end
custom 16 30000000000000 =hello
END
# A family of three processes, the records of two in several places, chunks in both files.
write_trace second <<'END'
record command: app
process p100 chunk=65536 ring_size=131072
pair first 1000 1000 5
pair last 900000 900000 8005
text exe /usr/bin/server
object 1 /usr/lib/libfoo.so kinds=7
function 1 0 1 0x100 outer
loop 60 0
unknown 99 4000
end
function 1 0 2 0x200 inner
load 1 1 1000 0x7f0000000000 100
type 16 request
fork 101
thread 100 main
both
loop 20000 10
entry 1 1000
entry 2 1002
exit 2 1004
exit 1 1008
end
counts 0 100 main 1:5 2:6
child 101
thread 101 main
ring
loop 20000 10
entry 2 2000
exit 2 2005
end
custom 16 300000 =hello
fork 103
child 103 ppid=101
thread 103 main
entry 1 400000
END
# Damaged: a chunk's head is overwritten.
cp -R first damaged
printf 'XXXX' | dd of=damaged/p100/t1 bs=1 seek=65536 conv=notrunc 2>/dev/null
for trace in first second damaged; do
	is "$(packed_same "$tmp/$trace" "$tmp/$trace.pack" 'report' 'report --by=thread --format=json' 'replay' \
		'dump' 'dump --format=json' 'info' 'info --format=json')" '' \
		"the $trace trace comes back, and all commands say of its packed file what they say of it"
done
is "$("$XAUDIT" report damaged.pack 2>&1 >/dev/null)" \
	"xaudit: damaged.pack/p100/t1: offset 65536: there is no chunk where one should begin$rest" \
	'damage in the trace is told as that of the folder'
is "$("$XAUDIT" dump second.pack/p101 | grep -c 'entry.*inner') $("$XAUDIT" dump second.pack/p103 | grep -c entry)" \
	"$("$XAUDIT" dump second/p101 | grep -c 'entry.*inner') 1" 'a process is named as in a folder'
"$XAUDIT" dump second.pack/p100/0 >out 2>err
is "$? $(wc -l <out)" "0 $("$XAUDIT" dump second/p100/0 | wc -l)" 'also by folder and place'
"$XAUDIT" dump second.pack/p999 >out 2>err
is "$? $(cat err)" "1 xaudit: no process p999 in second.pack; \`xaudit info\` lists them" \
	'one that is not there is told'

# A name that stands for the packed file, too.
cp first.pack gone.pack
is "$("$XAUDIT" report gone | head -n 3)" "$("$XAUDIT" report first | head -n 3)" \
	'where there is no DIR, DIR.pack is read'

# ---- pack and unpack ----

"$XAUDIT" pack -j 1 -o one.pack second >/dev/null && "$XAUDIT" pack -j 5 -o five.pack second >/dev/null
ok 'any number of threads makes the same file' cmp one.pack five.pack
is "$(stat -c %a one.pack)" 600 'which is as private as a trace'
"$XAUDIT" pack --level=19 -o small.pack second >/dev/null
ok 'a higher level makes it smaller' test "$(stat -c %s small.pack)" -lt "$(stat -c %s one.pack)"
for wrong in --level=0:--level:0:19 --level=20:--level:20:19 '-j0:--jobs:0:256'; do
	IFS=: read -r option name value most <<END
$wrong
END
	"$XAUDIT" pack "$option" -o no.pack second >out 2>err
	is "$? $(cat err)" "2 xaudit pack: $name can't be '$value'; it is a number from 1 to $most" "$option is refused"
done
"$XAUDIT" info --format=json second >out && "$XAUDIT" info --format=json one.pack >out2
is "$(jq .disk_bytes out2)" "$(stat -c %s one.pack)" 'info of a packed trace has the size of the file'
is "$(jq -c '[.unpacked_bytes, .processes[].unpacked_bytes] | [.[0] - (.[1:] | add)]' out2)" '[0]' \
	'and what its processes are, unpacked'
plain=$(jq .disk_bytes out) unpacked=$(jq .unpacked_bytes out2)
ok 'which is what the folder has' test "$((unpacked * 10))" -ge "$((plain * 9))" -a \
	"$((unpacked * 10))" -le "$((plain * 11))"
is "$(jq -c '.processes[0] | [.disk_bytes, .bytes_per_event]' out2)" '[null,null]' \
	"a process's part of the file is not known"
like "$("$XAUDIT" info one.pack)" "^Events .* in $(stat -c %s one.pack) bytes on disk \($unpacked unpacked\)" \
	'in text, too'
"$XAUDIT" pack first >out 2>err
is "$? $(cat out) $(cat err)" '1  xaudit pack: first.pack can'"'"'t be made: File exists; -o names another file' \
	'a file that is there is not replaced'
"$XAUDIT" unpack one.pack >out 2>err
is "$? $(cat out err)" '0 ' 'unpack makes the folder beside the file'
is "$(files_of one)" "$(files_of second)" 'as it was'
"$XAUDIT" unpack one.pack >out 2>err
is "$? $(cat err)" "1 xaudit unpack: the folder one can't be made: File exists; -o names another one" \
	'but not into one that is there'
ln -s nowhere link
"$XAUDIT" unpack -o link one.pack >out 2>err
is "$? $(cat err) $(test -e nowhere; echo $?)" \
	"1 xaudit unpack: the folder link can't be made: File exists; -o names another one 1" 'nor through a link'
"$XAUDIT" unpack -t one.pack >out 2>err
is "$? $(cat out err) $(ls -d one.* | xargs)" '0  one.pack' 'test makes nothing'
mkdir empty
"$XAUDIT" pack empty >out 2>err
is "$? $(cat err) $(ls -d empty*)" \
	"1 xaudit pack: no traced process in empty; is it a folder that \`xaudit record\` made? empty" \
	'a folder that is no trace is not packed'
"$XAUDIT" pack -j 5 -o - second 2>err | cat >piped
is "$(cmp one.pack piped 2>&1; cat err; ls ./- 2>/dev/null)" '' \
	'a minus is standard output: the same goes through a pipe'
(echo before; "$XAUDIT" pack -o - second) >appended
ok '... or into a file' sh -c 'tail -c +8 appended | cmp - one.pack'
"$XAUDIT" pack -o ./- second >/dev/null
ok 'but a file may have that name' cmp one.pack ./-
rm ./-
mkfifo fifo
{ "$XAUDIT" pack -o - second 2>err; echo $? >status; } >fifo &
exec 7<fifo 7<&-
wait $!
is "$(cat status err)" "1
xaudit pack: standard output can't be written: Broken pipe" 'whose reader may go away'
is "$(ulimit -f 1; "$XAUDIT" pack -o limited second 2>&1; echo $? $(ls limited* 2>/dev/null))" \
	"xaudit pack: limited can't be written: File too large; -o names another file
1" 'a file that would become too large is an error, and is not left'
for name in missing missing.pack; do
	is "$("$XAUDIT" unpack $name 2>&1; echo $?)" \
		"xaudit unpack: can't open the packed trace $name: No such file or directory
1" "$name is not there"
done
is "$("$XAUDIT" unpack piped 2>&1; echo $?)" \
	'xaudit unpack: the name of piped does not end with .pack: name the new folder with -o DIR
2' \
	'one of another name wants a name for its folder'
echo text >plain.pack
cp plain.pack plain
is "$("$XAUDIT" unpack plain 2>&1; echo $?)" "xaudit unpack: can't open the packed trace plain: this is no packed trace
1" \
	'but what is none does not'
"$XAUDIT" unpack plain.pack 2>err
is "$? $(cat err)" "1 xaudit unpack: can't open the packed trace plain.pack: this is no packed trace" \
	'nor is anything else unpacked'
cp one.pack later.pack
printf '\377' | dd of=later.pack bs=1 seek=8 conv=notrunc 2>/dev/null
"$XAUDIT" report later.pack 2>err
is "$? $(cat err)" \
	"1 xaudit: later.pack: it was packed by another version than this xaudit reads: use the xaudit that packed it; \
nothing of the trace can be read" \
	'a later version is told'

# The reader is not root, who may read all, and its folder and program are there for all.
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null 2>&1; then
	cp "$XAUDIT" xaudit.copy
	chmod 755 . xaudit.copy
	setpriv --reuid=65534 --regid=65534 --clear-groups "$tmp/xaudit.copy" report "$tmp/one.pack" 2>err
	is "$? $(cat err)" "1 xaudit: can't open the trace $tmp/one.pack: Permission denied; only the user who made \
it, and root, can read it" 'one of another user is told'
else
	skip 1 'only root can become another user here'
fi

# Holes: 200 MB, of which 64 KiB are data.
mkdir -p holes/p5
cp first/p100/meta holes/p5/meta
truncate -s 200M holes/p5/t0
dd if=first/p100/t0 of=holes/p5/t0 bs=65536 count=1 seek=1000 conv=notrunc 2>/dev/null
is "$(packed_same "$tmp/holes" "$tmp/holes.pack")" '' 'a file with holes comes back'
"$XAUDIT" unpack -o holes.d holes.pack
is "$(stat -c %s holes.d/p5/t0)" 209715200 'in its size'
if [ "$(stat -c %b holes/p5/t0)" -lt 2000 ]; then
	ok 'and with its holes' test "$(stat -c %b holes.d/p5/t0)" -lt 2000
else
	skip 1 'this file system has no holes'
fi

# ---- size ----

{
	many_functions 500 262144
	for thread in 100 101; do
		printf 'thread %s\nstream\n' $thread
		echo "random $thread 1000000 500 50"
	done
} | write_trace random
"$XAUDIT" pack random >/dev/null
size=$(stat -c %s random.pack)
diag "2000000 events at random: $size bytes"
ok 'an event takes at most 2 bytes, also where functions are called at random' test "$size" -le 4000000
is "$(shown 'report -j 1' "$tmp/random" "$tmp/random.pack")" "$(shown report "$tmp/random")" 'they are all there'
is "$(shown 'report -j 2' "$tmp/random" "$tmp/random.pack")" "$(shown report "$tmp/random")" \
	'also where several threads read'

# ---- damage ----

# cut BYTES: reads the beginning of the packed file.
"$XAUDIT" dump random >whole
cut() {
	head -c "$1" random.pack >cut.pack
	bounded 60 "$XAUDIT" dump cut.pack >out 2>err
	echo "$? $(cat err)"
}
is "$(cut $((size - 1)))" \
	"1 xaudit: cut.pack: offset $((size - 1)): the packed file is cut off; the rest of the trace was read" \
	'a file without its last byte is told'
ok 'but all of it is read' cmp -s out whole
like "$(cut $((size / 2)))" \
	"^1 xaudit: cut.pack: offset $((size / 2)): the packed file is cut off(, and [0-9]* more)?$rest\$" \
	'half of a file is told in one line'
# The first thread is there, and of the second nothing that was not there.
events=$(wc -l <out)
ok 'half of the events are read' test "$events" -gt 900000 -a "$events" -lt 1100000
grep ' 100  ' out >first.cut
grep ' 100  ' whole >first.whole
head -n "$(wc -l <first.cut)" first.whole >first.begin
ok 'they are the first ones' cmp -s first.cut first.begin
rm -f first.cut first.whole first.begin whole
bad=
for bytes in 0 1 15 16 17 80 200 1000 5000 50000; do
	cut $bytes >said
	case "$(wc -l <err) $(cat said)" in '1 1 xaudit: '*) ;; *) bad="$bad $bytes" ;; esac
done
is "$bad" '' 'however short it is, there is one line and status 1'

cp random.pack flipped.pack
printf '\125' | dd of=flipped.pack bs=1 seek=$((size / 3)) conv=notrunc 2>/dev/null
bounded 60 "$XAUDIT" dump flipped.pack >out 2>err
is "$? $(wc -l <err)" '1 1' 'a flipped bit is told in one line'
like "$(cat err)" '^xaudit: flipped.pack: offset [0-9]*: a block of p100/t[01] (is damaged|has another checksum)' \
	'which names the block'
events=$(wc -l <out)
ok 'only that block, and what of its chunk follows it, is lost' test "$events" -gt 1400000 -a "$events" -lt 2000000
"$XAUDIT" unpack -t flipped.pack 2>err
is "$? $(wc -l <err)" '1 1' 'unpack --test finds it, too'
"$XAUDIT" unpack -o flipped flipped.pack 2>err
is "$? $(stat -c %s flipped/p100/t0 flipped/p100/t1 | xargs)" \
	"1 $(stat -c %s random/p100/t0 random/p100/t1 | xargs)" 'and unpacks all the rest'

# Each bit of the file may flip: the index, the end, heads of frames, content.
. "$top_srcdir/t/lib/spoiled.sh"
"$XAUDIT" pack -o small1.pack first >/dev/null
rm -f small2.pack
"$XAUDIT" pack -o small2.pack second >/dev/null
rounds=$(rounds 60 300)
for seed in $(seq 1 "$rounds"); do
	cp "small$((1 + seed % 2)).pack" fuzz
	"$spoil" fuzz "$seed"
	[ $((seed % 3)) -ne 0 ] || truncate -s "$(($(stat -c %s fuzz) * (seed % 10 + 1) / 11))" fuzz
	read_spoiled "$seed" 'report' 'dump --format=json' 'info' 'unpack -t'
done
is "$(cat "$tmp/bad")" '' 'no damage brings a reader down'
ok 'most of it is noticed' test "$found" -gt $((rounds * 2))

# ---- files that were made to deceive ----

# made SENTENCE SCRIPT: unpacks it; it must end soon, make nothing outside of its folder, and say one line.
made() {
	rm -rf cage
	mkdir -p cage/in
	printf '%s\n' "$2" | "$make_pack" cage/in/made.pack || bail 'make_pack failed'
	(cd cage/in && ulimit -f 20480 && bounded 60 "$XAUDIT" unpack made.pack) >out 2>err
	status=$?
	(cd cage && find . -mindepth 1 ! -path './in/made*' ! -path ./in) >outside
	is "$status $(wc -l <err) $(cat outside)" "${3-1 1} " "$1"
	(ulimit -v 1048576; bounded 60 "$XAUDIT" report cage/in/made.pack) >/dev/null 2>err
	status=$?
	ok 'and reading it ends with one line' test "$status $(wc -l <err)" = '1 1'
}
made 'a good one is unpacked' 'member 0 p1 040700 0
member 1 p1/meta 0100600 1000 0-1000
block 1 0 1000 65
end' '0 0'
is "$(stat -c '%s %a' cage/in/made/p1/meta) $(tr -d A <cage/in/made/p1/meta | wc -c)" '1000 600 0' 'to its content'
for name in ../x /x .. . p1/../x p1/.. ../../x p1/p2/x "$tmp/cage/x" p1// p1/; do
	made "the name $name is refused" "member 0 $name 0100600 10 0-10
block 0 0 10 65
end"
done
made 'a file in the stead of a folder is refused' 'member 0 p1 0100600 10 0-10
member 1 p1/meta 0100600 10 0-10
block 0 0 10 65
block 1 0 10 65
end'
made 'a link is refused' 'member 0 p1 0120777 10 0-10
member 1 p1/meta 0100600 10 0-10
block 1 0 10 65
end'
made 'a name that is there twice is refused' 'member 0 p1/meta 0100600 10 0-10
member 1 p1/meta 0100600 10 0-10
block 0 0 10 65
block 1 0 10 66
end'
made 'set-user-id is not taken over' 'member 0 p1/meta 0106777 10 0-10
block 0 0 10 65
end' '0 0'
is "$(stat -c %a cage/in/made/p1/meta)" "$(printf '%o' $((0777 & ~$(umask))))" 'but the other rights, by the umask'
made 'a block that is larger than the file is refused' 'member 0 p1/meta 0100600 10 0-10
block 0 0 1000 65
end'
made 'a block beyond the end is refused' 'member 0 p1/meta 0100600 10 0-10
block 0 4611686018427387904 10 65
end'
made 'blocks that lie over each other are refused' 'member 0 p1/meta 0100600 1000 0-1000
block 0 0 600 65
block 0 500 500 66
end'
made 'the same block twice is refused' 'member 0 p1/meta 0100600 1000 0-1000
block 0 0 1000 65
again
end'
made 'a block that is other than the index says is refused' 'member 0 p1/meta 0100600 4000000 0-4000000
block 0 0 1000 65 4000000
end'
made 'numbers in the index that are impossible are refused' 'member 0 p1/meta 0100600 1000 0-1000
block 0 0 1000 65
count 4294967295 1152921504606846976
end'
made 'extents out of order are refused' 'member 0 p1/meta 0100600 1000 500-1000 0-200
block 0 0 1000 65
end'
made 'a file of impossible size is refused' 'member 0 p1/meta 0100600 18446744073709551615 0-18446744073709551615
block 0 0 1000 65
end'
made 'what claims much content that is not there is refused' 'member 0 p1/meta 0100600 1000 0-1000
member 1 p1/t0 0100600 4611686018427387904 0-4611686018427387904
block 0 0 1000 65
end'
made 'one that no disk holds is told' 'member 0 p1/meta 0100600 9223372036854775807 0-10
block 0 0 10 65
end'
made 'a block of another file is told' 'member 0 p1/meta 0100600 10 0-10
block 7 0 10 65
end'
made 'unknown frames are skipped' 'frame 77 1 1 100000
member 0 p1/meta 0100600 10 0-10
frame 78 1 1 0
block 0 0 10 65
end' '0 0'
is "$(cat cage/in/made/p1/meta)" AAAAAAAAAA 'and what lies between them is read'
echo garbage >garbage
is "$("$XAUDIT" report garbage 2>&1)" \
	'xaudit: garbage is no trace: neither a folder that `xaudit record` made, nor a file of `xaudit pack`' \
	'a file that is neither is called so'
is "$("$XAUDIT" pack garbage 2>&1)" 'xaudit pack: garbage is no folder that `xaudit record` made' 'by pack, too'


# ---- how far it came ----

# Smallest files take time: on a terminal that is shown from the second second on.
if command -v script >/dev/null; then
	printf 'process p100 chunk=1048576\npair first 1000 1000 5\npair last 900000000 900000000 5\n%s\n' \
		'object 1 /usr/lib/libfoo.so' >script
	i=0
	while [ $((i += 1)) -le 200 ]; do echo "function 1 0 $i $((i * 16)) foo_$i"; done >>script
	printf 'thread 100 main\nrandom 7 8000000 200 40\n' >>script
	write_trace slow <script
	bounded 120 script -qec "'$XAUDIT' pack -j 1 --level=19 -o slow.pack slow" /dev/null </dev/null >tty.out 2>&1
	like "$(tr '\r' '\n' <tty.out)" '^ *[0-9]+ % \[#* *\]' 'a terminal shows how far it came'
	like "$(tail -c 200 tty.out | tr '\r' '\n')" 'slow.pack: .* packed in' 'and in the end what was done'
	# What reads it again, as `record --pack` does before it removes the folder, by a clock that hurries.
	${CC:-cc} -shared -fPIC -o libhurry.so "$top_srcdir/t/fixtures/hurry.c" || bail 'libhurry.so does not compile'
	bounded 120 script -qec "LD_PRELOAD='$tmp/libhurry.so' '$XAUDIT' unpack -t slow.pack; echo status \$?" \
		/dev/null </dev/null >tty.out 2>&1
	like "$(tr '\r' '\n' <tty.out)" '^ *[0-9]+ % \[#+ *\]' 'and so it is when it is read to the end'
	ok 'of which nothing is left' grep -q "$(printf '\033\[Kstatus 0')" tty.out
else
	skip 4 'no script(1) here'
fi
# `record` holds a lock on DIR/record as long as it runs.
if command -v flock >/dev/null; then
	rm -f first.pack
	flock first/record "$XAUDIT" pack first >out 2>err
	is "$?" 1 'a trace that a record still writes is not packed'
	like "$(cat err)" '^xaudit pack: .*first/record' 'and the file says why'
	is "$(ls first.pack 2>&1 | grep -c 'No such file')" 1 'nothing is left of the try'
	"$XAUDIT" pack first >out 2>err
	is "$?" 0 'when nobody does, it is'
else
	skip 4 'no flock'
fi

done_testing
