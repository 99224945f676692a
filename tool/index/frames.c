/* SPDX-License-Identifier: MIT */
#include "tool/index/frames.h"

#include <dwarf.h>
#include <stdlib.h>

#include "audit/site/elf_file.h"
#include "runtime/base/search.h"
#include "tool/base/memory.h"
#include "tool/index/cursor.h"

/* The length that an entry begins with. */
static uint64_t take_length(struct cursor *at)
{
	uint64_t length = cursor_take(at, 4);

	return length == 0xffffffff ? cursor_take(at, 8) : length;
}

/* What an FDE needs of its CIE. */
struct cie {
	uint64_t place; /* its address; 0: none read yet */
	struct frame frame;
	uint8_t lsda_encoding;
	bool sized; /* FDEs have augmentation data */
	bool bad;
};

static void read_cie(struct cie *cie, struct cursor at, uint64_t place)
{
	char augmentation[16] = "";
	size_t n = 0;

	*cie = (struct cie){ .place = place, .lsda_encoding = DW_EH_PE_omit };
	uint8_t version = (uint8_t)cursor_take(&at, 1);
	while (n < sizeof(augmentation) - 1 && (augmentation[n] = (char)cursor_take(&at, 1)))
		n++;
	cie->frame.code_factor = cursor_leb(&at, false);
	cie->frame.data_factor = (int64_t)cursor_leb(&at, true);
	cie->frame.return_column = version == 1 ? cursor_take(&at, 1) : cursor_leb(&at, false);
	cie->bad = (version != 1 && version != 3) || augmentation[n] || (n && augmentation[0] != 'z');
	if (n && !cie->bad) {
		uint64_t length = cursor_leb(&at, false);
		const uint8_t *rest = at.p;
		if (at.bad || length > (uint64_t)(at.end - at.p)) {
			cie->bad = true;
			return;
		}
		cie->sized = true;
		for (const char *c = augmentation + 1; *c; c++)
			switch (*c) {
			case 'L':
				cie->lsda_encoding = (uint8_t)cursor_take(&at, 1);
				break;
			case 'P':
				/* Whose it is does not matter here; indirect or aligned, its length is the same. */
				n = (uint8_t)cursor_take(&at, 1);
				cursor_pointer(&at, n & ~0x80u & ~0x70u);
				break;
			case 'R':
				cie->frame.encoding = (uint8_t)cursor_take(&at, 1);
				break;
			case 'S':
				cie->frame.signal = true;
				break;
			default:
				break;
			}
		at.address += (uint64_t)(rest + length - at.p);
		at.p = rest + length;
	}
	cie->frame.initial = at.p;
	cie->frame.initial_end = at.end;
	cie->bad |= at.bad;
}

static bool read_fde(const struct cie *cie, struct cursor at, struct frame *frame)
{
	*frame = cie->frame;
	frame->start = cursor_pointer(&at, cie->frame.encoding);
	frame->size = cursor_pointer(&at, cie->frame.encoding & 0x0f);
	if (cie->sized) {
		uint64_t length = cursor_leb(&at, false);
		if (at.bad || length > (uint64_t)(at.end - at.p))
			return false;
		struct cursor data = at;
		data.end = at.p + length;
		if (cie->lsda_encoding != DW_EH_PE_omit)
			frame->lsda = cursor_pointer(&data, cie->lsda_encoding & ~0x80u);
		if (data.bad || cie->lsda_encoding & 0x80)
			frame->lsda = 0;
		at.p += length;
		at.address += length;
	}
	frame->program = at.p;
	frame->program_end = at.end;
	frame->program_address = at.address;
	return !at.bad && frame->start && frame->size && frame->start + frame->size > frame->start;
}

