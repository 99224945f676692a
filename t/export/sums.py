# SPDX-License-Identifier: MIT
#
# sums.py FORMAT FILE REPORT [PART...] [of=INPUT]: compares the calls and times that a file of `xaudit export` tells,
# or what another tool has made of it, with those of `xaudit report --format=json`, by the names that people are
# shown. Prints "same: FUNCTIONS functions, CALLS calls", or what differs. PART: calls, self, total; all if there is
# none. Times may differ by a ns for each call, and their own parts by one for each call in it; where stacks have
# times, by less than one for each stack. For speedscope, what takes no time is not there. of=INPUT: the file that
# callgrind_annotate has read, whose totals are added up of own times and those of each function that is called.
import collections
import decimal
import json
import re
import sys
import unicodedata

from perfetto import perfetto_events

class Row:
    def __init__(self):
        self.calls = self.self = self.total = self.children = 0

class Sums:
    """Sums by function, from calls that nest. Times are ns."""
    def __init__(self):
        self.rows = collections.defaultdict(Row)
        self.tracks = collections.defaultdict(list)
        self.stacks = []
        self.paths = set() # the stacks of calls that nest
        self.wrong = []

    def enter(self, track, name, time):
        stack = self.tracks[track]
        if stack and time < stack[-1][1]:
            self.wrong.append(f"{name} begins before what is around it, {stack[-1][0]}")
        if stack:
            self.rows[stack[-1][0]].children += 1
        stack.append([name, time, 0])
        self.paths.add(tuple(one[0] for one in stack))

    def leave(self, track, name, time, known=True):
        stack = self.tracks[track]
        if not stack or (name is not None and stack[-1][0] != name):
            self.wrong.append(f"{name} ends, but the innermost is {stack[-1][0] if stack else 'none'}")
            return
        name, start, children = stack.pop()
        if time < start + children:
            self.wrong.append(f"{name} ends before what is in it")
        row = self.rows[name]
        row.calls += 1
        if known:
            row.self += time - start - children
            if all(one[0] != name for one in stack):
                row.total += time - start
        if stack:
            stack[-1][2] += time - start

    def end(self):
        for track, stack in self.tracks.items():
            if stack:
                self.wrong.append(f"{stack[-1][0]} has no end")

def chrome(path):
    sums = Sums()
    file = json.load(open(path), parse_float=decimal.Decimal)
    last = {}
    for event in file["traceEvents"]:
        if event["ph"] not in "XBE" or event.get("cat") == "sched":
            continue
        track, time = (event["pid"], event["tid"]), int(event["ts"] * 1000)
        if time < last.get(track, 0):
            sums.wrong.append(f"time goes back on {track}")
        last[track] = time
        known = not event.get("args", {}).get("end", "").startswith("not ")
        if event["ph"] != "E":
            sums.enter(track, event["name"], time)
        if event["ph"] == "X":
            time += int(event["dur"] * 1000)
        if event["ph"] != "B":
            sums.leave(track, event["name"], time, known)
    sums.end()
    return sums

# What speedscope saves, or reads. Its names of what Chrome's format has are followed by the arguments.
def speedscope(path):
    sums = Sums()
    file = json.load(open(path), parse_float=decimal.Decimal)
    names = [re.sub(r' \{".*\}$', "", frame["name"]) for frame in file["shared"]["frames"]]
    lengths = {"microseconds": 1000, "nanoseconds": 1, "none": 1}
    for number, profile in enumerate(file["profiles"]):
        if re.search(r", on CPU \(tid \d+\)$", profile["name"]):
            continue
        unit = lengths[profile["unit"]]
        if profile["type"] == "evented":
            for event in profile["events"]:
                to = sums.enter if event["type"] == "O" else sums.leave
                to(number, names[event["frame"]], round(event["at"] * unit))
        else:
            for stack, weight in zip(profile["samples"], profile["weights"]):
                sampled(sums, [names[frame] for frame in stack], weight * unit)
    sums.end()
    return sums

# Lines of folded stacks.
def folded(path):
    sums = Sums()
    for line in open(path, encoding="utf-8"):
        stack, time = line.rstrip("\n").rsplit(" ", 1)
        sampled(sums, stack.split(";"), int(time))
    return sums

# What callgrind_annotate has made of a file, with --show-percs=no; with --inclusive=yes behind it.
def callgrind(path):
    sums = Sums()
    part = "self"
    for line in open(path, encoding="utf-8"):
        if line.startswith("--inclusive"):
            part = "total"
        match = re.match(r" *([\d,]+) +([\d,.]+) +\?\?\?:(.*) \[/.*\]$", line)
        if not match:
            continue
        time, calls, name = match.groups()
        setattr(sums.rows[name], part, int(time.replace(",", "")))
        if part == "self":
            sums.rows[name].calls = 0 if calls == "." else int(calls.replace(",", ""))
    return sums

