#define _GNU_SOURCE
/* SPDX-License-Identifier: MIT */
/*
 * Displaced entries: how an object's set of functions grows, what a load's stubs and copies are like, and what tells
 * that a function is on. The load and its index are made by hand.
 */
#include "t/lib/tap.h"

#include <stdint.h>
#include <sys/mman.h>

#include "audit/live/entry.h"
#include "audit/live/entry_stub.h"
#include "audit/live/unwinder.h"
#include "t/lib/core.h"
#include "t/lib/live_load.h"
#include "x86_64/tramp.h"

#define PAGE 4096ul
#define SIZE (4 * PAGE)
#define MANY 150

/* Functions of the index, by address. */
enum { SLED, CROSSING, FIRST, BRANCHED = FIRST + MANY, FUNCTIONS };
#define LONG 6 /* the function whose copy doesn't fit into its stub */
#define NOPS 40
enum { SLED_AT = 0x100, OTHER_AT = 0x200, CROSSING_AT = OTHER_AT - 2, FIRST_AT = 0x1000, STEP = 0x40 };

static struct {
	struct index_head head;
	struct index_function function[FUNCTIONS];
	struct {
		struct index_template head;
		struct index_fixup fixup;
		uint8_t bytes[12];
	} template[2];
	struct {
		struct index_template head;
		struct index_fixup fixup;
		uint8_t bytes[NOPS + 12];
	} longer;
	char names[FUNCTIONS * 8 + 8];
	struct index_order order[FUNCTIONS];
} made;

/* lea 1(%rdi),%rax; nop; ret */
static const uint8_t body[] = { 0x48, 0x8d, 0x47, 0x01, 0x90, 0xc3 };

static uint64_t address_of(int i)
{
	return FIRST_AT + (uint64_t)i * STEP;
}

/* Every fourth one by way of the bytes before it. */
static int by_padding(int i)
{
	return i % 4 == 1;
}

static void make_index(void)
{
	uint32_t name = 1;

	made.head.code_high = SIZE;
	for (int i = 0; i < FUNCTIONS; i++) {
		struct index_function *f = &made.function[i];
		int n = i - FIRST, padding = i >= FIRST && by_padding(n);
		f->address = i == SLED ? SLED_AT : i == CROSSING ? CROSSING_AT : address_of(n);
		f->size = sizeof(body);
		f->name = name;
		f->reason = i == BRANCHED ? INDEX_REASON_BRANCH : INDEX_REASON_USABLE;
		f->form = padding ? INDEX_FORM_PADDING : INDEX_FORM_JUMP;
		f->length = padding ? 4 : 5;
		f->template = n == LONG ? sizeof(made.template) : padding ? sizeof(made.template[0]) : 0;
		f->originals = padding ? 9 : 5;
		memset(f->original, 0xcc, 5);
		memcpy(f->original + (padding ? 5 : 0), body, f->length);
		f->flags = i == FIRST + 2 ? INDEX_ENTRY_ALONE : 0;
		made.order[i] = (struct index_order){ name, (uint32_t)i };
		name += (uint32_t)sprintf(made.names + name, "f%03d", i) + 1;
	}
	for (int padding = 0; padding < 2; padding++) {
		uint8_t length = padding ? 4 : 5;
		made.template[padding].head = (struct index_template){ .size = length + 5, .fixups = 1 };
		made.template[padding].fixup = (struct index_fixup){ .at = length + 1, .end = length + 5,
			.fix = INDEX_FIX_NEAR, .target = length };
		memcpy(made.template[padding].bytes, body, length);
		made.template[padding].bytes[length] = 0xe9;
	}
	made.longer.head = (struct index_template){ .size = NOPS + 10, .fixups = 1 };
	made.longer.fixup = (struct index_fixup){
		.at = NOPS + 6, .end = NOPS + 10, .fix = INDEX_FIX_NEAR, .target = 5 };
	memset(made.longer.bytes, 0x90, NOPS);
	memcpy(made.longer.bytes + NOPS, body, 5);
	made.longer.bytes[NOPS + 5] = 0xe9;
#define OFFSET(part) ((size_t)((uint8_t *)made.part - (uint8_t *)&made))
	object.index = (struct index){
		.head = &made.head, .size = sizeof(made), .functions = FUNCTIONS, .function = OFFSET(function),
		.template = OFFSET(template), .templates_size = sizeof(made.template) + sizeof(made.longer),
		.name = OFFSET(names), .names_size = sizeof(made.names), .order = OFFSET(order), .ordered = FUNCTIONS,
	};
}

