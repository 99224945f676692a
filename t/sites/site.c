/* SPDX-License-Identifier: MIT */
/*
 * site_scan() finds known numbers of sites in one source that is compiled and linked in many ways; and the sites are
 * where it says: libraries are loaded here, patched with stubs that count, and called.
 */
#define _GNU_SOURCE
#include "t/lib/tap.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <sys/mman.h>

#include "audit/site/list.h"
#include "audit/site/site.h"
#include "t/lib/site_fixture.h"

enum { RUN = 1, STRIPPED = 2, OPTIONAL = 4, EVENT = 8 };

struct expectation {
	const char *what, *command;
	enum trace_kind kind;
	uint32_t functions, usable;
	enum trace_reason refused; /* the reason of all other functions */
	int type, length;	   /* of all sites; -1: any; -2: any, 4 functions with an endbr64 */
	unsigned flags;
};

#define P      TRACE_KIND_PATCHABLE
#define X      TRACE_KIND_XRAY
#define SHARED "-shared -fPIC "
#define PATCH  "-fpatchable-function-entry="
#define XRAY   "-fxray-instrument -fxray-instruction-threshold=1 "

static const struct expectation expectations[] = {
	{ "gcc =5", "gcc " SHARED PATCH "5", P, 5, 5, 0, SLED_PATCHABLE, 5, RUN },
	{ "gcc =8", "gcc " SHARED PATCH "8", P, 5, 5, 0, SLED_PATCHABLE, 5, RUN },
	{ "gcc =32", "gcc " SHARED PATCH "32", P, 5, 5, 0, SLED_PATCHABLE, 5, RUN },
	{ "gcc =7,2", "gcc " SHARED PATCH "7,2", P, 5, 5, 0, SLED_PATCHABLE, 5, RUN },
	{ "gcc =16,14", "gcc " SHARED PATCH "16,14", P, 5, 5, 0, SLED_PATCHABLE_HOT, 2, RUN },
	{ "gcc =5,2", "gcc " SHARED PATCH "5,2", P, 5, 0, TRACE_REASON_SHORT, 0, 0, RUN },
	{ "gcc =4", "gcc " SHARED PATCH "4", P, 5, 0, TRACE_REASON_SHORT, 0, 0, RUN },
	{ "gcc =6,5", "gcc " SHARED PATCH "6,5", P, 5, 0, TRACE_REASON_SHORT, 0, 0, RUN },
	{ "clang =5", "clang " SHARED PATCH "5", P, 5, 5, 0, SLED_PATCHABLE, 5, RUN },
	{ "clang =8", "clang " SHARED PATCH "8", P, 5, 5, 0, SLED_PATCHABLE, 8, RUN },
	{ "clang =7,2", "clang " SHARED PATCH "7,2", P, 5, 5, 0, SLED_PATCHABLE, 5, RUN },
	{ "clang =16,14", "clang " SHARED PATCH "16,14", P, 5, 5, 0, SLED_PATCHABLE_HOT, 2, RUN },
	{ "clang =17,14", "clang " SHARED PATCH "17,14", P, 5, 5, 0, SLED_PATCHABLE_HOT, 3, RUN },
	{ "clang =5,2", "clang " SHARED PATCH "5,2", P, 5, 0, TRACE_REASON_SHORT, 0, 0, RUN },
	{ "clang =16,14 with endbr64", "clang " SHARED PATCH "16,14 -fcf-protection=full", P, 5, 5, 0, -2, 2, RUN },
	{ "clang =5 with endbr64", "clang " SHARED PATCH "5 -fcf-protection=full", P, 5, 5, 0, SLED_PATCHABLE, 5, RUN },
	{ "gcc =5 with endbr64", "gcc " SHARED PATCH "5 -fcf-protection=full", P, 5, 5, 0, SLED_PATCHABLE, 5, RUN },
	{ "gcc =16,14 with endbr64", "gcc " SHARED PATCH "16,14 -fcf-protection=full", P, 5, 5, 0, -2, 2, RUN },
	{ "gcc =5 linked by lld",
		"gcc -c " PATCH
		"5 -fPIC && timeout 60 ld.lld -shared $fixture -o $fixture.so && mv $fixture.so $fixture",
		P, 5, 5, 0, SLED_PATCHABLE, 5, RUN | OPTIONAL },
	{ "clang =5 linked by lld", "clang -fuse-ld=lld " SHARED PATCH "5", P, 5, 5, 0, SLED_PATCHABLE, 5,
		RUN | OPTIONAL },
	{ "clang =16,14 linked by lld, packed relocations",
		"clang -fuse-ld=lld -Wl,--pack-dyn-relocs=relr " SHARED PATCH "16,14", P, 5, 5, 0, SLED_PATCHABLE_HOT,
		2, OPTIONAL },
	{ "gcc =5 linked by bfd, packed relocations", "gcc -fuse-ld=bfd -Wl,-z,pack-relative-relocs " SHARED PATCH "5",
		P, 5, 5, 0, SLED_PATCHABLE, 5, OPTIONAL },
	{ "gcc =5, fixed address", "gcc -DWITH_MAIN -no-pie " PATCH "5", P, 6, 6, 0, SLED_PATCHABLE, 5, 0 },
	{ "gcc =16,14, fixed address", "gcc -DWITH_MAIN -no-pie " PATCH "16,14", P, 6, 6, 0, SLED_PATCHABLE_HOT, 2, 0 },
	{ "gcc =5, position-independent program", "gcc -DWITH_MAIN -fPIE -pie " PATCH "5", P, 6, 6, 0, SLED_PATCHABLE,
		5, 0 },
	{ "clang =5, fixed address, lld", "clang -DWITH_MAIN -fuse-ld=lld -no-pie " PATCH "5", P, 6, 6, 0,
		SLED_PATCHABLE, 5, OPTIONAL },
	{ "gcc =5, stripped", "gcc -s " SHARED PATCH "5", P, 5, 5, 0, SLED_PATCHABLE, 5, RUN | STRIPPED },
	{ "gcc =16,14, stripped", "gcc -s " SHARED PATCH "16,14", P, 5, 5, 0, SLED_PATCHABLE_HOT, 2, RUN | STRIPPED },
	{ "clang =16,14, stripped, lld", "clang -fuse-ld=lld -s " SHARED PATCH "16,14", P, 5, 5, 0, SLED_PATCHABLE_HOT,
		2, RUN | STRIPPED | OPTIONAL },
	{ "gcc =5 in two sections",
		"gcc -DWITH_EXTRA " SHARED PATCH
		"5 && objcopy --rename-section extra_entries=__patchable_function_entries $fixture",
		P, 6, 6, 0, SLED_PATCHABLE, 5, RUN },
	{ "clang xray -O2", "clang " SHARED XRAY, X, 5, 5, 0, -1, SLED_XRAY_SIZE, RUN },
	{ "clang xray -O2, lld", "clang -fuse-ld=lld " SHARED XRAY, X, 5, 5, 0, -1, SLED_XRAY_SIZE, RUN | OPTIONAL },
	{ "clang xray with endbr64", "clang -fcf-protection=full " SHARED XRAY, X, 5, 5, 0, -1, SLED_XRAY_SIZE, RUN },
	{ "clang xray, stripped", "clang -s " SHARED XRAY, X, 5, 5, 0, -1, SLED_XRAY_SIZE, RUN | STRIPPED },
	{ "clang xray, fixed address", "clang -DWITH_MAIN -no-pie " XRAY, X, 6, 6, 0, -1, SLED_XRAY_SIZE, 0 },
	{ "clang xray with an event", "clang -DWITH_EVENT " SHARED XRAY, X, 6, 6, 0, -1, SLED_XRAY_SIZE, EVENT },
	{ "clang xray, events alone", "clang -DWITH_EVENT -fxray-instrumentation-bundle=custom " SHARED XRAY, X, 1, 1,
		0, SLED_XRAY_CUSTOM, SLED_CUSTOM_SIZE, EVENT },
};

