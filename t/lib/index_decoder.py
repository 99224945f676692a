# SPDX-License-Identifier: MIT
"""Checks what `xaudit index -v` says of a file by another decoder: index_decoder.py OBJDUMP FILE [random] <LISTING

random: the functions are random bytes. Decoders go on differently behind bytes that are no instruction, which nothing
gets past; so functions with such bytes don't count, and refusals, which are many, are not looked at.

OBJDUMP is llvm-objdump or that of binutils; readelf tells of resolvers. Prints one line per contradiction, and at the
end "checked N usable, N refused". Code that no objdump can follow (data among functions) is not for this.
"""
import re
import subprocess
import sys
from bisect import bisect_left, bisect_right

objdump, path = sys.argv[1:3]
random = sys.argv[3:] == ["random"]
INSN = re.compile(r"^\s*([0-9a-f]+):\s*(?:[0-9a-f]{2} )*\s*(.*)$")
PREFIX = r"^(?:(?:bnd|notrack|data16|rex\.W|repz?|repnz) )*"
TARGET = re.compile(PREFIX + r"(call|j\w+|loop\w*)q?\s+(?:0x)?([0-9a-f]+)\b(?!\()")
RELATIVE = re.compile(r"#\s+(?:0x)?([0-9a-f]+)")
PADDING = re.compile(r"^(?:(?:data16|cs|repn?z) ?)*(?:nop|int3|xchg\s+%ax,%ax)|^nop|^data16$|^cs$")

insns, text = [], {}
branches, by_source = [], {}
references = []


def decode(*options):
    for line in subprocess.run([objdump, "-d", "--no-show-raw-insn", *options, path], check=True, capture_output=True,
                               text=True).stdout.splitlines():
        match = INSN.match(line)
        if match:
            yield int(match[1], 16), " ".join(match[2].split())


ROW = re.compile(r"^([0-9a-f]{16})\s+(\d+)\s+(jump|padding|-)\s+(?:(\d+)\+(\d+)|-)\s+(.*)$")
rows = [ROW.match(line) for line in sys.stdin]
rows = [(int(row[1], 16), int(row[2]), row[3], int(row[4] or 0), int(row[5] or 0), row[6]) for row in rows if row]
sizes = {row[0]: row[1] for row in rows}
found = dict(decode())
# Where what precedes a function is data, objdump may go on with it beyond the beginning.
for start, size in sizes.items():
    if start not in found:
        for at in range(start, start + size):
            found.pop(at, None)
        found.update(decode("--start-address=%d" % start, "--stop-address=%d" % (start + size)))
spoiled, order = set(), sorted(sizes)
if random:
    for address, code in found.items():
        if re.search(r"<unknown>|\(bad\)|\.byte", code):
            spoiled.add(order[max(bisect_right(order, address) - 1, 0)])
    # And where it did not find the padding before a function.
    spoiled |= {start for previous, start in zip(order, order[1:]) if previous + sizes[previous] not in found}
for address, code in found.items():
    insns.append(address)
    text[address] = code
    if spoiled and order[max(bisect_right(order, address) - 1, 0)] in spoiled:
        continue
    match = TARGET.match(code)
    if match:
        branches.append((int(match[2], 16), address, match[1]))
        by_source[address] = int(match[2], 16)
    match = RELATIVE.search(code)
    if match:
        references.append(int(match[1], 16))
insns.sort()
branches.sort()
targets = sorted({branch[0] for branch in branches})
references = sorted(set(references))
starts = set(insns)


def within(values, low, high):
    """A value in [low, high)?"""
    at = bisect_left(values, low)
    return at < len(values) and values[at] < high


def between(low, high):
    """Instructions that begin in [low, high)."""
    return insns[bisect_left(insns, low):bisect_left(insns, high)]


def sources(address):
    at = bisect_left(branches, (address,))
    while at < len(branches) and branches[at][0] == address:
        yield branches[at][1]
        at += 1


def readelf(option):
    return subprocess.run(["readelf", "-W", option, path], check=True, capture_output=True, text=True).stdout


