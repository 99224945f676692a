/* SPDX-License-Identifier: MIT */
/*
 * A load made by hand for tests of audit/live/switch.h: a file of code, mapped as ld.so would, whose functions all
 * return their argument + 1; and batches from inside. To be included by one file: it also defines the variables of the
 * module's object.c and unwinder.c.
 *
 *	load_begin(size, functions, sites);
 *	load_add(CODE_XRAY, "name", address);	the XRay functions first, as in every table; addresses are offsets in
 *						the file
 *	load_map(path);
 */
#ifndef XAUDIT_T_LIB_LIVE_LOAD_H
#define XAUDIT_T_LIB_LIVE_LOAD_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "audit/live/load_code.h"
#include "audit/live/switch.h"
#include "t/lib/tap.h"

/* ---- code ---- */

/* The code that a function begins with. All but CODE_XRAY have one site. */
enum code {
	CODE_XRAY,	   /* an entry sled; before its return an exit sled */
	CODE_NOP5,	   /* one NOP of 5 bytes */
	CODE_NOP8,	   /* one of 8 */
	CODE_ONE_BYTE,	   /* five of one */
	CODE_HOT,	   /* one of 2, and 5 bytes before the entry */
	CODE_HOT_ONE_BYTE, /* two of one, and 5 bytes before the entry */
};

static struct rules rules;
static struct object object;
static struct load load;
static struct site *sites;
static struct site_function *functions;
static uint8_t *file; /* contents of the file */
static size_t file_size;
static uint8_t *text; /* where it is mapped */

typedef long function_type(long);

/* What is given stays as long as the test, as the object's arena does: a set that grows leaves its arrays there. */
static void *load_array(size_t n, size_t size)
{
	static void *given[64];
	static size_t count;
	void *p = calloc(n, size);

	if (!p || count == sizeof(given) / sizeof(*given))
		bail("no memory");
	return given[count++] = p;
}

static void load_begin(size_t size, uint32_t function_count, uint32_t site_count)
{
	file_size = size;
	file = load_array(size, 1);
	memset(file, 0xcc, size);
	object.sites.site = sites = load_array(site_count, sizeof(*sites));
	object.sites.function = functions = load_array(function_count, sizeof(*functions));
	object.original[TRACE_KIND_PATCHABLE] = load_array(site_count, sizeof(**object.original));
	object.marks = load_array(function_count, 1);
	object.counted = load_array(function_count, 1);
	object.by_address = load_array(site_count, sizeof(*object.by_address));
	object.functions = load_array(function_count, sizeof(*object.functions));
}

static void load_site(uint64_t address, enum sled_type type, uint16_t length)
{
	sites[object.sites.sites++] = (struct site){
		.address = address, .type = (uint16_t)type, .length = length, .function = object.sites.functions };
}

static void load_put(uint64_t at, const uint8_t *bytes, size_t size)
{
	memcpy(file + at, bytes, size);
}

