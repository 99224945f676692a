/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/export/texts.h"

#include <stdlib.h>

#include "tool/base/memory.h"
#include "tool/show/digits.h"

char *texts_us(char *at, uint64_t ns)
{
	uint32_t rest = (uint32_t)(ns % 1000);

	at = digits_put(at, ns / 1000);
	if (!rest)
		return at;
	*at++ = '.';
	*at++ = (char)('0' + rest / 100);
	if (!(rest %= 100))
		return at;
	*at++ = (char)('0' + rest / 10);
	if (rest %= 10)
		*at++ = (char)('0' + rest);
	return at;
}

const struct texts_one *texts_of(struct texts *texts, const struct xaudit_read_function *function)
{
	uint32_t number = function->number;

	if (number >= texts->room) {
		uint32_t room = 2 * number + 64;

		texts->one = memory_resize(texts->one, room, sizeof(*texts->one));
		memset(&texts->one[texts->room], 0, (room - texts->room) * sizeof(*texts->one));
		texts->room = room;
	}
	struct texts_one *one = &texts->one[number];
	if (!one->text) {
		FILE *to = memory_need(open_memstream(&one->text, &one->size));

		texts->write(to, function);
		if (fclose(to))
			memory_failed();
	}
	return one;
}

void texts_free(struct texts *texts)
{
	for (uint32_t i = 0; i < texts->room; i++)
		free(texts->one[i].text);
	free(texts->one);
	*texts = (struct texts){ 0 };
}
