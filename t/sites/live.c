#define _GNU_SOURCE
/* SPDX-License-Identifier: MIT */
/*
 * Switching sites live: rules taken apart and remembered, batches from inside and as a list for the tool, pages given
 * back. The load is made by hand (live_load.h).
 */
#include "t/lib/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include "audit/live/announce.h"
#include "audit/live/unwinder.h"
#include "runtime/process/process.h"
#include "t/lib/core.h"
#include "t/lib/live_load.h"
#include "x86_64/patch.h"

#define PAGE  4096ul
#define PAGES 4

/* ---- a library ---- */

enum { LONG_NOP, ONE_BYTE, ONE_BYTE_TOO, STRADDLING, HOT, HOT_ONE_BYTE, XRAY, NAMELESS, FUNCTIONS };

static const char *const names[FUNCTIONS] = { "long_nop", "one_byte", "one_byte_too", "straddling", "hot",
	"hot_one_byte", "xray", NULL };
static const enum code codes[FUNCTIONS] = { CODE_NOP8, CODE_ONE_BYTE, CODE_ONE_BYTE, CODE_ONE_BYTE, CODE_HOT,
	CODE_HOT_ONE_BYTE, CODE_XRAY, CODE_ONE_BYTE };
/* One page each two functions or so. */
static const uint64_t addresses[FUNCTIONS] = { 0x100, 0x200, 0x1100, 0x1207, 0x2100, 0x2200, 0x3100, 0x3200 };

/* The table has XRay functions first. */
static const int order[FUNCTIONS] = { XRAY, LONG_NOP, ONE_BYTE, ONE_BYTE_TOO, STRADDLING, HOT, HOT_ONE_BYTE, NAMELESS };

static uint32_t index_of(int function)
{
	for (uint32_t i = 0; i < FUNCTIONS; i++)
		if (order[i] == function)
			return i;
	return 0;
}

static void make_load(void)
{
	static char path[100];

	snprintf(path, sizeof(path), "%s/libcode.so", core_folder());
	load_begin(PAGES * PAGE, FUNCTIONS, FUNCTIONS + 1);
	for (int i = 0; i < FUNCTIONS; i++)
		load_add(codes[order[i]], names[order[i]], addresses[order[i]]);
	load_map(path);
}

static int is_on(int function)
{
	return load_code_is_on(&load, index_of(function));
}

static int on_mask(void)
{
	int mask = 0;

	for (int f = 0; f < FUNCTIONS; f++)
		mask |= is_on(f) << f;
	return mask;
}

/* ---- batches ---- */

static struct control_patch *patches;
static size_t patch_count;

/* As the tool does it: all threads are stopped, the bytes are written from outside. */
static int from_outside(int on, const char *rule_text)
{
	static struct control_request request;

	memset(&request, 0, sizeof(request));
	request.op = on ? CONTROL_ENABLE : CONTROL_DISABLE;
	strcpy(request.text, rule_text);
	int r = switch_obey(&request);
	patches = (struct control_patch *)(uintptr_t)request.patches;
	patch_count = request.patch_count;
	result = request.result;
	if (r)
		return r;
	for (size_t i = 0; i < patch_count; i++) {
		const struct control_patch *p = &patches[i];
		if (memcmp((void *)(uintptr_t)p->address, p->expected, p->size) != 0)
			bail("unexpected bytes");
		struct patch patch = { .address = p->address, .size = p->size };
		size_t done;
		memcpy(patch.bytes, p->bytes, p->size);
		if (patch_at_load(&patch, 1, PROT_READ | PROT_EXEC, &done))
			bail("a patch can't be written");
	}
	return 0;
}

static const uint8_t nop8[] = { 0x0f, 0x1f, 0x84, 0, 0, 2, 0, 0 }, nop5[] = { 0x0f, 0x1f, 0x44, 0, 0 };

