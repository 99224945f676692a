/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/show/list_symbol.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/index/walk.h"
#include "audit/match/match.h"
#include "audit/site/elf_file.h"
#include "runtime/base/search.h"
#include "tool/base/json.h"
#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/index/decode.h"
#include "tool/show/list.h"
#include "tool/show/list_probes.h"
#include "tool/show/term/names.h"

#define UNKNOWN_SIZE 4096 /* bytes that are shown at most where a function's end is not known */
#define MOST_TEXT    256  /* bytes of an instruction as text */

/* ---- which ---- */

/* The row that begins at the address or before it; NULL: none. */
static const struct list_row *row_before(const struct list *list, uint64_t address)
{
	size_t low = SEARCH(i, 0, list->rows, list->row[i].address <= address);

	return low ? &list->row[low - 1] : NULL;
}

/* Where its instructions end, as far as known. */
static uint64_t end_of(const struct list *list, const struct list_row *row)
{
	uint64_t end = row->address + (row->size ? row->size : UNKNOWN_SIZE);

	if (!row->size && row + 1 < list->row + list->rows && row[1].address < end)
		end = row[1].address;
	return end < row->address ? UINT64_MAX : end;
}

static const struct list_row *row_holding(const struct list *list, uint64_t address)
{
	const struct list_row *row = row_before(list, address);

	return row && address < end_of(list, row) ? row : NULL;
}

/* Reads "0x12ab" or "libz.so.1+0x12ab". */
static bool read_address(const struct list *list, const char *word, uint64_t *address)
{
	const char *base = tool_base(list->file);
	size_t n = strlen(base);
	char *end;

	if (!strncmp(word, base, n) && word[n] == '+')
		word += n + 1;
	if (word[0] != '0' || (word[1] != 'x' && word[1] != 'X') || !word[2])
		return false;
	*address = strtoull(word, &end, 16);
	return !*end;
}

static void select_named(const struct list *list, const char *pattern, bool *selected)
{
	const struct index *index = &list->had.index;
	struct rules_pattern any = { .function = pattern };
	struct index_walk walk;
	const char *name;
	size_t number;

	for (size_t i = 0; i < list->rows; i++)
		selected[i] = rules_match(&any, list->row[i].name, "", NULL) ||
			names_match(pattern, list->row[i].name);
	if (!index->head)
		return;
	/* By other names, too. */
	for (index_match(index, pattern, &walk); index_next(index, &walk, &number, &name) == 1;) {
		if (!name || !rules_match(&any, name, "", NULL))
			continue;
		const struct index_function *function = index_function(index, number);
		const struct list_row *row = row_before(list, function->address);
		if (row && row->address == function->address)
			selected[row - list->row] = true;
	}
}

/* ---- one function ---- */

/* What is known of it for kind entry. */
struct entry {
	const struct index_function *function; /* NULL: nothing */
	uint64_t site, from;		       /* of a usable one */
	bool usable;
};

static struct entry entry_of(const struct list *list, const struct list_row *row)
{
	struct entry entry = { 0 };

	if (list->had.index.head)
		entry.function = index_at(&list->had.index, row->address, NULL);
	if (entry.function)
		entry.usable = index_site(&list->had.index, entry.function, &entry.site, &entry.from);
	return entry;
}

static bool is_displaced(const struct entry *entry, uint64_t address)
{
	return entry->usable && address >= entry->site && address < entry->site + entry->function->length;
}

/* ---- other names ---- */

/* All names of functions, by address. */
struct names {
	struct alias {
		uint64_t address;
		const char *name;
	} *name;
	size_t count;
};

static int by_address(const void *a, const void *b)
{
	const struct alias *x = a, *y = b;
	int order = (x->address > y->address) - (x->address < y->address);

	return order ? order : strcmp(x->name, y->name);
}

static void read_names(const struct list *list, struct names *names)
{
	const struct index *index = &list->had.index;
	struct index_walk walk;
	const char *name;
	size_t number;

	*names = (struct names){ 0 };
	if (!index->head)
		return;
	names->name = memory_zeroed(index->ordered + 1, sizeof(*names->name));
	for (index_match(index, "?*", &walk); index_next(index, &walk, &number, &name) == 1;)
		names->name[names->count++] = (struct alias){ index_function(index, number)->address, name };
	qsort(names->name, names->count, sizeof(*names->name), by_address);
}

/* Calls a function for each name but the one that the row has. Returns how many they are. */
static size_t each_alias(
	const struct names *names, const struct list_row *row, void (*show)(const char *name, size_t before))
{
	size_t low = SEARCH(i, 0, names->count, names->name[i].address < row->address), n = 0;

	for (; low < names->count && names->name[low].address == row->address; low++)
		if (!row->name || strcmp(names->name[low].name, row->name))
			show(names->name[low].name, n++);
	return n;
}

