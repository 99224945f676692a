/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/record/asked_thread.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "tool/base/now.h"
#include "tool/base/thread.h"
#include "tool/base/tool.h"
#include "tool/record/asked/asked.h"
#include "tool/record/folder.h"
#include "tool/record/run.h"

#define WAITING 64

static struct {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t news;
	bool running, ends;
	char name[WAITING][32]; /* of families that ask, the first one first */
	unsigned names;
} asked = { .lock = PTHREAD_MUTEX_INITIALIZER, .news = PTHREAD_COND_INITIALIZER };

bool record_asked_add(const char *family)
{
	bool taken = true;

	pthread_mutex_lock(&asked.lock);
	for (unsigned i = 0; i < asked.names; i++)
		if (!strcmp(asked.name[i], family))
			goto out;
	taken = asked.names < WAITING && strlen(family) < sizeof(asked.name[0]);
	if (taken) {
		strcpy(asked.name[asked.names++], family);
		pthread_cond_signal(&asked.news);
	}
out:
	pthread_mutex_unlock(&asked.lock);
	return taken;
}

/* The first family that asks. Returns false: there is none any more, and none will come. */
static bool next(char name[32])
{
	pthread_mutex_lock(&asked.lock);
	while (!asked.names && !asked.ends)
		pthread_cond_wait(&asked.news, &asked.lock);
	bool any = asked.names;
	if (any) {
		memcpy(name, asked.name[0], sizeof(asked.name[0]));
		memmove(asked.name[0], asked.name[1], --asked.names * sizeof(asked.name[0]));
	}
	pthread_mutex_unlock(&asked.lock);
	return any;
}

static void *serve(void *unused)
{
	char name[32];

	while (next(name)) {
		uint64_t again, time = tool_now();
		while ((again = asked_look(name, time))) {
			time = tool_now();
			uint64_t left = again > time ? again - time : 0;
			nanosleep(&(struct timespec){ (time_t)(left / 1000000000), (long)(left % 1000000000) }, NULL);
			time = tool_now();
		}
	}
	return unused;
}

void record_asked_start(const struct record_folder *folder)
{
	asked_begin(folder->fd, folder->path, record_speaker);
	int error = tool_thread(&asked.thread, serve, NULL);
	asked.running = !error;
	if (error)
		record_error("snapshots that the program asks for can't be made: %s", strerror(error));
}

void record_asked_stop(void)
{
	const char *last;

	if (!asked.running)
		return;
	pthread_mutex_lock(&asked.lock);
	asked.ends = true;
	pthread_cond_signal(&asked.news);
	pthread_mutex_unlock(&asked.lock);
	pthread_join(asked.thread, NULL);
	asked.running = false;
	unsigned made = asked_made(&last);
	if (made == 1)
		record_error("the program asked for a snapshot, which is in %s", last);
	else if (made)
		record_error("the program asked for %u snapshots; the last one is in %s", made, last);
}
