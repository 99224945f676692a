/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/read/record_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/read/damage/memory.h"
#include "tool/read/folder.h"

#define LARGEST (16u << 20) /* the longest line is a command's words, quoted: a third of it at most */

static void take_line(struct read_folder *folder, char *line)
{
	struct trace_pair pair;
	char **text = NULL, *value = strchr(line, ':');

	if (!value)
		return;
	*value++ = '\0';
	value += strspn(value, " \t");
	if (!strcmp(line, "version"))
		text = &folder->version;
	else if (!strcmp(line, "command"))
		text = &folder->command;
	else if (!strcmp(line, "status"))
		text = &folder->status;
	else if (!strcmp(line, "process"))
		folder->command_pid = (uint32_t)strtoul(value, NULL, 10);
	else if (!strcmp(line, "clock") && folder->pairs < sizeof(folder->pair) / sizeof(*folder->pair) &&
		sscanf(value, "%" SCNu64 " %" SCNu64 " %" SCNu64, &pair.ticks, &pair.mono, &pair.real) == 3)
		folder->pair[folder->pairs++] = pair;
	if (text && !*text)
		*text = read_memory_text(&folder->damage, value, strlen(value));
}

/* All of the file, and a zero; the caller frees it. NULL: there is no memory. */
static char *read_text(struct read_folder *folder, FILE *file)
{
	char *text = NULL;
	size_t have = 0, room = 4096, n = 1;

	while (n && have < LARGEST && read_memory_resize(&folder->damage, &text, room, 1)) {
		n = fread(text + have, 1, room - 1 - have, file);
		have += n;
		room *= 2;
	}
	if (text)
		text[have] = '\0';
	return text;
}

void read_record_file(struct read_folder *folder)
{
	FILE *file = read_files_stream(&folder->files, "record");

	if (!file) {
		folder->damage.no_memory |= errno == ENOMEM;
		return; /* without `xaudit record` there is no such file */
	}
	folder->record = true;
	char *text = read_text(folder, file), *rest = text;
	fclose(file);
	while (rest && *rest)
		take_line(folder, strsep(&rest, "\n"));
	free(text);
}