/*
 * Files that differ by the compiler's version: the condition is one of the shell, about $gcc and $clang, the major
 * numbers.
 */
static const struct {
	const char *when;
	struct expectation expectation;
} by_version[] = {
	{"[ $clang -lt 15 ]", {"clang before 15 =12", "clang " SHARED PATCH "12", P, 5, 5, 0, SLED_PATCHABLE, 10, RUN}},
	{"[ $clang -ge 15 ]",
		{"clang from 15 on =12", "clang " SHARED PATCH "12", P, 5, 5, 0, SLED_PATCHABLE, 12, RUN}},
	/*
	 * These compilers write one table per file, which keeps all its functions; later ones write a table per
	 * function, which is dropped with it.
	 */
	{"[ $gcc -lt 13 ]", {"gcc before 13 =5, functions dropped by the linker",
				    "gcc -DWITH_MAIN -no-pie -ffunction-sections -Wl,--gc-sections " PATCH "5", P, 6, 6,
				    0, SLED_PATCHABLE, 5, 0}},
	{"[ $gcc -ge 13 ]", {"gcc from 13 on =5, functions dropped by the linker",
				    "gcc -DWITH_MAIN -no-pie -ffunction-sections -Wl,--gc-sections " PATCH "5", P, 4, 4,
				    0, SLED_PATCHABLE, 5, 0}},
	{"[ $clang -lt 17 ]", {"clang before 17 xray -Os", "clang -Os " SHARED XRAY, X, 5, 4,
				      TRACE_REASON_CONDITIONAL_TAIL, -1, SLED_XRAY_SIZE, RUN}},
	{"[ $clang -ge 17 ]",
		{"clang from 17 on xray -Os", "clang -Os " SHARED XRAY, X, 5, 5, 0, -1, SLED_XRAY_SIZE, RUN}},
};

