/* SPDX-License-Identifier: MIT */
/*
 * What is fuzzed: all that the library can read of a trace. Damage of any kind is an error value; what must not be is
 * what sanitizers find, and more work or memory than the trace's size accounts for.
 */
#ifndef XAUDIT_T_FUZZ_READ_H
#define XAUDIT_T_FUZZ_READ_H

#include <stdint.h>

/*
 * Opens the trace and goes through all of it, by each entry of the library, and as `xaudit trace` does. bytes: of all
 * its files; more things than these can hold end the process by abort(), and so does a thing that contradicts itself.
 * Returns how many things there were, so that nobody fuzzes what nothing can be read of.
 */
uint64_t fuzz_read(const char *path, uint64_t bytes);

#endif
