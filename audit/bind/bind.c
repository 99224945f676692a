/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "audit/bind/bind.h"

#include <errno.h>  /* ENOMEM */
#include <stdbool.h>
#include <string.h> /* strcmp */

#include "audit/bind/dladdr_bind.h"
#include "audit/bind/exec_bind.h"
#include "audit/bind/nointercept.h"
#include "audit/bind/symbol.h"
#include "audit/live/announce.h"
#include "audit/live/dlclose.h"
#include "audit/live/load_code.h"
#include "audit/live/requests.h"
#include "audit/live/switch.h"
#include "audit/live/unwinder.h"
#include "audit/live/values.h"
#include "runtime/process/process.h"
#include "x86_64/confined.h"
#include "x86_64/tramp.h" /* tramp_gate_intercept */

#define BLOCK_STUBS 128 /* one page of code, one of cells */
#define FEW_STUBS   32	/* least number taken of the module's own, while there are some */

/* What is to become of a binding. */
struct choice {
	int kind;		/* the kind that selects it, or asks for it to be made ready; -1: none */
	int selected;		/* by the rules */
	int on;			/* to be on now */
	struct object *counted; /* the object in whose counts it appears; NULL: none */
};

/* Asks the rules about this kind: the section of `object`, which is one side of the binding. */
static void ask(struct choice *choice, struct object *object, const struct object *callee, int kind, const char *name)
{
	const struct rules *rules = object_rules;

	if (!object->section || !(object->section->kinds & 1u << kind))
		return;
	choice->counted = object;
	choice->selected = rules_select(object->section, name, callee->path, callee->soname);
	/*
	 * A binding that ld.so has made can't be found later. So with `prepare = none`, too, selected functions are
	 * bound to a stub; the stub is off.
	 */
	choice->on = requests_selects(
		callee, kind, name, choice->selected && !rules->disabled && rules->prepare != RULES_PREPARE_NONE);
	if (choice->on || choice->selected || rules->prepare == RULES_PREPARE_ALL)
		choice->kind = kind;
}

static struct choice choose(const struct load *from, const struct load *to, const char *name)
{
	struct choice callee = { .kind = -1 }, caller = { .kind = -1 };

	/* What an object calls of its own, by its own PLT, nobody calls from outside. */
	if (from != to)
		ask(&callee, to->object, to->object, TRACE_KIND_PLT, name);
	if (callee.on || callee.selected)
		return callee;
	ask(&caller, from->object, to->object, TRACE_KIND_CALLS, name);
	if (caller.on || caller.selected || callee.kind < 0)
		return caller.counted ? caller : callee;
	return callee;
}

static struct bound_function *function_of(struct object *object, const char *name, uint64_t offset, int kind)
{
	static struct arena memory; /* for the life of the process; the lock guards it */
	uint32_t hash = object_hash(name), bucket = hash % OBJECT_BUCKETS;
	struct bound_function *f;

	if (!object->buckets) {
		struct bound_function **buckets = arena_alloc(&memory, OBJECT_BUCKETS * sizeof(*buckets));
		if (!buckets)
			return NULL;
		/* Release; pairs with the acquire in find_ready(). */
		__atomic_store_n(&object->buckets, buckets, __ATOMIC_RELEASE);
	}
	for (f = object->buckets[bucket]; f; f = f->next)
		if (!strcmp(f->name, name))
			return f;
	f = arena_alloc(&memory, sizeof(*f));
	if (!f || !(f->name = arena_string(&memory, name, strlen(name))))
		return NULL;
	f->hash = hash;
	f->offset = offset;
	f->entry_only = nointercept_name(name) != 0;
	for (const struct rules_pattern *p = object_rules->below; p; p = p->next)
		f->below |= rules_match(p, name, object->path, object->soname) != 0;
	f->kind = (uint32_t)kind;
	f->next = object->buckets[bucket];
	/* Release; pairs with the acquire in find_ready(). */
	__atomic_store_n(&object->buckets[bucket], f, __ATOMIC_RELEASE);
	f->all = object->bound;
	object->bound = f;
	return f;
}

typedef void gate_function(void);

static enum trace_reason no_stub = TRACE_REASON_NO_ROOM; /* why the last block was not made. Lock */

