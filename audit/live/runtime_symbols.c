/* SPDX-License-Identifier: MIT */
#include "audit/runtime_symbols.h"
#include "audit/live/xray.h"

uint64_t resolve_handlers[4];

int32_t resolve_register(const void *start)
{
	return xray_number_at((uint64_t)(uintptr_t)start);
}

uint8_t resolve_deregister(int32_t number)
{
	return number > 0 && xray_max_id(number);
}

/* In: any. Out, clobbered: nothing. No stack but the return address. */
__asm__(".text\n"
	".p2align 4\n"
	".globl resolve_event\n"
	".hidden resolve_event\n"
	".type resolve_event, @function\n"
	"resolve_event:\n"
	".cfi_startproc\n"
	"endbr64\n"
	"ret\n"
	".cfi_endproc\n"
	".size resolve_event, . - resolve_event\n");
