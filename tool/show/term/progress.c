/* SPDX-License-Identifier: MIT */
#include "tool/show/term/progress.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tool/base/now.h"
#include "tool/show/term/pager.h"

#define SECOND 1000000000u
#define CELLS  40

static struct {
	bool began, hidden, shown;
	uint64_t next; /* when it may be shown again */
} bar;

static void say(const char *text)
{
	/* What can't be shown is not missed. */
	if (write(STDERR_FILENO, text, strlen(text)) < 0)
		bar.hidden = true;
}

static void show(uint64_t done, uint64_t all)
{
	char cells[CELLS + 1], text[CELLS + 64];
	double part = all ? (double)done / (double)all : 0;
	size_t full;

	part = part > 1 ? 1 : part;
	full = (size_t)(part * CELLS);
	memset(cells, ' ', CELLS);
	memset(cells, '#', full);
	cells[CELLS] = '\0';
	snprintf(text, sizeof(text), "\r%3u %% [%s]\033[K", (unsigned)(part * 100), cells);
	say(text);
}

void progress(uint64_t done, uint64_t all)
{
	uint64_t time = tool_now();

	if (!bar.began) {
		bar.began = true;
		bar.next = time + SECOND;
		bar.hidden = !isatty(STDERR_FILENO);
	}
	if (bar.hidden || time < bar.next)
		return;
	bar.next = time + SECOND / 10;
	if (pager_runs() || tcgetpgrp(STDERR_FILENO) != getpgrp())
		return;
	show(done, all);
	bar.shown = true;
}

void progress_told(void *user, uint64_t done, uint64_t all)
{
	(void)user;
	progress(done, all);
}

void progress_end(void)
{
	if (bar.shown && !pager_runs())
		say("\r\033[K");
	bar.began = bar.shown = false;
}
