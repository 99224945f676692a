/* SPDX-License-Identifier: MIT */
/*
 * Calls functions of a library, with a handler that asks for their values; prints what it was told. With an argument,
 * the handler is a quick one: then it only keeps them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xaudit.h>

#include "t/api/event_values_part.h"

#define EVENTS 64

static struct told {
	uint32_t id;
	int is_exit, answer;
	struct xaudit_values values;
} told[EVENTS];
static int events;

static void print_value(const struct xaudit_value *value)
{
	static const char *const state[] = { "", "...", " (fault)", " (unread)", " (null)" };

	printf(" %s%s", value->name, *value->name ? "=" : "");
	switch (value->type) {
	case XAUDIT_VALUE_TEXT:
	case XAUDIT_VALUE_BYTES:
		printf("\"%s\"", value->text);
		break;
	case XAUDIT_VALUE_FLOAT:
	case XAUDIT_VALUE_DOUBLE:
		printf("%.15g", value->real);
		break;
	default:
		printf("%lld", (long long)value->integer);
	}
	printf("%s", state[value->state]);
}

static void print(const struct told *t)
{
	struct xaudit_function_info info;

	memset(&info, 0, sizeof(info));
	info.size = sizeof(info);
	if (xaudit_function(t->id, &info) || strncmp(info.name, "ev_", 3))
		return;
	printf("%s %s %d:", t->is_exit ? "exit" : "entry", info.name, t->answer);
	for (int i = 0; i < t->answer; i++)
		print_value(&t->values.value[i]);
	puts(t->answer > 0 && t->values.failed ? " failed" : "");
}

__attribute__((target("general-regs-only"))) static void quick(const struct xaudit_handler_event *event, void *arg)
{
	struct told *t = &told[events];

	(void)arg;
	if (events == EVENTS)
		return;
	events++;
	t->id = event->id;
	t->is_exit = event->type == XAUDIT_HANDLE_EXIT;
	t->values.size = sizeof(t->values);
	t->answer = xaudit_event_values(event, &t->values);
}

static void any(const struct xaudit_handler_event *event, void *arg)
{
	char room[32];

	/* libc's code uses the registers that hold arguments and results. */
	snprintf(room, sizeof(room), "%g %u", 1 / (double)(event->id + 1), event->id);
	quick(event, arg);
}

int main(int argc, char **argv)
{
	char out[16] = "before";
	const int flag = argc > 1 ? XAUDIT_GENERAL : 0;
	double sum = 0;

	(void)argv;
	if (xaudit_set_handler(XAUDIT_HANDLE_ARGUMENTS | flag, flag ? quick : any, NULL) ||
		xaudit_set_handler(XAUDIT_HANDLE_EXIT | flag, flag ? quick : any, NULL)) {
		printf("%d\n", xaudit_event_values(NULL, &told[0].values));
		return 0;
	}
	sum += ev_mixed(-7, 1ul << 40, "in the program", 2.5, -0.25f);
	sum += (double)ev_many(1, 2, 3, 4, 5, 6, 77, NULL);
	sum += ev_fails(0) + ev_fails(2);
	ev_writes(out, 3);
	xaudit_remove_handler(XAUDIT_HANDLE_ARGUMENTS);
	xaudit_remove_handler(XAUDIT_HANDLE_EXIT);
	for (int i = 0; i < events; i++)
		print(&told[i]);
	printf("%s %.2f\n", out, sum);
	return 0;
}