static int same_name(const struct site_set *set, const char *name)
{
	int n = 0;

	for (uint32_t i = 0; i < set->functions; i++)
		n += set->function[i].name && !strcmp(set->function[i].name, name);
	return n;
}

static void check_numbers(const struct site_set *set, const struct expectation *e)
{
	uint32_t usable = 0, other = 0, wrong_type = 0, wrong_length = 0, misplaced = 0, sites = 0;
	uint32_t with_endbr64 = 0, events = 0;

	is_int(set->functions, e->functions, "%s: %u functions", e->what, e->functions);
	for (uint32_t i = 0; i < set->functions; i++) {
		const struct site_function *f = &set->function[i];
		usable += !f->reason;
		other += f->reason && f->reason != e->refused;
		misplaced += f->kind != e->kind || !f->reason != !!f->count || f->first != sites;
		for (uint32_t s = f->first; s < f->first + f->count; s++) {
			const struct site *site = &set->site[s];
			wrong_type += e->type >= 0 && site->type != e->type;
			with_endbr64 += site->type == SLED_PATCHABLE_HOT_CET;
			wrong_length +=
				site->length != (sled_is_event(site->type) ? sled_xray_size(site->type) : e->length);
			events += sled_is_event(site->type);
			misplaced += site->function != i || site->address < f->address ||
				     (f->size && site->address >= f->address + f->size) ||
				     (s > f->first && site->address <= set->site[s - 1].address);
		}
		sites += f->count;
	}
	is_int(usable, e->usable, "%s: %u of them can be used", e->what, e->usable);
	is_int(other, 0, "%s: the others are refused for the right reason", e->what);
	/* Compilers leave the endbr64 out of a function that can't be called indirectly. */
	if (e->type == -2)
		is_int(with_endbr64, 4, "%s: the sites of 4 functions reach over an endbr64", e->what);
	is_int(wrong_type + wrong_length, 0, "%s: all sites have the right type and length", e->what);
	is_int(misplaced, 0, "%s: sites lie in their functions, in order", e->what);
	is_int(set->sites, sites, "%s: each site belongs to a function", e->what);
	is_int(set->kind_reason[e->kind], TRACE_REASON_TRACED, "%s: the kind has functions", e->what);
	is_int(set->kind_reason[P + X - e->kind], TRACE_REASON_NO_SITES, "%s: the other kind has none", e->what);
	is_int(set->of[P].function, e->kind == X ? set->functions : 0, "%s: patchable functions follow those of xray",
		e->what);
	is_int(events, !!(e->flags & EVENT), "%s: event sleds are sites", e->what);
	is_int(set->events, events, "%s: their arguments are known", e->what);
	is_int(set->events_left, 0, "%s: no event sled is left alone", e->what);
	if (!events || e->functions > 1) {
		/* main() calls two of four functions, and the linker dropped the other two. */
		is_int(same_name(set, "site_leaf") + same_name(set, "site_loop") + same_name(set, "site_tail") +
				same_name(set, "site_branch"),
			e->functions == 4 ? 2 : 4, "%s: exported functions are found by name", e->what);
		is_int(same_name(set, "hidden"), !(e->flags & STRIPPED),
			"%s: the local function has a name unless stripped", e->what);
	}
}

