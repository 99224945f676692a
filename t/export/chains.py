# SPDX-License-Identifier: MIT
#
# Calls that a reader of an export tells of, by their raw names: how often and how long, compared with `xaudit report
# --format=json`, and in which calls they were.
import collections
import json
import re

class Chains:
    def __init__(self):
        self.calls, self.total, self.own, self.chains = (collections.Counter() for _ in range(4))
        self.stacks = collections.defaultdict(list)

    def enter(self, track, name, time):
        stack = self.stacks[track]
        stack.append([name, time, 0])
        self.calls[name] += 1
        self.chains[";".join(one[0].replace(";", ":") for one in stack)] += 1

    def leave(self, track, name, time):
        stack = self.stacks[track]
        entered, start, inner = stack.pop()
        assert entered == name, (entered, name)
        self.own[name] += time - start - inner
        if stack:
            stack[-1][2] += time - start
        if not any(one[0] == name for one in stack):
            self.total[name] += time - start

    def compare(self, report):
        """Prints how many functions were compared, all calls, stacks with open calls, and what differs: names of
        letters alone, as each tool has its own way with others, and of calls that end."""
        wrong, seen = [], 0
        for row in json.load(open(report))["functions"]:
            name = row["function"]
            if not re.fullmatch(r"\w+", name) or "stay" in name:
                continue
            seen += 1
            near = 2 * row["calls"] + 40
            if (self.calls[name] != row["calls"] or abs(self.total[name] - row["total_ns"]) > near or
                    abs(self.own[name] - row["self_ns"]) > near):
                wrong.append((name, self.calls[name], self.total[name], self.own[name], row))
        print(seen, sum(self.calls.values()), [stack for stack in self.stacks.values() if stack], wrong)

    def write(self, path):
        with open(path, "w") as to:
            for chain in sorted(self.chains):
                print(chain, self.chains[chain], file=to)
