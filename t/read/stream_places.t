#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Chunks of t<n> (format/stream.h) are found wherever they lie: one behind the other, with room between them, behind
# chunks that are missing or were not finished, and in a copy that has no holes any more. What only looks like a head is
# none. So they are in a pack, and unpack makes the same file again.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/written.sh"
need python3

# place FILE HOW...: writes the chunks of t<n>, which lie at multiples of 65536, anew, each so:
#	p	the next one behind its bytes
#	r	the next one behind room for all of it
#	m	nothing is written in that room
#	h	its words are there without the head, and behind them what looks like a head: of another thread; with
#		impossible sizes; with a number, as in meta; of an unknown version
cat >"$tmp/place.py" <<'EOF'
import struct
import sys

name, how = sys.argv[1:]
with open(name, "rb") as file:
    data = file.read()
with open(name, "wb") as to:
    at = end = 0
    for number, letter in enumerate(how):
        chunk = bytearray(data[number * 65536:(number + 1) * 65536])
        version, = struct.unpack_from("<H", chunk, 4)
        used, = struct.unpack_from("<Q", chunk, 40)
        dense, = struct.unpack_from("<Q", chunk, 104)
        chunk = chunk[:128 + dense if version == 3 else used]
        size = len(chunk)
        if letter == "h":
            forged = []
            wrong = (96, "<I", 7), (40, "<Q", 1 << 40), (32, "<Q", 4096), (80, "<Q", 9), (4, "<H", 9)
            for offset, form, value in wrong:
                page = bytearray(4096)
                page[:128] = chunk[:128]
                struct.pack_into("<Q", page, 8, 77)
                struct.pack_into(form, page, offset, value)
                forged.append(bytes(page))
            chunk[:128] = bytes(128)
            chunk = chunk.ljust((size + 4095) // 4096 * 4096, b"\0") + b"".join(forged)
        if letter != "m":
            to.seek(at)
            to.write(chunk)
            end = at + len(chunk)
        at += (size + 4095) // 4096 * 4096 if letter == "p" else 65536
    to.truncate(end)
EOF

# made NAME HOW [dense]: five chunks of 100, 1000, 2000, 300 and 2036 calls of outer.
made() {
	{
		echo 'process p100 flags=1 chunk=65536'
		echo 'pair first 1000 1000 5'
		echo 'pair last 900000 900000 800005'
		echo "$libraries"
		echo "${3:-plain}"
		echo 'thread 100 main'
		echo stream
		n=0
		for calls in 100 1000 2000 300 2036; do
			n=$((n + 1))
			[ $n = 1 ] || echo "chunk ${n}00000"
			printf 'loop %s 20\nentry 1 %s00000\nexit 1 %s00010\nend\n' $calls $n $n
		done
	} | write_trace "$1"
	python3 "$tmp/place.py" "$tmp/$1/p100/t0" "$2"
}
# told NAME: calls of outer, and what is said.
told() {
	"$XAUDIT" report "$tmp/$1" 2>"$tmp/err" >"$tmp/out"
	sed -n 's/^ *\([0-9]*\) .* outer .*/\1/p' "$tmp/out" | tr '\n' ' '
	sed -n 's/.*t0: \(offset .*\); the rest .*/\1/p' "$tmp/err"
}
# same NAME: packed and unpacked, with and without values.
same() {
	"$XAUDIT" dump "$tmp/$1" >"$tmp/expected" 2>&1
	"$XAUDIT" pack -o "$tmp/packed" "$tmp/$1" >"$tmp/said" 2>&1
	is "$(told packed)" "$(told "$1")" "$2: a pack tells the same"
	"$XAUDIT" unpack -o "$tmp/back" "$tmp/packed" >"$tmp/said" 2>&1
	ok "$2: unpack makes the same file" cmp "$tmp/$1/p100/t0" "$tmp/back/p100/t0"
	"$XAUDIT" pack --no-values -o "$tmp/bare" "$tmp/$1" >"$tmp/said" 2>&1
	is "$(told bare | cut -d' ' -f1)" "$(told "$1" | cut -d' ' -f1)" "$2: so does one without values"
	rm -rf "$tmp/packed" "$tmp/back" "$tmp/bare"
}
gap='chunks before this one are missing'

for words in plain dense; do
	made whole rrrrr $words
	is "$(told whole)" '5436 ' "$words: each has room for all of it"
	same whole "$words, with room"
	made close ppppp $words
	is "$(told close)" '5436 ' "$words: one behind the other"
	same close "$words, one behind the other"
	ok "$words: it is much smaller" test "$(stat -c %s "$tmp/close/p100/t0")" -lt 100000
	ok "$words: nothing else is" test "$(($(stat -c %s "$tmp/whole/p100/t0") / 65536))" -eq 4
	made mixed prprp $words
	is "$(told mixed)" '5436 ' "$words: by turns"
	cp -r --sparse=never "$tmp/mixed" "$tmp/full"
	is "$(told full)" '5436 ' "$words: and in a copy without holes"
	same full "$words, without holes"
	rm -rf "$tmp/whole" "$tmp/close" "$tmp/mixed" "$tmp/full"

	made first mpppp $words
	is "$(told first)" "5336 offset 65536: $gap" "$words: the first one is missing"
	same first "$words, the first is missing"
	made some pmpmp $words
	is "$(told some | cut -d' ' -f1)" 4136 "$words: two are missing"
	made cut ppphp $words
	is "$(told cut | cut -d' ' -f1) $(told cut | sed 's/.*: //')" "5136 $gap" \
		"$words: one was not finished, and what looks like heads is none"
	same cut "$words, one was not finished"
	cp -r --sparse=never "$tmp/cut" "$tmp/full"
	is "$(told full | cut -d' ' -f1) $(told full | sed 's/.*: //')" "5136 $gap" "$words: nor without holes"
	made last pppph $words
	is "$(told last)" '3400 ' "$words: the last one was not finished: nothing is wrong"
	rm -rf "$tmp/first" "$tmp/some" "$tmp/cut" "$tmp/full" "$tmp/last"
done
done_testing
