/* SPDX-License-Identifier: MIT */
#include "audit/runtime_symbols.h"
#include "audit/live/xray.h"

uint64_t runtime_symbols_handlers[4];

int32_t runtime_symbols_register(const void *start)
{
	return xray_number_at((uint64_t)(uintptr_t)start);
}

uint8_t runtime_symbols_deregister(int32_t number)
{
	return number > 0 && xray_max_id(number);
}

/* In: any. Out, clobbered: nothing. No stack but the return address. */
__asm__(".text\n"
	".p2align 4\n"
	".globl runtime_symbols_event\n"
	".hidden runtime_symbols_event\n"
	".type runtime_symbols_event, @function\n"
	"runtime_symbols_event:\n"
	".cfi_startproc\n"
	"endbr64\n"
	"ret\n"
	".cfi_endproc\n"
	".size runtime_symbols_event, . - runtime_symbols_event\n");
