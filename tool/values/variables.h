/* SPDX-License-Identifier: MIT */
/* Where variables of a file lie, by their symbols; of its debug file, too. One thread. */
#ifndef XAUDIT_TOOL_VALUES_VARIABLES_H
#define XAUDIT_TOOL_VALUES_VARIABLES_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdint.h>

struct variables {
	Dwfl_Module *module; /* NULL: none is known */
	char *name;	     /* the last one that was looked for */
	uint64_t address;
	bool found;
};

/* As values_symbol() of expression.h; its context is a struct variables. */
bool variables_look(void *variables, const char *name, uint64_t *address);
void variables_free(struct variables *variables);

#endif
