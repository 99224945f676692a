# SPDX-License-Identifier: MIT
"""
For debug_installed.t. In gdb, which runs a traced program: writes what gdb shows of the arguments of calls that come
from the module's trampolines. These are the calls that are recorded, in the same process, so all is equal: addresses,
too. Its parameters are in the environment:

	WATCH_LIBRARY	the name of the library whose functions are watched
	WATCH_AT	a file of their places in the library: numbers in hex
	WATCH_WHERE	first: at the first instruction, or behind: behind the prologue, as debug builds need it
	WATCH_MOST	so many calls of each function
	WATCH_TO	the file that is written: "CALL ADDRESS" and what `info args` prints

Outside of gdb:

	places LIBRARY DUMP	the places, from the dump of an earlier run
	compare SHOWN DUMP	what gdb showed against the dump, in JSON, of the same run. Prints what differs, and a
				line of counts
"""
import json
import os
import re
import sys

try:
    import gdb
except ImportError:
    gdb = None


# ---- in gdb ----

def mappings(name):
    """The lowest and the highest address of a file in memory."""
    lines = gdb.execute("info proc mappings", to_string=True).splitlines()
    rows = [line.split() for line in lines if line.endswith("/" + name)]
    return (int(rows[0][0], 16), int(rows[-1][1], 16)) if rows else (0, 0)


class Watch:
    def __init__(self):
        self.module = (0, 0)
        self.calls = []
        self.to = open(os.environ["WATCH_TO"], "w", errors="surrogateescape")
        self.most = int(os.environ["WATCH_MOST"])
        gdb.events.new_objfile.connect(self.loaded)

    def loaded(self, event):
        name = os.path.basename(event.new_objfile.filename)
        if name == "libxaudit.so":
            self.module = mappings(name)
        if name != os.environ["WATCH_LIBRARY"] or self.calls:
            return
        base = mappings(os.path.basename(os.path.realpath(event.new_objfile.filename)))[0]
        for line in open(os.environ["WATCH_AT"]):
            self.calls.append(Call(self, base + int(line, 16)))


class Call(gdb.Breakpoint if gdb else object):
    def __init__(self, watch, address):
        at = address
        if os.environ["WATCH_WHERE"] == "behind":
            at = gdb.find_pc_line(address).last + 1
        super().__init__("*%d" % at, internal=True)
        self.watch, self.address, self.recorded, self.others = watch, address, 0, 0

    def stop(self):
        """Never stops, whatever happens."""
        try:
            back = gdb.newest_frame().older().pc()
            if self.watch.module[0] <= back < self.watch.module[1]:
                self.recorded += 1
                self.watch.to.write("CALL %x\n%s" % (self.address, gdb.execute("info args", to_string=True)))
            else:
                self.others += 1
            # The library itself may call it a million times.
            self.enabled = self.recorded < self.watch.most and self.others < 100 * self.watch.most
        except gdb.error as error:
            self.watch.to.write("CALL %x\nERROR %s\n" % (self.address, error))
        return False


def watch():
    for setting in ("pagination off", "confirm off", "width 0", "print elements 64", "startup-with-shell off",
                    "print repeats unlimited"):
        gdb.execute("set " + setting)
    watching = Watch()
    gdb.execute("run")
    watching.to.close()


# ---- outside ----

def events(path, kind):
    return [event for event in map(json.loads, open(path)) if event["event"] == kind]


def places(library, path):
    base = [int(load["address"], 16) for load in events(path, "load") if load["library"].endswith("/" + library)][0]
    for address in sorted({int(event["address"], 16) for event in events(path, "entry") if event.get("values")}):
        print("%x" % (address - base))


def shown_by_gdb(path):
    """By address: a list of calls, each a list of NAME, TEXT."""
    calls, now = {}, None
    for line in open(path, errors="surrogateescape"):
        line = line.rstrip("\n")
        if line.startswith("CALL "):
            now = []
            calls.setdefault(int(line.split()[1], 16), []).append(now)
        elif line.startswith("ERROR ") or re.match(r"\w+ = ", line):
            now.append(line.partition(" = ")[::2])
    return calls


