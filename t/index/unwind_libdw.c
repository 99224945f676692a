/* SPDX-License-Identifier: MIT */
/*
 * Compares the frames of an index with what libdw says, for t/index/unwind.t: unwind_libdw INDEX FILE. Each row that
 * libdw knows is looked up at its first and its last byte, and each byte of which it knows nothing. Prints how many
 * differences there are, and the first of them. -l INDEX: prints instead the rule of each entry, in words.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "audit/index/frames.h"
#include "audit/index/index.h"

enum { RBP = 6, RSP = 7, BACK = 16, WORD = 8 };

#define NONE(reason) FRAME_RULE(FRAME_NONE, reason, 0)

/*
 * A register after an expression, as assembly in libgcrypt has it, keeps the offset that there was before. So libgcc
 * has it, and so do we; libdw refuses it.
 */
#define UNTOLD UINT32_MAX

/* Is it the register's value and an offset? */
static int is_breg(const Dwarf_Op *op, unsigned reg, int64_t *offset)
{
	int wide = op->atom == DW_OP_bregx;

	*offset = (int64_t)(wide ? op->number2 : op->number);
	return wide ? op->number == reg : op->atom == DW_OP_breg0 + reg;
}

/* Is it in memory at the CFA and an offset? */
static int is_at_cfa(const Dwarf_Op *ops, size_t n, int64_t *offset)
{
	*offset = n > 1 ? (int64_t)ops[1].number : 0;
	return n >= 1 && n <= 2 && ops[0].atom == DW_OP_call_frame_cfa &&
	       (n == 1 || ops[1].atom == DW_OP_plus_uconst);
}

static uint32_t rbp_of(Dwarf_Frame *frame)
{
	Dwarf_Op room[3], *ops;
	size_t n;
	int64_t offset;

	if (dwarf_frame_register(frame, RBP, room, &ops, &n))
		return FRAME_RBP_LOST;
	if (!n)
		return ops ? FRAME_RBP_LOST : FRAME_RBP_SAME;
	if (is_at_cfa(ops, n, &offset) && offset < 0 && offset % WORD == 0)
		return (uint32_t)(-offset / WORD);
	/* An expression finds the CFA on the stack. */
	if (n == 2 && ops[0].atom == DW_OP_call_frame_cfa && is_breg(&ops[1], RBP, &offset) && !offset)
		return FRAME_RBP_AT_RBP;
	return FRAME_RBP_LOST;
}

static uint32_t cfa_of(Dwarf_Frame *frame, uint64_t address, uint32_t rbp)
{
	static const uint8_t plt[] = { DW_OP_breg7, DW_OP_breg16, DW_OP_lit15, DW_OP_and, 0, DW_OP_ge, DW_OP_lit3,
		DW_OP_shl, DW_OP_plus };
	Dwarf_Op *ops;
	size_t n, same = 0;
	int64_t offset;

	if (dwarf_frame_cfa(frame, &ops, &n) || !n)
		return UNTOLD;
	if (n == 1 && (is_breg(ops, RSP, &offset) || is_breg(ops, RBP, &offset)) && ops->atom == DW_OP_bregx) {
		if (offset < 0 || offset % WORD || offset / WORD > (int64_t)FRAME_FAR_MOST)
			return NONE(FRAME_FAR);
		return FRAME_RULE(ops->number == RSP ? FRAME_RSP : FRAME_RBP, offset / WORD, rbp);
	}
	if (n == 1 && ops->atom == DW_OP_bregx)
		return NONE(FRAME_REGISTER);
	if (n == 2 && is_breg(ops, RBP, &offset) && ops[1].atom == DW_OP_deref) {
		if (offset > 0 || offset % WORD || -offset / WORD > (int64_t)FRAME_FAR_MOST)
			return NONE(FRAME_FAR);
		return FRAME_RULE(FRAME_INDIRECT, -offset / WORD, rbp);
	}
	while (same < n && same < sizeof(plt) && (same == 4 || ops[same].atom == plt[same]))
		same++;
	if (same == n && n == sizeof(plt) && ops[0].number == WORD && !ops[1].number)
		return FRAME_RULE(FRAME_RSP, (address & 15) >= (uint64_t)ops[4].atom - DW_OP_lit0 ? 2 : 1, rbp);
	return NONE(FRAME_EXPRESSION);
}