static void test_rules(void)
{
	struct requests_rule rule;
	char text_of[][40] = { "f", "xray:f*", "plt,calls:f@lib*", "ns::f", "foo:f", "", "@lib", "f@",
		"xray:", "a@b@c" };

	ok(!requests_parse(&rule, text_of[0]) && rule.kinds == REQUESTS_ALL_KINDS && !strcmp(rule.function, "f") &&
			!rule.library,
		"a function alone is a rule for all kinds and libraries");
	ok(!requests_parse(&rule, text_of[1]) && rule.kinds == 1u << TRACE_KIND_XRAY && !strcmp(rule.function, "f*"),
		"a kind can be named");
	ok(!requests_parse(&rule, text_of[2]) && rule.kinds == (1u << TRACE_KIND_PLT | 1u << TRACE_KIND_CALLS) &&
			!strcmp(rule.function, "f") && !strcmp(rule.library, "lib*"),
		"or two, and a library");
	ok(!requests_parse(&rule, text_of[3]) && rule.kinds == REQUESTS_ALL_KINDS && !strcmp(rule.function, "ns::f"),
		"two colons belong to the function");
	int refused = 0;
	for (int i = 4; i < 9; i++)
		refused += requests_parse(&rule, text_of[i]) == -EINVAL;
	is_int(refused, 5, "an unknown kind, and rules without a function or library behind @ are refused");
	ok(!requests_parse(&rule, text_of[9]) && !strcmp(rule.library, "b@c"), "the first @ begins the library");
}

static void test_inside(void)
{
	is_int(apply(1, "*"), 0, "everything is asked for from inside");
	is_int((long long)result.functions, FUNCTIONS, "the rule names all eight functions");
	is_int(on_mask(), 1 << LONG_NOP | 1 << HOT | 1 << XRAY, "those of whole instructions are on");
	is_int((long long)result.changed, 4, "that is four sites");
	is_int((long long)result.refused[TRACE_REASON_ONE_BYTE_NOPS], 5, "the five with NOPs of one byte are refused");
	is_int((long long)object.counts[TRACE_KIND_PATCHABLE][TRACE_REASON_TRACED], 2,
		"the counts tell two of them patchable");
	is_str(core_protection(load.start), "r-xp", "the text is protected as before");
	is_int(apply(1, "*"), 0, "asked for again");
	ok(result.changed == 0 && result.already == 4, "nothing changes, four sites are on already");
	is_int(apply(0, "xray:*"), 0, "a kind is switched off");
	is_int(on_mask(), 1 << LONG_NOP | 1 << HOT, "and off it is");
	ok(result.changed == 2 && result.functions == 1, "two sites of one function");
	const uint8_t *p = text + addresses[XRAY];
	ok(p[0] == 0xeb && p[1] == 9 && p[6] == 0xe8 && p[16] == 0xc3 && p[16 + 6] == 0xe9, "by their heads alone");
	is_int((long long)switch_reclaim(), 0, "its page can't be given back for that");
	is_int(apply(0, "long_nop@*code*"), 0, "a long NOP is switched off");
	ok(!memcmp(text + addresses[LONG_NOP], nop8, 8), "it is the file's again");
	is_int((long long)object.patched_pages, 2, "and its page was given back: two patched ones are left");
	is_int((long long)object.site_pages, 4, "of four with sites");
	is_int(apply(1, "xray:*"), 0, "the XRay function is switched on again");
	is_int(on_mask(), 1 << HOT | 1 << XRAY, "and is on");
	is_int(apply(0, "nothing_of_that_name"), 0, "a name that nobody has is no error");
	ok(result.functions == 0 && result.changed == 0, "and names nothing");
}

