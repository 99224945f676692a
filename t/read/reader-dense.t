#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Traces whose chunks are of dense words read as those of the same events in plain words: by each command, from a pack,
# and from what unpack makes of it, whether or not the words were made dense as xaudit makes them. Where a chunk is
# damaged, that is said, and the others are read.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/written.sh"

# show NAME: what commands tell of the trace's events.
show() {
	"$XAUDIT" dump "$tmp/$1"
	"$XAUDIT" report "$tmp/$1"
	"$XAUDIT" replay "$tmp/$1"
	"$XAUDIT" stacks "$tmp/$1"
	"$XAUDIT" report --by=stack "$tmp/$1"
} 2>&1

corpus="$top_srcdir/t/fuzz/corpus"
for name in backtraces calls dense early forks ring threads values; do
	grep -v -e '^dense' "$corpus/$name.trace" | write_trace plain
	sed 's/^process .*\|^child .*/&\ndense/' "$corpus/$name.trace" | write_trace dense
	show plain | sed "s|$tmp/plain|DIR|" >"$tmp/expected"
	show dense | sed "s|$tmp/dense|DIR|" >"$tmp/got"
	ok "$name: there are events" [ -s "$tmp/expected" ]
	ok "$name: dense words read as plain ones" cmp "$tmp/expected" "$tmp/got"
	"$XAUDIT" pack -o "$tmp/packed" "$tmp/dense" >"$tmp/said" 2>&1
	show packed | sed "s|$tmp/packed|DIR|" >"$tmp/got"
	ok "$name: so do they in a pack" cmp "$tmp/expected" "$tmp/got"
	"$XAUDIT" unpack -o "$tmp/unpacked" "$tmp/packed" >"$tmp/said" 2>&1
	show unpacked | sed "s|$tmp/unpacked|DIR|" >"$tmp/got"
	ok "$name: and in what unpack makes of it" cmp "$tmp/expected" "$tmp/got"
	rm -rf "$tmp/plain" "$tmp/dense" "$tmp/packed" "$tmp/unpacked"
done

# Three chunks of 64 KiB; the second one is damaged: at that offset there are these bytes.
damaged() {
	write_trace damaged <<-END
		process p100 flags=1 chunk=65536
		pair first 1000 1000 5
		pair last 9000 9000 8005
		$libraries
		dense
		thread 100 main
		loop 100 20
		entry 1 1000
		exit 1 1010
		end
		chunk 4000
		loop 100 20
		entry 2 4000
		exit 2 4010
		end
		chunk 7000
		loop 100 20
		entry 1 7000
		exit 1 7010
		end
	END
	[ $# = 0 ] || printf "$2" | dd of="$tmp/damaged/p100/t0" bs=1 seek=$((65536 + $1)) conv=notrunc 2>/dev/null
	"$XAUDIT" report "$tmp/damaged" 2>"$tmp/said" |
		sed -n 's/^ *\([0-9]*\) .* \(outer\|inner\) .*/\2 \1/p' | tr '\n' ' '
	sed -n 's/.*: \(offset [^;,]*\).*/\1/p' "$tmp/said"
	rm -rf "$tmp/damaged"
}
is "$(damaged)" 'outer 200 inner 100 ' 'nothing is damaged'
is "$(damaged 40 '\0\0')" 'outer 200 offset 65536: the chunk'"'"'s used size is impossible' \
	'a chunk that would not be finished'
is "$(damaged 104 '\24\0')" 'outer 200 inner 1 offset 65536: the chunk has too few words' 'codes that end too early'
is "$(damaged 148 '\0\370')" 'outer 200 inner 1 offset 65536: the chunk has too few words' \
	'a code that there is not'
is "$(damaged 4 '\77')" 'outer 200 offset 65536: the chunk has another version than this xaudit reads' \
	'a version that there is not'
done_testing