static uint32_t rule_of(Dwarf_Frame *frame, uint64_t address)
{
	Dwarf_Op room[3], *ops;
	bool from_signal;
	size_t n;
	int64_t offset;
	int column = dwarf_frame_info(frame, NULL, NULL, &from_signal);

	if (from_signal)
		return FRAME_RULE(FRAME_SIGNAL, 0, 0);
	if (column != BACK || dwarf_frame_register(frame, BACK, room, &ops, &n))
		return NONE(FRAME_ELSEWHERE);
	if (!n && ops)
		return NONE(FRAME_OUTERMOST);
	if (!is_at_cfa(ops, n, &offset) || offset != -WORD)
		return NONE(FRAME_ELSEWHERE);
	return cfa_of(frame, address, rbp_of(frame));
}

static const char *name(uint32_t rule, char *to)
{
	static const char *const base[] = { "none", "rsp", "rbp", "signal", "indirect", "5", "6", "7" };
	static const char *const why[] = { "gap", "outermost", "register", "expression", "elsewhere", "far" };
	unsigned rbp = FRAME_RBP_OF(rule), words = FRAME_WORDS(rule);

	if (FRAME_BASE(rule) == FRAME_NONE)
		sprintf(to, "none %s", words < FRAME_NONES ? why[words] : "?");
	else
		sprintf(to, rbp == FRAME_RBP_SAME	     ? "%s %u same"
			    : rbp == FRAME_RBP_LOST   ? "%s %u lost"
			    : rbp == FRAME_RBP_AT_RBP ? "%s %u at-rbp"
						      : "%s %u -%u",
			base[FRAME_BASE(rule)], words, rbp);
	return to;
}

static unsigned long rows, different, none, untold;

static void compare(const struct index_frames *frames, uint64_t address, uint32_t expected)
{
	uint32_t rule = index_frames_rule(frames, address);
	char a[64], b[64];

	untold += expected == UNTOLD;
	if (expected != UNTOLD && rule != expected && different++ < 20)
		printf("%" PRIx64 ": %s instead of %s\n", address, name(rule, a), name(expected, b));
}

static void compare_all(const struct index_frames *frames, Dwarf_CFI *cfi, uint64_t address, uint64_t end)
{
	while (address < end) {
		Dwarf_Frame *frame;
		Dwarf_Addr to;
		if (dwarf_cfi_addrframe(cfi, address, &frame)) {
			/* The bytes between functions have the rule of what is before: no entry begins there. */
			uint32_t rule = index_frames_rule(frames, address);
			none++;
			if (rule != NONE(FRAME_GAP) && rule != index_frames_rule(frames, address - 1))
				compare(frames, address, NONE(FRAME_GAP));
			address++;
			continue;
		}
		rows++;
		dwarf_frame_info(frame, NULL, &to, NULL);
		compare(frames, address, rule_of(frame, address));
		compare(frames, to - 1, rule_of(frame, to - 1));
		free(frame);
		address = to;
	}
}

/* Returns 0; 1: they are not in order, or two neighbours have the same rule. */
static int list(const struct index_frames *frames)
{
	const struct index_frame *frame = frames->frame;
	char text[64];
	int wrong = 0;

	for (size_t i = 0; i < frames->count; i++) {
		printf("%" PRIx64 " %s\n", frames->low + frame[i].from, name(frame[i].rule, text));
		wrong |= i && (frame[i].from <= frame[i - 1].from || frame[i].rule == frame[i - 1].rule);
		wrong |= index_frames_rule(frames, frames->low + frame[i].from) != frame[i].rule;
	}
	return wrong;
}

static const void *map(const char *path, size_t *size)
{
	struct stat st;
	int fd = open(path, O_RDONLY);
	void *p = fd < 0 || fstat(fd, &st) ? MAP_FAILED
					   : mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);

	*size = p == MAP_FAILED ? 0 : (size_t)st.st_size;
	return p == MAP_FAILED ? NULL : p;
}

int main(int argc, char **argv)
{
	struct index index;
	struct index_frames frames;
	size_t size;

	if (argc != 3)
		return 2;
	int listing = !strcmp(argv[1], "-l");
	const void *p = map(argv[listing ? 2 : 1], &size);
	if (!p || index_attach(&index, p, size, NULL) || index_frames_check(&index, &frames)) {
		puts("no frames");
		return 1;
	}
	if (listing)
		return list(&frames);
	elf_version(EV_CURRENT);
	int fd = open(argv[2], O_RDONLY);
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	Dwarf_CFI *cfi = elf ? dwarf_getcfi_elf(elf) : NULL;
	if (!cfi) {
		puts("no unwind information");
		return 1;
	}
	compare_all(&frames, cfi, index.head->code_low, index.head->code_high);
	printf("%lu differences\n", different);
	fprintf(stderr, "%lu rows, %lu bytes without, %lu not told by libdw\n", rows, none, untold);
	return different != 0;
}
