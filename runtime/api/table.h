/* SPDX-License-Identifier: MIT */
/*
 * How libxaudit-api and the module meet. Each copy of the library has a table of pointers, zeros in .bss, and a note
 * that says where: PT_NOTE, owner "xaudit", type API_NOTE, description struct api_note. The module reads the notes of
 * each object in la_objopen, when its segments are mapped and no thread runs its code, and stores into the table as
 * many entries as both know. Nothing is relocated or looked up by name, so it does not matter how the object is linked
 * (PIE or not, -z now, stripped, static copies in several). The table is stored once, before the object runs, and never
 * changed.
 *
 * The hook of XAUDIT_EVENT (xaudit.h) is a table of one entry.
 *
 * Entries are only ever added at the end. A change of old entries would be another version; tables of other versions
 * are not filled in.
 */
#ifndef XAUDIT_RUNTIME_API_TABLE_H
#define XAUDIT_RUNTIME_API_TABLE_H

#include "runtime/api/xaudit.h"

#define API_OWNER   "xaudit"
#define API_NOTE    1
#define API_VERSION 1
#define API_ENTRIES 26

struct api_note {
	int64_t table; /* distance from this field */
	uint32_t version;
	uint32_t entries;
} __attribute__((packed, aligned(4)));

/*
 * Guards (XAUDIT_IF_TRACED) are found in the same way: a note of type GUARD_NOTE names their table, whose entries say
 * where the NOP is and where the guarded code begins. The linker puts the table together from a part for each guard's
 * function.
 */
#define GUARD_NOTE    2
#define GUARD_VERSION 1

struct guard_note {
	int64_t start, end; /* distance from their own field */
	uint32_t version;
	uint32_t entry_size;
} __attribute__((packed, aligned(4)));

struct guard_entry {
	int64_t site, target; /* distance from their own field */
};

/* Arguments and answers of the entries for __xray_*; audit/live/xray.h says more. enum XRayPatchingStatus: */
enum xray_status { XRAY_NOT_INITIALIZED, XRAY_SUCCESS, XRAY_ONGOING, XRAY_FAILED };

/* What xray_patch() shall switch. */
enum xray_what { XRAY_ALL, XRAY_OBJECT, XRAY_FUNCTION };

/* What xray_id() answers, or'ed. */
#define XRAY_LOG_ARGS 1 /* the function's entry says that its first argument shall be logged */
#define XRAY_HAS_ARGS 2 /* and there is a handler for that: one of entries with arguments */

struct api_table {
	int (*event)(const void *data, size_t size);
	int (*typed_event)(int type, const void *data, size_t size);
	int (*register_type)(const char *name);
	int (*mark)(const char *text);
	int (*flush)(void);
	int (*enable)(const char *rule, struct xaudit_result *result);
	int (*disable)(const char *rule, struct xaudit_result *result);
	int (*status)(struct xaudit_status *status);
	int (*function)(uint32_t id, struct xaudit_function_info *info);
	int (*for_each_function)(int (*callback)(const struct xaudit_function_info *info, void *arg), void *arg);
	int (*dump_table)(int fd);
	int (*set_handler)(int type, xaudit_handler *handler, void *arg);
	int (*remove_handler)(int type);
	int (*vector)(const struct xaudit_handler_event *event, unsigned n, uint8_t value[64]);
	int (*start)(void);
	int (*stop)(void);
	/* XRay's numbers, for __xray_*; audit/live/xray.h says what they mean. */
	int (*xray_patch)(unsigned what, int32_t object, int32_t function, int on);
	uint64_t (*xray_address)(int32_t object, int32_t function);
	uint32_t (*xray_max_id)(int32_t object);
	uint32_t (*xray_objects)(void);
	int (*xray_id)(const struct xaudit_handler_event *event, int32_t *id);
	int32_t (*xray_number_at)(uint64_t address);
	int (*event_values)(const struct xaudit_handler_event *event, struct xaudit_values *values);
	int (*request)(const char *text);
	int (*request_number)(uint64_t number);
	int (*request_end)(void);
};
_Static_assert(sizeof(struct api_table) == 8 * API_ENTRIES, "the note says how many");

#endif
