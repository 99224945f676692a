/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "audit/bind/imports.h"

#include <stdbool.h>
#include <string.h> /* strcmp */

#include "audit/bind/symbol.h"

static const char *const names[IMPORTS] = {
	[IMPORT_CUSTOM_EVENT] = "__xray_CustomEvent",
	[IMPORT_TYPED_EVENT] = "__xray_TypedEvent",
	[IMPORT_REGISTER] = "__xray_register_dso",
	[IMPORT_DEREGISTER] = "__xray_deregister_dso",
	[IMPORT_FUNCTION_HANDLER] = "_ZN6__xray19XRayPatchedFunctionE",
	[IMPORT_ARGUMENT_HANDLER] = "_ZN6__xray13XRayArgLoggerE",
	[IMPORT_CUSTOM_HANDLER] = "_ZN6__xray22XRayPatchedCustomEventE",
	[IMPORT_TYPED_HANDLER] = "_ZN6__xray21XRayPatchedTypedEventE",
	[IMPORT_DLCLOSE] = "dlclose",
	[IMPORT_CYG_ENTER] = "__cyg_profile_func_enter",
	[IMPORT_CYG_LEAVE] = "__cyg_profile_func_exit",
	[IMPORT_GMON_START] = "__monstartup",
	[IMPORT_GMON_END] = "_mcleanup",
	[IMPORT_PRCTL] = "prctl",
	[IMPORT_SYSCALL] = "syscall",
	[IMPORT_TSAN] = "__tsan_init",
	[IMPORT_MSAN] = "__msan_init",
	[IMPORT_DFSAN] = "__dfsan_arg_tls",
};

/* Most names differ from all that we look for in the first few characters. */
static inline bool may_concern(const char *name)
{
	if (name[0] == '_')
		return (name[1] == '_' && (name[2] == 'x' || name[2] == 't' || name[2] == 'm' || name[2] == 'd' ||
						      (name[2] == 'c' && name[3] == 'y'))) ||
		       (name[1] == 'm' && name[2] == 'c') ||
		       (name[1] == 'Z' && name[2] == 'N' && name[3] == '6' && name[4] == '_');
	return (name[0] == 'd' && name[1] == 'l' && name[2] == 'c') ||
	       (name[0] == 'p' && name[1] == 'r' && name[2] == 'c') ||
	       (name[0] == 's' && name[1] == 'y' && name[2] == 's' && name[3] == 'c');
}

static void note(struct imports *imports, const struct symbol_tables *t, int i, const Elf64_Sym *symbol)
{
	imports->symbol[i] = symbol;
	imports->index[i] = (uint32_t)(symbol - t->symbols);
}

/* Thread-local variables of libc, which other parts of libc use. */
static bool is_libcs(const char *name)
{
	return !strcmp(name, "errno") || !strcmp(name, "__libc_errno") || !strcmp(name, "__h_errno") ||
	       !strcmp(name, "h_errno") || !strcmp(name, "__resp");
}

static void consider(struct imports *imports, const struct symbol_tables *t, const Elf64_Sym *symbol)
{
	if (symbol->st_shndx != SHN_UNDEF || !symbol->st_name)
		return;
	const char *name = symbol_name(t, symbol);
	if (ELF64_ST_TYPE(symbol->st_info) == STT_TLS)
		imports->foreign_tls |= !is_libcs(name);
	if (!may_concern(name))
		return;
	for (int i = 0; i < IMPORTS; i++)
		if (!strcmp(name, names[i]))
			note(imports, t, i, symbol);
}

/* The number of first symbols among which all undefined ones are; 0: not known. */
static uint64_t count(const struct symbol_tables *t)
{
	if (t->gnu_hash) {
		uint64_t first = t->gnu_hash[1], filter;
		memcpy(&filter, t->gnu_hash + 4, sizeof(filter));
		/* See imports.h. A filter of one word that is 0 means that nothing is listed. */
		if (first > 1 || t->gnu_hash[2] != 1 || filter)
			return first;
	}
	return t->hash ? t->hash[1] : 0;
}

static void consider_relocations(
	struct imports *imports, const struct symbol_tables *t, const Elf64_Rela *r, uint64_t n)
{
	for (uint64_t i = 0; r && i < n; i++) {
		const Elf64_Sym *symbol = t->symbols + ELF64_R_SYM(r[i].r_info);
		if (symbol_is_inside(t->load, symbol, sizeof(*symbol)))
			consider(imports, t, symbol);
	}
}

/* May other objects be bound to this symbol? */
static bool is_definition(const Elf64_Sym *symbol)
{
	return symbol && symbol->st_shndx != SHN_UNDEF && ELF64_ST_BIND(symbol->st_info) != STB_LOCAL &&
	       (ELF64_ST_VISIBILITY(symbol->st_other) == STV_DEFAULT ||
		       ELF64_ST_VISIBILITY(symbol->st_other) == STV_PROTECTED);
}

static int find_sanitizer(const struct imports *imports, const struct symbol_tables *t)
{
	for (int i = IMPORT_TSAN; i <= IMPORT_DFSAN; i++)
		if (imports->symbol[i] || is_definition(symbol_look(t, names[i])))
			return i;
	return 0;
}

void imports_look(struct imports *imports, const struct load *load)
{
	struct symbol_tables t;

	*imports = (struct imports){ 0 };
	if (!symbol_tables(&t, load))
		return;
	if (t.rela && t.relative < t.rela_count) {
		imports->relocation[0] = t.rela + t.relative;
		imports->relocations[0] = t.rela_count - t.relative;
	}
	if (t.plt) {
		imports->relocation[1] = t.plt;
		imports->relocations[1] = t.plt_count;
	}
	imports->defines_dlclose = is_definition(symbol_look(&t, names[IMPORT_DLCLOSE]));
	uint64_t n = count(&t);
	if (n > (load->end - (uint64_t)(uintptr_t)t.symbols) / sizeof(Elf64_Sym))
		return;
	for (uint64_t i = 1; i < n; i++)
		consider(imports, &t, &t.symbols[i]);
	if (!n) {
		consider_relocations(imports, &t, imports->relocation[0], imports->relocations[0]);
		consider_relocations(imports, &t, imports->relocation[1], imports->relocations[1]);
	}
	/*
	 * A program at a fixed address lists imported functions whose address it takes; the value is the address of its
	 * PLT entry.
	 */
	for (int i = 0; n && i < IMPORTS && load->object->flags & TRACE_OBJECT_PROGRAM; i++) {
		const Elf64_Sym *symbol = imports->symbol[i] ? NULL : symbol_look(&t, names[i]);
		if (symbol && symbol->st_shndx == SHN_UNDEF)
			note(imports, &t, i, symbol);
	}
	imports->sanitizer = find_sanitizer(imports, &t);
}

unsigned imports_defined(const struct load *load, unsigned mask)
{
	struct symbol_tables t;
	unsigned defined = 0;

	if (!symbol_tables(&t, load))
		return 0;
	for (int i = 0; i < IMPORTS; i++) {
		if (mask & 1u << i && is_definition(symbol_look(&t, names[i])))
			defined |= 1u << i;
	}
	return defined;
}

uint64_t imports_definition(const struct load *load, enum import import)
{
	struct symbol_tables t;
	const Elf64_Sym *symbol = symbol_tables(&t, load) ? symbol_look(&t, names[import]) : NULL;

	return is_definition(symbol) && ELF64_ST_TYPE(symbol->st_info) == STT_FUNC ? load->base + symbol->st_value : 0;
}
