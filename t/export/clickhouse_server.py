# SPDX-License-Identifier: MIT
"""
A server that takes rows as ClickHouse does, and fails as it is told; python3 clickhouse_server.py PORTFILE FAILURE...

Each FAILURE is for one insert, in their order; then all go well:
    refuse      an error, and nothing is taken
    drop        all is taken, but no answer comes
    half        half of the rows are taken, and no answer comes
    slow        no answer comes, and the rows are there only when it was asked twice whether the request is running
    hopeless    an error that will stay
GET /rows: for each block its name, rows, distinct ids, and sum of durations; GET /log: what was asked for.
What it does with rows is written down here once more, and shared with nothing: the test compares.
"""
import base64, collections, http.server, struct, sys, threading, urllib.parse

COLUMNS = [("host", "s"), ("program", "s"), ("process", "I"), ("process_start", "Q"), ("thread", "I"),
           ("thread_name", "s"), ("id", "Q"), ("parent", "Q"), ("depth", "I"), ("start", "Q"), ("duration", "Q"),
           ("self", "Q"), ("cpu", "?Q"), ("how", "b"), ("function", "s"), ("library", "s"), ("build_id", "s"),
           ("caller", "s"), ("values", "s"), ("request", "s"), ("block", "Q")]


def decode(data):
    """The rows of RowBinary."""
    at, rows = 0, []
    while at < len(data):
        row = {}
        for name, kind in COLUMNS:
            if kind == "s":
                size = shift = 0
                while True:
                    byte = data[at]
                    at += 1
                    size |= (byte & 127) << shift
                    shift += 7
                    if byte < 128:
                        break
                row[name] = data[at:at + size]
                assert len(row[name]) == size
                at += size
                continue
            if kind[0] == "?":
                missing = data[at]
                assert missing in (0, 1)
                at += 1
                if missing:
                    row[name] = None
                    continue
            row[name], = struct.unpack_from("<" + kind[-1], data, at)
            at += struct.calcsize("<" + kind[-1])
        rows.append(row)
    return rows


rows, log, running, lock = [], [], {}, threading.Lock()
failures = collections.deque(sys.argv[2:]) if __name__ == "__main__" else None


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, text):
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        with lock:
            if self.path == "/log":
                self.answer(200, "".join(line + "\n" for line in log))
                return
            blocks = collections.defaultdict(list)
            for row in rows:
                blocks[row["block"]].append(row)
            self.answer(200, "".join("%d\t%d\t%d\t%d\n" % (name, len(of), len({row["id"] for row in of}),
                                                           sum(row["duration"] for row in of))
                                     for name, of in blocks.items()))

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        given = dict(urllib.parse.parse_qsl(urllib.parse.urlparse(self.path).query))
        who = self.headers.get("Authorization", "")
        with lock:
            if who:
                log.append("as " + base64.b64decode(who.split()[1]).decode())
            if "query" in given:
                self.insert(given, body)
            else:
                self.ask(body.decode())

    def ask(self, query):
        if "system.settings" in query:
            self.answer(200, "\nasync_insert\ninsert_deduplication_token\nreplace_running_query\n")
        elif "system.processes" in query:
            prefix = query.split("LIKE '")[1].split("%")[0]
            name = next((name for name in running if name.startswith(prefix)), None)
            left = running.get(name, (0, None))
            if left[0]:
                running[name] = (left[0] - 1, left[1])
                if left[0] == 1:
                    rows.extend(left[1])
            log.append("running %d" % bool(left[0]))
            self.answer(200, "%d\n" % bool(left[0]))
        else:
            assert query.startswith("SELECT block, count(), sum(start), sum(duration) FROM xaudit.calls WHERE host = '")
            only = int(query.split(" AND block = ")[1].split()[0]) if " AND block = " in query else None
            process = int(query.split(" AND process = ")[1].split()[0])
            first, last = (int(query.split(" AND start %s= " % sign)[1].split()[0]) for sign in "><")
            sums = collections.defaultdict(lambda: [0, 0, 0])
            for row in rows:
                if row["process"] == process and first <= row["start"] <= last and only in (None, row["block"]):
                    one = sums[row["block"]]
                    one[0] += 1
                    one[1] = (one[1] + row["start"]) % 2**64
                    one[2] += row["duration"]
            log.append("asked %s" % ("a block" if only else "a process"))
            self.answer(200, "".join("%d\t%d\t%d\t%d\n" % (name, *one) for name, one in sums.items()))

    def insert(self, given, body):
        names = given["query"].split("(")[1].split(")")[0].replace("`", "").split(", ")
        assert names == [name for name, _ in COLUMNS] and given["query"].endswith(" FORMAT RowBinary")
        assert given["query_id"] == given["insert_deduplication_token"] and given["async_insert"] == "0"
        new, failure = decode(body), failures.popleft() if failures else ""
        log.append("insert %d %s" % (len(new), failure))
        if failure == "refuse":
            self.answer(500, "Code: 252, e.displayText() = DB::Exception: Too many parts\n")
        elif failure == "hopeless":
            self.answer(404, "Code: 60, e.displayText() = DB::Exception: Table xaudit.calls doesn't exist.\nmore")
        elif failure == "slow":
            running[given["query_id"]] = (2, new)
            self.close_connection = True
        elif failure in ("drop", "half"):
            rows.extend(new[:len(new) // 2] if failure == "half" else new)
            self.close_connection = True
        else:
            rows.extend(new)
            self.answer(200, "")


if __name__ == "__main__":
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    with open(sys.argv[1] + ".new", "w") as file:
        file.write("%d\n" % server.server_port)
    import os
    os.rename(sys.argv[1] + ".new", sys.argv[1])
    server.serve_forever()
