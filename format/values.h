/* SPDX-License-Identifier: MIT */
/*
 * Values of calls: the code that finds them, and the bytes that are recorded of them. The command makes the code of
 * expressions (tool/values/), the module runs it in the thread that calls (runtime/values/), readers take the bytes
 * apart by the layout that tells which values there are.
 *
 * CODE. Bytes for a machine with a stack of VALUES_DEPTH words of 64 bits. An operation is a byte of enum values_op;
 * its operand follows, little endian. There are no jumps, so code ends after so many steps as it has operations. What
 * has no value (memory that is not there) is a word without a value; so is all that is made of it, and a condition on
 * it does not hold.
 *
 * BYTES: the payload of an event of type TRACE_VALUED. Where its id has TRACE_VALUED_FLAWED, first a byte for each
 * value of the layout, which tells its enum values_state; else all are VALUES_WHOLE. Then the values, in the order of
 * the layout, which is that of the operations that put them, without gaps: words with the size that their operation
 * names (of one without a value, zeros), texts and bytes with 2 bytes before them that tell how many they are. Zeros
 * fill the last word; there is at least one.
 *
 * LAYOUTS. A record of meta for each function and type of event tells which values such events have, what they are
 * called, and how they are shown. It comes before the first of these events.
 */
#ifndef XAUDIT_FORMAT_VALUES_H
#define XAUDIT_FORMAT_VALUES_H

#include "format/trace.h"

#define VALUES_DEPTH   16   /* words on the machine's stack, most */
#define VALUES_MOST    32   /* values of a call's entry or end, most */
#define VALUES_KEPT    8    /* words that an entry keeps for the end, most */
#define VALUES_CODE    512  /* bytes of code, most */
#define VALUES_RECORDED 1536 /* bytes of an entry or an end, most */
#define VALUES_TEXT    64   /* bytes of a text, as a rule */
#define VALUES_WORDS   512  /* names of a value's numbers, most */

/* X(number, NAME, bytes of the operand, words popped, words pushed) */
#define VALUES_OPS(X)                                                                                                  \
	X(0, END, 0, 0, 0)                                                                                             \
	X(1, BYTE, 1, 0, 1)        /* its operand, with its sign */                                                    \
	X(2, HALF, 4, 0, 1)        /* its operand, with its sign */                                                    \
	X(3, WORD, 8, 0, 1)        /* its operand */                                                                   \
	X(4, REGISTER, 1, 0, 1)    /* a general register: enum values_register */                                      \
	X(5, STACK, 1, 0, 1)       /* an argument on the stack; 0: the first one there */                              \
	X(6, FLOAT, 1, 0, 1)       /* the lower half of a vector register: 0 to 7 */                                   \
	X(7, BASE, 0, 0, 1)        /* what to add to addresses of the function's object */                             \
	X(8, KEPT_WORD, 1, 0, 1)   /* at an end: what the entry has kept in this place */                              \
	X(9, TASK, 1, 0, 1)        /* about the thread: enum values_task */                                            \
	X(10, ADD, 0, 2, 1)                                                                                            \
	X(11, SUBTRACT, 0, 2, 1)                                                                                       \
	X(12, MULTIPLY, 0, 2, 1)                                                                                       \
	X(13, AND, 0, 2, 1)        /* of bits */                                                                       \
	X(14, OR, 0, 2, 1)                                                                                             \
	X(15, SHIFT_LEFT, 1, 1, 1)                                                                                     \
	X(16, SHIFT_RIGHT, 1, 1, 1) /* zeros come from above */                                                        \
	X(17, SIGNED, 1, 1, 1)     /* its lower 1, 2 or 4 bytes, with their sign */                                    \
	X(18, UNSIGNED, 1, 1, 1)   /* its lower 1, 2 or 4 bytes */                                                     \
	X(19, READ, 1, 1, 1)       /* 1, 2, 4 or 8 bytes of memory at that address */                                  \
	X(20, EQUAL, 0, 2, 1)      /* 1: the lower word equals the upper one; else 0. As all that follow */            \
	X(21, LESS, 0, 2, 1)       /* with signs */                                                                    \
	X(22, BELOW, 0, 2, 1)      /* without */                                                                       \
	X(23, LESS_FLOAT, 0, 2, 1) /* as double */                                                                     \
	X(24, EQUAL_FLOAT, 0, 2, 1)                                                                                    \
	X(25, NOT, 0, 1, 1)        /* 1 of 0, 0 of all else */                                                         \
	X(26, WIDEN, 0, 1, 1)      /* the double that equals the float in its lower half */                            \
	X(27, UNLESS, 0, 1, 0)     /* 0, or without a value: the call is left out, and nothing more is done */         \
	X(28, KEEP, 1, 1, 0)       /* at an entry: keeps it for the end in this place */                               \
	X(29, PUT, 1, 1, 0)        /* a value: its lower 1, 2, 4 or 8 bytes */                                         \
	X(30, PUT_TEXT, 2, 1, 0)   /* a value: the text at that address, up to its NUL; most so many bytes */          \
	X(31, PUT_BYTES, 2, 2, 0)  /* a value: so many bytes (upper word) at the address (lower); most as many */      \
	X(32, PUT_NAME, 0, 0, 0)   /* a value: the thread's name, a text */                                            \
	X(33, TRUST, 0, 0, 0)      /* before PUT_TEXT, PUT_BYTES: the memory is read as it is, wherever it lies */     \
	X(34, PUT_NONE, 0, 0, 0)   /* a value that is nowhere: it has no bytes */                                      \
	X(35, VARIABLE, 0, 1, 1)   /* where the variable is that lies at this address of the function's object */      \
	X(36, CHAIN, 1, 0, 1)      /* key of the chain of callers, at most so many (chain.h): once */                  \
	X(37, SAMPLE, 9, 0, 1)     /* at an entry, once: only samples are recorded; a byte, enum values_sample, and 8, \
				      the interval. It, if the call gives a sampled block; else 0 */

