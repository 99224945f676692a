/* SPDX-License-Identifier: MIT */
#include "runtime/values/backtrace.h"

#include <errno.h>    /* ENOSPC */
#include <stddef.h>   /* size_t */
#include <sys/mman.h> /* MAP_PRIVATE */

#include "format/frames.h"
#include "runtime/base/identity.h"
#include "x86_64/confined.h"
#include "x86_64/labels.h"
#include "x86_64/mirror.h"
#include "x86_64/probe.h"
#include "x86_64/sys.h"

/* ---- code ---- */

/* Version: release after a change, with a fence before it; both pair with take(). */
static struct slot {
	uint32_t version; /* odd: it is being written */
	struct backtrace_range range;
} slots[BACKTRACE_RANGES] SYS_LARGE;
static uint32_t used; /* slots that were ever in use. Release; pairs with the acquire in find() */
/* How often a range went. Relaxed: who sees it late is in no code that went. */
static uint32_t forgotten;

static void set(struct slot *slot, const struct backtrace_range *range)
{
	/* It is odd already in a child that was forked in the middle of this. */
	uint32_t version = slot->version | 1;

	__atomic_store_n(&slot->version, version, __ATOMIC_RELAXED);	 /* relaxed: a fence follows */
	__atomic_thread_fence(__ATOMIC_RELEASE);			  /* pairs with the fence in take() */
	/* Relaxed, all: taken between two looks at the version. */
	__atomic_store_n(&slot->range.low, range->low, __ATOMIC_RELAXED);
	__atomic_store_n(&slot->range.high, range->high, __ATOMIC_RELAXED);
	__atomic_store_n(&slot->range.code_low, range->code_low, __ATOMIC_RELAXED);
	__atomic_store_n(&slot->range.code_high, range->code_high, __ATOMIC_RELAXED); /* relaxed, as above */
	__atomic_store_n(&slot->range.base, range->base, __ATOMIC_RELAXED);	      /* relaxed, as above */
	__atomic_store_n(&slot->range.own, range->own, __ATOMIC_RELAXED);	      /* relaxed, as above */
	__atomic_store_n(&slot->range.table, range->table, __ATOMIC_RELAXED); /* relaxed, as above */
	__atomic_store_n(&slot->range.rule, range->rule, __ATOMIC_RELAXED);   /* relaxed, as above */
	__atomic_store_n(&slot->version, version + 1, __ATOMIC_RELEASE); /* pairs with the first acquire in take() */
}

int backtrace_add(const struct backtrace_range *range)
{
	uint32_t n = 0;

	while (n < used && slots[n].range.high)
		n++;
	if (n == BACKTRACE_RANGES)
		return -ENOSPC;
	set(&slots[n], range);
	if (n == used)
		__atomic_store_n(&used, n + 1, __ATOMIC_RELEASE); /* pairs with the acquire in find() */
	return (int)n;
}

void backtrace_remove(int number)
{
	const struct backtrace_range none = { 0 };

	set(&slots[number], &none);
	__atomic_fetch_add(&forgotten, 1, __ATOMIC_RELAXED); /* relaxed, as above */
}

/* The slot's range, whole; false: it is being changed. */
static bool take(const struct slot *slot, struct backtrace_range *range)
{
	uint32_t version = __atomic_load_n(&slot->version, __ATOMIC_ACQUIRE); /* pairs with the last store of set() */

	/* Relaxed, all but the last, after which comes a fence. */
	range->low = __atomic_load_n(&slot->range.low, __ATOMIC_RELAXED);
	range->high = __atomic_load_n(&slot->range.high, __ATOMIC_RELAXED);
	range->code_low = __atomic_load_n(&slot->range.code_low, __ATOMIC_RELAXED);
	range->code_high = __atomic_load_n(&slot->range.code_high, __ATOMIC_RELAXED); /* relaxed, as above */
	range->base = __atomic_load_n(&slot->range.base, __ATOMIC_RELAXED);	      /* relaxed, as above */
	range->own = __atomic_load_n(&slot->range.own, __ATOMIC_RELAXED);	      /* relaxed, as above */
	range->table = __atomic_load_n(&slot->range.table, __ATOMIC_RELAXED); /* relaxed, as above */
	range->rule = __atomic_load_n(&slot->range.rule, __ATOMIC_RELAXED);   /* relaxed, as above */
	__atomic_thread_fence(__ATOMIC_ACQUIRE); /* pairs with the fence in set() */
	return !(version & 1) && __atomic_load_n(&slot->version, __ATOMIC_RELAXED) == version; /* relaxed: the fence */
}

