/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "audit/check.h"

#include <dlfcn.h>
#include <signal.h>   /* SIGTRAP */
#include <stdlib.h>   /* strtol */
#include <errno.h>    /* EEXIST */
#include <string.h>   /* strcmp */
#include <sys/mman.h> /* PROT_NONE */
#include <unistd.h>   /* pread */

#include "audit/check_count.h"
#include "audit/image.h"
#include "runtime/process.h"
#include "runtime/sys.h"

#define KERNEL_SIGSET 8

static long tracer; /* 0: not in check mode */
static int started;
static uint32_t last_at_start; /* loads up to this number belong to the program */
static struct check_offsets offsets;
static uint64_t missed;

/* Closed, not yet unmapped. Process lock. */
static struct closing {
	uint32_t load; /* 0: free */
	struct load *of;
	uint64_t base, start, end, text_start, text_end;
	const char *path;
} closing[CHECK_CLOSING_MAX];

/* Ranges that are reserved, a ring. Process lock. */
static struct range {
	uint64_t start, size;
} reserved[CHECK_RANGES];
static uint32_t reserved_count;

/* Who has bindings into whom, of objects that the program opened. Process lock; when full, the reasons for staying are fewer. */
static struct bound {
	uint32_t from, to;
	const char *name; /* in the caller's memory */
} bound[512];
static uint32_t bound_count;

/* Loads that a nested dlclose (by a destructor) should have closed: known when the outermost one returns. Process lock. */
static struct {
	uint32_t tid, load;
} nested[64];

static __thread int depth __attribute__((tls_model("initial-exec"))); /* of dlclose on this thread */

int check_mode(void)
{
	return tracer != 0;
}

/* ---- the way to the tracer ---- */

/* Is it still there? Also in a child of vfork, in other namespaces, and after it has let us go. */
static int is_watched(void)
{
	static const char key[] = "\nTracerPid:\t";
	char text[2048];
	long fd = sys_open("/proc/self/status", O_RDONLY, 0), n, pid = 0;

	if (fd < 0)
		return 0;
	n = sys_read((int)fd, text, sizeof(text) - 1);
	sys_close((int)fd);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	const char *p = strstr(text, key);
	if (!p)
		return 0;
	for (p += sizeof(key) - 1; *p >= '0' && *p <= '9'; p++)
		pid = pid * 10 + (*p - '0');
	return pid == tracer;
}

/* What the kernel knows of a signal's action. */
struct kernel_action {
	uint64_t handler, flags, restorer, mask;
};

/*
 * The kernel delivers a breakpoint's signal in any case: where it is blocked or ignored, it first changes that. So it is neither while we
 * speak.
 */
static void speak(struct check_message *message)
{
	uint64_t before, only = 1ull << (SIGTRAP - 1);
	struct kernel_action action = { 0 };

	if (!is_watched())
		return;
	message->size = sizeof(*message);
	sys_call(__NR_rt_sigaction, SIGTRAP, 0, (long)&action, KERNEL_SIGSET, 0, 0);
	sys_call(__NR_rt_sigprocmask, SIG_UNBLOCK, (long)&only, (long)&before, KERNEL_SIGSET, 0, 0);
	__asm__ volatile("int3" : : "a"(CHECK_MAGIC), "D"(message) : "memory", "cc");
	if (action.handler == (uint64_t)(uintptr_t)SIG_IGN)
		sys_call(__NR_rt_sigaction, SIGTRAP, (long)&action, 0, KERNEL_SIGSET, 0, 0);
	sys_call(__NR_rt_sigprocmask, SIG_SETMASK, (long)&before, 0, KERNEL_SIGSET, 0, 0);
}

static void add_signals(struct check_message *message)
{
	for (int i = 0; i < CHECK_SIGNALS; i++) {
		struct kernel_action action = { 0 };

		sys_call(__NR_rt_sigaction, i + 1, 0, (long)&action, KERNEL_SIGSET, 0, 0);
		message->handler[i] = action.handler;
		message->restorer[i] = action.restorer;
	}
}

/* ---- start ---- */

void check_init(char *(*environment)(const char *))
{
	const char *text = environment(CHECK_VARIABLE);

	tracer = text ? strtol(text, NULL, 10) : 0;
	if (tracer && !is_watched())
		tracer = 0;
}

