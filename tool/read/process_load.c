/* SPDX-License-Identifier: MIT */
#include "tool/read/process_load.h"

#include <stdlib.h>

#include "tool/read/inherited.h"
#include "tool/read/meta.h"

bool read_process_load(struct read_process *process)
{
	uint64_t parsed = process->parsed ? process->parsed : process->head.head_size;
	struct read_meta meta;
	bool any;

	read_meta_begin(&meta, process, parsed);
	any = meta.end > parsed;
	if (process->loaded && !any) {
		read_meta_end(&meta);
		return false;
	}
	if (!process->loaded)
		read_inherited_take(process);
	process->loaded = true;
	/* Nothing after damage can be read: the next call must not find the same damage again. */
	process->parsed = meta.end > parsed ? meta.end : parsed;
	read_names_take(process, &meta);
	read_meta_end(&meta);
	return any;
}

void read_process_unload(struct read_process *process)
{
	read_inherited_leave(process);
	read_names_free(process);
}

void read_process_close(struct read_process *process)
{
	read_process_unload(process);
	free(process->name);
	free(process->path);
	free(process->files);
	free(process->own);
	free(process);
}

const struct read_function *read_process_function_now(struct read_process *process, uint32_t id)
{
	const struct read_function *function = read_process_function(process, id);

	if (!function && !(process->head.flags & TRACE_EXITED) && read_process_load(process))
		function = read_process_function(process, id);
	return function;
}

const struct read_layout *read_process_layout_now(struct read_process *process, uint32_t number)
{
	const struct read_layout *layout = read_process_layout(process, number);

	if (!layout && !(process->head.flags & TRACE_EXITED) && read_process_load(process))
		layout = read_process_layout(process, number);
	return layout;
}

const char *read_process_type_now(struct read_process *process, uint32_t type)
{
	for (;;) {
		const char *name = read_process_type(process, type);
		if (name || process->head.flags & TRACE_EXITED || !read_process_load(process))
			return name;
	}
}
