/* SPDX-License-Identifier: MIT */
#include "tool/index/file_index.h"

#include <stdlib.h>

#include "audit/index/folder.h"
#include "tool/index/cache.h"
#include "tool/index/image.h"

int index_is_kept(struct index *index, const struct image_name *name)
{
	struct cache_folders in;

	cache_folders(&in);
	if (index_look(index, in.folder, in.count, &name->identity))
		return 0;
	if (cache_is_good(index, name->symbols)) {
		cache_used(index);
		return 1;
	}
	index_close(index);
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
	r = cache_take(&made, fd, path);
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
		{ INDEX_ENTRY_ALONE, "entry only: it, or its runtime, reads or moves return addresses" },
		{ INDEX_NEVER_INTERCEPT, "entry only: by its name" },
		{ INDEX_ASKS, "jumps to what asks who called it" },
		{ INDEX_DISPLACES_CALL, "may displace a call" },
	};

	for (unsigned i = 0; i < sizeof(remarks) / sizeof(*remarks); i++)
		if (function->flags & remarks[i].flag && !number--)
			return remarks[i].phrase;
	return NULL;
}
