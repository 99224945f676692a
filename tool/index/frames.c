/* SPDX-License-Identifier: MIT */
#include "tool/index/frames.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "audit/site/elf_file.h"
#include "runtime/base/search.h"
#include "tool/base/memory.h"
#include "tool/index/decode.h" /* INSN_RSP */

/* A place in bytes that are mapped at an address. `bad` is for good. */
struct cursor {
	const uint8_t *p, *end;
	uint64_t address;
	bool bad;
};

static uint64_t take(struct cursor *at, size_t n)
{
	uint64_t value = 0;

	if (at->bad || (size_t)(at->end - at->p) < n) {
		at->bad = true;
		return 0;
	}
	memcpy(&value, at->p, n);
	at->p += n;
	at->address += n;
	return value;
}

static uint64_t take_leb(struct cursor *at, bool with_sign)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = (uint8_t)take(at, 1);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80 && !at->bad);
	if (with_sign && byte & 0x40 && shift < 64)
		value |= -(uint64_t)1 << shift;
	return value;
}

/* An encoded pointer. *bad when the encoding is one that we don't know. */
static uint64_t take_pointer(struct cursor *at, uint8_t encoding)
{
	uint64_t base = (encoding & 0x70) == DW_EH_PE_pcrel ? at->address : 0, value;

	if (encoding == DW_EH_PE_omit)
		return 0;
	switch (encoding & 0x0f) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		value = take(at, 8);
		break;
	case DW_EH_PE_udata2:
		value = take(at, 2);
		break;
	case DW_EH_PE_sdata2:
		value = (uint64_t)(int64_t)(int16_t)take(at, 2);
		break;
	case DW_EH_PE_udata4:
		value = take(at, 4);
		break;
	case DW_EH_PE_sdata4:
		value = (uint64_t)(int64_t)(int32_t)take(at, 4);
		break;
	case DW_EH_PE_uleb128:
		value = take_leb(at, false);
		break;
	case DW_EH_PE_sleb128:
		value = take_leb(at, true);
		break;
	default:
		at->bad = true;
		return 0;
	}
	if (encoding & 0x70 && (encoding & 0x70) != DW_EH_PE_pcrel)
		at->bad = true;
	return value ? base + value : 0;
}

