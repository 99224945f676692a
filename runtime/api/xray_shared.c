/* SPDX-License-Identifier: MIT */
/*
 * What objects built -fxray-shared, and those with event sleds, need of LLVM's runtime. The module finds their sleds by
 * itself and patches them in its own way, so nothing is kept here, and neither their trampolines nor the words that
 * those look at are ever used.
 */
#define XAUDIT_NO_HOOK
#include "runtime/api/xray.h"

/* Libraries look for these in the program: so they are visible in the archive, too. */
#define SHOWN __attribute__((visibility("default")))

/* Answers the number that the module has given; -1: it has none, or there is no module. */
SHOWN int32_t __xray_register_dso(const void *sleds, const void *sleds_end, const void *index, const void *index_end,
	struct xray_trampolines trampolines)
{
	(void)index;
	(void)index_end;
	(void)trampolines;
	if (sleds == sleds_end || !xaudit_api_table.xray_number_at)
		return -1;
	return xaudit_api_table.xray_number_at((uintptr_t)sleds);
}

/* The number goes with the load. */
SHOWN _Bool __xray_deregister_dso(int32_t object)
{
	return xaudit_api_table.xray_max_id && xaudit_api_table.xray_max_id(object) != 0;
}

/* The words of namespace __xray where LLVM's trampolines look for handlers. */
extern uintptr_t patched_function __asm__("_ZN6__xray19XRayPatchedFunctionE");
extern uintptr_t arg_logger __asm__("_ZN6__xray13XRayArgLoggerE");
extern uintptr_t patched_custom_event __asm__("_ZN6__xray22XRayPatchedCustomEventE");
extern uintptr_t patched_typed_event __asm__("_ZN6__xray21XRayPatchedTypedEventE");
uintptr_t patched_function SHOWN, arg_logger SHOWN, patched_custom_event SHOWN, patched_typed_event SHOWN;

/*
 * Event sleds call these once LLVM's runtime has patched them, which never happens here. In: rdi, rsi, for typed events
 * rdx: the event; the stack may be misaligned, and lies in the caller's red zone. Out: all registers as they were;
 * nothing is clobbered. Stack: the return address alone.
 */
__asm__(".pushsection .text\n"
	"	.globl __xray_CustomEvent\n"
	"	.globl __xray_TypedEvent\n"
	"	.type __xray_CustomEvent, @function\n"
	"	.type __xray_TypedEvent, @function\n"
	"	.balign 16\n"
	"__xray_CustomEvent:\n"
	"__xray_TypedEvent:\n"
	"	.cfi_startproc\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size __xray_CustomEvent, . - __xray_CustomEvent\n"
	"	.size __xray_TypedEvent, . - __xray_TypedEvent\n"
	"	.popsection\n");
