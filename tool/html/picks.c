/* SPDX-License-Identifier: MIT */
#include "tool/html/picks.h"

#include "tool/html/text.h"

void picks_add(struct picks *picks, const struct pick *pick)
{
	uint32_t at = picks->count < picks->most ? picks->count++ : picks->count - 1;

	for (; at && picks->pick[at - 1].key < pick->key; at--)
		picks->pick[at] = picks->pick[at - 1];
	picks->pick[at] = *pick;
	picks->pick[at].window = UINT32_MAX;
}

void picks_write(const struct picks *picks, const struct page_functions *functions, FILE *to)
{
	putc('[', to);
	for (uint32_t i = 0; i < picks->count; i++) {
		const struct pick *pick = &picks->pick[i];
		uint32_t place = pick->track ? pick->track->place : TRACKS_NONE;
		html_number(to, i ? ",\n{" : "{", "function", pick->function);
		html_number(to, ",", "time", pick->from);
		html_number(to, ",", "duration", pick->to - pick->from);
		html_number(to, ",", "self", pick->self);
		html_number(to, ",", "p99", functions->row[pick->function].p99);
		html_number(to, ",", "median", functions->row[pick->function].median);
		html_number(to, ",", "track", place == TRACKS_NONE ? UINT64_MAX : place);
		html_number(to, ",", "window", pick->window == UINT32_MAX ? UINT64_MAX : pick->window);
		putc('}', to);
	}
	putc(']', to);
}
