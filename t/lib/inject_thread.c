#define _GNU_SOURCE
/* SPDX-License-Identifier: MIT */
#include "t/lib/inject_thread.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "runtime/control.h"

#define MAX_TSC 500

struct inject_shared *inject_shared;
const char *thread_module_path, *thread_library;
uint64_t thread_module;
pid_t thread_command, thread_tid;

/* ---- ends ---- */

const char *thread_doing = "beginning";
uint64_t thread_at;

void thread_fail(const char *what)
{
	printf("inject: %s, while %s at %s\n", what, thread_doing, thread_at ? thread_name_of(thread_at) : "none");
	fflush(stdout);
	if (thread_tid)
		kill(thread_tid, SIGKILL);
	if (thread_command)
		kill(thread_command, SIGTERM);
	exit(1);
}

void thread_on_alarm(int signal)
{
	(void)signal;
	thread_fail("it takes too long");
}

/* ---- symbols ---- */

static struct {
	const uint8_t *file;
	const Elf64_Sym *symbol;
	const char *string;
	size_t symbols;
} elf;

void thread_read_symbols(void)
{
	struct stat st;
	int fd = open(thread_module_path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st))
		thread_fail("the module can't be opened");
	elf.file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (elf.file == MAP_FAILED)
		thread_fail("the module can't be mapped");
	const Elf64_Ehdr *head = (const Elf64_Ehdr *)elf.file;
	const Elf64_Shdr *section = (const Elf64_Shdr *)(elf.file + head->e_shoff);
	for (unsigned i = 0; i < head->e_shnum; i++) {
		/* The larger table comes last. */
		if (section[i].sh_type != SHT_SYMTAB && section[i].sh_type != SHT_DYNSYM)
			continue;
		elf.symbol = (const Elf64_Sym *)(elf.file + section[i].sh_offset);
		elf.symbols = section[i].sh_size / sizeof(Elf64_Sym);
		elf.string = (const char *)(elf.file + section[section[i].sh_link].sh_offset);
	}
}

uint64_t thread_symbol(const char *name)
{
	for (size_t i = 0; i < elf.symbols; i++)
		if (elf.symbol[i].st_value && !strcmp(elf.string + elf.symbol[i].st_name, name))
			return thread_module + elf.symbol[i].st_value;
	thread_fail("the module has not the symbol that was asked for");
}

const char *thread_name_of(uint64_t address)
{
	static char text[200];
	uint64_t best = 0, end = 0;
	const char *name = "stub";

	for (size_t i = 0; i < elf.symbols; i++) {
		const Elf64_Sym *s = &elf.symbol[i];
		if (ELF64_ST_TYPE(s->st_info) != STT_FUNC || !s->st_value || s->st_value < best ||
			thread_module + s->st_value > address || address - thread_module > 1u << 30)
			continue;
		best = s->st_value;
		end = best + s->st_size;
		name = elf.string + s->st_name;
	}
	/* A name in the middle of assembly may end where a local label begins. */
	if (best && address - thread_module > end + 4096) {
		best = 0;
		name = "stub";
	}
	snprintf(text, sizeof(text), "%s+%#lx", name,
		(unsigned long)(best ? address - thread_module - best : address & 0xfff));
	return text;
}

/* ---- code of the module ---- */

static struct range {
	uint64_t low, high;
	int is_library;
} ours[200];
static size_t ranges;

static int ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && !strcmp(text + n - m, end);
}

