/* SPDX-License-Identifier: MIT */
/*
 * Plans (format/plan.h) that tests make in their own process: begin_plan(), then the parts of its functions,
 * end_plan(), after core_start(); then traced(). For one source of a test; as core.h.
 */
#ifndef XAUDIT_T_LIB_VALUES_H
#define XAUDIT_T_LIB_VALUES_H

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "runtime/process/process.h"
#include "runtime/values/plans.h"
#include "t/lib/core.h"

struct made_plan {
	uint32_t used;
	union {
		struct plan_head head;
		uint8_t bytes[8192];
	};
};

static struct made_plan made;
static struct values_set *sets;

__attribute__((unused)) static void begin_plan(uint32_t functions)
{
	memset(&made, 0, sizeof(made));
	sets = NULL;
	memcpy(made.head.magic, PLAN_MAGIC, 8);
	made.head.version = PLAN_VERSION;
	made.head.count = functions;
	made.used = (uint32_t)(sizeof(made.head) + functions * sizeof(struct plan_function));
	/* Its name is empty. */
	for (uint32_t i = 0; i < functions; i++)
		made.head.function[i] = (struct plan_function){ .offset = 16 * i + 16, .name = made.used };
	made.used += 8;
}

/* An end of a function's calls: this code, which puts so many values. */
__attribute__((unused)) static struct plan_part part(const uint8_t *code, uint32_t size, uint32_t values)
{
	struct plan_part to = { .code = made.used, .size = size };
	struct trace_layout *layout;

	memcpy(made.bytes + made.used, code, size);
	made.used = (made.used + size + 7) & ~7u;
	if (!values)
		return to;
	layout = (struct trace_layout *)(void *)(made.bytes + made.used);
	*layout = (struct trace_layout){ .count = values, .names_size = 8 };
	to.layout = made.used;
	to.bytes = (uint32_t)(sizeof(*layout) + values * sizeof(layout->value[0]) + 8);
	made.used += to.bytes;
	made.used = (made.used + 7) & ~7u;
	return to;
}

#define PART(values, ...)                                                                                              \
	part((const uint8_t[]){ __VA_ARGS__, VALUES_END }, sizeof((uint8_t[]){ __VA_ARGS__, 0 }), values)

#define ARGUMENT1 VALUES_REGISTER, VALUES_RDI
#define ARGUMENT2 VALUES_REGISTER, VALUES_RSI
#define RESULT	  VALUES_REGISTER, VALUES_RAX
__attribute__((unused)) static void end_plan(void)
{
	struct process_held held;

	made.head.size = made.used;
	process_lock(&held);
	if (values_take(&sets, made.bytes, made.used, false))
		_exit(90);
	process_unlock(&held);
}

/* Function `number` of the plan, which may be a probe's, has the id number + 1 from now on. */
__attribute__((unused)) static void bind_values(uint32_t number, bool has_end)
{
	struct process_held held;

	process_lock(&held);
	bool has = made.head.function[number].flags & PLAN_PROBE
			   ? values_bind_probe(sets, number, number + 1)
			   : values_bind(sets, 16 * number + 16, "", number + 1, has_end);
	process_unlock(&held);
	if (!has)
		_exit(91);
}

/* A function of the plan. */
__attribute__((unused)) static struct traced traced(uint32_t number, enum tramp_event how, const void *body)
{
	struct traced to = core_traced(how, number + 1, body);

	bind_values(number, how == TRAMP_INTERCEPT);
	to.cell->word |= TRAMP_WORD_VALUES;
	return to;
}

#endif
