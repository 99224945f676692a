/* SPDX-License-Identifier: MIT */
#include "tool/export/folders/uftrace_files.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/base/text.h"
#include "tool/base/memory.h"
#include "tool/base/tool.h"

#define PATH_MOST      3500 /* uftrace reads lines of 4096 bytes */
#define COMPONENT_MOST 200  /* with what uftrace appends, 255 */

/* Bits of the header of `info`: what the data has, and which lines follow. */
#define HAS_SESSIONS  (1u << 1)
#define HAS_ARGUMENTS (1u << 3 | 1u << 4 | 1u << 9 | 1u << 10) /* by .dbg files */
#define HAS_OFFSETS   (1u << 5)
#define HAS_MAX_STACK (1u << 6)
#define HAS_EVENTS    (1u << 7)
#define LINE_EXE      (1u << 0)
#define LINE_COMMAND  (1u << 3)
#define LINE_TASKS    (1u << 7)
#define LINE_SPECS    (1u << 10)
#define LINE_DATE     (1u << 11)
#define LINE_PATTERN  (1u << 12)
#define LINE_VERSION  (1u << 13)

#define STACK_MOST 65535

/* ---- names ---- */

char *uftrace_word(const char *text)
{
	char *word = memory_text(text, strlen(text));

	text_clean(word);
	for (char *at = word; *at; at++)
		*at = *at == ' ' ? '_' : *at == '"' ? '\'' : *at;
	return word;
}

/* The name of a .sym file, as uftrace looks for it: if there is one of another path, with a sum of the path. */
static char *file_of(const char *path, bool another)
{
	const char *base = tool_base(path);
	uint16_t sum = 0;

	for (const char *at = path; *at; at++)
		sum = (uint16_t)(sum + (int)*at);
	return another ? memory_format("%s-%04x", base, sum) : memory_format("%s", base);
}

static bool is_file(const struct uftrace *uftrace, const char *file)
{
	return HASH_FIND(i, &uftrace->by_file, hash_text(0, file), !strcmp(uftrace->file[i], file)) != HASH_NONE;
}

/* uftrace can't have all paths. */
static char *plain_path(const char *from)
{
	char *path = uftrace_word(*from == '[' ? "unknown" : from);
	char *base = strrchr(path, '/');

	base = base ? base + 1 : path;
	if (strlen(path) > PATH_MOST || strlen(base) > COMPONENT_MOST || !*base) {
		char *cut = memory_format("/%.*s", COMPONENT_MOST, *base ? base : "unknown");

		free(path);
		path = cut;
		text_clean(path);
	}
	return path;
}

static void add_path(struct uftrace *uftrace, uint32_t object)
{
	char *plain = plain_path(uftrace->places.object[object].object->path);
	char *path = memory_text(plain, strlen(plain)), *file = file_of(path, false);

	/* Another one of that path, or of that sum, gets another path. */
	for (unsigned i = 1; is_file(uftrace, file); i++) {
		free(file);
		file = file_of(path, true);
		if (!is_file(uftrace, file))
			break;
		free(path);
		path = memory_format("%s~%u", plain, i);
		free(file);
		file = file_of(path, false);
	}
	free(plain);
	uftrace->path[object] = path;
	uftrace->file[object] = file;
	memory_hash(&uftrace->by_file, hash_text(0, file), object);
}

const char *uftrace_path(struct uftrace *uftrace, uint32_t object)
{
	while (object >= uftrace->paths) {
		uint32_t number = uftrace->paths;

		uftrace->path = memory_grow(uftrace->path, number, sizeof(*uftrace->path));
		uftrace->file = memory_grow(uftrace->file, number, sizeof(*uftrace->file));
		add_path(uftrace, number);
		uftrace->paths++;
	}
	return uftrace->path[object];
}

/* ---- objects ---- */

/* A symbol is a line. uftrace demangles it. */
static void put_name(FILE *file, const char *name)
{
	const char *shown;
	size_t length;

	while (*name) {
		name += text_next(name, &shown, &length);
		fwrite(shown, 1, length, file);
	}
}

static FILE *begin_file(struct export *export, const char *base, const char *kind, char **name)
{
	*name = memory_format("%s.%s", base, kind);
	return export_file(export, *name);
}

static void end_file(struct export *export, char *name, FILE *file)
{
	if (file)
		export_file_end(export, name, file);
	free(name);
}

/* The functions of an object, from number `first` of places_sorted() on. Returns the number behind them. */
static uint32_t put_symbols(struct export *export, uint32_t object, uint32_t first)
{
	struct uftrace *uftrace = export->state;
	const struct places_object *owner = &uftrace->places.object[object];
	const struct places_function *at;
	char *name;
	FILE *file = begin_file(export, uftrace->file[object], "sym", &name);

	if (file)
		fprintf(file, "# path name: %s\n", uftrace->path[object]);
	while ((at = places_sorted(&uftrace->places, first)) && at->object == object) {
		if (file) {
			fprintf(file, "%016" PRIx64 " T ", at->address - owner->base);
			put_name(file, at->function->name);
			putc('\n', file);
		}
		first++;
	}
	if (file)
		fprintf(file, "%016" PRIx64 " ? __sym_end\n", owner->end - owner->base);
	end_file(export, name, file);
	return first;
}

static const struct uftrace_spec *spec_of(const struct uftrace *uftrace, const struct places_function *place)
{
	uint32_t number = place->function->number;
	const struct uftrace_spec *spec = number < uftrace->specs ? &uftrace->spec[number] : NULL;

	return spec && (*spec->argument || spec->result) ? spec : NULL;
}

