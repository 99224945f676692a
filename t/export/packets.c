/* SPDX-License-Identifier: MIT */
/*
 * packets <FILE: how many slices begin, and end, in a trace of Perfetto's: protoc would make gigabytes of text of what
 * t/export/many.t writes. Fields as in t/export/perfetto.proto.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define PACKET 1      /* Trace.packet */
#define TRACK_EVENT 11 /* TracePacket.track_event */
#define TYPE 9	      /* TrackEvent.type */
#define MOST (1 << 20)

static void fail(const char *what)
{
	fprintf(stderr, "packets: %s\n", what);
	exit(1);
}

static const uint8_t *varint(const uint8_t *at, const uint8_t *end, uint64_t *to)
{
	*to = 0;
	for (unsigned shift = 0; at < end && shift < 64; shift += 7) {
		*to |= (uint64_t)(*at & 127) << shift;
		if (!(*at++ & 128))
			return at;
	}
	fail("a number is cut");
	return NULL;
}

/* Finds a field of a message: a number, or the bytes of a message from *inner to *to behind it. Returns whether. */
static int find(const uint8_t *at, const uint8_t *end, unsigned field, uint64_t *to, const uint8_t **inner)
{
	while (at < end) {
		uint64_t key, value;

		at = varint(at, end, &key);
		if ((key & 7) == 1 || (key & 7) == 5) {
			at += (key & 7) == 1 ? 8 : 4;
			continue;
		}
		at = varint(at, end, &value);
		if ((key & 7) == 2 && value > (uint64_t)(end - at))
			fail("a message is cut");
		if (key >> 3 == field) {
			*to = value;
			*inner = at;
			return 1;
		}
		if ((key & 7) == 2)
			at += value;
	}
	return 0;
}

int main(void)
{
	static uint8_t packet[MOST];
	uint64_t count[5] = { 0 };
	int c;

	while ((c = getchar()) != EOF) {
		const uint8_t *event, *unused;
		uint64_t size = 0, length, type;

		if (c != (PACKET << 3 | 2))
			fail("this is no packet");
		for (unsigned shift = 0; (c = getchar()) != EOF; shift += 7) {
			size |= (uint64_t)(c & 127) << shift;
			if (!(c & 128))
				break;
		}
		if (size > MOST || fread(packet, 1, size, stdin) != size)
			fail("a packet is cut");
		if (find(packet, packet + size, TRACK_EVENT, &length, &event) &&
			find(event, event + length, TYPE, &type, &unused) && type < 5)
			count[type]++;
	}
	printf("%" PRIu64 " %" PRIu64 "\n", count[1], count[2]);
	return 0;
}
