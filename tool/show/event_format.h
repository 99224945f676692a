/* SPDX-License-Identifier: MIT */
/*
 * Decoding the data of custom events: `xaudit dump --event-format TYPE='u32 id, string name'`.
 *
 * A format is a list of fields, little endian, without gaps. Each is a type and a name:
 *	u8 u16 u32 u64, i8 ... i64	numbers
 *	x8 x16 x32 x64			numbers, shown in hex
 *	f32 f64				floating point numbers
 *	string				up to a NUL, or to the end
 *	bytes N				N bytes
 *
 * The formats are the command's, which frees them. One thread.
 */
#ifndef XAUDIT_TOOL_SHOW_EVENT_FORMAT_H
#define XAUDIT_TOOL_SHOW_EVENT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct event_format;

/* The formats that were given. */
struct event_formats {
	struct event_format *format;
	unsigned count;
};

/*
 * Adds the format "TYPE=FIELD, FIELD..."; of several formats of one type the last one counts. Returns NULL, or what is
 * wrong with it, as a phrase that the caller frees.
 */
char *event_format_add(struct event_formats *formats, const char *text);

/* For the row of an option: adds its value to the struct event_formats at `at`. Returns false after a line. */
struct options_given;
bool event_format_take(const struct options_given *given);

/* The format of a type, by its name (may be NULL) or its number in decimal; NULL: none was given. */
const struct event_format *event_format_find(const struct event_formats *formats, const char *name, uint32_t number);

/*
 * Writes `name=value name=value`, and whether the data was too short, or how much more there is. A zero byte must
 * follow the data.
 */
void event_format_text(FILE *file, const struct event_format *format, const uint8_t *data, size_t size);

/* Writes `"fields":{"name":value}`, and `,"too_short":true` or `,"more_bytes":N`. */
void event_format_json(FILE *file, const struct event_format *format, const uint8_t *data, size_t size);

/* Has the format a field of this name? */
bool event_format_has(const struct event_format *format, const char *field);

/*
 * The value of that field as text, as event_format_text() shows it but without quotes. A string's bytes are as they
 * are, so use tool_text() to show it. The caller frees it. NULL: the data is too short. A zero byte must follow the
 * data.
 */
char *event_format_value(const struct event_format *format, const char *field, const uint8_t *data, size_t size);

/* A field, for code that does not want it as text. */
struct event_format_field {
	const char *name;
	enum event_format_is {
		EVENT_FORMAT_TEXT,     /* a string; as shown: bytes, hex numbers, and those that are not finite */
		EVENT_FORMAT_SIGNED,   /* `integer` */
		EVENT_FORMAT_UNSIGNED, /* `number` */
		EVENT_FORMAT_REAL      /* `real`, which has so many digits */
	} is;
	const char *text; /* a zero follows */
	size_t size;
	int64_t integer;
	uint64_t number;
	double real;
	int digits;
};

/*
 * Tells of each field that is whole, in order. Returns how many bytes there are behind the last one, or
 * EVENT_FORMAT_SHORT: the data was too short. A zero byte must follow the data.
 */
#define EVENT_FORMAT_SHORT SIZE_MAX
size_t event_format_each(const struct event_format *format, const uint8_t *data, size_t size,
	void (*take)(void *user, const struct event_format_field *field), void *user);

void event_format_free(struct event_formats *formats);

#endif
