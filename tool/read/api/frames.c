/* SPDX-License-Identifier: MIT */
#include "tool/read/api/frames.h"

#include <stdlib.h>
#include <string.h>

#include "format/chain.h"
#include "tool/base/object_file.h"
#include "tool/read/api/frame_loads.h"
#include "tool/read/api/functions.h"
#include "tool/read/api/values.h"
#include "tool/read/damage/memory.h"
#include "tool/read/names.h"

#define FRAMES_MOST (1ull << 26) /* of all distinct backtraces */

#define X(number, NAME, phrase) \
	_Static_assert((int)XAUDIT_READ_STACK_##NAME == (int)CHAIN_END_##NAME, "the same");
CHAIN_ENDS(X)
#undef X

struct frame {
	struct xaudit_read_frame public;
	struct read_api_stacks *of;
	bool known; /* the file was asked: */
	struct xaudit_read_symbol symbol;
};

struct stack {
	struct xaudit_read_stack public;
	const struct xaudit_read_frame *frame[];
};

struct file {
	const struct xaudit_read_object *object;
	struct object_file *file; /* NULL: nothing is known */
};

struct read_api_stacks {
	struct read_damage *damage;
	struct frame **frame; /* by number */
	uint32_t frames;
	struct hash by_place; /* of frame[] */
	struct stack **stack; /* by number */
	uint32_t stacks;
	struct hash by_frames; /* of stack[] */
	uint64_t kept;	       /* frames in all stacks */
	struct file *file;
	uint32_t files;
	struct hash by_object; /* of file[] */
};

struct key {
	uint64_t key, age;
	const struct xaudit_read_stack *stack;
};

struct read_api_keys {
	struct read_frame_loads loads;
	struct key *key;
	uint32_t keys;
	struct hash by_key;
};

/* ---- frames ---- */

static const struct xaudit_read_frame *frame_of(struct read_api_stacks *stacks,
	const struct xaudit_read_object *object, uint64_t offset, uint32_t marks)
{
	uint32_t hash = hash_key(offset, (uintptr_t)object ^ marks);
	uint32_t found = HASH_FIND(i, &stacks->by_place, hash,
		stacks->frame[i]->public.offset == offset && stacks->frame[i]->public.object == object &&
			stacks->frame[i]->public.marks == marks);

	if (found != HASH_NONE)
		return &stacks->frame[found]->public;
	if (!read_memory_grow(stacks->damage, &stacks->frame, stacks->frames, sizeof(*stacks->frame)))
		return NULL;
	struct frame *frame = read_memory_zeroed(stacks->damage, 1, sizeof(*frame));
	if (!frame || !read_memory_hash(stacks->damage, &stacks->by_place, hash, stacks->frames)) {
		free(frame);
		return NULL;
	}
	frame->public = (struct xaudit_read_frame){
		.object = object, .offset = offset, .marks = marks, .number = stacks->frames };
	frame->of = stacks;
	stacks->frame[stacks->frames++] = frame;
	return &frame->public;
}

static uint32_t marks_of(uint64_t word)
{
	return (word & CHAIN_EXACT ? XAUDIT_READ_FRAME_EXACT : 0) |
	       (word & CHAIN_BY_FRAME ? XAUDIT_READ_FRAME_BY_FRAME : 0);
}

static const struct xaudit_read_frame *resolve(
	struct read_api_stacks *stacks, struct xaudit_read_process *process, uint64_t word, uint64_t ticks)
{
	uint64_t address = word & CHAIN_ADDRESS, before = word & CHAIN_EXACT ? 0 : 1;
	const struct read_frame_load *load = read_frame_loads_find(&process->keys->loads, address - before, ticks);
	const struct read_object *from = load ? read_process_object(process->read, load->object) : NULL;

	if (!from)
		return frame_of(stacks, NULL, address, marks_of(word));
	const struct xaudit_read_object *object = read_api_object_exactly(process->trace, from);
	return object ? frame_of(stacks, object, address - load->base, marks_of(word)) : NULL;
}

/* ---- backtraces ---- */

static const char *end_text(int end)
{
	static const char *const texts[] = {
#define X(number, NAME, phrase) [number] = phrase,
		CHAIN_ENDS(X)
#undef X
	};

	return end < CHAIN_END_COUNT ? texts[end] : "for a reason that this version does not know";
}

static bool is_same(const struct stack *a, const struct stack *b)
{
	return a->public.frames == b->public.frames && a->public.end == b->public.end &&
	       !memcmp(a->frame, b->frame, a->public.frames * sizeof(*a->frame));
}

static uint32_t hash_of(const struct stack *stack)
{
	uint32_t hash = (uint32_t)stack->public.end;

	for (uint32_t i = 0; i < stack->public.frames; i++)
		hash = hash_key(stack->frame[i]->number, hash);
	return hash;
}

/* The one that equals this, which is freed; or this one, if it is the first. */
static const struct xaudit_read_stack *same(struct read_api_stacks *stacks, struct stack *stack)
{
	uint32_t hash = hash_of(stack);
	uint32_t found = HASH_FIND(i, &stacks->by_frames, hash, is_same(stacks->stack[i], stack));

	if (found != HASH_NONE) {
		free(stack);
		return &stacks->stack[found]->public;
	}
	if (stacks->kept + stack->public.frames > FRAMES_MOST ||
		!read_memory_grow(stacks->damage, &stacks->stack, stacks->stacks, sizeof(*stacks->stack)) ||
		!read_memory_hash(stacks->damage, &stacks->by_frames, hash, stacks->stacks)) {
		free(stack);
		return NULL;
	}
	stack->public.number = stacks->stacks;
	stack->public.frame = stack->frame;
	stacks->kept += stack->public.frames;
	stacks->stack[stacks->stacks++] = stack;
	return &stack->public;
}

static const struct xaudit_read_stack *make(
	struct read_api_stacks *stacks, const struct xaudit_read_values *values)
{
	uint32_t frames = values->chain.words - 1;
	struct stack *stack =
		read_memory_zeroed(stacks->damage, sizeof(*stack) + frames * sizeof(*stack->frame), 1);

	if (!stack)
		return NULL;
	for (uint32_t i = 0; i < frames; i++) {
		stack->frame[i] = resolve(stacks, values->process, values->chain.word[i], values->ticks);
		if (!stack->frame[i]) {
			free(stack);
			return NULL;
		}
	}
	stack->public.frames = frames;
	stack->public.end = (int)(values->chain.word[frames] & INT32_MAX);
	stack->public.end_text = end_text(stack->public.end);
	return same(stacks, stack);
}

static struct read_api_stacks *stacks_of(struct xaudit_read_trace *trace)
{
	if (!trace->stacks) {
		trace->stacks = read_memory_zeroed(&trace->folder->damage, 1, sizeof(*trace->stacks));
		if (trace->stacks)
			trace->stacks->damage = &trace->folder->damage;
	}
	return trace->stacks;
}

const struct xaudit_read_frame *read_api_frame_at(
	struct xaudit_read_trace *trace, const struct xaudit_read_object *object, uint64_t offset)
{
	struct read_api_stacks *stacks = stacks_of(trace);

	return stacks ? frame_of(stacks, object, offset, XAUDIT_READ_FRAME_EXACT) : NULL;
}

/* What the process has kept of its keys. */
static struct read_api_keys *keys_of(struct xaudit_read_process *process)
{
	struct read_damage *damage = &process->trace->folder->damage;

	if (!process->keys)
		process->keys = read_memory_zeroed(damage, 1, sizeof(*process->keys));
	return process->keys;
}

/* The key among the values. */
static uint64_t key_of(const struct xaudit_read_values *values)
{
	const struct read_layout *layout = values->layout;
	struct xaudit_read_value value[VALUES_MOST];
	uint32_t i = 0, at = 0;
	uint64_t key;

	/* As a rule, only numbers are before it, and all are whole. */
	while (!values->flawed && i < layout->count && layout->value[i].size &&
		layout->value[i].type != VALUES_TYPE_STACK)
		at += layout->value[i++].size;
	if (!values->flawed && i < layout->count && layout->value[i].type == VALUES_TYPE_STACK &&
		at + sizeof(key) <= values->size) {
		memcpy(&key, values->bytes + at, sizeof(key));
		return key;
	}
	uint32_t count = xaudit_read_values(values, value, VALUES_MOST);
	for (i = 0; i < count; i++)
		if (value[i].type == XAUDIT_READ_VALUE_STACK)
			return value[i].state == XAUDIT_READ_VALUE_WHOLE ? value[i].number : 0;
	return 0;
}

struct xaudit_read_values read_api_backtrace_of(struct xaudit_read_process *process, const uint8_t *key,
	const struct read_chain *chain, uint64_t ticks)
{
	static const struct read_layout layout = { .states = 1,
		.count = 1,
		.has_stack = true,
		.value = { { .name = "backtrace",
			.words = "",
			.when = "",
			.type = VALUES_TYPE_STACK,
			.size = sizeof(uint64_t),
			.role = VALUES_ROLE_OTHER } } };

	return (struct xaudit_read_values){ .layout = key ? &layout : NULL,
		.bytes = key,
		.size = key ? sizeof(uint64_t) : 0,
		.chain = *chain,
		.process = process,
		.ticks = ticks };
}

const struct xaudit_read_stack *xaudit_read_stack(const struct xaudit_read_values *values)
{
	if (!values || !values->layout || !values->layout->has_stack || !values->chain.words)
		return NULL;
	struct read_api_stacks *stacks = stacks_of(values->process->trace);
	struct read_api_keys *keys = keys_of(values->process);
	uint64_t number = key_of(values);
	if (!stacks || !keys || !number)
		return NULL;
	uint32_t row = HASH_FIND(i, &keys->by_key, hash_key(number, 0), keys->key[i].key == number);
	if (row != HASH_NONE && keys->key[row].age == read_frame_loads_age(&keys->loads, values->ticks))
		return keys->key[row].stack;
	/* A running process may have got objects since. */
	read_frame_loads_read(&keys->loads, values->process->read);
	const struct xaudit_read_stack *stack = make(stacks, values);
	if (!stack)
		return NULL;
	if (row == HASH_NONE) {
		if (!read_memory_grow(stacks->damage, &keys->key, keys->keys, sizeof(*keys->key)) ||
			!read_memory_hash(stacks->damage, &keys->by_key, hash_key(number, 0), keys->keys))
			return NULL;
		row = keys->keys++;
	}
	keys->key[row] = (struct key){ number, read_frame_loads_age(&keys->loads, values->ticks), stack };
	return stack;
}

uint64_t xaudit_read_stack_address(const struct xaudit_read_values *values, uint32_t frame)
{
	if (!values || !values->layout || !values->layout->has_stack || frame + 1ul >= values->chain.words)
		return 0;
	return values->chain.word[frame] & CHAIN_ADDRESS;
}

uint32_t xaudit_read_stacks(const struct xaudit_read_trace *trace)
{
	return trace->stacks ? trace->stacks->stacks : 0;
}

const struct xaudit_read_stack *xaudit_read_stack_numbered(const struct xaudit_read_trace *trace, uint32_t number)
{
	return number < xaudit_read_stacks(trace) ? &trace->stacks->stack[number]->public : NULL;
}

/* ---- names ---- */

static struct object_file *file_of(struct read_api_stacks *stacks, const struct xaudit_read_object *object)
{
	uint32_t hash = hash_key((uintptr_t)object, 0);
	uint32_t found = HASH_FIND(i, &stacks->by_object, hash, stacks->file[i].object == object);

	if (found != HASH_NONE)
		return stacks->file[found].file;
	if (!read_memory_grow(stacks->damage, &stacks->file, stacks->files, sizeof(*stacks->file)) ||
		!read_memory_hash(stacks->damage, &stacks->by_object, hash, stacks->files))
		return NULL;
	struct object_file *file = *object->path == '/' ? object_file_open(object->path, object->build_id) : NULL;
	stacks->file[stacks->files++] = (struct file){ object, file };
	return file;
}

static void look_up(struct frame *frame)
{
	const struct xaudit_read_object *object = frame->public.object;
	struct object_file *file = object ? file_of(frame->of, object) : NULL;
	uint64_t address = frame->public.offset - !(frame->public.marks & XAUDIT_READ_FRAME_EXACT);
	int line;

	frame->known = true;
	if (!file)
		return;
	frame->symbol.name = object_file_function(file, address, &frame->symbol.start);
	if (object_file_line(file, address, &frame->symbol.file, &line))
		frame->symbol.line = (uint32_t)line;
}

int xaudit_read_frame_symbol(const struct xaudit_read_frame *frame, struct xaudit_read_symbol *to)
{
	struct frame *own = (struct frame *)frame;

	if (!own->known)
		look_up(own);
	*to = own->symbol;
	return to->name || to->file;
}

/* ---- end ---- */

void read_api_free_keys(struct xaudit_read_process *process)
{
	struct read_api_keys *keys = process->keys;

	process->keys = NULL;
	if (!keys)
		return;
	read_frame_loads_free(&keys->loads);
	free(keys->key);
	hash_free(&keys->by_key);
	free(keys);
}

void read_api_free_stacks(struct xaudit_read_trace *trace)
{
	struct read_api_stacks *stacks = trace->stacks;

	trace->stacks = NULL;
	if (!stacks)
		return;
	for (uint32_t i = 0; i < stacks->files; i++)
		object_file_close(stacks->file[i].file);
	for (uint32_t i = 0; i < stacks->stacks; i++)
		free(stacks->stack[i]);
	for (uint32_t i = 0; i < stacks->frames; i++)
		free(stacks->frame[i]);
	free(stacks->file);
	free(stacks->stack);
	free(stacks->frame);
	hash_free(&stacks->by_object);
	hash_free(&stacks->by_frames);
	hash_free(&stacks->by_place);
	free(stacks);
}
