/* SPDX-License-Identifier: MIT */
/* A process that `xaudit ctl` looks into: what the kernel tells of it, and its memory. One thread. */
#ifndef XAUDIT_TOOL_CTL_PROCESS_H
#define XAUDIT_TOOL_CTL_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "runtime/control.h"

struct ctl_mapping {
	uint64_t start, end;
	bool readable, writable, executable;
	char *path; /* as in /proc/PID/maps, "" for none */
};

struct ctl_process {
	pid_t pid;  /* of the process, also if the user named a thread */
	int memory;	/* /proc/PID/mem */
	/*
	 * `memory` can be written; not if /proc is mounted read-only: then code is written by ptrace, a word at a time
	 */
	bool writable;
	bool denied; /* its filter of system calls would have killed it for one that was needed */
	uint64_t block_at;
	struct control_block block; /* as it was when it was read; pointers are addresses in the process */
	struct ctl_mapping *mapping; /* in order; when it was opened, or ctl_maps() was called */
	size_t mappings, path_bytes;
};

/* Reads the list of mappings again, silently; returns whether there is one. */
bool ctl_maps(struct ctl_process *process);
void ctl_maps_free(struct ctl_process *process);
const struct ctl_mapping *ctl_mapping(const struct ctl_process *process, uint64_t address);

/*
 * The data of a process may be forged: lists without an end, counts of any size. So reading is bounded, in reads, bytes
 * and time, from ctl_limit_begin() on, which ctl_open(), each attempt of ctl_request(), and what takes long in between
 * call; beyond the bounds ctl_read() fails.
 */
void ctl_limit_begin(void);
bool ctl_limit_reached(void);

/*
 * Reads or writes memory of the process, all of it or returns false; silent. Memory to be written must be writable for
 * the process, too.
 */
bool ctl_read(const struct ctl_process *process, uint64_t address, void *to, size_t size);
bool ctl_write(const struct ctl_process *process, uint64_t address, const void *from, size_t size);

/* Of something in the process, by a pointer that was read there. */
static inline uint64_t ctl_at(const void *pointer)
{
	return (uint64_t)(uintptr_t)pointer;
}

/* A string of the process, which the caller frees; NULL if there is none, or it is longer than 4095 bytes. Silent. */
char *ctl_text(const struct ctl_process *process, uint64_t address);

/* One of up to so many bytes, with its NUL. */
char *ctl_text_up_to(const struct ctl_process *process, uint64_t address, size_t most);

/*
 * Path of the folder that the process's trace is in (p<pid>), as this process finds it; the caller frees it. *place: of
 * its head there. NULL: it has none (yet). Silent.
 */
char *ctl_folder(const struct ctl_process *process, uint32_t *place);

/* Why nothing is recorded in the process, for people; the caller frees it. NULL: no such reason is known. Silent. */
char *ctl_why(const struct ctl_process *process);

/* From /proc: the number after a key of PID's status ("TracerPid"), or -1; the state, 0 if it is gone. */
long ctl_status_number(pid_t pid, pid_t tid, const char *key);
char ctl_state(pid_t pid, pid_t tid);
uint64_t ctl_begin(pid_t pid); /* when it began: ns, CLOCK_BOOTTIME; 0: it is gone */
bool ctl_is_kernels(pid_t pid); /* one that never has memory of its own */

/* Says why the kernel refuses to let us look into the process, or at its threads. error: errno. */
void ctl_explain(pid_t pid, pid_t tid, int error);

/*
 * From now on nothing is said of processes that end meanwhile: those of a tree or name were not asked for themselves.
 */
void ctl_may_end(bool may_end);

/* Says that it has ended while ctl was at it. */
void ctl_say_ended(pid_t pid);

/* Says that there is no such process. */
void ctl_say_gone(pid_t pid);

/* Was something left unsaid since, so that what failed did so since a process ended? */
bool ctl_ended(void);

#endif