#define NO_CODE FRAME_RULE(FRAME_NONE, FRAME_NONES, 0)

/* The rules of our own frames have these bases, so that a kept rule tells. */
#define OWN_RSP	 5
#define OWN_RBP	 6
#define OWN_NONE 7

static uint32_t of_range(const struct backtrace_range *range, uint64_t address)
{
	if (address < range->code_low || address >= range->code_high)
		return NO_CODE;
	uint32_t rule = range->rule(range->table, address - range->base);
	/* Only a forged table has others. */
	if (!range->own)
		return FRAME_BASE(rule) < OWN_RSP ? rule : FRAME_RULE(FRAME_NONE, FRAME_EXPRESSION, 0);
	return FRAME_BASE(rule) == FRAME_RSP   ? rule - FRAME_RSP + OWN_RSP
	       : FRAME_BASE(rule) == FRAME_RBP ? rule - FRAME_RBP + OWN_RBP
					       : OWN_NONE;
}

/* The rule of the code at the address; FRAME_NONE with FRAME_GAP: no table has it; NO_CODE: data of a load. */
static uint32_t find(uint64_t address)
{
	uint32_t n = __atomic_load_n(&used, __ATOMIC_ACQUIRE); /* pairs with the release in backtrace_add() */
	struct backtrace_range range;

	for (uint32_t i = 0; i < n; i++) {
		/* Relaxed, both: a hint, before all of it is taken. */
		if (address < __atomic_load_n(&slots[i].range.low, __ATOMIC_RELAXED) ||
			address >= __atomic_load_n(&slots[i].range.high, __ATOMIC_RELAXED))
			continue;
		if (take(&slots[i], &range) && address >= range.low && address < range.high)
			return of_range(&range, address);
	}
	return FRAME_RULE(FRAME_NONE, FRAME_GAP, 0);
}

/* ---- what a thread keeps ---- */

#define RULES 1024 /* a power of 2 */
#define TOLD  512  /* likewise */

struct backtrace_room {
	uint64_t rule[RULES];
	uint64_t told[TOLD];
	uint32_t forgotten; /* when the rules began */
};

static struct backtrace_room *room_of(struct thread *thread)
{
	struct thread_kept *kept = thread_kept(thread);

	if (!kept->backtraces) {
		if (confined())
			return NULL;
		void *room = sys_mmap(NULL, sizeof(struct backtrace_room), PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (sys_is_error(room))
			return NULL;
		kept->backtraces = room;
	}
	return kept->backtraces;
}

/*
 * A rule in 27 bits, beside the 37 bits of the address that its place does not tell: 0, it does not fit. The frame is
 * below 32 KiB, and rbp within 8 KiB of its top, as nearly all are.
 */
static uint32_t pack(uint32_t rule)
{
	uint32_t words = FRAME_WORDS(rule), rbp = FRAME_RBP_OF(rule);

	rbp = rbp == FRAME_RBP_LOST ? 0xfff : rbp == FRAME_RBP_AT_RBP ? 0xffe : rbp < 0xffe ? rbp : 0x1000;
	return words < 0x1000 && rbp < 0x1000 ? FRAME_BASE(rule) | words << 3 | rbp << 15 : 0;
}

static uint32_t unpack(uint32_t packed)
{
	uint32_t rbp = packed >> 15 & 0xfff;

	rbp = rbp == 0xfff ? FRAME_RBP_LOST : rbp == 0xffe ? FRAME_RBP_AT_RBP : rbp;
	return FRAME_RULE(packed & 7, packed >> 3 & 0xfff, rbp);
}

static uint32_t rule_of(struct backtrace_room *room, uint64_t address)
{
	uint64_t *place = &room->rule[address % RULES];
	/* Relaxed: this thread's own, or a handler's on it. */
	uint64_t found = __atomic_load_n(place, __ATOMIC_RELAXED);

	if (found && found >> 27 == address / RULES)
		return unpack(found & ((1u << 27) - 1));
	uint32_t rule = find(address), packed = FRAME_BASE(rule) != FRAME_NONE ? pack(rule) : 0;
	if (packed)
		__atomic_store_n(place, address / RULES << 27 | packed, __ATOMIC_RELAXED); /* relaxed, as above */
	return rule;
}

/* ---- the walk ---- */

#define PAGE 4096ull

uint64_t backtrace_readable(const struct stack *stack, uint64_t slot)
{
	return stack && mirror_is_whole(stack) ? mirror_top(stack) : (slot | (PAGE - 1)) + 1;
}

/* A frame's registers, and what may be read directly around it. */
struct walk {
	uint64_t pc, rsp, rbp;
	uint64_t low, high;
	bool exact, by_frame, has_rbp;
	bool left; /* a stub, since the last signal */
};

/* The stack may be a function's that a sanitizer has compiled. */
static __attribute__((no_sanitize("address", "thread"))) bool read_word(
	const struct walk *walk, uint64_t at, uint64_t *word)
{
	if (at % 8)
		return false;
	if (at >= walk->low && at < walk->high) {
		*word = *(const volatile uint64_t *)(uintptr_t)at;
		return true;
	}
	return !confined() && sys_copy_asked(word, at, sizeof(*word));
}

/*
 * The return address that lies there, or lies in the mirror for it. Of another stack, which nobody need be on any more,
 * another thread may give the mirror back at any moment.
 */
static bool read_return(const struct walk *walk, uint64_t at, uint64_t *address)
{
	if (!read_word(walk, at, address))
		return false;
	if (!labels_is_any(*address))
		return true;
	/* Of a label that is no call's (a copy of a stack, say) nothing is known. */
	const struct stack *stack = mirror_find(at);
	if (!stack || !stack_owns(stack, at))
		return false;
	const uint64_t *place = &mirror_entry(at)->address;
	if (at < walk->low || at >= walk->high)
		return !confined() && sys_copy_asked(address, (uintptr_t)place, sizeof(*address));
	*address = *place;
	return true;
}

/* Where the kernel has saved registers, from the ucontext_t on, in words. */
#define UCONTEXT_RBP 15
#define UCONTEXT_RSP 20
#define UCONTEXT_RIP 21

static enum chain_end go_out_of_signal(struct walk *walk)
{
	uint64_t context = walk->rsp;

