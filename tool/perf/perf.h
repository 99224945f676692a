/* SPDX-License-Identifier: MIT */
/*
 * Makes an ELF image of a file of return labels (format/labels.h), for perf: each label that is in use gets the name of
 * the function that the return address lies in, and the unwind information that holds there. So a profiler that finds
 * the label in the stead of the address shows, and finds, what it would have: the label's frame is the caller's own.
 * Where there is no unwind information for the address, the label's own says no more than that the address is the
 * caller; then a profiler that unwinds shows the caller twice.
 *
 * One thread. Memory that runs out ends the command, as in tool/base/memory.h.
 */
#ifndef XAUDIT_TOOL_PERF_PERF_H
#define XAUDIT_TOOL_PERF_PERF_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/labels.h"

/*
 * For one family: the folder that is open as `family`, of the trace that is open as `trace`. path: for messages; ends
 * with the folder's name. Returns 1; 0: it has no such file; or -1 after one line on stderr.
 */
int perf_family(const char *command, int trace, int family, const char *path);

/* For all families of a trace. Returns how many had the file, or -1 after one line on stderr for each that failed. */
int perf_trace(const char *command, int trace, const char *path);

/*
 * In a child that is about to execute a traced program: files that are mapped become plain memory, with the same
 * content. perf (up to 6.1 at least) does not forget at an exec what was mapped before, and takes the lowest address
 * where a library ever was for its place; so it would unwind through the program's libraries by the places that those
 * of this command have. What lies where mappings were ends them, in its eyes.
 */
void perf_forget_maps(void);

/* ---- objects.c: what was mapped ---- */

struct perf_load {
	uint64_t start, end, base;
	char *path, *build_id; /* in hex; "": not known */
	bool tried;
	Dwfl *dwfl; /* NULL: the file is not to be had, or is another one by now */
	Dwfl_Module *module;
};

struct perf_loads {
	struct perf_load *load; /* in the order of the records; later ones may lie where earlier ones did */
	size_t count;
};

/* Bytes that are added to. */
struct perf_bytes {
	uint8_t *at;
	size_t size, room;
};
void perf_add(struct perf_bytes *bytes, const void *from, size_t size);
void perf_bytes_free(struct perf_bytes *bytes);

/* Reads the loads of all processes of the family. False: there is nothing to read. */
bool perf_loads_read(struct perf_loads *loads, int trace, int family, const char *path);
void perf_loads_free(struct perf_loads *loads);

/* The module of what was mapped at the address last, and where; NULL: not known. */
Dwfl_Module *perf_loads_find(struct perf_loads *loads, uint64_t address, const struct perf_load **load);

/* ---- rows.c: unwind information ---- */

/*
 * Adds the instructions of an FDE that say what holds right before the address, for a CIE with CFA = rsp+8 and the
 * return address at CFA-8. False: nothing is known, or nothing that can be said so; then nothing was added.
 */
bool perf_row(struct perf_bytes *to, Dwfl_Module *module, uint64_t address);

/* ---- image.c ---- */

struct perf_label {
	uint64_t at;	  /* of its code, in the file */
	uint64_t address; /* that it stands for */
	char *name;
	size_t row, row_size; /* instructions, in the rows; row_size 0: none */
};

/* Writes the image. Returns 0, or an errno. */
int perf_image_write(int fd, const struct perf_label *label, size_t labels, const struct perf_bytes *rows);

#endif
