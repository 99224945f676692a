/* SPDX-License-Identifier: MIT */
/*
 * What the module has in place of a libc. It needs no library: ld.so would map a second libc for it, relocate that and
 * run its constructors, in each process that is traced, for more than all that the module does itself
 * (doc/measurements.md). So the few functions of libc that audit/ calls are defined here, under libc's own names, for
 * the module alone: what else links audit/ (tests) has libc's. They mean what the C standard or the manual says, and
 * nothing else of libc is there: no errno, no heap, no stdio. What is missing shows when the module is linked.
 *
 * ld.so calls our constructor, before la_version, as it calls any: with the arguments and the environment. Behind the
 * environment lies the kernel's vector of facts, for getauxval(). Both are the process's own, as they are libc's.
 *
 * All functions: any thread, async-signal-safe, general registers only, no lock. What the constructor stores never
 * changes.
 *
 * To have ld.so or the program's libc do something, call its own function by pointer (audit/bind/symbol.h). These take
 * the namespace of an object from their return address, which is then in ours.
 */
#ifndef XAUDIT_AUDIT_FREESTANDING_H
#define XAUDIT_AUDIT_FREESTANDING_H

#include <stddef.h> /* size_t */
#include <stdint.h>

/*
 * The arguments, one behind the other as the kernel laid them out, and their length in bytes; NULL: they don't lie so,
 * or there are others before them, which were ld.so's.
 */
const char *freestanding_command(size_t *length);

/* An address in ld.so's code. */
uint64_t freestanding_loader(void);

/* Address of ld.so's function of that name; 0: it has none, or the kernel does not tell where ld.so is. */
uintptr_t freestanding_of_loader(const char *name);

#endif
