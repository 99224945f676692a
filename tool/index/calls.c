/* SPDX-License-Identifier: MIT */
#include "tool/index/calls.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "audit/site/relocation.h"
#include "tool/base/memory.h"
#include "tool/index/decode.h"

#define NOP_SIZE 5

/* Who tells of a call: code knows whom it calls, a section that it is there. */
enum { BY_CODE, BY_SECTION, BY_PLACE };

#define PROLOGUE_MAX 24 /* instructions */

static const uint8_t nop[NOP_SIZE] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };

static uint8_t callee_named(const char *name)
{
	if (!strcmp(name, "__fentry__"))
		return INDEX_FENTRY;
	return !strcmp(name, "mcount") || !strcmp(name, "_mcount") ? INDEX_MCOUNT : 0;
}

static void add_callee(struct calls *calls, uint64_t address, uint8_t callee, bool slot)
{
	if (!callee)
		return;
	calls->callee = memory_resize(calls->callee, calls->callees + 1, sizeof(*calls->callee));
	calls->callee[calls->callees++] = (struct callee){ address, callee, slot };
}

/* A word that ld.so fills, perhaps with the address of one of them. */
static void take_slot(void *arg, const Elf64_Rela *rela, const Elf64_Sym *symbol, const char *name)
{
	(void)symbol;
	if (name)
		add_callee(arg, rela->r_offset, callee_named(name), true);
}

void calls_begin(struct calls *calls, const struct image *image)
{
	*calls = (struct calls){ 0 };
	image_slots(image, take_slot, calls);
	for (size_t i = 0; i < image->functions; i++)
		if (image->function[i].name)
			add_callee(calls, image->function[i].address, callee_named(image->function[i].name), false);
	for (size_t i = 0; i < image->aliases; i++)
		add_callee(calls, image->function[image->alias[i].function].address,
			callee_named(image->alias[i].name), false);
}

static uint8_t callee_at(const struct calls *calls, uint64_t address, bool slot)
{
	for (size_t i = 0; i < calls->callees; i++)
		if (calls->callee[i].address == address && calls->callee[i].slot == slot)
			return calls->callee[i].callee;
	return 0;
}

uint64_t calls_slot(const struct image *image, uint64_t address)
{
	const struct image_code *code = image_section(image, address);
	struct insn insn;
	size_t size;

	/* Without sections the PLT is code as any other. */
	if (!code || (!code->plt && image->file.sections))
		return 0;
	/* At most an endbr64 is before the jump. */
	for (int n = 0; n < 2; n++) {
		const uint8_t *p = image_code_at(image, address, &size);
		if (!p || !insn_decode(p, size, address, &insn))
			return 0;
		if (insn.flow == INSN_JUMP_INDIRECT)
			return insn.base == INSN_RIP ? insn.target : 0;
		address += insn.length;
	}
	return 0;
}

static uint8_t callee_of(const struct calls *calls, const struct image *image, const struct insn *insn)
{
	if (insn->flow == INSN_CALL_INDIRECT)
		return insn->base == INSN_RIP && insn->memory ? callee_at(calls, insn->target, true) : 0;
	uint8_t callee = callee_at(calls, insn->target, false);
	if (callee)
		return callee;
	uint64_t slot = calls_slot(image, insn->target);
	return slot ? callee_at(calls, slot, true) : 0;
}

static void add(struct calls *calls, struct call call)
{
	if (!(calls->count & (calls->count - 1)))
		calls->call = memory_resize(calls->call, calls->count ? 2 * calls->count : 1, sizeof(*calls->call));
	calls->call[calls->count++] = call;
}

static bool has_length(const struct insn *insn)
{
	return insn->length == NOP_SIZE || insn->length == NOP_SIZE + 1;
}

void calls_see(struct calls *calls, const struct image *image, uint32_t i, const struct insn *insn)
{
	uint8_t callee = calls->callees && has_length(insn) ? callee_of(calls, image, insn) : 0;

	if (callee)
		add(calls, (struct call){ insn->address, i, callee, insn->length, BY_CODE, false });
}

void calls_part(struct calls *part, const struct calls *calls)
{
	*part = (struct calls){ .callee = calls->callee, .callees = calls->callees };
}

void calls_join(struct calls *calls, struct calls *part)
{
	for (size_t i = 0; i < part->count; i++)
		add(calls, part->call[i]);
	free(part->call);
}

/* One that a table tells of. */
static void tell(struct calls *calls, const struct image *image, uint64_t address)
{
	size_t i = image_before(image, address), size;
	const uint8_t *p = image_code_at(image, address, &size);
	const struct image_function *function = i < image->functions ? &image->function[i] : NULL;
	struct insn insn;

	if (!p || !insn_decode(p, size, address, &insn) || !has_length(&insn))
		return;
	bool is_nop = insn.nop && insn.length == NOP_SIZE, own = function && address < function->end;
	if (!is_nop && insn.flow != INSN_CALL && insn.flow != INSN_CALL_INDIRECT)
		return;
	bool first = own && address == function->address + function->skip;
	add(calls, (struct call){ address, own ? (uint32_t)i : CALLS_NO_FUNCTION, first ? INDEX_FENTRY : INDEX_MCOUNT,
			   insn.length, BY_SECTION, is_nop });
}