static void test_outside(void)
{
	is_int(from_outside(1, "*"), 0, "everything is asked for from outside");
	is_int(on_mask(), (1 << FUNCTIONS) - 1, "all of it is on");
	is_int((long long)result.changed, 6, "six sites more");
	int ascending = 1, found = 0;
	for (size_t i = 1; i < patch_count; i++)
		ascending &= patches[i - 1].address < patches[i].address;
	ok(ascending, "patches come in order of address");
	for (size_t i = 0; i < patch_count; i++)
		found += patches[i].address == load.base + addresses[ONE_BYTE] &&
			 patches[i].inside_low == patches[i].address + 1 &&
			 patches[i].inside_high == patches[i].address + 5 &&
			 patches[i].resume == patches[i].address + 5;
	is_int(found, 1, "a thread between NOPs of one byte goes on behind them");

	is_int(apply(0, "straddling"), 0, "what straddles is switched off from inside");
	is_int((long long)result.refused[TRACE_REASON_STRADDLES], 1, "that is refused");
	ok(is_on(STRADDLING), "and it stays on");
	is_int(apply(0, "one_byte"), 0, "NOPs of one byte are switched off from inside");
	ok(!memcmp(text + addresses[ONE_BYTE], nop5, 5) && is_on(ONE_BYTE_TOO), "they are one instruction then");
	is_int(apply(1, "one_byte"), 0, "and can be switched on");
	ok(is_on(ONE_BYTE) && result.changed == 1, "from inside, too");

	is_int(from_outside(0, "*"), 0, "everything is switched off from outside");
	int exits = 0;
	for (size_t i = 0; i < patch_count; i++)
		exits += patches[i].type == SLED_XRAY_EXIT && patches[i].inside_low == patches[i].address + 6 &&
			 patches[i].inside_high == patches[i].address + 7 && patches[i].resume == patches[i].address;
	is_int(exits, 1, "a thread behind the head of an exit sled goes back to it");
	ok(!memcmp(text, file, file_size), "the text is the file's own, byte by byte");
	is_int((long long)switch_reclaim(), 4, "all four pages are given back");
	is_int((long long)object.patched_pages, 0, "none is patched");
	ok(!memcmp(text, file, file_size), "and the text is as it was");
	is_int(from_outside(0, "*"), 0, "switched off again");
	ok(patch_count == 0 && result.changed == 0, "nothing is to be written");
}

/* The page's bytes are the same in other memory, as where a program moves its text onto large pages. */
static void move_page(uint64_t at)
{
	char *copy = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (copy == MAP_FAILED)
		bail("mmap: %s", strerror(errno));
	memcpy(copy, text + at, PAGE);
	if (mprotect(copy, PAGE, PROT_READ | PROT_EXEC) ||
		mremap(copy, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, text + at) != text + at)
		bail("a page can't be moved: %s", strerror(errno));
}

static void map_page(int fd, uint64_t at, uint64_t from, int protection)
{
	if (mmap(text + at, PAGE, protection, MAP_PRIVATE | MAP_FIXED, fd, (off_t)from) == MAP_FAILED)
		bail("mmap: %s", strerror(errno));
}

