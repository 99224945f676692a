/* SPDX-License-Identifier: MIT */
/*
 * A plan of many functions, in which many others are looked for, by their names: as when values of half of a large
 * library's functions are asked for. Each is found, or not, and all of it takes no time to speak of.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "runtime/process/process.h"
#include "runtime/values/plans.h"
#include "t/lib/core.h"
#include "t/lib/sanitizers.h"
#include "t/lib/tap.h"

#define FUNCTIONS (WITH_TSAN || WITH_ASAN ? 10000u : 60000u)
#define NAME	  16u /* bytes */
#define SECONDS	  10 /* of processor time; where each is compared with each, it is a minute */

static struct values_set *sets;

/* Function n, "f<n>" at 16 * n, puts its first argument. */
static struct plan_head *make(void)
{
	static const uint8_t code[8] = { VALUES_REGISTER, VALUES_RDI, VALUES_PUT, 8, VALUES_END };
	const uint32_t names = (uint32_t)sizeof(struct plan_head) + FUNCTIONS * (uint32_t)sizeof(struct plan_function);
	const uint32_t codes = names + FUNCTIONS * NAME, layouts = codes + (uint32_t)sizeof(code);
	const uint32_t bytes = (uint32_t)(sizeof(struct trace_layout) + sizeof(struct trace_value)) + 8;
	struct plan_head *plan = calloc(1, layouts + bytes);
	uint8_t *at = (uint8_t *)plan;
	struct trace_layout *layout = (struct trace_layout *)(void *)(at + layouts);

	memcpy(plan->magic, PLAN_MAGIC, sizeof(plan->magic));
	plan->version = PLAN_VERSION;
	plan->count = FUNCTIONS;
	plan->size = layouts + bytes;
	memcpy(at + codes, code, sizeof(code));
	layout->count = 1;
	layout->names_size = 8;
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		snprintf((char *)at + names + i * NAME, NAME, "f%u", i);
		plan->function[i] = (struct plan_function){ .offset = 16ull * i, .name = names + i * NAME,
			.entry = { .code = codes, .size = 5, .layout = layouts, .bytes = bytes } };
	}
	return plan;
}

/* Binds function "<letter><n>" at no offset of the plan to the id. Returns the name of what it found, or "". */
static const char *bind(char letter, uint32_t n, uint32_t id)
{
	struct process_held held;
	char name[NAME];

	snprintf(name, sizeof(name), "%c%u", letter, n);
	process_lock(&held);
	bool has = values_bind(sets, 16ull * n + 8, name, id, true);
	process_unlock(&held);
	return has ? values_name(values_function(id)) : "";
}

static int look(void *unused)
{
	const struct rlimit limit = { SECONDS, SECONDS + 1 };
	struct process_held held;
	unsigned wrong = 0;

	(void)unused;
	core_start(core_folder(), TRACE_CHUNK_MIN, TRACE_CLOCK_TSC);
	process_lock(&held);
	struct plan_head *plan = make();
	int r = values_take(&sets, plan, plan->size, false);
	process_unlock(&held);
	if (r || setrlimit(RLIMIT_CPU, &limit))
		return 1;
	for (uint32_t i = 0; i < FUNCTIONS; i++)
		wrong += *bind('g', i, 1) != '\0';
	for (uint32_t i = 0; i < 1000; i++) {
		char name[NAME];
		snprintf(name, sizeof(name), "f%u", i * (FUNCTIONS / 1000));
		wrong += strcmp(bind('f', i * (FUNCTIONS / 1000), i + 2), name) != 0;
	}
	return wrong ? 2 : 0;
}

int main(void)
{
	core_folder(); /* so that it is removed: the child would not */
	is_int(core_child(look, NULL, 100), 0, "%u names are found in a plan, or not, at once", FUNCTIONS);
	return done_testing();
}
