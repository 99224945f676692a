/* SPDX-License-Identifier: MIT */
#include "tool/probe/lines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/search.h"
#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/probe/symbols.h"
#include "tool/values/debug_info.h"

/* An instruction of the line, and the function, or the inlined copy of one, that it is of. */
struct spot {
	Dwarf_Off scope;
	Dwarf_Addr address;
};

struct looking {
	struct finding *to;
	Dwarf *dwarf;
	uint64_t line;
	struct spot *spot;
	size_t spots;
	bool knows;	     /* the file is one of its sources */
	uint64_t before, after; /* nearest lines with code; 0: none */
};

/* Does the path end with these names? */
static bool is_file(const char *path, const char *name)
{
	size_t length = strlen(path), of_name = strlen(name);

	return length >= of_name && !strcmp(path + length - of_name, name) &&
	       (length == of_name || *name == '/' || path[length - of_name - 1] == '/');
}

/* ---- all lines, once ---- */

static int by_line(const void *a, const void *b)
{
	const struct symbols_line *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return (x->address > y->address) - (x->address < y->address);
}

static void take_line(struct symbols *to, Dwarf_Die *unit, Dwarf_Line *line)
{
	bool begins, ends;
	Dwarf_Addr address;
	const char *path = dwarf_linesrc(line, NULL, NULL);
	int number;

	if (!path || dwarf_lineno(line, &number) || number <= 0 || dwarf_lineendsequence(line, &ends) || ends ||
		dwarf_linebeginstatement(line, &begins) || !begins || dwarf_lineaddr(line, &address))
		return;
	to->line = memory_grow(to->line, to->lines, sizeof(*to->line));
	to->line[to->lines++] = (struct symbols_line){ .file = hash_text(0, tool_base(path)),
		.number = (uint32_t)number, .path = path, .address = address, .unit = dwarf_dieoffset(unit) };
}

static void make(struct symbols *to, Dwarf *dwarf)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;
	uint8_t type;

	if (to->lines_made)
		return;
	to->lines_made = true;
	while (dwarf && !dwarf_get_units(dwarf, unit, &unit, NULL, &type, &die, NULL)) {
		Dwarf_Lines *lines;
		size_t count;
		if (type != DW_UT_compile || dwarf_getsrclines(&die, &lines, &count))
			continue;
		for (size_t i = 0; i < count; i++)
			take_line(to, &die, dwarf_onesrcline(lines, i));
	}
	if (to->lines)
		qsort(to->line, to->lines, sizeof(*to->line), by_line);
}

/* ---- one ---- */

/* The innermost function, or inlined copy, there. */
static Dwarf_Off scope_at(Dwarf *dwarf, Dwarf_Off unit, Dwarf_Addr address)
{
	Dwarf_Die *scope = NULL, die;
	Dwarf_Off found = unit;
	int count = dwarf_offdie(dwarf, unit, &die) ? dwarf_getscopes(&die, address, &scope) : 0;

	for (int i = 0; i < count; i++) {
		int tag = dwarf_tag(&scope[i]);
		if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine) {
			found = dwarf_dieoffset(&scope[i]);
			break;
		}
	}
	if (count > 0)
		free(scope);
	return found;
}

/* Its instructions; or where it has none, the nearest lines of the file that have some. */
static void look(struct looking *l)
{
	const struct symbols *s = l->to->symbols;
	const char *name = l->to->place->symbol;
	const uint32_t file = hash_text(0, tool_base(name));
	size_t first = SEARCH(i, 0, s->lines,
		s->line[i].file < file || (s->line[i].file == file && s->line[i].number < l->line)), n = first;

	for (; n < s->lines && s->line[n].file == file && s->line[n].number == l->line; n++) {
		if (!is_file(s->line[n].path, name))
			continue;
		l->spot = memory_grow(l->spot, l->spots, sizeof(*l->spot));
		l->spot[l->spots++] = (struct spot){ scope_at(l->dwarf, s->line[n].unit, s->line[n].address),
			s->line[n].address };
	}
	for (; !l->spots && !l->after && n < s->lines && s->line[n].file == file; n++)
		l->after = is_file(s->line[n].path, name) ? s->line[n].number : 0;
	for (n = first; !l->spots && !l->before && n && s->line[n - 1].file == file; n--)
		l->before = is_file(s->line[n - 1].path, name) ? s->line[n - 1].number : 0;
	l->knows = l->spots || l->before || l->after;
}

static int by_scope(const void *a, const void *b)
{
	const struct spot *x = a, *y = b;

	if (x->scope != y->scope)
		return x->scope < y->scope ? -1 : 1;
	return (x->address > y->address) - (x->address < y->address);
}

static void say_nothing(struct looking *l)
{
	const struct place *place = l->to->place;
	char *lines = l->before && l->after
			      ? memory_format("lines %lu and %lu", (unsigned long)l->before, (unsigned long)l->after)
			      : memory_format("line %lu", (unsigned long)(l->before ? l->before : l->after));

	finding_say(l->to, memory_format("'%s': no statement of that line begins in %s; %s %s the nearest that %s one",
				   place->text, tool_base(l->to->path), lines, l->before && l->after ? "are" : "is",
				   l->before && l->after ? "have" : "has"));
	free(lines);
}

void lines_find(struct finding *to, struct debug_info *debug)
{
	struct looking l = { .to = to, .line = to->place->offset };
	uint64_t delta;

	l.dwarf = debug_info_dwarf(debug, &delta);
	if (!l.dwarf && to->place->library)
		finding_say(to, memory_format("'%s': %s has no debug information, so its lines are not known; install "
					      "it, or name an address", to->place->text, tool_base(to->path)));
	make(to->symbols, l.dwarf);
	look(&l);
	if (l.spots)
		qsort(l.spot, l.spots, sizeof(*l.spot), by_scope);
	for (size_t i = 0; i < l.spots; i++)
		if (!i || l.spot[i].scope != l.spot[i - 1].scope)
			finding_add(to, l.spot[i].address + delta, 0, NULL);
	if (!l.spots && l.knows)
		say_nothing(&l);
	else if (l.dwarf && !l.knows && to->place->library)
		finding_say(to, memory_format("'%s': the debug information of %s knows no such file of source",
					to->place->text, tool_base(to->path)));
	free(l.spot);
}
