/* SPDX-License-Identifier: MIT */
#include "audit/live/api.h"

#include <errno.h> /* EINVAL */
#include <stdbool.h>

#include "audit/live/announce.h"
#include "audit/live/dlclose.h"
#include "audit/live/load_code.h"
#include "audit/live/switch.h"
#include "audit/live/xray.h"
#include "runtime/base/text.h"
#include "runtime/custom.h"
#include "runtime/event_values.h"
#include "runtime/handlers/events.h"
#include "runtime/handlers/handlers.h"
#include "runtime/process/process.h"
#include "runtime/process/process_counters.h"
#include "runtime/record/recorder.h"
#include "x86_64/sys.h"

/*
 * The caller's structure may be older or newer than ours: the fields that both have are copied; its size field stays.
 */
static void give(void *to, uint32_t to_size, const void *from, uint32_t from_size)
{
	uint32_t size = to_size < from_size ? to_size : from_size;

	sys_copy((uint8_t *)to + 4, (const uint8_t *)from + 4, size - 4);
}

/* ---- functions ---- */

/* A position in the lists of all functions. Begin with .object = objects, lock held. */
struct place {
	struct object *object;
	uint32_t sled;		      /* the next index in object->sites */
	int bound_begun;
	struct bound_function *next; /* the next function that bindings call */
	/* The current function: */
	struct bound_function *bound; /* NULL: `index` tells the function */
	uint32_t index;
};

/* Goes on to the next function. Lock held. */
static int advance(struct place *p)
{
	for (; p->object; p->object = p->object->next, p->sled = 0, p->bound_begun = 0) {
		const struct object *object = p->object;
		p->bound = NULL;
		while (object->marks && !object->refused && p->sled < object->sites.functions) {
			p->index = p->sled++;
			if (object->sites.function[p->index].reason == TRACE_REASON_TRACED)
				return 1;
		}
		if (!p->bound_begun)
			p->next = object->bound;
		p->bound_begun = 1;
		while (p->next) {
			p->bound = p->next;
			p->next = p->next->all;
			if (p->bound->id)
				return 1;
		}
	}
	return 0;
}

static uint32_t id_of(const struct place *p)
{
	return p->bound ? p->bound->id : announce_id(p->object, p->index);
}

static bool is_bound_on(const struct load *load, const struct bound_function *f)
{
	if (!load->bindings)
		return false;
	for (const struct binding *b = load->bindings[f->hash % OBJECT_BUCKETS]; b; b = b->next)
		/* Relaxed: a thread that switches it holds the lock, as we do. */
		if (b->function == f && __atomic_load_n(&b->cell->target, __ATOMIC_RELAXED) == b->rest)
			return true;
	return false;
}

/* Lock held. */
static void fill_info(const struct place *p, struct xaudit_function_info *info)
{
	const struct object *object = p->object;
	const struct site_function *f = p->bound ? NULL : &object->sites.function[p->index];

	*info = (struct xaudit_function_info){
		.size = sizeof(*info), .id = id_of(p), .object = object->number, .path = object->path
	};
	info->offset = f ? f->address : p->bound->offset;
	info->length = f ? f->size : 0;
	info->kind = kind_rows[f ? f->kind : p->bound->kind].word;
	info->name = !f ? p->bound->name : f->name ? f->name : "";
	/* Of several loads, in several namespaces, the one that was opened last. */
	uint32_t newest = 0;
	for (const struct load *load = loads; load; load = load->next) {
		if (load->state != LOAD_OPEN || load->object != object)
			continue;
		info->on |= (uint32_t)(f ? load_code_is_on(load, p->index) : is_bound_on(load, p->bound)) != 0;
		if (load->number > newest) {
			newest = load->number;
			info->address = load->base + info->offset;
		}
	}
}

static int api_function(uint32_t id, struct xaudit_function_info *info)
{
	struct process_held held;
	struct xaudit_function_info found;
	int r = -ENOENT;

	if (info->size < 8)
		return -EINVAL;
	process_lock(&held);
	struct place place = { .object = objects };
	while (id && r && advance(&place)) {
		if (id_of(&place) == id) {
			fill_info(&place, &found);
			r = 0;
		}
	}
	process_unlock(&held);
	if (r == 0)
		give(info, info->size, &found, sizeof(found));
	return r;
}

#define AT_A_TIME 16

/* Calls do_it for each function, without the lock, until it returns other than 0. */
static int each(int (*do_it)(const struct place *place, const struct xaudit_function_info *info, void *arg), void *arg)
{
	struct place place[AT_A_TIME];
	struct xaudit_function_info info[AT_A_TIME];
	struct place last = { 0 };
	struct process_held held;
	int n, r = 0;

	process_lock(&held);
	last.object = objects;
	process_unlock(&held);
	do {
		process_lock(&held);
		for (n = 0; n < AT_A_TIME && advance(&last); n++) {
			place[n] = last;
			fill_info(&last, &info[n]);
		}
		process_unlock(&held);
		for (int i = 0; i < n && r == 0; i++)
			r = do_it(&place[i], &info[i], arg);
	} while (n == AT_A_TIME && r == 0);
	return r;
}

