/* SPDX-License-Identifier: MIT */
/*
 * How much static TLS the command needs. Any auditor makes ld.so fix its size before it knows the program's libraries;
 * what they need beyond some 1.8 kB (jemalloc, TSan, rustc's own) must be set aside by a tunable. That memory lies on
 * each thread's stack, so more than is needed does harm: from 12 kB on, threads of 16 kB can't be made. So all its
 * libraries are looked at. The module finds out the need, too (audit/start/static_tls.h), but then the program
 * is started twice.
 */
#define _GNU_SOURCE
#include "tool/record/record.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "audit/start/tunables.h"
#include "tool/base/plain.h"
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

size_t record_tls(const struct record_objects *objects)
{
	uint64_t sum = STATIC_TLS_SPARE;

	if (!objects->listed || !add_file(objects->program, &sum))
		return RECORD_TLS;
	for (size_t i = 0; i < objects->libraries; i++)
		if (!add_file(objects->library[i], &sum))
			return RECORD_TLS;
	return sum > RECORD_TLS ? sum : RECORD_TLS;
}
