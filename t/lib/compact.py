# SPDX-License-Identifier: MIT
#
# A file of a trace that may be compact (format/compact.h):
#	compact.py FILE at OFFSET	where that byte of what it stands for lies; nothing if it is in a hole
#	compact.py FILE size		bytes of what it stands for
#	compact.py FILE expand OUT	makes OUT, sparse, of it
import os
import struct
import sys

name, what = sys.argv[1:3]
with open(name, "rb") as file:
    magic, version, head, size, extents = struct.unpack("<8sIIQQ", file.read(32).ljust(32, b"\0"))
    parts = []
    if magic == b"xaudcomp":
        at = head + extents * 16
        for i in range(extents):
            begin, end = struct.unpack("<QQ", file.read(16))
            parts.append((begin, end, at))
            at += end - begin
    else:
        size = os.stat(name).st_size
        parts.append((0, size, 0))
    if what == "size":
        print(size)
    elif what == "at":
        offset = int(sys.argv[3])
        for begin, end, at in parts:
            if begin <= offset < end:
                print(at + offset - begin)
    else:
        with open(sys.argv[3], "wb") as to:
            for begin, end, at in parts:
                file.seek(at)
                to.seek(begin)
                to.write(file.read(end - begin))
            to.truncate(size)