/* The module's text, return labels, executable memory without a file (stubs), and the library's text. */
void thread_read_maps(void)
{
	char path[64], line[PATH_MAX + 100], name[PATH_MAX], rights[8];
	unsigned long low, high, offset;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)thread_tid);
	FILE *maps = fopen(path, "re");
	if (!maps)
		thread_fail("no /proc/PID/maps");
	ranges = 0;
	while (fgets(line, sizeof(line), maps)) {
		name[0] = '\0';
		if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %4095s", &low, &high, rights, &offset, name) < 4)
			continue;
		int is_module = !strcmp(name, thread_module_path);
		if (is_module && !offset)
			thread_module = low;
		int is_library = thread_library && ends_with(name, thread_library);
		if (rights[2] == 'x' && ranges < 200 &&
			(is_module || is_library || !name[0] || !strncmp(name, "/memfd:", 7) ||
				ends_with(name, "/labels")))
			ours[ranges++] = (struct range){low, high, is_library};
	}
	fclose(maps);
	if (!thread_module)
		thread_fail("the module is not there");
}

static const struct range *range_of(uint64_t rip)
{
	for (size_t i = 0; i < ranges; i++)
		if (rip >= ours[i].low && rip < ours[i].high)
			return &ours[i];
	return NULL;
}

int thread_is_ours(uint64_t rip)
{
	return range_of(rip) != NULL;
}

/* ---- memory and registers of the thread ---- */

struct user_regs_struct thread_registers;

void thread_get_registers(void)
{
	if (ptrace(PTRACE_GETREGS, thread_tid, NULL, &thread_registers))
		thread_fail("no registers");
}

static void set_registers(void)
{
	if (ptrace(PTRACE_SETREGS, thread_tid, NULL, &thread_registers))
		thread_fail("registers can't be set");
}

/* Writes one byte of code, and returns the old one; -1: it can't be written. */
static int put_byte(uint64_t address, int byte)
{
	errno = 0;
	long word = ptrace(PTRACE_PEEKTEXT, thread_tid, (void *)(uintptr_t)address, NULL);

	if (errno || ptrace(PTRACE_POKETEXT, thread_tid, (void *)(uintptr_t)address, (void *)((word & ~0xffl) | byte)))
		return -1;
	return (int)(word & 0xff);
}

static void peek_block(uint64_t address, void *to, size_t size)
{
	uint64_t word;

	for (size_t i = 0; i < size; i += 8) {
		word = (uint64_t)ptrace(PTRACE_PEEKDATA, thread_tid, (void *)(uintptr_t)(address + i), NULL);
		memcpy((uint8_t *)to + i, &word, size - i < 8 ? size - i : 8);
	}
}

static void poke_block(uint64_t address, const void *from, size_t size)
{
	uint64_t word;

	for (size_t i = 0; i < size; i += 8) {
		memcpy(&word, (const uint8_t *)from + i, 8);
		if (ptrace(PTRACE_POKEDATA, thread_tid, (void *)(uintptr_t)(address + i), (void *)word))
			thread_fail("memory can't be written");
	}
}

/* ---- time ---- */

static uint64_t tsc[MAX_TSC]; /* addresses of rdtsc, as in the file */
static size_t tscs;
static int tsc_is_ours; /* breakpoints are set there */
uint64_t thread_pauses;

