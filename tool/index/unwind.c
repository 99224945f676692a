/* SPDX-License-Identifier: MIT */
#include "tool/index/unwind.h"

#include <dwarf.h>
#include <string.h>

#include "tool/base/memory.h"
#include "tool/index/cursor.h"
#include "tool/index/decode.h"
#include "tool/index/frame_rows.h"
#include "tool/index/image.h"

#define WORD		8
#define PLT_ENTRY	16
#define PLT_MOST	(1u << 20) /* bytes of one that is split */
#define PADDING_MOST	64	   /* bytes between functions that may be padding */
#define NONE(reason)	FRAME_RULE(FRAME_NONE, reason, 0)

struct making {
	const struct image *image;
	const struct frame *frame; /* whose rows come */
	uint64_t end;		   /* how far its rows are wanted */
	uint64_t at;		   /* entries are made up to here */
	struct index_frame *entry;
	size_t count, room;
};

/* From `at` up to `to`. */
static void put(struct making *making, uint64_t to, uint32_t rule)
{
	if (to <= making->at)
		return;
	if (!making->count || making->entry[making->count - 1].rule != rule) {
		if (making->count == making->room)
			making->entry = memory_resize(making->entry,
				making->room = making->room ? 2 * making->room : 1024, sizeof(*making->entry));
		making->entry[making->count++] =
			(struct index_frame){ (uint32_t)(making->at - making->image->low), rule };
	}
	making->at = to;
}

/* Takes an operator and its operand, a signed number. */
static bool takes(struct cursor *at, uint8_t operator, int64_t *operand)
{
	if (cursor_take(at, 1) != operator|| at->bad)
		return false;
	*operand = (int64_t)cursor_leb(at, true);
	return !at->bad;
}

/* breg6 N, deref: the CFA lies in the word at rbp + N. */
static bool is_indirect(const struct frame_row *row, int64_t *n)
{
	struct cursor at = { row->expression, row->expression_end, 0, false };

	return takes(&at, DW_OP_breg6, n) && cursor_take(&at, 1) == DW_OP_deref && !at.bad && at.p == at.end;
}

/* breg6 0: in the word that rbp points to. */
static bool is_at_rbp(const struct frame_place *place)
{
	struct cursor at = { place->expression, place->expression_end, 0, false };
	int64_t n;

	return takes(&at, DW_OP_breg6, &n) && !n && at.p == at.end;
}

/*
 * What linkers say of a PLT: breg7 WORD, breg16 0, lit15, and, litN, ge, lit3, shl, plus. From the byte N of each entry
 * on there is a word more on the stack.
 */
static bool is_plt(const struct frame_row *row, unsigned *pushed)
{
	static const uint8_t before[] = { DW_OP_breg7, WORD, DW_OP_breg16, 0, DW_OP_lit15, DW_OP_and };
	static const uint8_t behind[] = { DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus };
	const uint8_t *p = row->expression;

	if (!p || row->expression_end - p != sizeof(before) + 1 + sizeof(behind) || memcmp(p, before, sizeof(before)) ||
		memcmp(p + sizeof(before) + 1, behind, sizeof(behind)))
		return false;
	*pushed = p[sizeof(before)] - (unsigned)DW_OP_lit0;
	return *pushed < PLT_ENTRY;
}

/* Whole words, as far as a rule reaches. */
static bool fits(int64_t offset)
{
	return offset >= 0 && offset % WORD == 0 && offset / WORD <= FRAME_FAR_MOST;
}

static uint32_t rbp_of(const struct frame_place *place)
{
	if (place->how == FRAME_PLACE_SAME)
		return FRAME_RBP_SAME;
	if (place->how == FRAME_PLACE_AT && place->offset < 0 && place->offset % WORD == 0 &&
		place->offset / -WORD <= (int64_t)FRAME_RBP_MOST)
		return (uint32_t)(place->offset / -WORD);
	if (place->how == FRAME_PLACE_EXPRESSION && is_at_rbp(place))
		return FRAME_RBP_AT_RBP;
	return FRAME_RBP_LOST;
}

/*
 * What our own trampolines say (RETURNS_BY_LABEL, x86_64/tramp_pieces.h): right below the CFA there is a label, which
 * stands for the return address. Who walks in a traced process knows labels, wherever they lie.
 */
static bool is_by_label(const struct frame_place *place)
{
	static const uint8_t before[] = { DW_OP_lit8, DW_OP_minus, DW_OP_deref, DW_OP_const4s };
	static const uint8_t behind[] = { DW_OP_minus, DW_OP_deref };
	const uint8_t *p = place->expression;
	const size_t number = 4, size = sizeof(before) + number + sizeof(behind);

	return place->how == FRAME_PLACE_COMPUTED && p && (size_t)(place->expression_end - p) == size &&
	       !memcmp(p, before, sizeof(before)) && !memcmp(p + size - sizeof(behind), behind, sizeof(behind));
}