/* Where .eh_frame is: the header of the binary search table says so, else a section. */
static const uint8_t *find(const struct site_file *file, uint64_t *address, size_t *size)
{
	Elf64_Shdr section;

	for (size_t s = 0; s < file->segments; s++) {
		const Elf64_Phdr *segment = &file->segment[s];
		const uint8_t *p = segment->p_type == PT_GNU_EH_FRAME
					   ? site_file_bytes(file, segment->p_offset, segment->p_filesz)
					   : NULL;
		if (!p || segment->p_filesz < 4 || p[0] != 1)
			continue;
		struct cursor at = { p + 4, p + segment->p_filesz, segment->p_vaddr + 4, false };
		*address = cursor_pointer(&at, p[1]);
		if (!at.bad && *address && (p = site_file_at(file, *address, size)))
			return p;
	}
	for (size_t s = 1; site_section(file, s, &section); s++)
		if (section.sh_flags & SHF_ALLOC &&
			site_section_named((struct site_file *)(uintptr_t)file, &section, ".eh_frame", 0)) {
			*address = section.sh_addr;
			*size = section.sh_size;
			return site_section_bytes(file, &section);
		}
	return NULL;
}

static int by_start(const void *a, const void *b)
{
	const struct frame *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	/* Of two that begin there the longer one counts, or the later one: whatever qsort() does. */
	if (x->size != y->size)
		return x->size < y->size ? -1 : 1;
	return (x->program > y->program) - (x->program < y->program);
}

struct frames *frames_read(const struct site_file *file)
{
	struct frames *frames = memory_zeroed(1, sizeof(*frames));
	struct cie cie = { 0 };
	struct cursor all;
	size_t size, room = 0;

	all.p = find(file, &all.address, &size);
	if (!all.p)
		return frames;
	all.end = all.p + size;
	all.bad = false;
	const uint8_t *first = all.p;
	uint64_t first_address = all.address;
	for (;;) {
		uint64_t length = take_length(&all);
		if (all.bad || !length || length > (uint64_t)(all.end - all.p))
			break;
		struct cursor at = { all.p, all.p + length, all.address, false };
		uint64_t place = at.address, back = cursor_take(&at, 4);
		all.p += length;
		all.address += length;
		if (!back)
			continue;
		place -= back;
		if (place < first_address || place - first_address >= (uint64_t)(at.p - first))
			continue;
		if (cie.place != place) {
			struct cursor head = { first + (place - first_address), at.p, place, false };
			uint64_t n = take_length(&head);
			if (head.bad || n > (uint64_t)(head.end - head.p) || cursor_take(&head, 4))
				continue;
			head.end = head.p + n - 4;
			read_cie(&cie, head, place);
		}
		struct frame frame;
		if (cie.bad || !read_fde(&cie, at, &frame))
			continue;
		if (frames->count == room)
			frames->frame =
				memory_resize(frames->frame, room = room ? 2 * room : 256, sizeof(*frames->frame));
		frames->frame[frames->count++] = frame;
	}
	if (frames->count)
		qsort(frames->frame, frames->count, sizeof(*frames->frame), by_start);
	return frames;
}

void frames_free(struct frames *frames)
{
	if (frames)
		free(frames->frame);
	free(frames);
}

const struct frame *frames_of(const struct frames *frames, uint64_t address)
{
	size_t low = SEARCH(i, 0, frames->count, frames->frame[i].start <= address);

	return low && address - frames->frame[low - 1].start < frames->frame[low - 1].size ? &frames->frame[low - 1]
											   : NULL;
}

void frame_pads(
	const struct frame *frame, const struct site_file *file, void (*pad)(void *arg, uint64_t address), void *arg)
{
	size_t size;
	struct cursor at = { .address = frame->lsda };

	at.p = frame->lsda ? site_file_at(file, frame->lsda, &size) : NULL;
	if (!at.p)
		return;
	at.end = at.p + size;
	uint8_t encoding = (uint8_t)cursor_take(&at, 1);
	uint64_t base = encoding == DW_EH_PE_omit ? frame->start : cursor_pointer(&at, encoding);
	if ((uint8_t)cursor_take(&at, 1) != DW_EH_PE_omit)
		cursor_leb(&at, false);
	encoding = (uint8_t)cursor_take(&at, 1) & 0x0f;
	uint64_t length = cursor_leb(&at, false);
	if (at.bad || length > (uint64_t)(at.end - at.p))
		return;
	at.end = at.p + length;
	while (at.p < at.end && !at.bad) {
		cursor_pointer(&at, encoding);
		cursor_pointer(&at, encoding);
		uint64_t place = cursor_pointer(&at, encoding);
		cursor_leb(&at, false);
		if (place && !at.bad)
			pad(arg, base + place);
	}
}