/* The length that an entry begins with. */
static uint64_t take_length(struct cursor *at)
{
	uint64_t length = take(at, 4);

	return length == 0xffffffff ? take(at, 8) : length;
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
	uint8_t version = (uint8_t)take(&at, 1);
	while (n < sizeof(augmentation) - 1 && (augmentation[n] = (char)take(&at, 1)))
		n++;
	cie->frame.code_factor = take_leb(&at, false);
	cie->frame.data_factor = (int64_t)take_leb(&at, true);
	if (version == 1)
		take(&at, 1);
	else
		take_leb(&at, false);
	cie->bad = (version != 1 && version != 3) || augmentation[n] || (n && augmentation[0] != 'z');
	if (n && !cie->bad) {
		uint64_t length = take_leb(&at, false);
		const uint8_t *rest = at.p;
		if (at.bad || length > (uint64_t)(at.end - at.p)) {
			cie->bad = true;
			return;
		}
		cie->sized = true;
		for (const char *c = augmentation + 1; *c; c++)
			switch (*c) {
			case 'L':
				cie->lsda_encoding = (uint8_t)take(&at, 1);
				break;
			case 'P':
				/* Whose it is does not matter here; indirect or aligned, its length is the same. */
				n = (uint8_t)take(&at, 1);
				take_pointer(&at, n & ~0x80u & ~0x70u);
				break;
			case 'R':
				cie->frame.encoding = (uint8_t)take(&at, 1);
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
	frame->start = take_pointer(&at, cie->frame.encoding);
	frame->size = take_pointer(&at, cie->frame.encoding & 0x0f);
	if (cie->sized) {
		uint64_t length = take_leb(&at, false);
		if (at.bad || length > (uint64_t)(at.end - at.p))
			return false;
		struct cursor data = at;
		data.end = at.p + length;
		if (cie->lsda_encoding != DW_EH_PE_omit)
			frame->lsda = take_pointer(&data, cie->lsda_encoding & ~0x80u);
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
		*address = take_pointer(&at, p[1]);
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

	return (x->start > y->start) - (x->start < y->start);
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
		uint64_t place = at.address, back = take(&at, 4);
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
			if (head.bad || n > (uint64_t)(head.end - head.p) || take(&head, 4))
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

/* Registers of DWARF; return addresses are in 16. */
static int8_t reg_of(uint64_t number)
{
	return number == 7 ? INSN_RSP : number == 6 ? INSN_RBP : number == 10 ? 10 : INSN_NO_REG;
}

#define RETURN_COLUMN 16
#define REMEMBER      8

struct rows {
	const struct frame *frame;
	struct frame_row *row;
	size_t count, room;
	struct frame_row now;
	const struct frame_row *start; /* what the CIE says; NULL: that is being found out */
	struct frame_row kept[REMEMBER];
	size_t depth;
};

static void advance(struct rows *rows, uint64_t to)
{
	if (to != rows->now.from && rows->count < rows->room)
		rows->row[rows->count++] = rows->now;
	rows->now.from = to;
}

/* An expression: its length, and so many bytes. */
static void skip_block(struct cursor *at)
{
	uint64_t n = take_leb(at, false);

	at->bad |= n > (uint64_t)(at->end - at->p);
	at->p += at->bad ? 0 : n;
}

/*
 * Each of these takes what is behind an instruction, if it is one of its sort; else it returns false. Of some, `low` is
 * the low six bits of op, which is the rest.
 */

/* Where the next row begins. */
static bool run_place(struct rows *rows, struct cursor *at, uint8_t op, uint8_t low)
{
	uint64_t from = rows->now.from, factor = rows->frame->code_factor;

	switch (op) {
	case DW_CFA_advance_loc:
		advance(rows, from + low * factor);
		return true;
	case DW_CFA_advance_loc1:
		advance(rows, from + take(at, 1) * factor);
		return true;
	case DW_CFA_advance_loc2:
		advance(rows, from + take(at, 2) * factor);
		return true;
	case DW_CFA_advance_loc4:
		advance(rows, from + take(at, 4) * factor);
		return true;
	case DW_CFA_set_loc:
		advance(rows, take_pointer(at, rows->frame->encoding));
		return true;
	default:
		return false;
	}
}

/* Where the caller's frame is. */
static bool run_cfa(struct frame_row *now, struct cursor *at, uint8_t op, int64_t factor)
{
	switch (op) {
	case DW_CFA_def_cfa:
		now->reg = reg_of(take_leb(at, false));
		now->offset = (int64_t)take_leb(at, false);
		return true;
	case DW_CFA_def_cfa_sf:
		now->reg = reg_of(take_leb(at, false));
		now->offset = (int64_t)take_leb(at, true) * factor;
		return true;
	case DW_CFA_def_cfa_register:
		now->reg = reg_of(take_leb(at, false));
		return true;
	case DW_CFA_def_cfa_offset:
		now->offset = (int64_t)take_leb(at, false);
		return true;
	case DW_CFA_def_cfa_offset_sf:
		now->offset = (int64_t)take_leb(at, true) * factor;
		return true;
	case DW_CFA_def_cfa_expression:
		skip_block(at);
		now->reg = INSN_NO_REG;
		return true;
	default:
		return false;
	}
}

/* Where registers are: of the return address we want to know. */
static bool run_register(struct rows *rows, struct cursor *at, uint8_t op, uint8_t low)
{
	switch (op) {
	case DW_CFA_offset:
		take_leb(at, false);
		if (low == RETURN_COLUMN)
			rows->now.no_return = false;
		return true;
	case DW_CFA_restore:
		if (low == RETURN_COLUMN && rows->start)
			rows->now.no_return = rows->start->no_return;
		return true;
	case DW_CFA_undefined:
		if (take_leb(at, false) == RETURN_COLUMN)
			rows->now.no_return = true;
		return true;
	case DW_CFA_expression:
	case DW_CFA_val_expression:
		take_leb(at, false);
		skip_block(at);
		return true;
	case DW_CFA_restore_extended:
	case DW_CFA_same_value:
	case DW_CFA_GNU_args_size:
		take_leb(at, false);
		return true;
	case DW_CFA_offset_extended:
	case DW_CFA_offset_extended_sf:
	case DW_CFA_register:
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf:
	case DW_CFA_GNU_negative_offset_extended:
		take_leb(at, false);
		take_leb(at, false);
		return true;
	default:
		return false;
	}
}

/* What is kept for later, and taken back. */
static bool run_state(struct rows *rows, uint8_t op)
{
	switch (op) {
	case DW_CFA_nop:
		return true;
	case DW_CFA_remember_state:
		if (rows->depth < REMEMBER)
			rows->kept[rows->depth] = rows->now;
		rows->depth++;
		return true;
	case DW_CFA_restore_state:
		if (rows->depth && --rows->depth < REMEMBER) {
			uint64_t from = rows->now.from;
			rows->now = rows->kept[rows->depth];
			rows->now.from = from;
		}
		return true;
	default:
		return false;
	}
}

static void run(struct rows *rows, struct cursor at)
{
	bool known = true;

	while (at.p < at.end && !at.bad && known) {
		uint8_t op = (uint8_t)take(&at, 1), low = op & 0x3f;
		op = op & 0xc0 ? op & 0xc0 : op;
		known = run_place(rows, &at, op, low) || run_cfa(&rows->now, &at, op, rows->frame->data_factor) ||
			run_register(rows, &at, op, low) || run_state(rows, op);
	}
	if (at.bad || !known)
		rows->now.reg = INSN_NO_REG;
}

size_t frame_rows(const struct frame *frame, struct frame_row *row, size_t room)
{
	struct rows rows = { .frame = frame, .row = row, .room = room - 1,
		.now = { .from = frame->start, .reg = INSN_NO_REG } };

	run(&rows, (struct cursor){ frame->initial, frame->initial_end, 0, false });
	struct frame_row start = rows.now;
	rows.start = &start;
	run(&rows, (struct cursor){ frame->program, frame->program_end, frame->program_address, false });
	if (rows.count == rows.room)
		rows.now.reg = INSN_NO_REG;
	row[rows.count++] = rows.now;
	return rows.count;
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
	uint8_t encoding = (uint8_t)take(&at, 1);
	uint64_t base = encoding == DW_EH_PE_omit ? frame->start : take_pointer(&at, encoding);
	if ((uint8_t)take(&at, 1) != DW_EH_PE_omit)
		take_leb(&at, false);
	encoding = (uint8_t)take(&at, 1) & 0x0f;
	uint64_t length = take_leb(&at, false);
	if (at.bad || length > (uint64_t)(at.end - at.p))
		return;
	at.end = at.p + length;
	while (at.p < at.end && !at.bad) {
		take_pointer(&at, encoding);
		take_pointer(&at, encoding);
		uint64_t place = take_pointer(&at, encoding);
		take_leb(&at, false);
		if (place && !at.bad)
			pad(arg, base + place);
	}
}
