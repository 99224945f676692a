/* SPDX-License-Identifier: MIT */
/* The search table of .eh_frame_hdr (elf_file.h has the file): starts of functions where symbols are missing. */
#ifndef XAUDIT_AUDIT_SITE_FRAME_H
#define XAUDIT_AUDIT_SITE_FRAME_H

#include <stddef.h>
#include <stdint.h>

struct site_file;

/* Starts of functions in the search table of .eh_frame_hdr: pairs of 32 bits (start, place of its FDE), by start. */
struct site_frames {
	int loaded;
	const uint8_t *table;
	size_t count;
	size_t last;	  /* as in struct site_names */
	uint64_t address; /* what the pairs are relative to */
};

/* Fills file->frames; count is 0 when there is no table that we can read. */
void site_frames_load(struct site_file *file);

/* Address of start i (< frames.count). */
uint64_t site_frame(const struct site_file *file, size_t i);

/* Size of the code that its FDE covers; 0: unknown. */
uint64_t site_frame_size(const struct site_file *file, size_t i);

/* Index of the first start at or after the address; frames.count when there is none. */
size_t site_frame_at(struct site_file *file, uint64_t address);

#endif