def of_class(text, value):
    """What gdb prints of an object, as what we have of it: the text of a string, or the address of another one."""
    address = re.match(r"@(0x[0-9a-f]+): \{", text)
    view = re.search(r'_M_len = (\d+), _M_str = 0x[0-9a-f]+ "(.*)"', text)
    if view:
        # The text that it is in may be longer; the one of a damaged view may be none.
        return '"' + view.group(2)[:int(view.group(1))] + '"' if "\\" not in view.group(2) else text
    string = re.search(r'_M_p = 0x[0-9a-f]+ (".*?"(\.\.\.)?)\}', text)
    if string and value["type"] == "text":
        return string.group(1)
    return address.group(1) if address else text


def is_alike(name, text, ours):
    """What gdb says of an argument, against our values of its place: [kind of outcome]."""
    found, outcomes = {}, []
    leaves(name, of_class(text, ours[0]) if len(ours) == 1 else text, found)
    for path, said in found.items():
        # Names in the table are other ones than those of the debug information.
        member = path.partition(".")[2]
        values = [value for value in ours if len(found) == 1 or value["name"].partition(".")[2] == member]
        if "<optimized out>" in said or "<synthetic pointer>" in said:
            outcomes.append("gone")
        elif not values:
            # Structures in structures are recorded with depth=2 and more.
            outcomes.append("deeper" if path.count(".") > 1 else "missing")
        elif values[0]["state"] == "fault":
            outcomes.append("values" if "<error: Cannot access" in said else "wrong")
        elif values[0]["type"] == "text" and re.match(r"0x[0-9a-f]+$", said) and values[0]["state"] != "null":
            outcomes.append("texts")  # ltrace's files know that this void * is one
        elif values[0]["type"] == "structs":
            outcomes.append("structs")  # gdb shows their address
        else:
            outcomes.append("values" if same(values[0], said) else "wrong")
    return outcomes


def compare_call(event, arguments, written):
    """Outcomes, and what differs."""
    outcomes, said = [], []
    # Constructors have parameters that are C++'s own.
    shown = [argument for argument in arguments if argument[0] not in ("__in_chrg", "__vtt_parm")]
    for place, (name, text) in enumerate(shown):
        ours = [value for value in event["values"] if value.get("place") == place]
        # What the function writes is recorded when it ends.
        if place in written and not ours:
            continue
        found = ["wrong"] if name.startswith("ERROR") else is_alike(name, text, ours)
        if "wrong" in found or "missing" in found:
            said.append("%s: %s = %s; ours: %s" % (event.get("demangled") or event["function"], name, text,
                                                   ", ".join(value["shown"] for value in ours)))
        outcomes += found
    return outcomes, said


def compare(shown, dump):
    theirs, at, functions = shown_by_gdb(shown), {}, set()
    counts = {"calls": 0, "values": 0, "gone": 0, "texts": 0, "structs": 0, "deeper": 0, "missing": 0, "wrong": 0,
              "passed over": 0}
    written = {}
    for event in events(dump, "exit"):
        written.setdefault(event["address"], set()).update(
            value["place"] for value in event.get("values", []) if "place" in value)
    for event in events(dump, "entry"):
        address = int(event["address"], 16)
        calls, first = theirs.get(address, []), at.setdefault(address, 0)
        if not event.get("values") or first >= len(calls):
            continue
        # A recorded function that ends with a call, as realloc() with malloc(), has gdb see one that comes from the
        # trampoline and is not recorded.
        tried = [compare_call(event, call, written.get(event["address"], ())) for call in calls[first:first + 4]]
        same_ones = [i for i, (outcomes, said) in enumerate(tried) if not said]
        chosen = same_ones[0] if same_ones else 0
        at[address] = first + chosen + 1
        outcomes, said = tried[chosen]
        for outcome in outcomes:
            counts[outcome] += 1
        counts["passed over"] += chosen
        if outcomes:
            counts["calls"] += 1
            functions.add(address)
        for line in said:
            print(line)
    print("%d functions, " % len(functions) + ", ".join("%d %s" % (counts[key], key) for key in counts))


if gdb:
    watch()
elif sys.argv[1] == "places":
    places(sys.argv[2], sys.argv[3])
else:
    from gdb_text import leaves, same
    compare(sys.argv[2], sys.argv[3])
