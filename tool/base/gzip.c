/* SPDX-License-Identifier: MIT */
#include "tool/base/gzip.h"

#include <stdlib.h>
#include <zlib.h>

#include "tool/base/memory.h"

#define PIECE 65536u

struct gzip {
	z_stream stream;
	FILE *to;
	uint8_t out[PIECE];
};

struct gzip *gzip_begin(FILE *to)
{
	struct gzip *gzip = memory_zeroed(1, sizeof(*gzip));

	gzip->to = to;
	/* A window of 32 KiB, with the head and the end of a file of gzip: 16 more. */
	if (deflateInit2(&gzip->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		memory_failed();
	return gzip;
}

/* Writes what zlib has made of its input. flush: Z_NO_FLUSH; Z_FINISH: all. */
static void pass_on(struct gzip *gzip, int flush)
{
	do {
		gzip->stream.next_out = gzip->out;
		gzip->stream.avail_out = sizeof(gzip->out);
		deflate(&gzip->stream, flush);
		fwrite(gzip->out, 1, sizeof(gzip->out) - gzip->stream.avail_out, gzip->to);
	} while (!gzip->stream.avail_out);
}

void gzip_put(struct gzip *gzip, const uint8_t *bytes, size_t size)
{
	while (size) {
		uInt piece = size < PIECE ? (uInt)size : PIECE;

		gzip->stream.next_in = (Bytef *)bytes;
		gzip->stream.avail_in = piece;
		pass_on(gzip, Z_NO_FLUSH);
		bytes += piece;
		size -= piece;
	}
}

void gzip_end(struct gzip *gzip)
{
	pass_on(gzip, Z_FINISH);
	deflateEnd(&gzip->stream);
	free(gzip);
}
