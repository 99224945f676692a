/* SPDX-License-Identifier: MIT */
/* The parts of ELF that depend on the machine: its number, and the relocations that we look at. */
#ifndef XAUDIT_X86_64_ELF_H
#define XAUDIT_X86_64_ELF_H

#include <elf.h>

#define MACHINE_ELF EM_X86_64

enum machine_relocation {
	MACHINE_RELOCATION_SLOT = R_X86_64_JUMP_SLOT,	  /* a slot of the PLT: bound at the first call, or at start */
	MACHINE_RELOCATION_DATA = R_X86_64_GLOB_DAT,	  /* a word of the global offset table: a symbol's address */
	MACHINE_RELOCATION_WORD = R_X86_64_64,		  /* any word: a symbol's address and the addend */
	MACHINE_RELOCATION_RELATIVE = R_X86_64_RELATIVE,  /* any word: the load address and the addend */
};

#endif
