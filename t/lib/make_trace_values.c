/* SPDX-License-Identifier: MIT */
/* Layouts and events with values (format/values.h) for make_trace.c, which describes the commands. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/values.h"
#include "t/lib/make_trace.h"

#define NAMES   4096
#define LAYOUTS 64

/* What the events of each layout have, by its number; those of all processes. */
static struct layout {
	uint32_t event, count;
	uint8_t type[VALUES_MOST], size[VALUES_MOST];
} layouts[LAYOUTS];

/* ---- layouts ---- */

static uint32_t add_name(char *names, uint32_t *used, const char *name)
{
	uint32_t at = *used;
	size_t size = strlen(name) + 1;

	if (!*name)
		return 0;
	if (at + size > NAMES)
		fail("too many names");
	memcpy(names + at, name, size);
	*used += (uint32_t)size;
	return at;
}

static void take_type(struct trace_value *value, const char *word)
{
	static const char *const types[] = { "", "i", "u", "x", "p", "f", "d", "text", "bytes", "errno", "none",
		"structs", "stack" };
	size_t length = strcspn(word, "12345678");

	for (value->type = 1; value->type < 13; value->type++)
		if (strlen(types[value->type]) == length && !strncmp(types[value->type], word, length))
			break;
	if (value->type == 13) /* a type that there is not */
		value->type = (uint8_t)number(word);
	else if (word[length])
		value->size = (uint8_t)number(word + length);
	else if (value->type == VALUES_TYPE_STACK)
		value->size = 8;
}

static void take_role(struct trace_value *value, const char *word)
{
	unsigned place;

	if (sscanf(word, "arg%u", &place) == 1) {
		value->role = VALUES_ROLE_ARGUMENT;
		value->place = (uint8_t)place;
	} else if (!strcmp(word, "ret")) {
		value->role = VALUES_ROLE_RESULT;
	} else if (!strcmp(word, "errno")) {
		value->role = VALUES_ROLE_ERRNO;
	} else if (!strcmp(word, "request")) {
		value->role = VALUES_ROLE_REQUEST;
	} else if (strcmp(word, "-")) {
		fail("no such role");
	}
}

/* TYPE:ROLE:NAME[:MARKS[:WORDS[:WHEN]]] */
static void take_value(struct trace_value *value, char *text, char *names, uint32_t *used)
{
	char *part[6] = { 0 };

	for (int i = 0; i < 6 && text; i++)
		part[i] = strsep(&text, ":");
	if (!part[2])
		fail("TYPE:ROLE:NAME");
	take_type(value, part[0]);
	take_role(value, part[1]);
	value->name = add_name(names, used, part[2]);
	for (const char *mark = part[3] ? part[3] : ""; *mark; mark++) {
		const char *all = "dofwmb", *at = strchr(all, *mark);
		if (at)
			value->marks |= (uint8_t)(1 << (at - all));
	}
	value->words = part[4] ? add_name(names, used, part[4]) : 0;
	value->when = part[5] ? (uint16_t)add_name(names, used, part[5]) : 0;
}

/* layout N TYPE ID [KEY=VALUE]... VALUE... */
static void put_layout(char **word, int words)
{
	struct {
		struct trace_value value[VALUES_MOST];
		char names[NAMES];
	} body = { 0 };
	char names[NAMES] = "";
	struct trace_layout layout = {
		.layout = (uint32_t)number(word[1]),
		.event = TRACE_WORD(type_named(word[2]), number(word[3])),
		.names_size = 1,
	};
	const char *v, *names_size = NULL, *count = NULL;

	for (int i = 4; i < words; i++) {
		if ((v = value_of(word[i], "fails"))) {
			layout.fails = (int64_t)strtoll(v, NULL, 0);
			layout.has_fails = 1;
		} else if ((v = value_of(word[i], "names"))) {
			names_size = v;
		} else if ((v = value_of(word[i], "count"))) {
			count = v;
		} else {
			take_value(&body.value[layout.count++], word[i], names, &layout.names_size);
		}
		if (layout.count == VALUES_MOST && i + 1 < words)
			fail("too many values");
	}
	struct layout *to = layout.layout < LAYOUTS ? &layouts[layout.layout] : &layouts[0];
	*to = (struct layout){ .event = layout.event, .count = layout.count };
	for (uint32_t i = 0; i < layout.count; i++) {
		to->type[i] = body.value[i].type;
		to->size[i] = body.value[i].size;
	}
	size_t size = layout.count * sizeof(*body.value) + layout.names_size;
	memcpy((char *)&body + layout.count * sizeof(*body.value), names, layout.names_size);
	layout.count = count ? (uint32_t)number(count) : layout.count;
	layout.names_size = names_size ? (uint32_t)number(names_size) : layout.names_size;
	put_record(TRACE_REC_LAYOUT, &layout, sizeof(layout), &body, size);
}

bool values_meta_command(char **word, int words)
{
	if (strcmp(word[0], "layout") || words < 5)
		return false;
	put_layout(word, words);
	return true;
}

