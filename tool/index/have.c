/* SPDX-License-Identifier: MIT */
#include "tool/index/have.h"

#include <limits.h>
#include <stdlib.h>

#include "audit/index/find.h"
#include "tool/index/image.h"
#include "tool/index/write.h"

static int is_good(struct index *index, const char *folder, const struct image_name *name)
{
	struct index copy;

	if (index_open(index, folder, &name->identity))
		return 0;
	if (!(name->symbols && index->head->flags & INDEX_NO_SYMBOLS) &&
		!index_attach(&copy, index->head, index->size, NULL))
		return 1;
	index_close(index);
	return 0;
}

int index_is_kept(struct index *index, const struct image_name *name)
{
	const char *named = getenv(INDEX_FOLDER_VARIABLE);
	char folder[PATH_MAX];

	if (named && *named == '/' && is_good(index, named, name))
		return 1;
	for (unsigned i = 0; i < 2; i++)
		if (index_folder(i, getenv("XDG_CACHE_HOME"), getenv("HOME"), folder, sizeof(folder)) &&
			is_good(index, folder, name))
			return 1;
	return 0;
}

int index_have(struct index_had *had, int fd, const char *path)
{
	struct image_name name;
	struct index_made made;
	int r = image_identify(fd, &name);

	*had = (struct index_had){ 0 };
	if (r)
		return r;
	free(name.soname);
	if (index_is_kept(&had->index, &name))
		return 0;
	r = index_make(&made, fd, path);
	if (r)
		return r;
	r = index_attach(&had->index, made.bytes, made.size, NULL);
	had->made = made.bytes;
	if (r)
		index_drop(had);
	return r;
}

void index_drop(struct index_had *had)
{
	index_close(&had->index);
	free(had->made);
	*had = (struct index_had){ 0 };
}

const char *index_remark(const struct index_function *function, unsigned number)
{
	static const struct {
		unsigned flag;
		const char *phrase;
	} remarks[] = {
		{ INDEX_ENTRY_ALONE, "entry alone: it, or its runtime, reads or moves return addresses" },
		{ INDEX_NEVER_INTERCEPT, "entry alone: by its name" },
		{ INDEX_ASKS, "jumps to what asks who called it" },
		{ INDEX_DISPLACES_CALL, "may displace a call" },
	};

	for (unsigned i = 0; i < sizeof(remarks) / sizeof(*remarks); i++)
		if (function->flags & remarks[i].flag && !number--)
			return remarks[i].phrase;
	return NULL;
}