static void test_moved(void)
{
	char kept[200];
	int fd = open(object.path, O_RDWR | O_CLOEXEC);

	/* After the text, its second page once more. */
	if (fd < 0 || pwrite(fd, file + PAGE, PAGE, PAGES * PAGE) != (ssize_t)PAGE)
		bail("can't write %s", object.path);
	from_outside(1, "*");
	from_outside(0, "*");
	move_page(0);
	map_page(fd, PAGE, PAGES * PAGE, PROT_READ | PROT_EXEC);
	map_page(fd, 2 * PAGE, 2 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);
	is_int((long long)switch_reclaim(), 1,
		"of four pages one is given back: one was moved to memory without a file, one is of another place in "
		"the file, one may be written to");
	ok(!memcmp(text, file, file_size), "and each is as it was");
	for (uint64_t at = 0; at < 3 * PAGE; at += PAGE)
		map_page(fd, at, at, PROT_READ | PROT_EXEC);
	is_int((long long)switch_reclaim(), 3, "where they are of the file again, these three are given back, too");
	from_outside(1, "*");
	from_outside(0, "*");
	snprintf(kept, sizeof(kept), "%s.kept", object.path);
	int other = rename(object.path, kept) ? -1 : open(object.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (other < 0 || write(other, file, file_size) != (ssize_t)file_size)
		bail("can't replace %s", object.path);
	is_int((long long)switch_reclaim(), 0, "none where another file of the same bytes has the name now");
	if (rename(kept, object.path))
		bail("can't put %s back", object.path);
	is_int((long long)switch_reclaim(), 4, "all four when the mapped one has it again");
	close(other);
	close(fd);
}

/* As the tool asks for it, with all threads stopped. Returns how many pages were given back. */
static long long give_back(void)
{
	static struct control_request request = { .op = CONTROL_WRITTEN, .argument = CONTROL_GIVE_BACK };

	return switch_obey(&request) ? -1 : (long long)request.pages;
}

/* A byte of a page's end becomes another one, on a copy of the process's own. */
static void write_to(uint64_t page, char byte)
{
	if (mprotect(text + page * PAGE, PAGE, PROT_READ | PROT_WRITE))
		bail("mprotect: %s", strerror(errno));
	text[page * PAGE + PAGE - 1] = byte;
	if (mprotect(text + page * PAGE, PAGE, PROT_READ | PROT_EXEC))
		bail("mprotect: %s", strerror(errno));
}

/* Pages 0 and 2 are ours; the program has changed the one between. */
static void test_between(void)
{
	const char own = (char)(file[2 * PAGE - 1] + 1);

	write_to(0, (char)file[PAGE - 1]);
	write_to(1, own);
	write_to(2, (char)file[3 * PAGE - 1]);
	load_code_touch(&load, load.start, 1);
	load_code_touch(&load, load.start + 2 * PAGE, 1);
	is_int(give_back(), 2, "two pages are given back, between which one is the program's own");
	is_int((char)text[2 * PAGE - 1], own, "and that stays as it is");
	write_to(1, (char)file[2 * PAGE - 1]);
	write_to(2, own);
	load_code_touch(&load, load.start, 1);
	load_code_touch(&load, load.start + 2 * PAGE, 1);
	is_int(give_back(), 1, "one is, where another one is not the file's yet");
	write_to(2, (char)file[3 * PAGE - 1]);
	is_int(give_back(), 1, "which is, later");
	ok(!memcmp(text, file, file_size), "and all is the file's");
}

static void test_remembered(void)
{
	struct object other = { .path = "/usr/lib/libother.so.1", .soname = "libother.so" };

	apply(0, "*");
	ok(!requests_selects(&other, TRACE_KIND_XRAY, "f", 1), "what is switched off counts for objects to come");
	apply(1, "f*@libother.so");
	ok(requests_selects(&other, TRACE_KIND_XRAY, "foo", 0), "and what is switched on, by the soname");
	ok(!requests_selects(&other, TRACE_KIND_XRAY, "bar", 1), "other functions stay off");
	apply(0, "xray:foo");
	ok(!requests_selects(&other, TRACE_KIND_XRAY, "foo", 0) && requests_selects(&other, TRACE_KIND_PLT, "foo", 0),
		"the last rule that matches counts");
	apply(1, "f*@libother.so");
	ok(requests_selects(&other, TRACE_KIND_XRAY, "foo", 0), "a rule that is asked for again is the last");
	load.preparing = 1;
	is_int(apply(1, "*"), -EAGAIN, "while a load is being prepared nothing can be switched");
	ok(!requests_selects(&other, TRACE_KIND_XRAY, "bar", 0), "and nothing is remembered");
	load.preparing = 0;
}

static void test_bindings(void)
{
	static struct binding *buckets[OBJECT_BUCKETS];
	static struct bound_function function = { .name = "straddling", .kind = TRACE_KIND_PLT },
				     free_one = { .name = "bound", .kind = TRACE_KIND_PLT };
	struct stub_pages pages;
	struct binding b = { .function = &function, .body = load.base + addresses[STRADDLING] };
	struct binding c = { .next = &b, .function = &free_one, .body = load.base + 0x400 };

	if (stub_map_block(&pages, 2))
		bail("no stubs");
	struct binding *const both[] = { &b, &c };
	for (uint32_t i = 0; i < 2; i++) {
		both[i]->stub = stub_address(&pages, i);
		both[i]->rest = stub_rest(&pages, i);
		both[i]->cell = stub_cell(&pages, i);
		both[i]->cell->body = both[i]->body;
		switch_switch(both[i], 0);
	}
	buckets[3] = &c;
	load.bindings = buckets;
	is_int((long long)b.cell->target, (long long)b.body, "a binding that is off goes on to the body");
	is_int(apply(1, "plt:*"), 0, "bindings are switched on");
	ok(b.cell->target == b.rest && c.cell->target == c.rest && result.changed == 2,
		"both go on to the rest of their stubs");
	ok(function.id && free_one.id && c.cell->word == TRACE_WORD(TRACE_ENTRY, free_one.id), "with ids");
	is_int(from_outside(1, "patchable:*"), 0, "sleds are switched on");
	ok(b.cell->target == b.body && c.cell->target == c.rest,
		"the binding of one of them is switched off for that, the other is not");
	is_int(apply(1, "plt:*"), 0, "bindings are asked for again");
	ok(result.refused[TRACE_REASON_SLED_TRACED] == 1 && result.already == 1 && b.cell->target == b.body,
		"that one is refused");
	is_int(from_outside(0, "*"), 0, "all is switched off");
	ok(c.cell->target == c.body, "bindings, too");
	load.bindings = NULL;
	stub_unmap(&pages);
}

/* ---- threads ---- */

#define THREADS 3

static const int run_by_threads[] = { LONG_NOP, ONE_BYTE, HOT, XRAY };
#define RUN ((int)(sizeof(run_by_threads) / sizeof(*run_by_threads)))

static int stop;
static uint64_t calls[THREADS], wrong[THREADS];

static uint64_t call_all(long n)
{
	uint64_t bad = 0;

	for (int i = 0; i < RUN; i++)
		bad += ((function_type *)(uintptr_t)(text + addresses[run_by_threads[i]]))(n) != n + 1;
	return bad;
}

static void *run(void *argument)
{
	size_t me = (size_t)argument;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		for (int i = 0; i < 200; i++) {
			wrong[me] += call_all((long)calls[me]);
			/* Relaxed: a number that the main thread looks at. */
			__atomic_store_n(&calls[me], calls[me] + (uint64_t)RUN, __ATOMIC_RELAXED);
		}
		usleep(500);
	}
	return NULL;
}

