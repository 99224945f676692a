/* SPDX-License-Identifier: MIT */
/*
 * xaudit.h: what a program or plugin can say to xaudit, and ask it, while it runs. Link with libxaudit-api
 * (pkg-config xaudit), shared or static; several objects of a process may each have a copy.
 *
 * The library does nothing by itself. When the process runs under xaudit (`xaudit record`, or LD_AUDIT=libxaudit.so),
 * the module finds each copy as its object is loaded and connects it; else every call answers -ENOSYS at once. A
 * module older than the library answers -ENOSYS to calls that it does not know.
 *
 * Errors are negative: -ENOSYS, -EINVAL ... of <errno.h>. No call sets errno or allocates by malloc. Pointers must be
 * good, as those of memcpy. All since 0.1.
 *
 * Structures begin with `size`, which the caller sets to sizeof the structure; if a module of another version knows
 * fewer fields, it does not change the rest. So set all to 0 before.
 */
#ifndef XAUDIT_H
#define XAUDIT_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define XAUDIT_EVENT_MAX 4096 /* bytes of one event */

/*
 * Records bytes with time and thread: 1 to XAUDIT_EVENT_MAX of them, never split. Thread-safe, lock-free as a rule,
 * async-signal-safe: a signal handler may come in the middle and record events too; a thread's events are in the trace
 * in the order in which they began.
 *
 * Returns 0; -EINVAL: size 0; -E2BIG: too many bytes, nothing is recorded; -ECANCELED: nothing is recorded now
 * (stopped, mode count, or switched off); -ENOSPC: the event was lost, as a rule since the disk is full, and is counted
 * as lost; -ENOSYS: no xaudit here.
 */
int xaudit_event(const void *data, size_t size);

/* As xaudit_event(), with a type, a number of xaudit_register_type(); size may be 0. Also -EINVAL: no such type. */
int xaudit_typed_event(int type, const void *data, size_t size);

/*
 * Returns the number of the type of this name, a new one when the name is new; numbers are the process's, the same in
 * forked children. name: 1 to 255 bytes, no control characters. -EINVAL, -ENAMETOOLONG, -ENOMEM, -ENOSPC (60000
 * types), -ENOSYS. Thread-safe and async-signal-safe (it takes a lock that blocks signals).
 */
int xaudit_register_type(const char *name);

/*
 * Records a text for people: up to XAUDIT_EVENT_MAX bytes without the NUL. Returns as xaudit_event(), also for an
 * empty text 0.
 */
int xaudit_mark(const char *text);

/*
 * A request begins here, on the stack that the thread is on: calls that begin on this stack from now on belong to it,
 * until xaudit_request_end(), or until the traced call that it was begun in ends, in whatever way. A request in a
 * request holds until it is over; then the one before holds again. `xaudit report --by-request` adds up the calls of
 * each; a request is the same as another one if its text is, or its number, be it of another thread.
 *
 * text: of up to XAUDIT_EVENT_MAX bytes without the NUL. They return as xaudit_event() does, of an empty text 0. End
 * each one that is told, in the same order as brackets have.
 */
int xaudit_request(const char *text);
int xaudit_request_number(uint64_t number);
int xaudit_request_end(void);

/*
 * Brings the trace up to date: events are in the files when their call returns, for all readers and even if the
 * process is killed; clock and numbers of sites are written now and then, and by this call. It does not wait for the
 * disk. Returns 0; -ENODATA: nothing was recorded yet, so there is no trace; -ECANCELED: xaudit has switched itself
 * off; -ENOSYS. Thread-safe, async-signal-safe.
 */
int xaudit_flush(void);

/*
 * Starts and stops the recording of calls and events, as xaudit-ctl(1) does; what is traced stays so. Calls that are
 * open when it stops still end in the trace. While it is stopped no handler is told of calls. Return 0, also when it
 * was so before; -ECANCELED: xaudit has switched itself off; -ENOSYS. Thread-safe, async-signal-safe.
 */
int xaudit_start(void);
int xaudit_stop(void);