/* The name must stay allocated. Returns the function's index. */
static uint32_t load_add(enum code code, const char *name, uint64_t at)
{
	static const uint8_t nop8[] = { 0x0f, 0x1f, 0x84, 0, 0, 2, 0, 0 }, nop5[] = { 0x0f, 0x1f, 0x44, 0, 0 },
			     nop2[] = { 0x66, 0x90 };
	static const uint8_t entry[] = { 0xeb, 9, 0x66, 0x0f, 0x1f, 0x84, 0, 0, 2, 0, 0 };
	static const uint8_t leave[] = { 0xc3, 0x2e, 0x66, 0x0f, 0x1f, 0x84, 0, 0, 2, 0, 0 };
	static const uint8_t body[] = { 0x48, 0x8d, 0x47, 0x01, 0xc3 };
	struct site_function *f = &functions[object.sites.functions];

	*f = (struct site_function){
		.address = at, .name = name, .first = object.sites.sites, .count = 1, .kind = TRACE_KIND_PATCHABLE
	};
	switch (code) {
	case CODE_XRAY:
		f->kind = TRACE_KIND_XRAY;
		f->count = 2;
		load_put(at, entry, 11);
		load_put(at + 11, body, 4);
		file[at + 15] = 0x90;
		load_put(at + 16, leave, 11);
		load_site(at, SLED_XRAY_ENTRY, 11);
		load_site(at + 16, SLED_XRAY_EXIT, 11);
		break;
	case CODE_NOP8:
		load_put(at, nop8, 8);
		load_put(at + 8, body, 5);
		load_site(at, SLED_PATCHABLE, 8);
		break;
	case CODE_HOT:
	case CODE_HOT_ONE_BYTE:
		memset(file + at - 5, 0x90, 7);
		if (code == CODE_HOT)
			load_put(at, nop2, 2);
		load_put(at + 2, body, 5);
		load_site(at, SLED_PATCHABLE_HOT, 2);
		break;
	default:
		memset(file + at, 0x90, 5);
		if (code == CODE_NOP5)
			load_put(at, nop5, 5);
		load_put(at + 5, body, 5);
		load_site(at, SLED_PATCHABLE, 5);
	}
	/* Functions of a kind are adjacent. */
	struct site_range *range = &object.sites.of[f->kind];
	if (!range->functions) {
		range->function = object.sites.functions;
		range->site = f->first;
	}
	range->functions++;
	range->sites += f->count;
	return object.sites.functions++;
}

static int load_compare(const void *a, const void *b)
{
	uint64_t x = functions[*(const uint32_t *)a].address, y = functions[*(const uint32_t *)b].address;

	return x < y ? -1 : x > y;
}

static void load_map(const char *path)
{
	static Elf64_Phdr phdr = { .p_type = PT_LOAD, .p_flags = PF_R | PF_X };
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

	if (fd < 0 || write(fd, file, file_size) != (ssize_t)file_size)
		bail("can't write %s", path);
	text = mmap(NULL, file_size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	if (text == MAP_FAILED)
		bail("mmap: %s", strerror(errno));
	close(fd);
	phdr.p_filesz = phdr.p_memsz = file_size;
	object_rules = &rules;
	object.number = 1;
	object.path = path;
	object.usable_functions = object.sites.functions;
	for (uint32_t i = 0; i < object.sites.functions; i++) {
		object.counted[i] = TRACE_REASON_NOT_SELECTED;
		object.counts[functions[i].kind][TRACE_REASON_NOT_SELECTED]++;
		object.functions[i] = i;
	}
	qsort(object.functions, object.usable_functions, sizeof(*object.functions), load_compare);
	for (uint32_t i = 0; i < object.usable_functions; i++) {
		const struct site_function *f = &functions[object.functions[i]];
		for (uint32_t s = f->first; s < f->first + f->count; s++) {
			object.by_address[object.usable++] = s;
			if (f->kind == TRACE_KIND_PATCHABLE)
				sled_keep(sites[s].type, file + sites[s].address, load_code_original(&object, s));
		}
	}
	load.magic = LOAD_MAGIC;
	load.state = LOAD_OPEN;
	load.object = &object;
	load.base = load.start = (uint64_t)(uintptr_t)text;
	load.end = load.start + file_size;
	load.phdr = &phdr;
	load.phnum = 1;
	loads = &load;
	objects = &object;
	object_count = 1;
	if (load_code_reserve(&load) != TRACE_REASON_TRACED)
		bail("no room for the stubs");
}

/* ---- batches ---- */

static struct requests_rule parse(const char *text_of_rule)
{
	static char buffer[20][100];
	static unsigned n;
	struct requests_rule rule;
	char *p = buffer[n++ % 20];

	strcpy(p, text_of_rule);
	if (requests_parse(&rule, p))
		bail("%s is no rule", text_of_rule);
	return rule;
}

static struct control_result result;

/* Calls switch_apply(), which fills `result`. The caller holds the process lock, or no other thread runs. */
static int apply(int on, const char *rule_text)
{
	struct requests_rule rule = parse(rule_text);

	memset(&result, 0, sizeof(result));
	return switch_apply(on, &rule, &result);
}

#endif
