/* SPDX-License-Identifier: MIT */
#include "audit/api.h"

#include "runtime/sys.h"

void api_connect(const struct image *image)
{
	struct image_note note = { 0 };
	struct api_note api;

	while (image_next_note(image, &note)) {
		if (note.type != API_NOTE || note.name_size != sizeof(API_OWNER) || note.size < sizeof(api) ||
			!sys_same(note.name, API_OWNER, sizeof(API_OWNER)))
			continue;
		sys_copy(&api, note.description, sizeof(api));
		uint32_t entries = api.entries < API_ENTRIES ? api.entries : API_ENTRIES;
		uint64_t table = (uint64_t)(uintptr_t)note.description + (uint64_t)api.table;
		/* Whatever else bears our name must not make us write at random. */
		if (api.version == API_VERSION && table % 8 == 0 && image_is_writable(image, table, 8ul * entries))
			sys_copy((void *)(uintptr_t)table, &api_table, 8ul * entries);
	}
}
