/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/record/asked/running.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/trace.h"
#include "runtime/values/running.h"
#include "runtime/values/side.h"
#include "tool/base/now.h"
#include "tool/base/tool.h"
#include "tool/base/whole.h"
#include "x86_64/contract.h"
#include "x86_64/mirror.h"

#define LOOKS	 20	       /* in the time of an action */
#define SHORTEST 5000000ull   /* ns, between two looks */
#define LONGEST	 100000000ull
#define READS	 262144	       /* of a process, in one look: real ones need some for a stack */
#define ENTRIES	 16	       /* that are read at a time */
#define MISSED	 3	       /* a call is forgotten that so many looks have not found */
#define BUCKETS	 (2 * RUNNING_CALLS)

static const char *speaker;

static struct watched {
	int memory;   /* -1: nobody */
	bool refused; /* that one was left for good */
	uint32_t reads; /* in this look */
	char family[32];
	uint32_t place, pid;
	uint64_t block_at;
	struct running_block block;
	uint64_t counted[TRACE_ASKS]; /* calls that came to the time of that number */
} watched[RUNNING_PROCESSES];
static unsigned places; /* of them that were ever used */

/* Calls that are open, by hash: those of this look, and of the one before. */
struct call {
	uint64_t slot, clock;
	uint64_t seen;	 /* by the first look that found it: ns; 0: nobody is here */
	uint32_t process; /* number in `watched` */
	uint16_t done;	 /* numbers of ask.h */
	uint16_t missed;
};
static struct calls {
	struct call call[BUCKETS];
	uint32_t taken[RUNNING_CALLS]; /* which buckets are */
	unsigned count;
} calls[2];
static unsigned now_in; /* which of the two is of this look */

static uint64_t next = UINT64_MAX, spent; /* ns, of the last look */
static bool said_room, said_calls, said_refused;

void running_begin(const char *who)
{
	speaker = who;
}

/* ---- processes ---- */

static uint64_t at(const void *pointer)
{
	return (uint64_t)(uintptr_t)pointer;
}

static bool read_at(struct watched *w, uint64_t address, void *to, size_t size)
{
	if (++w->reads > READS)
		return false;
	/* Addresses of programs; others are no offsets of files, either. */
	return address < 1ull << 47 && whole_read(w->memory, to, size, address);
}

static bool read_block(struct watched *w)
{
	const struct running_block *block = &w->block;

	return read_at(w, w->block_at, &w->block, sizeof(w->block)) && block->magic == RUNNING_MAGIC &&
	       block->side_size == sizeof(struct side) && block->entry_size == sizeof(struct side_entry) &&
	       block->stack_size == sizeof(struct stack);
}

static void leave(struct watched *w)
{
	close(w->memory);
	w->memory = -1;
}

static struct watched *find(const char *family, uint32_t place)
{
	for (unsigned i = 0; i < places; i++)
		if ((watched[i].memory >= 0 || watched[i].refused) && watched[i].place == place &&
			!strcmp(watched[i].family, family))
			return &watched[i];
	return NULL;
}

static struct watched *find_free(void)
{
	for (unsigned i = 0; i < places; i++)
		if (watched[i].memory < 0 && !watched[i].refused)
			return &watched[i];
	return places < RUNNING_PROCESSES ? &watched[places++] : NULL;
}

/* Are the numbers of processes in the head those that we know processes by? */
static bool is_our_namespace(const struct trace_head *head)
{
	struct stat st;

	return !head->pid_namespace || stat("/proc/self/ns/pid", &st) || st.st_ino == head->pid_namespace;
}

static void say_refused(uint32_t pid, const char *why)
{
	if (!said_refused)
		tool_error(speaker, "calls of process %" PRIu32 " that are running longer are not seen: %s", pid, why);
	said_refused = true;
}

