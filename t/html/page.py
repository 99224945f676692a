# SPDX-License-Identifier: MIT
#
# A page of `xaudit html`, decoded, and what it should have, by the calls of the trace as libxaudit-read tells them:
#
#	page.py FUNCTION PAGE [ARGUMENT]...
#
# calls one of the functions below. Each prints a line for everything that is wrong, and nothing else, if it is not said
# otherwise.
import base64, ctypes, gzip, json, os, re, struct, sys

COLUMNS = 2048


class Page:
    def __init__(self, path):
        with open(path, "rb") as file:
            self.text = file.read().decode("utf-8")  # strictly
        found = re.findall(r'<script type="application/json" id="xaudit-head">(.*?)</script>', self.text, re.S)
        assert len(found) == 1, "not one head"
        self.head = json.loads(found[0])
        self.packed = dict(re.findall(
            r'<script type="application/octet-stream" id="xaudit-([^"]+)">([A-Za-z0-9+/=]*)</script>\n', self.text))

    def block(self, name):
        return gzip.decompress(base64.b64decode(self.packed[name], validate=True))

    def json(self, name):
        return json.loads(self.block(name).decode("utf-8"))

    def tables(self, name):
        """Of a container, each table as a list of columns."""
        data, at, tables = self.block(name), 8, []
        magic, count = struct.unpack_from("<4sI", data)
        assert magic == b"XAH1"
        for _ in range(count):
            rows, columns = struct.unpack_from("<II", data, at)
            at += 8
            table = []
            for _ in range(columns):
                planes, = struct.unpack_from("<I", data, at)
                at += 4
                # Bytes of one number lie a plane apart.
                raw = bytearray(8 * rows)
                for plane in range(planes):
                    raw[plane::8] = data[at:at + rows]
                    at += rows
                table.append(list(struct.unpack(f"<{rows}Q", bytes(raw))))
            tables.append(table)
        assert at == len(data), "bytes behind the last table"
        return tables

    def functions(self):
        return self.json("functions")["functions"]

    def columns(self, row, level):
        """Of a row at a level, all columns, as (value, kind)."""
        if not hasattr(self, "tiles"):
            self.tiles = {}
        result = []
        for k in range(1 << level):
            name = f"t{level}.{k}"
            if name in self.packed and name not in self.tiles:
                self.tiles[name] = tile = {}
                rows, runs = self.tables(name)
                at = 0
                for number, count in zip(*rows):
                    tile[number] = [(runs[0][i], runs[1][i]) for i in range(at, at + count)]
                    at += count
                assert at == len(runs[0])
            own = []
            for value, form in self.tiles.get(name, {}).get(row, [(0, COLUMNS - 1)]):
                own += [(value, form >> 11)] * ((form & 2047) + 1)
            assert len(own) == COLUMNS, f"{name}: {len(own)} columns"
            result += own
        return result

    def window(self, number):
        """The calls of a window, and its stretches on processors, by track; texts instead of their numbers."""
        segments, calls, runs, texts = self.tables(f"w{number}")
        texts = [b""] + bytes(texts[0]).split(b"\0")
        result, at = {}, [0, 0]
        for track, what, begin, end, base, count, cut in zip(*segments):
            time, own = base, []
            for i in range(at[what], at[what] + count):
                if what:
                    begun = time + runs[0][i]
                    own.append((begun, begun + runs[1][i], runs[2][i]))
                    time = own[-1][1]
                else:
                    time += calls[0][i]
                    own.append(dict(zip(
                        ("start", "end", "depth", "function", "how", "text", "request", "cpu", "self"),
                        (time, time + calls[1][i], *(column[i] for column in calls[2:5]),
                            *(texts[calls[c][i]].decode("utf-8") for c in (5, 6)), calls[7][i], calls[8][i]))))
            at[what] += count
            assert (track, what) not in result
            result[track, what] = (begin, end, cut, own)
        assert at == [len(calls[0]), len(runs[0])]
        return result


# ---- the trace ----

