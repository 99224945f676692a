/* SPDX-License-Identifier: MIT */
#include "tool/plan/plan.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/index/debug.h"
#include "tool/index/own_file.h"
#include "tool/plan/functions.h"
#include "tool/plan/probes.h"

static uint32_t moved(uint32_t at, size_t base, bool has)
{
	return has ? at + (uint32_t)base : 0;
}

static void move_part(struct plan_part *part, size_t base)
{
	part->code = moved(part->code, base, part->size);
	part->layout = moved(part->layout, base, part->bytes);
}

/* Functions by offset; of one offset, in the order in which they were made, those of probes last. */
static const struct plan_function *sorted;

static int by_offset(const void *a, const void *b)
{
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	const struct plan_function *x = &sorted[i], *y = &sorted[k];

	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	if (x->flags != y->flags)
		return x->flags < y->flags ? -1 : 1;
	return (i > k) - (i < k);
}

static void sort(struct making *m)
{
	uint32_t *order = memory_zeroed(m->functions + 1, sizeof(*order)),
		 *number = memory_zeroed(m->functions + 1, sizeof(*number));
	struct plan_function *list = memory_zeroed(m->functions + 1, sizeof(*list));

	for (uint32_t i = 0; i < m->functions; i++)
		order[i] = i;
	sorted = m->function;
	qsort(order, m->functions, sizeof(*order), by_offset);
	for (uint32_t i = 0; i < m->functions; i++) {
		list[i] = m->function[order[i]];
		number[order[i]] = i;
	}
	for (uint32_t i = 0; i < m->probes; i++)
		if (m->probe[i].function != PROBE_NONE)
			m->probe[i].function = number[m->probe[i].function];
	free(m->function);
	free(order);
	free(number);
	m->function = list;
}

/* Where a list goes, of so many bytes; 0: it is empty. */
static uint32_t place(size_t *end, size_t bytes)
{
	size_t at = *end;

	*end += bytes;
	return bytes ? (uint32_t)at : 0;
}

static void move_action(struct plan_action *action, size_t base)
{
	action->text += (uint32_t)base;
	move_part(&action->entry, base);
	move_part(&action->end, base);
}

/* Has all positions count from the plan's beginning. */
static void move(struct making *m, size_t base)
{
	for (uint32_t i = 0; i < m->functions; i++) {
		m->function[i].name += (uint32_t)base;
		move_part(&m->function[i].entry, base);
		move_part(&m->function[i].end, base);
	}
	for (uint32_t i = 0; i < m->probes; i++) {
		m->probe[i].name += (uint32_t)base;
		m->probe[i].at += (uint32_t)base;
		m->probe[i].nearest_at = moved(m->probe[i].nearest_at - 1, base, m->probe[i].nearest_at);
	}
	for (uint32_t i = 0; i < m->windows; i++) {
		m->window[i].code += (uint32_t)base;
		m->window[i].fixups = moved(m->window[i].fixups, base, m->window[i].fixup_count);
	}
	for (uint32_t i = 0; i < m->actions; i++)
		move_action(&m->action[i], base);
}

static void copy(uint8_t *bytes, size_t at, const void *from, size_t size)
{
	if (size)
		memcpy(bytes + at, from, size);
}

static void join(struct making *m, struct plan_made *made)
{
	size_t functions = m->functions * sizeof(*m->function), probes = m->probes * sizeof(*m->probe),
	       windows = m->windows * sizeof(*m->window), actions = m->actions * sizeof(*m->action);
	size_t base = sizeof(struct plan_head) + functions;
	struct plan_head head = { .magic = PLAN_MAGIC, .version = PLAN_VERSION, .count = m->functions,
		.probes = m->probes, .windows = m->windows, .actions = m->actions };

	head.probe = place(&base, probes);
	head.window = place(&base, windows);
	head.action = place(&base, actions);
	head.size = base + m->pieces.size;
	sort(m);
	move(m, base);
	uint8_t *bytes = memory_zeroed(head.size, 1);
	copy(bytes, 0, &head, sizeof(head));
	copy(bytes, sizeof(head), m->function, functions);
	copy(bytes, head.probe, m->probe, probes);
	copy(bytes, head.window, m->window, windows);
	copy(bytes, head.action, m->action, actions);
	copy(bytes, base, m->pieces.bytes, m->pieces.size);
	*made = (struct plan_made){ .bytes = bytes, .size = head.size, .wrong = m->wrong,
		.said = m->wrong || m->said || m->left_outs };
}

static void make(struct making *m)
{
	m->matches = memory_zeroed(m->wanted.rules + 1, sizeof(*m->matches));
	making_functions(m);
	if (m->wanted.probes)
		making_probes(m);
	for (size_t i = 0; i < m->wanted.rules; i++)
		if (m->wanted.rule[i].unknown && !m->wanted.rule[i].right) {
			wanted_wrong(&m->wanted.rule[i], &m->wanted.rule[i].wrong);
			m->wrong = true;
		}
	if (m->left_outs)
		tool_error("index", "%s: more values than 32, or 1504 bytes, are asked of %s%s; the last ones are left "
				    "out", m->path, m->left_out, m->left_outs > 1 ? ", and of others" : "");
}

int plan_make(struct plan_made *made, int fd, const char *path, const char *rules)
{
	struct making m = { .path = path };
	struct image_name name;
	int own = own_copy(fd), r = own < 0 ? own : image_open(&m.image, own, path, NULL);

	if (r) {
		if (own >= 0)
			close(own);
		return r;
	}
	if (!image_identify(own, &name))
		m.soname = name.soname;
	m.wrong = !wanted_read(&m.wanted, rules);
	m.prototypes = wanted_prototypes(&m.wanted, &m.own, &m.wrong);
	m.dwfl = debug_open(own, path, &m.variables.module);
	m.debug = debug_info_new(m.variables.module);
	close(own);
	make(&m);
	join(&m, made);
	debug_info_free(m.debug);
	if (m.dwfl)
		dwfl_end(m.dwfl);
	variables_free(&m.variables);
	prototypes_free(m.prototypes);
	wanted_free(&m.wanted);
	image_close(&m.image);
	pieces_free(&m.pieces);
	free(m.function);
	free(m.probe);
	free(m.window);
	free(m.action);
	free(m.matches);
	free(m.alias);
	free(m.resolver);
	free(m.soname);
	return 0;
}
