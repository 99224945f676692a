/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "audit/site/hint.h"

#include <elf.h>    /* Elf64_Shdr */
#include <string.h> /* strcmp */

#include "audit/match/kinds.h"
#include "x86_64/sys.h"

#define NAMES	 8192 /* bytes of section names; a linked file has a few hundred */
#define SECTIONS 64   /* headers read at a time */

#define ANYTHING kinds_with(KIND_BY_SECTION)

static long read_at(int fd, void *to, size_t size, off_t offset)
{
	return sys_call(__NR_pread64, fd, (long)to, (long)size, offset, 0, 0);
}

static unsigned kinds_of(const char *name)
{
	unsigned kinds = 0;

	for (int kind = 0; kind < TRACE_KIND_COUNT; kind++)
		if (kind_rows[kind].section && !strcmp(name, kind_rows[kind].section))
			kinds |= 1u << kind;
	return kinds;
}

unsigned site_hint(int fd)
{
	Elf64_Ehdr header;
	Elf64_Shdr section[SECTIONS];
	char names[NAMES + 1];
	unsigned kinds = 0;

	if (read_at(fd, &header, sizeof(header), 0) != sizeof(header) || memcmp(header.e_ident, ELFMAG, SELFMAG) ||
		!header.e_shoff || !header.e_shnum || header.e_shentsize != sizeof(*section) ||
		header.e_shstrndx >= header.e_shnum)
		return ANYTHING;
	off_t table = (off_t)header.e_shoff, entry = (off_t)sizeof(*section);
	if (read_at(fd, section, sizeof(*section), table + header.e_shstrndx * entry) != sizeof(*section) ||
		section->sh_size > NAMES)
		return ANYTHING;
	size_t size = section->sh_size;
	if (read_at(fd, names, size, (off_t)section->sh_offset) != (long)size)
		return ANYTHING;
	names[size] = '\0';
	for (unsigned done = 0; done < header.e_shnum;) {
		unsigned n = header.e_shnum - done < SECTIONS ? header.e_shnum - done : SECTIONS;
		if (read_at(fd, section, n * sizeof(*section), table + done * entry) != (long)(n * sizeof(*section)))
			return ANYTHING;
		for (unsigned i = 0; i < n; i++)
			if (section[i].sh_name < size)
				kinds |= kinds_of(names + section[i].sh_name);
		done += n;
	}
	return kinds;
}