/* A stub of the load; about `expected` more will follow. */
static struct stub_pages *new_stub(struct load *to, uint32_t expected)
{
	struct stub_block *block = to->blocks;

	if (!block || block->pages.used == block->pages.stubs) {
		block = arena_alloc(&to->arena, sizeof(*block));
		int r = block ? stub_take_block(&block->pages, expected < FEW_STUBS ? FEW_STUBS : expected) : -ENOMEM;
		if (r && block)
			r = stub_map_block(&block->pages, expected < BLOCK_STUBS ? BLOCK_STUBS : expected);
		no_stub = r == -EACCES ? TRACE_REASON_PROTECTION : TRACE_REASON_NO_ROOM;
		if (r)
			return NULL;
		block->next = to->blocks;
		to->blocks = block;
	}
	return &block->pages;
}

static uint32_t bucket_of(const struct bound_function *f)
{
	return f ? f->hash % OBJECT_BUCKETS : 0;
}

/*
 * Makes a stub, switched on. f NULL: it raises no event, but tells of frames that are gone. Returns NULL when there is
 * no memory.
 */
static struct binding *make_stub(
	struct load *to, struct bound_function *f, uint64_t body, gate_function *gate, uint32_t expected)
{
	struct binding *b = arena_alloc(&to->arena, sizeof(*b));
	struct stub_pages *pages = b ? new_stub(to, expected) : NULL;
	uint32_t bucket = bucket_of(f);

	if (!pages)
		return NULL;
	uint32_t n = pages->used++;
	b->function = f;
	b->body = body;
	b->stub = stub_address(pages, n);
	b->rest = stub_rest(pages, n);
	b->cell = stub_cell(pages, n);
	b->cell->word = 0;
	b->cell->body = f ? dladdr_through(to, f->name, dlclose_through(body)) : dlclose_through(body);
	b->cell->gate = (uint64_t)(uintptr_t)gate;
	if (f && f->id)
		values_fill_cell(b->cell, to->object, f->offset, f->name, f->id, gate == tramp_gate_intercept, true);
	/*
	 * ld.so stores the address that we return into a GOT slot with release order, or passes it to this thread
	 * alone.
	 */
	b->next = to->bindings[bucket];
	/* Release; pairs with the acquire in find_ready(). */
	__atomic_store_n(&to->bindings[bucket], b, __ATOMIC_RELEASE);
	return b;
}

static gate_function *gate_for(const struct bound_function *f)
{
	return f->entry_only || !unwinder_allows() ? tramp_gate_point : tramp_gate_intercept;
}

/* Is there a sled at this link-time address that is on? Then the function's calls are recorded there. */
static bool has_sled_on(const struct load *to, uint64_t offset)
{
	int64_t function = load_code_function_at(to->object, offset);

	return function >= 0 && load_code_is_on(to, (uint32_t)function);
}

/*
 * Does a jump stand at the function's entry, on or off? Then it needs no stub that could be switched on later, and its
 * address stays its own: dlsym("f") == &f.
 */
static bool is_displaced(const struct load *to, uint64_t offset)
{
	int64_t function = load_code_function_at(to->object, offset);

	return function >= 0 && load_code_is_displaced(to, (uint32_t)function);
}

/*
 * The first binding into a new load of an object, after bindings into earlier loads: makes the stubs of all functions
 * that these bindings called, in one go. Usually the same functions are bound again, and find_ready() finds their
 * stubs.
 */
static void make_known(struct load *to)
{
	uint32_t n = 0;

	for (const struct bound_function *f = to->object->bound; f; f = f->all)
		n += f->on && f->id;
	for (struct bound_function *f = to->object->bound; f; f = f->all)
		if (f->on && f->id && !has_sled_on(to, f->offset) && !is_displaced(to, f->offset) &&
			!make_stub(to, f, to->base + f->offset, gate_for(f), n--))
			return;
}

