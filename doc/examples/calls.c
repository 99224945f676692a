/* SPDX-License-Identifier: MIT */
/* Adds up the calls of a trace: cc calls.c $(pkg-config --cflags --libs xaudit-read); ./a.out [DIR] */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <xaudit-read.h>

static struct row { uint64_t calls, total, self; } *row;

int main(int argc, char **argv)
{
	struct xaudit_read_calls_options options = { .size = sizeof(options), .counted = 1 };
	struct xaudit_read_error error;
	struct xaudit_read_trace *trace = xaudit_read_open(argc > 1 ? argv[1] : "xaudit.data", NULL, &error);
	struct xaudit_read_calls *calls = trace ? xaudit_read_calls(trace, &options, &error) : NULL;
	struct xaudit_read_item item;

	for (uint32_t n = 0; calls && xaudit_read_next_call(calls, &item);) {
		for (; n < xaudit_read_functions(trace); row[n++] = (struct row){ 0 })
			if (!(row = realloc(row, (n + 1) * sizeof(*row))))
				return 1;
		struct row *to = &row[item.function->number];
		to->calls += item.what == XAUDIT_READ_COUNTED ? item.count : 1;
		to->total += item.call ? item.call->total : 0;
		to->self += item.call ? item.call->self : 0;
	}
	for (uint32_t i = 0; trace && i < xaudit_read_functions(trace); i++)
		printf("%" PRIu64 " %" PRIu64 " %" PRIu64 " %s %s\n", row[i].calls, row[i].total, row[i].self,
			xaudit_read_function(trace, i)->name, xaudit_read_function(trace, i)->object->path);
	if (calls)
		xaudit_read_damage(trace, &error);
	if (error.why != XAUDIT_READ_OK)
		fprintf(stderr, "%s\n", error.text);
	xaudit_read_close(trace);
	return error.why != XAUDIT_READ_OK;
}
