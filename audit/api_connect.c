/* SPDX-License-Identifier: MIT */
#include "audit/api_connect.h"

#include "audit/live/api.h"
#include "x86_64/sys.h"

/* A table with these entries is a whole library's, not the hook of XAUDIT_EVENT. */
#define XRAY_ENTRIES (offsetof(struct api_table, xray_number_at) / sizeof(void *) + 1)

#define HANDLERS_ENTRIES (offsetof(struct api_table, set_handler) / sizeof(void *) + 1)

int api_handlers;

int api_connect(const struct image *image)
{
	int uses_xray = 0;
	struct image_note note = { 0 };
	struct api_note api;

	while (image_next_note(image, &note)) {
		if (!image_note_is(&note, API_OWNER, API_NOTE) || note.size < sizeof(api))
			continue;
		sys_copy(&api, note.description, sizeof(api));
		uint32_t entries = api.entries < API_ENTRIES ? api.entries : API_ENTRIES;
		uint64_t table = (uint64_t)(uintptr_t)note.description + (uint64_t)api.table;
		/* A symbol that has our name by chance must not make us write to random places. */
		if (api.version != API_VERSION || table % 8 || !image_is_writable(image, table, 8ul * entries))
			continue;
		sys_copy((void *)(uintptr_t)table, &api_table, 8ul * entries);
		api_handlers |= api.entries >= HANDLERS_ENTRIES;
		uses_xray |= api.entries >= XRAY_ENTRIES;
	}
	return uses_xray;
}
