/* SPDX-License-Identifier: MIT */
/*
 * For tests of xaudit ctl when: "ready PID", then for each line "acts FROM TO" of input acts(FROM) ... acts(TO), and
 * "slow US", slow(US); answered by "called".
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int acts(int n);
int slow(int us);

int main(void)
{
	char line[100];
	int from, to;

	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		if (sscanf(line, "acts %d %d", &from, &to) == 2)
			for (int i = from; i <= to; i++)
				acts(i);
		else if (sscanf(line, "slow %d", &from) == 1)
			slow(from);
		printf("called %s", line);
		fflush(stdout);
	}
	return 0;
}
