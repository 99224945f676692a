/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "audit/index/helper.h"

#include <linux/futex.h> /* FUTEX_WAIT */
#include <linux/memfd.h> /* MFD_ALLOW_SEALING */
#include <sched.h>	 /* CLONE_VM */
#include <signal.h>	 /* SIGCHLD */
#include <stdbool.h>
#include <sys/mman.h>	 /* PROT_READ */
#include <sys/prctl.h>	 /* PR_SET_PDEATHSIG */
#include <sys/resource.h> /* RLIMIT_CORE */
#include <sys/time.h>	 /* ITIMER_REAL */
#include <sys/wait.h>	 /* WIFEXITED */

#include "runtime/base/text.h"
#include "x86_64/clone.h"
#include "x86_64/confined.h"
#include "x86_64/sys.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8u
#endif

#define MANAGER_STACK 16384
#define COMMAND_STACK 8192
#define GRACE	      2 /* seconds until what was killed must be gone */
#define ALONE	      600 /* seconds that the command has in all */
#define ALONE_CPU     300 /* of CPU time */
#define ALONE_MEMORY  (16ull << 30)
#define ALONE_NICE    19
#define SECOND	      1000000000ull
#define ALL_SIGNALS   (~0ull)
/* libc's, for setuid() and the like in all threads: who calls that waits until each thread has handled it. */
#define SIGNAL_SETXID 33
#define BIT(signal)   (1ull << ((signal) - 1))

/* The manager's descriptors, and those of the command. */
enum { MANAGER_READ, MANAGER_WRITE, MANAGER_MEMORY, MANAGER_RULES };
enum { COMMAND_MEMORY = 3, COMMAND_RULES };

/* The kernel's, not libc's. */
struct kernel_action {
	void *handler;
	uint64_t flags;
	void *restorer;
	uint64_t mask;
};

/* Memory of thread, manager and command, until the command executes. One thread of them runs on each stack. */
struct run {
	struct helper helper;
	long program, manager; /* process ids; manager: as it knows itself */
	int memory;	       /* there is a memory file */
	int error;	       /* of the command, when it could not be executed */
	int alone;	       /* it may go on when nobody waits for it */
	int stuck;	       /* it did not die, or goes on */
	uint32_t left;	       /* by the kernel: 0 when the manager is gone */
	_Alignas(16) char manager_stack[MANAGER_STACK];
	_Alignas(16) char command_stack[COMMAND_STACK];
};

/* ---- may we? ---- */

/* Is the thread's line "Seccomp:" 0? */
static bool is_unfiltered(void)
{
	static const char wanted[] = "\nSeccomp:\t";
	char text[4096];
	size_t size = 0;
	long n, fd = sys_open("/proc/thread-self/status", O_RDONLY, 0);

	if (fd < 0)
		return false;
	while (size < sizeof(text) && (n = sys_read((int)fd, text + size, sizeof(text) - size)) > 0)
		size += (size_t)n;
	sys_close((int)fd);
	for (size_t i = 0; i + sizeof(wanted) <= size; i++)
		if (sys_same(text + i, wanted, sizeof(wanted) - 1))
			return text[i + sizeof(wanted) - 1] == '0';
	return false;
}

static bool stays_in_namespace(void)
{
	char own[64], next[64];
	long n = sys_call(__NR_readlinkat, AT_FDCWD, (long)"/proc/thread-self/ns/pid", (long)own, sizeof(own), 0, 0);
	long m = sys_call(__NR_readlinkat, AT_FDCWD, (long)"/proc/thread-self/ns/pid_for_children", (long)next,
		sizeof(next), 0, 0);

	return n > 0 && n == m && sys_same(own, next, (size_t)n);
}

bool helper_allowed(void)
{
	return !confined() && is_unfiltered() && stays_in_namespace();
}

/* ---- small things ---- */

