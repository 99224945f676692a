# SPDX-License-Identifier: MIT
#
# For everywhere.t and everywhere_work.t: chooses the places of probes from what `xaudit list --format=json FILE '*'`
# tells, and judges how often each was reached.
#
#	everywhere.py choose LIST LIBRARY MOST PARTS FOLDER
#		Writes FOLDER/N.conf, N from 1 on: [probe] sections, MOST at most, of places of one way, which are so
#		far from each other that none is in another's way. PARTS: so many for each way, of places that are
#		spread evenly; 0: as many as it takes for all. Then those of all ways together: every place of whole
#		functions. Prints how many files these are.
#	everywhere.py apart LIST LIBRARY MOST PARTS FOLDER
#		The same without those of all ways together. Places whose jumps share bytes, of which each needs memory
#		of its own, are 2000 at most. Prints the way of each file.
#	everywhere.py judge LIST FILE FOLDER CALLS
#		FILE: the library. FOLDER/N.json: what `xaudit report --format=json` tells of the run with N.conf;
#		N.err what it said. CALLS: the same of a run in which entry traced the library; "-": there was none, and
#		the runs are not compared with each other, since the program does not do the same each time. Prints a
#		line for each way, then what is wrong.
#
# Within a run, an instruction that nothing but the one before it leads to has as many events as that one; one behind
# such that can't branch has as many, or more. If the program does the same each time, this holds between runs, too.
import collections
import glob
import json
import re
import subprocess
import sys

SPACE = 32  # bytes from a place to the next: a window displaces 24, from 4 before it on
SHARED_MOST = 2000

# Functions of libc that the module calls itself.
OWN = {"__errno_location", "__pthread_setspecific", "pthread_setspecific"}

Insn = collections.namedtuple("Insn", "address length way text first")


def read(path):
    """All instructions, by address; names of functions by their address."""
    insns, names = {}, {}
    for function in json.load(open(path)):
        names[int(function["address"], 16)] = function["name"]
        for i in function["instructions"]:
            address, length, way = int(i["address"], 16), len(i["bytes"]) // 2, i.get("probe")
            if way == "jump" and length >= 5:
                way = "single"
            if function["name"] in OWN:
                way = None
            insns.setdefault(address, Insn(address, length, way, i["text"], i is function["instructions"][0]))
    return insns, names


class Writer:
    def __init__(self, library, folder):
        self.library, self.folder, self.number = library, folder, 0

    def write(self, way, batch):
        self.number += 1
        with open(f"{self.folder}/{self.number}.conf", "w") as to:
            to.write(f"; {way}\n[library *]\nkinds = none\n[program]\nkinds = none\n")
            for address in batch:
                to.write(f"[probe {address:x}]\nat=0x{address:x}@{self.library}\n")


