/* SPDX-License-Identifier: MIT */
/*
 * Probes: events at instructions of a file, wherever these stand in their functions. A part of plans (format/plan.h).
 *
 * A probe is one address with a name; several may have the same name (a line of source that was inlined at several
 * places), and several of different names the same address: their events come one after another, in the order in which
 * they were asked for. A jump is written where the probe is, or a little before: it leads to a stub of ours, which
 * makes the events of the probes that lie in the displaced instructions, runs these, and jumps back. One jump with its
 * stub is a window.
 *
 *	in the file			with the jump			stub
 *	P	3 bytes	(probe 1)	P	jmp stub		event of probe 1
 *	P+3	4 bytes	(probe 2)	P+5	2 bytes, dead		the 3 bytes
 *	P+7				P+7				event of probe 2
 *									the 4 bytes
 *									jmp P+7
 *
 * Everything is kept at each displaced instruction: registers, flags, and the 128 bytes below the stack pointer.
 * Addresses are link-time addresses.
 *
 * Which bytes are written at `address` (enum probe_way):
 *	JUMP	e9 and 32 bits of distance
 *	SHARED	`prefix` bytes PROBE_PREFIX, e9, and 4 - `fixed` bytes of the distance: its upper `fixed` bytes are
 *		those that stand in the file, the next instruction's own. So the stub lies where these say
 *		(probe_range()), and one instruction alone is displaced, so that no branch can lead into the bytes that
 *		are written
 *	SHORT	eb and 8 bits of distance, to a JUMP in the 5 bytes at `padding`, which are nobody's
 *	ENTRY	nothing: a function's displaced entry (kind entry) has its jump there, and goes on in the window's stub
 *		where it would in its copy. The instructions are those that it displaces
 */
#ifndef XAUDIT_FORMAT_PROBE_H
#define XAUDIT_FORMAT_PROBE_H

#include <stdint.h>

#define PROBE_PREFIX	  0x2e /* a near jump does nothing with it */
#define PROBE_JUMP_SIZE  5
#define PROBE_SHORT_SIZE 2
#define PROBE_IN_WINDOW	  12   /* probes in one window, most; so many at one address, too */
#define PROBE_CODE_MAX	  1024 /* bytes of a window's stub */
#define PROBE_FIXUPS_MAX  80
#define PROBE_ORIGINAL	  24  /* bytes that are compared */
#define PROBE_WINDOWS_MAX 65536 /* of one plan; more are refused, PROBE_MANY */
#define PROBE_NONE	  UINT32_MAX

enum probe_way { PROBE_WAY_JUMP = 1, PROBE_WAY_SHARED = 2, PROBE_WAY_SHORT = 3, PROBE_WAY_ENTRY = 4, PROBE_WAYS };

/* Why there can be no probe at a place. X(number, NAME, phrase) */
#define PROBE_REFUSALS(X)                                                                                              \
	X(0, USABLE, "usable")                                                                                         \
	X(1, NO_CODE, "there is no code at this address")                                                              \
	X(2, NO_INSTRUCTION, "no instruction begins there")                                                            \
	X(3, UNDECODABLE, "bytes that are no instructions we know")                                                    \
	X(4, LOADER, "the dynamic linker itself")                                                                      \
	X(5, RESOLVER, "an IFUNC resolver, or called by one: it runs before its object is relocated")                  \
	X(6, SIGNAL_FRAME, "the kernel's return from a signal")                                                        \
	X(7, RUNTIME, "its language's runtime copies or reads it, or has it run on stacks with little room")           \
	X(8, JUDGED, "its language's runtime judges faults by the instruction pointer, which would be another")        \
	X(9, RSEQ, "in a restartable sequence, which the kernel knows by its addresses")                               \
	X(10, SYSTEM_CALL, "a system call: a thread that waits in it would begin it again elsewhere")                  \
	X(11, INSTRUCTION, "an instruction that can't run elsewhere")                                                  \
	X(12, TARGET, "an instruction that reaches too far")                                                           \
	X(13, BRANCH, "a branch or a pointer, or data that looks like one, leads into the bytes displaced")            \
	X(14, CALL, "a call returns into the bytes that would be displaced")                                           \
	X(15, SHORT, "too few bytes, and no padding near")                                                             \
	X(16, NEIGHBOUR, "another probe's jump takes the bytes that it needs")                                         \
	X(17, MANY, "too many probes in one place (12), or in one file")                                               \
	/* These the module finds when it places them. */                                                              \
	X(18, TAKEN, "the memory that its jump could reach is taken")                                                  \
	X(19, OTHER_BYTES, "the bytes in memory are not those of the file")                                            \
	X(20, SITE, "a traced function's own site lies in the bytes that it needs; one of kind entry must be on")      \
	X(21, PROTECTION, "the system refuses to change the code's protection")                                        \
	X(22, ROOM, "no memory for its stub, or for more stubs of probes (64 MiB, 4096 mappings)")                     \
	X(23, IDS_USED_UP, "all function ids are in use")                                                              \
	X(24, SHADOW_STACK, "a call would be displaced, and the processor checks returns (shadow stack)")              \
	X(25, TWICE, "the probe has this address already")                                                             \
	X(26, CONDITION, "what its condition asks for can't be had there")