static void make_load(void)
{
	static char path[100];

	snprintf(path, sizeof(path), "%s/libcode.so", core_folder());
	load_begin(SIZE, 2, 2);
	load_add(CODE_NOP5, "f000", SLED_AT);
	load_add(CODE_NOP5, "other", OTHER_AT);
	for (int i = 0; i < MANY; i++)
		load_put(address_of(i), body, sizeof(body));
	/* Not what the index has. */
	file[address_of(3)] ^= 1;
	load_map(path);
	make_index();
}

/* ---- the set ---- */

static uint32_t counts[TRACE_REASON_COUNT];

/* Adds what the pattern means; how: selected, on or ready. */
static long add(const char *pattern, int on)
{
	const struct rules_pattern p = { .function = pattern };
	struct arena memory = { 0 };
	struct entry_wish wish;

	memset(counts, 0, sizeof(counts));
	if (entry_wish_begin(&wish, &object, TRACE_KIND_ENTRY, &memory))
		bail("no memory");
	entry_wish_mark(&object, &p, 1, on ? wish.on : wish.selected, NULL);
	long n = (long)entry_add(&object, &wish, counts);
	arena_free(&memory);
	return n;
}

static int is_ascending(const uint32_t *list, uint32_t n, int of_sites)
{
	for (uint32_t i = 1; i < n; i++)
		if (of_sites ? object.sites.site[list[i - 1]].address >= object.sites.site[list[i]].address :
			       object.sites.function[list[i - 1]].address >= object.sites.function[list[i]].address)
			return 0;
	return 1;
}

/* Is all that belongs to the functions of kind entry in order? Returns their number, or -1. */
static long look(void)
{
	const struct site_set *set = &object.sites;
	const struct site_range *range = &set->of[TRACE_KIND_ENTRY];

	if (range->function != 2 || range->function + range->functions != set->functions ||
		range->site + range->sites != set->sites || object.usable != set->sites ||
		object.usable_functions != set->functions)
		return -1;
	if (!is_ascending(object.by_address, object.usable, 1) ||
		!is_ascending(object.functions, object.usable_functions, 0))
		return -1;
	for (uint32_t i = range->function; i < set->functions; i++) {
		const struct site_function *f = &set->function[i];
		const struct index_function *of = entry_of(&object, i)->index;
		const uint8_t *original = load_code_original(&object, f->first);
		int padding = of->form == INDEX_FORM_PADDING;
		if (f->count != 1 || set->site[f->first].function != i || f->address != of->address ||
			strcmp(f->name, index_name(&object.index, of)))
			return -1;
		if (load_code_function_at(&object, f->address) != i)
			return -1;
		if (memcmp(original, of->original, 5) || (padding && memcmp(original + 5, body, 2)) ||
			set->site[f->first].type != (padding ? SLED_ENTRY_PADDING : SLED_ENTRY))
			return -1;
	}
	return range->functions;
}

/*
 * A process finds the object with so many of the stores done that end an addition, if it is forked while another thread
 * makes them: each is ended right. Returns how many were.
 */
static int settle_each(const struct object *before)
{
	struct object after = object;
	int right = 0;

	for (int stores = 0; stores <= 8; stores++) {
		object.then.whole = 1;
		if (stores < 8)
			object.usable_functions = before->usable_functions;
		if (stores < 7)
			object.usable = before->usable;
		if (stores < 6)
			object.functions = before->functions;
		if (stores < 5)
			object.spare_functions = before->spare_functions;
		if (stores < 4)
			object.by_address = before->by_address;
		if (stores < 3)
			object.spare_by_address = before->spare_by_address;
		if (stores < 2)
			object.sites.of[TRACE_KIND_ENTRY] = before->sites.of[TRACE_KIND_ENTRY];
		if (stores < 1) {
			object.sites.functions = before->sites.functions;
			object.sites.sites = before->sites.sites;
		}
		entry_settle(&object);
		right += !memcmp(&object, &after, sizeof(object));
		object = after;
	}
	return right;
}

