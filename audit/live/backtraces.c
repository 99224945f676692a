/* SPDX-License-Identifier: MIT */
#include "audit/live/backtraces.h"

#include <sys/mman.h> /* MAP_ANONYMOUS */

#include "audit/index/find.h"
#include "audit/index/folder.h"
#include "audit/index/frames.h"
#include "audit/live/load_code.h"
#include "audit/live/values.h"
#include "runtime/base/maps.h"
#include "runtime/base/text.h"
#include "runtime/process/process.h"
#include "runtime/values/backtrace.h"
#include "x86_64/sys.h"

static uint32_t rule_of(const void *frames, uint64_t address)
{
	return index_frames_rule(frames, address);
}

static struct load *module; /* the module's own; NULL: it is not known. Lock */

/* Lock held. */
static void say_full(const struct object *object)
{
	static bool said;
	char line[400];
	struct text text = { line, sizeof(line), 0 };

	if (said)
		return;
	said = true;
	text_string(&text, object->path);
	text_string(&text, ": backtraces may end in it, as in what is loaded after it: more than ");
	text_number(&text, BACKTRACE_RANGES);
	text_string(&text, " libraries are not kept track of");
	process_say(line);
}

/* What was known of code that lay where the load lies now. Lock held. */
static void forget_below(const struct load *load)
{
	for (struct load *l = loads; l; l = l->next)
		if (l != load && l->backtraces && l->start < load->end && load->start < l->end)
			backtraces_close(l);
}

/* Lock held. */
static void add(struct load *load)
{
	/* Only that of the module itself has no number. */
	struct backtrace_range range = { .low = load->start, .high = load->end, .code_low = load->end,
		.base = load->base, .own = !load->object->number, .table = &load->object->frames, .rule = rule_of };

	if (load->backtraces || !load->object->frames.count)
		return;
	for (unsigned i = 0; i < load->phnum; i++) {
		const Elf64_Phdr *p = &load->phdr[i];
		uint64_t low = load->base + p->p_vaddr, high = low + p->p_memsz;
		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
			continue;
		range.code_low = low < range.code_low ? low : range.code_low;
		range.code_high = high > range.code_high ? high : range.code_high;
	}
	int number = backtrace_add(&range);
	if (number < 0)
		say_full(load->object);
	else
		load->backtraces = (uint32_t)number + 1;
}

/*
 * Takes a copy of what the index has, unless the object has one, and closes the index: threads look there for as long
 * as the process runs, and who may write to the file could make it shorter under them. Lock held.
 */
static void take(struct object *object, struct index *index)
{
	struct index_frames frames;

	if (!object->frames.count && !index_frames_check(index, &frames)) {
		const size_t size = frames.count * sizeof(*frames.frame);
		void *copy = sys_mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (!sys_is_error(copy)) {
			sys_copy(copy, frames.frame, size);
			sys_mprotect(copy, size, PROT_READ);
			frames.frame = copy;
			object->frames = frames;
		}
	}
	index_close(index);
}

/* Where the module's file lies is asked when it is needed: a start should not read the list of mappings. Lock held. */
static bool know_file(const struct load *load)
{
	static char path[4096] SYS_LARGE;
	struct object *object = load->object;
	struct text text = { path, sizeof(path), 0 };
	struct mapping mapping;

	if (object->path || object->number)
		return true;
	if (maps_find(load->start, &mapping) != 1 || *mapping.name != '/')
		return false;
	text_string(&text, mapping.name);
	object->path = path;
	return object_stat(object);
}

void backtraces_open(struct load *load)
{
	struct object *object = load->object;
	struct index_identity identity;
	struct process_held held;
	struct index index;

	process_lock(&held);
	if (!object->number)
		module = load;
	forget_below(load);
	/* ld.so's lock keeps others from asking for this object. */
	bool asks = values_ask_backtraces() && !object->frames_asked && !(object->flags & TRACE_OBJECT_VDSO);
	if (asks) {
		object->frames_asked = true;
		asks = know_file(load);
	}
	/* By what is known since an earlier load. */
	if (!asks)
		add(load);
	process_unlock(&held);
	if (!asks)
		return;
	object_identity(object, &identity);
	if (!identity.build_id_len && !load_code_is_as_file(object, load->start))
		return;
	if (index_find(&index, &identity, object_file(object)))
		return;
	process_lock(&held);
	take(object, &index);
	add(load);
	process_unlock(&held);
}

void backtraces_close(struct load *load)
{
	if (load->backtraces)
		backtrace_remove((int)load->backtraces - 1);
	load->backtraces = 0;
}

/* Without a build-id it is not known whether the file is the one that was mapped. Lock held. */
static void look(struct load *load)
{
	struct index_identity identity;
	struct index index;

	if (!know_file(load))
		return;
	object_identity(load->object, &identity);
	if (!load->object->frames.count && identity.build_id_len && !index_find_kept(&index, &identity))
		take(load->object, &index);
	add(load);
}

void backtraces_look(void)
{
	if (!values_ask_backtraces())
		return;
	if (module)
		look(module);
	/* One that is being prepared sees to itself. */
	for (struct load *load = loads; load; load = load->next)
		if (load->state == LOAD_OPEN && !load->preparing && !(load->object->flags & TRACE_OBJECT_VDSO))
			look(load);
}
