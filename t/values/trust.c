/* SPDX-License-Identifier: MIT */
/* A program whose texts lie neither on its stack nor in its library: for trust.t. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
	char *text = strdup("on the heap");
	unsigned long sum = 0;

	for (int i = 0; i < 1000; i++)
		sum += strlen(text);
	/* The kernel reads these itself. */
	for (int i = 0; i < 10; i++)
		sum += fopen("/nowhere", text) == NULL;
	printf("%lu\n", sum);
	return 0;
}
