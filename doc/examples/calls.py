#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Adds up the calls of a trace, as JSON: calls.py [DIR]. Structures have the members of xaudit-read.h, in its order.
import ctypes, json, sys
from ctypes import POINTER, Structure, c_char_p, c_int, c_size_t, c_uint32, c_uint64, c_void_p

def struct(**members):
    members = [(name, type) for names, type in members.items() for name in names.split("__")]
    return type("struct", (Structure,), {"_fields_": members})

Object = struct(path__soname__build_id=c_char_p)
Function = struct(object=POINTER(Object), name=c_char_p, offset=c_uint64, number__kind=c_uint32, aliases=c_void_p)
Flat = struct(id__parent__start__end__self__total__cpu__count=c_uint64,
    function__process__tid__stack__depth__how=c_uint32)
Options = struct(size=c_size_t, enters__customs__losses__counted=c_int, tid=c_uint32, start__end=c_uint64,
    process=c_void_p, values__requests__sums=c_int)
Error = struct(why__number=c_int, offset__more=c_uint64, file=ctypes.c_char * 256, text=ctypes.c_char * 1024)

read = ctypes.CDLL("libxaudit-read.so.0")
read.xaudit_read_open.restype = read.xaudit_read_calls.restype = c_void_p
read.xaudit_read_function.restype, read.xaudit_read_next_flat.restype = POINTER(Function), c_size_t
error, some, rows = Error(), (Flat * 1000)(), {}
trace = c_void_p(read.xaudit_read_open((sys.argv[1:] or ["xaudit.data"])[0].encode(), None, ctypes.byref(error)))
if not trace:
    sys.exit(error.text.decode(errors="replace"))
options = Options(size=ctypes.sizeof(Options), counted=1)
calls = c_void_p(read.xaudit_read_calls(trace, ctypes.byref(options), ctypes.byref(error)))
while n := read.xaudit_read_next_flat(calls, some, c_size_t(len(some))):
    for call in some[:n]:
        row = rows.setdefault(call.function, [0, 0, 0])
        row[:] = row[0] + call.count, row[1] + call.total, row[2] + call.self
functions = {number: read.xaudit_read_function(trace, number).contents for number in rows}
json.dump([{"function": functions[i].name.decode(errors="replace"),
    "library": functions[i].object.contents.path.decode(errors="replace"),
    "calls": row[0], "total_ns": row[1], "self_ns": row[2]} for i, row in rows.items()], sys.stdout)
read.xaudit_read_damage(trace, ctypes.byref(error))
read.xaudit_read_close(trace)
if error.why:
    sys.exit(error.text.decode(errors="replace"))