/* The stub for a function, or NULL when there is no memory. */
static struct binding *stub_for(struct load *to, struct bound_function *f, uint64_t body, gate_function *gate)
{
	if (!to->bindings) {
		struct binding **bindings = arena_alloc(&to->arena, OBJECT_BUCKETS * sizeof(*to->bindings));
		if (!bindings)
			return NULL;
		/* Release; pairs with the acquire in find_ready(). */
		__atomic_store_n(&to->bindings, bindings, __ATOMIC_RELEASE);
	}
	/* In la_objopen it is not settled yet which functions have a jump of their own. */
	if (!to->known && !to->preparing) {
		to->known = 1;
		make_known(to);
	}
	for (struct binding *b = to->bindings[bucket_of(f)]; b; b = b->next)
		if (b->function == f && b->body == body)
			return b;
	return make_stub(to, f, body, gate, to->ahead_stubs + 1);
}

/*
 * The kind that would select a binding whose stub is on; -1: one must look closer. What choose() says, where neither a
 * request nor another kind matters: rules never change.
 */
static int kind_at_once(const struct load *from, const struct load *to, const char *name)
{
	const struct object *caller = from->object, *callee = to->object;

	/* Who calls it plays no part: it is selected, or its stub would not be on. */
	if (from != to && callee->section && callee->section->kinds & 1u << TRACE_KIND_PLT)
		return TRACE_KIND_PLT;
	return caller->section && caller->section->kinds & 1u << TRACE_KIND_CALLS &&
			       rules_select(caller->section, name, callee->path, callee->soname)
		       ? TRACE_KIND_CALLS
		       : -1;
}

/*
 * The stub of a function that is on for this caller, if it exists already; its function is of the kind that selects the
 * binding. Works without the lock, since there are thousands of bindings, and the lock blocks signals. Lists grow at
 * their heads, and their elements stay as long as the load; ld.so is just binding to the load `to`, so it stays.
 */
static struct binding *find_ready(
	const struct load *from, const struct load *to, const char *name, uint64_t body, const uint32_t *known)
{
	/* Acquire, all four; pair with the releases in function_of(), make_stub() and stub_for(). x86: plain mov. */
	struct bound_function **buckets = __atomic_load_n(&to->object->buckets, __ATOMIC_ACQUIRE);
	struct binding **bindings = __atomic_load_n(&to->bindings, __ATOMIC_ACQUIRE);

	if (!buckets || !bindings)
		return NULL;
	uint32_t hash = known ? *known : object_hash(name);
	/* As above. */
	struct bound_function *f = __atomic_load_n(&buckets[hash % OBJECT_BUCKETS], __ATOMIC_ACQUIRE);
	while (f && (f->hash != hash || strcmp(f->name, name)))
		f = f->next;
	if (!f || !f->on || (int)f->kind != kind_at_once(from, to, name))
		return NULL;
	/* As above. */
	struct binding *b = __atomic_load_n(&bindings[hash % OBJECT_BUCKETS], __ATOMIC_ACQUIRE);
	while (b && (b->function != f || b->body != body))
		b = b->next;
	return b;
}

/* One more binding of this kind in the object's counts. Any context. */
static void count_binding(struct object *object, int kind, enum trace_reason reason)
{
	/* Relaxed: a sum that orders nothing; find_ready()'s callers hold no lock. */
	__atomic_fetch_add(&object->counts[kind][reason], 1, __ATOMIC_RELAXED);
}

/*
 * The whole decision; *reason: the reason to count it under. through: a stub to run between the event and the function,
 * as for longjmp: its event belongs to the calling frame, which is about to go. 0: none.
 */