static void start(void)
{
	struct check_message message = { .event = CHECK_STARTED };
	struct process_held held;

	started = 1;
	process_lock(&held);
	for (const struct load *load = loads; load; load = load->next)
		if (load->number > last_at_start)
			last_at_start = load->number;
	process_unlock(&held);
	if (check_count_find(&offsets) < 0)
		message.flags |= CHECK_BLIND;
	speak(&message);
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

static void fill(struct check_message *message, const struct closing *c)
{
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
	struct check_message message = { .event = CHECK_CLOSING };
	struct closing found = { .load = load->number, .of = load, .base = load->base, .start = load->start, .end = load->end };
	struct process_held held;
	int noted = 0;

	/* At exit, ld.so closes the other namespaces before it tells of the program's end; nothing is unmapped then. */
	if (!started || (load->namespace != LM_ID_BASE && !depth))
		return;
	found.path = load->object->path;
	find_text(&found, load->map);
	process_lock(&held);
	for (uint32_t i = 0; i < bound_count;) {
		if (bound[i].from == load->number || bound[i].to == load->number)
			bound[i] = bound[--bound_count];
		else
			i++;
	}
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
	speak(&message);
}

/* Takes the range for good. 1: done; 0: something is mapped there; -1: the kernel gives no address space. */
static int reserve(uint64_t start, uint64_t size)
{
	struct range *oldest = &reserved[reserved_count % CHECK_RANGES];
	void *at = (void *)(uintptr_t)start;
	void *p = sys_mmap(at, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

	if (p != at) {
		/* Before Linux 4.17, the address is a wish. */
		if (!sys_is_error(p))
			sys_munmap(p, size);
		return sys_is_error(p) && (long)p != -EEXIST ? -1 : 0;
	}
	if (oldest->size)
		sys_munmap((void *)(uintptr_t)oldest->start, oldest->size);
	*oldest = (struct range){ .start = start, .size = size };
	reserved_count++;
	return 1;
}

/*
 * One load that was closed and is unmapped now, its range reserved. A destructor that opens a library brings us here too early: then the range
 * is still taken, and its time comes later. Returns 0 when there is none.
 */
static int take_unloaded(struct closing *result, uint32_t *flags, int *from)
{
	struct process_held held;
	int found = 0;

	process_lock(&held);
	for (int i = *from; i < CHECK_CLOSING_MAX && !found; i++) {
		struct closing *c = &closing[i];

		*from = i + 1;
		if (!c->load)
			continue;
		/* Closed again under the same number: not possible; under another: it is gone, and its memory serves the next. */
		int doomed = c->of->number != c->load || c->of->state == LOAD_DOOMED || c->of->state == LOAD_FREE;
		int r = reserve(c->start, c->end - c->start);
		if (r == 0 && !doomed)
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

void check_consistent(void)
{
	struct closing c;
	uint32_t flags;
	int from = 0;

	if (!started) {
		start();
		return;
	}
	while (take_unloaded(&c, &flags, &from)) {
		struct check_message message = { .event = CHECK_UNLOADED, .flags = flags };

		fill(&message, &c);
		add_signals(&message);
		speak(&message);
	}
}

/* ---- what was closed and stays ---- */

static int names(const struct load *load, const char *soname)
{
	const char *strings = NULL;

	for (const Elf64_Dyn *d = load->map->l_ld; d && d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_STRTAB)
			strings = (const char *)d->d_un.d_ptr;
	for (const Elf64_Dyn *d = load->map->l_ld; strings && d && d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_NEEDED && !strcmp(strings + d->d_un.d_val, soname))
			return 1;
	return 0;
}

static struct load *by_number(uint32_t number)
{
	struct load *load;

	for (load = loads; load; load = load->next)
		if (load->number == number && load->state == LOAD_OPEN)
			break;
	return load;
}

/* Why is it still there? As far as one can tell from inside. Lock held. */
static void add_reasons(struct check_message *message, const struct load *kept)
{
	const char *file = strrchr(kept->object->path, '/');
	const char *soname = kept->object->soname ? kept->object->soname : file ? file + 1 : kept->object->path;

	if (check_count_nodelete(&offsets, kept->map))
		message->flags |= CHECK_MARKED;
	for (const Elf64_Dyn *d = kept->map->l_ld; d && d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_FLAGS_1 && d->d_un.d_val & DF_1_NODELETE)
			message->flags |= CHECK_NODELETE;
	for (const struct load *load = loads; load; load = load->next) {
		if (load == kept || load->state != LOAD_OPEN || load->object->flags & TRACE_OBJECT_VDSO)
			continue;
		if (load->namespace == kept->namespace && names(load, soname))
			message->needed_by = (uint64_t)(uintptr_t)load->object->path;
	}
	for (uint32_t i = 0; i < bound_count; i++) {
		const struct load *from = bound[i].to == kept->number ? by_number(bound[i].from) : NULL;

		/* A dependency by name says more. */
		if (!from || names(from, soname))
			continue;
		message->bound_by = (uint64_t)(uintptr_t)from->object->path;
		message->bound_name = (uint64_t)(uintptr_t)bound[i].name;
	}
	message->destructors = check_count_destructors(&offsets, kept->map);
}

static void tell_kept(uint32_t number)
{
	struct check_message message = { .event = CHECK_KEPT };
	struct process_held held;
	int kept = 0;

	process_lock(&held);
	const struct load *load = by_number(number);
	if (load && (check_count_opens(&offsets, load->map) == 0 || check_count_nodelete(&offsets, load->map))) {
		message.load = number;
		message.base = load->base;
		message.start = load->start;
		message.end = load->end;
		message.path = (uint64_t)(uintptr_t)load->object->path;
		message.flags = number <= last_at_start ? CHECK_FROM_START : 0;
		add_reasons(&message, load);
		kept = 1;
	}
	process_unlock(&held);
	if (kept)
		speak(&message);
}

/* The open load with this handle, when one more dlclose is its last; 0: none. */
static uint32_t last_close(const void *handle)
{
	struct process_held held;
	uint32_t number = 0;

	process_lock(&held);
	for (const struct load *load = loads; load; load = load->next)
		if (load->state == LOAD_OPEN && load->map == handle && check_count_opens(&offsets, load->map) == 1)
			number = load->number;
	process_unlock(&held);
	return number;
}

static void note_nested(uint32_t number)
{
	struct process_held held;

	process_lock(&held);
	for (unsigned i = 0; i < sizeof(nested) / sizeof(*nested); i++) {
		if (!nested[i].load) {
			nested[i].load = number;
			nested[i].tid = (uint32_t)sys_gettid();
			break;
		}
	}
	process_unlock(&held);
}

static uint32_t take_nested(void)
{
	uint32_t tid = (uint32_t)sys_gettid(), number = 0;
	struct process_held held;

	process_lock(&held);
	for (unsigned i = 0; i < sizeof(nested) / sizeof(*nested) && !number; i++) {
		if (nested[i].load && nested[i].tid == tid) {
			number = nested[i].load;
			nested[i].load = 0;
		}
	}
	process_unlock(&held);
	return number;
}

static int (*real_dlclose)(void *handle);

/* What programs are bound to for dlclose. Unlike dlopen it does not ask who called it, so a frame of ours does no harm. */
static int check_dlclose(void *handle)
{
	uint32_t number = last_close(handle);

	depth++;
	int r = real_dlclose(handle);
	depth--;
	if (r)
		return r;
	if (depth) {
		if (number)
			note_nested(number);
		return r;
	}
	if (number)
		tell_kept(number);
	while ((number = take_nested()))
		tell_kept(number);
	return r;
}

static void note_binding(const struct load *from, const struct load *to, const char *name)
{
	struct process_held held;
	uint32_t i;

	process_lock(&held);
	for (i = 0; i < bound_count; i++)
		if (bound[i].from == from->number && bound[i].to == to->number)
			break;
	if (i == bound_count && bound_count < sizeof(bound) / sizeof(*bound))
		bound[bound_count++] = (struct bound){ .from = from->number, .to = to->number, .name = name };
	process_unlock(&held);
}

uintptr_t check_bind(const Elf64_Sym *symbol, const struct load *from, const struct load *to, unsigned flags, const char *name)
{
	const char *soname = to->object->soname;

	/* Each namespace has a libc of its own; that of the program counts. */
	if (!strcmp(name, "dlclose") && to->namespace == LM_ID_BASE && soname &&
		(!strcmp(soname, "libc.so.6") || !strcmp(soname, "libdl.so.2"))) {
		if (!real_dlclose)
			real_dlclose = (int (*)(void *))symbol->st_value;
		return (uintptr_t)check_dlclose;
	}
	/* dlsym by a handle makes no dependency. */
	if (from != to && !(flags & LA_SYMB_DLSYM) && started && to->number > last_at_start)
		note_binding(from, to, name);
	return symbol->st_value;
}
