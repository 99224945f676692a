#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit stacks --format=svg: the flame graph is well-formed XML without scripts; boxes are as wide as the numbers of
# folded stacks say, stand upon those that they are in, and side by side; text can be read in light and in dark.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/written.sh"
need python3
cd "$tmp" || bail "no folder $tmp"

# svg TRACE [OPTION]...: into $tmp/TRACE.svg, and the folded stacks, which must say the same, into $tmp/TRACE.folded.
svg() {
	trace=$1
	shift
	bounded 60 "$XAUDIT" stacks --format=svg "$@" "$trace" >"$trace.svg" || echo "status $?"
	bounded 60 "$XAUDIT" stacks --format=folded --full-names "$@" "$trace" >"$trace.folded" || echo "status $?"
}

cat >svg.py <<'END'
import re, sys, xml.etree.ElementTree as xml
NS = "{http://www.w3.org/2000/svg}"
def boxes(file):
    """(name, library, x, y, width, class, label) of each box, and the picture's texts"""
    root = xml.parse(file).getroot()
    assert not [one for one in root.iter() if one.tag.split("}")[1] in ("script", "a", "image", "use", "foreignObject")]
    assert not [name for one in root.iter() for name in one.attrib if name.startswith("on") or "href" in name]
    found = []
    for group in root.iter(NS + "g"):
        title, rect, text = (group.find(NS + one) for one in ("title", "rect", "text"))
        name = title.text.split("\n")[0]
        library = re.search(r" \[(.*)\]$", name)
        found.append((name[:library.start()] if library else name, library and library[1], float(rect.get("x")),
                      int(rect.get("y")), float(rect.get("width")), rect.get("class"),
                      text.text if text is not None else None, title.text.split("\n")[1]))
    return found, [one.text for one in root.iter(NS + "text")], root
END

# What the picture says, as folded stacks: from the widths, and where boxes stand.
cat >compare.py <<'END'
import sys
from svg import boxes
name = sys.argv[1]
folded = {}
for line in open(name + ".folded"):
    stack, number = line.rstrip("\n").rsplit(" ", 1)
    folded[stack] = folded.get(stack, 0) + int(number)
whole = sum(folded.values())
found, texts, root = boxes(name + ".svg")
bottom = max(box[3] for box in found)
all_box = [box for box in found if box[3] == bottom]
assert len(all_box) == 1 and all_box[0][0] == "all" and all_box[0][4] == 1176
def upon(box):
    return sorted((other for other in found if other[3] == box[3] - 18 and other[2] >= box[2] - 0.002 and
                   other[2] + other[4] <= box[2] + box[4] + 0.002 and (other is not box)), key=lambda one: one[2])
seen, wrong = {}, []
def walk(box, stack):
    above = upon(box)
    at = box[2]
    for other in above:
        if abs(other[2] - at) > 0.002:
            wrong.append(("gap", stack, other))
        at = other[2] + other[4]
        walk(other, stack + [other[0].replace(";", ":")])
    own = (box[4] - sum(other[4] for other in above)) / 1176 * whole
    if stack and own > whole / 1176 * 0.002:
        seen[";".join(stack)] = seen.get(";".join(stack), 0) + own
walk(all_box[0], [])
for stack in set(folded) | set(seen):
    if abs(folded.get(stack, 0) - seen.get(stack, 0)) > whole / 1176 * 0.005:
        wrong.append((stack, folded.get(stack), seen.get(stack)))
print(len(found), len(folded), whole, wrong)
END

# outer is 300, of which inner 30 and 40; in another thread bar is 10.
write_trace nested <<END
process p100
pair first 1000 1000 5
pair last 9000 9000 8005
$libraries
$nested_calls
thread 101 second
entry 4 1050
exit 4 1060
END
svg nested
is "$(python3 compare.py nested)" '4 3 310 []' 'boxes are as wide as folded stacks say'
is "$(python3 -c '
from svg import boxes
for box in boxes("nested.svg")[0]: print(box[0], box[1], box[2], box[3], box[4], box[7], sep="|")')" \
	'all|None|12.0|100|1176.0|0.310 us, 100.00 %
