/* SPDX-License-Identifier: MIT */
/*
 * Positions: threads of a child stand at known places, in handlers that interrupted known places, in calls and system
 * calls from them. Each is sent out of five bytes to where it should be, or these are left alone; and the child notices
 * nothing.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "runtime/control.h"
#include "t/lib/tap.h"
#include "tool/base/now.h"
#include "tool/base/tool.h"
#include "tool/ctl/patch.h"
#include "tool/ctl/position.h"
#include "tool/ctl/process.h"
#include "tool/ctl/remote_call.h"
#include "tool/ctl/world.h"
#include "x86_64/remote.h"

#define MANY 64 /* further threads, and a thousand places that nobody is at */
#define FAR  1000

void place_steps(void);
void place_spin(void);
void place_copy(void);
void place_trap_copy(void);
int place_trap(void);
extern char place_trap_end[];
void place_call(void (*function)(void));
void place_behind(void (*function)(void));
long place_read(int fd, void *to, size_t size);

/* ---- the child ---- */

enum who { STEPS, SPIN, TRAP, ALTERNATE, CALL, BEHIND, READ, WHO };

static struct shared {
	_Atomic pid_t tid[WHO];
	_Atomic int there[WHO]; /* it waits, or is about to reach its place */
	_Atomic int result[WHO];
	_Atomic int wrong;	/* a call of place_steps() went wrong */
	_Atomic int many;
	_Atomic int end;
} *shared;

static int wake[WHO][2];
static uint64_t magic = CONTROL_MAGIC; /* the child has it at the same address */
static __thread enum who me;

/* Waits, in a thread of the child, until the test says so. place_call() can't align the stack. */
static __attribute__((force_align_arg_pointer)) void wait_here(void)
{
	char byte;

	shared->there[me] = 1;
	while (read(wake[me][0], &byte, 1) != 1)
		;
}

static void on_trap(int signal, siginfo_t *info, void *context)
{
	ucontext_t *c = context;

	(void)signal;
	(void)info;
	wait_here();
	if (c->uc_mcontext.gregs[REG_RIP] == (greg_t)(uintptr_t)place_trap + 1)
		c->uc_mcontext.gregs[REG_RIP] += 2;
}

static void do_steps(void)
{
	while (!shared->end) {
		uint32_t a = 0, c = 0, d = 0;
		__asm__ volatile("call place_steps" : "+a"(a), "+c"(c), "+d"(d) : : "cc", "memory");
		if (a != 1 || c != 1 || d != 1)
			shared->wrong++;
	}
}

static void *run(void *arg)
{
	static char other[1 << 16];
	stack_t alternate = { .ss_sp = other, .ss_size = sizeof(other) }, former;
	char byte = 0;

	me = (enum who)(intptr_t)arg;
	shared->tid[me] = (pid_t)syscall(SYS_gettid);
	switch (me) {
	case STEPS:
		do_steps();
		break;
	case SPIN:
		place_spin();
		break;
	case ALTERNATE:
		sigaltstack(&alternate, &former);
		shared->result[me] = place_trap() + 1;
		/* AddressSanitizer unmaps what an ending thread has there. */
		sigaltstack(&former, NULL);
		break;
	case TRAP:
		shared->result[me] = place_trap() + 1;
		break;
	case CALL:
		place_call(wait_here);
		shared->result[me] = 1;
		break;
	case BEHIND:
		place_behind(wait_here);
		shared->result[me] = 1;
		break;
	case READ:
		shared->result[me] = (int)place_read(wake[READ][0], &byte, 1);
		break;
	default:
		break;
	}
	return NULL;
}

static void *stand_by(void *arg)
{
	(void)arg;
	shared->many++;
	for (;;)
		pause();
	return NULL;
}

static void child(void)
{
	struct sigaction trap = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_ONSTACK };
	pthread_attr_t small;
	pthread_t thread;

	sigaction(SIGILL, &trap, NULL);
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 1 << 16);
	for (intptr_t i = 0; i < WHO; i++)
		pthread_create(&thread, NULL, run, (void *)i);
	for (int i = 0; i < MANY; i++)
		pthread_create(&thread, &small, stand_by, NULL);
	for (;;)
		pause();
}

