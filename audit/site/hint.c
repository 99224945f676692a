/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "audit/site/hint.h"

#include <elf.h>    /* Elf64_Shdr */
#include <string.h> /* strcmp */
#include <unistd.h> /* pread */

#include "audit/site/kinds.h"

#define NAMES	 8192 /* bytes of section names; a linked file has a few hundred */
#define SECTIONS 64   /* headers read at a time */

#define ANYTHING kinds_with(KIND_BY_SECTION)

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

	if (pread(fd, &header, sizeof(header), 0) != sizeof(header) || memcmp(header.e_ident, ELFMAG, SELFMAG) ||
		!header.e_shoff || !header.e_shnum || header.e_shentsize != sizeof(*section) ||
		header.e_shstrndx >= header.e_shnum)
		return ANYTHING;
	off_t table = (off_t)header.e_shoff, entry = (off_t)sizeof(*section);
	if (pread(fd, section, sizeof(*section), table + header.e_shstrndx * entry) != sizeof(*section) ||
		section->sh_size > NAMES)
		return ANYTHING;
	size_t size = section->sh_size;
	if (pread(fd, names, size, (off_t)section->sh_offset) != (ssize_t)size)
		return ANYTHING;
	names[size] = '\0';
	for (unsigned done = 0; done < header.e_shnum;) {
		unsigned n = header.e_shnum - done < SECTIONS ? header.e_shnum - done : SECTIONS;
		if (pread(fd, section, n * sizeof(*section), table + done * entry) != (ssize_t)(n * sizeof(*section)))
			return ANYTHING;
		for (unsigned i = 0; i < n; i++)
			if (section[i].sh_name < size)
				kinds |= kinds_of(names + section[i].sh_name);
		done += n;
	}
	return kinds;
}
