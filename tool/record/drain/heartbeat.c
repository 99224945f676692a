/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/record/drain/heartbeat.h"

#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <unistd.h>

#include "format/trace.h"

#define MOST 64

static struct {
	pthread_mutex_t lock;
	unsigned count;
	struct {
		uint32_t family;
		int fd;
	} entry[MOST];
} beats = { .lock = PTHREAD_MUTEX_INITIALIZER };

void drain_heartbeat_add(uint32_t family, int meta)
{
	unsigned i = 0;

	pthread_mutex_lock(&beats.lock);
	while (i < beats.count && beats.entry[i].family != family)
		i++;
	if (i == beats.count && i < MOST) {
		int fd = fcntl(meta, F_DUPFD_CLOEXEC, 0);
		beats.entry[i].family = family;
		beats.entry[i].fd = fd;
		beats.count += fd >= 0;
	}
	pthread_mutex_unlock(&beats.lock);
}

void drain_heartbeat_remove(uint32_t family)
{
	pthread_mutex_lock(&beats.lock);
	for (unsigned i = beats.count; i-- > 0;)
		if (!family || beats.entry[i].family == family) {
			close(beats.entry[i].fd);
			beats.entry[i] = beats.entry[--beats.count];
		}
	pthread_mutex_unlock(&beats.lock);
}

void drain_heartbeat_all(uint64_t now)
{
	pthread_mutex_lock(&beats.lock);
	for (unsigned i = 0; i < beats.count; i++)
		/* If this can't be written, chunks can't be either. */
		if (pwrite(beats.entry[i].fd, &now, sizeof(now), offsetof(struct trace_head, drain_beat)) < 0)
			continue;
	pthread_mutex_unlock(&beats.lock);
}