/* What a rule did. */
struct xaudit_result {
	uint32_t size;
	uint32_t functions; /* that the rule names */
	uint32_t changed;   /* sites that were switched: sleds, patchable entries, bindings */
	uint32_t already;   /* sites that were so before */
	/* functions that could not be switched from inside the process; the trace says why (xaudit info) */
	uint32_t refused;
};

/*
 * Switches what is traced, now and in objects to be loaded, while all threads run on. rule: [KIND:]FUNCTION[@LIBRARY]
 * with the patterns of xaudit-ctl(1). result may be NULL. Returns 0, even if no function matches; -EINVAL: no rule;
 * -ENAMETOOLONG: more than 4095 bytes; -EAGAIN: for a second objects were being loaded all the time; -ECANCELED:
 * xaudit has switched itself off; another -errno: the kernel refuses what it takes; -ENOSYS. Takes microseconds to
 * milliseconds. Thread-safe. In a signal handler it may answer -EAGAIN after a second, when the handler interrupted a
 * dlopen.
 */
int xaudit_enable(const char *rule, struct xaudit_result *result);
int xaudit_disable(const char *rule, struct xaudit_result *result);

enum xaudit_state {
	XAUDIT_NONE = 0, /* nothing was recorded yet: no trace */
	XAUDIT_ON = 1,
	XAUDIT_OFF = 2 /* for good: no trace could be made */
};

enum xaudit_mode { XAUDIT_STREAM = 0, XAUDIT_RING = 1, XAUDIT_COUNT = 2 };

struct xaudit_status {
	uint32_t size;
	uint32_t state;	    /* enum xaudit_state */
	uint32_t mode;	    /* enum xaudit_mode */
	uint32_t recording; /* 0: stopped */
	uint32_t objects;   /* files known so far */
	uint32_t loads;	    /* mapped now */
	uint32_t functions; /* that are traced, in objects known so far, loaded or not */
	uint32_t types;	    /* of events, registered */
	uint64_t bytes;	    /* of events in stream files so far, whole chunks */
	char *folder;	    /* in: where to put the path of this process's trace, or NULL */
	uint64_t folder_size; /* in: bytes there; the path is cut to fit, and ends with a NUL */
};

/* Fills in status. Returns 0; -EINVAL: size too small; -ENOSYS: it is not touched. Thread-safe, async-signal-safe. */
int xaudit_status(struct xaudit_status *status);

/* A function that xaudit can trace, by a sled, or by bindings once it was traced by them; or that holds guards. */
struct xaudit_function_info {
	uint32_t size;
	uint32_t id;	     /* that events carry; 0: it has none yet, or raises none (guard) */
	uint32_t object;     /* number of its object in the trace */
	uint32_t on;	     /* 1: it is traced now */
	uint64_t address;    /* in this process; 0: its object is not loaded */
	uint64_t offset;     /* link-time address in its object */
	uint64_t length;     /* bytes; 0: unknown */
	const char *kind;    /* "xray", "patchable", "plt", "calls", "guard" */
	const char *name;    /* as the linker knows it; "" if unknown */
	const char *path;    /* of the object */
};

/*
 * Tells about the function with this id. Strings stay as long as the process. Returns 0; -EINVAL: size too small;
 * -ENOENT: no function has this id; -ENOSYS. Thread-safe, async-signal-safe. Looks through all functions:
 * microseconds to milliseconds.
 */
int xaudit_function(uint32_t id, struct xaudit_function_info *info);

/*
 * Calls callback for each function, until it answers other than 0: that is returned, else 0; -ENOSYS. info lies on
 * the stack. The callback runs without locks and may call anything, dlopen and these functions too; objects that are
 * loaded meanwhile may be left out. Thread-safe.
 */
int xaudit_for_each_function(int (*callback)(const struct xaudit_function_info *info, void *arg), void *arg);

