/* SPDX-License-Identifier: MIT */
/*
 * Tables of absolute addresses are not relocated yet in la_objopen, and what the file holds there depends on the
 * linker: ld.bfd writes the link-time address, ld.lld zero, with the address in .rela.dyn alone. So we apply .rela.dyn
 * to the contents. With packed relative relocations (RELR), and in a program with fixed addresses, the address always
 * is in place and nothing has to be done.
 */
#ifndef XAUDIT_AUDIT_SITE_RELOCATION_H
#define XAUDIT_AUDIT_SITE_RELOCATION_H

#include <stddef.h>
#include <stdint.h>

struct site_file;

/*
 * Applies the object's own relocations, as far as the file alone decides them, to a copy of its words at this address.
 */
void site_relocate(const struct site_file *file, uint64_t address, uint64_t *word, size_t count);

/* Number of JUMP_SLOT relocations. */
size_t site_jump_slots(const struct site_file *file);

#endif
