/* SPDX-License-Identifier: MIT */
#include "tool/perf/loads.h"

#include <elfutils/libdwfl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool/base/build_id.h"
#include "tool/base/memory.h"
#include "tool/index/debug.h"
#include "tool/index/own_file.h"
#include "tool/perf/names.h"
#include "tool/read/folder.h"
#include "tool/read/meta.h"
#include "tool/read/names.h"

static char *debug_path; /* NULL: libdwfl's default */

static const Dwfl_Callbacks callbacks = {
	.find_debuginfo = debug_find,
	.debuginfo_path = &debug_path,
};

static void take(struct perf_loads *loads, const struct trace_load *from, const struct read_object *object)
{
	if (!object || !object->path || *object->path != '/' || from->head.size < sizeof(*from))
		return;
	loads->load = memory_resize(loads->load, loads->count + 1, sizeof(*loads->load));
	loads->load[loads->count++] = (struct perf_load){ .start = from->start, .end = from->end, .base = from->base,
		.path = memory_format("%s", object->path),
		.build_id = memory_format("%s", object->build_id ? object->build_id : "") };
}

bool perf_loads_read(struct perf_loads *loads, int trace, int family, const char *path)
{
	struct read_error error = { 0 };
	struct read_folder *folder = read_folder_open_family(trace, family, path, &error);

	*loads = (struct perf_loads){ 0 };
	read_error_free(&error);
	if (!folder)
		return false;
	for (unsigned i = 0; i < folder->processes; i++) {
		struct read_process *process = folder->process[i];
		const struct trace_record *record;
		struct read_meta meta;

		read_process_load(process);
		read_meta_begin(&meta, process, 0);
		while ((record = read_meta_next(&meta, false)))
			if (record->type == TRACE_REC_LOAD) {
				const struct trace_load *load = (const void *)record;
				take(loads, load, read_process_object(process, load->object));
			}
		read_meta_end(&meta);
	}
	bool failed = folder->damage.no_memory;
	read_folder_close(folder);
	if (failed)
		memory_failed();
	return true;
}

void perf_loads_free(struct perf_loads *loads)
{
	for (size_t i = 0; i < loads->count; i++) {
		perf_names_free(loads->load[i].names);
		if (loads->load[i].dwfl)
			dwfl_end(loads->load[i].dwfl);
		free(loads->load[i].path);
		free(loads->load[i].build_id);
	}
	free(loads->load);
}

static bool has_build_id(Dwfl_Module *module, const char *build_id)
{
	const unsigned char *bytes;
	GElf_Addr where;
	int size = dwfl_module_build_id(module, &bytes, &where);

	return *build_id ? build_id_is(bytes, size, build_id) : size <= 0;
}

/* The path comes from a trace: it may name anything, and the file may be anybody's. */
static int open_own(const char *path)
{
	int fd = own_open(path), own = fd < 0 ? -1 : own_copy(fd);

	if (fd >= 0)
		close(fd);
	return own;
}

static void open_module(struct perf_load *load)
{
	int fd = open_own(load->path);

	load->tried = true;
	if (fd < 0)
		return;
	load->dwfl = debug_begin(&callbacks);
	if (!load->dwfl) {
		close(fd);
		return;
	}
	/* It takes the descriptor, unless it fails. */
	load->module = dwfl_report_elf(load->dwfl, load->path, load->path, fd, load->base, true);
	if (!load->module)
		close(fd);
	dwfl_report_end(load->dwfl, NULL, NULL);
	if (load->module && !has_build_id(load->module, load->build_id))
		load->module = NULL;
}

Dwfl_Module *perf_loads_find(struct perf_loads *loads, uint64_t address, struct perf_load **found)
{
	*found = NULL;
	for (size_t i = loads->count; i; i--) {
		struct perf_load *load = loads->load + i - 1;
		if (address < load->start || address >= load->end)
			continue;
		if (!load->tried)
			open_module(load);
		*found = load;
		return load->module;
	}
	return NULL;
}

const char *perf_loads_name(struct perf_load *load, uint64_t address)
{
	if (!load->names)
		load->names = perf_names_read(load->module);
	return perf_names_find(load->names, address);
}
