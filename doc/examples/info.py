#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Tells what was recorded, what was not, and why: info.py [DIR]. Structures have the fields of xaudit-read.h, in order.
import ctypes, sys
from ctypes import POINTER, Structure, c_char_p, c_double, c_int, c_size_t, c_uint32, c_uint64, c_void_p

def struct(**fields):
    fields = [(name, type) for names, type in fields.items() for name in names.split("__")]
    return type("struct", (Structure,), {"_fields_": fields})

Error = struct(why__number=c_int, offset__more=c_uint64, file=ctypes.c_char * 256, text=ctypes.c_char * 1024)
Info = struct(pid__parent=c_uint32, name__exe__command__host=c_char_p, start__end=c_uint64,
    threads=c_uint32)
Facts = struct(
    module__rules=c_char_p, note=POINTER(c_char_p), notes__objects__changes=c_uint32, loads__unloads=c_uint64)
Sites = struct(kind__reason__count=c_uint32)
Object = struct(path__soname__build_id=c_char_p, role__kinds=c_uint32, site=POINTER(Sites), sites=c_uint32,
    has_pages=c_int, text__site_pages__patched=c_uint32)
Change = struct(time__after=c_uint64, what__tid=c_uint32, word__text=c_char_p, value=c_uint64, function=c_void_p)
Amounts = struct(size=c_size_t, threads__events__custom__custom_bytes__unfinished__counted__lost=c_uint64,
    lost_by=c_uint64 * 16, overwritten__disk__crashes__first__last=c_uint64, signal__estimated=c_int, chunks=c_uint64,
    tid=c_uint32, thread=ctypes.c_char * 16)

read = ctypes.CDLL("libxaudit-read.so.0")
def function(name, result):
    def call(*given):
        return getattr(read, "xaudit_read_" + name)(*given)
    getattr(read, "xaudit_read_" + name).restype = result
    return call
process_of = function("process", c_void_p)
info_of, facts_of = function("process_info", POINTER(Info)), function("process_facts", POINTER(Facts))
object_of, change_of = function("process_object", POINTER(Object)), function("process_change", POINTER(Change))
state_word, lost_phrase = function("state_word", c_char_p), function("lost_phrase", c_char_p)
kind_word, reason_phrase = function("kind_word", c_char_p), function("reason_phrase", c_char_p)

def text(name):
    return "?" if name is None else name.decode(errors="replace")

error = Error()
trace = c_void_p(function("open", c_void_p)(sys.argv[1].encode() if sys.argv[1:] else b"xaudit.data", None,
    ctypes.byref(error)))
if not trace:
    sys.exit(error.text.decode(errors="replace"))
number = 0
while process := c_void_p(process_of(trace, number)):
    number += 1
    facts, info, amounts = facts_of(process).contents, info_of(process).contents, Amounts(size=ctypes.sizeof(Amounts))
    read.xaudit_read_process_amounts(process, c_uint64(2**64 - 1), ctypes.byref(amounts))
    print(f"{text(info.name)}: {text(info.exe)}, {text(state_word(read.xaudit_read_process_state(process)))}: "
        f"{amounts.events} events of {amounts.threads} threads, {amounts.counted} counted calls, {amounts.lost} lost")
    for record in range(info.threads):
        one = Amounts(size=ctypes.sizeof(Amounts))
        read.xaudit_read_record_amounts(process, record, c_uint64(2**64 - 1), ctypes.byref(one))
        print(f"  thread {one.tid} {text(one.thread)}: {one.events} events in {one.chunks} buffers")
    for cause in range(16):
        if amounts.lost_by[cause]:
            print(f"  {amounts.lost_by[cause]} lost {text(lost_phrase(cause))}")
    for i in range(facts.notes):
        print(f"  note: {text(facts.note[i])}")
    for i in range(facts.changes):
        change = change_of(process, i).contents
        print(f"  after {change.after} ns: {text(change.word)} {change.value} {text(change.text)}")
    for i in range(facts.objects):
        object = object_of(process, i).contents
        for k in range(object.sites):
            site = object.site[k]
            kind, reason = text(kind_word(site.kind)), text(reason_phrase(site.reason))
            print(f"  {text(object.path)}: {site.count} {kind}: {reason}")
if read.xaudit_read_damage(trace, ctypes.byref(error)):
    print(error.text.decode(errors="replace"), file=sys.stderr)
read.xaudit_read_close(trace)