def members(**names):
    return type("S", (ctypes.Structure,), {"_fields_": [(n, t) for k, t in names.items() for n in k.split("__")]})


Object = members(path__soname__build_id=ctypes.c_char_p)
Function = members(object=ctypes.POINTER(Object), name=ctypes.c_char_p, offset=ctypes.c_uint64,
    number__kind=ctypes.c_uint32, aliases=ctypes.c_void_p)
Flat = members(id__parent__start__end__self__total__cpu__count=ctypes.c_uint64,
    function__process__tid__stack__depth__how=ctypes.c_uint32)
Error = members(why__number=ctypes.c_int, offset__more=ctypes.c_uint64, file=ctypes.c_char * 256,
    text=ctypes.c_char * 1024)
UNKNOWN = 2 ** 64 - 1


def calls_of(folder, start):
    """All calls: (process, tid, stack, depth, start, end, function, how, self), times since the start."""
    read = ctypes.CDLL("libxaudit-read.so.0")
    read.xaudit_read_open.restype = read.xaudit_read_calls.restype = ctypes.c_void_p
    read.xaudit_read_function.restype = ctypes.POINTER(Function)
    read.xaudit_read_next_flat.restype = ctypes.c_size_t
    error, some = Error(), (Flat * 4096)()
    trace = ctypes.c_void_p(read.xaudit_read_open(folder.encode(), None, ctypes.byref(error)))
    calls = ctypes.c_void_p(read.xaudit_read_calls(trace, None, ctypes.byref(error)))
    names, result = {}, []
    while n := read.xaudit_read_next_flat(calls, some, ctypes.c_size_t(len(some))):
        for c in some[:n]:
            if c.function not in names:
                names[c.function] = read.xaudit_read_function(trace, c.function).contents.name.decode()
            result.append((c.process, c.tid, c.stack, c.depth, c.start - start,
                c.end if c.end == UNKNOWN else c.end - start, names[c.function], c.how, getattr(c, "self")))
    read.xaudit_read_close(trace)
    return result


# ---- checks ----

def wrong(*what):
    print(*what)


def by_track(page, calls):
    """The calls of each track, by its number."""
    of = {(t["process"], t["tid"] if not t["stack"] else 0, t["stack"]): i for i, t in enumerate(page.head["tracks"])}
    result = {}
    for c in calls:
        result.setdefault(of[c[0], c[1] if not c[2] else 0, c[2]], []).append(c)
    return result


