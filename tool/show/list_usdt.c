/* SPDX-License-Identifier: MIT */
#include "tool/show/list_usdt.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool/base/json.h"
#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/index/image.h"
#include "tool/probe/usdt.h"
#include "tool/show/term/term.h"

struct notes {
	struct usdt_note *note;
	size_t count;
	size_t provider, name; /* bytes of the longest ones */
};

static void take(void *context, const struct usdt_note *note)
{
	struct notes *notes = context;
	size_t provider = strlen(note->provider), name = strlen(note->name);

	notes->note = memory_grow(notes->note, notes->count, sizeof(*notes->note));
	notes->note[notes->count++] = *note;
	notes->provider = provider > notes->provider ? provider : notes->provider;
	notes->name = name > notes->name ? name : notes->name;
}

static int by_name(const void *a, const void *b)
{
	const struct usdt_note *x = a, *y = b;
	int order = strcmp(x->provider, y->provider);

	order = order ? order : strcmp(x->name, y->name);
	return order ? order : (x->address > y->address) - (x->address < y->address);
}

/* A text and blanks up to a width. */
static void put(const char *text, size_t width)
{
	tool_text(stdout, text);
	for (size_t n = strlen(text); n < width + 2; n++)
		putchar(' ');
}

static void print_table(const struct list *list, const struct notes *notes)
{
	size_t provider = notes->provider > 8 ? notes->provider : 8, name = notes->name > 4 ? notes->name : 4;

	tool_text(stdout, list->file);
	printf(": %zu probe%s of its own\n", notes->count, notes->count == 1 ? "" : "s");
	if (!notes->count)
		return;
	printf("\n%s%-*s  %-*s  %-16s  %-16s  %s%s\n", list_bold(list), (int)provider, "provider", (int)name, "name",
		"address", "semaphore", "arguments", list_plain(list));
	term_rows(true);
	for (size_t i = 0; i < notes->count; i++) {
		const struct usdt_note *note = &notes->note[i];
		put(note->provider, provider);
		put(note->name, name);
		printf("%016" PRIx64 "  ", note->address);
		if (note->semaphore)
			printf("%016" PRIx64 "  ", note->semaphore);
		else
			printf("%-16s  ", "-");
		tool_text(stdout, *note->arguments ? note->arguments : "-");
		putchar('\n');
	}
}

static void print_json(const struct notes *notes)
{
	putchar('[');
	for (size_t i = 0; i < notes->count; i++) {
		const struct usdt_note *note = &notes->note[i];
		fputs(i ? ",\n{\"provider\":" : "\n{\"provider\":", stdout);
		json_string(stdout, note->provider);
		fputs(",\"name\":", stdout);
		json_string(stdout, note->name);
		printf(",\"address\":%" PRIu64, note->address);
		if (note->semaphore)
			printf(",\"semaphore\":%" PRIu64, note->semaphore);
		fputs(",\"arguments\":", stdout);
		json_string(stdout, note->arguments);
		putchar('}');
	}
	puts(notes->count ? "\n]" : "]");
}

int list_usdt(const struct list *list, int fd)
{
	struct notes notes = { .count = 0 };
	struct image image;
	int r = image_open(&image, fd, list->file, NULL);

	if (r)
		return r;
	usdt_each(&image, take, &notes);
	if (notes.count)
		qsort(notes.note, notes.count, sizeof(*notes.note), by_name);
	if (list->json)
		print_json(&notes);
	else
		print_table(list, &notes);
	free(notes.note);
	image_close(&image);
	return 0;
}
