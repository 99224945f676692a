/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/record/pack.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/pack.h"
#include "tool/base/tool.h"
#include "tool/pack/pack_folder.h"
#include "tool/record/folder.h"

void record_pack(struct record_folder *folder)
{
	struct pack_order order = { .command = "record", .folder = folder->path, .fd = folder->fd,
		.ours = true, .replace = true, .check = true };
	char *file;
	int error;

	/* What was removed is not missed. */
	if (folder->robbed)
		return;
	if (asprintf(&file, "%s%s", folder->path, PACK_SUFFIX) < 0) {
		tool_error("record", "the trace is not packed: out of memory");
		return;
	}
	order.file = file;
	if (!pack_folder(&order) && (error = record_folder_remove(folder)))
		tool_error("record", "the trace is packed in %s, but the folder %s can't be removed: %s", file,
			folder->path, error == ENOTEMPTY ? "it holds files of other origin" : strerror(error));
	free(file);
}
