/* SPDX-License-Identifier: MIT */
/*
 * Clients of redis, for a test of snapshots: actions_redis SOCKET MS SLOWS. In each ms each of 8 connections that has
 * its answer sends a request, ECHO c<connection>.<number>, from 1 on; SLOWS times one more sends SORT of the list
 * `slow`, whose least element is 0.5. Prints how many requests there were and how many answers were wrong, and how long
 * these waited, in us: beside a slow one, from the end of that; sent in the 100 ms after one; and all others.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define LINKS 9 /* the last one is that of slow requests */
#define TICK  1000000l /* ns */
#define AFTER (100 * TICK)
#define MORE  60000 /* ticks, most, until all slow requests were sent on a busy machine */

struct sample {
	long sent, answered; /* ns */
};

static struct link {
	int fd;
	bool waits;
	long number, sent;
	char expected[64], answer[64];
	size_t length;
} link_of[LINKS];

static struct sample *echoed, *slow;
static size_t echoes, slows;
static unsigned wrong;

static long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000 + t.tv_nsec;
}

static _Noreturn void fail(const char *what)
{
	fprintf(stderr, "actions_redis: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int connect_to(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof(address)))
		fail(path);
	return fd;
}

static void ask(struct link *link)
{
	static const char sort[] = "*5\r\n$4\r\nSORT\r\n$4\r\nslow\r\n$5\r\nLIMIT\r\n$1\r\n0\r\n$1\r\n1\r\n";
	char text[96];
	const char *request = sort;

	link->number++;
	if (link == &link_of[LINKS - 1]) {
		strcpy(link->expected, "*1\r\n$3\r\n0.5\r\n");
	} else {
		snprintf(text, sizeof(text), "c%d.%ld", (int)(link - link_of), link->number);
		snprintf(link->expected, sizeof(link->expected), "$%zu\r\n%s\r\n", strlen(text), text);
		snprintf(text, sizeof(text), "*2\r\n$4\r\nECHO\r\n%s", link->expected);
		request = text;
	}
	link->length = 0;
	link->waits = true;
	link->sent = now();
	if (write(link->fd, request, strlen(request)) != (ssize_t)strlen(request))
		fail("write");
}

static void take(struct link *link)
{
	ssize_t n = read(link->fd, link->answer + link->length, sizeof(link->answer) - link->length);
	long at = now();

	if (n <= 0)
		fail("read");
	link->length += (size_t)n;
	if (link->length < strlen(link->expected) && !memcmp(link->answer, link->expected, link->length))
		return;
	wrong += link->length != strlen(link->expected) ||
		memcmp(link->answer, link->expected, link->length) != 0;
	link->waits = false;
	*(link == &link_of[LINKS - 1] ? &slow[slows++] : &echoed[echoes++]) = (struct sample){ link->sent, at };
}

/* Waits for answers until then. Returns whether any is awaited still. */
static bool wait_until(long then)
{
	struct pollfd fd[LINKS];
	bool waits;

	do {
		waits = false;
		for (int i = 0; i < LINKS; i++) {
			fd[i] = (struct pollfd){ link_of[i].waits ? link_of[i].fd : -1, POLLIN, 0 };
			waits |= link_of[i].waits;
		}
		long left = then - now();
		struct timespec timeout = { left > 0 ? left / 1000000000 : 0, left > 0 ? left % 1000000000 : 0 };
		if (ppoll(fd, LINKS, &timeout, NULL) < 0 && errno != EINTR)
			fail("poll");
		for (int i = 0; i < LINKS; i++)
			if (fd[i].revents)
				take(&link_of[i]);
	} while (now() < then);
	return waits;
}

static int by_size(const void *a, const void *b)
{
	const long x = *(const long *)a, y = *(const long *)b;

	return (x > y) - (x < y);
}

static void print(const char *name, long *waited, size_t n)
{
	size_t long_ones = 0;

	if (!n) {
		printf("%s: 0\n", name);
		return;
	}
	qsort(waited, n, sizeof(*waited), by_size);
	for (size_t i = 0; i < n; i++)
		long_ones += waited[i] > 1000000;
	printf("%s: %zu, median %ld, 99%% %ld, 99.9%% %ld, most %ld us, %zu above 1 ms\n", name, n,
		waited[n / 2] / 1000, waited[n - 1 - n / 100] / 1000, waited[n - 1 - n / 1000] / 1000,
		waited[n - 1] / 1000, long_ones);
}

/* Where a request lies to the slow ones: 0 beside one, 1 after one, 2 elsewhere. *from: when that one ended. */
static int where(const struct sample *s, long *from)
{
	int found = 2;

	for (size_t i = 0; i < slows; i++) {
		if (s->sent <= slow[i].answered && s->answered >= slow[i].sent) {
			*from = slow[i].answered;
			return 0;
		}
		if (s->sent > slow[i].answered && s->sent - slow[i].answered < AFTER)
			found = 1;
	}
	return found;
}

static void print_all(void)
{
	static const char *const name[] = { "beside slow ones", "after slow ones", "others" };
	long *waited[3];
	size_t count[3] = { 0 };

	for (int i = 0; i < 3; i++)
		if (!(waited[i] = calloc(echoes + 1, sizeof(**waited))))
			fail("memory");
	for (size_t i = 0; i < echoes; i++) {
		long from = echoed[i].sent;
		int at = where(&echoed[i], &from);
		long took = echoed[i].answered - (from > echoed[i].sent ? from : echoed[i].sent);
		waited[at][count[at]++] = took > 0 ? took : 0;
	}
	printf("%zu requests, %zu slow, %u wrong\n", echoes, slows, wrong);
	for (int i = 0; i < 3; i++) {
		print(name[i], waited[i], count[i]);
		free(waited[i]);
	}
	long *lasted = calloc(slows + 1, sizeof(*lasted));
	for (size_t i = 0; lasted && i < slows; i++)
		lasted[i] = slow[i].answered - slow[i].sent;
	print("slow ones", lasted, lasted ? slows : 0);
	free(lasted);
}

int main(int argc, char **argv)
{
	const long ticks = argc > 3 ? atol(argv[2]) : 0, times = argc > 3 ? atol(argv[3]) : 0;
	struct link *last = &link_of[LINKS - 1];
	const long start = now() + TICK;

	if (ticks < 1 || times < 0 || times > ticks)
		return 2;
	echoed = calloc((size_t)(ticks + MORE) * LINKS, sizeof(*echoed));
	slow = calloc((size_t)times + 1, sizeof(*slow));
	if (!echoed || !slow)
		fail("memory");
	for (int i = 0; i < LINKS; i++)
		link_of[i].fd = connect_to(argv[1]);
	for (long tick = 0; tick < ticks || (last->number < times && tick < ticks + MORE); tick++) {
		wait_until(start + tick * TICK);
		for (int i = 0; i < LINKS - 1; i++)
			if (!link_of[i].waits)
				ask(&link_of[i]);
		/* In the middle of its share of the time. */
		if (!last->waits && last->number < times && tick >= (2 * last->number + 1) * ticks / (2 * times))
			ask(last);
	}
	for (int i = 0; i < 60000 && wait_until(now() + TICK); i++)
		;
	print_all();
	return wrong != 0;
}
