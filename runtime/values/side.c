/* SPDX-License-Identifier: MIT */
#include "runtime/values/side.h"

#include <sys/mman.h> /* PROT_READ */

#include "format/trace.h" /* TRACE_STACK_BITS */
#include "x86_64/confined.h"
#include "x86_64/sys.h"

#define SIDES (1u << TRACE_STACK_BITS)

/* By the number of the stack's memory. NULL: none was needed yet. */
static struct side **sides;
static struct side *first; /* of all; they are added in front */

struct side *const *side_first(void)
{
	return &first;
}

static uint32_t load(const uint32_t *word)
{
	/* Relaxed: the thread's own, or a handler's on it; the fence makes the compiler load it here. */
	uint32_t value = __atomic_load_n(word, __ATOMIC_RELAXED);

	__atomic_signal_fence(__ATOMIC_SEQ_CST); /* no partner thread */
	return value;
}

static void store(uint32_t *word, uint32_t value)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST); /* no partner thread: what was stored before is there before */
	__atomic_store_n(word, value, __ATOMIC_RELAXED); /* relaxed, as above */
	__atomic_signal_fence(__ATOMIC_SEQ_CST); /* no partner thread */
}

/* What *at points to, made of zeros if need be; NULL: it can't be. *is_new: it was made here. */
static void *make(void **at, size_t bytes, bool *is_new)
{
	void *found = NULL, *made;

	*is_new = false;
	if (confined())
		return NULL;
	made = sys_mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (sys_is_error(made))
		return NULL;
	/* Acquire and release: pairs with itself, of a handler's or another thread's, and with the loads in of(). */
	if (!__atomic_compare_exchange_n(at, &found, made, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		sys_munmap(made, bytes);
		return found;
	}
	*is_new = true;
	return made;
}

/* Others find the list from now on. */
static void show(struct side *side)
{
	side->head.next = __atomic_load_n(&first, __ATOMIC_RELAXED); /* relaxed: it is only passed on */
	/* Release: the memory of `next` is there before; pairs with system calls of who looks from outside. */
	while (!__atomic_compare_exchange_n(&first, &side->head.next, side, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
}

/* The stack's list; NULL: there is none, and none is made. */
static struct side *of(struct stack *stack, bool needed)
{
	/* Relaxed: as in number_of() of recorder.c. */
	uint32_t number = __atomic_load_n(&stack->number, __ATOMIC_RELAXED);
	/* Acquire, both: pairs with the exchange in make(). */
	struct side **table = __atomic_load_n(&sides, __ATOMIC_ACQUIRE), *side;
	bool is_new = false;

	if (!table && (!needed || !(table = make((void **)&sides, SIDES * sizeof(*sides), &is_new))))
		return NULL;
	struct side **at = &table[number & (SIDES - 1)];
	side = __atomic_load_n(at, __ATOMIC_ACQUIRE); /* acquire, as above */
	if (!side) {
		if (!needed || !(side = make((void **)at, SIDE_BYTES, &is_new)))
			return NULL;
		if (is_new)
			show(side);
	}
	__atomic_store_n(&side->head.owner, stack, __ATOMIC_RELAXED); /* relaxed: for others, who ask the stack again */
	if (load(&side->head.stack) != number) {
		store(&side->head.used, 0);
		sys_fill(side->count, 0, sizeof(side->count));
		store(&side->head.stack, number);
	}
	return side;
}

uint32_t side_count(struct stack *stack, uint32_t number)
{
	struct side *side = number < SIDE_COUNTS ? of(stack, true) : NULL;

	return side ? side->count[number]++ : UINT32_MAX;
}

/* Drops what is of calls deeper than the slot; `through`: and of a call there. */
static uint32_t drop(struct side *side, uint64_t slot, bool through)
{
	uint32_t used = load(&side->head.used);

	while (used && used <= SIDE_MOST &&
		(side->entry[used - 1].slot < slot || (through && side->entry[used - 1].slot == slot)))
		used--;
	return used;
}

/*
 * Takes the place for the call at the slot. The slot is stored first, then the place is taken: a handler that comes in
 * between takes the same place, and is gone from it; later ones leave it. Returns where; UINT32_MAX: such a handler
 * came; SIDE_MOST: there is no room.
 */
static uint32_t take(struct side *side, uint64_t slot)
{
	uint32_t at = drop(side, slot, true);

	if (at >= SIDE_MOST)
		return SIDE_MOST;
	store(&side->entry[at].running, 0); /* who looks from outside takes it for none until it is whole */
	__atomic_store_n(&side->entry[at].slot, slot, __ATOMIC_RELAXED); /* relaxed, as in load() */
	store(&side->head.used, at + 1);
	/* relaxed, as in load() */
	bool stays = __atomic_load_n(&side->entry[at].slot, __ATOMIC_RELAXED) == slot;
	return stays && load(&side->head.used) == at + 1 ? at : UINT32_MAX;
}

void side_push(struct stack *stack, const struct side_entry *entry)
{
	struct side *side = of(stack, true);
	uint64_t before;
	uint32_t at;

	if (!side)
		return;
	at = take(side, entry->slot);
	if (at == UINT32_MAX) {
		sys_block_signals(&before);
		at = take(side, entry->slot);
		sys_set_signals(&before, NULL);
	}
	if (at >= SIDE_MOST)
		return;
	side->entry[at].clock = entry->clock;
	side->entry[at].place = entry->place;
	side->entry[at].function = entry->function;
	side->entry[at].sample = entry->sample;
	side->entry[at].lost = entry->lost;
	side->entry[at].due = entry->due;
	for (uint32_t i = 0; i < VALUES_KEPT; i++)
		side->entry[at].kept[i] = entry->kept[i];
	side->entry[at].generation = entry->generation;
	store(&side->entry[at].running, entry->running);
}

bool side_pop(struct stack *stack, uint64_t slot, struct side_entry *entry)
{
	struct side *side = of(stack, false);

	if (!side)
		return false;
	uint32_t used = drop(side, slot, false);
	if (!used || used > SIDE_MOST || side->entry[used - 1].slot != slot) {
		store(&side->head.used, used > SIDE_MOST ? 0 : used);
		return false;
	}
	sys_copy(entry, &side->entry[used - 1], sizeof(*entry));
	store(&side->head.used, used - 1);
	return true;
}

bool side_peek(struct stack *stack, uint64_t slot, struct side_entry *entry)
{
	struct side *side = of(stack, false);
	uint32_t through = side ? drop(side, slot, false) : 0;

	if (!through || through > SIDE_MOST || side->entry[through - 1].slot != slot)
		return false;
	sys_copy(entry, &side->entry[through - 1], sizeof(*entry));
	return true;
}

/* Moves entries of calls that `to` owns from one list to the end of the other, which has none so far inside of them. */
static void move(struct side *from, struct stack *to)
{
	uint32_t kept = 0, used = load(&from->head.used);

	for (uint32_t i = 0; i < used && i < SIDE_MOST; i++) {
		if (stack_owns(to, from->entry[i].slot))
			side_push(to, &from->entry[i]);
		else if (kept++ != i)
			sys_copy(&from->entry[kept - 1], &from->entry[i], sizeof(from->entry[i]));
	}
	store(&from->head.used, kept);
}

void side_share(struct stack *a, struct stack *b)
{
	struct side *of_a = of(a, false), *of_b = of(b, false);

	if (of_a && load(&of_a->head.used))
		move(of_a, b);
	else if (of_b && load(&of_b->head.used))
		move(of_b, a);
}