struct callback {
	int (*function)(const struct xaudit_function_info *info, void *arg);
	void *arg;
};

static int call_back(const struct place *place, const struct xaudit_function_info *info, void *arg)
{
	const struct callback *callback = arg;

	(void)place;
	return callback->function(info, callback->arg);
}

static int api_for_each_function(int (*callback)(const struct xaudit_function_info *info, void *arg), void *arg)
{
	return each(call_back, &(struct callback){ callback, arg });
}

/* ---- the table as text ---- */

struct output {
	int fd;
	struct text text;
	char buffer[1024];
};

/* Writes what is in the buffer. Returns 0 or -errno. */
static int drain(struct output *output)
{
	size_t done = 0;

	while (done < output->text.length) {
		long n = sys_write(output->fd, output->buffer + done, output->text.length - done);
		if (n < 0 && n != -EINTR)
			return (int)n;
		done += n > 0 ? (size_t)n : 0;
	}
	output->text.length = 0;
	return 0;
}

static void put_number(struct output *output, uint64_t n, int hexadecimal)
{
	int shift = 60;

	text_char(&output->text, '\t');
	if (!hexadecimal) {
		text_number(&output->text, n);
		return;
	}
	text_string(&output->text, "0x");
	while (shift && !(n >> shift))
		shift -= 4;
	for (; shift >= 0; shift -= 4)
		text_char(&output->text, "0123456789abcdef"[n >> shift & 15]);
}

/* A name may be longer than the buffer. */
static int put_name(struct output *output, const char *name)
{
	int r = 0;

	text_char(&output->text, '\t');
	for (; *name && r == 0; name++) {
		if (output->text.length > sizeof(output->buffer) / 2)
			r = drain(output);
		text_char(&output->text, (unsigned char)*name < ' ' ? ' ' : *name);
	}
	return r;
}

static int put_function(const struct place *place, const struct xaudit_function_info *info, void *arg)
{
	struct output *output = arg;
	const struct site_set *set = &place->object->sites;

	text_string(&output->text, "function");
	put_number(output, info->id, 0);
	put_number(output, info->object, 0);
	text_char(&output->text, '\t');
	text_string(&output->text, info->kind);
	text_string(&output->text, info->on ? "\ton" : "\toff");
	put_number(output, info->address, 1);
	put_number(output, info->offset, 1);
	put_number(output, info->length, 1);
	int r = put_name(output, info->name);
	if (r == 0)
		r = put_name(output, info->path);
	text_char(&output->text, '\n');
	if (r == 0)
		r = drain(output);
	for (uint32_t i = 0; r == 0 && !place->bound && i < set->function[place->index].count; i++) {
		const struct site *site = &set->site[set->function[place->index].first + i];
		text_string(&output->text, "point");
		put_number(output, info->id, 0);
		put_number(output, info->object, 0);
		put_number(output, site->address, 1);
		text_char(&output->text, '\t');
		text_string(&output->text, sled_row(site->type)->word);
		put_number(output, site->length, 0);
		text_char(&output->text, '\n');
		r = drain(output);
	}
	return r;
}

static int api_dump_table(int fd)
{
	struct output output = { .fd = fd };

	output.text = (struct text){ output.buffer, sizeof(output.buffer), 0 };
	text_string(&output.text, "xaudit-table\t1\n");
	int r = drain(&output);
	return r ? r : each(put_function, &output);
}

/* ---- rules ---- */

#define RULE_SIZE 4096

static int change(int on, const char *text, struct control_result *result)
{
	static char copy[RULE_SIZE] SYS_LARGE; /* the lock guards it */
	const struct timespec pause = { .tv_nsec = 1000000 };
	struct process_held held;
	struct requests_rule rule;
	size_t length = sys_length(text);
	int r = -EAGAIN;

	if (length >= RULE_SIZE)
		return -ENAMETOOLONG;
	for (int tries = 0; r == -EAGAIN && tries < 1000; tries++) {
		if (tries)
			sys_call(__NR_nanosleep, (long)&pause, 0, 0, 0, 0, 0);
		process_lock(&held);
		sys_copy(copy, text, length + 1);
		sys_fill(result, 0, sizeof(*result));
		r = process_state() == PROCESS_OFF ? -ECANCELED : requests_parse(&rule, copy);
		if (r == 0)
			r = switch_apply(on, &rule, result);
		process_unlock(&held);
	}
	return r;
}

static int change_by_rule(int on, const char *rule, struct xaudit_result *result)
{
	struct control_result did;

	if (result && result->size < 8)
		return -EINVAL;
	int r = change(on, rule, &did);
	if (r == 0 && result) {
		struct xaudit_result told = {
			.functions = did.functions, .changed = did.changed, .already = did.already
		};
		for (unsigned i = 0; i < TRACE_REASON_COUNT; i++)
			told.refused += i == TRACE_REASON_ENTRY_ONLY ? 0 : did.refused[i];
		give(result, result->size, &told, sizeof(told));
	}
	return r;
}

