/* SPDX-License-Identifier: MIT */
#include "tool/read/api/cursor_values.h"

#include <stdlib.h>

#include "tool/read/api/cursor_requests.h"

const struct xaudit_read_values *read_api_keep_event_values(
	struct xaudit_read_calls *c, struct read_api_values **kept)
{
	const struct read_decode_values *has = c->has;
	const struct xaudit_read_values values = {
		.layout = read_process_layout(c->process->read, has->layout),
		.bytes = (const uint8_t *)&c->record->source.decoder.words[has->first + 1],
		.size = 8 * has->words,
		.flawed = has->flawed,
		.chain = has->chain,
		.process = c->process,
		.ticks = has->time,
	};
	const struct xaudit_read_values *copy = read_api_keep_values(c->damage, kept, &values);

	c->ready |= c->damage->no_memory;
	return copy;
}

void read_api_free_values(struct xaudit_read_calls *c, struct api_call *calls, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(calls[i].entered);
		free(calls[i].ended);
		read_api_request_forget(c, &calls[i]);
	}
}