bar|libbar.so|12.0|82|37.935|0.010 us, 3.23 %; itself 0.010 us; 1 call
outer|libfoo.so|49.935|82|1138.065|0.300 us, 96.77 %; itself 0.230 us; 1 call
inner|libfoo.so|49.935|64|265.548|0.070 us, 22.58 %; itself 0.070 us; 2 calls' \
	'in the order of names, and tell what they are'
svg nested --sort=calls
is "$(python3 compare.py nested)" '4 3 4 []' '--sort=calls: as wide as there are calls'
svg nested -n 1
is "$(python3 compare.py nested)" '2 1 230 []' '-n: the first stacks alone'
svg nested --tid=101
is "$(python3 compare.py nested)" '2 1 10 []' '--tid: calls of that thread'
like "$(bounded 60 "$XAUDIT" stacks --format=svg --sort=cpu nested 2>&1)" 'is not in this trace' \
	'--sort=cpu wants a trace with switches'

svg nested
cp -r nested other
bounded 60 "$XAUDIT" stacks --format=svg nested other >both.svg
bounded 60 "$XAUDIT" stacks --format=folded nested other >both.folded
is "$(python3 compare.py both)" '4 3 620 []' 'several traces are one picture'

# A call that two callers made, of which nothing is known, as its backtrace tells.
write_trace called <<END
process p100 flags=1
pair first 1000 1000 5
pair last 9000 9000 8005
$libraries
layout 1 entry 1 stack:-:backtrace
thread 100 main
values 1 1000 7 chain 0x123456 0x654321 0x2000000000000000
entry 2 1010
exit 2 1030
exit 1 1100
END
svg called --backtraces
is "$(python3 compare.py called)" '5 2 100 []' '--backtraces: callers that are not traced are boxes'
is "$(python3 -c '
from svg import boxes
for box in boxes("called.svg")[0]: print(box[0], box[5][0], box[4])')" 'all g 1176.0
0x654321 g 1176.0
0x123456 g 1176.0
outer c 1176.0
inner c 235.2' 'in grey'

write_trace empty <<END
process p100
pair first 1000 1000 5
pair last 9000 9000 8005
END
svg empty
is "$(python3 -c '
from svg import boxes
found, texts, root = boxes("empty.svg")
print([box[0] for box in found], "There is nothing to draw." in texts)')" "['all'] True" 'of no calls, it says so'

# ---- names ----

# A & < > " '"'"', a bidirectional control, one that is no UTF-8, U+FFFF, ESC, and a wide script.
wide=$(printf '\346\227\245\346\234\254\350\252\236')
odd=$(printf 'f<script>alert("1")</script>&amp;\342\200\256x\377y\357\277\277z\033[31m]]>')
write_trace odd <<END
process p100
pair first 1000 1000 5
pair last 9000 9000 8005
object 1 /usr/lib/lib<"&'>.so
function 1 0 1 0x100 $odd
function 1 0 2 0x200 ${wide}_name_of_a_function_that_is_much_too_long_for_its_box
function 1 0 3 0x300 _ZN6secret6vectorI3FooSaIS1_EE6insertEPKS1_
function 1 0 4 0x400 a_plain_name_that_is_long_and_ends_with_what_matters
thread 100 main
entry 1 1000
exit 1 2000
entry 2 3000
exit 2 3100
entry 3 4000
exit 3 4100
entry 4 5000
exit 4 5100
END
svg odd
is "$(python3 -c '
from svg import boxes
found, texts, root = boxes("odd.svg")
for box in found: print(box[0], box[1], box[6], sep="|")')" \
	"all|None|all
