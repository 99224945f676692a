/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "audit/bind/runtime_symbols.h"

#include <stdbool.h>
#include <string.h> /* strncmp */

#include "audit/live/xray.h"
#include "runtime/base/text.h"
#include "runtime/process/process.h"
#include "x86_64/empty.h"

/* A symbol that was changed and may have to be given back. In the arena of its load. */
struct supplied {
	struct supplied *next;
	struct load *load; /* NULL: closed */
	const Elf64_Sym *symbol;
	Elf64_Sym before;
	enum import import;
};

static struct supplied *recent; /* since the last LA_ACT_CONSISTENT. Process lock */

static uint64_t target(enum import import)
{
	switch (import) {
	case IMPORT_CUSTOM_EVENT:
	case IMPORT_TYPED_EVENT: return (uint64_t)(uintptr_t)empty_function;
	case IMPORT_REGISTER: return (uint64_t)(uintptr_t)xray_register;
	case IMPORT_DEREGISTER: return (uint64_t)(uintptr_t)xray_deregister;
	default: return (uint64_t)(uintptr_t)&xray_no_handlers[import - IMPORT_FUNCTION_HANDLER];
	}
}

/* Is it libxaudit-api? Its definitions end in the module (audit/bind/runtime_symbols.h). */
static bool is_api(const struct object *object)
{
	static const char name[] = "libxaudit-api.so";

	return object->soname && !strncmp(object->soname, name, sizeof(name) - 1);
}

/* Which of these (a mask) does another open object of the namespace define? Lock held. */
static unsigned defined_elsewhere(const struct load *load, unsigned mask)
{
	unsigned defined = 0;

	for (const struct load *l = loads; l; l = l->next)
		if (l != load && l->state == LOAD_OPEN && l->namespace == load->namespace && !is_api(l->object) &&
			!(l->object->flags & TRACE_OBJECT_VDSO))
			defined |= imports_defined(l, mask & ~defined);
	return defined;
}

/* The symbol's fields after name and type, up to its size. */
int runtime_symbols_write(const struct load *load, const Elf64_Sym *symbol, const Elf64_Sym *before)
{
	const size_t from = offsetof(Elf64_Sym, st_other), to = offsetof(Elf64_Sym, st_size);

	return object_write(load, (const char *)symbol + from, (const char *)before + from, to - from);
}

/* Lock held. */
static void refused(const struct load *load)
{
	static int said;
	char buffer[400];
	struct text text = { buffer, sizeof(buffer), 0 };

	if (said++)
		return;
	text_string(&text, load->object->path);
	text_string(&text, ": the system lets nobody change its symbol table: it may lack XRay's runtime");
	process_say(buffer);
}

int runtime_symbols_set(const struct load *load, const Elf64_Sym *symbol, uint64_t address)
{
	Elf64_Sym after = *symbol;

	after.st_other = (unsigned char)((after.st_other & ~3) | STV_HIDDEN);
	after.st_shndx = SHN_ABS;
	after.st_value = address;
	return runtime_symbols_write(load, symbol, &after);
}

/* Lock held. */
static void supply(struct load *load, enum import import, const Elf64_Sym *symbol)
{
	struct supplied *s = arena_alloc(&load->arena, sizeof(*s));

	if (!s)
		return;
	*s = (struct supplied){ recent, load, symbol, *symbol, import };
	if (runtime_symbols_set(load, symbol, target(import)))
		refused(load);
	else
		recent = s;
}

/* Objects that are not relocated yet take the load's definition instead of ours. Lock held. */
static void give_back(const struct load *load)
{
	unsigned mask = 0;

	for (const struct supplied *s = recent; s; s = s->next)
		mask |= 1u << s->import;
	mask = mask ? imports_defined(load, mask) : 0;
	for (struct supplied *s = recent; s && mask; s = s->next)
		if (s->load && s->load->namespace == load->namespace && mask & 1u << s->import &&
			!runtime_symbols_write(s->load, s->symbol, &s->before))
			s->load = NULL;
}

void runtime_symbols_give(struct load *load, const struct imports *imports)
{
	struct process_held held;
	unsigned mask = 0;

	for (int i = 0; i < IMPORTS_XRAY; i++)
		if (imports->symbol[i])
			mask |= 1u << i;
	if (!mask && !recent) /* without the lock: threads that add to it also hold ld.so's */
		return;
	process_lock(&held);
	if (!is_api(load->object))
		give_back(load);
	mask &= mask ? ~defined_elsewhere(load, mask) : 0;
	for (int i = 0; i < IMPORTS_XRAY; i++)
		if (mask & 1u << i)
			supply(load, (enum import)i, imports->symbol[i]);
	process_unlock(&held);
}

void runtime_symbols_settled(void)
{
	struct process_held held;

	process_lock(&held);
	recent = NULL; /* the items belong to their loads */
	process_unlock(&held);
}

void runtime_symbols_forget(const struct load *load)
{
	struct process_held held;

	/* At exit ld.so's lock is not held. */
	process_lock(&held);
	for (struct supplied *s = recent; s; s = s->next)
		if (s->load == load)
			s->load = NULL;
	process_unlock(&held);
}
