/* SPDX-License-Identifier: MIT */
/*
 * Families that end before the command does are looked at and trimmed when they end, by a thread of its own: a build
 * has thousands, and the time for each is mostly spent waiting until the disk has been told which blocks are free. All
 * of them at the end would take seconds.
 *
 * The drain's thread names the families; it waits for nothing here but the lock, which is never held while a family is
 * worked on. A family whose file a process has open, or perhaps mapped, is left for record_after(). The thread is
 * stopped before record_after() begins, so what both use is used by one at a time. Its signals are blocked.
 */
#define _GNU_SOURCE
#include "tool/record/record.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tool/base/thread.h"

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
} early = { .lock = PTHREAD_MUTEX_INITIALIZER, .news = PTHREAD_COND_INITIALIZER };

static struct name **bucket(const char *name)
{
	uint32_t hash = 2166136261u;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619u;
	return &early.bucket[(hash ^ hash >> 16) % BUCKETS];
}

static struct name *find(const char *name)
{
	for (struct name *n = *bucket(name); n; n = n->next)
		if (!strcmp(n->name, name))
			return n;
	return NULL;
}

void record_early_add(const char *name)
{
	pthread_mutex_lock(&early.lock);
	struct name *n = find(name);
	if (early.running && strlen(name) < NAME && (!n || n->state == LEFT)) {
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
		*early.last = n;
		early.last = &n->later;
		pthread_cond_signal(&early.news);
	}
	pthread_mutex_unlock(&early.lock);
}

bool record_early_has(const char *name)
{
	pthread_mutex_lock(&early.lock);
	struct name *n = find(name);
	bool has = n && n->state != LEFT;
	pthread_mutex_unlock(&early.lock);
	return has;
}

static void *serve(void *unused)
{
	pthread_mutex_lock(&early.lock);
	while (!early.end) {
		struct name *n = early.first;
		if (!n) {
			pthread_cond_wait(&early.news, &early.lock);
			continue;
		}
		early.first = n->later;
		if (!early.first)
			early.last = &early.first;
		pthread_mutex_unlock(&early.lock);
		bool done = record_after_family(early.folder, n->name, true);
		pthread_mutex_lock(&early.lock);
		n->state = done ? DONE : LEFT;
	}
	/* For record_after(). */
	for (struct name *n = early.first; n; n = n->later)
		n->state = LEFT;
	pthread_mutex_unlock(&early.lock);
	return unused;
}

void record_early_start(const struct record_folder *folder)
{
	early.folder = folder;
	early.last = &early.first;
	early.running = !tool_thread(&early.thread, serve, NULL);
}

void record_early_stop(void)
{
	if (!early.running)
		return;
	pthread_mutex_lock(&early.lock);
	early.end = true;
	pthread_cond_signal(&early.news);
	pthread_mutex_unlock(&early.lock);
	pthread_join(early.thread, NULL);
	early.running = false;
}
