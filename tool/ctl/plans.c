/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/ctl/plans.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/model/object.h"
#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/ctl/indexes.h"
#include "tool/ctl/process.h"

#define MOST_RULES (1u << 20) /* bytes */

char *plans_rules(const struct ctl_process *process)
{
	const uint64_t at = (uint64_t)(uintptr_t)process->block.values;
	uint64_t text = 0;

	return at && ctl_read(process, at, &text, sizeof(text)) && text ? ctl_text_up_to(process, text, MOST_RULES)
									: NULL;
}

/* Opens the file that the object was loaded from, if it is there still. Returns -1: it is not. */
static int open_file(const struct ctl_process *process, const struct object *object, const char *path)
{
	char *name[] = { memory_format("/proc/%d/root%s", (int)process->pid, path),
		memory_format("/proc/%d/exe", (int)process->pid) };
	bool program = object->flags & TRACE_OBJECT_PROGRAM && !object->by_loader;
	int found = -1;

	for (int i = 0; i < 2 && found < 0; i++) {
		struct stat st;
		int fd = i && !program ? -1 : open(name[i], O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_dev == object->dev &&
			st.st_ino == object->ino)
			found = fd;
		else if (fd >= 0)
			close(fd);
	}
	for (int i = 0; i < 2; i++)
		free(name[i]);
	return found;
}

bool plans_make(struct plan_made *made, const struct ctl_process *process, const struct object *object,
	const char *path, const char *rules)
{
	int fd = open_file(process, object, path);

	if (fd < 0)
		return false;
	int r = plan_make(made, fd, path, rules);
	close(fd);
	/* That took time of ours, not of reading. */
	ctl_limit_begin();
	if (r && r != -ENOEXEC)
		tool_error("ctl", "%s: %s", path, strerror(-r));
	return !r;
}

struct gone {
	char *path; /* the first of them */
	uint32_t number, more;
};

static void look_gone(
	void *context, const struct ctl_process *process, const struct object *object, const struct load *load)
{
	struct gone *gone = context;
	char *path = ctl_text(process, ctl_at(object->path));
	int fd = path && *path == '/' ? open_file(process, object, path) : 0;

	(void)load;
	if (fd > 0)
		close(fd);
	if (fd >= 0 || (gone->path && gone->number == object->number)) {
		free(path);
		return;
	}
	gone->more += gone->path != NULL;
	gone->number = object->number;
	if (gone->path)
		free(path);
	else
		gone->path = path;
}

void plans_say_gone(const struct ctl_process *process)
{
	struct gone gone = { .path = NULL };
	char more[32] = "";

	ctl_each_object(process, look_gone, &gone);
	if (gone.more)
		snprintf(more, sizeof(more), ", and of %" PRIu32 " more", gone.more);
	if (gone.path)
		tool_error("ctl",
			"process %d: the file that was loaded as %s is not there any more, or can't be read%s, so its "
			"places are not known; start the program anew", (int)process->pid, gone.path, more);
	free(gone.path);
}

void plans_free(struct ctl_indexes *plans)
{
	for (size_t i = 0; i < plans->count; i++)
		free((void *)(uintptr_t)plans->index[i].bytes);
	ctl_indexes_free(plans);
}
