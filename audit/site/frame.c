/* SPDX-License-Identifier: MIT */
#include "audit/site/frame.h"

#include "audit/site/elf_file.h"
#include "runtime/base/search.h"

#define PAIR_SIZE 8

/* DWARF pointer encodings that every linker uses here (DW_EH_PE_...). */
#define ENCODED_UDATA4	       0x03
#define ENCODED_DATAREL_SDATA4 0x3b
#define ENCODED_SIZE(encoding) ((encoding)&7)
#define ENCODED_4_BYTES	       3

void site_frames_load(struct site_file *file)
{
	struct site_frames *frames = &file->frames;

	if (frames->loaded)
		return;
	frames->loaded = 1;
	for (size_t s = 0; s < file->segments; s++) {
		const Elf64_Phdr *segment = &file->segment[s];
		if (segment->p_type != PT_GNU_EH_FRAME)
			continue;
		/* version, encoding of: pointer to .eh_frame, count, table; then these */
		const uint8_t *p = site_file_bytes(file, segment->p_offset, segment->p_filesz);
		uint32_t count;
		if (!p || segment->p_filesz < 12 || p[0] != 1 || ENCODED_SIZE(p[1]) != ENCODED_4_BYTES ||
			p[2] != ENCODED_UDATA4 || p[3] != ENCODED_DATAREL_SDATA4)
			return;
		site_read(&count, p + 8);
		if (count > (segment->p_filesz - 12) / PAIR_SIZE)
			return;
		frames->table = p + 12;
		frames->count = count;
		frames->address = segment->p_vaddr;
		return;
	}
}

static uint64_t half(const struct site_file *file, size_t i, size_t which)
{
	int32_t offset;

	site_read(&offset, file->frames.table + i * PAIR_SIZE + which * sizeof(offset));
	return file->frames.address + (uint64_t)(int64_t)offset;
}

uint64_t site_frame(const struct site_file *file, size_t i)
{
	return half(file, i, 0);
}

uint64_t site_frame_size(const struct site_file *file, size_t i)
{
	uint64_t fde = half(file, i, 1);
	struct {
		uint32_t length, cie;
		int32_t start; /* relative to its address; with another encoding the sum below is wrong */
		uint32_t size;
	} head;
	size_t size;
	const uint8_t *p = site_file_at(file, fde, &size);

	if (!p || size < sizeof(head))
		return 0;
	site_read(&head, p);
	return fde + 8 + (uint64_t)(int64_t)head.start == site_frame(file, i) ? head.size : 0;
}

size_t site_frame_at(struct site_file *file, uint64_t address)
{
	size_t low = 0, high = file->frames.count, near = file->frames.last;

	/* Callers ask for functions in order of address, so look after the last result, in growing steps. */
	if (near < high && site_frame(file, near) < address) {
		size_t step = 1;
		while (low = near + 1, step < high - near && site_frame(file, near + step) < address) {
			near += step;
			step *= 2;
		}
		if (step < high - near)
			high = near + step;
	} else if (near < high && (!near || site_frame(file, near - 1) < address)) {
		return near;
	}
	low = SEARCH(i, low, high, site_frame(file, i) < address);
	file->frames.last = low;
	return low;
}
