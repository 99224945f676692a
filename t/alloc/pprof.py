# SPDX-License-Identifier: MIT
#
# pprof.py FILE: what a profile of pprof says, by a reader of its own: its types, the sums of their values, and each
# sample as "VALUES FRAME < FRAME ...", the innermost first. Ends with status 1 where the profile contradicts itself.
import gzip
import sys


def number(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def fields(data):
    at = 0
    while at < len(data):
        key, at = number(data, at)
        if key & 7 == 0:
            value, at = number(data, at)
        elif key & 7 == 2:
            size, at = number(data, at)
            value = data[at:at + size]
            assert len(value) == size
            at += size
        else:
            sys.exit('a wire type that profiles do not have')
        yield key >> 3, value


def packed(data):
    at = 0
    while at < len(data):
        value, at = number(data, at)
        yield value


with gzip.open(sys.argv[1]) as file:
    profile = list(fields(file.read()))
of = lambda field: [dict(fields(v)) for f, v in profile if f == field]
strings = [v.decode() for f, v in profile if f == 6]
assert strings[0] == ''
functions = {f[1]: strings[f[2]] for f in of(5)}
mappings = {m[1]: m for m in of(3)}
locations = {}
for location in of(4):
    mapping = mappings.get(location.get(2))
    if mapping and 3 in location:
        assert mapping[2] <= location[3] < mapping[3]
    line = dict(fields(location[4])) if 4 in location else None
    where = strings[mapping[5]].split('/')[-1] if mapping else '?'
    assert location[1] not in locations
    locations[location[1]] = functions[line[1]] if line else where
assert len(functions) == len(of(5))
types = ['%s/%s' % (strings[t[1]], strings[t[2]]) for t in of(1)]
samples = [(list(packed(s[1])), list(packed(s[2]))) for s in of(2)]
assert all(len(values) == len(types) for _, values in samples)
print(*types)
print('sums', *(sum(column) for column in zip(*(values for _, values in samples))))
for stack, values in samples:
    print(*values, ' < '.join(locations[i] for i in stack))
