/* SPDX-License-Identifier: MIT */
/*
 * The trace of a running process. The process has mapped the file that its data are in, so its mappings tell where that
 * is; the file tells which place in it is the process's own. Nothing is asked of the process, and nothing stops it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool/read/api/api.h"
#include "tool/read/api/trace.h"
#include "tool/read/damage/memory.h"

/* Where the data of a process are. */
struct place {
	char *folder;	/* DIR/p<pid>[.<n>]; NULL: not known */
	uint32_t place; /* of its head */
};

/* The folder that a line of /proc/PID/maps tells of, or NULL. It is a part of the line. */
static char *folder_in(char *line)
{
	char *path = strchr(line, '/'), *name, *end;

	line[strcspn(line, "\n")] = '\0';
	end = path ? strrchr(path, '/') : NULL;
	if (!end || end == path || strcmp(end, "/meta"))
		return NULL;
	*end = '\0';
	name = strrchr(path, '/');
	return name && name[1] == 'p' && name[2] >= '0' && name[2] <= '9' ? path : NULL;
}

/* Has the process a head in the folder? Then *place becomes that of the newest. */
static bool has_head(struct read_damage *damage, const char *folder, uint32_t pid, uint32_t *place)
{
	struct read_damage ignored = { 0 };
	const char *name = strrchr(folder, '/') + 1;
	char *dir = read_memory_text(damage, folder, (size_t)(name - folder));
	struct read_files files = { .at = dir ? open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1 };
	struct read_family *family =
		files.at >= 0 ? read_family_open(&files, &ignored, dir, name, false) : NULL;
	bool has = false;

	if (family) {
		if (family->head.pid == pid) {
			has = true;
			*place = 0;
		}
		for (uint32_t i = 0; i < family->places.count; i++) {
			const struct read_family_place *at = &family->places.place[i];
			if (at->what == TRACE_PLACE_HEAD && at->place && at->number == pid) {
				*place = at->place > *place || !has ? at->place : *place;
				has = true;
			}
		}
		read_family_close(family);
	}
	damage->no_memory |= ignored.no_memory;
	read_damage_free(&ignored);
	if (files.at >= 0)
		close(files.at);
	free(dir);
	return has;
}

/* Finds where its data are, in our view of the file systems or in its own. Returns 0, or an errno. */
static int find(struct read_damage *damage, uint32_t pid, struct place *at)
{
	char name[64], *line = NULL, *last = NULL;
	size_t room = 0;

	snprintf(name, sizeof(name), "/proc/%" PRIu32 "/maps", pid);
	FILE *maps = fopen(name, "re");
	if (!maps)
		return errno;
	while (errno = 0, !at->folder && getline(&line, &room, maps) > 0) {
		char *folder = folder_in(line);
		if (!folder || (last && !strcmp(last, folder)))
			continue;
		free(last);
		last = strdup(folder);
		char *rooted = read_memory_format(damage, "/proc/%" PRIu32 "/root%s", pid, folder);
		if (has_head(damage, folder, pid, &at->place))
			at->folder = read_memory_text(damage, folder, strlen(folder));
		else if (rooted && has_head(damage, rooted, pid, &at->place))
			at->folder = read_memory_text(damage, rooted, strlen(rooted));
		free(rooted);
	}
	int error = at->folder ? 0 : errno;
	fclose(maps);
	free(line);
	free(last);
	return error;
}

struct xaudit_read_trace *xaudit_read_open_live(uint32_t pid, struct xaudit_read_error *error)
{
	struct xaudit_read_trace *trace = NULL;
	struct read_damage damage = { 0 };
	struct place at = { 0 };
	int wrong = find(&damage, pid, &at);

	if (at.folder) {
		struct xaudit_read_options options = { .size = sizeof(options), .alone = 1, .place = at.place };
		trace = xaudit_read_open(at.folder, &options, error);
	} else if (damage.no_memory || wrong == ENOMEM) {
		read_api_error(error, XAUDIT_READ_NO_MEMORY, "out of memory");
	} else {
		bool gone = wrong == ENOENT || wrong == ESRCH;
		read_api_error(error, wrong ? XAUDIT_READ_NO_FILE : XAUDIT_READ_NO_TRACE, "");
		if (error) {
			error->number = gone ? ESRCH : wrong;
			if (gone)
				snprintf(error->text, sizeof(error->text), "there is no process %" PRIu32, pid);
			else if (wrong)
				snprintf(error->text, sizeof(error->text),
					"process %" PRIu32 " can't be looked into: %s", pid, strerror(wrong));
			else
				snprintf(error->text, sizeof(error->text),
					"process %" PRIu32 " records nothing; `xaudit record` starts one that does",
					pid);
		}
	}
	free(at.folder);
	read_damage_free(&damage);
	return trace;
}