	if (!read_word(walk, context + 8ull * UCONTEXT_RBP, &walk->rbp) ||
		!read_word(walk, context + 8ull * UCONTEXT_RSP, &walk->rsp) ||
		!read_word(walk, context + 8ull * UCONTEXT_RIP, &walk->pc))
		return CHAIN_END_MEMORY;
	walk->has_rbp = walk->exact = true;
	walk->left = false;
	return CHAIN_END_COUNT;
}

/*
 * A signal came in a stub of a probe, of which no table tells: the function was interrupted, at the probe, with the
 * stack pointer that it had there.
 */
static bool leave_stub(struct walk *walk)
{
	uint8_t code[2 * PROBE_CALL_SIZE];
	uint32_t below;

	/* Once for each signal, whatever the bytes say. */
	if (confined() || walk->left)
		return false;
	walk->left = true;
	/* The stub may be the first thing, or the last one, that is mapped there. */
	sys_fill(code, 0, sizeof(code));
	sys_copy_asked(code, walk->pc - PROBE_CALL_SIZE, PROBE_CALL_SIZE);
	sys_copy_asked(code + PROBE_CALL_SIZE, walk->pc, PROBE_CALL_SIZE);
	const uint64_t pc = probe_interrupted(code, &below);
	if (!pc || pc & ~CHAIN_ADDRESS)
		return false;
	walk->pc = pc;
	walk->rsp += below;
	return true;
}

/* By the frame pointer, which code without a table may keep. */
static enum chain_end go_by_frame(struct walk *walk)
{
	uint64_t frame = walk->rbp;

	if (!walk->has_rbp || frame < walk->rsp || frame - walk->rsp > 1u << 20)
		return CHAIN_END_NO_TABLE;
	if (!read_word(walk, frame, &walk->rbp) || !read_return(walk, frame + 8, &walk->pc))
		return CHAIN_END_NO_TABLE;
	walk->rsp = frame + 16;
	walk->by_frame = true;
	return CHAIN_END_COUNT;
}

/* By a rule: from a frame to its caller's. */
static enum chain_end go_by_rule(struct walk *walk, uint32_t rule)
{
	uint64_t words = FRAME_WORDS(rule), saved = FRAME_RBP_OF(rule), cfa, rbp = walk->rbp;
	const bool by_rsp = FRAME_BASE(rule) == FRAME_RSP || FRAME_BASE(rule) == OWN_RSP;