static int api_enable(const char *rule, struct xaudit_result *result)
{
	return change_by_rule(1, rule, result);
}

static int api_disable(const char *rule, struct xaudit_result *result)
{
	return change_by_rule(0, rule, result);
}

/* ---- the rest ---- */

static int api_flush(void)
{
	struct process_held held;
	int r = -ENODATA;

	process_lock(&held);
	if (process_state() == PROCESS_OFF) {
		r = -ECANCELED;
	} else if (process_head()) {
		announce_changed_counts(1);
		r = 0;
	}
	process_unlock(&held);
	process_clock();
	return r;
}

static int set_recording(int on)
{
	struct process_held held;
	int r = -ECANCELED;

	process_lock(&held);
	if (process_state() != PROCESS_OFF) {
		recorder_set_recording(on);
		r = 0;
	}
	process_unlock(&held);
	return r;
}

static int api_start(void)
{
	return set_recording(1);
}

static int api_stop(void)
{
	return set_recording(0);
}

static int api_status(struct xaudit_status *status)
{
	struct process_held held;
	struct xaudit_status now = { .types = custom_types() };

	if (status->size < 8)
		return -EINVAL;
	process_lock(&held);
	now.state = (uint32_t)process_state();
	recorder_state(&now.mode, &now.recording);
	for (const struct object *object = objects; object; object = object->next) {
		now.objects++;
		for (unsigned kind = 0; kind < TRACE_KIND_COUNT; kind++)
			if (kind_has(kind, KIND_EVENTS))
				now.functions += object->counts[kind][TRACE_REASON_TRACED] +
						 object->counts[kind][TRACE_REASON_ENTRY_ONLY];
	}
	for (const struct load *load = loads; load; load = load->next)
		now.loads += load->state == LOAD_OPEN;
	if (process_head())
		now.bytes = process_stream_bytes();
	process_unlock(&held);
	if (status->size >= sizeof(now)) {
		now.folder = status->folder;
		now.folder_size = status->folder_size;
		if (now.folder && now.folder_size) {
			/*
			 * The folder is written once, before the state is XAUDIT_ON. Copied without the lock, since
			 * this writes to the program's memory.
			 */
			struct text text = { now.folder, now.folder_size, 0 };
			*now.folder = '\0';
			if (now.state == PROCESS_ON)
				text_string(&text, process_folder());
		}
	}
	give(status, status->size, &now, sizeof(now));
	return 0;
}

/* ---- handlers ---- */

/* Both are the same structure, under public names and under our own. */
_Static_assert(sizeof(struct xaudit_handler_event) == sizeof(struct handlers_event), "as told");
_Static_assert(
	offsetof(struct xaudit_handler_event, registers) == offsetof(struct handlers_event, registers), "as told");
_Static_assert(
	offsetof(struct xaudit_handler_event, data_type) == offsetof(struct handlers_event, data_type), "as told");
_Static_assert(sizeof(struct xaudit_registers) == sizeof(struct tramp_registers), "as told");
_Static_assert((int)XAUDIT_HANDLE_UNLOAD == (int)HANDLERS_UNLOAD && XAUDIT_DEFERRED == HANDLERS_DEFERRED, "as told");

static int api_set_handler(int type, xaudit_handler *handler, void *arg)
{
	dlclose_watch();
	return handlers_set((enum handlers_type)(type & ~XAUDIT_GENERAL), (handlers_function *)(uintptr_t)handler, arg,
		type & XAUDIT_GENERAL ? HANDLERS_GENERAL : 0);
}

static int api_remove_handler(int type)
{
	return handlers_remove((enum handlers_type)type);
}

static int api_vector(const struct xaudit_handler_event *event, unsigned n, uint8_t value[64])
{
	return handlers_vector((const struct handlers_event *)(const void *)event, n, value);
}

static int api_event_values(const struct xaudit_handler_event *event, struct xaudit_values *values)
{
	return handlers_values((const struct handlers_event *)(const void *)event, values);
}

const struct api_table api_table = {
	.event = custom_event,
	.typed_event = custom_typed_event,
	.register_type = custom_register_type,
	.mark = custom_mark,
	.request = custom_request,
	.request_number = custom_request_number,
	.request_end = custom_request_end,
	.flush = api_flush,
	.enable = api_enable,
	.disable = api_disable,
	.status = api_status,
	.function = api_function,
	.for_each_function = api_for_each_function,
	.dump_table = api_dump_table,
	.set_handler = api_set_handler,
	.remove_handler = api_remove_handler,
	.vector = api_vector,
	.start = api_start,
	.stop = api_stop,
	.xray_patch = xray_patch,
	.xray_address = xray_address,
	.xray_max_id = xray_max_id,
	.xray_objects = xray_objects,
	.xray_id = xray_id,
	.xray_number_at = xray_number_at,
	.event_values = api_event_values,
};
