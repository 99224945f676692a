/* SPDX-License-Identifier: MIT */
#include "tool/probe/returns.h"

#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/index/decode.h"
#include "tool/index/image.h"
#include "tool/probe/symbols.h"

/* How many of each a function has. */
struct ends {
	size_t returns, jumps;
	const char *to; /* where the first of the jumps leads: a name, or NULL */
};

/* `name.cold` or `name.cold.3` */
static bool is_cold_part(const char *part, const char *name)
{
	static const char cold[] = ".cold";
	size_t length = name ? strlen(name) : 0;

	return length && part && !strncmp(part, name, length) && !strncmp(part + length, cold, sizeof(cold) - 1) &&
	       (!part[length + sizeof(cold) - 1] || part[length + sizeof(cold) - 1] == '.');
}

/* Is that the beginning of another function than the one at hand? */
static const struct image_function *other(const struct image *image, uint64_t target, const struct image_function *own)
{
	const struct image_function *there = image_at(image, target);

	return there && there != own && !is_cold_part(there->name, own->name) && !is_cold_part(own->name, there->name)
		       ? there
		       : NULL;
}

static void look(struct finding *to, const struct image_function *function, struct ends *ends)
{
	uint64_t end = function->size ? function->address + function->size : function->end, at = function->address;
	size_t room;
	struct insn insn;

	for (const uint8_t *bytes; at < end && (bytes = image_code_at(to->image, at, &room)); at += insn.length) {
		if (!insn_decode(bytes, room, at, &insn))
			return;
		if (insn.flow == INSN_RET) {
			finding_add(to, at, 0, NULL);
			ends->returns++;
			continue;
		}
		const struct image_function *there =
			insn.flow == INSN_JUMP || insn.flow == INSN_JCC ? other(to->image, insn.target, function)
									 : NULL;
		if (there && !ends->jumps++)
			ends->to = there->name;
	}
}

/* To be freed. */
static char *name_of(const struct image_function *function)
{
	return function->name ? memory_text(function->name, strlen(function->name))
			      : memory_format("the function at 0x%lx", (unsigned long)function->address);
}

void returns_find(struct finding *to, const struct image_function *function)
{
	struct ends ends = { 0 };
	uint32_t *part = NULL;

	look(to, function, &ends);
	size_t parts = function->name ? symbols_cold(to->symbols, function->name, &part) : 0;
	for (size_t i = 0; i < parts; i++)
		look(to, &to->image->function[part[i]], &ends);
	free(part);
	char *name = name_of(function);
	if (!ends.returns)
		finding_say(to, memory_format("'%s': %s has no instruction that returns in %s%s%s", to->place->text,
				name, tool_base(to->path),
				ends.jumps ? "; it goes on as " : "",
				!ends.jumps ? "" : ends.to ? ends.to : "another function"));
	else if (ends.jumps)
		finding_say(to, memory_format("'%s': %s also ends by %zu jump%s to other functions (%s); these are no "
					      "returns of its own", to->place->text,
				name, ends.jumps, ends.jumps > 1 ? "s" : "", ends.to ? ends.to : "without a name"));
	free(name);
}