static uint64_t read_tsc(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

void thread_read_tsc_places(const char *path)
{
	unsigned long address;
	FILE *file = fopen(path, "re");

	while (file && tscs < MAX_TSC && fscanf(file, "%lx", &address) == 1)
		tsc[tscs++] = address;
	if (!file || !tscs)
		thread_fail("no addresses of rdtsc");
	fclose(file);
}

void thread_take_tsc(int take)
{
	if (!tscs || tsc_is_ours == take)
		return;
	for (size_t i = 0; i < tscs; i++) {
		int was = put_byte(thread_module + tsc[i], take ? 0xcc : 0x0f);
		if (was != (take ? 0x0f : 0xcc))
			thread_fail("there is no rdtsc where one should be");
	}
	tsc_is_ours = take;
}

int thread_is_tsc(uint64_t address)
{
	for (size_t i = 0; tsc_is_ours && i < tscs; i++)
		if (address == thread_module + tsc[i])
			return 1;
	return 0;
}

uint64_t thread_ticks(void)
{
	return read_tsc() + thread_pauses;
}

/* The thread stands after a breakpoint on rdtsc: does what the instruction would have done. */
static int emulate_tsc(void)
{
	if (!thread_is_tsc(thread_registers.rip - 1))
		return 0;
	uint64_t now = thread_ticks();
	thread_registers.rax = (uint32_t)now;
	thread_registers.rdx = now >> 32;
	thread_registers.rip++;
	set_registers();
	return 1;
}

/* ---- running ---- */

int thread_runs;
static uint64_t broken; /* our breakpoint; 0: none */
static int broken_byte;

/* Waits for the thread's next stop. Returns the signal. */
static int await(void)
{
	int status;

	if (waitpid(thread_tid, &status, __WALL) != thread_tid)
		thread_fail("waitpid");
	if (!WIFSTOPPED(status)) {
		thread_tid = 0;
		printf("inject: status %x\n", (unsigned)status);
		thread_fail("the thread is gone");
	}
	if (status >> 16 == PTRACE_EVENT_STOP)
		return 0;
	return WSTOPSIG(status);
}

int thread_break_at(uint64_t address)
{
	const struct range *range = range_of(address);

	/* In a library a byte of one instruction may be one of another, too, as of the jump at an entry. */
	broken_byte = range && range->is_library ? -1 : put_byte(address, 0xcc);
	broken = broken_byte < 0 ? 0 : address;
	return broken_byte >= 0;
}

void thread_no_break(void)
{
	if (broken)
		put_byte(broken, broken_byte);
	broken = 0;
}

/* A step may end right after a breakpoint at which the thread did not stop. */
static int is_int3(void)
{
	siginfo_t info;

	return !ptrace(PTRACE_GETSIGINFO, thread_tid, NULL, &info) &&
	       (info.si_code == SI_KERNEL || info.si_code == TRAP_BRKPT);
}

enum stop thread_go_on(int step, int signal)
{
	for (;;) {
		if (!thread_runs &&
			ptrace(step ? PTRACE_SINGLESTEP : PTRACE_CONT, thread_tid, NULL, (void *)(long)signal))
			thread_fail("the thread can't go on");
		thread_runs = 0;
		signal = await();
		if (signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGALRM ||
			signal == SIGFPE) {
			thread_get_registers();
			printf("inject: signal %d at %s\n", signal, thread_name_of(thread_registers.rip));
			thread_fail("the program is killed");
		}
		if (signal != SIGTRAP)
			continue;
		thread_get_registers();
		if (!is_int3()) {
			if (step)
				return STOP_STEP;
		} else if (emulate_tsc()) {
			if (step)
				return STOP_STEP;
		} else if (broken && thread_registers.rip == broken + 1) {
			thread_registers.rip = broken;
			set_registers();
			return STOP_BREAK;
		} else if (thread_registers.rip == inject_shared->advance + 1) {
			thread_pauses += PAUSE;
		} else if (thread_registers.rip == inject_shared->begin + 1) {
			return STOP_BEGIN;
		} else if (thread_registers.rip == inject_shared->end + 1) {
			return STOP_END;
		} else if (thread_registers.rip == inject_shared->done + 1) {
			return STOP_DONE;
		}
		signal = 0;
	}
}

void thread_expect(enum stop wanted, const char *text)
{
	thread_doing = text;
	if (thread_go_on(0, 0) != wanted)
		thread_fail("it stops elsewhere");
}

/* ---- modes ---- */

/* Makes the thread call control_entry from where it stands, as tool/ctl/remote_call.c does. Returns the result. */
static int control(enum control_op op, uint64_t argument)
{
	struct user_regs_struct before;
	struct control_block block;
	uint64_t mask, all = ~0ull;
	struct control_request *request = calloc(1, sizeof(*request)); /* only its head is used */

	thread_get_registers();
	before = thread_registers;
	peek_block(thread_symbol(CONTROL_SYMBOL), &block, sizeof(block));
	request->op = op;
	request->error = -EINPROGRESS;
	request->argument = argument;
	poke_block((uint64_t)(uintptr_t)block.request, request, offsetof(struct control_request, text));
	if (ptrace(PTRACE_GETSIGMASK, thread_tid, sizeof(mask), &mask))
		thread_fail("no mask of signals");
	struct control_frame frame = {.mask = mask,
		.flags = thread_registers.eflags,
		.r15 = thread_registers.r15,
		.r14 = thread_registers.r14,
		.r13 = thread_registers.r13,
		.r12 = thread_registers.r12,
		.r11 = thread_registers.r11,
		.r10 = thread_registers.r10,
		.r9 = thread_registers.r9,
		.r8 = thread_registers.r8,
		.rdi = thread_registers.rdi,
		.rsi = thread_registers.rsi,
		.rbp = thread_registers.rbp,
		.rbx = thread_registers.rbx,
		.rdx = thread_registers.rdx,
		.rcx = thread_registers.rcx,
		.rax = thread_registers.rax,
		.rip = thread_registers.rip};
	uint64_t frame_at = thread_registers.rsp - 128 - sizeof(frame);
	poke_block(frame_at, &frame, sizeof(frame));
	thread_registers.rip = (uint64_t)(uintptr_t)block.entry;
	thread_registers.rdi = frame_at;
	thread_registers.rsp = (uint64_t)(uintptr_t)block.stack_top;
	thread_registers.orig_rax = (uint64_t)-1;
	set_registers();
	if (ptrace(PTRACE_SETSIGMASK, thread_tid, sizeof(all), &all))
		thread_fail("the mask of signals can't be set");
	/* The thread restores itself, as it does when the tool has died. */
	uint64_t back = before.rip;
	int byte = put_byte(back, 0xcc);
	for (;;) {
		if (byte >= 0) {
			if (ptrace(PTRACE_CONT, thread_tid, NULL, NULL))
				thread_fail("the thread can't go on");
		} else if (ptrace(PTRACE_SINGLESTEP, thread_tid, NULL, NULL)) {
			thread_fail("the thread can't go on");
		}
		int signal = await();
		thread_get_registers();
		/*
		 * The thread may have stood at an rdtsc, which is a breakpoint already: it must not run through that.
		 */
		int is_back = byte >= 0 && signal == SIGTRAP && thread_registers.rip == back + 1 && is_int3();
		if (!is_back && signal == SIGTRAP && is_int3() && emulate_tsc())
			continue;
		if (is_back) {
			if (thread_registers.rsp == before.rsp)
				break;
			/* The thread comes there on our stack, too. */
			put_byte(back, byte);
			thread_registers.rip = back;
			set_registers();
			if (ptrace(PTRACE_SINGLESTEP, thread_tid, NULL, NULL) || await() != SIGTRAP)
				thread_fail("the thread can't go on");
			thread_get_registers();
			if (is_int3())
				emulate_tsc();
			put_byte(back, 0xcc);
		}
		if (byte < 0 && signal == SIGTRAP && thread_registers.rip == back && thread_registers.rsp == before.rsp)
			break;
		if (signal && signal != SIGTRAP)
			thread_fail("control_entry fails");
	}
	if (byte >= 0)
		put_byte(back, byte);
	thread_registers = before;
	set_registers();
	peek_block((uint64_t)(uintptr_t)block.request, request, offsetof(struct control_request, text));
	int error = request->error;
	free(request);
	return error;
}

void thread_switch_mode(void)
{
	static enum trace_mode mode = TRACE_MODE_STREAM;
	int error = -EAGAIN;

	mode = mode == TRACE_MODE_STREAM ? TRACE_MODE_RING : TRACE_MODE_STREAM;
	for (int i = 1; i < 20000 && error == -EAGAIN; i++) {
		error = control(CONTROL_MODE, mode);
		for (int n = 0; n < (i < 40 ? i : 40) && error == -EAGAIN; n++)
			if (thread_go_on(1, 0) != STOP_STEP)
				thread_fail("the lock is held until the end");
	}
	if (error)
		thread_fail("the mode can't be changed");
}