def expected(calls, start, width, columns, number):
    """What the columns of a row of these calls should be."""
    time, pieces = [{} for _ in range(columns)], [0] * columns
    for c in calls:
        begin, end = c[4] - start, max(c[5], c[4] + 1) - start
        for i in range(begin // width, min((end - 1) // width, columns - 1) + 1):
            part = min(end, (i + 1) * width) - max(begin, i * width)
            time[i][number[c[6]]] = time[i].get(number[c[6]], 0) + part
            pieces[i] += 1
    return [(0, 0) if not t else (1 + min(t, key=lambda f: (-t[f], f)),
        0 if n == 1 else 2 if sum(t.values()) < width // 4 else 1) for t, n in zip(time, pieces)]


def pyramid(page, folder):
    """All rows at all levels; prints how many columns were compared."""
    head = page.head["pyramid"]
    number = {f["name"]: i for i, f in enumerate(page.functions())}
    compared = 0
    for i, calls in by_track(page, calls_of(folder, int(page.head["start_ns"]))).items():
        track = page.head["tracks"][i]
        for depth in range(track["rows"]):
            row = track["row"] + depth
            own = [c for c in calls if c[3] == depth]
            for level in range(page.head["rows"][row]["levels"]):
                width = head["width"] << (head["levels"] - 1 - level)
                want = expected(own, head["from"], width, COLUMNS << level, number)
                got = page.columns(row, level)
                compared += len(want)
                for c, (w, g) in enumerate(zip(want, got)):
                    if w != g:
                        wrong(f"track {i} depth {depth} level {level} column {c}: {g}, not {w}")
    print(compared)


def windows(page, folder, *whole):
    """The calls of all windows; prints how many were compared. With a third argument there is one, of all calls."""
    names = [f["name"] for f in page.functions()]
    tracks = by_track(page, calls_of(folder, int(page.head["start_ns"])))
    compared = 0
    for w in page.head["windows"]:
        found = page.window(w["id"])
        for (track, what), (begin, end, cut, own) in found.items():
            if what:
                continue
            got = {(c["start"], c["end"], c["depth"], names[c["function"]], c["how"], c["self"])
                for c in own if c["start"] < end}
            want = {(c[4], c[5], c[3], c[6], c[7], c[8]) for c in tracks[track]
                if c[4] < end and (c[5] > begin or c[4] >= begin) and c[5] != UNKNOWN}
            for c in want - got:
                wrong(f"window {w['id']} track {track} has no {c}")
            for c in got - want:
                wrong(f"window {w['id']} track {track} has {c}")
            compared += len(want)
            starts = [c["start"] for c in own]
            if starts != sorted(starts):
                wrong(f"window {w['id']} track {track}: not in the order of time")
        if w["whole"] and w["track"] is None:
            for track, calls in tracks.items():
                if (track, 0) not in found and any(c[4] < w["to"] and c[5] > w["from"] for c in calls):
                    wrong(f"window {w['id']} has no track {track}")
        if not w["from"] < w["to"] or (w["time"] is not None and not w["from"] <= w["time"] < w["to"] and
                w["why"] == "all"):
            wrong(f"window {w['id']} is from {w['from']} to {w['to']}")
    if whole and (len(page.head["windows"]) != 1 or compared != page.head["totals"]["calls"]):
        wrong("there is not one window of all")
    print(compared)


def picks(page):
    """Is each call of the lists in the window that it names?"""
    for kind in ("outliers", "slowest", "around"):
        for pick in page.head[kind] or ():
            if pick["window"] is None or pick["track"] is None:
                wrong(kind, pick)
                continue
            own = page.window(pick["window"])[pick["track"], 0][3]
            if not any(c["start"] == pick["time"] and c["end"] == pick["time"] + pick["duration"] and
                    c["function"] == pick["function"] for c in own):
                wrong(kind, pick, "is not there")


def report(page, path):
    """The table of functions, the tree, and callers, against JSON of `xaudit report` in a file."""
    with open(path) as file:
        rows = {(r["function"], r["library"]): r for r in json.load(file)["functions"]}
    functions = page.functions()
    # Those of which no call counts are known as callers.
    if len(rows) != len([f for f in functions if f["calls"]]):
        wrong(f"{len(functions)} functions, not {len(rows)}")
    keys = {"calls": "calls", "counted": "counted", "total": "total_ns", "self": "self_ns", "min": "min_ns",
        "p50": "p50_ns", "p90": "p90_ns", "p99": "p99_ns", "max": "max_ns", "cpu": "cpu_ns", "cpu_self": "cpu_self_ns"}
    for f in functions:
        row = rows.get((f["name"], f["library"]), {key: None if "_" in key and key not in ("total_ns", "self_ns") else 0
            for key in keys.values()} if not f["calls"] else {})
        for own, key in keys.items():
            if key in row and f[own] != row[key] or key not in row and "cpu" not in key:
                wrong(f"{f['name']}: {own} is {f[own]}, not {row.get(key)}")
        if sum(f["hist"][1:]) != f["timed"]:
            wrong(f"{f['name']}: its histogram has {sum(f['hist'][1:])} calls, not {f['timed']}")
    tree, = page.tables("tree")
    left = sum(tree[8]) + page.head["tree"]["folded"]
    if sum(tree[2]) + left != sum(f["calls"] - f["counted"] for f in functions):
        wrong(f"tree: {sum(tree[2])} calls, and {left} that are left out")
    for name, calls, total, self_ in (("tree", 2, 3, 4), ("edges", 2, 3, 4)):
        table, = page.tables(name)[:1]
        if name == "tree" and left:
            continue
        sums = [[0, 0, 0] for _ in functions]
        for i, f in enumerate(table[1 if name == "edges" else 0]):
            for k, column in enumerate((calls, total, self_)):
                sums[f][k] += table[column][i]
        for f, got in zip(functions, sums):
            want = [f["calls"] - f["counted"], f["total"], f["self"]]
            # Sums of rounded times may differ by half a ns each.
            if got[0] != want[0] or any(abs(g - w) > len(table[0]) for g, w in zip(got[1:], want[1:])):
                wrong(f"{name}: {f['name']} has {got}, not {want}")


def histogram(page, name):
    """Prints the buckets of a function: from, to, calls."""
    hist, = [f["hist"] for f in page.functions() if f["name"] == name]
    low = lambda b: b if b < 8 else (8 + (b & 7)) << ((b >> 3) - 1)
    for i, calls in enumerate(hist[1:]):
        if calls:
            print(low(hist[0] + i), low(hist[0] + i + 1) - 1, calls)


def rates(page):
    """Do they add up to the calls?"""
    table, = page.tables("rates")
    functions = page.functions()
    head = page.head["rates"]
    if sum(table[0]) != page.head["totals"]["calls"]:
        wrong("all:", sum(table[0]))
    if head["from"] > page.head["range"][0] or head["columns"] != len(table[0]):
        wrong("columns:", head)
    for column, f in zip(table[1:], head["functions"]):
        if sum(column) != functions[f]["calls"] - functions[f]["counted"]:
            wrong(functions[f]["name"], sum(column))


def head(page, *path):
    """Prints a value of the head."""
    value = page.head
    for key in path:
        value = value[int(key)] if isinstance(value, list) else value[key]
    print(json.dumps(value, ensure_ascii=False))


def block(page, name, *path):
    """Prints a value of a block of JSON."""
    value = page.json(name)
    for key in path:
        value = value[int(key)] if isinstance(value, list) else value[key]
    print(json.dumps(value, ensure_ascii=False))


def calls(page, window):
    """Prints the calls of a window, and its stretches on processors."""
    names = [f["name"] for f in page.functions()]
    for (track, what), (begin, end, cut, own) in sorted(page.window(int(window)).items()):
        print("cpu" if what else "track", track, begin, end, "cut" if cut else "whole")
        for c in own:
            print(*c) if what else print(c["start"], c["end"], c["depth"], names[c["function"]] + c["text"], c["how"],
                c["request"] or "-")


def row(page, number, level):
    """Prints the runs of columns of a row that are not empty: first, last, value, kind."""
    last = None
    for i, column in enumerate(page.columns(int(number), int(level)) + [None]):
        if last and (column != last[1]):
            if last[1][0]:
                print(last[0], i - 1, *last[1])
            last = None
        last = last or (i, column)


def sound(page):
    """Is it one page, of which nothing of the trace is markup?"""
    data = re.compile(r'<script type="application/(?:json|octet-stream)" id="xaudit-[a-z0-9.]+">[^<]*</script>\n')
    if len(data.findall(page.text)) != len(page.packed) + 1 or "xaudit-" in data.sub("", page.text):
        wrong("other elements than those of data")
    for name, packed, size in page.head["blocks"]:
        if len(page.block(name)) != size or len(base64.b64decode(page.packed[name])) != packed:
            wrong(name)
    if sorted(page.packed) != sorted(b[0] for b in page.head["blocks"]):
        wrong("blocks that the head does not name")

    def texts(value):
        for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            yield from texts(one)
        if isinstance(value, str):
            yield value
    both = [page.head] + [page.json(n) for n in ("functions", "events", "loads", "requests") if n in page.packed]
    for text in texts(both):
        if re.search("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]", text):
            wrong("steering:", ascii(text))


globals()[sys.argv[1]](Page(sys.argv[2]), *sys.argv[3:])
