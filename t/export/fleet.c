/* SPDX-License-Identifier: MIT */
/* fleet ROUNDS SLOW: five calls each; the first of ten rounds belongs to the request order-N. */
#include "t/export/fleet.h"

#include <stdio.h>
#include <stdlib.h>
#include <xaudit.h>

int main(int argc, char **argv)
{
	unsigned rounds = argc > 2 ? (unsigned)atoi(argv[1]) : 0;
	char name[32];

	for (unsigned i = 0; i < rounds; i++) {
		if (i < 10) {
			snprintf(name, sizeof(name), "order-%u", i);
			xaudit_request(name);
		}
		handle(i, "a secret text", atoi(argv[2]));
		if (i < 10)
			xaudit_request_end();
	}
	return 0;
}