void running_add(const char *family, const struct trace_head *head, uint32_t place)
{
	char path[64];

	if (!head->running || head->flags & (TRACE_EXITED | TRACE_LEFT) || find(family, place))
		return;
	if (!is_our_namespace(head)) {
		say_refused(head->pid, "it is in another namespace of processes");
		return;
	}
	struct watched *w = find_free();
	if (!w) {
		if (!said_room)
			tool_error(speaker,
				"calls that are running longer are seen in %d processes at a time, and no more",
				RUNNING_PROCESSES);
		said_room = true;
		return;
	}
	*w = (struct watched){ .memory = -1, .place = place, .pid = head->pid, .block_at = head->running };
	snprintf(w->family, sizeof(w->family), "%s", family);
	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/mem", head->pid);
	w->memory = open(path, O_RDONLY | O_CLOEXEC);
	if (w->memory < 0 && errno != ENOENT && errno != ESRCH)
		say_refused(head->pid, strerror(errno));
	if (w->memory >= 0 && !read_block(w))
		leave(w);
	if (w->memory >= 0)
		next = 0;
}

/* ---- calls ---- */

static struct call *bucket_of(struct calls *in, uint32_t process, uint64_t slot, uint64_t clock)
{
	uint64_t hash = (slot ^ clock * 0x9e3779b97f4a7c15u ^ (uint64_t)process << 40) * 0x9e3779b97f4a7c15u;
	struct call *call;

	for (uint32_t i = (uint32_t)(hash >> 40);; i++) {
		call = &in->call[i % BUCKETS];
		if (!call->seen || (call->process == process && call->slot == slot && call->clock == clock))
			return call;
	}
}

/* The call in the look that goes on; NULL: there is no room for it. */
static struct call *keep(const struct call *call)
{
	struct calls *in = &calls[now_in];
	struct call *to = bucket_of(in, call->process, call->slot, call->clock);

	if (to->seen)
		return to;
	if (in->count >= RUNNING_CALLS) {
		if (!said_calls)
			tool_error(speaker,
				"more than %d calls with `running longer` are open: of others it is not seen whether "
				"they are running longer", RUNNING_CALLS);
		said_calls = true;
		return NULL;
	}
	in->taken[in->count++] = (uint32_t)(to - in->call);
	*to = *call;
	return to;
}

/* Is the thread there that ran on the stack last? Of other stacks than threads' own it need not be. */
static bool has_thread(const struct watched *w, const struct stack *stack)
{
	char path[64];

	if (!stack->native || stack->native == MAIN_STACK)
		return true;
	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task/%" PRIu32, w->pid, stack->tid);
	return stack->runner && !access(path, F_OK);
}

/* Is the snapshot of that number due for one more call? */
static bool is_due(struct watched *w, unsigned number)
{
	const struct running_row *row = &w->block.row[number];
	const uint64_t n = ++w->counted[number];

	/* With both, it is the first of those that are one in so many. */
	if (row->every && n % row->every)
		return false;
	return !row->once || n == (row->every ? row->every : 1);
}

/* One open call. Returns the numbers of snapshots that are due. */
static uint32_t take_call(struct watched *w, const struct side_entry *entry, const struct stack *stack, uint64_t now)
{
	const uint32_t process = (uint32_t)(w - watched);
	struct call fresh = { entry->slot, entry->clock, now, process, 0, 0 };
	const struct call *before = bucket_of(&calls[!now_in], process, entry->slot, entry->clock);
	struct call *call = keep(before->seen ? before : &fresh);
	uint32_t due = 0;

	if (!call)
		return 0;
	call->missed = 0;
	for (unsigned i = 0; i < TRACE_ASKS; i++) {
		const uint32_t bit = 1u << i;
		if (!(entry->running & bit) || call->done & bit || !w->block.row[i].longer ||
			now - call->seen < w->block.row[i].longer)
			continue;
		call->done |= (uint16_t)bit;
		due |= has_thread(w, stack) && is_due(w, i) ? bit : 0;
	}
	return due;
}

/* Is the call of the entry open on the stack? */
static bool is_open(struct watched *w, const struct side_entry *entry, const struct stack *stack)
{
	const uint64_t slot = entry->slot;
	struct mirror_entry mirror;

	if (slot < stack->hot.top || !stack_has(stack, slot) || slot % 8)
		return false;
	return read_at(w, at(mirror_entry(slot)), &mirror, sizeof(mirror)) &&
	       mirror.word & (uint32_t)TRAMP_WORD_VALUES && !(mirror.word & (uint32_t)TRAMP_WORD_SILENT);
}