/* ---- events ---- */

static bool is_text(uint8_t type)
{
	return type == VALUES_TYPE_TEXT || type == VALUES_TYPE_BYTES || type == VALUES_TYPE_STRUCTS;
}

/* The bytes of a value: a number, or =TEXT (_ for a blank), or bytes in hex. */
static size_t put_value(uint8_t *to, const char *word, uint8_t type, uint8_t size)
{
	if (type == VALUES_TYPE_NONE)
		return 0;
	if (is_text(type)) {
		uint16_t n = 0;
		unsigned byte;
		if (*word == '=')
			for (const char *p = word + 1; *p; p++)
				to[2 + n++] = *p == '_' ? ' ' : (uint8_t)*p;
		else
			for (const char *p = word; *p && sscanf(p, "%2x", &byte) == 1; p += 1 + !!p[1])
				to[2 + n++] = (uint8_t)byte;
		memcpy(to, &n, 2);
		return 2u + n;
	}
	if (type == VALUES_TYPE_FLOAT) {
		float real = strtof(word, NULL);
		memcpy(to, &real, 4);
	} else if (type == VALUES_TYPE_DOUBLE) {
		double real = strtod(word, NULL);
		memcpy(to, &real, 8);
	} else {
		uint64_t bits = *word == '-' ? (uint64_t)strtoll(word, NULL, 0) : number(word);
		memcpy(to, &bits, size);
	}
	return size;
}

/* values N TIME VALUE... [chain WORD...]: VALUE may be fault, unread or null, or begin with cut: */
static void put_values(char **word, int words)
{
	union {
		uint8_t byte[8 * 256 + 4096];
		uint64_t word[1];
	} payload = { 0 };
	uint8_t state[VALUES_MOST] = { 0 }, flawed = 0;
	uint32_t n = (uint32_t)number(word[1]);
	const struct layout *layout = &layouts[n < LAYOUTS ? n : 0];
	int all = words;
	size_t at;

	for (int i = 3; i < all; i++)
		words = !strcmp(word[i], "chain") ? i : words;
	if ((uint32_t)words - 3 != layout->count)
		fail("not as many values as the layout has");
	for (uint32_t i = 0; i < layout->count; i++) {
		const char *v = word[3 + i];
		state[i] = !strncmp(v, "cut:", 4)  ? VALUES_CUT :
			   !strcmp(v, "fault")	   ? VALUES_FAULT :
			   !strcmp(v, "unread")	   ? VALUES_UNREAD :
			   !strcmp(v, "null")	   ? VALUES_NULL :
						     VALUES_WHOLE;
		flawed |= state[i];
	}
	at = flawed ? layout->count : 0;
	memcpy(payload.byte, state, at);
	for (uint32_t i = 0; i < layout->count; i++) {
		const char *v = word[3 + i] + (state[i] == VALUES_CUT ? 4 : 0);
		bool none = state[i] > VALUES_CUT;
		bool text = is_text(layout->type[i]);
		at += put_value(payload.byte + at, !none ? v : text ? "=" : "0", layout->type[i], layout->size[i]);
		if (at > 239 * 8)
			fail("too many bytes of values");
	}
	at += !at;
	for (int i = words + 1; i < all; i++) {
		at = (at + 7) / 8 * 8 + 8;
		if (at > 239 * 8)
			fail("too many words of a backtrace");
		payload.word[at / 8 - 1] = number(word[i]);
	}
	uint32_t id = TRACE_VALUED_ID(n, (at + 7) / 8) | (flawed ? TRACE_VALUED_FLAWED : 0);
	put_with_payload(TRACE_VALUED, id, number(word[2]) + step, payload.word, (at + 7) / 8);
}

bool values_thread_command(char **word, int words)
{
	uint64_t payload[64];

	if (!strcmp(word[0], "values") && words > 3) {
		put_values(word, words);
		return true;
	}
	if (!strcmp(word[0], "late") && (words == 3 || words == 4)) {
		*payload = words == 4 ? number(word[3]) : 0;
		put_with_payload(TRACE_VALUED, TRACE_VALUED_ID((uint32_t)number(word[1]), TRACE_VALUED_LATE(1)),
			number(word[2]) + step, payload, 1);
		if (words == 3)
			forget_payload(1);
		return true;
	}
	/* What nobody knows the meaning of, or what was being written. */
	bool valued = !strcmp(word[0], "valued"), reserved = !strcmp(word[0], "reserved");
	uint32_t n = (uint32_t)words - 3, id;
	if ((!valued && !reserved && strcmp(word[0], "given_up")) || words < 3)
		return false;
	for (uint32_t i = 0; i < n; i++)
		payload[i] = number(word[3 + i]);
	if (valued)
		id = (uint32_t)number(word[1]) << 8 | n;
	else
		id = TRACE_CONTROL_ID(reserved ? TRACE_RESERVED : TRACE_GIVEN_UP, n);
	put_with_payload(valued ? TRACE_VALUED : TRACE_CONTROL, id, number(word[2]) + step, payload, n);
	return true;
}
