/* SPDX-License-Identifier: MIT */
#include "tool/index/content.h"

#include <sha2.h> /* of libmd */
#include <string.h>

#include "audit/site/elf_file.h"

/* What the header says of sections, as zeros. */
static Elf64_Ehdr plain_header(const struct site_file *file)
{
	Elf64_Ehdr header;

	site_read(&header, file->header);
	header.e_shoff = 0;
	header.e_shentsize = header.e_shnum = header.e_shstrndx = 0;
	return header;
}

/* What of the file is loaded by this segment, without the ELF header. Returns its size. */
static uint64_t part_of(const struct site_file *file, const Elf64_Phdr *segment, uint64_t *from)
{
	uint64_t end = segment->p_offset + segment->p_filesz;

	if (segment->p_type != PT_LOAD)
		return 0;
	*from = segment->p_offset < sizeof(Elf64_Ehdr) ? sizeof(Elf64_Ehdr) : segment->p_offset;
	/* A file may be shorter than it says. */
	if (end > file->size || end < segment->p_offset)
		end = file->size;
	return end > *from ? end - *from : 0;
}

void content_read(const struct site_file *file, uint8_t content[INDEX_CONTENT])
{
	const Elf64_Ehdr header = plain_header(file);
	SHA2_CTX sum;
	uint8_t whole[SHA256_DIGEST_LENGTH];
	uint64_t from, size = 0;

	SHA256Init(&sum);
	SHA256Update(&sum, (const uint8_t *)&header, sizeof(header));
	SHA256Update(&sum, (const uint8_t *)file->segment, file->segments * sizeof(*file->segment));
	for (size_t s = 0; s < file->segments && size <= file->size; s++)
		size += part_of(file, &file->segment[s], &from);
	/* In a damaged file thousands of segments may hold all of it, each. */
	if (size > file->size)
		SHA256Update(&sum, file->base, file->size);
	for (size_t s = 0; s < file->segments && size <= file->size; s++) {
		uint64_t part = part_of(file, &file->segment[s], &from);
		if (part)
			SHA256Update(&sum, site_file_bytes(file, from, part), part);
	}
	SHA256Final(whole, &sum);
	memcpy(content, whole, INDEX_CONTENT);
}
