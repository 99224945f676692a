/* SPDX-License-Identifier: MIT */
/*
 * The main thread writes what is in `drainer` before the thread begins, and reads after it has ended. All their signals
 * are blocked, SIGXFSZ too: then a file that may not grow is an error. They never free memory, but for a listing of the
 * folder, and use no stdio.
 *
 * drain.h is called under the lock of `drainer`, since the thread of tool/record/reaper.c takes families away. While it
 * is held the lock of reaper.c may be taken, not the other way round.
 */
#define _GNU_SOURCE
#include "tool/record/drain_thread.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <time.h>
#include <unistd.h>

#include "tool/base/now.h"
#include "tool/base/thread.h"
#include "tool/base/tool.h"
#include "tool/record/asked_thread.h"
#include "tool/record/drain/drain.h"
#include "tool/record/drain/heartbeat.h"
#include "tool/record/folder.h"
#include "tool/record/reaper.h"
#include "tool/record/run.h"
#include "tool/record/trim.h"

#define BEAT_EACH 100 /* ms */
#define LOOK_EACH 100000000ull /* ns, without inotify */

static struct {
	pthread_t thread, beater;
	int folder, news, end; /* news: inotify, or -1. end: readable when the threads shall end */
	bool running, beating;
	pthread_mutex_t lock;
} drainer = { .news = -1, .end = -1, .lock = PTHREAD_MUTEX_INITIALIZER };

static void add_all(void)
{
	int fd = openat(drainer.folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	for (struct dirent *e; (e = readdir(dir));)
		if (record_is_process_name(e->d_name) && !record_reaper_has(e->d_name))
			drain_add(e->d_name, tool_now());
	closedir(dir);
}

static void add_news(void)
{
	_Alignas(struct inotify_event) char text[16384];
	ssize_t n = read(drainer.news, text, sizeof(text));

	for (char *p = text; n > 0 && p < text + n;) {
		struct inotify_event *event = (struct inotify_event *)(void *)p;
		if (event->mask & IN_Q_OVERFLOW)
			add_all();
		else if (event->len && record_is_process_name(event->name))
			drain_add(event->name, tool_now());
		p += sizeof(*event) + event->len;
	}
}

static void *serve(void *unused)
{
	uint64_t look = 0;

	for (;;) {
		uint64_t time = tool_now();
		pthread_mutex_lock(&drainer.lock);
		if (time >= look) {
			add_all();
			look = drainer.news < 0 ? time + LOOK_EACH : UINT64_MAX;
		}
		uint64_t next = drain_run(time);
		pthread_mutex_unlock(&drainer.lock);
		next = next < look ? next : look;
		time = tool_now();
		uint64_t left = next > time ? next - time : 0;
		struct timespec wait = { (time_t)(left / 1000000000), (long)(left % 1000000000) };
		struct pollfd file[2] = { { .fd = drainer.end, .events = POLLIN },
			{ .fd = drainer.news, .events = POLLIN } };
		if (ppoll(file, 2, next == UINT64_MAX ? NULL : &wait, NULL) < 0 && errno != EINTR && errno != ENOMEM)
			break;
		if (file[0].revents)
			break;
		if (!file[1].revents)
			continue;
		pthread_mutex_lock(&drainer.lock);
		add_news();
		pthread_mutex_unlock(&drainer.lock);
	}
	/* Chunks that are left stay in meta, where readers find them. */
	pthread_mutex_lock(&drainer.lock);
	/* A family that was made since the last look may have asked for a snapshot. */
	add_all();
	drain_end();
	pthread_mutex_unlock(&drainer.lock);
	return unused;
}

static void *beat(void *unused)
{
	struct pollfd file = { .fd = drainer.end, .events = POLLIN };

	while (poll(&file, 1, BEAT_EACH) <= 0)
		drain_heartbeat_all(tool_now());
	return unused;
}

/* A watch on the folder itself, whatever name it has by now. */
static int watch(int folder)
{
	char path[32];
	int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);

	if (fd < 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", folder);
	if (inotify_add_watch(fd, path, IN_CREATE | IN_ONLYDIR) >= 0)
		return fd;
	close(fd);
	return -1;
}

static bool is_ending(void)
{
	struct pollfd file = { .fd = drainer.end, .events = POLLIN };

	return poll(&file, 1, 0) > 0;
}

void record_drain_start(const struct record_folder *folder, uint64_t chunk)
{
	int error;

	drainer.folder = folder->fd;
	drainer.news = watch(folder->fd);
	drainer.end = eventfd(0, EFD_CLOEXEC);
	drain_begin(folder->fd);
	drain_bound(chunk, is_ending);
	drain_tell(record_reaper_add);
	drain_tell_asked(record_asked_add);
	error = drainer.end < 0 ? errno : tool_thread(&drainer.thread, serve, NULL);
	drainer.beating = !error && !tool_thread(&drainer.beater, beat, NULL);
	drainer.running = !error;
	if (!error)
		return;
	record_error("the program has to write its files itself: %s", strerror(error));
	record_drain_stop();
}

bool record_drain_leave(const char *name, int folder)
{
	bool over;

	/* Under the lock the drain does not open the file: it would count as a process that has it open. */
	pthread_mutex_lock(&drainer.lock);
	over = record_trim_is_over(folder);
	if (over)
		drain_remove(name);
	pthread_mutex_unlock(&drainer.lock);
	return over;
}

void record_drain_stop(void)
{
	const uint64_t one = 1;

	if (drainer.running && write(drainer.end, &one, sizeof(one)) == sizeof(one))
		pthread_join(drainer.thread, NULL);
	if (drainer.running && drainer.beating)
		pthread_join(drainer.beater, NULL);
	drainer.running = drainer.beating = false;
	if (drainer.news >= 0)
		close(drainer.news);
	if (drainer.end >= 0)
		close(drainer.end);
	drainer.news = drainer.end = -1;
}
