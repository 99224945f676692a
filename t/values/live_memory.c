/* SPDX-License-Identifier: MIT */
/*
 * live_memory WHAT: calls functions of live_part.c with texts in memory that is not always there.
 *
 *	gone		on a coroutine's stack: a text on the stack beside it, which is unmapped
 *	confined	before and under a filter that kills for all but a few system calls
 *	hidden		in a page of the library that may not be read at times, by mprotect(); then, with an argument,
 *			by one that it finds with dlsym()
 *	waits		in memory that another thread provides 200 ms later (userfaultfd); if it can't, prints "no
 *			userfaultfd" and why
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define PAGE 4096ul

const char *v_text(const char *text);
long v_where(long a);
char *live_writable(void), *live_page(void);
static char own_data[] = "the program's";

static char *map(size_t size)
{
	char *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		exit(3);
	return at;
}

/* ---- a stack whose neighbour is unmapped ---- */

static ucontext_t home, low, high;
static char *neighbour;

static void run_high(void)
{
	v_text("high");
	swapcontext(&high, &home);
}

static void run_low(void)
{
	v_text("low");
	swapcontext(&low, &home);
	v_text(neighbour);
	swapcontext(&low, &home);
}

static void run(ucontext_t *context, void (*what)(void), char *stack, size_t size)
{
	getcontext(context);
	context->uc_stack.ss_sp = stack;
	context->uc_stack.ss_size = size;
	makecontext(context, what, 0);
	swapcontext(&home, context);
}

static int gone(void)
{
	const size_t size = 16 * PAGE;
	char *stacks = map(2 * size);

	/* Calls come near to each other, and then farther up. */
	run(&high, run_high, stacks + size, 2 * PAGE);
	run(&low, run_low, stacks, size);
	run(&high, run_high, stacks + size, 4 * PAGE);
	neighbour = stacks + size + 2 * PAGE + 100;
	munmap(stacks + size + 2 * PAGE, size - 2 * PAGE);
	swapcontext(&home, &low);
	return 0;
}

/* ---- a filter ---- */

#define ALLOW(number) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static void each_text(char *heap, char *last)
{
	char stack[40];

	strcpy(stack, "on the stack");
	v_text(stack);
	v_text(live_writable());
	v_text(last);
	v_text(own_data);
	v_text(heap);
	v_where(1);
}

static int confined(void)
{
	struct sock_filter rules[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		ALLOW(SYS_write), ALLOW(SYS_rt_sigprocmask), ALLOW(SYS_exit_group),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)};
	struct sock_fprog program = {.len = sizeof(rules) / sizeof(*rules), .filter = rules};
	char *heap = strdup("on the heap"), *last;

	if (!heap || prctl(PR_SET_NAME, "a live one"))
		return 3;
	/* A text that is the last of its page. */
	last = (char *)(((unsigned long)(live_writable() + 80) | (PAGE - 1)) + 1) - 5;
	strcpy(last, "last");
	each_text(heap, last);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		return 3;
	each_text(heap, last);
	return write(1, "it lives\n", 9) != 9;
}

/* ---- pages of the library that may not be read ---- */

static int hidden(int found)
{
	char *page = (char *)(((unsigned long)live_page() + PAGE - 1) & -PAGE);
	int (*protect)(void *, size_t, int) = mprotect;

	if (found)
		*(void **)&protect = dlsym(RTLD_DEFAULT, "mprotect");
	strcpy(page, "in a page");
	v_text(page);
	if (!protect || protect(page, PAGE, PROT_NONE))
		return 3;
	v_text(page);
	v_text(live_writable());
	if (protect(page, PAGE, PROT_READ))
		return 3;
	v_text(page);
	v_where(2);
	return 0;
}

/* ---- memory that is provided late ---- */

static int fault_fd;
static volatile int provided;

static void *provide(void *argument)
{
	static char text[PAGE] = "late";
	struct uffd_msg message;

	if (read(fault_fd, &message, sizeof(message)) != sizeof(message) || message.event != UFFD_EVENT_PAGEFAULT)
		exit(3);
	/* Others are not kept from calling meanwhile. */
	v_text("meanwhile");
	usleep(200000);
	struct uffdio_copy copy = {
		.dst = message.arg.pagefault.address & -PAGE, .src = (unsigned long)text, .len = PAGE};
	provided = 1;
	if (ioctl(fault_fd, UFFDIO_COPY, &copy))
		exit(3);
	return argument;
}

static int waits(void)
{
	struct uffdio_api api = {.api = UFFD_API};
	char *region = map(PAGE);
	struct uffdio_register register_it = {
		.range = {(unsigned long)region, PAGE}, .mode = UFFDIO_REGISTER_MODE_MISSING};
	pthread_t id;

	fault_fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	if (fault_fd < 0 || ioctl(fault_fd, UFFDIO_API, &api) || ioctl(fault_fd, UFFDIO_REGISTER, &register_it)) {
		perror("no userfaultfd");
		return 0;
	}
	if (pthread_create(&id, NULL, provide, NULL))
		return 3;
	v_text(region);
	if (!provided || strcmp(region, "late"))
		return 4;
	return pthread_join(id, NULL);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "gone"))
		return gone();
	if (!strcmp(what, "confined"))
		return confined();
	if (!strcmp(what, "hidden"))
		return hidden(argc > 2);
	if (!strcmp(what, "waits"))
		return waits();
	return 2;
}
