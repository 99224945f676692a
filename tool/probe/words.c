/* SPDX-License-Identifier: MIT */
#include "tool/probe/words.h"

#include <string.h>

#include "tool/base/memory.h"

const char *words_probe(const char *word, char **name)
{
	const char *equal = strchr(word, '='), *operator = strstr(word, "operator");

	if (!equal || equal == word || !equal[1] || (operator && operator < equal))
		equal = NULL;
	*name = memory_text(word, equal ? (size_t)(equal - word) : strlen(word));
	return equal ? equal + 1 : word;
}