static void test_growth(void)
{
	is_int(add("nobody", 1), 0, "a pattern that means nothing adds nothing");
	is_int(look(), -1, "there is no range");
	is_int(add("f00[1-5]", 1), 4, "four of five can be used");
	is_int(counts[TRACE_REASON_TRACED], 4, "they are on");
	is_int(counts[TRACE_REASON_OTHER_SITE], 1, "one would write into another kind's site");
	is_int(look(), 4, "the set has them in order");
	const struct site_function *before = object.sites.function;
	uint32_t third = (uint32_t)load_code_function_at(&object, address_of(2));
	ok(object.marks[third] & FUNCTION_ENTRY, "that which looks at its return address is entry alone");
	object.marks[third] |= FUNCTION_NAMED;
	is_int(add("f00*", 1), 4, "of a longer list those are added that were not there");
	is_int(counts[TRACE_REASON_TRACED], 4, "and counted; that with a sled keeps it");
	is_int(add("f00*", 1), 0, "nothing is added twice");
	is_int(look(), 8, "the set is in order");
	is_int(load_code_function_at(&object, address_of(2)), third, "numbers stay");
	ok(object.marks[third] & FUNCTION_NAMED, "and what is marked");
	is_str(before[third].name, "f004", "what was read before is still there");
	is_int(load_code_function_at(&object, SLED_AT), 0, "functions with sleds are where they were");
	long all = look(), wrong = 0;
	int settled = 0, unsettled = 0;
	for (int i = MANY + 1; i > 7; i--) {
		char name[8];
		struct object was = object;
		sprintf(name, "f%03d", i);
		long added = add(name, i % 2);
		all += added;
		wrong += look() != all;
		/* Where there was room already. */
		if (added == 1 && was.sites.function == object.sites.function) {
			settled++;
			unsettled += settle_each(&was) != 9;
		}
	}
	is_int(all, MANY, "one after another, downwards");
	is_int(wrong, 0, "in order after each");
	is_int(add("*", 0), 0, "all are there");
	is_int(counts[TRACE_REASON_INDEX_BRANCH], 1, "but those that can't be");
	ok(settled > 20 && !unsettled, "an addition that was cut off by a fork is ended: %d of %d", settled - unsettled,
		settled);
	is_int(add("f1*", 1), 0, "and nothing is added twice");
	is_int(look(), MANY, "the set is right again");
}

/* ---- a load ---- */

static void write_jump(uint32_t function)
{
	uint8_t bytes[16];
	int from;
	uint32_t site = object.sites.function[function].first;
	size_t n = load_code_patched(&load, site, bytes, &from);

	if (!n || mprotect(text, SIZE, PROT_READ | PROT_WRITE | PROT_EXEC))
		bail("no jump");
	memcpy(text + object.sites.site[site].address + from, bytes, n);
}

static long call(int i)
{
	return ((function_type *)(uintptr_t)(text + address_of(i)))(41);
}

static unsigned state(int i)
{
	int64_t function = load_code_function_at(&object, address_of(i));

	return function < 0 ? 0 : load_code_look(&load, object.sites.function[function].first);
}

/* The function's number in the set. */
static uint32_t number(int i)
{
	return (uint32_t)load_code_function_at(&object, address_of(i));
}

