# SPDX-License-Identifier: MIT
#
# Load of probe_nginx.t and probe_python.t: threads that do the same again and again, and know what must come out.
#	python3 probe_load.py work THREADS
#		what python3 and its libraries are for; one compress() and one decompress() a round
#	python3 probe_load.py ask THREADS PORT PORT-OF-TLS PAGE CERTIFICATE
#		a round is one request of nginx: a page, as it is or packed, by TLS or not; what a regular expression
#		makes of the path; each eighth of a connection is its last one
# Lines of standard input say `go`, `rest` (until no round is under way), or anything else; each is answered by how many
# rounds there were, and how many were wrong.
import hashlib
import http.client
import json
import os
import re
import ssl
import sys
import threading
import zlib

changed = threading.Condition()
going = ended = False
busy = done = wrong = 0


def worked(unused, number):
    data = json.dumps({str(k): [k] * 3 for k in range(50)}).encode()
    back = zlib.decompress(zlib.compress(data))
    text = re.sub(rb"(\d+), \1", rb"<\1>", back)
    try:
        raise KeyError(len(text))
    except KeyError as e:
        return hashlib.sha256(text).hexdigest() + str(e) + hashlib.md5(repr(sorted(back)).encode()).hexdigest()


class Asking:
    def __init__(self, port, tls_port, page, certificate):
        self.port, self.tls_port = int(port), int(tls_port)
        self.page = open(page, "rb").read()
        self.tls = ssl.create_default_context(cafile=certificate)
        self.tls.check_hostname = False

    def connection(self, own, tls):
        if tls not in own:
            own[tls] = (http.client.HTTPSConnection("127.0.0.1", self.tls_port, timeout=60, context=self.tls)
                if tls else http.client.HTTPConnection("127.0.0.1", self.port, timeout=60))
        return own[tls]

    def asked(self, own, number):
        tls = number % 3 == 0
        path, headers, expected = "/page", {}, self.page
        if number % 4 == 1:
            headers["Accept-Encoding"] = "gzip"
        elif number % 4 == 2:
            path, expected = "/re/%d/x/y" % number, b"<%d> <y>\n" % number
        if number % 8 == 7:
            headers["Connection"] = "close"
        link = self.connection(own, tls)
        link.request("GET", path, headers=headers)
        answer = link.getresponse()
        body = answer.read()
        if answer.getheader("Content-Encoding") == "gzip":
            body = zlib.decompress(body, 31)
        elif number % 4 == 1:
            return False
        return answer.status == 200 and body == expected


def work(do, expected):
    global busy, done, wrong
    own, number = {}, 0
    while True:
        with changed:
            busy -= 1
            changed.notify_all()
            while not going and not ended:
                changed.wait()
            if ended:
                return
            busy += 1
        try:
            good = do(own, number) == expected
        except Exception as e:
            print("round", number, "fails:", repr(e), file=sys.stderr, flush=True)
            own.clear()
            good = False
        number += 1
        with changed:
            done += 1
            wrong += not good


threads = int(sys.argv[2])
if sys.argv[1] == "ask":
    do, expected = Asking(*sys.argv[3:]).asked, True
else:
    do, expected = worked, worked(None, 0)
busy = threads
threads = [threading.Thread(target=work, args=(do, expected)) for i in range(threads)]
for thread in threads:
    thread.start()
print("ready", os.getpid(), flush=True)
for line in sys.stdin:
    with changed:
        if line == "go\n":
            going = True
            changed.notify_all()
        elif line == "rest\n":
            going = False
            while busy:
                changed.wait()
        print("called", done, "rounds", wrong, "wrong", flush=True)
with changed:
    ended = True
    changed.notify_all()
for thread in threads:
    thread.join()
sys.exit(wrong != 0)
