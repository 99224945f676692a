/* SPDX-License-Identifier: MIT */
#include "audit/live/entry_calls.h"

#include "audit/live/load_code.h"
#include "x86_64/patch.h"
#include "x86_64/sys.h"

#define NOP_MAX 6

static const uint8_t nops[2][NOP_MAX] = {
	{ 0x0f, 0x1f, 0x44, 0x00, 0x00 },
	{ 0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00 },
};

/* The NOP of the call's length, which is 5 or 6. */
static const uint8_t *nop_of(const struct index_call *call)
{
	return nops[call->length == NOP_MAX];
}

static unsigned kind_of(const struct index_call *call)
{
	return call->callee == INDEX_FENTRY ? TRACE_KIND_FENTRY : TRACE_KIND_MCOUNT;
}

/* The call that this is part of; NULL: it is a function of its own. */
static const struct index_call *call_of(const struct object *object, const struct index_function *f)
{
	const struct index *index = &object->index;
	size_t at = (size_t)((const uint8_t *)f - (const uint8_t *)index->head) - index->call;

	_Static_assert(offsetof(struct index_call, site) == 0, "one address for both");
	return at < index->calls * sizeof(struct index_call) ? (const void *)f : NULL;
}

int entry_calls_asked(const struct object *object, unsigned kind)
{
	return entry_calls_has(kind) && object->section && object->section->kinds >> kind & 1;
}

void entry_calls_mark(const struct object *object, unsigned kind, uint64_t *bits)
{
	for (size_t i = 0; i < object->index.calls; i++) {
		const struct index_call *call = index_call(&object->index, i);
		if (!call)
			return;
		if (kind_of(call) == kind && !(call->flags & INDEX_CALL_ALONE) &&
			call->function < object->index.functions)
			bits[call->function / 64] |= 1ull << call->function % 64;
	}
}

const struct index_function *entry_calls_site(const struct object *object, unsigned kind, size_t number)
{
	const struct index_call *call = index_call_of(&object->index, number, NULL);

	return call && kind_of(call) == kind && !(call->flags & INDEX_CALL_ALONE) ? &call->site : NULL;
}

void entry_calls_expect(
	const struct object *object, const struct index_function *f, uint64_t from, uint8_t to[INDEX_ORIGINAL_MAX])
{
	const struct index_call *call = call_of(object, f);

	sys_copy(to, f->original, INDEX_ORIGINAL_MAX);
	if (call && !entry_calls_asked(object, kind_of(call)))
		return;
	for (unsigned i = 0; call && i < call->length; i++) {
		uint64_t at = call->address + i - from;
		if (at < f->originals && at < INDEX_ORIGINAL_MAX)
			to[at] = nop_of(call)[i];
	}
}

uint64_t entry_calls_behind(const struct object *object, const struct index_function *f)
{
	const struct index_call *call = call_of(object, f);

	return call && call->address == f->address + f->skip && f->length == call->length
		       ? call->address + call->length
		       : 0;
}

/* The patches of all calls that are to go, and have in memory the bytes that the index has; spare: to sort them. */
static size_t build(const struct load *load, struct patch *patch, struct patch *spare)
{
	const struct object *object = load->object;
	size_t n = 0;

	for (size_t i = 0; i < object->index.calls; i++) {
		const struct index_call *call = index_call(&object->index, i);
		uint64_t end;
		if (!call)
			break;
		if (call->flags & INDEX_CALL_NOP || !entry_calls_asked(object, kind_of(call)) ||
			!load_code_segment(load, call->address, &end) || end - call->address < call->length ||
			!sys_same((const void *)(uintptr_t)(load->base + call->address), call->bytes, call->length))
			continue;
		patch[n].address = load->base + call->address;
		patch[n].size = call->length;
		sys_copy(patch[n].bytes, nop_of(call), call->length);
		n++;
	}
	patch_sort(patch, spare, n);
	return n;
}

enum trace_reason entry_calls_erase(struct load *load)
{
	const struct object *object = load->object;
	struct arena memory = { 0 };
	size_t done;
	int r = 0;

	if (!object->index.calls ||
		(!entry_calls_asked(object, TRACE_KIND_FENTRY) && !entry_calls_asked(object, TRACE_KIND_MCOUNT)))
		return TRACE_REASON_TRACED;
	struct patch *patch = arena_alloc(&memory, object->index.calls * sizeof(*patch));
	struct patch *spare = arena_alloc(&memory, object->index.calls * sizeof(*spare));
	size_t n = patch && spare ? build(load, patch, spare) : 0;
	for (size_t i = 0, end; i < n && r == 0; i = end) {
		uint64_t segment_end;
		int prot = load_code_segment(load, patch[i].address - load->base, &segment_end);
		for (end = i; end < n && patch[end].address - load->base < segment_end; end++)
			load_code_touch(load, patch[end].address, patch[end].size);
		r = patch_at_load(&patch[i], end - i, prot, &done);
	}
	arena_free(&memory);
	if (!patch || !spare)
		return TRACE_REASON_NO_ROOM;
	load->erased = n && r == 0;
	return r ? TRACE_REASON_PROTECTION : TRACE_REASON_TRACED;
}
