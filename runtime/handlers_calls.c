/* SPDX-License-Identifier: MIT */
/* From trampolines to handlers: what an event is, and which object its function belongs to. */
#include "runtime/handlers_state.h"
#include "runtime/sys.h"
#include "runtime/trace.h"

#include <sys/mman.h> /* PROT_READ */

/* ---- function ids and objects ---- */

/* Ids from first up to the next range's belong to the object. */
struct range {
	uint32_t first, object;
};

#define BLOCK_RANGES 512 /* a page */
#define MAX_BLOCKS   1024

static struct range first_block[BLOCK_RANGES];
static struct range *blocks[MAX_BLOCKS] = { first_block };
static uint32_t range_count; /* ascending; only grows. Process lock; read without it */

static struct range *range(uint32_t n)
{
	return &blocks[n / BLOCK_RANGES][n % BLOCK_RANGES];
}

void handlers_name_ids(uint32_t first, uint32_t n, uint32_t object)
{
	(void)n; /* ids are given in order, and without gaps */
	if (range_count && range(range_count - 1)->object == object)
		return;
	if (range_count == MAX_BLOCKS * BLOCK_RANGES)
		return; /* half a million changes from one object to another: the rest passes for the last one's, so tell none */
	struct range **block = &blocks[range_count / BLOCK_RANGES];
	if (!*block) {
		void *p = sys_mmap(NULL, BLOCK_RANGES * sizeof(struct range), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (sys_is_error(p))
			return;
		*block = p;
	}
	*range(range_count) = (struct range){ first, object };
	/* Release; pairs with the acquire in handlers_object(): who sees the count sees the range and its block. */
	__atomic_store_n(&range_count, range_count + 1, __ATOMIC_RELEASE);
}

uint32_t handlers_object(uint32_t id)
{
	/* Acquire; pairs with the release in handlers_name_ids(). */
	uint32_t low = 0, high = __atomic_load_n(&range_count, __ATOMIC_ACQUIRE);

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (range(middle)->first <= id)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? range(low - 1)->object : 0;
}

/* ---- calls ---- */

/* What tells whether a handler has made events, or forked. */
struct seen {
	uint64_t cursor, top;
	const struct tramp_stack *stack;
	uint32_t tid;
};

static struct seen look(const struct thread *thread)
{
	const struct tramp_stack *stack = thread->hot.stack;

	return (struct seen){ thread->hot.cursor, stack ? stack->top : 0, stack, thread->tid };
}

static void tell(struct thread *thread, enum handlers_type type, uint32_t word, uint64_t address, uint64_t caller,
	const struct handlers_registers *registers)
{
	if (!handlers_is_set(type))
		return;
	/* Field by field: the compiler would clear the whole by rep stos, which takes longer than all the rest. */
	struct handlers_event event;
	event.type = type;
	event.id = word & TRACE_ID_MASK;
	event.object = handlers_object(event.id);
	event.address = address;
	event.caller = caller;
	event.registers = registers;
	event.vectors = NULL;
	event.data = NULL;
	event.data_size = event.data_type = 0;
	handlers_deliver(thread, &event);
}

static void tell_entry(struct thread *thread, uint32_t word, uint64_t address, uint64_t caller, const struct handlers_registers *registers)
{
	tell(thread, HANDLERS_ENTRY, word, address, caller, registers);
	tell(thread, HANDLERS_ARGUMENTS, word, address, caller, registers);
}

/* Ends calls below the slot first, so that handlers hear of that in the order of the trace. Returns the stack or NULL. */
static struct stack *settle(struct thread *thread, uint64_t slot, uint64_t dead)
{
	struct stack *stack = calls_stack(thread, slot);

	if (stack)
		calls_unwind(thread, stack, dead);
	return stack;
}

/* frame: 0 r11, 1 r10, 2 rdx, 3 rcx, 4 rax, 5 body, 6 word, 7 return address (slot S). */
static void enter(struct thread *thread, uint64_t kind, const uint64_t *frame, struct handlers_registers *r)
{
	uint64_t slot = (uint64_t)(uintptr_t)(frame + 7), caller = frame[7];
	int taken_over = calls_is_intercepted(slot);

	r->rsp = slot;
	const struct stack *stack = settle(thread, slot, taken_over ? slot - 8 : slot);
	if (taken_over) {
		const struct mirror_entry entry = *mirror_entry(slot);
		caller = entry.address;
		if (kind == TRAMP_HANDLED_ENTER && stack && (stack->hot.top == slot || tramp_slow_leave(slot) == TRAMP_AGAIN))
			tell(thread, HANDLERS_TAIL, entry.word, 0, caller, r);
	}
	tell_entry(thread, (uint32_t)frame[6], frame[5], caller, r);
}

/* frame: 0 r11, 1 r10, 2 rdx, 3 rcx, 4 rax, 5 slot S. */
static void leave(struct thread *thread, const uint64_t *frame, struct handlers_registers *r)
{
	const struct mirror_entry entry = *mirror_entry((uint64_t)(uintptr_t)(frame + 5));

	r->rsp = (uint64_t)(uintptr_t)(frame + 6);
	tell(thread, HANDLERS_EXIT, entry.word, 0, entry.address, r);
}

/* frame: 0 r11, 1 rdx, 2 rcx, 3 rax, 4 return to the sled (word X), 5 return address (slot S). */
static void enter_xray(struct thread *thread, uint32_t word, const uint64_t *frame, struct handlers_registers *r)
{
	uint64_t x = (uint64_t)(uintptr_t)(frame + 4);
	struct stack *stack = settle(thread, x, x);

	if (stack && stack->hot.top == x + 8 && !calls_is_intercepted(x + 8))
		calls_unwind(thread, stack, x + 8);
	r->rsp = x + 8;
	tell_entry(thread, word, frame[4], calls_is_intercepted(x + 8) ? mirror_entry(x + 8)->address : frame[5], r);
}

/* The same frame; slot S at 4 (exit), or the return to the sled at 4 and S at 5 (tail). */
static void leave_xray(struct thread *thread, uint64_t kind, uint32_t word, const uint64_t *frame, struct handlers_registers *r)
{
	const uint64_t *s = frame + (kind == TRAMP_HANDLED_XRAY_TAIL ? 5 : 4);
	uint64_t slot = (uint64_t)(uintptr_t)s;

	r->rsp = slot;
	tell(thread, kind == TRAMP_HANDLED_XRAY_TAIL ? HANDLERS_TAIL : HANDLERS_EXIT, word, 0,
		calls_is_intercepted(slot) ? mirror_entry(slot)->address : *s, r);
}

uint32_t tramp_handlers(struct handlers_registers *r, uint64_t kind, const uint64_t *frame)
{
	struct thread *thread = thread_get();
	uint64_t r10 = r->r10;

	if (!thread)
		return 0;
	const struct seen before = look(thread);
	int xray = kind >= TRAMP_HANDLED_XRAY_ENTER;
	r->r11 = frame[0];
	if (!xray)
		r->r10 = frame[1];
	r->rdx = frame[xray ? 1 : 2];
	r->rcx = frame[xray ? 2 : 3];
	r->rax = frame[xray ? 3 : 4];
	if (kind == TRAMP_HANDLED_ENTER || kind == TRAMP_HANDLED_POINT)
		enter(thread, kind, frame, r);
	else if (kind == TRAMP_HANDLED_LEAVE)
		leave(thread, frame, r);
	else if (kind == TRAMP_HANDLED_XRAY_ENTER)
		enter_xray(thread, (uint32_t)r10, frame, r);
	else
		leave_xray(thread, kind, (uint32_t)(r10 >> 32), frame, r);
	const struct seen after = look(thread);
	return before.cursor != after.cursor || before.top != after.top || before.stack != after.stack || before.tid != after.tid;
}
