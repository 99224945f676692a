#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Adds up the calls of a trace, as JSON: calls.py [DIR]. Structures have the fields of xaudit-read.h, in its order.
import ctypes, json, sys
from ctypes import POINTER, Structure, c_char_p, c_int, c_size_t, c_uint32, c_uint64, c_void_p

def struct(**fields):
    fields = [(name, type) for names, type in fields.items() for name in names.split("__")]
    return type("struct", (Structure,), {"_fields_": fields})

Object = struct(path__soname__build_id=c_char_p)
Function = struct(object=POINTER(Object), name=c_char_p, offset=c_uint64, number__kind=c_uint32)
Call = struct(parent=c_void_p, function=POINTER(Function), process=c_void_p, tid__stack__depth__recursion=c_uint32,
    start__end=c_uint64, how__reserved=c_uint32, self__children__total__cpu__cpu_self=c_uint64, user=c_uint64 * 2)
Item = struct(what=c_int, tid=c_uint32, process=c_void_p, call=POINTER(Call), function=POINTER(Function),
    thread=c_char_p, time__count=c_uint64, type=c_char_p, type_number__data_size=c_uint32, data=c_void_p,
    reserved=c_uint64 * 4)
Options = struct(size=c_size_t, enters__customs__losses__counted=c_int, tid=c_uint32, start__end=c_uint64,
    process=c_void_p)
Error = struct(why__number=c_int, offset__more=c_uint64, file=ctypes.c_char * 256, text=ctypes.c_char * 1024)

read = ctypes.CDLL("libxaudit-read.so.0")
read.xaudit_read_open.restype = read.xaudit_read_calls.restype = c_void_p
error, item, rows = Error(), Item(), {}
trace = read.xaudit_read_open(sys.argv[1].encode() if sys.argv[1:] else b"xaudit.data", None, ctypes.byref(error))
if not trace:
    sys.exit(error.text.decode(errors="replace"))
options = Options(size=ctypes.sizeof(Options), counted=1)
calls = c_void_p(read.xaudit_read_calls(c_void_p(trace), ctypes.byref(options), ctypes.byref(error)))
while read.xaudit_read_next_call(calls, ctypes.byref(item)):
    row = rows.setdefault(item.function.contents.number, [item.function.contents, 0, 0, 0])
    row[1] += item.count if not item.call else 1
    row[2] += item.call.contents.total if item.call else 0
    row[3] += item.call.contents.self if item.call else 0
json.dump([{"function": f.name.decode(errors="replace"), "library": f.object.contents.path.decode(errors="replace"),
    "calls": n, "total_ns": total, "self_ns": self} for f, n, total, self in rows.values()], sys.stdout)
read.xaudit_read_damage(c_void_p(trace), ctypes.byref(error))
read.xaudit_read_close(c_void_p(trace))
if error.why:
    sys.exit(error.text.decode(errors="replace"))
