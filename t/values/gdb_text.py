# SPDX-License-Identifier: MIT
"""What gdb prints of values, against values of a dump in JSON: for debug_builds.py and debug_installed.py."""
import re


def leaves(name, text, found):
    """The members of what gdb prints: `found` gets NAME.MEMBER = text."""
    text = text.strip()
    if not (text.startswith("{") and text.endswith("}") and " = " in text):
        found[name] = text
        return
    depth, quoted, part, parts = 0, False, "", []
    for c in text[1:-1]:
        quoted ^= c == '"'
        depth += (c == "{") - (c == "}")
        if c == "," and not depth and not quoted:
            parts.append(part)
            part = ""
        else:
            part += c
    for part in parts + [part]:
        member, _, value = part.strip().partition(" = ")
        leaves(name + "." + member, value, found)


def text_bytes(text):
    """The bytes of a text as C, gdb or a dump has it in quotes."""
    letters = {"n": 10, "t": 9, "r": 13, "f": 12, "v": 11, "a": 7, "b": 8, "e": 27}
    made = bytearray()
    for part in re.findall(r"\\[0-7]{1,3}|\\.|[^\\]+", text, re.DOTALL):
        if part[0] != "\\":
            made += part.encode()
        elif part[1] in "01234567":
            made.append(int(part[1:], 8))
        else:
            made.append(letters.get(part[1], ord(part[1])))
    return bytes(made)


def same(value, text):
    """Is that what gdb says?"""
    kind, what, shown = value["type"], value.get("value"), value["shown"]
    text = re.sub(r"^@0x[0-9a-f]+: ", "", text)  # a reference
    if kind == "text" and what is not None:
        said, ours = re.search(r'"(.*)"(\.\.\.)?$', text, re.DOTALL), re.match(r'"(.*)"(\.\.\.)?$', shown, re.DOTALL)
        return said is not None and ours is not None and text_bytes(said.group(1)) == text_bytes(ours.group(1))
    text = re.sub(r"^\(.*?\) (@?0x[0-9a-f]+)", r"\1", text)
    if kind in ("float", "double"):
        real = re.match(r"-?[0-9][0-9.e+-]*$", text)
        return real is not None and abs(float(text) - float(what)) <= 1e-6 * abs(float(what))
    number = re.match(r"(-?0x[0-9a-f]+|-?[0-9]+)", text)
    if number:
        ours = int(what, 0) if isinstance(what, str) else what or 0  # None: NULL
        return (int(number.group(1), 0) - ours) % 2**64 == 0
    words = re.sub(r"[^|]*::", "", text.strip("()").replace(" ", ""))
    return re.sub(r"[^|]*::", "", shown) == words