enum values_op {
#define X(number, NAME, operand, popped, pushed) VALUES_##NAME = number,
	VALUES_OPS(X)
#undef X
		VALUES_OPERATIONS
};

/* In the order of struct tramp_registers (x86_64/contract.h). */
enum values_register {
	VALUES_RAX, VALUES_RBX, VALUES_RCX, VALUES_RDX, VALUES_RSI, VALUES_RDI, VALUES_RBP, VALUES_RSP,
	VALUES_R8, VALUES_R9, VALUES_R10, VALUES_R11, VALUES_R12, VALUES_R13, VALUES_R14, VALUES_R15,
	VALUES_REGISTERS
};

enum values_task { VALUES_TASK_TID, VALUES_TASK_CPU, VALUES_TASK_CALLS, VALUES_TASK_ERRNO, VALUES_TASKS };

/*
 * As what function a sampled one gives and frees blocks of memory; so the module knows where sizes and addresses are.
 * RELAYS, beside it: where the address is NULL (realloc), or the alignment 16 at most, it goes on as the malloc of its
 * object; reallocarray as realloc. So these count, where they are traced in their own code.
 */
enum values_sample {
	VALUES_SAMPLE_MALLOC = 1,
	VALUES_SAMPLE_CALLOC = 2,
	VALUES_SAMPLE_ALIGNED_ALLOC = 3,
	VALUES_SAMPLE_POSIX_MEMALIGN = 4,
	VALUES_SAMPLE_FREE = 5,
	VALUES_SAMPLE_REALLOC = 6,
	VALUES_SAMPLE_REALLOCARRAY = 7,
	VALUES_SAMPLE_NOTHING = 8, /* no call of it is recorded */
	VALUES_SAMPLES,
	VALUES_SAMPLE_RELAYS = 0x80
};

#define VALUES_SAMPLE_MOST (1ull << 40) /* bytes of an interval */