/*
 * Writes what xaudit_for_each_function() lists, and the sites of each, as text to fd, as XRay's __xray_dump_table was
 * to. Lines of fields with a tab between, addresses and sizes of functions hexadecimal, with 0x:
 *
 *	xaudit-table	1
 *	function	ID	OBJECT	KIND	on|off	ADDRESS	OFFSET	LENGTH	NAME	PATH
 *	point	ID	OBJECT	OFFSET	TYPE	LENGTH
 *
 * Points follow their function; functions by bindings have none. OFFSET and LENGTH of a point: where its sled begins,
 * and how many bytes it has. TYPE: entry, exit, tail, custom, typed (of XRay), patchable, hot, where the patch goes
 * before the entry, or guard. Control characters in names become spaces. Returns 0, the -errno of a write that failed,
 * or -ENOSYS. Thread-safe, async-signal-safe; the fd may block.
 */
int xaudit_dump_table(int fd);

/* Types of events that a handler can be set for. */
enum xaudit_handler_type {
	XAUDIT_HANDLE_ENTRY = 0,     /* a traced function is called */
	XAUDIT_HANDLE_EXIT = 1,	     /* it returned; rax, rdx and vector registers hold its result */
	XAUDIT_HANDLE_TAIL = 2,	     /* it ended by jumping to another function */
	/* it ended without returning; told when it is noticed, by the thread's next events */
	XAUDIT_HANDLE_UNWIND = 3,
	XAUDIT_HANDLE_ARGUMENTS = 4, /* as entry, and after it: for a handler that looks at arguments */
	/* xaudit_event(); an event sled of XRay, also with data_size 0 or above XAUDIT_EVENT_MAX */
	XAUDIT_HANDLE_CUSTOM = 5,
	/*
	 * xaudit_typed_event(); a typed event sled, also with such sizes; data_type is the program's own number,
	 * registered or not
	 */
	XAUDIT_HANDLE_TYPED = 6,
	XAUDIT_HANDLE_PROBE = 7,     /* a probe is passed: an instruction that a rule names; no call begins or ends */
	XAUDIT_HANDLE_LOAD = 8,	     /* an object was mapped: before its constructors, under ld.so's lock */
	XAUDIT_HANDLE_UNLOAD = 9     /* its destructors have run: under ld.so's lock; not told when the process exits */
};

/* Or'ed to the type: the handler and all it calls use general registers alone (-mgeneral-regs-only). */
#define XAUDIT_GENERAL 0x100

/* General registers of the program; rsp at the function's entry, or after its return; at a probe as it is there. */
struct xaudit_registers {
	uint64_t rax, rbx, rcx, rdx, rsi, rdi, rbp, rsp, r8, r9, r10, r11, r12, r13, r14, r15;
};

/* The event that a handler is told. Valid until it returns; size grows in later versions. */
struct xaudit_handler_event {
	uint32_t size;
	uint32_t type;	 /* enum xaudit_handler_type */
	uint32_t id;	 /* of the function or probe: xaudit_function(); 0: none */
	uint32_t object; /* its number in the trace; 0: not known */
	/* entry: the function's code; probe: the instruction; load, unload: the object's load address; 0: not known */
	uint64_t address;
	uint64_t caller; /* where the call returns to; 0: not known */
	uint64_t clock;	 /* of the trace: TSC, or CLOCK_MONOTONIC in ns; see xaudit_set_handler() */
	/* entry, arguments, exit, tail, probe; else NULL. XRay sleds have written r10. */
	const struct xaudit_registers *registers;
	const void *vectors;	 /* for xaudit_vector() */
	const void *data;	 /* custom, typed: the bytes; else NULL */
	uint64_t data_size, data_type;
};

typedef void xaudit_handler(const struct xaudit_handler_event *event, void *arg);

