/* SPDX-License-Identifier: MIT */
#include "tool/read/api/cursor_ahead.h"

#include "tool/read/api/cursor_items.h"
#include "tool/read/events/ahead.h"

/* One word that is not plain; true: it was taken. */
static bool take_event(void *user, enum trace_type type, uint32_t id, uint64_t time, uint64_t now, size_t at)
{
	struct xaudit_read_calls *c = user;
	bool valued = c->values && read_decode_values_at(&c->record->source.decoder, at);

	(void)time;
	if (now >= c->from_ticks || (valued && type == TRACE_ENTRY)) {
		read_api_adopt(c);
		read_api_take_event(c, type, id, now, at);
	} else {
		read_api_pass_over(c, type, id, now, at);
	}
	return true;
}

static bool take_other(void *user, enum read_decoded what)
{
	struct xaudit_read_calls *c = user;
	bool needed = what == READ_DECODED_CUSTOM ? c->customs || c->requests :
		what == READ_DECODED_PROBE ? c->probes :
		/* which request a call belongs to is told by the calls that were around it when it began */
		what == READ_DECODED_PART && c->requests;

	if (needed || !read_api_is_ahead(c))
		read_api_adopt(c);
	read_api_take_rare(c, what);
	return true;
}

/* Is there a reason not to go on? */
static bool stops(const struct xaudit_read_calls *c)
{
	return c->ready || c->record->turn || c->damage->no_memory;
}

bool read_api_ahead(struct xaudit_read_calls *c)
{
	struct read_turns_record *record = c->record;
	struct read_decoder *d = &record->source.decoder;

	while (read_api_is_ahead(c)) {
		/* It says stop after each thing that it tells. */
		while (read_events_tell(&record->source, take_other, c))
			if (stops(c))
				return true;
		do {
			c->passed = true;
			read_ahead_block(d, &c->calls, d->tid, c->from_ticks);
			if (d->at == d->have || !read_decode_block(d, take_event, take_other, c))
				break;
			if (stops(c))
				return true;
		} while (read_api_is_ahead(c));
		if (!read_api_is_ahead(c))
			break;
		if (!read_events_next(&record->source)) {
			record->over = true;
			return true;
		}
	}
	return false;
}