static void handler(int number)
{
	(void)number;
	if (call_all(5))
		__atomic_fetch_add(&wrong[0], 1, __ATOMIC_RELAXED);
}

/* Entries and ends in all files; those of entries that began later than `end`. */
static int count_events(uint64_t end, uint64_t *entries, uint64_t *open, uint64_t *ends, uint64_t *late)
{
	int files = 0;

	*entries = *open = *ends = *late = 0;
	for (unsigned n = 0; n < THREADS + 2; n++) {
		struct reading reading;
		if (core_read(core_folder(), getpid(), n, TRACE_CHUNK_MIN, &reading))
			continue;
		files++;
		if (reading.damage || reading.lost) {
			diag("%s, %llu lost", reading.damage ? reading.damage : "", (unsigned long long)reading.lost);
			return -1;
		}
		for (size_t i = 0; i < reading.count; i++) {
			int begins = reading.event[i].type == TRACE_ENTRY || reading.event[i].type == TRACE_POINT;
			*entries += begins;
			*open += reading.event[i].type == TRACE_ENTRY;
			*ends += !begins;
			*late += begins && reading.event[i].clock > end;
		}
		core_forget(&reading);
	}
	return files;
}

/* Until each thread has ended one turn, and begun and ended another one; for a minute at most. */
static void let_call(void)
{
	uint64_t end = core_now_ns() + 60000000000u;

	for (int i = 0; i < THREADS; i++) {
		uint64_t before = __atomic_load_n(&calls[i], __ATOMIC_RELAXED);
		while (__atomic_load_n(&calls[i], __ATOMIC_RELAXED) < before + 2 * RUN && core_now_ns() < end)
			usleep(1000);
	}
}

static void test_running(void)
{
	pthread_t thread[THREADS];
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };
	struct itimerval timer = { { 0, 1000 }, { 0, 1000 } }, none = { { 0, 0 }, { 0, 0 } };
	uint64_t end, all = 0, bad = 0, entries, open, ends, late;
	unsigned batches = 0, failed = 0, partial = 0;

	/* From here on each site is one instruction. */
	from_outside(1, "one_byte");
	apply(0, "*");
	sigaction(SIGPROF, &action, NULL);
	for (size_t i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, run, (void *)i);
	setitimer(ITIMER_PROF, &timer, NULL);
	/* One second; longer where that is too short for 100 batches. */
	uint64_t begun = core_now_ns();
	for (end = begun + 30000000000u; core_now_ns() < (batches > 100 ? begun + 1000000000u : end); batches += 2) {
		struct process_held held;
		process_lock(&held);
		failed += apply(1, "*") != 0;
		partial += result.changed != 5;
		process_unlock(&held);
		usleep(200);
		process_lock(&held);
		failed += apply(0, "*") != 0;
		partial += result.changed != 5;
		process_unlock(&held);
	}
	/* Each thread, which may have no processor for long, is out of what it was in at the last batch. */
	let_call();
	uint64_t off = core_now_ns();
	let_call();
	usleep(50000);
	setitimer(ITIMER_PROF, &none, NULL);
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(thread[i], NULL);
		all += calls[i];
		bad += wrong[i];
	}
	int files = count_events(off, &entries, &open, &ends, &late);
	diag("%u batches, %llu calls, %llu of them recorded", batches, (unsigned long long)all,
		(unsigned long long)entries);
	ok(batches > 100 && !failed, "batches from inside succeed while threads run what they change");
	is_int(partial, 0, "each changes all five sites");
	is_int((long long)bad, 0, "every call has the right result");
	ok(files >= 1 && entries > 0 && entries < all, "some calls are recorded, some not");
	/* with TSan, not every stack can have a mirror */
	ok(ends > open / 2, "with the ends of those that can have one");
	is_int((long long)late, 0, "after the last batch nothing is recorded");
}