/*
 * Calls handler(event, arg) on every event of this type from now on, on the thread that makes it, instead of the
 * handler that was set before; one per type and process. While recording is on, not in mode count. The program finds
 * all registers as they were, whatever the handler does with them (but AMX tiles and protection keys); that takes up to
 * 2.7 kB of the thread's stack beside what the handler uses, and 20 to 30 ns (130 to 190 where x87 registers are in
 * use); with XAUDIT_GENERAL it takes neither, and a handler costs 11 ns per event. In the trace a call or return has
 * event->clock as its time; but a later time after an entry's handler without XAUDIT_GENERAL, and after one that made
 * events. So the handler's time counts as the function's at an entry with XAUDIT_GENERAL, else as its caller's. Events
 * made inside a handler, or by a signal handler that interrupts it, reach no handler. A handler of an entry, exit,
 * tail, of arguments or custom events may be left by siglongjmp, or by an exception, which arrives where the function
 * was called; one of a probe by siglongjmp.
 *
 * Returns 0; -EINVAL: no such type, or no handler; -ENOMEM; if a handler was replaced,
 * what xaudit_remove_handler() would have answered for it; -ENOSYS. Thread-safe, async-signal-safe.
 */
int xaudit_set_handler(int type, xaudit_handler *handler, void *arg);

/*
 * Removes the handler. Returns 0: no thread is in it and none will enter it, so its code may be unmapped;
 * XAUDIT_DEFERRED: called inside of a handler, so that is true only when the handler has been left; -EBUSY: a thread
 * did not leave it within two seconds, no other will enter it; -ENOENT: there is no handler; -EINVAL: no such type;
 * -ENOSYS. Thread-safe, async-signal-safe. A handler that lies in a library, or whose arg does, is removed when that
 * library is unloaded. A handler that calls dlclose keeps its own library loaded for good.
 */
int xaudit_remove_handler(int type);

#define XAUDIT_DEFERRED 1

/*
 * In a handler without XAUDIT_GENERAL: vector register n, 0 to 31, as the program had it, into 64 bytes; what the
 * processor does not have is 0. Returns its width in bytes: 16, 32 or 64; 0: there is no such register; -ENOSYS.
 */
int xaudit_vector(const struct xaudit_handler_event *event, unsigned n, uint8_t value[64]);

#define XAUDIT_VALUES 32 /* there are no more at one event */
#define XAUDIT_VALUES_BYTES 1600 /* of their texts, and what is between them */

enum xaudit_value_type {
	XAUDIT_VALUE_SIGNED = 1,   /* `integer`; and `number`, which has the same bits */
	XAUDIT_VALUE_UNSIGNED = 2, /* `number` */
	XAUDIT_VALUE_HEX = 3,	   /* a number that people read in hex */
	XAUDIT_VALUE_POINTER = 4,  /* a number that is an address */
	XAUDIT_VALUE_FLOAT = 5,	   /* `real`; `number` has its bits */
	XAUDIT_VALUE_DOUBLE = 6,   /* likewise */
	XAUDIT_VALUE_TEXT = 7,	   /* `text` */
	XAUDIT_VALUE_BYTES = 8,	   /* likewise */
	XAUDIT_VALUE_ERRNO = 9,	   /* a number, as SIGNED: of an error */
	XAUDIT_VALUE_NONE = 10,	   /* of an argument that is GONE */
	XAUDIT_VALUE_STRUCTS = 11  /* `text` has the bytes of structures, whose members `words` tells */
};

enum xaudit_value_state {
	XAUDIT_VALUE_WHOLE = 0,
	XAUDIT_VALUE_CUT = 1, /* of a text, or bytes, this is only the beginning */
	/* it lies where there is no memory, or none that may be read; at an exit: nothing is known of the entry */
	XAUDIT_VALUE_FAULT = 2,
	XAUDIT_VALUE_UNREAD = 3, /* it was not read, as a filter of system calls might kill for that */
	XAUDIT_VALUE_NULL = 4,	 /* a text, or bytes, at the address 0 */
	XAUDIT_VALUE_GONE = 5	 /* an argument that the compiler has optimised out: it is nowhere */
};

/* What it is in its call. */
enum xaudit_value_role {
	XAUDIT_VALUE_NAMED = 0,	   /* something else that was asked for, by `name` */
	XAUDIT_VALUE_ARGUMENT = 1, /* `place` tells which. At an exit: what the function has written there */
	XAUDIT_VALUE_RESULT = 2,
	XAUDIT_VALUE_ERROR = 3	   /* errno: it counts where `failed` is 1 */
};