def choose_apart(insns, most, parts, writer):
    ways, made = collections.defaultdict(list), []
    for address in sorted(insns):
        if insns[address].way:
            ways[insns[address].way].append(address)
    for way, left in sorted(ways.items()):
        if parts:
            left = left[::max(1, len(left) // (most * parts))]
        taken, room = 0, min(most, SHARED_MOST) if way == "shared" else most
        while left and (not parts or taken < parts):
            taken += 1
            batch, rest, last = [], [], -SPACE
            for address in left:
                if address - last >= SPACE and len(batch) < room:
                    batch.append(address)
                    last = address
                else:
                    rest.append(address)
            left = rest
            writer.write(way, batch)
            made.append(way)
    return made


def choose_together(insns, most, parts, writer):
    functions = []
    for address in sorted(insns):
        if insns[address].first or not functions:
            functions.append([])
        if insns[address].way:
            functions[-1].append(address)
    if parts:
        functions = functions[::max(1, sum(map(len, functions)) // (most * parts))]
    batch = []
    for function in functions + [None]:
        if batch and (function is None or len(batch) + len(function) > most):
            writer.write("together", batch)
            batch = []
        batch += (function or [])[:most]


def targets(insns, path):
    """Where direct branches of the file lead to: the list has functions with names alone, and objdump, which reads all
    code, does not know each instruction."""
    text = re.compile(r"(?:bnd |notrack )*(?:j\w+|call|loop\w*|xbegin) 0x([0-9a-f]+)$")
    to = {int(found.group(1), 16) for found in map(text.match, (i.text for i in insns.values())) if found}
    branch = re.compile(rb"\t(?:bnd |notrack )*(?:j\w+|call\w*|loop\w*|xbegin)(?:,p[nt])? +([0-9a-f]+)\b")
    code = subprocess.run(["objdump", "-d", "--no-show-raw-insn", path], stdout=subprocess.PIPE, check=True).stdout
    return to | {int(address, 16) for address in branch.findall(code)}


def jump_by_tables(insns):
    """Instructions of functions that do so: nobody knows what leads to these."""
    functions = [[]]
    for address in sorted(insns):
        if insns[address].first:
            functions.append([])
        functions[-1].append(address)
    jumps = re.compile(r"(?:bnd |notrack )*jmp (?!0x)")
    return {a for function in functions if any(jumps.match(insns[a].text) for a in function) for a in function}


# What may go on elsewhere, or not at all.
LEAVES = re.compile(r"(?:\w+ )*(?:j\w+|ret\w*|call|loop\w*|ud\d|hlt|int\w*|syscall|sysenter|iret\w*|xbegin|xabort)\b")


class Judge:
    def __init__(self, path, file):
        self.insns, self.names = read(path)
        self.wrong = []
        # Of each instruction: the piece of code that nothing leaves before its end; how many up to it are led to.
        self.piece, self.joins = {}, {}
        led_to, tables = targets(self.insns, file), jump_by_tables(self.insns)
        piece = joins = 0
        end, left = None, False
        for address in sorted(self.insns):
            i = self.insns[address]
            piece += left or address != end or i.first
            joins += address in led_to or address in tables
            self.piece[address], self.joins[address] = piece, joins
            end, left = address + i.length, LEAVES.match(i.text) is not None

    def compare(self, count, what):
        """Each with the one before it in its piece. Returns how many were compared, and how many of these with nothing
        that leads between them."""
        compared = same = 0
        before = None
        for address in sorted(count):
            if before is not None and self.piece[before] == self.piece[address] and (count[before] or count[address]):
                alone = self.joins[before] == self.joins[address]
                compared += 1
                same += alone
                if count[address] < count[before] or (alone and count[address] != count[before]):
                    b, i = self.insns[before], self.insns[address]
                    self.wrong.append(f"{what}: 0x{before:x} {b.way} {count[before]} {b.text}: then "
                                      f"0x{address:x} {i.way} {count[address]}")
            before = address
        return compared, same


def judge(path, file, folder, calls):
    judge = Judge(path, file)
    insns, names, wrong = judge.insns, judge.names, judge.wrong
    merged, tried = collections.defaultdict(dict), collections.Counter()
    refused, reasons = collections.Counter(), collections.Counter()
    inside = [0, 0]
    for conf in sorted(glob.glob(folder + "/*.conf")):
        base = conf[:-len("conf")]
        with open(conf) as text:
            way = text.readline()[2:-1]
            places = [int(a, 16) for a in re.findall(r"^\[probe (\w+)\]", text.read(), re.M)]
        tried[way] += len(places)
        missing, most = set(), 0
        for line in open(base + "err", errors="replace"):
            one = re.match(r"xaudit: probe (\w+) at .*?: (.*?)(?:;|$)", line)
            more = re.match(r"xaudit: (\d+) more can't be had", line)
            # Several processes may say the same.
            if one and int(one.group(1), 16) not in missing:
                missing.add(int(one.group(1), 16))
                reasons[one.group(2)] += 1
            most = max(most, int(more.group(1)) if more else 0)
        refused[way] += len(missing) + most
        if most:
            missing.update(places)  # nobody knows which
        told = json.load(open(base + "json"))
        if told["lost"]:
            wrong.append(f"{base}: {told['lost']} events are lost")
        # Processes may have the library by different paths, each with rows of its own.
        got = collections.Counter()
        for row in told.get("probes", []):
            got[int(row["probe"], 16)] += row["count"]
        count = {a: got[a] for a in places if a in got or a not in missing}
        merged[way].update(count)
        compared, same = judge.compare(count, f"{base}conf")
        inside[0] += compared
        inside[1] += same
    for way in sorted(tried):
        count = merged[way]
        print(f"{way}: {tried[way]} places, {refused[way]} refused, {sum(n > 0 for n in count.values())} reached, "
              f"{sum(count.values())} events")
    if reasons:
        print("refused:", ", ".join(f"{n} {why}" for why, n in reasons.most_common()))
    print(f"{inside[0]} compared with those before them in the same run, of which {inside[1]} are the same")
    if calls != "-":
        count = {}
        for way in sorted(merged):
            count.update(merged[way])
        compared, same = judge.compare({a: n for w, c in merged.items() if w != "together" for a, n in c.items()},
                                       "in two runs")
        print(f"{compared} compared with those before them, of which {same} are the same")
        of_name = collections.Counter(names.values())
        begins = {name: address for address, name in names.items() if of_name[name] == 1}
        entered, all_calls = 0, collections.Counter()
        for row in json.load(open(calls))["functions"]:
            all_calls[row["function"]] += row["calls"]
        for name, number in all_calls.items():
            address = begins.get(name)
            if address in count:
                entered += 1
                if count[address] != number:
                    wrong.append(f"0x{address:x} {insns[address].way} {count[address]}: {number} calls of {name}")
        print(f"{entered} compared with calls")
    for line in wrong[:20]:
        print("wrong:", line)
    print(f"{len(wrong)} wrong")


if sys.argv[1] == "judge":
    judge(*sys.argv[2:6])
else:
    writer = Writer(sys.argv[3], sys.argv[6])
    instructions, most, parts = read(sys.argv[2])[0], int(sys.argv[4]), int(sys.argv[5])
    made = choose_apart(instructions, most, parts, writer)
    if sys.argv[1] == "choose":
        choose_together(instructions, most, parts, writer)
        print(writer.number)
    else:
        print(*made)
