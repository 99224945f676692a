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
/* ns. Who still asks when the command has ended, such as a daemon that it has left, could do that for ever. */
#define LATE	10000000000ull

static struct {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t news;
	bool running, ends, late;
	uint64_t ended;
	char name[WAITING + 1][32]; /* of families that ask, the first one first. One more: that which comes again */
	unsigned names;
} asked = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* most: in the list then. Returns false: there are so many already. */
static bool add(const char *family, unsigned most)
{
	bool taken = true;

	pthread_mutex_lock(&asked.lock);
	for (unsigned i = 0; i < asked.names; i++)
		if (!strcmp(asked.name[i], family))
			goto out;
	taken = asked.names < most && strlen(family) < sizeof(asked.name[0]);
	if (taken) {
		strcpy(asked.name[asked.names++], family);
		pthread_cond_signal(&asked.news);
	}
out:
	pthread_mutex_unlock(&asked.lock);
	return taken;
}

bool record_asked_add(const char *family)
{
	return add(family, WAITING);
}

/* Has the command ended so long ago? The lock is held. */
static bool is_late(void)
{
	asked.late = asked.late || (asked.ends && tool_now() - asked.ended > LATE);
	return asked.late;
}

static struct timespec until(uint64_t time)
{
	return (struct timespec){ (time_t)(time / 1000000000), (long)(time % 1000000000) };
}

/* Looks for calls that have not returned, if it is time. Returns when it is again. */
static uint64_t watch(void)
{
	return asked_watch(tool_now(), record_asked_add);
}

/* The first family that asks. Returns false: there is none any more, and none will come. */
static bool next(char name[32])
{
	uint64_t look = watch();

	pthread_mutex_lock(&asked.lock);
	while (!asked.names && !asked.ends) {
		if (look == UINT64_MAX) {
			pthread_cond_wait(&asked.news, &asked.lock);
			continue;
		}
		struct timespec time = until(look);
		if (!pthread_cond_timedwait(&asked.news, &asked.lock, &time))
			continue;
		pthread_mutex_unlock(&asked.lock);
		look = watch();
		pthread_mutex_lock(&asked.lock);
	}
	bool any = asked.names && !is_late();
	if (any) {
		memcpy(name, asked.name[0], sizeof(asked.name[0]));
		memmove(asked.name[0], asked.name[1], --asked.names * sizeof(asked.name[0]));
	}
	pthread_mutex_unlock(&asked.lock);
	return any;
}

/* Waits, and goes on to look for calls meanwhile. */
static void wait_for(uint64_t time)
{
	for (uint64_t now; (now = tool_now()) < time;) {
		uint64_t look = watch();
		struct timespec to = until(look < time ? look : time);
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &to, NULL);
	}
}

static void *serve(void *unused)
{
	char name[32];

	while (next(name)) {
		const uint64_t again = asked_look(name, tool_now());
		if (!again)
			continue;
		wait_for(again);
		/* Behind the others: it may ask all the time. */
		add(name, WAITING + 1);
	}
	return unused;
}

void record_asked_start(const struct record_folder *folder)
{
	pthread_condattr_t clock;

	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&asked.news, &clock);
	pthread_condattr_destroy(&clock);
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
	asked.ended = tool_now();
	pthread_cond_signal(&asked.news);
	pthread_mutex_unlock(&asked.lock);
	pthread_join(asked.thread, NULL);
	pthread_cond_destroy(&asked.news);
	asked.running = false;
	if (asked.late)
		record_error("snapshots that were still asked for when the command had ended are left out");
	unsigned made = asked_made(&last);
	if (made == 1)
		record_error("the program asked for a snapshot, which is in %s", last);
	else if (made)
		record_error("the program asked for %u snapshots; the last one is in %s", made, last);
}