/* Bits of `marks`. */
enum xaudit_value_mark {
	XAUDIT_VALUE_FD = 1,	/* a descriptor */
	XAUDIT_VALUE_OCTAL = 2, /* a number that people read in octal */
	XAUDIT_VALUE_FLAGS = 4, /* `words` are of bits */
	XAUDIT_VALUE_OUT = 8,	/* the function has written it */
	XAUDIT_VALUE_MORE = 16,	/* the last argument of which anything is known, but not the last one */
	XAUDIT_VALUE_BESIDE = 32 /* OUT, and what the call began with counts, too */
};

struct xaudit_value {
	const char *name;  /* or empty. Stays as long as the process */
	const char *words; /* names of its numbers, as "1=O_WRONLY,64=O_CREAT"; or empty. Stays, too */
	const char *text;  /* a NUL follows; "" of all that is no text. In the struct xaudit_values, as long as that */
	uint64_t number;
	int64_t integer;
	double real;
	uint32_t type;	/* enum xaudit_value_type */
	uint32_t state; /* enum xaudit_value_state; if not WHOLE or CUT, it has no value */
	uint32_t role;	/* enum xaudit_value_role */
	uint32_t place; /* of an argument: 0 is the first */
	uint32_t marks;
	uint32_t size;	/* bytes: of the number, as the function has it; of the text, without the NUL behind it */
	uint64_t reserved;
};

/* 4.2 kB. Texts point into it, so a copy of it has those of the original. */
struct xaudit_values {
	uint32_t size;
	uint32_t count;
	uint32_t failed; /* 1: the result says that the function has failed; 0: no, or that is not known */
	uint32_t unused;
	struct xaudit_value value[XAUDIT_VALUES]; /* `count` of them, in the order of their recording */
	char bytes[XAUDIT_VALUES_BYTES];
};

/*
 * In a handler of an entry, of arguments, of an exit or a probe: the values that the rules ([context] and [probe] of
 * the configuration, xaudit-ctl(1) add-context) want there; arguments at an entry, results at an exit. They are found
 * at this moment: memory that the handler has changed, and errno, are as they are now; registers are the event's. A
 * call that the rules leave out of the trace (if, every, longer) has its values here, and asking changes nothing in the
 * trace.
 *
 * event: what the handler was given, not a copy; also in functions that the handler calls. values->size is to be set,
 * the rest need not. Returns how many values there are, which is values->count; 0: this event has none, since the rules
 * want none, or it is none of these types; -EINVAL: the calling thread is in no handler of this event, or values->size
 * is too small: then nothing is written; -ENOSYS. Thread-safe, async-signal-safe; uses general registers only and 1 kB
 * of stack. Some 50 ns, and about 1 us more for each text that lies neither on the thread's stack nor in the library of
 * the function, which a system call reads. Since 0.1.0.
 */
int xaudit_event_values(const struct xaudit_handler_event *event, struct xaudit_values *values);

/*
 * XAUDIT_EVENT(data, size): xaudit_event() for hot places, without the library: where the process does not run under
 * xaudit, it costs a load and a branch that is predicted, and its arguments are not evaluated. An expression with
 * xaudit_event()'s value. gcc and clang, C and C++.
 *
 * The asm makes, once per linked object, a pointer for the module to fill in, and the note by which the module finds
 * it.
 */
extern int (*xaudit_event_hook_1)(const void *, size_t) __attribute__((visibility("hidden")));

#define XAUDIT_EVENT(data, size) \
	(__builtin_expect(xaudit_event_hook_1 != 0, 0) ? xaudit_event_hook_1((data), (size)) : -ENOSYS)

