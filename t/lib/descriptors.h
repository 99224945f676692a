/* SPDX-License-Identifier: MIT */
/* How many descriptors this process has open, and of what: for tests that compare two such numbers or lists. */
#ifndef XAUDIT_T_LIB_DESCRIPTORS_H
#define XAUDIT_T_LIB_DESCRIPTORS_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h> /* atoi */
#include <unistd.h> /* readlink */

/* With the one that looks; the same number as long as none is opened or closed in between. */
static inline int descriptors(void)
{
	DIR *list = opendir("/proc/self/fd");
	int n = 0;

	while (list && readdir(list))
		n++;
	if (list)
		closedir(list);
	return n;
}

/* "NUMBER=TARGET " of each but the one that looks and those whose targets leave_out() names, if it is not NULL. */
static inline void descriptors_list(char *to, size_t size, int (*leave_out)(const char *target))
{
	DIR *list = opendir("/proc/self/fd");
	struct dirent *entry;
	size_t n = 0;

	to[0] = '\0';
	while (list && (entry = readdir(list))) {
		char path[300], target[300];
		snprintf(path, sizeof(path), "/proc/self/fd/%s", entry->d_name);
		ssize_t k = readlink(path, target, sizeof(target) - 1);
		if (k <= 0 || atoi(entry->d_name) == dirfd(list))
			continue;
		target[k] = '\0';
		if (!leave_out || !leave_out(target))
			n += (size_t)snprintf(to + n, size - n, "%s=%s ", entry->d_name, target);
	}
	if (list)
		closedir(list);
}

#endif
