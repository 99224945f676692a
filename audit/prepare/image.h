/* SPDX-License-Identifier: MIT */
/*
 * What can be read of an object in memory at la_objopen: its segments are mapped, but only its dynamic section is
 * relocated (ld.so has made its d_ptr values absolute, except in the vDSO). Only reads; under ld.so's lock.
 */
#ifndef XAUDIT_IMAGE_H
#define XAUDIT_IMAGE_H

#include <link.h> /* struct link_map */
#include <stdbool.h>
#include <stdint.h>

struct image {
	uint64_t base; /* load address */
	uint64_t start, end; /* of the mapping */
	const Elf64_Phdr *phdr;
	unsigned phnum;
	const uint8_t *build_id; /* in the object's memory */
	uint32_t build_id_len;
	const char *soname; /* in the object's memory, or NULL */
	int textrel;
	unsigned noted; /* kinds of sites that a note says it has (audit/match/kinds.h): a mask */
};

/*
 * Returns 1, or 0 when the object's program headers can't be found. main: it is the program (the kernel tells where its
 * headers are).
 */
int image_read(struct image *image, const struct link_map *map, int main);

/* The same of the module itself, which ld.so does not announce; without its soname. */
int image_read_own(struct image *image);

/*
 * A hash that hardly any other file has: of its program headers and of the first 4 kB of its symbols' hash table, which
 * depend on the symbols' names. Cheap: ld.so reads these pages anyway. To be called before we write anything into the
 * object.
 */
uint64_t image_print(const struct image *image, const struct link_map *map);

/* A note of an object's PT_NOTE segments. Begin with zeros. */
struct image_note {
	uint32_t type, name_size, size;
	const uint8_t *name, *description; /* in the object's memory */
	unsigned segment;	   /* for the next one */
	const uint8_t *next, *end;
};

/* Goes on to the next note. Returns 0 when there is none. */
int image_next_note(const struct image *image, struct image_note *note);

/* Is it the owner's note of that type? */
bool image_note_is(const struct image_note *note, const char *owner, uint32_t type);

/* Is address ... address+size within a writable segment? */
bool image_is_writable(const struct image *image, uint64_t address, uint64_t size);

#endif
