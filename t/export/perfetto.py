# SPDX-License-Identifier: MIT
#
# perfetto.py FILE: what protoc --decode=Trace has made of a file of `xaudit export --format=perfetto`, as lines of
# JSON, with names instead of numbers, and whole times in ns after the first clock: an event, or a track. Fails if a
# name or a clock is used that its sequence has not told.
import json
import re
import sys

def messages(lines):
    """The fields of a message of protoc's text, to its end: name to list of values, which are messages or texts."""
    fields = {}
    for line in lines:
        line = line.strip()
        if line == "}":
            break
        if line.endswith(" {"):
            fields.setdefault(line[:-2], []).append(messages(lines))
            continue
        name, value = line.split(": ", 1)
        if value.startswith('"'):
            # Bytes that are not of ASCII are octal.
            value = re.sub(rb"\\([0-7]{3}|.)", unescape, value[1:-1].encode()).decode()
        fields.setdefault(name, []).append(value)
    return fields

def unescape(match):
    code = match.group(1)
    if len(code) == 3:
        return bytes([int(code, 8)])
    return {b"n": b"\n", b"r": b"\r", b"t": b"\t"}.get(code, code)

class Event:
    pass

def one(fields, name, default=None):
    return fields.get(name, [default])[0]

class Sequence:
    def __init__(self):
        self.names = {"event_names": {}, "event_categories": {}, "debug_annotation_names": {}}
        self.uuid = self.time = None

    def intern(self, data):
        for kind, names in self.names.items():
            for name in data.get(kind, []):
                assert name["iid"][0] not in names, "a number is told twice"
                names[name["iid"][0]] = one(name, "name", "")

def arg(fields):
    for name, value in fields.items():
        if name == "array_values":
            return [arg(item) for item in value]
        if name == "string_value":
            return value[0]
        if name == "double_value":
            return float(value[0])
        if name.endswith("_value"):
            return int(value[0])
    return []

def perfetto_packets(path):
    with open(path, encoding="utf-8") as file:
        lines = iter(file)
        for line in lines:
            assert line == "packet {\n", line
            yield messages(lines)

def perfetto_events(path):
    sequences, start, tracks = {}, None, {}
    events = []
    for packet in perfetto_packets(path):
        number = packet["trusted_packet_sequence_id"][0]
        flags = int(one(packet, "sequence_flags", 0))
        if flags & 1 or number not in sequences:
            sequences[number] = Sequence()
        sequence = sequences[number]
        for snapshot in packet.get("clock_snapshot", []):
            clocks = {clock["clock_id"][0]: clock for clock in snapshot["clocks"]}
            start = int(clocks["3"]["timestamp"][0]) if start is None else start
            if "64" in clocks:
                assert one(clocks["64"], "is_incremental") == "true"
                sequence.time = int(clocks["3"]["timestamp"][0]) - start
        for defaults in packet.get("trace_packet_defaults", []):
            assert defaults["timestamp_clock_id"] == ["64"]
            sequence.uuid = defaults["track_event_defaults"][0]["track_uuid"][0]
        for data in packet.get("interned_data", []):
            sequence.intern(data)
        for track in packet.get("track_descriptor", []):
            tracks[track["uuid"][0]] = track
        for fields in packet.get("track_event", []):
            event = Event()
            if "timestamp_clock_id" in packet:
                assert packet["timestamp_clock_id"] == ["3"]
                event.time = int(packet["timestamp"][0]) - start
            else:
                assert flags == 2, "it needs what came before"
                sequence.time += int(packet["timestamp"][0])
                event.time = sequence.time
            event.type = fields["type"][0]
            event.uuid = one(fields, "track_uuid", sequence.uuid)
            names = sequence.names
            event.name = one(fields, "name") or (
                names["event_names"][fields["name_iid"][0]] if "name_iid" in fields else None)
            event.category = one(fields, "categories") or (
                names["event_categories"][fields["category_iids"][0]] if "category_iids" in fields else None)
            event.correlation = one(fields, "correlation_id_str")
            event.args = {}
            for value in fields.get("debug_annotations", []):
                key = one(value, "name") or names["debug_annotation_names"][value["name_iid"][0]]
                event.args[key] = arg(value)
            events.append(event)
    for event in events:
        track = tracks[event.uuid]
        event.track = one(track, "name") or one(track.get("thread", [{}])[0], "thread_name") or ""
        assert "parent_uuid" not in track or track["parent_uuid"][0] in tracks, "a track has a parent that is none"
    return events

def main():
    for event in perfetto_events(sys.argv[1]):
        print(json.dumps(vars(event), ensure_ascii=False))
    tracks = {}
    for packet in perfetto_packets(sys.argv[1]):
        for track in packet.get("track_descriptor", []):
            tracks[track["uuid"][0]] = track
    for track in tracks.values():
        print(json.dumps({"descriptor": track}, ensure_ascii=False))

if __name__ == "__main__":
    main()
