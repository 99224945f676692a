/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/ctl/probe_list.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/model/object.h"
#include "format/plan.h"
#include "tool/base/json.h"
#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/ctl/indexes.h"
#include "tool/ctl/plans.h"
#include "tool/ctl/probe_rules.h"
#include "tool/ctl/process.h"
#include "tool/ctl/targets.h"

#define MOST_PLAN   (256u << 20)
#define MOST_PROBES (1u << 20) /* of a process */
#define MOST_TEXTS  (64u << 20) /* bytes of their names and places: those of a forged plan may overlap */

const char *probe_list_phrase(const struct ctl_probe *probe)
{
	static const char *const phrase[] = {
#define X(number, NAME, text) [number] = text,
		PROBE_REFUSALS(X)
#undef X
	};

	if (probe->on)
		return "on";
	if (probe->refusal == PROBE_USABLE || probe->refusal >= PROBE_REFUSAL_COUNT)
		return "not written yet: something stood in its bytes, or they lie across two pages";
	return phrase[probe->refusal];
}

const char *probe_list_way(const struct ctl_probe *probe)
{
	static const char *const way[PROBE_WAYS] = { [PROBE_WAY_JUMP] = "jump", [PROBE_WAY_SHARED] = "shared",
		[PROBE_WAY_SHORT] = "short", [PROBE_WAY_ENTRY] = "entry" };

	return probe->way < PROBE_WAYS ? way[probe->way] : NULL;
}

char *probe_list_nearest(const struct ctl_probe *probe)
{
	if (probe->nearest_at && probe->nearest)
		return memory_text(probe->nearest_at, strlen(probe->nearest_at));
	return probe->nearest ? memory_format("0x%" PRIx64, probe->nearest) : memory_text("", 0);
}

void probe_list_rules(struct probe_rules *rules, const struct ctl_process *process)
{
	char *text = plans_rules(process);

	probe_rules_read(rules, text);
	free(text);
}

/* ---- reading ---- */

struct reading {
	struct ctl_probes *to;
	uint64_t texts; /* bytes */
	uint32_t *object; /* numbers of those that were read */
	size_t objects;
};

static bool was_read(struct reading *reading, uint32_t number)
{
	for (size_t i = 0; i < reading->objects; i++)
		if (reading->object[i] == number)
			return true;
	reading->object = memory_grow(reading->object, reading->objects, sizeof(*reading->object));
	reading->object[reading->objects++] = number;
	return false;
}

#define MOST_TEXT 4096 /* bytes of a name or a place */

/* A text of the plan, to be freed; NULL: there is none. */
static char *text_of(const uint8_t *plan, uint64_t size, uint32_t position)
{
	const char *text = (const char *)plan + position;

	if (!position || position >= size)
		return NULL;
	const uint64_t most = size - position < MOST_TEXT ? size - position : MOST_TEXT;
	return memchr(text, '\0', most) ? memory_text(text, strlen(text)) : NULL;
}

/* Returns false: there is more than can be. */
static bool add(struct reading *reading, const uint8_t *plan, uint64_t size, const struct plan_probe *probe,
	const struct probe_state *state, const char *library)
{
	struct ctl_probes *to = reading->to;

	if (to->count == MOST_PROBES || reading->texts > MOST_TEXTS)
		return false;
	struct ctl_probe one = { .name = text_of(plan, size, probe->name), .place = text_of(plan, size, probe->at),
		.address = probe->address, .nearest = probe->nearest, .on = state->on != 0, .refusal = state->refusal,
		.way = state->way, .nearest_at = text_of(plan, size, probe->nearest_at) };

	if (!one.name || !one.place) {
		free(one.name);
		free(one.place);
		free(one.nearest_at);
		return true;
	}
	one.library = memory_text(library, strlen(library));
	reading->texts += strlen(one.name) + strlen(one.place) + strlen(library) +
			  (one.nearest_at ? strlen(one.nearest_at) : 0);
	to->probe = memory_grow(to->probe, to->count, sizeof(*to->probe));
	to->probe[to->count++] = one;
	return true;
}

static int by_name(const void *a, const void *b)
{
	const struct ctl_probe *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : (x->address > y->address) - (x->address < y->address);
}

static void read_probes(struct reading *reading, const struct ctl_process *process, const struct object_probes *own,
	const char *library)
{
	struct ctl_probes *to = reading->to;
	const uint64_t size = own->plan_size, count = own->count;
	uint8_t *plan = memory_zeroed(size, 1);
	struct probe_state *state = memory_zeroed(count, sizeof(*state));
	struct plan_head head;
	size_t first = to->count;

	if (ctl_read(process, ctl_at(own->plan), plan, size) &&
		ctl_read(process, ctl_at(own->state), state, count * sizeof(*state))) {
		memcpy(&head, plan, sizeof(head));
		for (uint64_t i = 0; i < count && i < head.probes; i++) {
			const uint64_t place = head.probe + i * sizeof(struct plan_probe);
			struct plan_probe probe;
			if (place > size - sizeof(probe))
				break;
			memcpy(&probe, plan + place, sizeof(probe));
			to->cut |= !add(reading, plan, size, &probe, &state[i], library);
			if (to->cut)
				break;
		}
	}
	if (to->count > first)
		qsort(to->probe + first, to->count - first, sizeof(*to->probe), by_name);
	free(plan);
	free(state);
}