/* A page of stubs, a page of counters: one stub per site. Returns the pages, or NULL. */
static uint8_t *map_stubs(uint64_t base)
{
	for (uint64_t at = (base & ~0xfffffull) - 0x100000; at > base - 0x40000000; at -= 0x100000) {
		uint8_t *p = mmap((void *)(uintptr_t)at, 8192, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
		if (p != MAP_FAILED)
			return p;
	}
	return NULL;
}

static int32_t rel32(const uint8_t *from, const void *to)
{
	return (int32_t)((const uint8_t *)to - (from + 4));
}

/* Writes a stub that counts, then goes on in the body (patchable) or returns (xray). */
static void write_stub(uint8_t *stub, const uint64_t *counter, enum sled_type type, const uint8_t *body)
{
	static const uint8_t inc[3] = {0x48, 0xff, 0x05}; /* incq rel32(%rip) */
	int32_t rel = rel32(stub + 3, counter);

	memcpy(stub, inc, 3);
	memcpy(stub + 3, &rel, 4);
	if (type < SLED_PATCHABLE) {
		stub[7] = 0xc3;
		return;
	}
	stub[7] = 0xe9;
	rel = rel32(stub + 8, body);
	memcpy(stub + 8, &rel, 4);
}

/*
 * Patches all sites of a loaded library; entries and ends: where calls are counted. Returns the number of patches that
 * failed.
 */
static int patch_all(const struct site_set *set, uint64_t base, uint64_t **entries, uint64_t **ends)
{
	uint8_t *stub = map_stubs(base), out[16];
	int failed = 0, from;

	if (!stub)
		bail("no room for stubs near the library");
	uint64_t *counter = (uint64_t *)(stub + 4096);
	*entries = &counter[0];
	*ends = &counter[1];
	for (uint32_t i = 0; i < set->sites; i++, stub += 16) {
		const struct site *site = &set->site[i];
		uint8_t *at = (uint8_t *)(uintptr_t)(base + site->address);
		int end = site->type == SLED_XRAY_EXIT || site->type == SLED_XRAY_TAIL;
		write_stub(stub, end ? *ends : *entries, site->type, at + site->length);
		size_t n = sled_patched(site->type, site->function, stub - at, out, &from);
		uint8_t *page = (uint8_t *)((uintptr_t)(at + from) & -4096ul);
		if (!n || mprotect(page, 8192, PROT_READ | PROT_WRITE)) {
			failed++;
			continue;
		}
		memcpy(at + from, out, n);
		failed += !!mprotect(page, 8192, PROT_READ | PROT_EXEC);
	}
	failed += !!mprotect((uint8_t *)counter - 4096, 4096, PROT_READ | PROT_EXEC);
	return failed;
}

static void check_run(const struct site_set *set, const struct expectation *e, const char *path)
{
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	struct link_map *map;
	uint64_t *entries, *ends;
	int wrong = 0;

	if (!ok(handle && !dlinfo(handle, RTLD_DI_LINKMAP, &map), "%s: the library can be loaded", e->what)) {
		diag("%s", dlerror());
		return;
	}
	for (uint32_t i = 0; i < set->functions; i++) {
		const struct site_function *f = &set->function[i];
		if (f->name && strcmp(f->name, "hidden"))
			wrong += dlsym(handle, f->name) != (void *)(uintptr_t)(map->l_addr + f->address);
	}
	is_int(wrong, 0, "%s: functions are where dlsym says", e->what);

	int (*loop)(int) = (int (*)(int))(uintptr_t)dlsym(handle, "site_loop");
	int (*tail)(int) = (int (*)(int))(uintptr_t)dlsym(handle, "site_tail");
	int (*branch)(int) = (int (*)(int))(uintptr_t)dlsym(handle, "site_branch");
	int before = loop(10) + 1000 * tail(1) + 100000 * branch(0) + 1000000 * branch(2);
	is_int(patch_all(set, map->l_addr, &entries, &ends), 0, "%s: all sites can be patched", e->what);
	int after = loop(10) + 1000 * tail(1) + 100000 * branch(0) + 1000000 * branch(2);
	is_int(after, before, "%s: patched functions return what they did before", e->what);

	/* site_loop, 10 times hidden, site_tail and site_leaf, site_branch, site_branch and site_leaf */
	int calls = e->usable == 0 ? 0 : e->refused == TRACE_REASON_CONDITIONAL_TAIL ? 14 : 16;
	is_int((long long)*entries, calls, "%s: %d calls are counted", e->what, calls);
	is_int((long long)*ends, e->kind == X ? calls : 0, "%s: each call ends, where there are sleds for it", e->what);
	dlclose(handle);
}

static void check(const struct expectation *e)
{
	struct site_set set = {0};
	const char *path = fixture_make("fixture", e->command);

	if (!path) {
		if (e->flags & OPTIONAL || (!strncmp(e->command, "clang", 5) && !*getenv("CLANG")))
			skip(1, "%s: can't be built here", e->what);
		else
			ok(0, "%s: the fixture can be built", e->what);
		return;
	}
	int fd = open(path, O_RDONLY);
	is_int(site_scan(&set, fd, 1u << P | 1u << X), 0, "%s: the file can be scanned", e->what);
	close(fd);
	check_numbers(&set, e);
	if (e->flags & RUN)
		check_run(&set, e, path);
	site_free(&set);
	/* The next library must be another file for dlopen. */
	unlink(path);
}

/* $clang is 0 where there is no clang. */
static int compilers_are(const char *condition)
{
	char text[512];

	snprintf(text, sizeof(text),
		"exec 2>$out/error; gcc=$(gcc -dumpversion); clang=$(test \"$CLANG\" && $CLANG -dumpversion || echo "
		"0); "
		"gcc=${gcc%%%%.*} clang=${clang%%%%.*}; %s",
		condition);
	return system(text) == 0;
}

static void check_refusals(void)
{
	struct site_set set = {0};
	struct site_symbols symbols;
	int fd = open("/dev/null", O_RDONLY);

	is_int(site_scan(&set, fd, 3), -ENOEXEC, "a device is no ELF file");
	close(fd);
	is_int(site_scan(&set, -1, 3), -EBADF, "a closed descriptor is an error");
	fd = memfd_create("empty", 0);
	is_int(site_scan(&set, fd, 3), -ENOEXEC, "an empty file is no ELF file");
	is_int(site_symbols(&set, fd, &symbols), -ENOEXEC, "it has no symbols either");
	ok(write(fd, "#!/bin/sh\n", 10) == 10, "a script is written");
	is_int(site_scan(&set, fd, 3), -ENOEXEC, "a script is no ELF file");
	close(fd);
	site_free(&set);

	const char *path = fixture_make("object.o", "gcc -c -fpatchable-function-entry=5");
	fd = path ? open(path, O_RDONLY) : -1;
	is_int(site_scan(&set, fd, 3), -ENOEXEC, "a relocatable object is refused");
	close(fd);
	path = fixture_make("m32", "gcc -m32 -c -fpatchable-function-entry=5 && timeout 60 ld -m elf_i386 -shared "
				   "$fixture -o $fixture.so && "
				   "mv $fixture.so $fixture");
	if (path) {
		fd = open(path, O_RDONLY);
		is_int(site_scan(&set, fd, 3), -ENOEXEC, "a 32-bit library is refused");
		close(fd);
	} else {
		skip(1, "no 32-bit compiler");
	}
	path = fixture_make("plain.so", "gcc -shared -fPIC -Wl,--build-id=0x0123456789abcdef");
	fd = path ? open(path, O_RDONLY) : -1;
	is_int(site_scan(&set, fd, 1u << P), 0, "a library without sites can be scanned");
	is_int(set.kind_reason[P], TRACE_REASON_NO_SITES, "it has no patchable functions");
	is_int(set.kind_reason[X], TRACE_REASON_NOT_SELECTED, "a kind that was not asked for is not looked for");
	is_int(set.arena.mapped, 0, "that takes no memory");
	ok(set.build_id_len == 8 && !memcmp(set.build_id, "\x01\x23\x45\x67\x89\xab\xcd\xef", 8),
		"its build-id is read");
	is_int(set.textrel, 0, "it has no text relocations");
	close(fd);
	site_free(&set);
	path = fixture_make("textrel.so", "gcc -shared -mcmodel=large -fno-pic -Wl,-z,notext -x assembler - <<-'END'\n"
					  "\t.text\n\t.quad .text\n\tEND\n");
	fd = path ? open(path, O_RDONLY) : -1;
	if (ok(!site_scan(&set, fd, 3), "a library with text relocations can be scanned"))
		is_int(set.textrel, 1, "text relocations are seen");
	close(fd);
	site_free(&set);
}

static void check_symbols(const char *command, const char *what, int local_name)
{
	struct site_set set = {0};
	struct site_symbols symbols;
	const char *path = fixture_make("symbols.so", command);
	int fd = path ? open(path, O_RDONLY) : -1, exported = 0, named = 0, unordered = 0;

	is_int(site_symbols(&set, fd, &symbols), 0, "%s: functions can be listed", what);
	close(fd);
	for (size_t i = 0; i < symbols.count; i++) {
		exported += symbols.symbol[i].exported;
		named += symbols.symbol[i].name && !strcmp(symbols.symbol[i].name, "hidden") &&
			 !symbols.symbol[i].exported;
		unordered += i && symbols.symbol[i].address <= symbols.symbol[i - 1].address;
	}
	is_int((long long)symbols.count, 5, "%s: 5 functions", what);
	is_int(exported, 4, "%s: 4 of them are exported", what);
	is_int(named, local_name, "%s: the local one %s", what, local_name ? "has its name" : "has no name");
	is_int(unordered, 0, "%s: they are in order", what);
	/* site_tail and site_branch share the slot of site_leaf. */
	is_int((long long)symbols.calls, 1, "%s: 1 function is called through the PLT", what);
	site_free(&set);
}

int main(void)
{
	fixture_start();
	for (size_t i = 0; i < sizeof(expectations) / sizeof(*expectations); i++)
		check(&expectations[i]);
	for (size_t i = 0; i < sizeof(by_version) / sizeof(*by_version); i++) {
		if (compilers_are(by_version[i].when))
			check(&by_version[i].expectation);
		else
			skip(1, "%s: other compilers are here", by_version[i].expectation.what);
	}
	check_refusals();
	check_symbols("gcc -shared -fPIC -nostdlib", "with .symtab", 1);
	check_symbols("gcc -shared -fPIC -nostdlib -s", "stripped", 0);
	return done_testing();
}
