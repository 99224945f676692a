/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "audit/bind/cyg_bind.h"

#include <stdbool.h>
#include <string.h> /* strcmp */

#include "audit/bind/bind.h"
#include "audit/bind/runtime_symbols.h"
#include "audit/live/cyg.h"
#include "runtime/process/process.h"

static struct load *recent; /* a load that is not settled, or NULL. ld.so's lock */

static bool is_libc(const struct load *load)
{
	return load->object->soname && !strcmp(load->object->soname, "libc.so.6");
}

/* The object's definitions, if it has any, and none came before. */
static void offer(struct cyg *cyg, const struct load *load)
{
	if (is_libc(load))
		return;
	if (!cyg->enter.next)
		cyg->enter.next = (void (*)(uint64_t, uint64_t))imports_definition(load, IMPORT_CYG_ENTER);
	if (!cyg->leave.next)
		cyg->leave.next = (void (*)(uint64_t, uint64_t))imports_definition(load, IMPORT_CYG_LEAVE);
}

/* The load that was opened next after `after` (0: the first) in the namespace, and before this one; NULL: none. */
static const struct load *opened_after(uint32_t after, const struct load *before)
{
	const struct load *found = NULL;

	for (const struct load *l = loads; l; l = l->next)
		if (l->state == LOAD_OPEN && l->namespace == before->namespace && l->number > after &&
			l->number < before->number && (!found || l->number < found->number))
			found = l;
	return found;
}

/* Makes a stub, and has the symbol be it. Lock held. */
static int supply(struct load *load, const Elf64_Sym *symbol, struct cyg_side *side)
{
	uint64_t stub = bind_told(load, side);

	return stub && runtime_symbols_set(load, symbol, stub) == 0;
}

static void open_locked(struct load *load, const struct imports *imports)
{
	const Elf64_Sym *enter = imports->symbol[IMPORT_CYG_ENTER], *leave = imports->symbol[IMPORT_CYG_LEAVE];
	struct cyg *cyg = arena_alloc(&load->arena, sizeof(*cyg));

	if (!cyg)
		return;
	*cyg = (struct cyg){ .enter = { cyg_enter, load, NULL }, .leave = { cyg_leave, load, NULL } };
	/* The end first: an end without a beginning is told as such, not the other way round. */
	if ((leave && !supply(load, leave, &cyg->leave)) || !supply(load, enter, &cyg->enter))
		return;
	load->cyg = cyg;
	recent = load;
	for (const struct load *l = opened_after(0, load); l; l = opened_after(l->number, load))
		offer(cyg, l);
}

void cyg_bind_open(struct load *load, const struct imports *imports)
{
	struct process_held held;

	process_lock(&held);
	for (struct load *l = recent ? loads : NULL; l; l = l->next)
		if (l->cyg && !l->cyg->settled && l != load && l->state == LOAD_OPEN && l->namespace == load->namespace)
			offer(l->cyg, load);
	if (imports->symbol[IMPORT_CYG_ENTER] && load->object->marks && load->object->base[TRACE_KIND_CYG])
		open_locked(load, imports);
	process_unlock(&held);
}

void cyg_bind_settled(void)
{
	struct process_held held;

	if (!recent)
		return;
	process_lock(&held);
	for (struct load *l = loads; l; l = l->next)
		if (l->cyg)
			l->cyg->settled = 1;
	recent = NULL;
	process_unlock(&held);
}
