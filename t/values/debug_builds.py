# SPDX-License-Identifier: MIT
"""
For debug_builds.t.

	generate SEED COUNT LANGUAGE	writes lib.h, lib.c (or lib.cc) and prog.c: functions fN, which call static sN,
					with parameters of all types; the program calls each once
	commands SYMBOLS WHERE		a script for gdb: at each function, `info args`; WHERE: "first" its first
					instruction, or "prologue" behind that
	compare GDB DUMP		what gdb printed against dumped JSON. Prints what differs, and a line of counts
	known DUMP			the values that the source has, in known.json, against dumped JSON
"""
import json
import random
import re
import sys

from gdb_text import leaves, same

TYPES = {  # name: C's spelling, a value
    "schar": ("signed char", lambda r: str(r.randint(-128, 127))),
    "uchar": ("unsigned char", lambda r: str(r.randint(0, 255))),
    "char": ("char", lambda r: str(r.randint(32, 126))),
    "short": ("short", lambda r: str(r.randint(-32768, 32767))),
    "ushort": ("unsigned short", lambda r: str(r.randint(0, 65535))),
    "int": ("int", lambda r: str(r.randint(-2**31 + 1, 2**31 - 1))),
    "uint": ("unsigned", lambda r: "%du" % r.randint(0, 2**32 - 1)),
    "long": ("long", lambda r: "%dl" % r.randint(-2**63 + 1, 2**63 - 1)),
    "ulong": ("unsigned long", lambda r: "%dul" % r.randint(0, 2**64 - 1)),
    "llong": ("long long", lambda r: "%dll" % r.randint(-2**62, 2**62)),
    "own": ("own_int", lambda r: str(r.randint(-99, 99))),
    "bool": ("bool", lambda r: r.choice(["true", "false"])),
    "float": ("float", lambda r: "%sf" % (r.randint(-999, 999) / 8)),
    "double": ("double", lambda r: "%s" % (r.randint(-9999, 9999) / 16)),
    "colour": ("enum colour", lambda r: r.choice(["RED", "GREEN", "BLUE"])),
    "text": ("const char *", lambda r: '"text %d"' % r.randint(0, 999)),
    "pointer": ("void *", lambda r: "(void *)0x%x" % r.randint(1, 2**40)),
    "to_int": ("const int *", lambda r: "(const int *)0x%x" % r.randint(1, 2**40)),
    "to_point": ("struct point *", lambda r: r.choice(["(struct point *)0", "(struct point *)0x1234"])),
    "function": ("function_type", lambda r: "(function_type)0x%x" % r.randint(1, 2**40)),
    "point": ("struct point", lambda r: "point_of(%d, %d)" % (r.randint(-9, 9), r.randint(-9, 9))),
    "mixed": ("struct mixed", lambda r: "mixed_of(%d, %s)" % (r.randint(-9, 9), r.randint(-99, 99) / 4)),
    "floats": ("struct floats", lambda r: "floats_of(%s, %s)" % (r.randint(-9, 9) / 2, r.randint(-9, 9) / 4)),
    "small": ("struct small", lambda r: "small_of(%d, %d)" % (r.randint(-9, 9), r.randint(-999, 999))),
    "big": ("struct big", lambda r: "big_of(%d, %d)" % (r.randint(-9, 9), r.randint(-9, 9))),
    "long_double": ("long double", lambda r: "%d.5l" % r.randint(0, 9)),
}
CXX_TYPES = {
    "string": ("const std::string &", lambda r: 'std::string("string %d")' % r.randint(0, 999)),
    "by_value": ("std::string", lambda r: 'std::string("a string that is longer %d")' % r.randint(0, 999)),
    "reference": ("const int &", lambda r: str(r.randint(-99, 99))),
    "level": ("level", lambda r: r.choice(["level::low", "level::high"])),
}
# What has no value with us, or several.
UNKNOWN = {"long_double"}

HEAD = """#include <stdbool.h>
#include <stddef.h>
enum colour { RED = 1, GREEN = 7, BLUE = 300 };
typedef int own_int;
typedef int (*function_type)(int);
struct point { int x, y; };
struct mixed { long n; double d; };
struct floats { float a, b; };
struct small { char c; short s; };
struct big { long l; int i; double d; const char *t; };
static inline struct point point_of(int x, int y) { struct point v = { x, y }; return v; }
static inline struct mixed mixed_of(long n, double d) { struct mixed v = { n, d }; return v; }
static inline struct floats floats_of(float a, float b) { struct floats v = { a, b }; return v; }
static inline struct small small_of(char c, short s) { struct small v = { c, s }; return v; }
static inline struct big big_of(long l, int i) { struct big v = { l, i, 0.5, "in big" }; return v; }
"""