static void test_refused(void)
{
	/* The kernel makes no shared mapping of a file that was opened for reading writable. */
	int fd = open(object.path, O_RDONLY | O_CLOEXEC);

	if (mmap(text, PAGE, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED)
		bail("mmap: %s", strerror(errno));
	close(fd);
	struct rlimit none = { 0, RLIM_INFINITY }, before;
	getrlimit(RLIMIT_FSIZE, &before);
	setrlimit(RLIMIT_FSIZE, &none);
	int failure = apply(1, "*");
	setrlimit(RLIMIT_FSIZE, &before); /* output may be a file, too */
	is_int(failure, -EACCES,
		"where the system refuses to make one page writable, and files of memory, the batch fails");
	ok(result.changed == 0 && result.refused[TRACE_REASON_PROTECTION] == 3 && on_mask() == 0,
		"nothing of it is on, and three functions are refused");
	is_int(apply(1, "*"), 0, "where there may be such files, pages of them take the place");
	ok(result.refused[TRACE_REASON_PROTECTION] == 0 && on_mask() == (1 << LONG_NOP | 1 << HOT | 1 << XRAY),
		"all that can be switched is on");
	is_int((long long)call_all(7), 0, "the functions do what they do");
	is_str(core_protection(load.start), "r-xp", "and nothing is writable and executable");
	is_int(apply(0, "*"), 0, "they can be switched off");
	ok(on_mask() == 0 && !call_all(8), "and are off");
	object.refused = TRACE_REASON_PROTECTION;
	is_int(apply(1, "*"), 0, "an object whose text could not be patched at load");
	ok(result.refused[TRACE_REASON_PROTECTION] == FUNCTIONS && on_mask() == 0,
		"is refused as a whole, with that reason");
}

/*
 * Adjacent loads: right below each one except the first there is another one. Below the first there are free
 * addresses.
 */
static void test_places(void)
{
	enum { LOADS = 4, SPAN = 32768, FUNCTIONS = 200, FREE = 64 << 20 };
	struct object many = {
		.sites = { .functions = FUNCTIONS, .of[TRACE_KIND_PATCHABLE].functions = FUNCTIONS }
	};
	struct load side[LOADS] = { 0 };
	struct process_held held;
	uint8_t *room = mmap(NULL, FREE + LOADS * SPAN, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int wrong = 0;

	if (room == MAP_FAILED || munmap(room, FREE))
		bail("no room for loads");
	room += FREE;
	for (int i = 0; i < LOADS; i++) {
		side[i].object = &many;
		side[i].start = (uint64_t)(uintptr_t)room + (uint64_t)i * SPAN;
		side[i].end = side[i].start + SPAN;
		process_lock(&held);
		wrong += load_code_reserve(&side[i]) != TRACE_REASON_TRACED;
		process_unlock(&held);
	}
	is_int(wrong, 0, "the stubs of four loads side by side have their places");
	for (int i = 1; i < LOADS; i++)
		is_int((int64_t)((uint64_t)(uintptr_t)side[i].stubs.start - side[i].start),
			(int64_t)((uint64_t)(uintptr_t)side[0].stubs.start - side[0].start),
			"those of load %d lie as far from it as those of the first", i);
	for (int i = 0; i < LOADS; i++)
		stub_unmap(&side[i].stubs);
	munmap(room, LOADS * SPAN);
}

int main(void)
{
	test_rules();
	core_start(core_folder(), TRACE_CHUNK_MIN, TRACE_CLOCK_MONOTONIC);
	make_load();
	test_inside();
	test_outside();
	test_moved();
	test_between();
	test_remembered();
	test_bindings();
	test_running();
	test_refused();
	test_places();
	return done_testing();
}
