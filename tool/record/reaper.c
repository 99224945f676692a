/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/record/reaper.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tool/base/hash.h"
#include "tool/base/thread.h"
#include "tool/record/folder.h"
#include "tool/record/outcome.h"

#define NAME	32
#define BUCKETS 4096

enum state { WAITING, DONE, LEFT };

struct name {
	struct name *next;  /* in its bucket */
	struct name *later; /* in the queue */
	enum state state;
	char name[NAME];
};

/* All but `thread` and `folder` under the lock. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t news;
	pthread_t thread;
	const struct record_folder *folder;
	bool running, end;
	struct name *bucket[BUCKETS];
	struct name *first, **last; /* the queue */
} reaper = { .lock = PTHREAD_MUTEX_INITIALIZER, .news = PTHREAD_COND_INITIALIZER };

static struct name **bucket(const char *name)
{
	return &reaper.bucket[hash_text(0, name) % BUCKETS];
}

static struct name *find(const char *name)
{
	for (struct name *n = *bucket(name); n; n = n->next)
		if (!strcmp(n->name, name))
			return n;
	return NULL;
}

void record_reaper_add(const char *name)
{
	pthread_mutex_lock(&reaper.lock);
	struct name *n = find(name);
	if (reaper.running && strlen(name) < NAME && (!n || n->state == LEFT)) {
		/* Without memory it is left for the end. The program runs: this must not end us. */
		if (!n && (n = calloc(1, sizeof(*n)))) {
			strcpy(n->name, name);
			n->next = *bucket(name);
			*bucket(name) = n;
		}
	} else {
		n = NULL;
	}
	if (n) {
		n->state = WAITING;
		n->later = NULL;
		*reaper.last = n;
		reaper.last = &n->later;
		pthread_cond_signal(&reaper.news);
	}
	pthread_mutex_unlock(&reaper.lock);
}

bool record_reaper_has(const char *name)
{
	pthread_mutex_lock(&reaper.lock);
	struct name *n = find(name);
	bool has = n && n->state != LEFT;
	pthread_mutex_unlock(&reaper.lock);
	return has;
}

static void *serve(void *unused)
{
	pthread_mutex_lock(&reaper.lock);
	while (!reaper.end) {
		struct name *n = reaper.first;
		if (!n) {
			pthread_cond_wait(&reaper.news, &reaper.lock);
			continue;
		}
		reaper.first = n->later;
		if (!reaper.first)
			reaper.last = &reaper.first;
		pthread_mutex_unlock(&reaper.lock);
		bool done = record_outcome_family(reaper.folder, n->name, true);
		pthread_mutex_lock(&reaper.lock);
		n->state = done ? DONE : LEFT;
	}
	/* For record_outcome(). */
	for (struct name *n = reaper.first; n; n = n->later)
		n->state = LEFT;
	pthread_mutex_unlock(&reaper.lock);
	return unused;
}

void record_reaper_start(const struct record_folder *folder)
{
	reaper.folder = folder;
	reaper.last = &reaper.first;
	reaper.running = !tool_thread(&reaper.thread, serve, NULL);
}

void record_reaper_stop(void)
{
	if (!reaper.running)
		return;
	pthread_mutex_lock(&reaper.lock);
	reaper.end = true;
	pthread_cond_signal(&reaper.news);
	pthread_mutex_unlock(&reaper.lock);
	pthread_join(reaper.thread, NULL);
	reaper.running = false;
}