/* ---- its instructions ---- */

/* One instruction, or a byte that is none. */
struct line {
	uint64_t address;
	const uint8_t *bytes;
	unsigned length;
	char text[MOST_TEXT];
	bool branches, points; /* to the target; by an operand relative to rip */
	uint64_t target;
};

static void read_line(const uint8_t *bytes, size_t room, uint64_t address, struct line *line,
	const struct list_probe *probe)
{
	struct insn insn;

	*line = (struct line){ .address = address, .bytes = bytes, .length = 1 };
	unsigned length = insn_text(bytes, room, address, line->text, sizeof(line->text));
	/* Data may look like an instruction that goes on in the next one. */
	bool data = probe && probe->length < length;
	if (!length || data || !insn_decode(bytes, room, address, &insn)) {
		snprintf(line->text, sizeof(line->text), ".byte 0x%02x", *bytes);
		return;
	}
	line->length = length;
	line->branches = insn.relative;
	line->points = !insn.relative && insn.base == INSN_RIP;
	line->target = insn.target;
}

/* ---- as text ---- */

static void show_alias(const char *name, size_t before)
{
	fputs(before ? ", " : "  also: ", stdout);
	names_print(stdout, name);
}

static void print_entry(const struct list *list, const struct list_row *row, const struct entry *entry)
{
	const struct index_function *function = entry->function;

	if (!function) {
		puts("  entry: not known to its index");
		return;
	}
	if (!entry->usable) {
		printf("  %sentry: refused: %s%s\n", list_yellow(list),
			list_reason(TRACE_KIND_ENTRY, row->refused[TRACE_KIND_ENTRY]), list_plain(list));
		return;
	}
	printf("  entry: a jump of %u bytes at %016" PRIx64,
		function->form == INDEX_FORM_PADDING ? INDEX_SHORT_JUMP : INDEX_JUMP, entry->site);
	if (function->skip)
		fputs(", behind endbr64", stdout);
	if (function->form == INDEX_FORM_PADDING)
		printf(", to one of %u in the padding at %016" PRIx64, INDEX_JUMP, entry->from);
	printf("; %u byte%s displaced\n", function->length, function->length == 1 ? " is" : "s are");
	for (unsigned i = 0; index_remark(function, i); i++)
		printf("  %s\n", index_remark(function, i));
}

static void print_line(const struct list *list, const struct list_row *row, const struct line *line, bool displaced,
	const struct list_probe *probe)
{
	printf("  %016" PRIx64 "  +0x%-4" PRIx64 " %-11s  %s%c ", line->address, line->address - row->address,
		probe && probe->way ? probe->way : "-", displaced ? list_bold(list) : "", displaced ? '>' : ' ');
	for (unsigned i = 0; i < line->length; i++)
		printf("%02x ", line->bytes[i]);
	printf("%*s %s", line->length < 10 ? 3 * (int)(10 - line->length) : 0, "", line->text);
	const struct list_row *to = line->branches || line->points ? row_holding(list, line->target) : NULL;
	if (line->points)
		printf("  # 0x%" PRIx64, line->target);
	if (to && to->name) {
		fputs(" <", stdout);
		names_print(stdout, to->name);
		if (line->target > to->address)
			printf("+0x%" PRIx64, line->target - to->address);
		putchar('>');
	}
	fputs(displaced ? list_plain(list) : "", stdout);
	if (probe && probe->why)
		printf("  %s(no probe: %s)%s", list_yellow(list), probe->why, list_plain(list));
	putchar('\n');
}

/* What all functions that are shown are looked up in. */
struct known {
	struct names names;
	struct list_probes *probes; /* NULL: nothing is known */
};

static void print(const struct list *list, const struct known *known, const struct list_row *row, const uint8_t *code,
	size_t size)
{
	struct entry entry = entry_of(list, row);
	char kinds[LIST_KINDS_ROOM];
	struct line line;

	list_kinds(row, kinds);
	fputs(list_bold(list), stdout);
	names_print(stdout, row->name ? row->name : "?");
	printf("%s: %016" PRIx64 ", %" PRIu64 " bytes, %s\n", list_plain(list), row->address, row->size,
		*kinds ? kinds : "no kind");
	if (each_alias(&known->names, row, show_alias))
		putchar('\n');
	for (int kind = 0; kind < TRACE_KIND_COUNT; kind++)
		if (row->refused[kind] && kind != TRACE_KIND_ENTRY)
			printf("  %s%s: refused: %s%s\n", list_yellow(list), kind_rows[kind].word,
				list_reason(kind, row->refused[kind]), list_plain(list));
	print_entry(list, row, &entry);
	for (size_t at = 0; at < size; at += line.length) {
		const struct list_probe *probe = list_probe(known->probes, row->address + at);
		read_line(code + at, size - at, row->address + at, &line, probe);
		print_line(list, row, &line, is_displaced(&entry, line.address), probe);
	}
}