bool calls_section(struct image *image, const char *name, Elf64_Shdr *section)
{
	for (size_t s = 1; site_section(&image->file, s, section); s++)
		if (site_section_named(&image->file, section, name, 0))
			return true;
	return false;
}

static void read_section(struct calls *calls, struct image *image)
{
	Elf64_Shdr section;
	const uint8_t *p;

	if (!calls_section(image, CALLS_SECTION, &section) || !(p = site_section_bytes(&image->file, &section)))
		return;
	size_t count = section.sh_size / 8;
	uint64_t *word = memory_zeroed(count + 1, sizeof(*word));
	memcpy(word, p, count * 8);
	site_relocate(&image->file, section.sh_addr, word, count);
	for (size_t i = 0; i < count; i++)
		tell(calls, image, word[i]);
	free(word);
}

/* Does it make room on the stack, save a register, or align rsp? */
static bool is_prologue(const struct insn *insn)
{
	bool rsp = insn->modrm && insn->rm == INSN_RSP;

	if (insn->flow != INSN_NEXT || insn->map)
		return false;
	if ((insn->opcode & 0xf8) == 0x50 || insn->opcode == 0x8d)
		return true;
	if (insn->opcode == 0xff)
		return insn->reg == 6;
	return (insn->opcode == 0x81 || insn->opcode == 0x83) && rsp &&
	       (insn->reg == 0 || insn->reg == 4 || insn->reg == 5); /* add, and, sub */
}

/* The NOP of an mcount behind the making of a frame with rbp; 0: none. */
static uint64_t nop_behind_frame(const uint8_t *p, size_t size, uint64_t site)
{
	bool made = false;
	size_t at = 0;

	for (int n = 0; n < PROLOGUE_MAX; n++) {
		struct insn insn;
		if (made && size - at >= NOP_SIZE && !memcmp(p + at, nop, NOP_SIZE))
			return site + at;
		if (!insn_decode(p + at, size - at, site + at, &insn))
			return 0;
		bool frame = insn.opcode == 0x89 && !insn.map && insn.reg == INSN_RSP && insn.rm == INSN_RBP;
		if (!frame && !is_prologue(&insn))
			return 0;
		made |= frame;
		at += insn.length;
	}
	return 0;
}

static void find_nops(struct calls *calls, const struct image *image)
{
	for (size_t i = 0; i < image->functions; i++) {
		const struct image_function *function = &image->function[i];
		uint64_t site = function->address + function->skip, at;
		size_t size;
		const uint8_t *p = image_code_at(image, site, &size);
		if (!p || function->piece || site >= function->end)
			continue;
		if (size > function->end - site)
			size = function->end - site;
		if (size >= NOP_SIZE && !memcmp(p, nop, NOP_SIZE))
			add(calls, (struct call){ site, (uint32_t)i, INDEX_FENTRY, NOP_SIZE, BY_PLACE, true });
		else if ((at = nop_behind_frame(p, size, site)))
			add(calls, (struct call){ at, (uint32_t)i, INDEX_MCOUNT, NOP_SIZE, BY_PLACE, true });
	}
}

static int by_address(const void *a, const void *b)
{
	const struct call *x = a, *y = b;

	if (x->address != y->address)
		return x->address > y->address ? 1 : -1;
	return x->source - y->source;
}

static int by_function(const void *a, const void *b)
{
	const struct call *x = a, *y = b;

	return x->function == y->function ? by_address(a, b) : x->function > y->function ? 1 : -1;
}

void calls_end(struct calls *calls, struct image *image)
{
	Elf64_Shdr section;
	size_t kept = 0;

	read_section(calls, image);
	/* Another kind has NOPs there, and tells where. */
	if (image->fixed && !calls_section(image, "__patchable_function_entries", &section))
		find_nops(calls, image);
	if (!calls->count)
		return;
	qsort(calls->call, calls->count, sizeof(*calls->call), by_address);
	for (size_t c = 0; c < calls->count; c++) {
		struct call *call = &calls->call[c];
		if (kept && calls->call[kept - 1].address == call->address)
			continue;
		const struct image_function *function =
			call->function < image->functions ? &image->function[call->function] : NULL;
		if (function && function->piece)
			call->function = function->owner ? function->owner - 1 : CALLS_NO_FUNCTION;
		/* That may be a piece as well. */
		if (call->function < image->functions && image->function[call->function].piece)
			call->function = CALLS_NO_FUNCTION;
		calls->call[kept++] = *call;
	}
	calls->count = kept;
	qsort(calls->call, calls->count, sizeof(*calls->call), by_function);
}

void calls_free(struct calls *calls)
{
	free(calls->callee);
	free(calls->call);
	*calls = (struct calls){ 0 };
}
