/* SPDX-License-Identifier: MIT */
#include "tool/export/waiting.h"

#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"

struct waiting_entry {
	struct export_call call; /* that is open; call.call NULL: it was too short, or this is an event */
	struct xaudit_read_item item;	     /* an event, if `event` */
	bool event;
	void *data; /* copies of what the item points to */
	char *type;
	struct xaudit_read_values *values;
};

/* Has it nothing to tell any more? It has nothing to be freed then. */
static bool is_over(const struct waiting_entry *entry)
{
	return !entry->call.call && !entry->event;
}

static void free_entry(struct waiting_entry *entry)
{
	free(entry->data);
	free(entry->type);
	xaudit_read_values_free(entry->values);
	*entry = (struct waiting_entry){ 0 };
}

void waiting_free(struct waiting *waiting)
{
	for (uint32_t i = waiting->first; i < waiting->entries; i++)
		free_entry(&waiting->entry[i]);
	free(waiting->entry);
	*waiting = (struct waiting){ 0 };
}

static struct waiting_entry *add(struct waiting *waiting)
{
	if (waiting->entries == waiting->room) {
		waiting->room = waiting->room ? waiting->room * 2 : 16;
		waiting->entry = memory_resize(waiting->entry, waiting->room, sizeof(*waiting->entry));
	}
	struct waiting_entry *entry = &waiting->entry[waiting->entries++];
	*entry = (struct waiting_entry){ 0 };
	return entry;
}

void waiting_enter(struct waiting *waiting, const struct export_call *call)
{
	add(waiting)->call = *call;
}

static void tell_event(struct export *export, struct export_track *track, const struct xaudit_read_item *item)
{
	const struct export_format *format = export->format;

	if (item->what == XAUDIT_READ_CUSTOM) {
		if (format->custom)
			format->custom(export, track, item);
	} else if (item->what == XAUDIT_READ_PROBE) {
		if (format->probe)
			format->probe(export, track, item);
	} else if (format->lost) {
		format->lost(export, track, item);
	}
}

void waiting_custom(struct export *export, struct waiting *waiting, struct export_track *track,
	const struct xaudit_read_item *item)
{
	if (!waiting_some(waiting)) {
		tell_event(export, track, item);
		return;
	}
	struct waiting_entry *entry = add(waiting);
	entry->event = true;
	entry->item = *item;
	if (item->type)
		entry->item.type = entry->type = memory_text(item->type, strlen(item->type));
	if (item->values)
		entry->item.values = entry->values = memory_need(xaudit_read_values_copy(item->values));
	if (item->data) {
		/* Formats may count on the zero behind it. */
		entry->item.data = entry->data = memory_zeroed(item->data_size + 1, 1);
		memcpy(entry->data, item->data, item->data_size);
	}
}

static void tell_first(struct export *export, struct waiting *waiting, struct export_track *track)
{
	struct waiting_entry *entry = &waiting->entry[waiting->first++];

	if (entry->call.call && export->format->enter)
		export->format->enter(export, &entry->call);
	if (entry->event)
		tell_event(export, track, &entry->item);
	free_entry(entry);
	if (!waiting_some(waiting))
		waiting->first = waiting->entries = 0;
}

void waiting_look(
	struct export *export, struct waiting *waiting, struct export_track *track, uint64_t now, uint64_t min)
{
	while (waiting_some(waiting)) {
		const struct waiting_entry *entry = &waiting->entry[waiting->first];

		if (entry->call.call && now - entry->call.start < min)
			break;
		tell_first(export, waiting, track);
	}
}

bool waiting_leave(
	struct export *export, struct waiting *waiting, const struct export_call *call, uint64_t min)
{
	/* Calls around it have taken as long at least. */
	if (call->end - call->start >= min) {
		while (waiting_some(waiting))
			tell_first(export, waiting, call->track);
		return true;
	}
	for (uint32_t i = waiting->entries; i > waiting->first; i--) {
		struct waiting_entry *entry = &waiting->entry[i - 1];

		if (entry->call.call == call->call) {
			entry->call.call = NULL;
			break;
		}
		/* What came in it is told as of the call around, since the call itself is not told, and gone then. */
		if (entry->event && entry->item.call == call->call)
			entry->item.call = call->call->parent;
	}
	/* What is in a short call may be millions of short ones: none of them stays. */
	while (waiting_some(waiting) && is_over(&waiting->entry[waiting->entries - 1]))
		waiting->entries--;
	waiting_look(export, waiting, call->track, call->end, min);
	return false;
}