/* ---- as JSON ---- */

static void put_alias(const char *name, size_t before)
{
	if (before)
		putchar(',');
	json_string(stdout, name);
}

static void put_words(const char *key, const struct list_row *row)
{
	const char *comma = "";

	printf(",\"%s\":[", key);
	for (int kind = 0; kind < TRACE_KIND_COUNT; kind++)
		if (row->kinds >> kind & 1) {
			printf("%s\"%s\"", comma, kind_rows[kind].word);
			comma = ",";
		}
	putchar(']');
}

static void put_refused(const struct list_row *row)
{
	const char *comma = "";

	fputs(",\"refused\":{", stdout);
	for (int kind = 0; kind < TRACE_KIND_COUNT; kind++)
		if (row->refused[kind]) {
			printf("%s\"%s\":", comma, kind_rows[kind].word);
			json_string(stdout, list_reason(kind, row->refused[kind]));
			comma = ",";
		}
	putchar('}');
}

static void put_entry(const struct entry *entry)
{
	fputs(",\"entry\":", stdout);
	if (!entry->usable) {
		fputs("null", stdout);
		return;
	}
	printf("{\"form\":\"%s\",\"site\":\"0x%" PRIx64 "\",\"displaced\":%u,\"remarks\":[",
		entry->function->form == INDEX_FORM_PADDING ? "padding" : "jump", entry->site,
		entry->function->length);
	for (unsigned i = 0; index_remark(entry->function, i); i++) {
		if (i)
			putchar(',');
		json_string(stdout, index_remark(entry->function, i));
	}
	fputs("]}", stdout);
}

static void put_line(const struct line *line, bool displaced, const struct list_probe *probe)
{
	printf("\n{\"address\":\"0x%" PRIx64 "\",\"bytes\":\"", line->address);
	for (unsigned i = 0; i < line->length; i++)
		printf("%02x", line->bytes[i]);
	fputs("\",\"text\":", stdout);
	json_string(stdout, line->text);
	printf(",\"displaced\":%s,\"probe\":", displaced ? "true" : "false");
	if (probe && probe->way)
		json_string(stdout, probe->way);
	else
		fputs("null", stdout);
	if (probe && probe->why) {
		fputs(",\"no_probe\":", stdout);
		json_string(stdout, probe->why);
	}
	putchar('}');
}

static void put(const struct list *list, const struct known *known, const struct list_row *row, const uint8_t *code,
	size_t size)
{
	struct entry entry = entry_of(list, row);
	struct line line;

	fputs("{\"name\":", stdout);
	json_string(stdout, row->name);
	names_json(stdout, row->name);
	fputs(",\"aliases\":[", stdout);
	each_alias(&known->names, row, put_alias);
	printf("],\"address\":\"0x%" PRIx64 "\",\"size\":%" PRIu64, row->address, row->size);
	put_words("kinds", row);
	put_refused(row);
	put_entry(&entry);
	fputs(",\"instructions\":[", stdout);
	for (size_t at = 0; at < size; at += line.length) {
		const struct list_probe *probe = list_probe(known->probes, row->address + at);
		read_line(code + at, size - at, row->address + at, &line, probe);
		if (at)
			putchar(',');
		put_line(&line, is_displaced(&entry, line.address), probe);
	}
	fputs("]}", stdout);
}

size_t list_symbol(const struct list *list, int fd, const char *word, size_t before)
{
	bool *selected = memory_zeroed(list->rows + 1, sizeof(*selected));
	const struct list_row *row;
	struct site_file file;
	struct known known = { 0 };
	uint64_t address;
	size_t n = 0;

	if (!read_address(list, word, &address))
		select_named(list, word, selected);
	else if ((row = row_holding(list, address)))
		selected[row - list->row] = true;
	if (site_file_open(&file, fd))
		goto out;
	read_names(list, &known.names);
	for (size_t i = 0; i < list->rows; i++) {
		if (!selected[i])
			continue;
		row = &list->row[i];
		size_t room = 0, size = end_of(list, row) - row->address;
		const uint8_t *code = site_file_code(&file, row->address, &room);
		if (size > room)
			size = room;
		if (!n)
			known.probes = list_probes_open(fd, list->file);
		if (known.probes)
			list_probes_range(known.probes, row->address, row->address + size);
		if (before + n++)
			fputs(list->json ? ",\n" : "\n", stdout);
		if (list->json)
			put(list, &known, row, code, size);
		else
			print(list, &known, row, code, size);
	}
	free(known.names.name);
	list_probes_close(known.probes);
	site_file_close(&file);
out:
	free(selected);
	return n;
}
