/* SPDX-License-Identifier: MIT */
/* What a trace lacks, told when its recording ends: whoever looks at numbers must know that they are not all. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool/info.h"
#include "tool/memory.h"
#include "tool/record.h"
#include "tool/tool.h"
#include "tool/trace_folder.h"

#define ESTIMATE_BYTES (256ull << 20) /* of a process with losses: what is read to count its events */

/* Whether a chunk of the file tells of lost events. `place`: bytes that each chunk has. */
static bool any_lost(int folder, const char *name, uint64_t place)
{
	struct stat st;
	struct trace_chunk chunk;
	int fd = trace_open_file(folder, name, &(const char *){ NULL });
	bool any = false;

	if (fd < 0)
		return false;
	if (!fstat(fd, &st))
		for (uint64_t at = 0; at < (uint64_t)st.st_size && !any; at += place) {
			if (pread(fd, &chunk, sizeof(chunk), (off_t)at) != sizeof(chunk))
				break;
			any = chunk.magic == TRACE_CHUNK_MAGIC && chunk.lost;
		}
	close(fd);
	return any;
}

/* Looks at the heads of chunks alone: nearly all processes lost nothing. */
static bool has_lost(int folder, const struct trace_head *head)
{
	int fd = head->lost ? -1 : openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	bool any = head->lost != 0;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return any;
	}
	for (struct dirent *e; !any && (e = readdir(dir));) {
		/* Of version 2, the chunks of both have one size, and every second place of r<n> is none. */
		uint64_t place = e->d_name[0] == 'r' || (e->d_name[0] == 't' && head->version != 1) ? head->ring_chunk :
			e->d_name[0] == 't' ? head->chunk_size : 0;
		if (place >= 4096 && place <= TRACE_CHUNK_MAX && e->d_name[1] >= '0' && e->d_name[1] <= '9')
			any = any_lost(folder, e->d_name, place);
	}
	closedir(dir);
	return any;
}

/* Some names tell where to look; `xaudit info` knows all. */
static void add_name(struct record_lost *lost, const char *name)
{
	size_t length = strlen(lost->which);

	if (lost->processes > 4)
		return;
	snprintf(lost->which + length, sizeof(lost->which) - length, "%s%s", lost->processes == 1 ? "" : ", ",
		lost->processes == 4 ? "..." : name);
}

void record_lost_look(struct record_lost *lost, int at, const char *path, const struct trace_head *head)
{
	struct info_sums sums;

	if (!has_lost(at, head))
		return;
	struct folder *folder = folder_open_process("record", path, 0);
	if (!folder)
		return;
	process_load(folder->process[0]);
	info_estimate(&sums, folder->process[0], ESTIMATE_BYTES);
	lost->processes++;
	lost->lost += sums.lost;
	lost->events += sums.events + sums.custom + sums.lost;
	lost->about |= sums.estimated;
	if (head->lost_error)
		lost->error = head->lost_error;
	if (head->record_error)
		lost->record_error = head->record_error;
	add_name(lost, strrchr(path, '/') + 1);
	folder_close(folder);
}

void record_lost_say(const struct record_lost *lost, unsigned processes)
{
	const char *why = info_lost_reason(lost->error);

	if (!lost->lost)
		return;
	/* Recording stops then: what is counted is only what was on its way. */
	if (lost->error == EFBIG) {
		tool_error("record", "%s, and what came later is not in it; --size-limit=SIZE sets another", why);
		return;
	}
	char *of = processes > 1 ? memory_format(" in %u of %u processes (%s)", lost->processes, processes, lost->which)
				 : memory_format("%s", "");
	const char *record = info_record_reason(lost->record_error);
	tool_error("record", "%" PRIu64 " of %s%" PRIu64 " events were lost%s: %s%s%s", lost->lost,
		lost->about ? "about " : "", lost->events, of,
		why ? why : "`xaudit info` tells what was said meanwhile", record ? ", and " : "", record ? record : "");
	free(of);
}
