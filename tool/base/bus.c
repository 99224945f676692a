/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/base/bus.h"

#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static uintptr_t page;

/* The place is that of a file's page which is gone, so nothing is lost there. mmap() is no more than a system call. */
static void on_bus(int number, siginfo_t *info, void *context)
{
	uintptr_t at = (uintptr_t)info->si_addr & ~(page - 1);

	(void)context;
	if (info->si_code == BUS_ADRERR && at &&
		mmap((void *)at, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) !=
			MAP_FAILED)
		return;
	/* Broken memory, or a signal that somebody sent. It comes again when we return, or is sent again. */
	signal(number, SIG_DFL);
	if (info->si_code <= 0)
		raise(number);
}

void bus_begin(void)
{
	struct sigaction before, action = { .sa_sigaction = on_bus, .sa_flags = SA_SIGINFO };

	page = (uintptr_t)sysconf(_SC_PAGESIZE);
	/* What is ignored when we begin, a command that we execute has to find ignored. */
	if (!sigaction(SIGBUS, NULL, &before) && before.sa_handler == SIG_DFL)
		sigaction(SIGBUS, &action, NULL);
}
