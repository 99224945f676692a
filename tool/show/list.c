/* SPDX-License-Identifier: MIT */
/* xaudit list: what could be traced in an ELF file, and why not. Reads the file; runs nothing of it. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/rules/rules.h"
#include "audit/site/site.h"
#include "tool/json.h"
#include "tool/options.h"
#include "tool/read/names.h"
#include "tool/tool.h"

/* One function of the file. */
struct row {
	uint64_t address, size;
	const char *name;		   /* NULL: unknown */
	unsigned kinds;			   /* mask of 1 << enum trace_kind that can trace it */
	uint8_t refused[TRACE_KIND_COUNT]; /* enum trace_reason; 0: no site, or usable */
};

struct list {
	const char *file;
	int colour; /* in the table */
	int json;   /* not the table */
	struct site_set set;
	struct row *row;
	size_t rows;
	size_t sites[TRACE_KIND_COUNT];	    /* that can be used */
	size_t functions[TRACE_KIND_COUNT]; /* that they trace */
};

static int by_address(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

/* Puts rows of one address together. Does not depend on the order in which qsort left equal ones. */
static void merge(struct list *list)
{
	size_t n = 0;

	qsort(list->row, list->rows, sizeof(*list->row), by_address);
	for (size_t i = 0; i < list->rows; i++) {
		struct row *row = &list->row[i], *to = n ? &list->row[n - 1] : NULL;
		if (!to || to->address != row->address) {
			list->row[n++] = *row;
			continue;
		}
		if (!to->name)
			to->name = row->name;
		if (!to->size)
			to->size = row->size;
		to->kinds |= row->kinds;
		for (int kind = 0; kind < TRACE_KIND_COUNT; kind++)
			if (row->refused[kind])
				to->refused[kind] = row->refused[kind];
	}
	list->rows = n;
	for (size_t i = 0; i < n; i++)
		for (int kind = 0; kind < TRACE_KIND_COUNT; kind++) {
			if (!(list->row[i].kinds >> kind & 1))
				continue;
			list->functions[kind]++;
			list->row[i].refused[kind] = 0;
		}
}

/* Returns 0 or -errno. */
static int gather(struct list *list, int fd)
{
	const struct site_set *set = &list->set;
	struct site_symbols symbols;
	unsigned exports = 0;
	int r = site_scan(&list->set, fd, (1u << TRACE_KIND_COUNT) - 1);

	if (!r)
		r = site_symbols(&list->set, fd, &symbols);
	if (r)
		return r;
	list->row = calloc(symbols.count + set->functions + 1, sizeof(*list->row));
	if (!list->row)
		return -ENOMEM;
	for (int kind = 0; kind < TRACE_KIND_COUNT; kind++)
		exports |= kind_rows[kind].listed == KIND_LISTS_EXPORTS ? 1u << kind : 0;
	for (size_t i = 0; i < symbols.count; i++) {
		const struct site_symbol *symbol = &symbols.symbol[i];
		list->row[list->rows++] = (struct row){
			.address = symbol->address,
			.size = symbol->size,
			.name = symbol->name,
			.kinds = symbol->exported ? exports : 0,
		};
	}
	for (size_t i = 0; i < set->functions; i++) {
		const struct site_function *function = &set->function[i];
		struct row *row = &list->row[list->rows++];
		*row = (struct row){.address = function->address, .size = function->size, .name = function->name};
		if (function->reason)
			row->refused[function->kind] = function->reason;
		else
			row->kinds = 1u << function->kind;
		list->sites[function->kind] += function->count;
	}
	merge(list);
	for (int kind = 0; kind < TRACE_KIND_COUNT; kind++)
		if (kind_rows[kind].listed == KIND_LISTS_EXPORTS)
			list->sites[kind] = list->functions[kind];
		else if (kind_rows[kind].listed == KIND_LISTS_IMPORTS)
			list->sites[kind] = symbols.calls;
	return 0;
}

/* Imports are not functions of this file. */
static int has_coverage(int kind)
{
	return kind_rows[kind].listed != KIND_LISTS_IMPORTS;
}

static double percent(const struct list *list, int kind)
{
	return list->rows ? 100.0 * (double)list->functions[kind] / (double)list->rows : 0;
}

static void print_build_id(const struct list *list)
{
	for (uint32_t i = 0; i < list->set.build_id_len; i++)
		printf("%02x", list->set.build_id[i]);
}

static void print_json(const struct list *list)
{
	fputs("{\"file\":", stdout);
	json_string(stdout, list->file);
	fputs(",\"build_id\":", stdout);
	if (list->set.build_id_len) {
		putchar('"');
		print_build_id(list);
		putchar('"');
	} else {
		json_string(stdout, NULL);
	}
	fputs(",\"sites\":{", stdout);
	for (int kind = 0; kind < TRACE_KIND_COUNT; kind++)
		printf("%s\"%s\":%zu", kind ? "," : "", kind_rows[kind].word, list->sites[kind]);
	fputs("},\"coverage\":{", stdout);
	for (int kind = 0; kind < TRACE_KIND_COUNT; kind++)
		if (has_coverage(kind))
			printf("%s\"%s\":%.2f", kind ? "," : "", kind_rows[kind].word, percent(list, kind));
	printf("},\"event_sleds\":{\"usable\":%" PRIu32 ",\"left_alone\":%" PRIu32 "}", list->set.events,
		list->set.events_left);
	fputs(",\"functions\":[", stdout);
	for (size_t i = 0; i < list->rows; i++) {
		const struct row *row = &list->row[i];
		const char *comma = "";
		printf("%s\n{\"name\":", i ? "," : "");
		json_string(stdout, row->name);
		printf(",\"address\":\"0x%" PRIx64 "\",\"size\":%" PRIu64 ",\"kinds\":[", row->address, row->size);
		for (int kind = 0; kind < TRACE_KIND_COUNT; kind++)
			if (row->kinds >> kind & 1) {
				printf("%s\"%s\"", comma, kind_rows[kind].word);
				comma = ",";
			}
		fputs("],\"refused\":{", stdout);
		comma = "";
		for (int kind = 0; kind < TRACE_KIND_COUNT; kind++)
			if (row->refused[kind]) {
				printf("%s\"%s\":", comma, kind_rows[kind].word);
				json_string(stdout, read_reason_phrase(row->refused[kind]));
				comma = ",";
			}
		fputs("}}", stdout);
	}
	fputs("]}\n", stdout);
}

static void print_refused(const struct list *list, int kind)
{
	for (int reason = 1; reason < TRACE_REASON_COUNT; reason++) {
		size_t n = 0;
		for (size_t i = 0; i < list->rows; i++)
			n += list->row[i].refused[kind] == reason;
		if (n)
			printf("           refused %zu: %s\n", n, read_reason_phrase(reason));
	}
}

/* Escape sequences, or nothing. */
static const char *bold(const struct list *list)
{
	return list->colour ? "\033[1m" : "";
}

static const char *yellow(const struct list *list)
{
	return list->colour ? "\033[33m" : "";
}

static const char *plain(const struct list *list)
{
	return list->colour ? "\033[0m" : "";
}

static void print_row(const struct list *list, const struct row *row)
{
	char kinds[64] = "";

	for (int kind = 0; kind < TRACE_KIND_COUNT; kind++)
		if (row->kinds >> kind & 1)
			snprintf(kinds + strlen(kinds), sizeof(kinds) - strlen(kinds), "%s%s", *kinds ? "," : "",
				kind_rows[kind].word);
	printf("%016" PRIx64 "  %8" PRIu64 "  %-18s  ", row->address, row->size, *kinds ? kinds : "-");
	tool_text(stdout, row->name ? row->name : "?");
	for (int kind = 0; kind < TRACE_KIND_COUNT; kind++)
		if (row->refused[kind])
			printf("  %s(%s: %s)%s", yellow(list), kind_rows[kind].word,
				read_reason_phrase(row->refused[kind]), plain(list));
	putchar('\n');
}

static void print_table(const struct list *list)
{
	tool_text(stdout, list->file);
	printf(": %zu functions, build-id ", list->rows);
	if (list->set.build_id_len)
		print_build_id(list);
	else
		fputs("none", stdout);
	printf("\n\n%s%-9s  %8s  %9s  %8s%s\n", bold(list), "kind", "sites", "functions", "coverage", plain(list));
	for (int kind = 0; kind < TRACE_KIND_COUNT; kind++) {
		printf("%-9s  %8zu", kind_rows[kind].word, list->sites[kind]);
		if (has_coverage(kind))
			printf("  %9zu  %6.1f %%", list->functions[kind], percent(list, kind));
		if (list->set.kind_reason[kind])
			printf("  %s", read_reason_phrase(list->set.kind_reason[kind]));
		putchar('\n');
		print_refused(list, kind);
		if (!(kind_rows[kind].types & 1u << SLED_XRAY_CUSTOM))
			continue;
		if (list->set.events)
			printf("           %" PRIu32 " custom or typed event sleds\n", list->set.events);
		if (list->set.events_left)
			printf("           %" PRIu32 " %s\n", list->set.events_left,
				read_reason_phrase(TRACE_REASON_EVENT_LEFT));
	}
	if (list->rows)
		printf("\n%s%-16s  %8s  %-18s  %s%s\n", bold(list), "address", "size", "kinds", "function",
			plain(list));
	for (size_t i = 0; i < list->rows; i++)
		print_row(list, &list->row[i]);
}

/* ---- the command ---- */

static const struct options_row rows[] = {
	{ 0, "format", "FORMAT", "table (default) or json",
		.take = options_word, .at = offsetof(struct list, json), .allowed = "table or json" },
	OPTIONS_COLOR(offsetof(struct list, colour)),
	OPTIONS_HELP,
	{ 0 },
};

static const struct options_wording wording = {
	.no_value = "this option needs a value: %o; see xaudit list --help",
	.unknown = "unknown option %o; see xaudit list --help",
	.wrong = "%o is %a, not %v; see xaudit list --help",
};

static const struct options_syntax syntax = {
	.command = "list",
	.rows = rows,
	.column = 19,
	.wording = &wording,
	.head = "Usage: xaudit list [OPTION]... FILE\n"
		"Shows what could be traced in an ELF file, per kind, and why not, without running it.\n"
		"\n"
		"Options:\n",
};

/* The end of --help: the kinds. */
static const char *tail(void)
{
#define X(NAME, flags, section, note, types, STUB, LISTED, about) [TRACE_KIND_##NAME] = (about),
	static const char *const abouts[TRACE_KIND_COUNT] = { KINDS(X) };
#undef X
	static char text[128 * (TRACE_KIND_COUNT + 1)];
	size_t n = (size_t)snprintf(text, sizeof(text), "\nKinds:\n");

	for (int kind = 0; kind < TRACE_KIND_COUNT && n < sizeof(text); kind++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "  %-9s  %s\n", kind_rows[kind].word, abouts[kind]);
	return text;
}

static int usage(const char *what, const char *word)
{
	tool_error("list", "%s%s; see xaudit list --help", what, word);
	return TOOL_USAGE;
}

int list_main(int argc, char **argv)
{
	struct list list = { .colour = tool_colour(NULL, STDOUT_FILENO) };
	struct options_syntax with_kinds = syntax;
	int fd, r;

	with_kinds.tail = tail();
	int first = options_take(&with_kinds, &list, argc, argv);
	if (first <= 0)
		return first ? TOOL_USAGE : TOOL_OK;
	if (first + 1 != argc)
		return usage(first == argc ? "no file is named" : "one file at a time, not also ",
			first == argc ? "" : argv[first + 1]);
	list.file = argv[first];

	/* Not blocking: a FIFO is no ELF file, but opening one would wait for a writer. */
	fd = open(list.file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0) {
		tool_error("list", "%s: %s", list.file, strerror(errno));
		return TOOL_FAILED;
	}
	r = gather(&list, fd);
	if (r == -ENOEXEC)
		tool_error("list", "%s: not an x86-64 ELF file", list.file);
	else if (r)
		tool_error("list", "%s: %s", list.file, strerror(-r));
	else if (list.json)
		print_json(&list);
	else
		print_table(&list);
	close(fd);
	free(list.row);
	site_free(&list.set);
	return r ? TOOL_FAILED : TOOL_OK;
}