a_plain_name_that_is_long_and_ends_with_what_matters|lib<\"&'>.so|a_pla…tters
f<script>alert(\"1\")</script>&amp;?x?y?z?[31m]]>|lib<\"&'>.so|f<script>alert(\"1\")</script>&amp;?x?y?z?[31m]]>
secret::vector<Foo, std::allocator<Foo>>::insert(Foo const*)|lib<\"&'>.so|…:insert(…)
日本語_name_of_a_function_that_is_much_too_long_for_its_box|lib<\"&'>.so|日本語_n…s_box" \
	'names that mean something to XML are text; long ones are cut so that they can be told apart'
is "$(LC_ALL=C tr -d '\n -~\200-\377' <odd.svg | wc -c)" 0 'without a character that steers'
is "$(grep -c '<script\|javascript\|http' odd.svg)" 1 'nor a script, or an address but that of the format'

# ---- colours ----

cat >contrast.py <<'END'
import colorsys, re, sys
def bright(color):
    part = [one / 12.92 if one <= 0.03928 else ((one + 0.055) / 1.055) ** 2.4 for one in color]
    return 0.2126 * part[0] + 0.7152 * part[1] + 0.0722 * part[2]
def hexed(text):
    text = text if len(text) == 6 else "".join(one * 2 for one in text)
    return bright([int(text[i:i + 2], 16) / 255 for i in (0, 2, 4)])
def contrast(one, other):
    return (max(one, other) + 0.05) / (min(one, other) + 0.05)
style = open(sys.argv[1]).read().split("<style>")[1].split("</style>")[0]
for part in style.split("@media screen and (prefers-color-scheme:dark){"):
    text, note, back, grey = (hexed(re.search(pattern + r"#([0-9a-f]+)", part)[1])
                              for pattern in (r"}text{fill:", r"\.n{fill:", r"svg{background:", r"\.g{fill:"))
    fills = [bright(colorsys.hls_to_rgb(int(hue) / 360, int(light) / 100, int(full) / 100)) for hue, full, light in
             re.findall(r"\.c\d+{fill:hsl\((\d+),(\d+)%,(\d+)%\)}", part)] + [grey]
    print(len(fills) > 150 / 3, min(contrast(text, one) for one in fills) >= 4.5, contrast(text, back) >= 7,
          contrast(note, back) >= 4.5, min(contrast(back, one) for one in fills) >= 1.1)
END
# Many libraries, so that all colours are there.
{
	printf 'process p100\npair first 1000 1000 5\npair last 900000 900000 5\n'
	i=0
	while [ $((i += 1)) -le 60 ]; do
		echo "object $i /lib/lib$i.so"
		for n in 1 2 3 4; do echo "function $i 0 $((i * 4 + n)) $((n * 256)) f${n}_$i"; done
	done
	echo 'thread 100 main'
	i=0
	while [ $((i += 1)) -le 240 ]; do printf 'entry %d %d\nexit %d %d\n' $((i + 4)) $((1000 + i * 10)) $((i + 4)) \
		$((1008 + i * 10)); done
} >made
write_trace colours <made
svg colours
is "$(python3 contrast.py colours.svg)" 'True True True True True
True True True True True' 'text has contrast in all colours, in light and in dark'
is "$(python3 -c '
from svg import boxes
of = {}
for box in boxes("colours.svg")[0][1:]: of.setdefault(box[1], set()).add(int(box[5][1:]) // 9)
most = sorted(of, key=lambda name: "/lib/" + name)[:12]
print(len(of), max(len(hues) for hues in of.values()), len(set.union(*(of[name] for name in most))))')" '60 1 12' \
	'a library has one hue, and the twelve with the most time, or the first names, have different ones'

# ---- what is too narrow, and too high ----

{
	printf 'process p100\npair first 1000 1000 5\npair last 90000000 90000000 5\nobject 1 /usr/lib/libfoo.so\n'
	printf 'function 1 0 1 0x100 wide\nfunction 1 0 2 0x200 narrow\nthread 100 main\nentry 1 1000\n'
	printf 'entry 2 2000\nexit 2 2010\nexit 1 1001000\n'
	i=0
	while [ $((i += 1)) -le 1100 ]; do echo "entry 1 $((2000000 + i))"; done
	while [ $((i -= 1)) -gt 0 ]; do echo "exit 1 $((3200000 - i))"; done
} >made
write_trace narrow <made
svg narrow
is "$(python3 -c '
from svg import boxes
found, texts, root = boxes("narrow.svg")
print(len(found), root.get("height"), *[text for text in texts if text.startswith("Not drawn")])')" \
	'1001 18156 Not drawn: 2 boxes that are too narrow or too high up, with 54.45 % (1.198 ms), '\
'and what is upon them.' \
	'what is too narrow or too high up is left out, and it says so'
done_testing