MEMBERS = {"point": "xy", "mixed": "nd", "floats": "ab", "small": "cs", "big": "li"}


def parts_of(name, source):
    """Members and values of a parameter that is written so."""
    made = re.match(r"(\w+)_of\((.*), (.*)\)$", source)
    if not made:
        return [(name, re.sub(r"^\(.*\)(0)|^std::string\((.*)\)$|^level::", r"\1\2", source))]
    members = [(name + "." + m, made.group(2 + i)) for i, m in enumerate(MEMBERS[made.group(1)])]
    return members + [(name + ".d", "0.5"), (name + ".t", '"in big"')] * (made.group(1) == "big")


def generate(seed, count, language):
    chance = random.Random(seed)
    types = dict(TYPES)
    head = HEAD
    if language == "c++":
        types.update(CXX_TYPES)
        head = "#include <string>\n" + HEAD + "enum class level : short { low = -2, high = 500 };\n"
    names = sorted(types)
    first = '#define API %s\n' % ('extern "C"' if language == "c++" else "extern")
    declared, defined, calls, known = [], [], [], {}
    for i in range(count):
        chosen = [chance.choice(names) for _ in range(chance.randint(0, 9))]
        parameters = ", ".join("%s p%d" % (types[t][0], k) for k, t in enumerate(chosen)) or "void"
        # Some are used, so that the compiler keeps them, or takes them apart; some are not.
        # (clang tells nothing of a std::string that is not used.)
        uses = "".join("\tkeep(&p%d);\n" % k for k, t in enumerate(chosen)
                       if chance.random() < 0.4 or t == "by_value")
        passed = ", ".join("p%d" % k for k in range(len(chosen)))
        constant = ", %d" % i if chosen else "%d" % i
        declared.append("API int f%d(%s);" % (i, parameters))
        inner = parameters + ", int more" if chosen else "int more"
        defined.append("static NOINLINE int s%d(%s)\n{\n\tfor (int i = 0; i < 3; i++)\n\t\twork += more;\n%s"
                       "\treturn (int)work;\n}\n" % (i, inner, uses.replace("keep", "use")))
        defined.append("int f%d(%s)\n{\n%s\twork++;\n\treturn s%d(%s%s) + 1;\n}\n" %
                       (i, parameters, uses.replace("keep", "use"), i, passed, constant))
        values = [types[t][1](chance) for t in chosen]
        calls.append("\tsum += f%d(%s);" % (i, ", ".join(values)))
        known["f%d" % i] = {name: said for k, v in enumerate(values) for name, said in parts_of("p%d" % k, v)}
        known["s%d" % i] = dict(known["f%d" % i], more=str(i))
    with open("known.json", "w") as out:
        json.dump(known, out)
    with open("lib.h", "w") as out:
        out.write(head + first + "\n".join(declared) + "\n")
    suffix = "cc" if language == "c++" else "c"
    with open("lib." + suffix, "w") as out:
        out.write('#include "lib.h"\n#define NOINLINE __attribute__((noinline))\nvolatile long work;\n'
                  'static inline void use(const volatile void *p) { work += *(const volatile char *)p; }\n' +
                  "\n".join(defined))
    with open("prog." + suffix, "w") as out:
        out.write('#include "lib.h"\nint main(void)\n{\n\tint sum = 0;\n%s\n\treturn sum == 12345678;\n}\n' %
                  "\n".join(calls))


def plain(name):
    """s1 of s1.constprop.0, _ZL2s1i and s1(int)."""
    mangled = re.match(r"_ZL([0-9]+)([fs].*)", name)
    own = re.match(r"[fs][0-9]+", mangled.group(2)[:int(mangled.group(1))] if mangled else name)
    return own.group(0) if own else None


