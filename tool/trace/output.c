/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/trace/output.h"

#include <errno.h>
#include <limits.h> /* PIPE_BUF */
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tool/base/thread.h"

#define QUEUE (1u << 20) /* bytes */
#define PIECE (1u << 16) /* of a file, in one write */

static struct {
	pthread_mutex_t lock;
	pthread_cond_t more, less; /* there is something to write; there is room, or all is written */
	pthread_t thread;
	int fd, failed;
	size_t piece;
	bool running, writing, ending;
	size_t size;	    /* bytes in the queue */
	char queue[QUEUE];
	char out[PIECE];    /* of the thread alone */
} output = { .lock = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER };

/* Whole lines, as many as fit in a piece; of a longer one a part. */
static size_t take_piece(void)
{
	size_t size = output.size < output.piece ? output.size : output.piece;

	if (size < output.size) {
		const char *end = memrchr(output.queue, '\n', size);
		size = end ? (size_t)(end - output.queue) + 1 : size;
	}
	memcpy(output.out, output.queue, size);
	output.size -= size;
	memmove(output.queue, output.queue + size, output.size);
	return size;
}

/* 0, or an errno. */
static int write_all(const char *from, size_t size)
{
	while (size) {
		ssize_t n = write(output.fd, from, size);

		if (n >= 0) {
			from += n;
			size -= (size_t)n;
		} else if (errno == EAGAIN) { /* somebody else made it so */
			poll(&(struct pollfd){ .fd = output.fd, .events = POLLOUT }, 1, -1);
		} else if (errno != EINTR) {
			return errno;
		}
	}
	return 0;
}

static void *serve(void *unused)
{
	pthread_mutex_lock(&output.lock);
	for (;;) {
		while (!output.size && !output.ending)
			pthread_cond_wait(&output.more, &output.lock);
		if (!output.size)
			break;
		size_t size = take_piece();
		output.writing = true;
		pthread_mutex_unlock(&output.lock);
		int error = write_all(output.out, size);
		pthread_mutex_lock(&output.lock);
		output.writing = false;
		if (error) {
			output.failed = error;
			output.size = 0;
		}
		pthread_cond_signal(&output.less);
	}
	pthread_mutex_unlock(&output.lock);
	return unused;
}

int output_begin(int fd)
{
	pthread_condattr_t clock;
	struct stat st;

	output.fd = fd;
	output.piece = !fstat(fd, &st) && S_ISREG(st.st_mode) ? PIECE : PIPE_BUF;
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&output.less, &clock);
	pthread_condattr_destroy(&clock);
	int error = tool_thread(&output.thread, serve, NULL);
	output.running = !error;
	return error;
}

bool output_put(const char *line, size_t size)
{
	bool put = true;

	pthread_mutex_lock(&output.lock);
	if (output.failed) {
		; /* dropped */
	} else if (size > QUEUE - output.size && output.size) {
		put = false;
	} else {
		size = size < QUEUE ? size : QUEUE;
		memcpy(output.queue + output.size, line, size);
		output.size += size;
		pthread_cond_signal(&output.more);
	}
	pthread_mutex_unlock(&output.lock);
	return put;
}

/* With the lock: waits for `less`. Returns false when the time is over. */
static bool wait_until(const struct timespec *until)
{
	return pthread_cond_timedwait(&output.less, &output.lock, until) != ETIMEDOUT;
}

static struct timespec in_ms(int ms)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_sec += ms / 1000;
	t.tv_nsec += ms % 1000 * 1000000L;
	if (t.tv_nsec >= 1000000000) {
		t.tv_sec++;
		t.tv_nsec -= 1000000000;
	}
	return t;
}

bool output_wait(int ms)
{
	struct timespec until = in_ms(ms);

	pthread_mutex_lock(&output.lock);
	while (output.size > QUEUE / 2 && wait_until(&until))
		;
	bool room = output.size <= QUEUE / 2;
	pthread_mutex_unlock(&output.lock);
	return room;
}

int output_failed(void)
{
	pthread_mutex_lock(&output.lock);
	int failed = output.failed;
	pthread_mutex_unlock(&output.lock);
	return failed;
}

bool output_drain(int ms)
{
	struct timespec until = in_ms(ms);

	pthread_mutex_lock(&output.lock);
	while ((output.size || output.writing) && output.running && wait_until(&until))
		;
	bool drained = !output.running || (!output.size && !output.writing);
	pthread_mutex_unlock(&output.lock);
	return drained;
}

void output_end(void)
{
	if (!output.running)
		return;
	bool drained = output_drain(0);
	pthread_mutex_lock(&output.lock);
	output.ending = true;
	pthread_cond_signal(&output.more);
	pthread_mutex_unlock(&output.lock);
	if (drained)
		pthread_join(output.thread, NULL);
	output.running = false;
}
