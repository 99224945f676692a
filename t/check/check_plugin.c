/* SPDX-License-Identifier: MIT */
/* A plugin for t/check/check.t; what it does wrong, its host asks it to. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

volatile int plugin_inside;
int plugin_number = 42;

int plugin_call(int n)
{
	volatile char room[64];

	memset((char *)room, n, sizeof(room));
	return n + 1 + 0 * room[3];
}

/* A worker waits here. */
void plugin_wait(void)
{
	plugin_inside = 1;
	sleep(60);
	plugin_inside = 2;
}

static void plugin_on_signal(int signal)
{
	(void)signal;
}

void plugin_install(void)
{
	struct sigaction action = {.sa_handler = plugin_on_signal};

	sigaction(SIGUSR1, &action, NULL);
}

void plugin_callback(void)
{
	plugin_number++;
}

void plugin_destroy(void *p)
{
	(void)p;
}

void plugin_close(int (*close)(void *), void *handle)
{
	close(handle);
	plugin_number++;
}

void *volatile plugin_leaked;

void plugin_leak(void)
{
	plugin_leaked = malloc(65536);
	memset(plugin_leaked, 1, 65536);
}