def commands(symbols, where):
    print("set pagination off\nset width 0\nset confirm off\nset print elements 64\nbreak main\nrun")
    lines = [line.split() for line in open(symbols)]  # of nm
    at = {line[2]: int(line[0], 16) for line in lines}
    print("set $base = (unsigned long)&f0 - %d" % at["f0"])
    for symbol in at:
        print("break *($base + %d)" % at[symbol] if where == "first" else "break %s" % plain(symbol))
        print('commands\nsilent\nprintf "FUNCTION %s\\n"\ninfo args\ninfo scope *$pc\ncontinue\nend' % plain(symbol))
    print("continue")


def read_gdb(path):
    functions, now, symbol = {}, None, ""
    for line in open(path, errors="replace"):
        if line.startswith("FUNCTION "):
            # The first call: functions with the same code may be one.
            name = line.split()[1]
            now = None if name in functions else functions.setdefault(name, {})
        elif now is not None and re.match(r"(p[0-9]+|more) = ", line):
            name, _, value = line.rstrip("\n").partition(" = ")
            leaves(name, value, now)
        elif now is not None and line.startswith("Symbol "):
            symbol = line.split()[1]
        elif now is not None and "DW_OP_GNU_parameter_ref" in line:
            # It is not passed. What gdb shows is what the caller would have passed.
            for name in [name for name in now if name == symbol or name.startswith(symbol + ".")]:
                del now[name]
            now[symbol] = "<optimized out>"
    return functions


def source_of(source, function, value):
    said = source[function].get(value["name"], "nothing of that name")
    return re.sub(r"^([-0-9.]+)(u|l|ul|ll|f)$", r"\1", said)


def is_source(value, said):
    if value["state"] == "null":
        return said == "0"
    return (said.startswith('"') and said == value["shown"]) or same(value, said)


def known(dump):
    source = json.load(open("known.json"))
    counts = {"values": 0, "wrong": 0, "gone": 0}
    for line in open(dump):
        event = json.loads(line)
        name = plain(event.get("function") or "")
        if event.get("event") != "entry" or name not in source:
            continue
        for value in event.get("values", []):
            if value["state"] == "optimized out":
                counts["gone"] += 1
                continue
            counts["values"] += 1
            said = source_of(source, name, value)
            if not is_source(value, said):
                counts["wrong"] += 1
                print("wrong: %s(%s = %s), source: %s" % (name, value["name"], value["shown"], said))
    print(", ".join("%d %s" % (counts[key], key) for key in counts))


def compare(gdb, dump):
    theirs, seen = read_gdb(gdb), {}
    for line in open(dump):
        event = json.loads(line)
        if event.get("event") == "entry" and plain(event.get("function") or ""):
            seen.setdefault(plain(event["function"]), event.get("values", []))
    counts = {"functions": 0, "values": 0, "gone": 0, "taken apart": 0, "more": 0, "not gdb's": 0, "wrong": 0,
              "missing": 0}
    source = json.load(open("known.json"))
    for function in sorted(theirs):
        if function not in seen:
            continue
        counts["functions"] += 1
        ours = {value["name"]: value for value in seen[function]}
        for name, text in theirs[function].items():
            if any(member.startswith(name + ".") for member in ours):
                continue  # counted below
            if name not in ours:
                # What was taken apart has no place that could be told.
                if function.startswith("s") and "<optimized out>" not in text:
                    counts["taken apart"] += 1
                elif not re.match(r"[0-9.]+l$", source[function].get(name, "")):  # a long double
                    counts["missing"] += 1
                    print("missing: %s(%s = %s)" % (function, name, text))
                continue
            value = ours.pop(name)
            gone = "<optimized out>" in text or "<synthetic pointer>" in text
            if gone and value["state"] == "optimized out":
                counts["gone"] += 1
            elif gone:
                counts["more"] += 1
            elif value["state"] not in ("whole", "null") or not same(value, text):
                # clang -O2 says of structures on the stack that their members are one byte after another.
                if is_source(value, source_of(source, function, value)):
                    counts["not gdb's"] += 1
                    continue
                counts["wrong"] += 1
                print("wrong: %s(%s = %s), gdb: %s" % (function, name, value["shown"], text))
            else:
                counts["values"] += 1
        counts["more"] += len(ours)
    print(", ".join("%d %s" % (counts[key], key) for key in counts))


if sys.argv[1] == "generate":
    generate(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
elif sys.argv[1] == "commands":
    commands(sys.argv[2], sys.argv[3])
elif sys.argv[1] == "known":
    known(sys.argv[2])
else:
    compare(sys.argv[2], sys.argv[3])