static void test_load(void)
{
	uint64_t stub;
	long wrong = 0, refused = 0;

	is_int(state(0), SLED_IS_OFF | SLED_IS_FILE, "at first the text is the file's");
	ok(!entry_cell(&load, 2, &stub), "and there are no stubs");
	is_int(entry_stubs(&load), TRACE_REASON_TRACED, "stubs and copies");
	uint8_t *start = load.entries->pages.start;
	is_int(entry_stubs(&load), TRACE_REASON_TRACED, "twice");
	ok(load.entries->pages.start == start && !load.entries->next, "makes them once");
	uint32_t id = entry_of(&object, 2)->id;
	for (uint32_t f = 2; f < object.sites.functions; f++) {
		const struct stub_cell *cell = entry_cell(&load, f, &stub);
		wrong += !cell || entry_of(&object, f)->id != id + f - 2;
		if (entry_refused(&load, f))
			refused += entry_refused(&load, f) == TRACE_REASON_OTHER_BYTES;
		else
			wrong += cell->target || llabs((int64_t)(cell->body - load.start)) > INT32_MAX;
	}
	is_int(wrong, 0, "each function has an id, and a copy near the text");
	const struct stub_cell *cell = entry_cell(&load, number(1), &stub);
	is_int((long long)(cell->body - stub), STUB_ENTRY_COPY, "which lies in its stub");
	cell = entry_cell(&load, number(LONG), &stub);
	is_int((long long)(cell->body - (uint64_t)(uintptr_t)start), load.entries->count * 64,
		"or behind all stubs, if it is too long");
	is_int(refused, 1, "but the one whose bytes are others");
	is_int(entry_refused(&load, (uint32_t)load_code_function_at(&object, address_of(3))),
		TRACE_REASON_OTHER_BYTES, "which is left alone");
	for (uint32_t f = 2; f < object.sites.functions; f++)
		if (!entry_refused(&load, f))
			write_jump(f);
	for (int i = 0; i < MANY; i++)
		wrong += i != 3 && (call(i) != 42 || state(i) != (SLED_IS_OFF | SLED_IS_READY));
	is_int(wrong, 0, "where the jump stands and the cell leads to the copy, it is off and ready, and works");
	ok(entry_past(load.start + address_of(1)) != load.start + address_of(1) &&
			((function_type *)(uintptr_t)entry_past(load.start + address_of(1)))(1) == 2,
		"and can be called without the jump");
	ok(entry_past(load.start + SLED_AT) == load.start + SLED_AT, "others are called as they are");
}

static void test_switching(void)
{
	uint64_t stub;
	uint32_t function = (uint32_t)load_code_function_at(&object, address_of(1));
	struct stub_cell *cell = entry_cell(&load, function, &stub);

	is_int(apply(1, "f003"), 0, "switched on");
	is_int(result.changed, 1, "one site changes");
	ok(cell->target == stub_entry_rest(stub) && cell->gate == (uint64_t)(uintptr_t)tramp_gate_intercept,
		"its cell leads to the rest of the stub");
	is_int(cell->word, TRACE_WORD(TRACE_ENTRY, entry_of(&object, function)->id), "and has the event's word");
	is_int(state(1), SLED_IS_ON, "and so it is on");
	is_int(call(1), 42, "it does its work");
	ok(entry_is_on(&load, function) && load_code_is_on(&load, function), "for all who ask");
	is_int(apply(0, "f003"), 0, "switched off");
	is_int(state(1), SLED_IS_OFF | SLED_IS_READY, "it is ready again");
	is_int(call(1), 42, "and does its work");
	is_int(apply(1, "f008"), 0, "the one with a long copy");
	is_int(state(LONG), SLED_IS_ON, "is switched on");
	is_int(call(LONG), 42, "and does its work");
	is_int(apply(1, "f005"), 0, "the one with other bytes");
	is_int(result.refused[TRACE_REASON_OTHER_BYTES], 1, "is refused");
	memcpy(text + address_of(4), body, sizeof(body));
	is_int(state(4), SLED_IS_OFF | SLED_IS_FILE, "where the file's bytes are back, it is off");
	is_int(apply(1, "f006"), 0, "and can't be switched on from inside");
	is_int(result.refused[TRACE_REASON_NOT_DISPLACED], 1, "which has its reason");
	is_int(state(4), SLED_IS_OFF | SLED_IS_FILE, "so nothing changes");
	entry_free(&load);
	ok(!load.entries, "the stubs are given back");
}

int main(void)
{
	core_start(core_folder(), TRACE_CHUNK_MIN, TRACE_CLOCK_MONOTONIC);
	make_load();
	test_growth();
	test_load();
	test_switching();
	return done_testing();
}
