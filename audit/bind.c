/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "audit/bind.h"

#include <string.h> /* strcmp */

#include "audit/describe.h"
#include "audit/never.h"
#include "audit/unwinder.h"
#include "runtime/process.h"
#include "x86_64/tramp.h" /* tramp_gate_intercept */

#define BLOCK_STUBS 128 /* one page of code, one of cells */

/* Which of its kinds makes this binding a traced one? -1: none. *counted: in whose counts it appears. */
static int selecting_kind(const struct load *from, const struct load *to, const char *name, struct object **counted)
{
	const struct object *caller = from->object, *callee = to->object;

	if (callee->section && callee->section->kinds & 1u << TRACE_KIND_PLT) {
		*counted = to->object;
		if (rules_select(callee->section, name, callee->path, callee->soname))
			return TRACE_KIND_PLT;
	}
	if (caller->section && caller->section->kinds & 1u << TRACE_KIND_CALLS) {
		*counted = from->object;
		if (rules_select(caller->section, name, callee->path, callee->soname))
			return TRACE_KIND_CALLS;
	}
	return -1;
}

/* Is there a selected sled at this link-time address? */
static int has_sled(const struct object *object, uint64_t offset)
{
	uint32_t low = 0, high = object->traced_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (object->traced[middle] < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low < object->traced_count && object->traced[low] == offset;
}

static struct bound_function *function_of(struct object *object, const char *name, uint64_t offset, int kind)
{
	static struct arena memory; /* for the life of the process; the lock guards it */
	uint32_t bucket = object_hash(name) % OBJECT_BUCKETS;
	struct bound_function *f;

	if (!object->buckets && !(object->buckets = arena_alloc(&memory, OBJECT_BUCKETS * sizeof(*object->buckets))))
		return NULL;
	for (f = object->buckets[bucket]; f; f = f->next)
		if (!strcmp(f->name, name))
			return f;
	f = arena_alloc(&memory, sizeof(*f));
	if (!f || !(f->name = arena_string(&memory, name, strlen(name))) || !(f->id = object_take_ids(1)))
		return NULL;
	f->offset = offset;
	f->kind = (uint32_t)kind;
	f->next = object->buckets[bucket];
	object->buckets[bucket] = f;
	f->all = object->bound;
	object->bound = f;
	describe_bound(object, f);
	return f;
}

typedef void gate_function(void);

static uint64_t new_stub(struct load *to, const struct bound_function *f, uint64_t body, gate_function *gate)
{
	struct stub_block *block = to->blocks;

	if (!block || block->pages.used == block->pages.stubs) {
		block = arena_alloc(&to->arena, sizeof(*block));
		if (!block || stub_map_block(&block->pages, BLOCK_STUBS))
			return 0;
		block->next = to->blocks;
		to->blocks = block;
	}
	uint32_t n = block->pages.used++;
	struct stub_cell *cell = stub_cell(&block->pages, n);
	cell->word = f ? TRACE_WORD(TRACE_ENTRY, f->id) : 0;
	cell->body = body;
	cell->gate = (uint64_t)(uintptr_t)gate;
	/* ld.so stores the address that we return into a GOT slot with release order, or hands it to this thread alone. */
	return stub_address(&block->pages, n);
}

/* The load's stub for a function; f NULL: one that raises no event, but tells of frames that are gone. 0: no memory. */
static uint64_t stub_for(struct load *to, const struct bound_function *f, uint64_t body, gate_function *gate)
{
	uint32_t bucket = f ? f->id % OBJECT_BUCKETS : 0;
	struct binding *b;

	if (!to->bindings && !(to->bindings = arena_alloc(&to->arena, OBJECT_BUCKETS * sizeof(*to->bindings))))
		return 0;
	for (b = to->bindings[bucket]; b; b = b->next)
		if (b->function == f && b->body == body)
			return b->stub;
	b = arena_alloc(&to->arena, sizeof(*b));
	if (!b)
		return 0;
	b->function = f;
	b->body = body;
	b->stub = new_stub(to, f, body, gate);
	if (!b->stub)
		return 0;
	b->next = to->bindings[bucket];
	to->bindings[bucket] = b;
	return b->stub;
}

/* The whole decision; the reason for the counts in *reason. */
static uint64_t bind_locked(struct load *to, const char *name, uint64_t body, int kind, enum trace_reason *reason)
{
	struct object *callee = to->object;
	int entry_only = never_intercept(name), blind = !unwinder_allows();

	if (has_sled(callee, body - to->base)) {
		*reason = TRACE_REASON_SLED_TRACED;
		return body;
	}
	struct bound_function *f = function_of(callee, name, body - to->base, kind);
	object_selected = 1;
	uint64_t stub = f ? stub_for(to, f, body, entry_only || blind ? tramp_gate_point : tramp_gate_intercept) : 0;
	if (!stub) {
		*reason = f ? TRACE_REASON_NO_ROOM : TRACE_REASON_IDS_USED_UP;
		return body;
	}
	*reason = entry_only ? TRACE_REASON_ENTRY_ONLY : blind ? TRACE_REASON_BLIND_UNWINDER : TRACE_REASON_TRACED;
	return stub;
}

/* Puts the stub that keeps an eye on a throw or longjmp before body, which may be a stub itself. */
static uint64_t watch(struct load *to, enum never_watch what, uint64_t body)
{
	uint64_t stub = stub_for(to, NULL, body, what == WATCH_JUMP ? tramp_gate_jump : tramp_gate_landed);

	return stub ? stub : body;
}

uintptr_t bind(const Elf64_Sym *symbol, struct load *from, struct load *to, unsigned flags, const char *name)
{
	struct process_held held;
	struct object *counted = NULL;
	uintptr_t body = symbol->st_value;
	unsigned type = ELF64_ST_TYPE(symbol->st_info);
	enum trace_reason reason = TRACE_REASON_NOT_SELECTED;

	/* dlsym finds data too. Hand-written functions may lack a type; the linker makes PLT slots for calls only. */
	if (type != STT_FUNC && type != STT_GNU_IFUNC && !(type == STT_NOTYPE && !(flags & LA_SYMB_DLSYM)))
		return body;
	if (from == to || to->object->flags & (TRACE_OBJECT_LOADER | TRACE_OBJECT_VDSO) || from->object->flags & TRACE_OBJECT_LOADER)
		return body;
	int kind = selecting_kind(from, to, name, &counted);
	enum never_watch what = never_watch(name);
	if (!counted && what == WATCH_NONE)
		return body;
	process_lock(&held);
	/* An IFUNC's implementation may lie in another object than the symbol; then the address says nothing. Never mind: the name does. */
	if (kind >= 0 && to->state == LOAD_OPEN)
		body = bind_locked(to, name, body, kind, &reason);
	if (counted)
		counted->counts[kind >= 0 ? kind : counted == to->object ? TRACE_KIND_PLT : TRACE_KIND_CALLS][reason]++;
	if (what != WATCH_NONE && to->state == LOAD_OPEN)
		body = watch(to, what, body);
	process_unlock(&held);
	return body;
}