# How many others each function calls, by the file that callgrind_annotate reads.
def callees(path):
    names, of, caller = {}, collections.defaultdict(set), None
    for line in open(path, encoding="utf-8", errors="replace"):
        match = re.match(r"(c?)fn=\((\d+)\)(?: (.*))?$", line.rstrip("\n"))
        if match:
            called, number, name = match.groups()
            names.setdefault(number, name)
            if called:
                of[caller].add(number)
            else:
                caller = number
    return collections.Counter({names[number]: len(others) for number, others in of.items()})

# What t/export/pprof.mjs prints.
def pprof(path):
    sums = Sums()
    profile = json.load(open(path))
    types = [one["type"] for one in profile["types"]]
    for sample in profile["samples"]:
        values = dict(zip(types, sample["values"]))
        stack = [place["name"] for place in reversed(sample["stack"])]
        sums.rows[stack[-1]].calls += values["calls"]
        sampled(sums, stack, values["time"])
    return sums

# A stack, the outermost first, and the time that its innermost call had of its own.
def sampled(sums, stack, time):
    if stack:
        sums.rows[stack[-1]].self += time
    sums.stacks.append(stack)
    for name in set(stack):
        sums.rows[name].total += time

# What protoc has decoded.
def perfetto(path):
    sums = Sums()
    for event in perfetto_events(path):
        if event.track == "on CPU":
            continue
        if event.type == "TYPE_SLICE_BEGIN":
            sums.enter(event.uuid, event.name, event.time)
        elif event.type == "TYPE_SLICE_END":
            known = not event.args.get("end", "").startswith("not ")
            sums.leave(event.uuid, None, event.time, known)
    sums.end()
    return sums

FORMATS = {"chrome": chrome, "speedscope": speedscope, "perfetto": perfetto,
           "folded": folded, "callgrind": callgrind, "pprof": pprof}

# What these formats have for bytes that would steer a terminal; and in folded stacks for semicolons.
def plain(name, how):
    name = "".join("?" if unicodedata.category(c) == "Cc" or c in "\ufffd\u2028\u2029\u202a\u202b\u202c\u202d\u202e"
                   "\u2066\u2067\u2068\u2069" else c for c in name)
    return name.replace(";", ":") if how == "folded" else name

def report(path):
    rows = collections.defaultdict(Row)
    file = json.load(open(path, errors="replace"))
    for one in file["functions"]:
        row = rows[one.get("demangled") or one["function"]]
        row.calls += one["calls"]
        row.self += one["self_ns"]
        row.total += one["total_ns"]
    return rows

# How far the times of functions may differ where those of stacks were rounded, each by itself. speedscope merges those
# of pprof that differ by their thread only, each of which has made a call of each function.
def rounded(stacks, expected, merged):
    own, total = collections.Counter(), collections.Counter()
    for stack in filter(None, stacks):
        times = min(expected[name].calls for name in stack) if merged else 1
        own[stack[-1]] += times
        for name in set(stack):
            total[name] += times
    return own, total

def main():
    how, path, expected, *parts = sys.argv[1:]
    # speedscope-FORMAT: what speedscope has made of that.
    how, *of = how.split("-")
    sums, expected = FORMATS[how](path), report(expected)
    inputs = [part[3:] for part in parts if part.startswith("of=")]
    parts = [part for part in parts if not part.startswith("of=")]
    others = callees(inputs[0]) if inputs else None
    for one in [how] + of:
        if one in ("folded", "callgrind"):
            expected = {plain(name, one): row for name, row in expected.items()}
    wrong = sums.wrong[:5]
    # speedscope may save the stacks that it has read as calls, each stack with its own time.
    if of and of[0] in ("folded", "pprof"):
        sums.stacks = sums.stacks or list(sums.paths)
    own, total = rounded(sums.stacks, expected, "pprof" in of)
    for name in sorted(set(sums.rows) | set(expected)):
        is_, want = sums.rows[name], expected.get(name, Row())
        if how == "speedscope" and not is_.calls and not want.total:
            continue
        for part in parts or ["calls", "self", "total"]:
            got, right = getattr(is_, part), getattr(want, part)
            may = {"calls": 0, "self": want.calls + is_.children, "total": want.calls}
            if sums.stacks:
                may = {"calls": 0, "self": own[name], "total": total[name]}
            if others is not None:
                may["total"] = 1 + others[name]
            if abs(got - right) > may[part]:
                wrong.append(f"{name}: {part} {got}, not {right}")
    for line in wrong:
        print(ascii(line))
    if not wrong:
        print(f"same: {len(expected)} functions, {sum(row.calls for row in expected.values())} calls")

main()
