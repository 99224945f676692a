/* SPDX-License-Identifier: MIT */
#include "audit/start/altstack.h"

#include <signal.h>   /* SIGSEGV */
#include <stdint.h>
#include <sys/mman.h> /* MAP_STACK */

#include "x86_64/sys.h"

#define GUARD 4096ul
#define SIZE  (GUARD + (256ul << 10))

void altstack_switch(void (*function)(void *), void *argument, void *top) __attribute__((visibility("hidden")));

static char *spare; /* lowest address of a stack that no thread runs on, or NULL */

static char *new_stack(void)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK;
	char *stack = sys_mmap(NULL, SIZE, PROT_READ | PROT_WRITE, flags, -1, 0);

	if (sys_is_error(stack))
		return NULL;
	sys_mprotect(stack, GUARD, PROT_NONE);
	return stack;
}

static void block(uint64_t *before)
{
#define BIT(signal) (1ull << ((signal)-1))
	static const uint64_t mask =
		~(BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGFPE) | BIT(SIGILL) | BIT(SIGTRAP) | BIT(SIGSYS));
#undef BIT

	sys_call(__NR_rt_sigprocmask, SIG_BLOCK, (long)&mask, (long)before, sizeof(mask), 0, 0);
}

void altstack_call(void (*function)(void *), void *argument)
{
	uint64_t before;

	block(&before);
	/* Acquire; pairs with the release below: all stores of the stack's last user are complete. */
	char *stack = __atomic_exchange_n(&spare, NULL, __ATOMIC_ACQUIRE);
	if (!stack)
		stack = new_stack();
	if (stack) {
		altstack_switch(function, argument, stack + SIZE);
		/*
		 * Release; pairs with the acquire above. Its acquire pairs with the release of the thread that put the
		 * stack that we unmap here.
		 */
		char *other = __atomic_exchange_n(&spare, stack, __ATOMIC_ACQ_REL);
		if (other)
			sys_munmap(other, SIZE);
	} else {
		function(argument);
	}
	sys_set_signals(&before, NULL);
}