/* What a value is to readers: how its bytes are shown. A layout has one for each value. */
enum values_type {
	VALUES_TYPE_SIGNED = 1,
	VALUES_TYPE_UNSIGNED = 2,
	VALUES_TYPE_HEX = 3,
	VALUES_TYPE_POINTER = 4,
	VALUES_TYPE_FLOAT = 5, /* of 4 bytes */
	VALUES_TYPE_DOUBLE = 6,
	VALUES_TYPE_TEXT = 7,
	VALUES_TYPE_BYTES = 8,
	VALUES_TYPE_ERRNO = 9, /* of 4 bytes */
	VALUES_TYPE_NONE = 10, /* it has no bytes: the compiler has optimised the parameter out */
	VALUES_TYPE_STRUCTS = 11, /* bytes: structures, one after another; `words` tells of their members */
	VALUES_TYPE_STACK = 12,	  /* of 8 bytes: the key of a chain of callers (chain.h); one in a layout at most */
};

enum values_state {
	VALUES_WHOLE,
	VALUES_CUT,    /* a text or bytes: there is more */
	VALUES_FAULT,  /* memory that is not there, or may not be read */
	VALUES_UNREAD, /* it was not asked for, since a filter of system calls might kill for that */
	VALUES_NULL,   /* the address of a text, bytes, or what is read, is 0 */
	VALUES_STATES
};

/* What a value is in its call. */
enum values_role {
	VALUES_ROLE_OTHER,    /* it is shown by its name */
	VALUES_ROLE_ARGUMENT, /* `place` tells which: 0 is the first; if an end has it, the function wrote it (`out`) */
	VALUES_ROLE_RESULT,
	VALUES_ROLE_ERRNO, /* it counts where the result is `fails` of the layout */
	VALUES_ROLE_REQUEST, /* of an entry: the call begins a request, which this names */
};

/* Bits of trace_value.marks. */
enum values_marks {
	VALUES_MARK_FD = 1,	/* a descriptor */
	VALUES_MARK_OCTAL = 2,
	VALUES_MARK_FLAGS = 4,	/* its names are of bits, else of whole numbers */
	VALUES_MARK_OUT = 8,	/* an argument that tells what the function wrote */
	VALUES_MARK_MORE = 16,	/* the last argument: the function takes more, of which nothing is known */
	VALUES_MARK_BESIDE = 32, /* of an end: it stands beside what the entry had in its place, not instead of it */
};

struct trace_value {
	uint32_t name;	/* offset in the names; the string there ends with NUL */
	/*
	 * Offset in the names of "NUMBER=WORD,NUMBER=WORD" (numbers decimal, with sign), or of "". Of flags,
	 * NUMBER/MASK has the word where the bits of MASK are NUMBER; without MASK, where the bits of NUMBER are set.
	 * 0 has its word only if all bits are 0. Readers take up to VALUES_WORDS of them.
	 * Of structures: "SIZE;MEMBER;MEMBER", or "SIZE[];..." of an array. SIZE is that of each. A member is
	 * "NAME,OFFSET,TYPE,SIZE,MARKS", or that and ",NUMBER=WORD..." behind it, numbers as above. Members with OUT: a
	 * structure in which all of these are 0 is not shown. What has a name like "data.u32" is shown in braces.
	 */
	uint32_t words;
	uint8_t type;	/* enum values_type */
	uint8_t size;	/* bytes of a number; 0: a text, bytes, or nothing */
	uint8_t role;	/* enum values_role */
	uint8_t place;
	uint8_t marks;
	uint8_t reserved;
	/*
	 * Offset in the names of "PLACE,NUMBER/MASK,NUMBER/MASK" (decimal), or of "": it is passed only where the bits
	 * of a MASK in the argument at PLACE, of the same event, are its NUMBER; with a ! before PLACE, where those of
	 * none are. Else its bytes tell nothing. Of several in one place at most one should be.
	 */
	uint16_t when;
};

/* A record of meta, of type TRACE_REC_LAYOUT. */
struct trace_layout {
	struct trace_record head;
	uint32_t layout;     /* its number in this process folder, from 1 */
	uint32_t event;	     /* TRACE_WORD(): type and id of the events that have these values */
	uint32_t count;	     /* of values, 1 to VALUES_MOST */
	uint32_t names_size; /* bytes of the names, which follow the array; they begin with a NUL */
	int64_t fails;	     /* a result that means failure */
	uint32_t has_fails;  /* 0: `fails` tells nothing */
	uint32_t reserved;
	struct trace_value value[];
};

#endif