#if defined(__x86_64__) && defined(__linux__) && !defined(XAUDIT_NO_HOOK)
__asm__(".ifndef xaudit_event_hook_1\n"
	"	.pushsection .bss.xaudit_event_hook_1,\"awG\",@nobits,xaudit_event_hook_1,comdat\n"
	"	.weak xaudit_event_hook_1\n"
	"	.hidden xaudit_event_hook_1\n"
	"	.type xaudit_event_hook_1, @object\n"
	"	.size xaudit_event_hook_1, 8\n"
	"	.balign 8\n"
	"xaudit_event_hook_1:\n"
	"	.zero 8\n"
	"	.popsection\n"
	"	.pushsection .note.xaudit,\"aG\",@note,xaudit_event_hook_1,comdat\n"
	"	.balign 4\n"
	"	.long 7, 16, 1\n"
	"	.asciz \"xaudit\"\n"
	"	.balign 4\n"
	"	.quad xaudit_event_hook_1 - .\n"
	"	.long 1, 1\n"
	"	.popsection\n"
	".endif\n");
#endif

/*
 * XAUDIT_IF_TRACED { ... } guards code that runs only when xaudit is at work in the process; it works without the
 * library. Elsewhere it costs a NOP of five bytes, and an optimising compiler puts the guarded code out of the way. An
 * else may follow:
 *
 *	XAUDIT_IF_TRACED {
 *		size_t size = describe(request, text, sizeof(text));
 *		XAUDIT_EVENT(text, size);
 *	}
 *
 * xaudit makes a jump of the NOP as the object is loaded, before its constructors run, in each object unless the rules
 * say otherwise, whether anything is recorded or not (but not under `xaudit check`). The function that holds the guard
 * is then of kind "guard", by its own name or by the name of the function that it was inlined into:
 * xaudit_disable("guard:FUNCTION") and xaudit_enable() switch all guards of a function, as `xaudit ctl` does; a disable
 * of all kinds switches them off, too. Recording that is stopped, and mode count, leave them as they are. A guard is no
 * event and has no number: its xaudit_function_info has the id 0.
 *
 * Needs gcc 9 or clang 11 or later, C or C++, on x86-64 Linux; elsewhere, or if XAUDIT_NO_HOOK is defined before,
 * guarded code is compiled and never runs. Not in constexpr functions. Under --gc-sections, linkers other than lld keep
 * functions that hold guards even if no code calls them, unless told -z start-stop-gc.
 *
 * The asm makes each guard's NOP, at a place where its first two bytes can be changed at once; the addresses of the NOP
 * and of the guarded code, in a section that goes with the function's section (also out of a comdat group, and away
 * with --gc-sections); and once per linked object a note by which the module finds these. The guards keep that note
 * from being dropped.
 */
#if defined(__x86_64__) && defined(__LP64__) && defined(__linux__) && !defined(XAUDIT_NO_HOOK)
#define XAUDIT_IF_TRACED if (__builtin_expect(xaudit_guard_1(), 0))

#ifdef __cplusplus
inline
#else
static __inline__
#endif
	__attribute__((always_inline, unused)) int xaudit_guard_1(void)
{
	/* No longer than the strings of C90 may be: 509 characters. */
	__asm__ __inline__ goto(
		".balign 8,,1\n"
		".Lxg%=: .byte 0xf,0x1f,0x44,0,0\n"
		".reloc .Lxg%=,R_X86_64_NONE,xaudit_guards_1\n"
		".pushsection xaudit_guards,\"a?o\",@progbits,.Lxg%=\n"
		".balign 8\n"
		".quad .Lxg%=-.\n"
		".quad %l0-.\n"
		".popsection\n"
		".ifndef xaudit_guards_1\n"
		".pushsection .note.xaudit,\"aG\",@note,xaudit_guards_1,comdat\n"
		".weak xaudit_guards_1\n"
		".hidden xaudit_guards_1,__start_xaudit_guards,__stop_xaudit_guards\n"
		".balign 4\n"
		"xaudit_guards_1: .long 7,24,2\n"
		".ascii \"xaudit\\0\\0\"\n"
		".quad __start_xaudit_guards-.\n"
		".quad __stop_xaudit_guards-.\n"
		".long 1,16\n"
		".popsection\n"
		".endif"
		:
		:
		:
		: guarded);
	return 0;
guarded:
	return 1;
}
#else
#define XAUDIT_IF_TRACED if (0)
#endif

#ifdef __cplusplus
}
#endif

#endif
