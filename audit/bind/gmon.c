/* SPDX-License-Identifier: MIT */
#include "audit/bind/gmon.h"

#include "audit/bind/runtime_symbols.h"
#include "audit/live/entry_calls.h"
#include "runtime/process/process.h"
#include "x86_64/empty.h"

void gmon_open(const struct load *load, const struct imports *imports)
{
	const Elf64_Sym *start = imports->symbol[IMPORT_GMON_START], *end = imports->symbol[IMPORT_GMON_END];
	const uint64_t nothing = (uint64_t)(uintptr_t)empty_function;
	struct process_held held;

	if (!start || !end || !entry_calls_erased(load))
		return;
	process_lock(&held);
	/* The end first: one without a start finds nothing to write; a start without an end has its timer run on. */
	if (runtime_symbols_set(load, end, nothing) == 0)
		runtime_symbols_set(load, start, nothing);
	process_unlock(&held);
}
