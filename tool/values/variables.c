/* SPDX-License-Identifier: MIT */
#include "tool/values/variables.h"

#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"

/* Is it called that, whatever its version is? */
static bool is_called(const char *symbol, const char *name)
{
	size_t length = strlen(name);

	return !strncmp(symbol, name, length) && (!symbol[length] || symbol[length] == '@');
}

static bool look(struct variables *variables, const char *name)
{
	GElf_Addr bias;
	int count = dwfl_module_getsymtab(variables->module);

	if (!dwfl_module_getelf(variables->module, &bias))
		return false;
	for (int i = 1; i < count; i++) {
		GElf_Sym symbol;
		GElf_Addr address;
		const char *found = dwfl_module_getsym_info(variables->module, i, &symbol, &address, NULL, NULL, NULL);
		int type = found ? GELF_ST_TYPE(symbol.st_info) : STT_FILE;
		if ((type != STT_OBJECT && type != STT_NOTYPE && type != STT_COMMON) ||
			symbol.st_shndx == SHN_UNDEF || symbol.st_shndx == SHN_ABS || !is_called(found, name))
			continue;
		variables->address = address - bias;
		return true;
	}
	return false;
}

bool variables_look(void *context, const char *name, uint64_t *address)
{
	struct variables *variables = context;

	if (!variables->module)
		return false;
	if (!variables->name || strcmp(variables->name, name) != 0) {
		free(variables->name);
		variables->name = memory_text(name, strlen(name));
		variables->found = look(variables, name);
	}
	*address = variables->address;
	return variables->found;
}

void variables_free(struct variables *variables)
{
	free(variables->name);
	*variables = (struct variables){ 0 };
}
