#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Chunks that are holes of the file, but say that all of it is used, cost readers and snapshots nothing.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
need python3 prlimit

library "$CC" libcounted.so counted.c
program "$CC" count count.c -L. -lcounted
# Chunks of 128 MiB in meta, one per thread that runs beside others, of which a page is there each; their heads say that
# they are full.
record d -m ring -b 256M --ring=1G -k plt -l libcounted.so ./count 16 5
[ "$status" -eq 7 ] || skip_all "$err"
python3 "$top_srcdir/t/lib/compact.py" d/p*/meta expand sparse && mv sparse d/p*/meta
python3 - d/p*/meta <<'END' || skip_all 'there are no chunks of 128 MiB'
import sys
size = 128 << 20
forged = 0
with open(sys.argv[1], 'r+b') as meta:
    meta.seek(0, 2)
    end = meta.tell()
    for at in range(0, end, size):
        meta.seek(at)
        head = bytearray(meta.read(48))
        if head[:4] == b'CHNK' and int.from_bytes(head[32:40], 'little') == size:
            head[40:48] = head[32:40]
            meta.seek(at)
            meta.write(head)
            meta.truncate(max(end, at + size))
            forged += 1
sys.exit(forged < 4)
END
ok 'the trace takes no room for them' test "$(du -sk d | cut -f1)" -lt 2048
for command in report dump replay stacks graph outliers loads 'pack -o packed'; do
	# Of processor time, where reading the holes takes some seconds.
	# shellcheck disable=SC2086
	bounded 60 prlimit --cpu=1 "$XAUDIT" $command d >out 2>err
	is "$?" 0 "$command: takes no time for them" || cat err
done
bounded 60 prlimit --cpu=1 "$XAUDIT" ctl d/p* snapshot -o copy >out 2>err
is "$?" 0 'a snapshot takes no time for them'
ok 'nor room' test "$(du -sk copy | cut -f1)" -lt 2048
done_testing
