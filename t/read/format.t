#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The trace format: chunks in meta, in t<n>, or in both, holes that are not zero, an entry's second number; and another
# version of it.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/written.sh"

# Equal events in each layout: $1, $2 and $3 tell where chunks go, $4 is the command for an entry.
script() {
	cat <<END
process p100 chunk=65536 ring_size=262144
pair first 1000 1000 5
pair last 900000 900000 8005
object 1 /usr/lib/libfoo.so
function 1 0 1 0x100 outer
function 1 0 2 0x200 inner
type 16 request
thread 100 main
$1
loop 5000 10
entry 1 1000
hole 1
$4 2 1002
exit 2 1004
exit 1 1008
end
$2
chunk 60000
custom 16 60001 =hello
unfinished 16 60002 =gone
entry 1 60010
$2
chunk 60100
switch 102
entry 2 60200
lost 3
$3
chunk 60300 102
entry 1 60400
entry 2 60500
exit 2 60600
exit 1 60700
open
END
}
# trace NAME ARGUMENTS OF script...
trace() {
	name=$1
	shift
	script "$@" | write_trace "$name"
}
# shown NAME: the output of all readers.
shown() {
	for command in report 'report --by=thread' replay 'dump --format=json'; do
		# A command and its options.
		# shellcheck disable=SC2086
		bounded 60 "$XAUDIT" $command "$tmp/$1" 2>&1
	done
}
trace first stream stream stream entry
shown first >"$tmp/want"
is "$(awk '/ outer / { print $1; exit }' "$tmp/want")" 5002 'there are 5002 calls of outer'

trace stream stream stream ring kept
shown stream >"$tmp/out"
ok 't<n> and the newest chunk in meta are read as one' cmp "$tmp/want" "$tmp/out"
trace recorded '' '' '' kept
shown recorded >"$tmp/out"
ok 'as the recorder leaves them, too' cmp "$tmp/want" "$tmp/out"
trace both stream both both kept
shown both >"$tmp/out"
ok 'a chunk that is in both counts once' cmp "$tmp/want" "$tmp/out"

# The one in meta lies in the place of the head.
trace beside beside '' '' kept
shown beside >"$tmp/out"
ok 'a chunk beside the head is one of its thread' cmp "$tmp/want" "$tmp/out"
is "$(od -An -t c -j 65536 -N 4 "$tmp/beside/p100/meta" | tr -d ' ')" CHNK 'there it is'
# spoilt OFFSET BYTE WHAT: of the chunk there.
spoilt() {
	rm -rf "$tmp/spoilt"
	cp -R "$tmp/beside" "$tmp/spoilt"
	printf "$2" | dd of="$tmp/spoilt/p100/meta" bs=1 seek=$((65536 + $1)) conv=notrunc 2>/dev/null
	bounded 60 "$XAUDIT" report "$tmp/spoilt" >"$tmp/out" 2>"$tmp/err"
	like "$? $(cat "$tmp/err")" "^1 xaudit: $tmp/spoilt/p100/meta: offset 65536: $3[;,]" "spoilt, at $1: $3"
}
spoilt 0 X 'there is no chunk where one should begin'
spoilt 92 '\1' "the chunk is another thread's"

# Chunks in t<n> are in no order, and a process that was killed while it copied a chunk left no head there.
script stream stream ring entry | sed 's/^loop 5000/loop 8000/; s/ 60\([0-9][0-9][0-9]\)/ 90\1/' |
	write_trace order
"$XAUDIT" report "$tmp/order" >"$tmp/want"
t0=$tmp/order/p100/t0
dd if="$t0" of="$tmp/chunk" bs=65536 count=1 2>/dev/null
dd if="$t0" of="$t0" bs=65536 skip=1 count=1 conv=notrunc 2>/dev/null
dd if="$tmp/chunk" of="$t0" bs=65536 seek=1 conv=notrunc 2>/dev/null
bounded 60 "$XAUDIT" report "$tmp/order" >"$tmp/out" 2>"$tmp/err"
is "$? $(cat "$tmp/err")" '0 ' 'chunks of t<n> in another order are no damage'
ok 'and the numbers are the same' cmp "$tmp/want" "$tmp/out"
truncate -s "$((($(wc -c <"$t0") / 65536 + 1) * 65536 + 128))" "$t0"
printf 'words of a chunk whose head was to come' >>"$t0"
bounded 60 "$XAUDIT" report "$tmp/order" >"$tmp/out" 2>"$tmp/err"
is "$? $(cat "$tmp/err")" '0 ' 'a copy without its head is none'
ok 'and it is left out' cmp "$tmp/want" "$tmp/out"

# A flight recorder of four places, of which the oldest chunks were overwritten.
script ring ring ring kept | sed '/^chunk/,$d; s/^loop 5000/loop 20000/' | write_trace ring
bounded 60 "$XAUDIT" dump "$tmp/ring" >"$tmp/out" 2>"$tmp/err"
is "$? $(cat "$tmp/err")" '0 ' 'a flight recorder is read'
chunks=$(((20000 * 5 + 8168) / 8169)) # 64 bytes of each chunk stay free
like "$(grep ' gap ' "$tmp/out")" " $((chunks - 4)) buffers were overwritten" "of $chunks chunks, four are there"
# Those four hold three full chunks and the rest; two of five words are entries.
is "$(grep -c ' entry ' "$tmp/out")" "$(((20000 * 5 - (chunks - 4) * 8169) * 2 / 5))" 'with all their events'

# A chunk is missing in a trace where no chunk can have been overwritten.
script stream stream stream entry |
	sed 's/ring_size=262144//; s/^loop 5000/loop 8000/; s/ 60\([0-9][0-9][0-9]\)/ 90\1/' |
	write_trace hole
printf '\0\0\0\0' | dd of="$tmp/hole/p100/t0" bs=65536 seek=1 conv=notrunc 2>/dev/null
bounded 60 "$XAUDIT" report "$tmp/hole" >"$tmp/out" 2>"$tmp/err"
is "$? $(cat "$tmp/err")" "1 xaudit: $tmp/hole/p100/t0: offset 131072: chunks before this one are missing; the rest of \
the trace was read" \
	'a missing chunk is damage'

# Versions that were, and one to come.
for version in 1 2 5; do
	echo "process p100 version=$version" | write_trace "version$version"
	bounded 60 "$XAUDIT" report "$tmp/version$version" >"$tmp/out" 2>"$tmp/err"
	is "$? $(cat "$tmp/err")" "1 xaudit: $tmp/version$version/p100/meta: offset 0: the trace has \
$([ $version = 1 ] && echo 'version 1, which this xaudit does not read' ||
	echo 'another version than this xaudit reads'): use the xaudit that recorded it; nothing of the trace can be \
read" "version $version is refused"
done
done_testing
