/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/show/term/meant.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "audit/match/cxx.h"
#include "tool/base/memory.h"
#include "tool/show/term/names.h"

void meant_begin(struct meant *meant, const char *pattern)
{
	const char *at = strrchr(pattern, '@');
	size_t length = at && at > pattern ? (size_t)(at - pattern) : strlen(pattern);

	*meant = (struct meant){ 0 };
	/* In the name of an operator these characters mean themselves. */
	if (!cxx_names_operator(pattern, length) && memchr(pattern, '*', length))
		return;
	if (!strncmp(pattern, "::", 2)) {
		pattern += 2;
		length -= 2;
	}
	/* As functions are shown, with what stands for all overloads left out. */
	size_t bare = cxx_names_operator(pattern, length) ? length : strcspn(pattern, "(<@");
	meant->written = memory_text(pattern, bare < length ? bare : length);
	meant->nearest.written = meant->written;
}

/* The part of a name that has as many components as another one; NULL: it has less. */
static const char *same_depth(const char *name, const char *other)
{
	const char *part = name + strlen(name);

	for (;;) {
		while (part > name && !(part - name >= 2 && part[-1] == ':' && part[-2] == ':'))
			part--;
		other = strstr(other, "::");
		if (!other || part == name)
			return other ? NULL : part;
		other += 2;
		part -= 2;
	}
}

static void look_at(struct meant *meant, const char *name)
{
	size_t length = strlen(meant->written);
	const char *part = same_depth(name, meant->written);

	nearest_look(&meant->nearest, name);
	if (part && part != name)
		nearest_look_as(&meant->nearest, part, strlen(part), name);
	if (length && !strncmp(name, meant->written, length) && !strncmp(name + length, "::", 2)) {
		char *all = memory_format("%s::*", meant->written);
		nearest_look_as(&meant->nearest, meant->written, length, all);
		free(all);
	}
}

void meant_look(struct meant *meant, const char *raw)
{
	char name[CXX_NAME_SIZE];

	if (!meant->written || !raw)
		return;
	if (cxx_name(raw, name)) {
		/* In no namespace it would be taken for a name of C, without the colons. */
		look_at(meant, strstr(name + 2, "::") || cxx_is_pattern(name + 2) ? name + 2 : name);
		return;
	}
	const char *shown = names_demangled(raw);
	if (!shown) {
		look_at(meant, raw);
		return;
	}
	char *bare = memory_text(shown, strcspn(shown, "(<"));
	look_at(meant, bare);
	free(bare);
}

const char *meant_word(const struct meant *meant)
{
	return meant->nearest.word;
}

void meant_end(struct meant *meant)
{
	nearest_free(&meant->nearest);
	free(meant->written);
	meant->written = NULL;
}

char *meant_message(const struct meant *meant, const char *said, const char *otherwise)
{
	if (meant_word(meant))
		return memory_format("%s; did you mean '%s'?", said, meant_word(meant));
	return memory_format("%s%s", said, otherwise);
}
