/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/record/static_tls.h"

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "audit/start/tunables.h"
#include "tool/base/plain.h"
#include "tool/record/objects.h"
#include "x86_64/elf.h"

#define MOST_TLS  (1ull << 30)
#define MOST_TAGS 4096	     /* of a dynamic section */

/*
 * Is it marked as needing static TLS? Thread-local data that is found by calls of ld.so's functions needs none, however
 * large.
 */
static bool is_static(int fd, const Elf64_Phdr *dynamic)
{
	Elf64_Dyn d;

	for (uint64_t i = 0; i < dynamic->p_filesz / sizeof(d) && i < MOST_TAGS; i++) {
		if (pread(fd, &d, sizeof(d), (off_t)(dynamic->p_offset + i * sizeof(d))) != sizeof(d) ||
			d.d_tag == DT_NULL)
			return false;
		if (d.d_tag == DT_FLAGS)
			return d.d_un.d_val & DF_STATIC_TLS;
	}
	return false;
}

/* Adds the file's static TLS to *sum. false: the file can't be understood. */
static bool read_file(int fd, uint64_t *sum)
{
	Elf64_Ehdr head;
	Elf64_Phdr segment;
	uint64_t needed = 0;
	bool counts = false;

	if (!record_elf(fd, &head))
		return false;
	for (unsigned i = 0; i < head.e_phnum; i++) {
		if (!record_segment(fd, &head, i, &segment))
			return false;
		if (segment.p_type == PT_TLS) {
			uint64_t mask = segment.p_align ? segment.p_align - 1 : 0;

			if (segment.p_memsz > MOST_TLS || mask >= MOST_TLS || (mask & (mask + 1)))
				return false;
			needed = (segment.p_memsz + mask) & ~mask;
		} else if (segment.p_type == PT_DYNAMIC) {
			counts = is_static(fd, &segment);
		}
	}
	*sum += counts ? needed : 0;
	return *sum <= MOST_TLS;
}

static bool add_file(const char *path, uint64_t *sum)
{
	int fd = plain_open(AT_FDCWD, path);
	bool good = fd >= 0 && read_file(fd, sum);

	if (fd >= 0)
		close(fd);
	return good;
}

size_t record_static_tls(const struct record_objects *objects)
{
	uint64_t sum = STATIC_TLS_SPARE;

	if (!objects->listed || !add_file(objects->program, &sum))
		return RECORD_STATIC_TLS;
	for (size_t i = 0; i < objects->libraries; i++)
		if (!add_file(objects->library[i], &sum))
			return RECORD_STATIC_TLS;
	return sum > RECORD_STATIC_TLS ? sum : RECORD_STATIC_TLS;
}
