/* SPDX-License-Identifier: MIT */
/*
 * What has a lane of its own in the timeline: events of the program's own, among them where threads came to probes
 * (their type is "probe NAME"), requests, and loads of libraries. All are
 * bounded, and their numbers are told. One thread. When memory runs out, the command ends.
 */
#ifndef XAUDIT_TOOL_HTML_LANES_H
#define XAUDIT_TOOL_HTML_LANES_H

#include <stdbool.h>
#include <stdint.h>

#include "tool/base/hash.h"
#include "tool/html/html.h"

#define LANES_EVENTS   100000u
#define LANES_LOADS    20000u
#define LANES_REQUESTS 50000u

struct lane_event {
	uint64_t time;
	struct track *track; /* NULL: none of its thread */
	uint32_t type, tid;
	bool mark;
	char *text;
};

struct lane_type {
	char *name;
	uint64_t count, bytes, kept;
};

struct lane_request {
	uint64_t from, to;
	struct track *track;
	char *text;
};

struct lanes {
	struct lane_event *event;
	struct lane_type *type;
	struct lane_request *request;
	uint32_t events, types, requests;
	struct hash by_name; /* of types */
	uint32_t marks_from; /* since there are LANES_EVENTS: all from here on are marks */
	bool full;
	uint64_t all_events, all_requests;
};

void lanes_event(struct lanes *lanes, struct html *html, const struct xaudit_read_item *item);

/* A call that is over, and belongs to a request. */
void lanes_request(
	struct lanes *lanes, const struct xaudit_read_call *call, struct track *track, uint64_t from, uint64_t to);

/* The blocks, when tracks have their places. */
void lanes_write(struct lanes *lanes, struct html *html);
void lanes_close(struct lanes *lanes);

#endif
