/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "audit/unwinder.h"

#include "audit/image.h"
#include "audit/object.h"
#include "audit/rules/rules.h"
#include "runtime/process.h"
#include "x86_64/sys.h"
#include "runtime/text.h"
#include "x86_64/tramp.h" /* tramp_return_tsc */

void unwinder_init(void)
{
	unwinder_blind = sys_has_shadow_stack(); /* a shadow stack would refuse our returns */
}

static void to_entries_only(const struct stub_pages *pages)
{
	const uint64_t intercept = (uint64_t)(uintptr_t)tramp_gate_intercept;

	for (uint32_t i = 0; i < pages->stubs; i++) {
		uint64_t *gate = &stub_cell(pages, i)->gate;
		/* Relaxed: one aligned word; a thread that takes the old gate called before the object was loaded. */
		if (__atomic_load_n(gate, __ATOMIC_RELAXED) == intercept)
			/* relaxed, as above */
			__atomic_store_n(gate, (uint64_t)(uintptr_t)tramp_gate_point, __ATOMIC_RELAXED);
	}
}

/* Lock held. */
static void intercept_no_more(void)
{
	/* Relaxed, as in unwinder_allows(). */
	__atomic_store_n(&unwinder_blind, 1, __ATOMIC_RELAXED);
	for (struct load *load = loads; load; load = load->next) {
		to_entries_only(&load->stubs);
		for (struct stub_block *block = load->blocks; block; block = block->next)
			to_entries_only(&block->pages);
	}
}

/* Lock held. */
static void stop_intercepting(const char *object, const char *why)
{
	char buffer[400];
	struct text text = { buffer, sizeof(buffer), 0 };

	intercept_no_more();
	text_string(&text, object);
	text_string(&text, why);
	text_string(&text, "; only entries are recorded from here on");
	process_say(buffer);
}

void unwinder_stop(void)
{
	struct process_held held;

	process_lock(&held);
	intercept_no_more();
	process_unlock(&held);
}

static int copies_stacks(const struct object *object)
{
	/* greenlet, also before its version 1.0; Ruby's callcc. */
	static const char *const known[] = { "_greenlet*", "greenlet.cpython*", "continuation.so" };

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		struct rules_pattern pattern = { .function = "*", .library = known[i] };
		if (rules_match(&pattern, "", object->path, object->soname))
			return 1;
	}
	for (const struct rules_pattern *p = object_rules->stack_copying; p; p = p->next)
		if (rules_match(p, "", object->path, object->soname))
			return 1;
	return 0;
}

void unwinder_look(void)
{
	struct process_held held;
	struct image image;

	process_lock(&held);
	for (struct load *load = loads; load && unwinder_allows(); load = load->next) {
		if (load->state != LOAD_OPEN || load->unwinder_checked ||
			load->object->flags & (TRACE_OBJECT_LOADER | TRACE_OBJECT_VDSO))
			continue;
		load->unwinder_checked = 1;
		if (copies_stacks(load->object))
			stop_intercepting(load->object->path, ": copies stacks away and back");
		else if (image_read(&image, load->map, (load->object->flags & TRACE_OBJECT_PROGRAM) != 0) &&
			image_has_blind_unwinder(&image, load->map))
			stop_intercepting(load->object->path, ": its unwinder would not see intercepted calls");
	}
	process_unlock(&held);
}
