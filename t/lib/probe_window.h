/* SPDX-License-Identifier: MIT */
/*
 * Windows of probes (format/probe.h) that tests make by hand, of instructions that run anywhere: window_begin(), then
 * window_event() and window_code() in the order of the stub, then window_end(). A struct made_window is its own plan.
 */
#ifndef XAUDIT_T_LIB_PROBE_WINDOW_H
#define XAUDIT_T_LIB_PROBE_WINDOW_H

#include <stddef.h>
#include <string.h>

#include "x86_64/probe.h"

struct made_window {
	struct plan_window window;
	struct probe_fixup fixup[PROBE_FIXUPS_MAX];
	uint8_t code[PROBE_CODE_MAX];
	uint16_t call[PROBE_IN_WINDOW]; /* where the events' calls are in the code */
};

static inline void window_begin(struct made_window *made, uint64_t address, enum probe_way way)
{
	memset(made, 0, sizeof(*made));
	made->window = (struct plan_window){ .address = address,
		.code = offsetof(struct made_window, code),
		.fixups = offsetof(struct made_window, fixup),
		.way = (uint8_t)way,
		.other = PROBE_NONE };
}

static inline void window_fix(struct made_window *made, unsigned at, unsigned end, enum probe_fix fix, int32_t target)
{
	made->fixup[made->window.fixup_count++] = (struct probe_fixup){
		.at = (uint16_t)at, .end = (uint16_t)end, .fix = (uint8_t)fix, .target = target };
}

static inline void window_put(struct made_window *made, const void *bytes, size_t size)
{
	memcpy(made->code + made->window.code_size, bytes, size);
	made->window.code_size = (uint16_t)(made->window.code_size + size);
}

/* The event of the next probe, which is at the instruction that follows. */
static inline void window_event(struct made_window *made)
{
	static const uint8_t call[PROBE_CALL_SIZE] = PROBE_CALL;
	const unsigned at = made->window.code_size, resume = made->window.length + 1u;

	made->call[made->window.probes] = (uint16_t)at;
	window_fix(made, at + PROBE_CALL_LOW, 0, PROBE_FIX_LOW, (int32_t)resume);
	window_fix(made, at + PROBE_CALL_HIGH, 0, PROBE_FIX_HIGH, (int32_t)resume);
	window_fix(made, at + PROBE_CALL_WORD, 0, PROBE_FIX_WORD, (int32_t)made->window.probes);
	made->window.probes++;
	window_put(made, call, sizeof(call));
}

/* An instruction, which is displaced. */
static inline void window_code(struct made_window *made, const void *bytes, size_t size)
{
	memcpy(made->window.original + made->window.length, bytes, size);
	made->window.length = (uint8_t)(made->window.length + size);
	made->window.originals = made->window.length;
	window_put(made, bytes, size);
}

static inline void window_end(struct made_window *made)
{
	const unsigned at = made->window.code_size;

	window_put(made, "\xe9\0\0\0", 5);
	window_fix(made, at + 1, at + 5, PROBE_FIX_NEAR, made->window.length);
	while (made->window.code_size % 8)
		window_put(made, "\xcc", 1);
	for (uint32_t i = 0; i < made->window.probes; i++) {
		const uint32_t slot = made->window.code_size, distance = slot - (made->call[i] + PROBE_CALL_GATE + 4u);
		memcpy(made->code + made->call[i] + PROBE_CALL_GATE, &distance, 4);
		window_put(made, "\0\0\0\0\0\0\0", 8);
		window_fix(made, slot, 0, PROBE_FIX_GATE, (int32_t)i);
	}
}

#endif
