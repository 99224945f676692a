/* SPDX-License-Identifier: MIT */
#include "tool/probe/rseq.h"

#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"
#include "tool/index/image.h"

#define SIGNATURE 4

/* The kernel's struct rseq_cs. */
struct sequence {
	uint32_t version, flags;
	uint64_t start, bytes, abort;
};

/* Relative relocations leave the word zero, or have the address there as well. */
static void relocate(const struct image *image, uint64_t section, struct sequence *sequence, size_t count)
{
	const struct site_dynamic *dynamic = &image->file.dynamic;
	size_t size = 0;
	const uint8_t *p = dynamic->rela ? site_file_at(&image->file, dynamic->rela, &size) : NULL;

	if (size > dynamic->rela_size)
		size = dynamic->rela_size;
	for (size_t i = 0; p && i < size / sizeof(Elf64_Rela); i++) {
		Elf64_Rela rela;
		site_read(&rela, p + i * sizeof(rela));
		uint64_t at = rela.r_offset - section;
		if (ELF64_R_TYPE(rela.r_info) != R_X86_64_RELATIVE || at / sizeof(*sequence) >= count)
			continue;
		if (at % sizeof(*sequence) == offsetof(struct sequence, start))
			sequence[at / sizeof(*sequence)].start = (uint64_t)rela.r_addend;
		else if (at % sizeof(*sequence) == offsetof(struct sequence, abort))
			sequence[at / sizeof(*sequence)].abort = (uint64_t)rela.r_addend;
	}
}

void rseq_read(struct rseq *rseq, const struct image *image)
{
	struct site_file file = image->file; /* names of sections are looked up once */
	Elf64_Shdr section;

	*rseq = (struct rseq){ 0 };
	for (size_t s = 1; site_section(&file, s, &section); s++) {
		const uint8_t *bytes = site_section_named(&file, &section, "__rseq_cs", 0)
					       ? site_section_bytes(&file, &section)
					       : NULL;
		size_t count = bytes ? section.sh_size / sizeof(struct sequence) : 0;
		struct sequence *sequence = memory_zeroed(count + 1, sizeof(*sequence));
		if (count)
			memcpy(sequence, bytes, count * sizeof(*sequence));
		relocate(image, section.sh_addr, sequence, count);
		for (size_t i = 0; i < count; i++) {
			rseq->range = memory_grow(rseq->range, rseq->count, sizeof(*rseq->range));
			rseq->range[rseq->count++] = (struct rseq_range){ .from = sequence[i].start,
				.to = sequence[i].start + sequence[i].bytes,
				.abort = sequence[i].abort };
		}
		free(sequence);
	}
}

void rseq_free(struct rseq *rseq)
{
	free(rseq->range);
	*rseq = (struct rseq){ 0 };
}

bool rseq_holds(const struct rseq *rseq, uint64_t from, uint64_t to)
{
	for (size_t i = 0; i < rseq->count; i++) {
		const struct rseq_range *range = &rseq->range[i];
		if ((from < range->to && to > range->from) || (from < range->abort && to > range->abort - SIGNATURE))
			return true;
	}
	return false;
}

bool rseq_aborts(const struct rseq *rseq, uint64_t address)
{
	for (size_t i = 0; i < rseq->count; i++)
		if (rseq->range[i].abort == address)
			return true;
	return false;
}
