/* SPDX-License-Identifier: MIT */
#include "audit/live/xray.h"

#include <errno.h>    /* ENOENT */
#include <stdbool.h>
#include <sys/mman.h> /* PROT_READ */

#include "audit/live/switch.h"
#include "runtime/handlers/state.h"
#include "runtime/process/process.h"
#include "x86_64/sys.h"

static struct load *numbered[XRAY_OBJECTS] SYS_LARGE;

/*
 * Objects that have had a number here, by their number in the trace. Only grows. Written with the lock, read without.
 */
#define BLOCK_OBJECTS 512 /* a page */
#define MAX_BLOCKS    2048

static struct object *first_block[BLOCK_OBJECTS] SYS_LARGE;
static struct object **blocks[MAX_BLOCKS] SYS_LARGE;

/* ---- loads ---- */

static uint32_t functions_of(const struct object *object)
{
	return object->sites.of[TRACE_KIND_XRAY].functions;
}

static bool has_functions(const struct object *object)
{
	return object->marks && functions_of(object) && functions_of(object) < XRAY_FUNCTIONS;
}

/* Makes the object known to xray_id(). Returns 0 when there is no memory for that. */
static int note(struct object *object)
{
	uint32_t n = object->number / BLOCK_OBJECTS;

	if (n >= MAX_BLOCKS)
		return 0;
	if (!blocks[n]) {
		void *p = first_block;
		if (n)
			p = sys_mmap(NULL, BLOCK_OBJECTS * sizeof(*blocks[n]), PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (sys_is_error(p))
			return 0;
		/* Release; pairs with the acquire in find(). */
		__atomic_store_n(&blocks[n], p, __ATOMIC_RELEASE);
	}
	/* Release; pairs with the acquire in find(). */
	__atomic_store_n(&blocks[n][object->number % BLOCK_OBJECTS], object, __ATOMIC_RELEASE);
	return 1;
}

static const struct object *find(uint32_t number)
{
	/* Acquire, both; pairs with the releases in note(). */
	struct object **block = number / BLOCK_OBJECTS < MAX_BLOCKS
					? __atomic_load_n(&blocks[number / BLOCK_OBJECTS], __ATOMIC_ACQUIRE)
					: NULL;

	/* Acquire; pairs with the second release in note(). */
	return block ? __atomic_load_n(&block[number % BLOCK_OBJECTS], __ATOMIC_ACQUIRE) : NULL;
}

/*
 * Chooses the load whose number the object's events get: the newest open load, else the newest whose code may still
 * run.
 */
static void choose_load(struct object *object)
{
	const struct load *best = NULL;

	for (uint32_t n = 0; n < XRAY_OBJECTS; n++) {
		const struct load *load = numbered[n];
		if (!load || load->object != object)
			continue;
		int open = load->state == LOAD_OPEN, best_open = best && best->state == LOAD_OPEN;
		if (!best || open > best_open || (open == best_open && load->number > best->number))
			best = load;
	}
	/* Relaxed: one word, and a thread has events of a load only after ld.so has announced the load. */
	__atomic_store_n(&object->xray_now, best ? best->xray : 0, __ATOMIC_RELAXED);
}

static void give_number(struct load *load, uint32_t n)
{
	if (!note(load->object))
		return;
	numbered[n] = load;
	load->xray = n + 1;
	choose_load(load->object);
}

void xray_open(struct load *load)
{
	static int said;
	uint32_t n = load->object->flags & TRACE_OBJECT_PROGRAM ? 0 : 1;

	if (!has_functions(load->object))
		return;
	switch_reloaded(load->object);
	int all_open = 1;
	while (n && n < XRAY_OBJECTS && numbered[n])
		all_open &= numbered[n++]->state == LOAD_OPEN;
	if (n < XRAY_OBJECTS) {
		give_number(load, n);
	} else if (all_open && !said) {
		/*
		 * Otherwise closed loads wait for their epoch; loads that are closed while the process exits wait for
		 * ever.
		 */
		said = 1;
		process_say("255 libraries with XRay functions are loaded: the XRay interface has no numbers for more; "
			    "they are traced as the rules say");
	}
}

void xray_closed(struct load *load)
{
	if (load->xray)
		choose_load(load->object);
}

void xray_free(struct load *load)
{
	if (!load->xray)
		return;
	numbered[load->xray - 1] = NULL;
	load->xray = 0;
	choose_load(load->object);
}

/* ---- for the program ---- */

/* The open load of this number, or NULL. Lock held. */
static const struct load *load_of(int32_t object)
{
	const struct load *load = object >= 0 && object < XRAY_OBJECTS ? numbered[object] : NULL;

	return load && load->state == LOAD_OPEN ? load : NULL;
}

int32_t xray_number_at(uint64_t address)
{
	struct process_held held;
	int32_t number = -1;

	process_lock(&held);
	for (int32_t n = 0; n < XRAY_OBJECTS && number < 0; n++) {
		const struct load *load = load_of(n);
		if (load && address >= load->start && address < load->end)
			number = n;
	}
	process_unlock(&held);
	return number;
}

/* Lock held. */
static uint32_t count_objects(void)
{
	uint32_t n = XRAY_OBJECTS;

	while (n && !load_of((int32_t)n - 1))
		n--;
	return n;
}

uint32_t xray_objects(void)
{
	struct process_held held;

	process_lock(&held);
	uint32_t n = count_objects();
	process_unlock(&held);
	return n;
}

uint32_t xray_max_id(int32_t object)
{
	struct process_held held;

	process_lock(&held);
	const struct load *load = load_of(object);
	uint32_t n = load ? functions_of(load->object) : 0;
	process_unlock(&held);
	return n;
}

static bool has_function(const struct load *load, int32_t function)
{
	return load && function > 0 && (uint32_t)function <= functions_of(load->object);
}

uint64_t xray_address(int32_t object, int32_t function)
{
	struct process_held held;

	process_lock(&held);
	const struct load *load = load_of(object);
	uint64_t address = has_function(load, function)
				   ? load->base + xray_function(load->object, function - 1)->address
				   : 0;
	process_unlock(&held);
	return address;
}

/* Returns enum xray_status, or -EAGAIN: an object is being loaded. Lock held. */
static int patch(unsigned what, int32_t object, int32_t function, int on)
{
	static struct control_result result; /* the lock guards it */
	const struct load *load = what == XRAY_ALL ? NULL : load_of(object);

	if (what == XRAY_ALL && !count_objects())
		return XRAY_NOT_INITIALIZED;
	if (what == XRAY_OBJECT && !load)
		return object == 0 ? XRAY_NOT_INITIALIZED : XRAY_FAILED;
	if (process_state() == PROCESS_OFF || (what == XRAY_FUNCTION && !has_function(load, function)))
		return XRAY_FAILED;
	sys_fill(&result, 0, sizeof(result));
	int r = switch_apply_xray(on, load, what == XRAY_FUNCTION ? function - 1 : -1, &result);
	if (r)
		return r == -EAGAIN ? r : XRAY_FAILED;
	return result.changed || result.already ? XRAY_SUCCESS : XRAY_FAILED;
}

int xray_patch(unsigned what, int32_t object, int32_t function, int on)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	struct process_held held;
	int r = -EAGAIN;

	for (int tries = 0; r == -EAGAIN && tries < 1000; tries++) {
		if (tries)
			sys_call(__NR_nanosleep, (long)&pause, 0, 0, 0, 0, 0);
		process_lock(&held);
		r = patch(what, object, function, on);
		process_unlock(&held);
	}
	return r == -EAGAIN ? XRAY_ONGOING : r;
}

int xray_id(const struct xaudit_handler_event *event, int32_t *id)
{
	const struct object *object = event->id ? find(event->object) : NULL;

	if (!object)
		return -ENOENT;
	uint32_t base = object->base[TRACE_KIND_XRAY], index = event->id - base;
	/* Relaxed, as in choose_load(). */
	uint32_t now = __atomic_load_n(&object->xray_now, __ATOMIC_RELAXED);
	if (!now || !base || index >= functions_of(object))
		return -ENOENT;
	*id = (int32_t)((now - 1) << 24 | (index + 1));
	return (xray_function(object, index)->log_args ? XRAY_LOG_ARGS : 0) |
	       (handlers_is_set(HANDLERS_ARGUMENTS) ? XRAY_HAS_ARGS : 0);
}

/* ---- what runtime symbols mean ---- */

uint64_t xray_no_handlers[4];

int32_t xray_register(const void *start)
{
	return xray_number_at((uint64_t)(uintptr_t)start);
}

uint8_t xray_deregister(int32_t number)
{
	return number > 0 && xray_max_id(number);
}
