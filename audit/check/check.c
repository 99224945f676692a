/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "audit/check/check.h"

#include <signal.h>   /* SIGTRAP */
#include <errno.h>    /* EEXIST */
#include <stdbool.h>
#include <string.h>   /* strcmp */
#include <sys/mman.h> /* PROT_NONE */

#include "audit/check/dlclose.h"
#include "audit/prepare/image.h"
#include "runtime/process/process.h"
#include "x86_64/confined.h"
#include "x86_64/cpu.h"
#include "x86_64/remote.h"
#include "x86_64/sys.h"

#define KERNEL_SIGSET 8

static long tracer; /* 0: not in check mode */
static int started;
static uint64_t missed;

/* Closed, not yet unmapped. Process lock. */
static struct closing {
	uint32_t load; /* 0: free */
	struct load *of;
	uint64_t base, start, end, text_start, text_end, cost;
	const char *path;
} closing[CHECK_CLOSING_MAX] SYS_LARGE;

/* The reserved ranges, as a ring. Process lock. */
static struct range {
	uint64_t start, size;
} reserved[CHECK_RANGES] SYS_LARGE;
static uint32_t reserved_count;

int check_mode(void)
{
	return tracer != 0;
}

/* ---- messages to the tracer ---- */

/*
 * Is the tracer still there? Also right in a child of vfork, in other namespaces, and after the tracer has let us go.
 */