static void put_specs(struct export *export, uint32_t object, uint32_t first, uint32_t behind)
{
	struct uftrace *uftrace = export->state;
	FILE *file = NULL;
	char *name = NULL;

	for (; first < behind; first++) {
		const struct places_function *at = places_sorted(&uftrace->places, first);
		const struct uftrace_spec *spec = spec_of(uftrace, at);

		if (!spec)
			continue;
		if (!file) {
			file = begin_file(export, uftrace->file[object], "dbg", &name);
			if (!file)
				break;
			fprintf(file, "# path name: %s\n", uftrace->path[object]);
		}
		fprintf(file, "F: %" PRIx64 " ", at->address - uftrace->places.object[object].base);
		put_name(file, at->function->name);
		putc('\n', file);
		uftrace_spec_lines(file, spec);
	}
	if (name)
		end_file(export, name, file);
}

static void put_objects(struct export *export)
{
	struct uftrace *uftrace = export->state;
	bool some = places_sorted(&uftrace->places, 0);

	/* Objects come in the order of their bases. */
	if (uftrace->places.objects)
		uftrace_path(uftrace, uftrace->places.objects - 1);
	for (uint32_t i = 0, next = 0; some && i < uftrace->places.objects && !export->failed; i++) {
		uint32_t behind = put_symbols(export, i, next);

		put_specs(export, i, next, behind);
		next = behind;
	}
}

static void put_map(struct export *export, uint32_t session)
{
	struct uftrace *uftrace = export->state;
	char *name = memory_format("sid-%016" PRIx32 ".map", session);
	FILE *file = export_file(export, name);

	for (uint32_t i = 0; file && i < uftrace->places.objects; i++)
		fprintf(file, "%" PRIx64 "-%" PRIx64 " r-xp 00000000 00:00 0 %s\n", uftrace->places.object[i].base,
			uftrace->places.object[i].base + uftrace->places.object[i].span, uftrace->path[i]);
	if (file)
		fputs("7ffffffde000-7ffffffff000 rw-p 00000000 00:00 0 [stack]\n", file);
	end_file(export, name, file);
}

/* ---- info ---- */

static void put_header(FILE *file, const struct uftrace *uftrace, uint64_t has, uint64_t lines)
{
	uint32_t stack = uftrace->depth + 2 < STACK_MOST ? uftrace->depth + 2 : STACK_MOST;
	struct {
		char magic[8];
		uint32_t version;
		uint16_t header_size;
		uint8_t endian, class;
		uint64_t has, lines;
		uint16_t max_stack, reserved;
		uint32_t also_reserved;
	} header = { "Ftrace!", 4, 40, 1, 2, has, lines, (uint16_t)stack, 0, 0 };

	_Static_assert(sizeof(header) == 40, "uftrace's header");
	fwrite(&header, sizeof(header), 1, file);
}

static void put_tasks(FILE *file, const struct uftrace *uftrace)
{
	fprintf(file, "taskinfo:lines=2\ntaskinfo:nr_tid=%" PRIu32 "\ntaskinfo:tids=", uftrace->tasks);
	for (uint32_t i = 0; i < uftrace->tasks; i++)
		fprintf(file, "%s%" PRIu32, i ? "," : "", uftrace->task[i]->tid);
	putc('\n', file);
}

static void put_line(FILE *file, const char *key, const char *text)
{
	fputs(key, file);
	put_name(file, text);
	putc('\n', file);
}

static void put_date(FILE *file, const struct export *export, uint64_t span)
{
	time_t start = (time_t)(export->info->start_real / 1000000000);
	char text[64] = "unknown";
	struct tm tm;

	if (start && gmtime_r(&start, &tm))
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &tm);
	fprintf(file, "record_date:%s\nelapsed_time:%" PRIu64 ".%09" PRIu64 " sec\n", text, span / 1000000000,
		span % 1000000000);
}

static void put_info(struct export *export)
{
	struct uftrace *uftrace = export->state;
	const struct xaudit_read_process_info *process =
		xaudit_read_process_info(xaudit_read_process(export->trace, 0));
	uint64_t lines = LINE_EXE | LINE_COMMAND | LINE_TASKS | LINE_SPECS | LINE_DATE | LINE_PATTERN |
		LINE_VERSION;
	uint64_t has = HAS_SESSIONS | HAS_ARGUMENTS | HAS_OFFSETS | HAS_MAX_STACK | HAS_EVENTS;
	uint64_t span = uftrace->last > uftrace->first ? uftrace->last - uftrace->first : 0;
	const char *command = export->info->command ? export->info->command : process->command;
	FILE *file = export_file(export, "info");

	if (!file)
		return;
	put_header(file, uftrace, has, lines);
	put_line(file, "exename:", process->exe ? process->exe : "unknown");
	put_line(file, "cmdline:", command ? command : "unknown");
	put_tasks(file, uftrace);
	fputs("argspec:lines=4\nargauto:\nretauto:\nenumauto:\nauto-args:1\n", file);
	put_date(file, export, span);
	fputs("pattern_type:regex\nuftrace_version:xaudit\n", file);
	export_file_end(export, "info", file);
}

static void put_events(struct export *export)
{
	struct uftrace *uftrace = export->state;
	FILE *file = uftrace->events ? export_file(export, "events.txt") : NULL;

	for (uint32_t i = 0; file && i < uftrace->events; i++)
		fprintf(file, "EVENT: %" PRIu32 " xaudit:%s\n", 1000000 + i, uftrace->event[i]);
	if (file)
		export_file_end(export, "events.txt", file);
}

void uftrace_end_files(struct export *export)
{
	struct uftrace *uftrace = export->state;

	put_objects(export);
	for (uint32_t i = 0; i < uftrace->processes && !export->failed; i++)
		if (uftrace->session[i] == i)
			put_map(export, i);
	if (!export->failed)
		put_events(export);
	if (!export->failed)
		put_info(export);
}