resolvers = {int(match[1], 16) for match in re.finditer(r"R_X86_64_IRELATIV\w*\s+([0-9a-f]+)", readelf("-r"))}
resolvers |= {int(match[1], 16) for match in re.finditer(r":\s+([0-9a-f]+)\s+\d+ IFUNC", readelf("--dyn-syms"))}
entry = int(re.search(r"Entry point address:\s+0x([0-9a-f]+)", readelf("-h"))[1], 16)
usable = refused = 0


def wrong(row, what):
    print("%x %s: %s" % (row[0], row[5], what))


def check_usable(row):
    address, size, form, skip, length, _ = row
    site = address + skip
    covered = max(length, 5 if form == "jump" else 2)
    last = site + length
    # Behind the last function of a section nothing begins.
    if address not in starts or site not in starts or (last not in starts and last != address + size):
        wrong(row, "it begins or ends within an instruction")
    if skip and not text[address].startswith("endbr64"):
        wrong(row, "there is no endbr64")
    if within(targets, site + 1, site + covered):
        wrong(row, "a branch leads into what is displaced")
    if form == "padding":
        if within(targets, address - 5, address):
            wrong(row, "a branch leads into its padding")
        first = insns[max(bisect_left(insns, address - 4) - 1, 0)]
        if not all(PADDING.match(text[at]) for at in between(first, address)):
            wrong(row, "what precedes it is no padding")
    displaced = between(site, site + length)
    for at in displaced:
        word = text[at].split()[0]
        if word in ("syscall", "sysenter", "int", "int3", "ud2", "hlt", "xbegin", "iretq", "lcall", "ljmp", "lretq"):
            wrong(row, "%s is displaced" % word)
        if word.startswith("call") and at != displaced[-1]:
            wrong(row, "a call is displaced that is not the last")
        if (word.startswith("ret") or word.startswith("jmp")) and at != displaced[-1]:
            wrong(row, "something is displaced behind the end")
    for at in between(site + length, site + covered):
        if not PADDING.match(text[at]):
            wrong(row, "what follows it is no padding")


def check_refused(row):
    address, size, _, _, _, said = row
    site = address + (4 if text.get(address, "").startswith("endbr64") else 0)
    body = between(address, address + max(size, 1))
    first = [text[at].split()[0] for at in between(site, site + 5)]
    if said.endswith("leads into the bytes displaced)"):
        good = within(targets, site + 1, site + 20) or within(references, site + 1, site + 20)
    elif "jumps to its own beginning" in said:
        # From its body, or from a part of it that it jumps to.
        good = any(True for to in (address, site) for source in sources(to) if source in set(body) or any(
            abs(source - part) < 4096 for at in body for part in [by_source.get(at)] if part))
    elif "IFUNC" in said:
        good = address in resolvers or any(
            resolver <= source < resolver + sizes.get(resolver, 0) for source in sources(address)
            for resolver in resolvers)
    elif "goes to another stack" in said:
        good = any(re.search(r"^(mov|lea|xchg)q?\s.*,\s?%rsp$", text[at]) or text[at].startswith("xchg") and
                   "%rsp" in text[at] or re.match(r"pop\w*\s+%rsp", text[at]) for at in body)
    elif "return from a signal" in said:
        good = any("syscall" in text[at] for at in between(address, address + 16))
    elif "no return address" in said:
        good = address == entry
    elif "can't run elsewhere" in said:
        good = any(word in ("syscall", "ud2", "hlt", "int3", "int") for word in first)
    elif "not the last of those" in said:
        good = any(word.startswith("call") for word in first)
    elif "too short" in said:
        good = size < 5 + site - address or any(word.startswith(("ret", "jmp")) for word in first)
    else:
        good = False
    if not good:
        wrong(row, "the other decoder does not see why")


for one in rows:
    if one[0] in spoiled:
        continue
    if one[2] == "-":
        refused += 1
        if not random:
            check_refused(one)
    else:
        usable += 1
        check_usable(one)
print("checked %d usable, %d refused" % (usable, refused))