static bool is_watched(void)
{
	static const char key[] = "\nTracerPid:\t";
	char text[2048];
	long fd = sys_open("/proc/self/status", O_RDONLY, 0), n, pid = 0;

	if (fd < 0)
		return false;
	n = sys_read((int)fd, text, sizeof(text) - 1);
	sys_close((int)fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	const char *p = strstr(text, key);
	if (!p)
		return false;
	for (p += sizeof(key) - 1; *p >= '0' && *p <= '9'; p++)
		pid = pid * 10 + (*p - '0');
	return pid == tracer;
}

/* What the kernel knows of a signal's action. */
struct kernel_action {
	uint64_t handler, flags, restorer, mask;
};

/*
 * The kernel always delivers a breakpoint's signal: if SIGTRAP is blocked or ignored, the kernel changes that. So
 * SIGTRAP is neither while we send a message.
 */
void check_speak(struct check_message *message)
{
	uint64_t before, only = 1ull << (SIGTRAP - 1);
	struct kernel_action action = {0};

	if (!is_watched())
		return;
	message->size = sizeof(*message);
	sys_call(__NR_rt_sigaction, SIGTRAP, 0, (long)&action, KERNEL_SIGSET, 0, 0);
	sys_call(__NR_rt_sigprocmask, SIG_UNBLOCK, (long)&only, (long)&before, KERNEL_SIGSET, 0, 0);
	remote_tell(CHECK_MAGIC, message);
	if (action.handler == (uint64_t)(uintptr_t)SIG_IGN)
		sys_call(__NR_rt_sigaction, SIGTRAP, (long)&action, 0, KERNEL_SIGSET, 0, 0);
	sys_call(__NR_rt_sigprocmask, SIG_SETMASK, (long)&before, 0, KERNEL_SIGSET, 0, 0);
}

static void add_signals(struct check_message *message)
{
	for (int i = 0; i < CHECK_SIGNALS; i++) {
		struct kernel_action action = {0};

		sys_call(__NR_rt_sigaction, i + 1, 0, (long)&action, KERNEL_SIGSET, 0, 0);
		message->handler[i] = action.handler;
		message->restorer[i] = action.restorer;
	}
}

/* ---- start ---- */

int check_init(char *(*environment)(const char *))
{
	const char *text = environment(CHECK_VARIABLE);

	tracer = 0;
	for (; text && *text >= '0' && *text <= '9' && tracer < 1 << 30; text++)
		tracer = tracer * 10 + (*text - '0');
	int refused = tracer && (cpu_is_valgrind() || !is_watched());
	if (refused)
		tracer = 0;
	return refused;
}

static void start(void)
{
	struct check_message message = {.event = CHECK_STARTED};

	started = 1;
	if (check_dlclose_start(&message.thread_list) < 0)
		message.flags |= CHECK_BLIND;
	check_speak(&message);
}

/* ---- unloads ---- */

static void find_text(struct closing *c, const struct link_map *map)
{
	struct image image;

	if (!image_read(&image, map, 0))
		return;
	for (unsigned i = 0; i < image.phnum; i++) {
		const Elf64_Phdr *p = &image.phdr[i];

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
			continue;
		if (!c->text_start)
			c->text_start = image.base + p->p_vaddr;
		c->text_end = image.base + p->p_vaddr + p->p_memsz;
	}
}

/*
 * For modules with la_symbind64, ld.so makes a table of 32 bytes per PLT slot, and never frees it (measured with 2.36).
 * We add the entry of our ring of ranges.
 */
static uint64_t cost(const struct link_map *map)
{
	uint64_t size = 0;

	for (const Elf64_Dyn *d = map->l_ld; d && d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_PLTRELSZ)
			size = d->d_un.d_val / sizeof(Elf64_Rela) * 32;
	return (size ? (size + 8 + 15) & ~15ull : 0) + sizeof(struct range);
}

static uint64_t newest_libc(void)
{
	struct process_held held;
	uint64_t newest = 0;

	process_lock(&held);
	for (const struct load *load = loads; load; load = load->next) {
		const char *soname = load->object->soname;

		if (load->state == LOAD_OPEN && soname && load->number > newest &&
			(!strcmp(soname, "libc.so.6") || !strcmp(soname, "libpthread.so.0")))
			newest = load->number;
	}
	process_unlock(&held);
	return newest;
}

static void fill(struct check_message *message, const struct closing *c)
{
	message->cost = c->cost;
	message->libc = newest_libc();
	message->load = c->load;
	message->base = c->base;
	message->start = c->start;
	message->end = c->end;
	message->text_start = c->text_start;
	message->text_end = c->text_end;
	message->path = (uint64_t)(uintptr_t)c->path;
}

void check_closing(struct load *load)
{
	struct check_message message = {.event = CHECK_CLOSING};
	struct closing found = {
		.load = load->number, .of = load, .base = load->base, .start = load->start, .end = load->end};
	struct process_held held;
	int noted = 0;

	/*
	 * At exit, ld.so closes the other namespaces before it announces the program's end; nothing is unmapped then.
	 */
	if (!started || confined() || (load->namespace != LM_ID_BASE && !check_dlclose_active()))
		return;
	check_dlclose_forget(load);
	found.path = load->object->path;
	found.cost = cost(load->map);
	find_text(&found, load->map);
	process_lock(&held);
	for (int i = 0; i < CHECK_CLOSING_MAX && !noted; i++) {
		if (!closing[i].load) {
			closing[i] = found;
			noted = 1;
		}
	}
	missed += !noted;
	process_unlock(&held);
	if (!noted)
		return;
	fill(&message, &found);
	add_signals(&message);
	check_speak(&message);
}

/* Reserves the range for good. 1: done; 0: something is mapped there; -1: the kernel gives no address space. */
static int reserve(uint64_t start, uint64_t size)
{
	struct range *oldest = &reserved[reserved_count % CHECK_RANGES];
	void *at = (void *)(uintptr_t)start;
	long error = sys_mmap_at(at, size, PROT_NONE);

	if (error)
		return error == -EEXIST ? 0 : -1;
	if (oldest->size)
		sys_munmap((void *)(uintptr_t)oldest->start, oldest->size);
	*oldest = (struct range){.start = start, .size = size};
	reserved_count++;
	return 1;
}

/*
 * Finds one closed load that is unmapped now, and reserves its range. When a destructor opens a library, this is called
 * too early: then the load is still mapped, and is found by a later call. locked: ld.so's lock is held, so no thread is
 * in the middle of an unload. Returns 0 when there is no such load.
 */
static int take_unloaded(struct closing *result, uint32_t *flags, int *from, int locked)
{
	struct process_held held;
	int found = 0;

	process_lock(&held);
	for (int i = *from; i < CHECK_CLOSING_MAX && !found; i++) {
		struct closing *c = &closing[i];

		*from = i + 1;
		if (!c->load)
			continue;
		/*
		 * A load is closed once. If the number is another, the load is gone, and its struct serves a later
		 * load.
		 */
		int doomed = c->of->number != c->load || c->of->state == LOAD_DOOMED ||
			     c->of->state == LOAD_RETIRED || c->of->state == LOAD_FREE;
		int r = reserve(c->start, c->end - c->start);
		if (r == 0 && !(doomed && locked))
			continue;
		*flags = r > 0 ? CHECK_RESERVED : 0;
		*result = *c;
		c->load = 0;
		found = 1;
	}
	if (found && missed) {
		*flags |= CHECK_MISSED;
		missed = 0;
	}
	process_unlock(&held);
	return found;
}

void check_tell_unloaded(int locked)
{
	struct closing c;
	uint32_t flags;
	int from = 0;

	while (take_unloaded(&c, &flags, &from, locked)) {
		struct check_message message = {.event = CHECK_UNLOADED, .flags = flags};

		fill(&message, &c);
		add_signals(&message);
		check_speak(&message);
	}
}

void check_confine(void)
{
	struct check_message message = {.event = CHECK_CONFINED};

	if (started && !confined())
		check_speak(&message);
}

void check_consistent(void)
{
	if (confined())
		return;
	if (started)
		check_tell_unloaded(1);
	else
		start();
	check_dlclose_bind();
}
