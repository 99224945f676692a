/* SPDX-License-Identifier: MIT */
#include "tool/probe/words.h"

#include <ctype.h>
#include <string.h>

#include "tool/base/memory.h"

const char *words_probe(const char *word, char **name)
{
	static const char operator[] = "operator";
	size_t n = 0;

	while (isalnum((unsigned char)word[n]) || (word[n] && strchr("_.-", word[n])))
		n++;
	if (!n || word[n] != '=' || (n == sizeof(operator) - 1 && !strncmp(word, operator, n))) {
		*name = memory_text(word, strlen(word));
		return word;
	}
	*name = memory_text(word, n);
	return word + n + 1;
}