static uint64_t bind_locked(struct load *to, const char *name, uint64_t body, uint64_t through,
	const struct choice *choice, enum trace_reason *reason)
{
	struct object *callee = to->object;
	int blind = !unwinder_allows();
	int sled = has_sled_on(to, body - to->base);

	if ((sled && object_rules->prepare != RULES_PREPARE_ALL) || is_displaced(to, body - to->base)) {
		*reason = TRACE_REASON_SLED_TRACED;
		return body;
	}
	struct bound_function *f = function_of(callee, name, body - to->base, choice->kind);
	if (choice->selected || choice->on)
		object_selected = 1;
	if (!f) {
		*reason = TRACE_REASON_NO_ROOM;
		return body;
	}
	/* The stub is shared with other callers' bindings. */
	f->on |= choice->on != 0;
	if (f->on && !sled && !announce_new_bound(callee, f)) {
		*reason = TRACE_REASON_IDS_USED_UP;
		return body;
	}
	struct binding *b = stub_for(to, f, body, gate_for(f));
	if (!b) {
		*reason = no_stub;
		return body;
	}
	/* Relaxed: an aligned word; a call that still goes to the function directly makes a jump that we don't see. */
	if (through)
		__atomic_store_n(&b->cell->body, through, __ATOMIC_RELAXED);
	switch_switch(b, f->on && !sled);
	*reason = sled		   ? TRACE_REASON_SLED_TRACED
		  : !f->on	   ? choice->selected ? TRACE_REASON_DISABLED : TRACE_REASON_NOT_SELECTED
		  : f->entry_only  ? TRACE_REASON_ENTRY_ONLY
		  : blind	   ? TRACE_REASON_BLIND_UNWINDER
				   : TRACE_REASON_TRACED;
	return b->stub;
}

/* What is bound ahead. */
struct ahead {
	const struct load *from;
	struct load *to;
	struct symbol_tables callee;
	struct arena memory;
	struct ahead_function {
		const char *name;
		uint64_t body;
		struct choice choice;
	} *function;
	uint32_t functions;
};

/* Lock held. */
static void look_ahead(struct ahead *ahead, const char *name)
{
	const Elf64_Sym *symbol = symbol_look_only(&ahead->callee, name);

	if (!symbol || symbol->st_shndx == SHN_UNDEF || symbol->st_shndx == SHN_ABS ||
		ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || nointercept_watch(name) != WATCH_NONE)
		return;
	struct choice choice = choose(ahead->from, ahead->to, name);
	if (choice.on)
		ahead->function[ahead->functions++] =
			(struct ahead_function){ name, ahead->to->base + symbol->st_value, choice };
}

/*
 * ld.so binds all that an object calls at once: the second such binding into another object that find_ready() has no
 * stub for makes the stubs of all functions that the one calls and the other defines. Each would take the lock else.
 * After the first one, make_known() may have made them all. If ld.so finds such a function in a third object, its stub
 * here is one that nobody calls. Lock held.
 */
static void bind_ahead(const struct load *from, struct load *to)
{
	struct ahead ahead = { .from = from, .to = to };
	struct symbol_tables caller;
	enum trace_reason reason;

	if (to->ahead != from->number) {
		to->ahead = from->number;
		to->ahead_bindings = 0;
	}
	if (to->ahead_bindings == 2 || ++to->ahead_bindings < 2)
		return;
	if (from == to || !symbol_tables(&caller, from) || !symbol_tables(&ahead.callee, to))
		return;
	uint64_t slots = caller.plt ? caller.plt_count : 0;
	ahead.function = arena_alloc(&ahead.memory, (slots + from->got_words) * sizeof(*ahead.function));
	for (uint64_t i = 0; ahead.function && i < slots; i++) {
		const Elf64_Sym *symbol = caller.symbols + ELF64_R_SYM(caller.plt[i].r_info);
		if (symbol_is_inside(from, symbol, sizeof(*symbol)))
			look_ahead(&ahead, symbol_name(&caller, symbol));
	}
	for (uint32_t i = 0; ahead.function && i < from->got_words; i++)
		look_ahead(&ahead, from->got[i].name);
	for (uint32_t i = 0; i < ahead.functions; i++) {
		const struct ahead_function *f = &ahead.function[i];
		to->ahead_stubs = ahead.functions - i;
		bind_locked(to, f->name, f->body, 0, &f->choice, &reason);
	}
	to->ahead_stubs = 0;
	arena_free(&ahead.memory);
}