static uint64_t now(void)
{
	struct timespec t = { 0 };

	sys_call(__NR_clock_gettime, CLOCK_MONOTONIC, (long)&t, 0, 0, 0, 0);
	return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

static struct timespec until(uint64_t end)
{
	uint64_t t = now(), left = end > t ? end - t : 0;

	return (struct timespec){ .tv_sec = (time_t)(left / SECOND), .tv_nsec = (long)(left % SECOND) };
}

static void set_default(int signal, uint64_t flags)
{
	struct kernel_action action = { .flags = flags };

	sys_call(__NR_rt_sigaction, signal, (long)&action, 0, sizeof(action.mask), 0, 0);
}

/* Of this process's own table of descriptors. */
static void close_from(unsigned first)
{
	struct rlimit limit = { .rlim_cur = 65536 };

	if (!sys_call(__NR_close_range, first, ~0u, 0, 0, 0, 0))
		return;
	/* Before Linux 5.9. */
	sys_call(__NR_prlimit64, 0, RLIMIT_NOFILE, 0, (long)&limit, 0, 0);
	for (unsigned fd = first; fd < limit.rlim_cur && fd < 1u << 20; fd++)
		sys_close((int)fd);
}

/* Dies with the parent; returns 0 when that is gone already. */
static int follow(long parent)
{
	sys_call(__NR_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0, 0);
	return sys_call(__NR_getppid, 0, 0, 0, 0, 0, 0) == parent;
}

/* ---- command ---- */

/* For one that nobody waits for. They outlast execve(); SIGALRM and SIGXCPU end it. */
static void set_bounds(void)
{
	static const struct rlimit cpu = { ALONE_CPU, ALONE_CPU };
	static const struct itimerval whole = { .it_value = { .tv_sec = ALONE } };
	struct rlimit limit;

	sys_call(__NR_setitimer, ITIMER_REAL, (long)&whole, 0, 0, 0, 0);
	/* Where the program has less, that holds. */
	sys_call(__NR_prlimit64, 0, RLIMIT_CPU, (long)&cpu, 0, 0, 0);
	if (sys_call(__NR_prlimit64, 0, RLIMIT_AS, 0, (long)&limit, 0, 0) || limit.rlim_cur <= ALONE_MEMORY)
		return;
	limit.rlim_cur = ALONE_MEMORY;
	sys_call(__NR_prlimit64, 0, RLIMIT_AS, (long)&limit, 0, 0, 0);
}

/* Of the manager, which writes rules, and so of the command. */
static void set_limits(void)
{
	struct rlimit limit = { 0 };

	sys_call(__NR_prlimit64, 0, RLIMIT_CORE, (long)&limit, 0, 0, 0);
	/* The program may have lowered it for itself, and would be killed for our file. */
	if (sys_call(__NR_prlimit64, 0, RLIMIT_FSIZE, 0, (long)&limit, 0, 0))
		return;
	limit.rlim_cur = limit.rlim_max;
	sys_call(__NR_prlimit64, 0, RLIMIT_FSIZE, (long)&limit, 0, 0, 0);
}

/* On its own stack, in the manager's memory. */
static int run_command(void *argument)
{
	struct run *run = argument;
	static const uint64_t none;
	const char *word[8], **next = word;

	if (!run->alone && !follow(run->manager))
		return 1;
	sys_call(__NR_setsid, 0, 0, 0, 0, 0, 0);
	/* First, since the other one takes its number. */
	if (run->helper.values)
		sys_call(__NR_dup3, MANAGER_RULES, COMMAND_RULES, 0, 0, 0, 0);
	if (run->memory)
		sys_call(__NR_dup3, MANAGER_MEMORY, COMMAND_MEMORY, 0, 0, 0, 0);
	/* What it says goes to the manager; it reads nothing. */
	sys_call(__NR_dup3, MANAGER_WRITE, 2, 0, 0, 0, 0);
	sys_call(__NR_dup3, MANAGER_WRITE, 0, 0, 0, 0, 0);
	sys_call(__NR_fcntl, MANAGER_WRITE, F_SETFD, 0, 0, 0, 0);
	set_bounds();
	for (int signal = 1; signal <= 64; signal++)
		set_default(signal, 0);
	sys_set_signals(&none, NULL);
	*next++ = run->helper.command;
	*next++ = "index";
	*next++ = "--quiet";
	*next++ = run->helper.values ? "--values-fd=4" : "--kept";
	if (run->memory)
		*next++ = "--fd=3";
	*next++ = run->helper.file;
	*next = NULL;
	run->error = (int)-sys_call(__NR_execve, (long)run->helper.command, (long)word,
		(long)run->helper.environment, 0, 0, 0);
	return 1;
}

/* ---- manager ---- */

static void end_with(struct run *run, enum helper_end end, long value)
{
	run->helper.value = value;
	run->helper.end = end;
}

/* Returns 1 when the command is dead, and its status. */
static int await(long command, uint64_t end, int *status)
{
	const uint64_t child = BIT(SIGCHLD);
	struct timespec left;

	for (;;) {
		left = until(end);
		long r = sys_call(__NR_wait4, command, (long)status, WNOHANG | __WALL, 0, 0, 0);
		if (r == command)
			return 1;
		if (!left.tv_sec && !left.tv_nsec)
			return 0;
		sys_call(__NR_rt_sigtimedwait, (long)&child, 0, (long)&left, sizeof(child), 0, 0);
	}
}

static void take_words(struct helper *helper)
{
	long n = sys_read(MANAGER_READ, helper->said, sizeof(helper->said) - 1);

	helper->said[n > 0 ? n : 0] = '\0';
	char *to = helper->said;
	for (char *line = helper->said, *end, *next; *line; line = next) {
		for (end = line; *end && *end != '\n'; end++)
			;
		next = *end ? end + 1 : end;
		*end = '\0';
		const size_t length = text_clean(line);
		if (to > helper->said)
			*to++ = '\n';
		/* It does not get longer, so nothing that follows is written over. */
		for (size_t i = 0; i < length; i++)
			*to++ = line[i];
	}
	*to = '\0';
}

/* Maps what the command wrote: into memory that is the program's. Nobody can change it from then on. */
static void take_memory(struct run *run)
{
	struct helper *helper = &run->helper;
	struct stat st;

	if (!run->memory || sys_fstat(MANAGER_MEMORY, &st) || st.st_size <= 0)
		return;
	long r = sys_call(__NR_fcntl, MANAGER_MEMORY, F_ADD_SEALS,
		F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL, 0, 0, 0);
	if (!r)
		r = sys_fstat(MANAGER_MEMORY, &st); /* it might have grown until then */
	if (r) {
		end_with(run, HELPER_WRITABLE, -r);
		return;
	}
	/* Private: before Linux 6.7 what is sealed can't be mapped shared. */
	void *p = sys_mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, MANAGER_MEMORY, 0);
	if (sys_is_error(p)) {
		end_with(run, HELPER_NOT_STARTED, -(long)(intptr_t)p);
		return;
	}
	helper->size = (size_t)st.st_size;
	helper->bytes = p;
}

