/* SPDX-License-Identifier: MIT */
/* Library of actions_server.c. */
#include <unistd.h>

int look_up(int number);
int look_up(int number)
{
	return number % 10;
}

/* Before the wait, and behind it, others are called. */
int handle_request(int number, int slow);
int handle_request(int number, int slow)
{
	int sum = look_up(number);

	if (slow)
		usleep(20000);
	return sum + look_up(number + 1);
}
