/* SPDX-License-Identifier: MIT */
/*
 * A file with sites of the kind that t/sites/new_kind.t adds, and what a scan of it finds: this very program. Its
 * functions `one` and `two` begin with a NOP of five bytes each; the section xaudit_test_sites lists them.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>

#include "audit/rules/rules.h"
#include "audit/site/hint.h"
#include "audit/site/site.h"

#define FUNCTION(name)                                                                                                 \
	__asm__(".text\n\t.type " name ", @function\n" name ": .byte 0x0f, 0x1f, 0x44, 0, 0\n\tret\n\t.size " name     \
		", . - " name "\n\t.section xaudit_test_sites, \"aw\"\n\t.balign 8\n\t.quad " name "\n\t.text\n")
FUNCTION("two");
FUNCTION("one");

__attribute__((patchable_function_entry(5), noinline, used)) static int patchable(int x)
{
	return x + 1;
}

static void print_kinds(const char *what, unsigned kinds)
{
	printf("%s:", what);
	for (int kind = 0; kind < TRACE_KIND_COUNT; kind++)
		if (kinds >> kind & 1)
			printf(" %s", kind_rows[kind].word);
	putchar('\n');
}

/* Each kind's functions and sites lie behind those of the kinds before it; all sites are of types that the kind has. */
static int count_misplaced(const struct site_set *set)
{
	uint32_t functions = 0, sites = 0, wrong = 0;

	for (unsigned kind = 0; kind < TRACE_KIND_COUNT; kind++) {
		const struct site_range *range = &set->of[kind];
		wrong += range->function != functions || range->site != sites;
		for (uint32_t n = range->site; n < range->site + range->sites; n++)
			wrong += !(kind_rows[kind].types >> set->site[n].type & 1) || site_range_of(set, n) != range;
		functions += range->functions;
		sites += range->sites;
	}
	return (int)wrong + (functions != set->functions) + (sites != set->sites);
}

int main(void)
{
	struct site_set set;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	if (patchable(1) != 2 || fd < 0 || site_scan(&set, fd, (1u << TRACE_KIND_COUNT) - 1))
		return 1;
	printf("number of its word: %d\n", rules_kind("test", 4));
	print_kinds("announced by sections", site_hint(fd));
	print_kinds("default", RULES_DEFAULT_KINDS);
	for (unsigned kind = 0; kind < TRACE_KIND_COUNT; kind++) {
		const struct site_range *range = &set.of[kind];
		for (uint32_t i = range->function; i < range->function + range->functions; i++) {
			const struct site_function *f = &set.function[i];
			printf("%s: %s", kind_rows[kind].word, f->name ? f->name : "?");
			for (uint32_t n = f->first; n < f->first + f->count; n++)
				printf(", %s of %u bytes", sled_row(set.site[n].type)->word, set.site[n].length);
			putchar('\n');
		}
	}
	printf("misplaced: %d\n", count_misplaced(&set));
	site_free(&set);
	return 0;
}