	if (!by_rsp && !walk->has_rbp)
		return CHAIN_END_RULE;
	if (FRAME_BASE(rule) == FRAME_INDIRECT) {
		if (!read_word(walk, walk->rbp - 8 * words, &cfa))
			return CHAIN_END_MEMORY;
	} else {
		cfa = (by_rsp ? walk->rsp : walk->rbp) + 8 * words;
	}
	if (cfa <= walk->rsp)
		return CHAIN_END_ODD;
	if (saved == FRAME_RBP_LOST)
		walk->has_rbp = false;
	else if (saved == FRAME_RBP_AT_RBP ? !read_word(walk, walk->rbp, &rbp)
					   : saved != FRAME_RBP_SAME && !read_word(walk, cfa - 8 * saved, &rbp))
		return CHAIN_END_MEMORY;
	else if (saved != FRAME_RBP_SAME)
		walk->has_rbp = true;
	if (!read_return(walk, cfa - 8, &walk->pc))
		return CHAIN_END_MEMORY;
	walk->rbp = rbp;
	walk->rsp = cfa;
	return CHAIN_END_COUNT;
}

/* To the caller. Returns why there is none; CHAIN_END_COUNT: there is one. */
static enum chain_end go_up(struct walk *walk, uint32_t rule)
{
	walk->exact = walk->by_frame = false;
	switch (FRAME_BASE(rule)) {
	case FRAME_SIGNAL:
		return go_out_of_signal(walk);
	case FRAME_RSP:
	case FRAME_RBP:
	case FRAME_INDIRECT:
	case OWN_RSP:
	case OWN_RBP:
		return go_by_rule(walk, rule);
	case OWN_NONE:
		return CHAIN_END_RULE;
	}
	return FRAME_WORDS(rule) == FRAME_OUTERMOST ? CHAIN_END_BOTTOM
	       : FRAME_WORDS(rule) == FRAME_GAP	    ? go_by_frame(walk)
						    : CHAIN_END_RULE;
}

static uint64_t mix(uint64_t key, uint64_t word)
{
	key = (key ^ word) * 0x9e3779b97f4a7c15u;
	return key ^ key >> 29;
}

uint32_t backtrace_walk(struct thread *thread, const struct backtrace_from *from, uint32_t most, uint64_t *out,
	uint64_t *key, uint64_t **told)
{
	struct backtrace_room *room = room_of(thread);
	struct walk walk = { .rsp = from->slot + 8 + from->gap,
		.rbp = from->rbp,
		.low = from->stack_low,
		.high = from->stack_high,
		.has_rbp = true };
	enum chain_end end = CHAIN_END_COUNT;
	uint32_t n = 0;

	if (!room)
		return 0;
	/* Relaxed: as forgotten. */
	uint32_t now = __atomic_load_n(&forgotten, __ATOMIC_RELAXED);
	if (room->forgotten != now) {
		sys_fill(room->rule, 0, sizeof(room->rule));
		room->forgotten = now;
	}
	*key = 0;
	if (from->pc)
		walk.pc = from->pc;
	else if (!read_return(&walk, from->slot, &walk.pc))
		end = CHAIN_END_MEMORY;
	while (end == CHAIN_END_COUNT) {
		if (!walk.pc || walk.pc & ~CHAIN_ADDRESS || n == most) {
			end = !walk.pc ? CHAIN_END_BOTTOM : n == most ? CHAIN_END_MOST : CHAIN_END_ODD;
			break;
		}
		/* A call may be the last instruction of its function. */
		uint32_t rule = rule_of(room, walk.pc - !walk.exact);
		if (walk.exact && rule == FRAME_RULE(FRAME_NONE, FRAME_GAP, 0) && leave_stub(&walk))
			continue;
		/* Then it is no return address: nobody called the one before, and its rule does not say so. */
		if (rule == NO_CODE) {
			end = CHAIN_END_ODD;
			break;
		}
		if (FRAME_BASE(rule) < OWN_RSP)
			out[n++] = walk.pc | (walk.exact ? CHAIN_EXACT : 0) | (walk.by_frame ? CHAIN_BY_FRAME : 0);
		end = go_up(&walk, rule);
	}
	out[n++] = CHAIN_END | end;
	for (uint32_t i = 0; i < n; i++)
		*key = mix(*key, out[i]);
	*key ^= *key >> 32;
	*key |= !*key;
	*told = &room->told[*key % TOLD];
	return n;
}