/* The calls of the stack whose list is at that address. */
static uint32_t look_at_stack(
	struct watched *w, uint64_t side, const struct side_head *head, uint32_t generation, uint64_t now)
{
	static struct side_entry entry[ENTRIES];
	const uint32_t used = head->used < SIDE_MOST ? head->used : SIDE_MOST;
	struct stack stack = { .number = 0 };
	uint32_t due = 0;

	for (uint32_t i = 0, n; i < used; i += n) {
		n = used - i < ENTRIES ? used - i : ENTRIES;
		if (!read_at(w, side + offsetof(struct side, entry) + i * sizeof(*entry), entry, n * sizeof(*entry)))
			break;
		for (uint32_t k = 0; k < n; k++) {
			if (!entry[k].running || entry[k].generation != generation)
				continue;
			if (!stack.number && (!read_at(w, at(head->owner), &stack, sizeof(stack)) ||
						     stack.number != head->stack || stack.freed))
				return due;
			if (is_open(w, &entry[k], &stack))
				due |= take_call(w, &entry[k], &stack, now);
		}
	}
	return due;
}

/* Returns false: the process is gone, or runs another program. */
static bool look_at_process(struct watched *w, uint64_t now, uint32_t *due)
{
	uint32_t generation = 0;
	struct side *list = NULL;
	struct side_head head;

	*due = 0;
	w->reads = 0;
	if (!read_block(w))
		return false;
	/* A forked child that has done nothing yet has no number. */
	if (!read_at(w, at(w->block.generation), &generation, sizeof(generation)) || !generation ||
		!read_at(w, at(w->block.first), &list, sizeof(list)))
		return true;
	while (list && read_at(w, at(list), &head, sizeof(head))) {
		if (head.used && head.stack)
			*due |= look_at_stack(w, at(list), &head, generation, now);
		list = head.next;
	}
	w->refused = w->reads > READS;
	if (w->refused)
		say_refused(w->pid, "its memory tells of more stacks and calls than may be looked at");
	return !w->refused;
}

/* ---- all ---- */

/* The other table becomes that of this look, and empty. */
static void turn(void)
{
	now_in = !now_in;
	struct calls *in = &calls[now_in];
	while (in->count)
		in->call[in->taken[--in->count]].seen = 0;
}

/* Calls that were there a moment ago are not forgotten at once: what was read may have been half written. */
static void keep_missed(void)
{
	const struct calls *before = &calls[!now_in];

	for (unsigned i = 0; i < before->count; i++) {
		struct call call = before->call[before->taken[i]];
		if (++call.missed > MISSED || watched[call.process].memory < 0)
			continue;
		keep(&call);
	}
}

/* Of all actions that are watched; 0: there is none. */
static uint64_t shortest_time(void)
{
	uint64_t shortest = UINT64_MAX;

	for (unsigned i = 0; i < places; i++)
		for (unsigned k = 0; watched[i].memory >= 0 && k < TRACE_ASKS; k++) {
			uint64_t longer = watched[i].block.row[k].longer;
			shortest = longer && longer < shortest ? longer : shortest;
		}
	return shortest == UINT64_MAX ? 0 : shortest;
}

static uint64_t time_to_next(void)
{
	uint64_t step = shortest_time() / LOOKS;

	step = step > LONGEST ? LONGEST : step < SHORTEST ? SHORTEST : step;
	return step > 4 * spent ? step : 4 * spent;
}

uint64_t running_look(uint64_t now, void (*due)(const char *family, uint32_t place, uint32_t numbers))
{
	unsigned any = 0;
	uint32_t numbers;

	if (now < next)
		return next;
	const uint64_t began = tool_now();
	turn();
	for (unsigned i = 0; i < places; i++) {
		struct watched *w = &watched[i];
		if (w->memory < 0)
			continue;
		if (!look_at_process(w, now, &numbers)) {
			leave(w);
			continue;
		}
		any++;
		if (numbers)
			due(w->family, w->place, numbers);
	}
	keep_missed();
	spent = tool_now() - began;
	next = any ? now + time_to_next() : UINT64_MAX;
	return next;
}