enum probe_refusal {
#define X(number, NAME, phrase) PROBE_##NAME = number,
	PROBE_REFUSALS(X)
#undef X
	PROBE_REFUSAL_COUNT
};

/* What stands at an offset of a window's code, to be filled in. `target` counts from the window's address. */
enum probe_fix {
	PROBE_FIX_NEAR = 1,    /* 32 bits: load + address + target less the address of byte `end` of the code */
	PROBE_FIX_ADDRESS = 2, /* 64 bits: load + address + target */
	PROBE_FIX_LOW = 3,     /* the lower 32 bits of that */
	PROBE_FIX_HIGH = 4,    /* the upper ones */
	PROBE_FIX_WORD = 5,    /* 32 bits: the word of the window's probe number `target` */
	PROBE_FIX_GATE = 6,    /* 64 bits: the address of the gate of that probe */
};

struct probe_fixup {
	uint16_t at, end;
	uint8_t fix; /* enum probe_fix */
	uint8_t zero[3];
	int32_t target;
};

/* Windows lie in a plan in ascending order of address, but for those that are only the `other` of one before. */
struct plan_window {
	uint64_t address; /* of the first byte that is written */
	uint32_t code;	  /* position of the stub's code: PROBE_CODE_MAX bytes, most */
	uint32_t fixups;  /* position of struct probe_fixup[] */
	uint16_t code_size, fixup_count;
	uint8_t way;	/* enum probe_way */
	uint8_t length; /* of the displaced instructions, whole ones, from `address` on */
	uint8_t prefix, fixed; /* SHARED */
	int32_t padding; /* SHORT: where the JUMP is, from `address` on: PROBE_JUMP_SIZE bytes */
	/* The window that does the same by other bytes, to be tried where this one's stub has no place; PROBE_NONE */
	uint32_t other;
	uint32_t first, probes; /* its probes, in plan_head's, by number: they follow each other */
	uint8_t calls;	   /* the last displaced instruction is a call */
	uint8_t originals; /* bytes of `original` that must be in memory, from `address` on */
	/*
	 * Where in the code a thread goes on that stands 1 ... 4 bytes behind `address`, between two instructions: it
	 * is before the events of probes there. 0: no instruction begins there.
	 */
	uint16_t inside[PROBE_JUMP_SIZE - 1];
	uint8_t zero[6];
	uint8_t original[PROBE_ORIGINAL];
	uint8_t padding_original[8]; /* SHORT: PROBE_JUMP_SIZE of them */
};

/* In ascending order of window, then of address, then as they were asked for; those without one last. */
struct plan_probe {
	uint64_t address; /* of the instruction; of PROBE_NO_CODE what was asked for */
	uint64_t nearest; /* where refused: the nearest place that can be probed; 0: none */
	uint64_t semaphore; /* 2 bytes that count who listens (USDT); 0: none */
	uint32_t name;	 /* position: of its events */
	uint32_t at;	 /* position: the place, as the rules name it */
	uint32_t window; /* number; PROBE_NONE: refused */
	uint32_t refusal; /* enum probe_refusal */
	uint32_t function; /* number of the struct plan_function that has its values and conditions; PROBE_NONE: bare */
	uint32_t action; /* number of its struct plan_action; PROBE_NONE */
	uint32_t nearest_at; /* position: the nearest place, as SYMBOL or SYMBOL+0xOFFSET; 0: no symbol is known */
	uint32_t zero;
};

/* Bytes that are written at `address`. */
static inline unsigned probe_written(const struct plan_window *window)
{
	return window->way == PROBE_WAY_ENTRY	 ? 0
	       : window->way == PROBE_WAY_SHORT	 ? PROBE_SHORT_SIZE
	       : window->way == PROBE_WAY_SHARED ? window->prefix + 1u + (4u - window->fixed)
						 : PROBE_JUMP_SIZE;
}

/* The last bytes that the file has under the jump: of SHORT, under that in the padding. */
static inline const uint8_t *probe_last(const struct plan_window *window, unsigned count)
{
	return (window->way == PROBE_WAY_SHORT ? window->padding_original : window->original + window->prefix) +
	       PROBE_JUMP_SIZE - count;
}

/* As probe_range(), where the `fixed` last bytes of the distance, 1 to 4, are these. */
static inline void probe_range_by(const uint8_t *last, unsigned fixed, int64_t *low, int64_t *high)
{
	uint32_t upper = 0;

	for (unsigned i = 0; i < fixed; i++)
		upper |= (uint32_t)last[i] << (8 * (4u - fixed + i));
	*low = (int32_t)upper;
	*high = *low + (int64_t)((1ull << 8 * (4u - fixed)) - 1);
}

/*
 * Where the stub of a window must begin: *low <= stub <= *high, as distances from the end of the jump's distance (which
 * is not there as a whole where some of its bytes are fixed). For JUMP and SHORT all that 32 bits reach.
 */
static inline void probe_range(const struct plan_window *window, int64_t *low, int64_t *high)
{
	*low = INT32_MIN;
	*high = INT32_MAX;
	if (window->way == PROBE_WAY_SHARED && window->fixed)
		probe_range_by(probe_last(window, window->fixed), window->fixed, low, high);
}

#endif