/* Puts the stub that keeps an eye on a throw, longjmp, dlopen or so before body, which may be a stub itself. */
static uint64_t watch(struct load *to, const char *name, uint64_t body)
{
	enum nointercept_watch what = nointercept_watch(name);
	static gate_function *const gates[] = {
		[WATCH_LANDED] = tramp_gate_landed, [WATCH_JUMP] = tramp_gate_jump,
		[WATCH_CALLER] = tramp_gate_caller, [WATCH_CFA] = tramp_gate_cfa,
		[WATCH_PRCTL] = tramp_gate_prctl,
		[WATCH_SYSCALL] = tramp_gate_syscall, [WATCH_LIMIT] = tramp_gate_limit,
		[WATCH_LOCK] = tramp_gate_lock, [WATCH_RIGHTS] = tramp_gate_rights,
		[WATCH_EXEC] = tramp_gate_exec,
	};
	struct binding *b = stub_for(to, NULL, body, gates[what]);

	/* Nobody runs the stub yet, or it has that word. */
	if (b)
		b->cell->word = nointercept_word(name);
	if (what == WATCH_EXEC)
		exec_bind_libc(to);
	return b ? b->stub : body;
}

uintptr_t bind(const Elf64_Sym *symbol, struct load *from, struct load *to, unsigned flags, const char *name,
	const uint32_t *hash)
{
	struct process_held held;
	uintptr_t body = symbol->st_value;
	unsigned type = ELF64_ST_TYPE(symbol->st_info);
	enum trace_reason reason = TRACE_REASON_NOT_SELECTED;

	if (confined_strictly())
		return body;
	/* dlsym finds data too. Functions in assembly may lack a type; the linker makes PLT slots only for calls. */
	if (type != STT_FUNC && type != STT_GNU_IFUNC && !(type == STT_NOTYPE && !(flags & LA_SYMB_DLSYM)))
		return body;
	if (to->object->flags & (TRACE_OBJECT_LOADER | TRACE_OBJECT_VDSO) || from->object->flags & TRACE_OBJECT_LOADER)
		return body;
	bool own = from == to;
	enum nointercept_watch what = own ? WATCH_NONE : nointercept_watch(name);
	if (what == WATCH_EXEC && !symbol_is_libc(to))
		what = WATCH_NONE;
	/* Rules that were added live count, too; they change under the lock. */
	if (!(!own && to->object->section && to->object->section->kinds & 1u << TRACE_KIND_PLT) &&
		!(from->object->section && from->object->section->kinds & 1u << TRACE_KIND_CALLS) && what == WATCH_NONE)
		return body;
	struct binding *ready =
		what == WATCH_NONE && to->state == LOAD_OPEN ? find_ready(from, to, name, body, hash) : NULL;
	/* If a sled of the same function is on instead, the stub is off. */
	if (ready && ready->cell->target == ready->rest) {
		const struct bound_function *f = ready->function;
		count_binding(f->kind == TRACE_KIND_PLT ? to->object : from->object, (int)f->kind,
			f->entry_only	      ? TRACE_REASON_ENTRY_ONLY
			: unwinder_allows() ? TRACE_REASON_TRACED
					    : TRACE_REASON_BLIND_UNWINDER);
		return ready->stub;
	}
	process_lock(&held);
	struct choice choice = choose(from, to, name);
	uintptr_t real = body;
	uint64_t through = what == WATCH_JUMP && to->state == LOAD_OPEN ? watch(to, name, body) : 0;
	/*
	 * An IFUNC's implementation may lie in another object than the symbol; then the address says nothing, but the
	 * name is enough.
	 */
	if (choice.kind >= 0 && to->state == LOAD_OPEN)
		body = bind_locked(to, name, body, through, &choice, &reason);
	/* ld.so's word for "now, not at the first call". */
	if (choice.on && to->state == LOAD_OPEN && flags & LA_SYMB_NOPLTENTER && !(flags & LA_SYMB_DLSYM))
		bind_ahead(from, to);
	if (choice.counted)
		count_binding(choice.counted,
			choice.kind >= 0	       ? choice.kind
			: choice.counted == to->object ? TRACE_KIND_PLT
						       : TRACE_KIND_CALLS,
			reason);
	if (through)
		body = body == real ? through : body;
	else if (what != WATCH_NONE && to->state == LOAD_OPEN)
		body = watch(to, name, body);
	process_unlock(&held);
	return body;
}

uint64_t bind_watched(struct load *to, const char *name, uint64_t body)
{
	return watch(to, name, body);
}

uint64_t bind_told(struct load *load, const void *side)
{
	struct binding *b = stub_for(load, NULL, (uint64_t)(uintptr_t)side, tramp_cyg);

	return b ? b->stub : 0;
}
