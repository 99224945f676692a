# SPDX-License-Identifier: MIT
#
# For everywhere.t: chooses the places of probes from what `xaudit list --format=json FILE '*'` tells, and judges how
# often each was reached.
#
#	everywhere.py choose LIST LIBRARY MOST PARTS FOLDER
#		Writes FOLDER/N.conf, N from 1 on: [probe] sections, MOST at most, of places of one way, which are so
#		far from each other that none is in another's way. PARTS: so many for each way, of places that are
#		spread evenly; 0: as many as it takes for all. Prints how many files these are.
#	everywhere.py judge LIST FOLDER CALLS
#		FOLDER/N.json: what `xaudit report --format=json` tells of the run with N.conf; N.err what it said.
#		CALLS: the same of a run in which entry traced the library. Prints a line for each way, then what is
#		wrong.
#
# All runs are of a program that does the same each time. So an instruction that nothing but the one before it leads to
# has as many events as that one; one behind such that can't branch has as many, or more.
import collections
import glob
import json
import re
import sys

SPACE = 40  # bytes from a place to the next: a window displaces 24, from 4 before it on

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
            insns.setdefault(address, Insn(address, length, way, i["text"], i is function["instructions"][0]))
    return insns, names


def choose(path, library, most, parts, folder):
    ways = collections.defaultdict(list)
    insns, _ = read(path)
    for address in sorted(insns):
        if insns[address].way:
            ways[insns[address].way].append(address)
    number = 0
    for way, left in sorted(ways.items()):
        if parts:
            left = left[::max(1, len(left) // (most * parts))]
        taken = 0
        while left and (not parts or taken < parts):
            taken += 1
            number += 1
            batch, rest, last = [], [], -SPACE
            for address in left:
                if address - last >= SPACE and len(batch) < most:
                    batch.append(address)
                    last = address
                else:
                    rest.append(address)
            left = rest
            with open(f"{folder}/{number}.conf", "w") as to:
                to.write("[library *]\nkinds = none\n[program]\nkinds = none\n")
                for address in batch:
                    to.write(f"[probe {address:x}]\nat=0x{address:x}@{library}\n")
    print(number)


def targets(insns):
    """Where direct branches lead to."""
    to = set()
    for i in insns.values():
        branch = re.match(r"(?:bnd |notrack )*(?:j\w+|call|loop\w*|xbegin) 0x([0-9a-f]+)$", i.text)
        if branch:
            to.add(int(branch.group(1), 16))
    return to


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


def judge(path, folder, calls):
    insns, names = read(path)
    count, tried, wrong = {}, collections.Counter(), []
    refused, reasons = collections.Counter(), collections.Counter()
    for conf in sorted(glob.glob(folder + "/*.conf")):
        base = conf[:-len("conf")]
        places = [int(a, 16) for a in re.findall(r"^\[probe (\w+)\]", open(conf).read(), re.M)]
        way = insns[places[0]].way
        tried[way] += len(places)
        missing = set()
        for line in open(base + "err", errors="replace"):
            one = re.match(r"xaudit: probe (\w+) at .*?: (.*?)(?:;|$)", line)
            more = re.match(r"xaudit: (\d+) more probes can't be had", line)
            if one:
                missing.add(int(one.group(1), 16))
                reasons[one.group(2)] += 1
            refused[way] += 1 if one else int(more.group(1)) if more else 0
            if more:
                missing.update(places)  # nobody knows which
        told = json.load(open(base + "json"))
        if told["lost"]:
            wrong.append(f"{base}: {told['lost']} events are lost")
        # Processes may have the library by different paths, each with rows of its own.
        got = collections.Counter()
        for row in told.get("probes", []):
            got[int(row["probe"], 16)] += row["count"]
        for address in places:
            if address in got or address not in missing:
                count[address] = got[address]
    for way in sorted(tried):
        own = [a for a in count if insns[a].way == way]
        print(f"{way}: {tried[way]} places, {refused[way]} refused, {sum(count[a] > 0 for a in own)} reached, "
              f"{sum(count[a] for a in own)} events")
    if reasons:
        print("refused:", ", ".join(f"{n} {why}" for why, n in reasons.most_common()))

    compared = same = 0
    led_to, tables = targets(insns), jump_by_tables(insns)
    for address in sorted(count):
        i = insns[address]
        behind = insns.get(address + i.length)
        if LEAVES.match(i.text) or behind is None or behind.address not in count or behind.first:
            continue
        if not count[address] and not count[behind.address]:
            continue
        compared += 1
        alone = behind.address not in led_to and address not in tables
        same += alone
        if count[behind.address] < count[address] or (alone and count[behind.address] != count[address]):
            wrong.append(f"0x{address:x} {i.way} {count[address]} {i.text}: then {behind.way} {count[behind.address]}")
    print(f"{compared} compared with those behind them, of which {same} are the same")
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


if sys.argv[1] == "choose":
    choose(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]), sys.argv[6])
else:
    judge(sys.argv[2], sys.argv[3], sys.argv[4])