/* ---- the test ---- */

static struct ctl_process process = { .memory = -1 };
static struct ctl_world world = { .process = &process };
static char said[256];

void tool_error(const char *command, const char *format, ...)
{
	va_list args;

	(void)command;
	va_start(args, format);
	vsnprintf(said, sizeof(said), format, args);
	va_end(args);
}

static __attribute__((noreturn)) void give_up(const char *why)
{
	if (process.pid > 0)
		kill(process.pid, SIGKILL);
	bail("%s %s", why, said);
}

/* Looks until it is so, for a minute at most. */
#define UNTIL(condition)                               \
	do {                                           \
		int tries = 0;                         \
		while (!(condition)) {                 \
			if (++tries > 60000)           \
				give_up("never: " #condition); \
			usleep(1000);                  \
		}                                      \
	} while (0)

static void stop(void)
{
	int r = -EAGAIN;

	ctl_limit_begin();
	for (int i = 0; i < 100 && r == -EAGAIN; i++)
		r = ctl_stop(&world);
	if (r || !ctl_maps(&process))
		give_up("the child does not stop");
}

static struct ctl_thread *thread_of(enum who who)
{
	for (size_t i = 0; i < world.threads; i++)
		if (world.thread[i].tid == shared->tid[who])
			return &world.thread[i];
	give_up("a thread is missing");
}

/* Stops all, with this thread at an address: it comes there again and again. */
static void stop_at(enum who who, uint64_t address)
{
	stop();
	struct ctl_thread *t = thread_of(who);
	for (int i = 0; i < 100000 && t->regs.rip != address; i++) {
		int signal;
		if (ptrace(PTRACE_SINGLESTEP, t->tid, 0, 0) || ctl_await(t->tid, &signal, ~0ull) != CTL_SIGNAL ||
			ptrace(PTRACE_GETREGS, t->tid, 0, &t->regs))
			give_up("a thread makes no step");
	}
	if (t->regs.rip != address)
		give_up("a thread does not come to its place");
}

static uint64_t at(void (*place)(void))
{
	return (uint64_t)(uintptr_t)place;
}
#define AT(place) at((void (*)(void))(place))

/* A jump of five bytes. */
static struct control_patch jump(uint64_t address)
{
	return (struct control_patch){ .address = address, .size = 5, .inside_low = address + 1,
		.inside_high = address + 5 };
}

/* Is the patch to be left out? -1: none may be made. */
static int clear_one(struct control_patch patch, size_t *moved)
{
	bool left_out = false;

	*moved = 0;
	return position_clear(&world, &patch, 1, &left_out, moved) ? -1 : left_out;
}

/* Without a copy to go on in. */
static int clear_jump(uint64_t address)
{
	size_t moved;
	int r = clear_one(jump(address), &moved);

	return moved ? -2 : r;
}

static struct control_patch steps(void)
{
	struct control_patch patch = jump(AT(place_steps));

	/* Its third instruction is one byte longer in the copy; the first four bytes are not. */
	patch.copy = AT(place_copy);
	patch.inside[1] = 2;
	patch.inside[3] = 4;
	return patch;
}

/* A thread between instructions goes on in the copy. */
static void test_steps(void)
{
	uint64_t site = AT(place_steps);
	size_t moved;

	for (unsigned n = 0; n <= 6; n += 2) {
		stop_at(STEPS, site + n);
		struct user_regs_struct before = thread_of(STEPS)->regs;
		bool inside = n == 2 || n == 4;
		is_int(clear_one(steps(), &moved), 0, "a thread at byte %u: its function can be changed", n);
		is_int(moved, inside, "it is %s", inside ? "sent elsewhere" : "left where it is");
		struct user_regs_struct after = thread_of(STEPS)->regs;
		is_int(after.rip, inside ? AT(place_copy) + n : site + n, "to the same place in the copy");
		after.rip = before.rip;
		ok(!memcmp(&before, &after, sizeof(before)), "and nothing else of it is changed");
		ctl_go(&world);
	}
	stop_at(STEPS, site + 2);
	is_int(clear_jump(site), 1, "where there is no copy, the function is left alone");
	ctl_go(&world);
}

/* A jump goes to which a short one led, and one comes over that one's place. */
static void test_both(void)
{
	const uint64_t site = AT(place_steps), padding = AT(place_spin) + 1;
	struct control_patch patch[] = { { .address = padding, .size = 5, .inside_low = padding,
		.inside_high = padding + 1, .resume = site + 2, .type = CONTROL_TYPE_PROBE }, steps() };
	bool left_out[2] = { false, false };
	size_t moved;

	patch[1].type = CONTROL_TYPE_PROBE;
	stop();
	struct user_regs_struct before = thread_of(SPIN)->regs;
	is_int(before.rip, padding, "a thread is on its way between two jumps");
	is_int(position_clear(&world, patch, 2, left_out, &moved), 0, "that go, when another comes");
	is_int(left_out[0] + left_out[1], 0, "neither is left out");
	is_int(thread_of(SPIN)->regs.rip, AT(place_copy) + 2, "it goes on in the copy of what comes");
	thread_of(SPIN)->regs = before;
	patch[1].inside[1] = 0;
	is_int(position_clear(&world, patch, 2, left_out, &moved), 0, "where that has no such place");
	is_int(2 * left_out[1] + left_out[0], 2, "it does not come");
	is_int(thread_of(SPIN)->regs.rip, site + 2, "and the thread goes back");
	thread_of(SPIN)->regs = before;
	ptrace(PTRACE_SETREGS, thread_of(SPIN)->tid, 0, &before);
	ctl_go(&world);
}

/* What nobody can be sent away from. */
static void test_left_out(void)
{
	static const struct {
		enum who who;
		void (*place)(void);
		int left_out;
		const char *what;
	} rows[] = {
		{ SPIN, place_spin, 1, "a loop within the bytes" },
		{ TRAP, (void (*)(void))place_trap, 1, "a place that handlers interrupted" },
		{ CALL, (void (*)(void))place_call, 1, "a return address within the bytes" },
		{ BEHIND, (void (*)(void))place_behind, 0, "a return address behind them" },
		{ READ, (void (*)(void))place_read, 1, "a system call within the bytes" },
	};

	stop();
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		is_int(clear_jump(at(rows[i].place)), rows[i].left_out, "%s: %s", rows[i].what,
			rows[i].left_out ? "left alone" : "can be changed");
	is_int(thread_of(SPIN)->regs.rip - AT(place_spin), 1, "the loop is where it was");
	/* The kernel would go back into the bytes to make the call again. */
	is_int(clear_jump(AT(place_read) - 1), 1, "a system call is their last instruction: left alone");
	is_int(clear_jump(AT(place_read) + 4), 0, "they begin behind it: they can be changed");
	ctl_go(&world);
}

/* They come back, and nothing is in the way any more. */
static void test_gone(void)
{
	char byte = 0;

	if (write(wake[CALL][1], &byte, 1) != 1 || write(wake[BEHIND][1], &byte, 1) != 1 ||
		write(wake[READ][1], &byte, 1) != 1)
		give_up("no pipe");
	UNTIL(shared->result[CALL] && shared->result[BEHIND] && shared->result[READ]);
	is_int(shared->result[READ], 1, "the system call had its result");
	stop();
	is_int(clear_jump(AT(place_read)), 0, "after it the function can be changed");
	ctl_go(&world);
}

/* What a handler interrupted goes on in the copy, or where the bytes do the same. */
static void test_moved(void)
{
	struct control_patch patch = jump(AT(place_trap)), call = jump(AT(place_call)), wait = jump(AT(place_read));
	size_t moved;
	char byte = 0;

	patch.copy = AT(place_trap_copy);
	patch.inside[0] = 1;
	call.copy = wait.copy = AT(place_copy);
	call.inside[1] = wait.inside[3] = 1;
	stop();
	is_int(clear_one(call, &moved), 1, "a return address stays, whatever the copy has");
	is_int(clear_one(wait, &moved), 1, "and so does a thread in a system call");
	is_int(clear_one(patch, &moved), 0, "what two handlers interrupted can go on in the copy");
	is_int(moved, 2, "so both will, on whatever stack they are");
	is_int(clear_one(patch, &moved), 0, "once more");
	is_int(moved, 0, "there is nothing left to be done");
	ctl_go(&world);
	for (enum who who = TRAP; who <= ALTERNATE; who++) {
		if (write(wake[who][1], &byte, 1) != 1)
			give_up("no pipe");
		UNTIL(shared->result[who]);
		is_int(shared->result[who], 2, "and does");
	}
	patch = jump(AT(place_steps));
	patch.resume = AT(place_steps) + 6;
	stop_at(STEPS, AT(place_steps) + 4);
	is_int(clear_one(patch, &moved), 0, "where the bytes at another place do the same: a thread goes there");
	is_int(thread_of(STEPS)->regs.rip - AT(place_steps), 6, "at once");
	/* It has not done the third instruction, which is no NOP: else it would count as wrong. */
	thread_of(STEPS)->regs.rdx++;
	ptrace(PTRACE_SETREGS, thread_of(STEPS)->tid, 0, &thread_of(STEPS)->regs);
	ctl_go(&world);
}

/* Many of both: each function for itself. */
static void test_many(void)
{
	static struct control_patch patch[FAR + 2];
	static bool left_out[FAR + 2];
	size_t moved = 0, n = 0, others = 0;

	UNTIL(shared->many == MANY);
	stop_at(STEPS, AT(place_steps) + 2);
	is_int(world.threads >= MANY, 1, "%zu threads", world.threads);
	for (size_t i = 0; i < FAR; i++)
		patch[n++] = jump(0x10000 + 64 * i);
	patch[n++] = jump(AT(place_spin));
	patch[n++] = steps();
	uint64_t begin = tool_now();
	is_int(position_clear(&world, patch, n, left_out, &moved), 0, "a thousand functions at once");
	diag("%zu functions, %zu threads: %.2f ms", n, world.threads, (double)(tool_now() - begin) / 1e6);
	for (size_t i = 0; i < FAR; i++)
		others += left_out[i];
	is_int(others, 0, "those that nobody is in can be changed");
	is_int(left_out[FAR], 1, "that with the loop can't");
	is_int(left_out[FAR + 1], 0, "that whose thread went elsewhere can");
	ctl_go(&world);
}

/* ---- probes ---- */

#define PAGE 4096ull

static uint8_t *text; /* two pages of NOPs, of the child, too */

static struct control_patch probe(uint64_t address, uint8_t size, bool chained)
{
	struct control_patch patch = { .address = address, .size = size, .type = CONTROL_TYPE_PROBE, .on = 1,
		.chained = chained };

	memset(patch.expected, 0x90, size);
	memset(patch.bytes, 0xcc, size);
	return patch;
}

/* Nothing may be on its way in place_steps() behind its first instruction. */
static struct control_patch guard(void)
{
	return (struct control_patch){ .type = CONTROL_TYPE_PROBE, .inside_low = AT(place_steps) + 1,
		.inside_high = AT(place_steps) + 6 };
}

/* Writes them, and back what was written; returns how many were. what: an 'x' for each that is there, a '.' else. */
static int write_all(const struct control_patch *patch, size_t count, struct ctl_written *written, char *what)
{
	int sites = -1;

	*written = (struct ctl_written){ 0 };
	if (!ctl_patch(&world, patch, count, written))
		sites = (int)written->sites;
	for (size_t i = 0; i < count; i++) {
		uint8_t now[16], none[16];
		memset(none, 0x90, sizeof(none));
		if (!ctl_read(&process, patch[i].address, now, patch[i].size))
			give_up("its code can't be read");
		what[i] = patch[i].size && !memcmp(now, patch[i].bytes, patch[i].size) ? 'x' : '.';
		if (what[i] == 'x' && !ctl_write(&process, patch[i].address, none, patch[i].size))
			give_up("its code can't be written");
	}
	what[count] = '\0';
	return sites;
}

static void test_chains(void)
{
	const uint64_t one = (uint64_t)(uintptr_t)text, two = one + PAGE;
	struct ctl_written written;
	char what[8];

	stop_at(STEPS, AT(place_steps) + 2);
	struct control_patch both[] = { probe(two + 8, 5, false), probe(one + 8, 2, true), probe(one + 64, 5, false) };
	is_int(write_all(both, 3, &written, what), 3, "a jump in padding, the short jump to it, and another one");
	is_str(what, "xxx", "all are written");
	is_int(written.writes, process.writable ? 2 : 3, "a page in one step, if the system lets us");
	both[0].expected[4] = 1;
	is_int(write_all(both, 3, &written, what), 1, "where somebody else wrote into the padding");
	is_str(what, "..x", "there is no short jump to it");
	is_int(written.refused_bytes, 1, "that is counted once");
	both[0].expected[4] = 0x90;
	both[1].expected[1] = both[2].expected[0] = 1;
	is_int(write_all(both, 3, &written, what), 1, "where the short jump can't be written");
	is_str(what, "x..", "the padding may be");

	struct control_patch guarded[] = { guard(), guard(), probe(one + 8, 5, true), probe(one + 32, 5, false),
		probe(one + 64, 5, true) };
	guarded[1].chained = 1;
	is_int(write_all(guarded, 5, &written, what), 2, "where a thread stands in the stub of a former probe");
	is_str(what, "...xx", "the bytes that it leads to are left, and no others");
	is_int(written.refused_position, 1, "to be tried again");
	guarded[4] = guard();
	guarded[4].chained = 1;
	is_int(write_all(guarded, 5, &written, what), 0, "several jumps may have the same guard");
	ctl_go(&world);
	stop_at(STEPS, AT(place_steps));
	is_int(write_all(guarded, 4, &written, what), 2, "when the thread is elsewhere");
	is_str(what, "..xx", "both are written");

	/* Two bytes on one page, three on the other. */
	struct control_patch across[] = { probe(two - 2, 5, false), probe(two - 16, 5, true) };
	is_int(write_all(across, 2, &written, what), 0, "a jump across two pages");
	is_str(what, "..", "is not written, nor what needs it");
	is_int(written.refused_straddle, 1, "that is counted");
	memset(across[0].bytes, 0x90, 2);
	is_int(write_all(across, 2, &written, what), 2, "but where only one page changes");
	is_str(what, "xx", "it is");
	ctl_go(&world);
}

int main(void)
{
	sigset_t set;
	int status = 0;
	char path[64];

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		give_up("no memory");
	text = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (text == MAP_FAILED)
		give_up("no memory");
	memset(text, 0x90, 2 * PAGE);
	mprotect(text, 2 * PAGE, PROT_READ | PROT_EXEC);
	for (int i = 0; i < WHO; i++)
		if (pipe(wake[i]))
			give_up("no pipe");
	/* As ctl_request(), for ctl_wait(). */
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	process.pid = fork();
	if (process.pid == 0) {
		child();
		_exit(0);
	}
	sigprocmask(SIG_BLOCK, &set, NULL);
	process.block_at = (uint64_t)(uintptr_t)&magic;
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)process.pid);
	process.memory = open(path, O_RDWR | O_CLOEXEC);
	process.writable = process.memory >= 0;
	if (!process.writable)
		process.memory = open(path, O_RDONLY | O_CLOEXEC);
	if (process.memory < 0)
		give_up("no memory of the child");
	UNTIL(shared->there[TRAP] && shared->there[ALTERNATE] && shared->there[CALL] && shared->there[BEHIND]);
	UNTIL(shared->tid[READ] && ctl_state(process.pid, shared->tid[READ]) == 'S');
	UNTIL(shared->tid[STEPS]);
	/* Threads that turn round may not have come to it yet. */
	for (int tries = 0, there = 0; !there && tries < 1000; tries++) {
		stop();
		there = shared->tid[SPIN] && thread_of(SPIN)->regs.rip == AT(place_spin) + 1;
		ctl_go(&world);
	}
	test_steps();
	test_both();
	test_left_out();
	test_moved();
	test_gone();
	test_many();
	test_chains();
	is_int(shared->wrong, 0, "the child noticed nothing");
	is_int(waitpid(process.pid, &status, WNOHANG), 0, "and lives");
	kill(process.pid, SIGKILL);
	waitpid(process.pid, &status, 0);
	ctl_maps_free(&process);
	ctl_world_free(&world);
	return done_testing();
}
