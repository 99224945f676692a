/* SPDX-License-Identifier: MIT */
#include "audit/live/values.h"

#include <link.h> /* PT_LOAD */

#include "audit/index/find.h"
#include "runtime/base/text.h"
#include "runtime/process/process.h"
#include "runtime/values/plans.h"
#include "runtime/calls/values_calls.h"
#include "x86_64/contract.h"
#include "x86_64/cpu.h"
#include "x86_64/sys.h"

/* ---- plans ---- */

/* May the rules record calls of the object's functions: by its own section, or by that of an object that calls them? */
static bool is_traced(const struct object *object, const struct rules *rules)
{
	if (object->flags & (TRACE_OBJECT_LOADER | TRACE_OBJECT_VDSO))
		return false;
	return rules_kinds(rules) & 1u << TRACE_KIND_CALLS ||
	       (object->section && (object->section->kinds | object->section->fallback) &&
		       rules_may_select(object->section, object->path, object->soname));
}

static void say_damaged(const struct object *object)
{
	char line[400];
	struct text text = { line, sizeof(line), 0 };
	struct process_held held;

	text_string(&text, object->path);
	text_string(&text, ": no values of its calls are recorded: what `xaudit index --values` made is damaged");
	process_lock(&held);
	process_say(line);
	process_unlock(&held);
}

/* The word that asks the command for a plan; NULL: no memory. ld.so's lock. */
static const char *plan_argument(const struct rules *rules)
{
	static const char option[] = "--values=";
	static struct arena memory;
	static char *argument;
	size_t size = sys_length(rules->values);

	if (!argument && (argument = arena_alloc(&memory, sizeof(option) + size))) {
		sys_copy(argument, option, sizeof(option) - 1);
		sys_copy(argument + sizeof(option) - 1, rules->values, size + 1);
	}
	return argument;
}

void values_prepare(struct load *load, const struct rules *rules)
{
	struct object *object = load->object;
	size_t size;

	/* ld.so's lock keeps other threads from preparing this object. */
	if (!rules->values || object->values_asked || !is_traced(object, rules))
		return;
	object->values_asked = true;
	const char *argument = plan_argument(rules);
	const void *bytes = argument ? index_plan(argument, object_file(object), &size) : NULL;
	if (!bytes)
		return;
	if (values_take(&object->values, bytes, size)) {
		say_damaged(object);
		sys_munmap((void *)(uintptr_t)bytes, size);
	}
}

uint32_t values_word(struct object *object, uint64_t offset, const char *name, uint32_t id, bool intercepted)
{
	bool has = object->values.plan && values_bind(&object->values, offset, name, id, intercepted);

	return TRACE_WORD(TRACE_ENTRY, id) | (has ? (uint32_t)TRAMP_WORD_VALUES : 0);
}

void values_mark_xray(struct object *object, uint64_t offset, const char *name, uint32_t id)
{
	if (!object->values.plan || !values_bind(&object->values, offset, name, id, true))
		return;
	/* Relaxed, both: a thread that sees one late records a call without values. */
	__atomic_fetch_or(&tramp_table[id], TRAMP_HAS_VALUES, __ATOMIC_RELAXED);
	__atomic_fetch_or(&tramp_checks, TRAMP_CHECK_VALUES, __ATOMIC_RELAXED);
}

/* ---- loads ---- */

static void set_place(struct load *load)
{
	struct values_place *place = &load->place;

	place->base = load->base;
	place->segments = 0;
	for (unsigned i = 0; i < load->phnum && place->segments < VALUES_SEGMENTS; i++) {
		const Elf64_Phdr *p = &load->phdr[i];
		if (p->p_type == PT_LOAD && p->p_flags & PF_R)
			place->segment[place->segments++] = (struct values_segment){
				.low = load->base + p->p_vaddr, .high = load->base + p->p_vaddr + p->p_memsz };
	}
}

void values_loads_changed(struct object *object)
{
	struct load *only = NULL;
	unsigned n = 0;

	if (!object->values.plan)
		return;
	for (struct load *load = loads; load; load = load->next)
		if (load->object == object && load->state != LOAD_FREE && load->state != LOAD_RETIRED) {
			only = load;
			n++;
		}
	if (n == 1)
		set_place(only);
	values_set_place(&object->values, n == 1 ? &only->place : NULL);
}

/* ---- errno ---- */

void values_find_errno(uintptr_t location)
{
	int *(*call)(void) = (int *(*)(void))location;

	if (!call)
		return;
	int64_t distance = (int64_t)((uint64_t)(uintptr_t)call() - cpu_thread());
	/* Relaxed: as values_calls.h says. */
	__atomic_store_n(&values_errno, distance, __ATOMIC_RELAXED);
}
