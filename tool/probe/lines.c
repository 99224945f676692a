/* SPDX-License-Identifier: MIT */
#include "tool/probe/lines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/values/debug_info.h"

/* An instruction of the line, and the function, or the inlined copy of one, that it is of. */
struct spot {
	Dwarf_Off scope;
	Dwarf_Addr address;
};

struct looking {
	struct finding *to;
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

	return path && length >= of_name && !strcmp(path + length - of_name, name) &&
	       (length == of_name || *name == '/' || path[length - of_name - 1] == '/');
}

/* The innermost function, or inlined copy, there. */
static Dwarf_Off scope_at(Dwarf_Die *unit, Dwarf_Addr address)
{
	Dwarf_Die *scope = NULL;
	Dwarf_Off found = dwarf_dieoffset(unit);
	int count = dwarf_getscopes(unit, address, &scope);

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

static void look_at_line(struct looking *l, Dwarf_Die *unit, Dwarf_Line *line)
{
	bool begins, ends;
	Dwarf_Addr address;
	const char *file = dwarf_linesrc(line, NULL, NULL);
	int number;

	if (!file || dwarf_lineno(line, &number) || number <= 0 || dwarf_lineendsequence(line, &ends) || ends ||
		dwarf_linebeginstatement(line, &begins) || !begins || dwarf_lineaddr(line, &address) ||
		!is_file(file, l->to->place->symbol))
		return;
	l->knows = true;
	uint64_t at = (uint64_t)number;
	if (at < l->line && at > l->before)
		l->before = at;
	if (at > l->line && (!l->after || at < l->after))
		l->after = at;
	if (at != l->line)
		return;
	l->spot = memory_grow(l->spot, l->spots, sizeof(*l->spot));
	l->spot[l->spots++] = (struct spot){ scope_at(unit, address), address };
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
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;
	uint8_t type;
	uint64_t delta;
	Dwarf *dwarf = debug_info_dwarf(debug, &delta);

	if (!dwarf && to->place->library)
		finding_say(to, memory_format("'%s': %s has no debug information, so its lines are not known; install "
					      "it, or name an address", to->place->text, tool_base(to->path)));
	while (dwarf && !dwarf_get_units(dwarf, unit, &unit, NULL, &type, &die, NULL)) {
		Dwarf_Lines *lines;
		size_t count;
		if (type != DW_UT_compile || dwarf_getsrclines(&die, &lines, &count))
			continue;
		for (size_t i = 0; i < count; i++)
			look_at_line(&l, &die, dwarf_onesrcline(lines, i));
	}
	if (l.spots)
		qsort(l.spot, l.spots, sizeof(*l.spot), by_scope);
	for (size_t i = 0; i < l.spots; i++)
		if (!i || l.spot[i].scope != l.spot[i - 1].scope)
			finding_add(to, l.spot[i].address + delta, 0, NULL);
	if (!l.spots && l.knows)
		say_nothing(&l);
	else if (dwarf && !l.knows && to->place->library)
		finding_say(to, memory_format("'%s': the debug information of %s knows no such file of source",
					to->place->text, tool_base(to->path)));
	free(l.spot);
}
