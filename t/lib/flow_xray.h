/* SPDX-License-Identifier: MIT */
/* Functions with XRay sleds for the scenarios of flow.h. To be included by one file. */
#ifndef XAUDIT_T_LIB_FLOW_XRAY_H
#define XAUDIT_T_LIB_FLOW_XRAY_H

#include "t/lib/flow.h"
#include "t/lib/sanitizers.h"

/* They act as patched sleds do, but jump to the stub through memory. */
extern long xray_function(long), xray_tail_function(long);
uint64_t xray_entry_stub, xray_exit_stub, xray_tail_stub, xray_body, xray_target;

__asm__("	.text\n"
	"xray_function:\n"
	"	mov $0, %r10d\n"
	"	call *xray_entry_stub(%rip)\n"
	"	sub $8, %rsp\n"
	"	call *xray_body(%rip)\n"
	"	add $8, %rsp\n"
	"	mov $0, %r10d\n"
	"	jmp *xray_exit_stub(%rip)\n"
	"xray_tail_function:\n"
	"	mov $1, %r10d\n"
	"	call *xray_entry_stub(%rip)\n"
	"	mov $1, %r10d\n"
	"	call *xray_tail_stub(%rip)\n"
	"	jmp *xray_target(%rip)\n");

static struct stub_pages sleds;

/* XRay functions have ids from 20. */
static void start_xray(void)
{
	uint64_t text = (uint64_t)(uintptr_t)xray_function & ~4095ul;

	start();
	if (core_stubs(&sleds, text - (1ul << 20), text, text + 4096, 20, 0))
		_exit(99);
	xray_entry_stub = stub_xray(&sleds, 0);
	xray_exit_stub = stub_xray(&sleds, 1);
	xray_tail_stub = stub_xray(&sleds, 2);
}

/* With ASan, preparing a thread's first event uses vector registers: prepares everything before. */
__attribute__((unused)) static void without_asan(void)
{
#if WITH_ASAN
	uint64_t slot = (uint64_t)(uintptr_t)__builtin_frame_address(0) & ~7ull;

	tramp_slow_enter(slot);
	tramp_slow_event(1, 0, slot);
#endif
}

#endif