static long open_memory(void)
{
	long r = sys_call(__NR_memfd_create, (long)"xaudit-index",
		MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL, 0, 0, 0, 0);

	/* Before Linux 6.3. */
	return r == -EINVAL ? sys_call(__NR_memfd_create, (long)"xaudit-index", MFD_CLOEXEC | MFD_ALLOW_SEALING, 0, 0,
				      0, 0)
			    : r;
}

/* Returns 0 or -errno. */
static long put_rules(const char *rules)
{
	long fd = open_memory();

	if (fd < 0)
		return fd;
	/* Another number: there is no memory for what the command makes, either. */
	return fd == MANAGER_RULES ? sys_write_at((int)fd, rules, sys_length(rules), 0) : -ENOMEM;
}

/* On its own stack, in the program's memory, as a process. */
static int manage(void *argument)
{
	struct run *run = argument;
	int status, pair[2];

	if (!follow(run->program))
		return 0;
	run->manager = sys_getpid();
	close_from(0);
	set_limits();
	/* These have the numbers that are free: see the enumerations. Not waiting: nobody reads before the end. */
	long r = sys_call(__NR_pipe2, (long)pair, O_CLOEXEC | O_NONBLOCK, 0, 0, 0, 0);
	if (r) {
		end_with(run, HELPER_NOT_STARTED, -r);
		return 0;
	}
	run->memory = open_memory() == MANAGER_MEMORY;
	if (run->helper.values && (r = put_rules(run->helper.values)) != 0) {
		end_with(run, HELPER_NOT_STARTED, -r);
		return 0;
	}
	/* Ignored, no signal would come, and no child would wait for us. Nor shall one tell that it was stopped. */
	set_default(SIGCHLD, SA_NOCLDSTOP);
	long command = clone_call(
		CLONE_VM | SIGCHLD, run->command_stack + sizeof(run->command_stack), NULL, run_command, run);
	if (command < 0) {
		end_with(run, HELPER_NOT_STARTED, -command);
		return 0;
	}
	int late = !await(command, now() + run->helper.seconds * SECOND, &status);
	if (late && run->alone) {
		sys_call(__NR_setpriority, PRIO_PROCESS, command, ALONE_NICE, 0, 0, 0);
		run->stuck = 1;
	} else if (late) {
		sys_call(__NR_kill, command, SIGKILL, 0, 0, 0, 0);
		run->stuck = !await(command, now() + GRACE * SECOND, &status);
	}
	take_words(&run->helper);
	if (run->error)
		end_with(run, HELPER_NO_COMMAND, run->error);
	else if (late)
		end_with(run, run->stuck && run->alone ? HELPER_ALONE : HELPER_LATE, run->helper.seconds);
	else if (WIFSIGNALED(status))
		end_with(run, HELPER_KILLED, WTERMSIG(status));
	else
		end_with(run, HELPER_EXITED, WEXITSTATUS(status));
	if (run->helper.end == HELPER_EXITED && !run->helper.value)
		take_memory(run);
	return 0;
}

