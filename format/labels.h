/* SPDX-License-Identifier: MIT */
/*
 * The file of return labels in a family's folder (`labels`): what module and command agree on. x86_64/labels.h tells
 * what it is for, and how it is filled while processes run.
 *
 *	LABELS_HEAD_AT	struct labels_head
 *	LABELS_AT	the return addresses: LABELS_ENTRIES entries of LABELS_ENTRY bytes
 *	LABELS_CODE_AT	their labels: the code of each is as far behind its address as that of any other
 *	LABELS_BEHIND	zeros, up to LABELS_MAPPED
 *
 * `xaudit perf` makes an ELF image of it, while processes use it or when they have ended, again and again: it writes
 * sections behind the labels, then the ELF header at the beginning, where the head has left room for it. Addresses of
 * that image are positions in the file.
 */
#ifndef XAUDIT_FORMAT_LABELS_H
#define XAUDIT_FORMAT_LABELS_H

#define LABELS_NAME "labels"
#define LABELS_MAGIC   "xaudlbl\1"
#define LABELS_HEAD_AT 512
#define LABELS_AT      4096

#define LABELS_ENTRY 16
#define LABELS_CALL  LABELS_TABLE	/* from an entry to its call */
#define LABELS_LABEL (LABELS_TABLE + 4) /* and to the label behind that */

#define LABELS_FREE 0xffffffffffffffff /* in a free entry; 0 is an address that coroutines begin with */

/* The first entry for a return address: the upper bits of its product with this. More entries follow the last. */
#define LABELS_HASH    0x9e3779b97f4a7c15
#define LABELS_HASHED  32768
#define LABELS_SHIFT   45 /* so the product is moved to the right; then 4 bits are cleared */
#define LABELS_ENTRIES (LABELS_HASHED + 256)
#define LABELS_TABLE   (LABELS_ENTRIES * LABELS_ENTRY)

#define LABELS_CODE_AT (LABELS_AT + LABELS_TABLE)
#define LABELS_BEHIND (LABELS_CODE_AT + LABELS_TABLE) /* here the command's sections begin */
#define LABELS_MAPPED (LABELS_BEHIND + 40 * LABELS_ENTRIES) /* so far it is mapped; it is never smaller */

#ifndef __ASSEMBLER__

#include <stdint.h>

struct labels_head {
	char magic[8];
	uint64_t address; /* where the file is mapped, in all processes */
	uint64_t missed;  /* calls that got no label of their own */
};

struct labels_entry {
	uint64_t address;
	uint64_t unused;
};
_Static_assert(sizeof(struct labels_entry) == LABELS_ENTRY, "part of the format");

/* What is written while processes run. */
struct labels_file {
	uint8_t before[LABELS_HEAD_AT];
	struct labels_head head;
	uint8_t between[LABELS_AT - LABELS_HEAD_AT - sizeof(struct labels_head)];
	struct labels_entry table[LABELS_ENTRIES];
};
_Static_assert(sizeof(struct labels_file) == LABELS_CODE_AT, "part of the format");

#endif
#endif
