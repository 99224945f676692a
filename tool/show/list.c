/* SPDX-License-Identifier: MIT */
/* xaudit list: what could be traced in an ELF file, and why not. Reads the file; runs nothing of it. */
#include "tool/show/list.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/site/list.h"
#include "tool/base/json.h"
#include "tool/base/memory.h"
#include "tool/base/options.h"
#include "tool/base/tool.h"
#include "tool/index/own_file.h"
#include "tool/read/api/xaudit-read.h"
#include "tool/show/list_symbol.h"
#include "tool/show/list_usdt.h"
#include "tool/show/show.h"
#include "tool/show/term/meant.h"
#include "tool/show/term/names.h"
#include "tool/show/term/term.h"

static int by_address(const void *a, const void *b)
{
	const struct list_row *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

/* Puts rows of one address together. Does not depend on the order in which qsort left equal ones. */
static void merge(struct list *list)
{
	size_t n = 0;

	qsort(list->row, list->rows, sizeof(*list->row), by_address);
	for (size_t i = 0; i < list->rows; i++) {
		struct list_row *row = &list->row[i], *to = n ? &list->row[n - 1] : NULL;
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

static unsigned kinds_of_exports(void)
{
	unsigned exports = 0;

	for (int kind = 0; kind < TRACE_KIND_COUNT; kind++)
		exports |= kind_rows[kind].listed == KIND_LISTS_EXPORTS ? 1u << kind : 0;
	return exports;
}

/* The index knows best what is a function. */
static void add_indexed(struct list *list)
{
	const struct index *index = &list->had.index;
	size_t first = list->rows;

	list->set.kind_reason[TRACE_KIND_FENTRY] = list->set.kind_reason[TRACE_KIND_MCOUNT] = TRACE_REASON_NO_SITES;
	for (size_t i = 0; i < index->functions; i++) {
		const struct index_function *function = index_function(index, i);
		struct list_row *row = &list->row[list->rows++];
		*row = (struct list_row){
			.address = function->address,
			.size = function->size,
			.name = index_name(index, function),
			.kinds = function->flags & INDEX_EXPORTED ? kinds_of_exports() : 0,
		};
		row->refused[TRACE_KIND_ENTRY] = function->reason;
		if (!function->reason)
			row->kinds |= 1u << TRACE_KIND_ENTRY;
	}
	for (size_t i = 0; i < index->calls; i++) {
		const struct index_call *call = index_call(index, i);
		unsigned kind = call->callee == INDEX_FENTRY ? TRACE_KIND_FENTRY : TRACE_KIND_MCOUNT;
		if (call->flags & INDEX_CALL_ALONE || call->function >= index->functions)
			continue;
		list->set.kind_reason[kind] = TRACE_REASON_TRACED;
		list->row[first + call->function].refused[kind] = call->site.reason;
		if (!call->site.reason)
			list->row[first + call->function].kinds |= 1u << kind;
	}
}

/*
 * Calls by words that are no PLT slots are sites of `calls`, too, if there are more of these than slots
 * (audit/prepare/got_calls.h).
 */
static void add_words(struct list *list, size_t slots)
{
	const struct index_word *word;

	for (size_t i = 0; (word = index_word(&list->had.index, i)); i++) {
		list->words.words += word->calls > 0;
		list->words.calls += word->calls;
		list->words.loads += word->flags & INDEX_WORD_WEAK ? 0 : word->loads;
		list->words.data += word->flags & INDEX_WORD_DATA;
	}
	if (list->words.words <= slots)
		list->words.words = list->words.calls = 0;
}

static void add_symbols(struct list *list, const struct site_symbols *symbols)
{
	for (size_t i = 0; i < symbols->count; i++) {
		const struct site_symbol *symbol = &symbols->symbol[i];
		list->row[list->rows++] = (struct list_row){
			.address = symbol->address,
			.size = symbol->size,
			.name = symbol->name,
			.kinds = symbol->exported ? kinds_of_exports() : 0,
		};
	}
}

static void add_sites(struct list *list)
{
	const struct site_set *set = &list->set;

	for (size_t i = 0; i < set->functions; i++) {
		const struct site_function *function = &set->function[i];
		struct list_row *row = &list->row[list->rows++];
		*row = (struct list_row){
			.address = function->address, .size = function->size, .name = function->name
		};
		if (function->reason)
			row->refused[function->kind] = function->reason;
		else
			row->kinds = 1u << function->kind;
		list->sites[function->kind] += function->count;
	}
}

/* own: what is to be read of the file (tool/index/own_file.h). Returns 0 or -errno. */
static int gather(struct list *list, int fd, int own)
{
	struct site_symbols symbols;
	int r = site_scan(&list->set, own, (1u << TRACE_KIND_COUNT) - 1);

	if (!r)
		r = site_symbols(&list->set, own, &symbols);
	if (r)
		return r;
	bool indexed = !index_have(&list->had, fd, list->file);
	size_t rows = (indexed ? list->had.index.functions : symbols.count) + list->set.functions;
	list->row = memory_zeroed(rows + 1, sizeof(*list->row));
	if (indexed) {
		add_indexed(list);
		add_words(list, symbols.calls);
	} else {
		add_symbols(list, &symbols);
	}
	add_sites(list);
	merge(list);
	for (int kind = 0; kind < TRACE_KIND_COUNT; kind++)
		if (kind_rows[kind].listed == KIND_LISTS_IMPORTS)
			list->sites[kind] = symbols.calls + list->words.words;
		else if (kind_rows[kind].listed == KIND_LISTS_EXPORTS || kind_has((unsigned)kind, KIND_BY_INDEX) ||
			kind == TRACE_KIND_CYG)
			list->sites[kind] = list->functions[kind];
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
	printf("},\"without_plt\":{\"words\":%zu,\"calls\":%zu,\"loads\":%zu,\"data\":%zu", list->words.words,
		list->words.calls, list->words.loads, list->words.data);
	printf("},\"event_sleds\":{\"usable\":%" PRIu32 ",\"left_alone\":%" PRIu32 "}", list->set.events,
		list->set.events_left);
	fputs(",\"functions\":[", stdout);
	for (size_t i = 0; i < list->rows; i++) {
		const struct list_row *row = &list->row[i];
		const char *comma = "";
		printf("%s\n{\"name\":", i ? "," : "");
		json_string(stdout, row->name);
		names_json(stdout, row->name);
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
				json_string(stdout, list_reason(kind, row->refused[kind]));
				comma = ",";
			}
		fputs("}}", stdout);
	}
	fputs("]}\n", stdout);
}

/* How it calls without a PLT, and what is seen by the entry of the function alone. */
static void print_words(const struct list *list)
{
	const struct list_words *words = &list->words;

	if (words->words)
		printf("           without a PLT %zu: %zu call%s in the code\n", words->words, words->calls,
			show_s(words->calls));
	if (words->loads || words->data)
		printf("           refused: %zu load%s and %zu word%s of data with a function's address: entry\n",
			words->loads, show_s(words->loads), words->data, show_s(words->data));
}

static void print_refused(const struct list *list, int kind)
{
	for (unsigned reason = 1; reason <= UINT8_MAX; reason++) {
		size_t n = 0;
		for (size_t i = 0; i < list->rows; i++)
			n += list->row[i].refused[kind] == reason;
		if (n)
			printf("           refused %zu: %s\n", n, list_reason(kind, reason));
	}
}

const char *list_reason(int kind, unsigned reason)
{
	if (kind_has((unsigned)kind, KIND_BY_INDEX))
		return index_reason_phrase(reason);
	return xaudit_read_reason_phrase(reason);
}

const char *list_bold(const struct list *list)
{
	return list->colour ? "\033[1m" : "";
}

const char *list_yellow(const struct list *list)
{
	return list->colour ? "\033[33m" : "";
}

const char *list_plain(const struct list *list)
{
	return list->colour ? "\033[0m" : "";
}

void list_kinds(const struct list_row *row, char *to)
{
	char *end = to;

	*end = '\0';
	for (int kind = 0; kind < TRACE_KIND_COUNT; kind++)
		if (row->kinds >> kind & 1)
			end += sprintf(end, "%s%s", end > to ? "," : "", kind_rows[kind].word);
}

static void print_remarks(const struct list *list, const struct list_row *row)
{
	const struct index_function *function = index_at(&list->had.index, row->address, NULL);

	for (unsigned i = 0; function && index_remark(function, i); i++)
		printf("  (%s)", index_remark(function, i));
}

/* Why a kind that needs nothing of the compiler can't trace it is told to those who ask. */
static void print_row(const struct list *list, const struct list_row *row)
{
	char kinds[LIST_KINDS_ROOM];

	list_kinds(row, kinds);
	printf("%016" PRIx64 "  %8" PRIu64 "  %-20s  ", row->address, row->size, *kinds ? kinds : "-");
	names_print(stdout, row->name ? row->name : "?");
	for (int kind = 0; kind < TRACE_KIND_COUNT; kind++)
		if (row->refused[kind] && (list->verbose || !kind_has((unsigned)kind, KIND_BY_INDEX)))
			printf("  %s(%s: %s)%s", list_yellow(list), kind_rows[kind].word,
				list_reason(kind, row->refused[kind]), list_plain(list));
	if (list->verbose && list->had.index.head)
		print_remarks(list, row);
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
	printf("\n\n%s%-9s  %8s  %9s  %8s%s\n", list_bold(list), "kind", "sites", "functions", "coverage",
		list_plain(list));
	for (int kind = 0; kind < TRACE_KIND_COUNT; kind++) {
		printf("%-9s  %8zu", kind_rows[kind].word, list->sites[kind]);
		if (has_coverage(kind))
			printf("  %9zu  %6.1f %%", list->functions[kind], percent(list, kind));
		if (kind_has((unsigned)kind, KIND_BY_INDEX) && !list->had.index.head)
			fputs("  the file can't be analysed", stdout);
		else if (list->set.kind_reason[kind] && kind != TRACE_KIND_ENTRY)
			printf("  %s", xaudit_read_reason_phrase(list->set.kind_reason[kind]));
		putchar('\n');
		print_refused(list, kind);
		if (kind_rows[kind].listed == KIND_LISTS_IMPORTS)
			print_words(list);
		if (!(kind_rows[kind].types & 1u << SLED_XRAY_CUSTOM))
			continue;
		if (list->set.events)
			printf("           %" PRIu32 " custom or typed event sleds\n", list->set.events);
		if (list->set.events_left)
			printf("           %" PRIu32 " %s\n", list->set.events_left,
				xaudit_read_reason_phrase(TRACE_REASON_EVENT_LEFT));
	}
	if (list->rows)
		printf("\n%s%-16s  %8s  %-20s  %s%s\n", list_bold(list), "address", "size", "kinds", "function",
			list_plain(list));
	term_rows(true);
	for (size_t i = 0; i < list->rows; i++)
		names_meet(list->row[i].name);
	for (size_t i = 0; i < list->rows; i++)
		print_row(list, &list->row[i]);
}

/* ---- the command ---- */

static const struct options_row rows[] = {
	{ 'v', "verbose", NULL, "say of each function why kind entry can't trace it",
		.take = options_flag, .at = offsetof(struct list, verbose) },
	{ 0, "usdt", NULL, "list the probes that the file has of its own, and nothing else",
		.take = options_flag, .at = offsetof(struct list, usdt) },
	{ 0, "format", "FORMAT", "table (default) or json",
		.take = options_word, .at = offsetof(struct list, json), .allowed = "table or json" },
	OPTIONS_COLOR(offsetof(struct list, colour)),
	NAMES_ROW,
	TERM_ROW,
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
	.head = "Usage: xaudit list [OPTION]... FILE [SYMBOL]...\n"
		"       xaudit list --usdt [OPTION]... FILE\n"
		"Shows what could be traced in an ELF file, per kind, and why not, without\n"
		"running it. Of functions that are named, by patterns or 0xADDRESS, shows the\n"
		"instructions, and which of them kind entry displaces.\n"
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

/* Says that no function has the word, and which one may be meant. */
static void say_none(const struct list *list, const char *word)
{
	bool address = !strncmp(word, "0x", 2);
	char *said = memory_format("%s: no function %s %s", list->file, address ? "is at" : "is named", word);
	struct meant meant;

	meant_begin(&meant, word);
	for (size_t i = 0; !address && i < list->rows; i++)
		meant_look(&meant, list->row[i].name);
	char *whole = meant_message(&meant, said, "");
	tool_error("list", "%s", whole);
	meant_end(&meant);
	free(whole);
	free(said);
}

/* words: up to NULL. Returns 0, or 1 after a line on stderr for each that names nothing. */
static int print_symbols(const struct list *list, int fd, char **words)
{
	int r = 0;

	if (list->json)
		putchar('[');
	for (size_t shown = 0, n; *words; words++, shown += n) {
		n = list_symbol(list, fd, *words, shown);
		if (n)
			continue;
		say_none(list, *words);
		r = 1;
	}
	if (list->json)
		puts("]");
	return r;
}

int list_main(int argc, char **argv)
{
	struct list list = { .colour = tool_colour(NULL, STDOUT_FILENO) };
	struct options_syntax with_kinds = syntax;
	int fd, own, r;

	/* A reader or pager that has seen enough is no error. */
	signal(SIGPIPE, SIG_IGN);
	with_kinds.tail = tail();
	int first = options_take(&with_kinds, &list, argc, argv);
	if (first <= 0)
		return first ? TOOL_USAGE : TOOL_OK;
	if (first == argc)
		return usage("no file is named", "");
	list.file = argv[first];
	if (list.usdt && first + 1 < argc)
		return usage("--usdt takes one file, not also ", argv[first + 1]);
	term_begin(false);

	fd = own_open(list.file);
	own = fd < 0 ? fd : own_copy(fd);
	r = own < 0 ? own : list.usdt ? list_usdt(&list, own) : gather(&list, fd, own);
	if (r == -ENOEXEC)
		tool_error("list", "%s: not an x86-64 ELF file", list.file);
	else if (r)
		tool_error("list", "%s: %s", list.file, strerror(-r));
	else if (list.usdt)
		r = 0; /* it was printed */
	else if (first + 1 < argc)
		r = print_symbols(&list, own, argv + first + 1);
	else if (list.json)
		print_json(&list);
	else
		print_table(&list);
	if (fd >= 0)
		close(fd);
	if (own >= 0)
		close(own);
	free(list.row);
	index_drop(&list.had);
	site_free(&list.set);
	return r ? TOOL_FAILED : TOOL_OK;
}
