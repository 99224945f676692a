/* SPDX-License-Identifier: MIT */
/*
 * Calls that execute a program. ld.so loads the module into it if LD_AUDIT is in the environment that the call gives
 * it. What will run without the module is counted in the head of the family's first process, by its name; with
 * follow = always the module's own variables are added, where nothing speaks against it.
 *
 * The stub of such a function comes here before the call (x86_64/contract.h, tramp_slow_exec). The call may be made
 * in a forked child, in a child of vfork, or by a handler of a signal, and never come back. So all that is needed lies
 * on the stack, in memory that does not change once the program runs, and in the family's shared head, which is written
 * to by atomic operations alone. What the arguments point to may not be there, and the stack may be small:
 * execute_look.h.
 *
 * execute_init(), execute_libc(): one after the other; process lock held, or one thread. tramp_slow_exec(): any thread,
 * async-signal-safe, no lock, no libc.
 */
#ifndef XAUDIT_RUNTIME_EXECUTE_H
#define XAUDIT_RUNTIME_EXECUTE_H

#include <stdbool.h>
#include <stdint.h>

/* How a function of libc is told what to execute: the word of its stub. */
enum execute_how {
	EXECUTE_NONE, /* it executes nothing */
	EXECUTE_EXECVE,
	EXECUTE_EXECVPE,
	EXECUTE_EXECVEAT,
	EXECUTE_FEXECVE,
	EXECUTE_SPAWN,
	EXECUTE_SPAWNP,
	EXECUTE_EXECV,	/* from here on with libc's environ */
	EXECUTE_EXECVP,
	EXECUTE_EXECL,	/* from here on with a list of arguments, or none */
	EXECUTE_EXECLP,
	EXECUTE_SHELL,
	EXECUTE_EXECLE, /* the environment follows the list */
	EXECUTE_HOWS
};

/*
 * Before the program runs. module: the path by which ld.so knows us. environment: the program's. always: what lacks our
 * variables gets them. All must stay.
 */
void execute_init(const char *module, char *const *environment, bool always);

/* The program's libc: the addresses of its environ, of its execve() and its execvpe(). Only the first call counts. */
void execute_libc(uint64_t environment, uint64_t execve, uint64_t execvpe);

#endif
