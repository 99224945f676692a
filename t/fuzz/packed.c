/* SPDX-License-Identifier: MIT */
/* For clang's -fsanitize=fuzzer (run.sh): the input is a packed trace, whose frames get right checksums. */
#define _GNU_SOURCE
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "format/pack.h"
#include "t/fuzz/read.h"
#include "tool/read/pack/hash.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void mend_checks(uint8_t *data, size_t size)
{
	uint64_t magic = PACK_FRAME_MAGIC;
	struct pack_frame frame;

	for (size_t at = 0; at + sizeof(frame) <= size; at += 8) {
		if (memcmp(data + at, &magic, sizeof(magic)))
			continue;
		memcpy(&frame, data + at, sizeof(frame));
		if (frame.type != PACK_BLOCK && frame.size <= size - at - sizeof(frame))
			frame.content = pack_hash(data + at + sizeof(frame), frame.size);
		frame.check = pack_hash(&frame.type, sizeof(frame) - offsetof(struct pack_frame, type));
		memcpy(data + at, &frame, sizeof(frame));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *own = malloc(size + 1);
	int fd = memfd_create("packed", MFD_CLOEXEC);
	char path[64];

	memcpy(own, data, size);
	mend_checks(own, size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fd < 0 || write(fd, own, size) != (ssize_t)size)
		abort();
	/* What is unpacked may be a hundred times as large. */
	fuzz_read(path, size * 100);
	close(fd);
	free(own);
	return 0;
}