static uint32_t rule_of(const struct frame_row *row)
{
	int64_t offset = row->offset;

	if (row->damaged)
		return NONE(FRAME_GAP);
	if (row->no_return)
		return NONE(FRAME_OUTERMOST);
	if (!is_by_label(&row->back) && (row->back.how != FRAME_PLACE_AT || row->back.offset != -WORD))
		return NONE(FRAME_ELSEWHERE);
	uint32_t rbp = rbp_of(&row->rbp);
	if (row->expression) {
		if (!is_indirect(row, &offset))
			return NONE(FRAME_EXPRESSION);
		if (offset > 0 || offset < -(int64_t)FRAME_FAR_MOST * WORD || !fits(-offset))
			return NONE(FRAME_FAR);
		return FRAME_RULE(FRAME_INDIRECT, -offset / WORD, rbp);
	}
	if (row->reg != INSN_RSP && row->reg != INSN_RBP)
		return NONE(FRAME_REGISTER);
	if (!fits(offset))
		return NONE(FRAME_FAR);
	return FRAME_RULE(row->reg == INSN_RSP ? FRAME_RSP : FRAME_RBP, offset / WORD, rbp);
}

static void put_plt(struct making *making, uint64_t to, unsigned pushed, uint32_t rbp)
{
	while (making->at < to) {
		uint64_t entry = making->at / PLT_ENTRY * PLT_ENTRY, push = entry + pushed, next = entry + PLT_ENTRY;
		put(making, push < to ? push : to, FRAME_RULE(FRAME_RSP, 1, rbp));
		put(making, next < to ? next : to, FRAME_RULE(FRAME_RSP, 2, rbp));
	}
}

/* frame_row_taker() */
static void take_row(void *arg, const struct frame_row *row, uint64_t to)
{
	struct making *making = arg;
	unsigned pushed;

	/* A row that begins too late follows one that did not reach as far. */
	if (row->from > making->at)
		put(making, row->from < making->end ? row->from : making->end, NONE(FRAME_GAP));
	to = to < making->end ? to : making->end;
	if (to <= making->at)
		return;
	if (!row->damaged && is_plt(row, &pushed) && to - making->at <= PLT_MOST && row->back.how == FRAME_PLACE_AT &&
		row->back.offset == -WORD)
		put_plt(making, to, pushed, rbp_of(&row->rbp));
	else
		put(making, to, rule_of(row));
}

/*
 * Is it the kernel's return from a signal: mov $15,%rax; syscall? Its unwind information says where in the ucontext_t
 * each register is, and begins a byte before the code, as unwinders look for what lies before an address.
 */
static bool is_from_signal(const struct making *making)
{
	static const uint8_t wide[] = { 0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05 };
	static const uint8_t narrow[] = { 0xb8, 15, 0, 0, 0, 0x0f, 0x05 };

	for (unsigned before = 0; making->frame->signal && before < 2; before++) {
		size_t size;
		const uint8_t *p = image_code_at(making->image, making->frame->start + before, &size);
		if (p && ((size >= sizeof(wide) && !memcmp(p, wide, sizeof(wide))) ||
				 (size >= sizeof(narrow) && !memcmp(p, narrow, sizeof(narrow)))))
			return true;
	}
	return false;
}

static bool is_padding(const struct image *image, uint64_t from, uint64_t to)
{
	while (from < to) {
		struct insn insn;
		size_t size;
		const uint8_t *p = image_code_at(image, from, &size);
		if (!p || !insn_decode(p, size, from, &insn) || !insn.nop)
			return false;
		from += insn.length;
	}
	return from == to;
}

/* What lies between what was before, and `to`. */
static void put_between(struct making *making, uint64_t to)
{
	if (to <= making->at)
		return;
	bool padding = making->count && to - making->at < PADDING_MOST && is_padding(making->image, making->at, to);
	put(making, to, padding ? making->entry[making->count - 1].rule : NONE(FRAME_GAP));
}

struct index_frame *unwind_make(const struct image *image, size_t *count)
{
	struct making making = { .image = image, .at = image->low };
	const struct frame *frame = image->frames->frame, *last = frame + image->frames->count;

	for (; frame < last; frame++) {
		uint64_t end = frame->start + frame->size;
		if (frame + 1 < last && frame[1].start < end)
			end = frame[1].start;
		if (end > image->high)
			end = image->high;
		if (end <= making.at || end <= frame->start)
			continue;
		making.frame = frame;
		making.end = end;
		put_between(&making, frame->start);
		if (is_from_signal(&making))
			put(&making, end, FRAME_RULE(FRAME_SIGNAL, 0, 0));
		else
			frame_each_row(frame, take_row, &making);
		/* Its rows may have ended too early. */
		put(&making, end, NONE(FRAME_GAP));
	}
	if (making.count)
		put(&making, image->high, NONE(FRAME_GAP));
	*count = making.count;
	return making.entry;
}
