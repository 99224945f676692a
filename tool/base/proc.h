/* SPDX-License-Identifier: MIT */
/*
 * What the kernel tells in small files, of processes above all: text that one call reads. Any thread. For the reader's
 * library, too: nothing of the command is needed.
 */
#ifndef XAUDIT_TOOL_PROC_H
#define XAUDIT_TOOL_PROC_H

#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

/* Reads the beginning of a file, up to a NUL at the end of text. Returns its length; or -1, and text is empty. */
__attribute__((format(printf, 3, 4))) static inline ssize_t proc_read(
	char *text, size_t size, const char *path, ...)
{
	char name[320];
	va_list args;

	va_start(args, path);
	vsnprintf(name, sizeof(name), path, args);
	va_end(args);
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n;
}

/* The name of a process, or of a thread; "": it is gone. */
static inline void proc_name(pid_t pid, char name[16])
{
	proc_read(name, 16, "/proc/%d/comm", (int)pid);
	name[strcspn(name, "\n")] = '\0';
}

/* Fields of /proc/PID/stat: a letter; the parent; the kernel's bits; when it began; the processor. */
enum proc_field { PROC_STATE = 3, PROC_PARENT = 4, PROC_FLAGS = 9, PROC_BEGAN = 22, PROC_PROCESSOR = 39 };

/* The text of such a file from that field on; "": it ends before. */
static inline const char *proc_field(const char *stat, enum proc_field field)
{
	/* The name, which is the second field, may hold anything. */
	const char *at = strrchr(stat, ')');

	for (int i = 2; at && i < (int)field; i++) {
		at = strchr(at, ' ');
		at = at ? at + 1 : NULL;
	}
	return at ? at : "";
}

/* When the process of such a file began: ns, CLOCK_BOOTTIME; 0: it is gone. */
static inline uint64_t proc_began(const char *stat)
{
	return strtoull(proc_field(stat, PROC_BEGAN), NULL, 10) * (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK));
}

#endif
