/* SPDX-License-Identifier: MIT */
#include "tool/probe/usdt.h"

#include <string.h>

#include "audit/match/match.h"
#include "audit/site/elf_file.h"
#include "tool/base/memory.h"
#include "tool/base/nearest.h"
#include "tool/base/tool.h"
#include "tool/index/image.h"

#define TYPE	3
#define OWNER	"stapsdt"
#define NUMBERS 3 /* of 8 bytes each, before the texts */

/* How far sections were moved after linking. */
static uint64_t moved_by(const struct image *image, uint64_t base)
{
	struct site_file file = image->file; /* looking for names is kept there */
	Elf64_Shdr section;

	for (size_t i = 1; base && site_section(&file, i, &section); i++)
		if (site_section_named(&file, &section, ".stapsdt.base", 0))
			return section.sh_addr - base;
	return 0;
}

/* The text at *at, which is moved behind it; NULL: it does not end. */
static const char *take_text(const uint8_t **at, const uint8_t *end)
{
	const uint8_t *from = *at, *nul = memchr(from, 0, (size_t)(end - from));

	if (!nul)
		return NULL;
	*at = nul + 1;
	return (const char *)from;
}

static void take_note(const struct image *image, const uint8_t *bytes, size_t size, usdt_take *take, void *context)
{
	const uint8_t *at = bytes + NUMBERS * sizeof(uint64_t), *end = bytes + size;
	uint64_t number[NUMBERS];

	if (size < sizeof(number))
		return;
	memcpy(number, bytes, sizeof(number));
	const char *provider = take_text(&at, end), *name = provider ? take_text(&at, end) : NULL,
		   *arguments = name ? take_text(&at, end) : NULL;
	if (!arguments)
		return;
	uint64_t by = moved_by(image, number[1]);
	const struct usdt_note note = { .address = number[0] + by, .semaphore = number[2] ? number[2] + by : 0,
		.provider = provider, .name = name, .arguments = arguments };
	take(context, &note);
}

static void take_section(const struct image *image, const uint8_t *at, uint64_t size, usdt_take *take, void *context)
{
	Elf64_Nhdr head;

	while (size >= sizeof(head)) {
		memcpy(&head, at, sizeof(head));
		uint64_t name = ((uint64_t)head.n_namesz + 3) & ~3ull, text = ((uint64_t)head.n_descsz + 3) & ~3ull;
		at += sizeof(head);
		size -= sizeof(head);
		if (name > size || head.n_descsz > size - name)
			return;
		if (head.n_type == TYPE && head.n_namesz == sizeof(OWNER) && !memcmp(at, OWNER, sizeof(OWNER)))
			take_note(image, at + name, head.n_descsz, take, context);
		if (text > size - name)
			return;
		at += name + text;
		size -= name + text;
	}
}

void usdt_each(const struct image *image, usdt_take *take, void *context)
{
	struct site_file file = image->file;
	Elf64_Shdr section;

	for (size_t i = 1; site_section(&file, i, &section); i++) {
		const uint8_t *bytes = section.sh_type == SHT_NOTE &&
						       site_section_named(&file, &section, ".note.stapsdt", 0)
					       ? site_section_bytes(&file, &section)
					       : NULL;
		if (bytes)
			take_section(image, bytes, section.sh_size, take, context);
	}
}

/* ---- a place ---- */

struct looking {
	struct finding *to;
	struct nearest nearest; /* of names of the provider */
	bool has_provider, has_any;
};

static void look(void *context, const struct usdt_note *note)
{
	struct looking *l = context;
	const struct place *place = l->to->place;

	l->has_any = true;
	if (!rules_glob(place->symbol, note->provider))
		return;
	l->has_provider = true;
	nearest_look(&l->nearest, note->name);
	if (rules_glob(place->name, note->name))
		finding_add(l->to, note->address, note->semaphore, note->arguments);
}

void usdt_find(struct finding *to)
{
	struct looking l = { .to = to, .nearest = { .written = to->place->name } };
	const char *base = tool_base(to->path);

	usdt_each(to->image, look, &l);
	if (!to->count && l.has_provider)
		finding_say(to, memory_format("'%s': provider '%s' has no probe of that name in %s; %s%s%s`xaudit list "
					      "--usdt %s` shows those that there are", to->place->text,
				to->place->symbol, base, l.nearest.word ? "is it '" : "",
				l.nearest.word ? l.nearest.word : "", l.nearest.word ? "'? " : "", to->path));
	else if (!to->count && to->place->library)
		finding_say(to, memory_format("'%s': %s has no probes of %s%s%s (.note.stapsdt)", to->place->text, base,
				l.has_any ? "provider '" : "its own", l.has_any ? to->place->symbol : "",
				l.has_any ? "'" : ""));
	nearest_free(&l.nearest);
}
