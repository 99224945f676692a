/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "audit/bind/dladdr_bind.h"

#include <string.h> /* strcmp */

#include "audit/bind/symbol.h"
#include "audit/live/dladdr.h"
#include "audit/live/values.h"

void dladdr_note(const struct load *load)
{
	if (load->namespace != LM_ID_BASE || !symbol_is_libc(load))
		return;
	for (int i = 0; i < DLADDR_PAIRS; i++)
		if (!dladdr_pairs[i].real)
			dladdr_pairs[i].real = symbol_find(load, dladdr_pairs[i].name);
}

uint64_t dladdr_through(const struct load *to, const char *name, uint64_t address)
{
	/* Nearly all names end here. */
	if ((name[0] != 'd' || name[1] != 'l') && (name[0] != 'b' || name[1] != 'a' || name[2] != 'c') &&
		(name[0] != 'm' || name[1] != 'p') && (name[0] != 'p' || name[1] != 'k'))
		return address;
	for (int i = 0; i < (values_are_wanted() ? DLADDR_PAIRS : DLADDR_PROTECT); i++)
		if (!strcmp(name, dladdr_pairs[i].name) && dladdr_pairs[i].real && symbol_is_libc(to))
			return dladdr_pairs[i].ours;
	return address;
}