/* ---- thread of the program ---- */

/* Returns 1 when the manager is gone. */
static int await_manager(const uint32_t *left, uint64_t end)
{
	/* Acquire: the kernel's store comes after all that the manager did. */
	while (__atomic_load_n(left, __ATOMIC_ACQUIRE)) {
		struct timespec timeout = until(end);
		if (!timeout.tv_sec && !timeout.tv_nsec)
			return 0;
		/* Not FUTEX_WAIT_PRIVATE: the kernel wakes by way of the address alone. */
		sys_call(__NR_futex, (long)left, FUTEX_WAIT, 1, (long)&timeout, 0, 0);
	}
	return 1;
}

/* Starts the manager and waits. Returns 1 when it is gone. */
static int run_manager(struct run *run)
{
	static const uint64_t all = ALL_SIGNALS;
	uint64_t before, most;
	int gone;

	sys_set_signals(&all, &before);
	long manager = clone_call(CLONE_VM | CLONE_UNTRACED | CLONE_CHILD_CLEARTID,
		run->manager_stack + sizeof(run->manager_stack), &run->left, manage, run);
	if (manager < 0) {
		end_with(run, HELPER_NOT_STARTED, -manager);
		sys_set_signals(&before, NULL);
		return 1;
	}
	most = ALL_SIGNALS & (~BIT(SIGNAL_SETXID) | before);
	sys_set_signals(&most, NULL);
	/* It ends by itself, unless it was stopped. */
	gone = await_manager(&run->left, now() + (run->helper.seconds + 2 * GRACE) * SECOND);
	/* Still our child: else its number may be another's. */
	if (!gone && !sys_call(__NR_wait4, manager, 0, WNOHANG | __WALL, 0, 0, 0)) {
		sys_call(__NR_kill, manager, SIGKILL, 0, 0, 0, 0);
		gone = await_manager(&run->left, now() + GRACE * SECOND);
	}
	while (gone && sys_call(__NR_wait4, manager, 0, __WALL, 0, 0, 0) == -EINTR)
		;
	sys_set_signals(&before, NULL);
	return gone;
}

/* Would orphans become children of this process? Then it would see the end of one that goes on. */
static bool gets_orphans(void)
{
	int reaper = 0;

	return sys_getpid() == 1 ||
	       sys_call(__NR_prctl, PR_GET_CHILD_SUBREAPER, (long)&reaper, 0, 0, 0, 0) || reaper;
}

void helper_run(struct helper *helper)
{
	struct run *run =
		sys_mmap(NULL, sizeof(*run), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	helper->end = HELPER_LOST;
	helper->value = 0;
	helper->bytes = NULL;
	helper->size = 0;
	helper->said[0] = '\0';
	if (sys_is_error(run)) {
		helper->end = HELPER_NOT_STARTED;
		helper->value = -(long)(intptr_t)run;
		return;
	}
	sys_copy(&run->helper, helper, sizeof(*helper));
	run->program = sys_getpid();
	run->alone = helper->keeps && !gets_orphans();
	run->left = 1;
	/* What does not die has its stack there. */
	if (!run_manager(run))
		return;
	sys_copy(helper, &run->helper, sizeof(*helper));
	if (!run->stuck)
		sys_munmap(run, sizeof(*run));
}