static void read_object(
	void *context, const struct ctl_process *process, const struct object *object, const struct load *load)
{
	struct reading *reading = context;
	struct object_probes own;

	(void)load;
	if (!object->probes || reading->to->cut || was_read(reading, object->number) ||
		!ctl_read(process, ctl_at(object->probes), &own, sizeof(own)) ||
		own.plan_size < sizeof(struct plan_head) + sizeof(struct plan_probe) || own.plan_size > MOST_PLAN ||
		own.count > own.plan_size / sizeof(struct plan_probe))
		return;
	char *path = ctl_text(process, ctl_at(object->path));
	if (path)
		read_probes(reading, process, &own, tool_base(path));
	free(path);
}

void probe_list_read(struct ctl_probes *to, const struct ctl_process *process)
{
	struct reading reading = { .to = to };

	*to = (struct ctl_probes){ 0 };
	ctl_each_object(process, read_object, &reading);
	to->cut |= ctl_limit_reached();
	free(reading.object);
}

void probe_list_free(struct ctl_probes *probes)
{
	for (size_t i = 0; i < probes->count; i++) {
		free(probes->probe[i].name);
		free(probes->probe[i].place);
		free(probes->probe[i].library);
		free(probes->probe[i].nearest_at);
	}
	free(probes->probe);
	*probes = (struct ctl_probes){ 0 };
}

/* ---- the list ---- */

static void print_json(const struct ctl_process *process, const struct ctl_probes *probes)
{
	printf("{\"pid\":%d,\"probes\":[", (int)process->pid);
	for (size_t i = 0; i < probes->count; i++) {
		const struct ctl_probe *p = &probes->probe[i];
		printf("%s{\"name\":", i ? "," : "");
		json_string(stdout, p->name);
		printf(",\"place\":");
		json_string(stdout, p->place);
		printf(",\"library\":");
		json_string(stdout, p->library);
		printf(",\"address\":%" PRIu64 ",\"on\":%s,\"way\":", p->address, p->on ? "true" : "false");
		json_string(stdout, p->on ? probe_list_way(p) : NULL);
		printf(",\"reason\":");
		json_string(stdout, p->on ? NULL : probe_list_phrase(p));
		printf(",\"nearest\":");
		if (p->on || !p->nearest)
			printf("null");
		else
			printf("%" PRIu64, p->nearest);
		printf(",\"nearest_at\":");
		json_string(stdout, p->on ? NULL : p->nearest_at);
		putchar('}');
	}
	printf("]}\n");
}

static void print_text(const char *text, size_t *width)
{
	size_t length = strlen(text);

	tool_text(stdout, text);
	printf("%*s", (int)(length < *width ? *width - length : 0) + 2, "");
}

static void widen(size_t *width, const char *text)
{
	size_t length = strlen(text);

	*width = length > *width ? length : *width;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The probes' names, in order, to be freed; both lists may be long. */
static const char **names_of(const struct ctl_probes *probes)
{
	const char **name = memory_zeroed(probes->count + 1, sizeof(*name));

	for (size_t i = 0; i < probes->count; i++)
		name[i] = probes->probe[i].name;
	qsort(name, probes->count, sizeof(*name), by_text);
	return name;
}

static void print_table(
	const struct ctl_targets *targets, const struct ctl_process *process, const struct ctl_probes *probes)
{
	struct probe_rules rules;
	size_t name = 0, place = 0, library = 0;

	probe_list_rules(&rules, process);
	for (size_t i = 0; i < probes->count; i++) {
		widen(&name, probes->probe[i].name);
		widen(&place, probes->probe[i].place);
		widen(&library, probes->probe[i].library);
	}
	if (!rules.rules && !probes->count) {
		ctl_targets_print(targets, process->pid);
		puts("there are no probes");
	}
	for (size_t i = 0; i < probes->count; i++) {
		const struct ctl_probe *p = &probes->probe[i];
		const char *way = p->on ? probe_list_way(p) : NULL;
		char *nearest = probe_list_nearest(p);
		ctl_targets_print(targets, process->pid);
		print_text(p->name, &name);
		print_text(p->place, &place);
		print_text(p->library, &library);
		printf("0x%-8" PRIx64 "  %s%s%s", p->address, probe_list_phrase(p), way ? ", " : "", way ? way : "");
		if (!p->on && *nearest) {
			printf("; the nearest place that works is ");
			tool_text(stdout, nearest);
		}
		putchar('\n');
		free(nearest);
	}
	const char **names = names_of(probes);
	for (size_t i = 0; i < rules.rules; i++) {
		const struct probe_rule *rule = &rules.rule[i];
		if (strcmp(rule->key, "at") != 0 ||
			bsearch(&rule->name, names, probes->count, sizeof(*names), by_text))
			continue;
		ctl_targets_print(targets, process->pid);
		print_text(rule->name, &name);
		print_text(rule->value, &place);
		puts("nothing that is loaded has this place");
	}
	free(names);
	probe_rules_free(&rules);
}

int probe_list_print(const struct ctl_targets *targets, const struct ctl_process *process, bool as_json)
{
	struct ctl_probes probes;

	probe_list_read(&probes, process);
	if (as_json)
		print_json(process, &probes);
	else
		print_table(targets, process, &probes);
	const bool cut = probes.cut;
	if (cut)
		tool_error("ctl",
			"process %d: what is said to be libxaudit.so's there has no end; the rest of it was not read",
			(int)process->pid);
	probe_list_free(&probes);
	return cut ? TOOL_FAILED : TOOL_OK;
}
