/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/check/stack.h"

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/check/tasks.h"
#include "tool/index/debug.h"

/* How many of the last unloads have names, beside the one that is asked for. */
#define UNLOADS 16

#define FRAMES_MAX 128

/* How many bytes before an instruction without a line are searched for one with a line. */
#define LINE_SEARCH 64

struct check_names {
	Dwfl *dwfl;
	struct check_process *process;
	struct check_snapshot *snapshot; /* the one that is being unwound */
	bool attached;
};

static char *debug_path; /* NULL: libdwfl's default */

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_linux_proc_find_elf,
	.find_debuginfo = debug_find,
	.debuginfo_path = &debug_path,
};

const char *check_base(const char *path)
{
	return path ? tool_base(path) : NULL;
}

static void report_unload(struct check_names *names, const struct check_unload *unload)
{
	struct stat st;

	/* If there is another file of that name by now, its names would be wrong. */
	if (!unload->path || stat(unload->path, &st) < 0 || st.st_dev != unload->device || st.st_ino != unload->inode ||
		(uint64_t)st.st_mtim.tv_sec != unload->changed)
		return;
	dwfl_report_elf(names->dwfl, unload->path, unload->path, -1, unload->at.base, true);
}

struct check_names *check_names_begin(struct check_process *process, const struct check_unload *hit)
{
	struct check_names *names = memory_zeroed(1, sizeof(*names));
	size_t first = process->unloads > UNLOADS ? process->unloads - UNLOADS : 0;

	names->process = process;
	names->dwfl = debug_begin(&callbacks);
	if (!names->dwfl)
		return names;
	dwfl_linux_proc_report(names->dwfl, process->pid);
	if (hit)
		report_unload(names, hit);
	for (size_t i = first; i < process->unloads; i++)
		if (process->unload[i] != hit && process->unload[i]->when)
			report_unload(names, process->unload[i]);
	dwfl_report_end(names->dwfl, NULL, NULL);
	return names;
}

void check_names_end(struct check_names *names)
{
	if (names->dwfl)
		dwfl_end(names->dwfl);
	free(names);
}

static const char *object_of(Dwfl_Module *module)
{
	const char *file = NULL, *name;

	name = dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, &file, NULL);
	return file ? file : name;
}

/* The line of source; 0: no line. For compilers that make no .debug_aranges (clang) we search ourselves. NULL: unknown.
 */
static const char *line_at(Dwfl_Module *module, uint64_t address, int *number)
{
	Dwfl_Line *known = dwfl_module_getsrc(module, address);
	Dwarf_Addr bias = 0;

	/*
	 * Between functions with lines there may be one without: libdwfl gives it the last line of the function before.
	 */
	Dwarf_Die *about = known ? dwfl_module_addrdie(module, address, &bias) : NULL;
	if (about && dwarf_haspc(about, address - bias) == 0)
		return NULL;
	if (known)
		return dwfl_lineinfo(known, NULL, number, NULL, NULL, NULL);
	for (Dwarf_Die *unit = NULL; (unit = dwfl_module_nextcu(module, unit, &bias));) {
		if (dwarf_haspc(unit, address - bias) <= 0)
			continue;
		Dwarf_Line *line = dwarf_getsrc_die(unit, address - bias);
		return line && !dwarf_lineno(line, number) ? dwarf_linesrc(line, NULL, NULL) : NULL;
	}
	return NULL;
}

/* Code that an optimizer made of several lines has no line: the line before it is near. */
static const char *find_line(Dwfl_Module *module, uint64_t address, int *number)
{
	const char *file;

	for (uint64_t i = 0; i <= LINE_SEARCH; i++) {
		file = line_at(module, address - i, number);
		if (!file || *number)
			return file;
	}
	return NULL;
}

/* within: an address in the object that is looked for; module: may be NULL. */
static void name_in(Dwfl_Module *module, uint64_t address, uint64_t within, struct check_frame *frame)
{
	GElf_Sym symbol;
	GElf_Off offset;

	*frame = (struct check_frame){.address = address};
	if (!module)
		return;
	/* This must come first: it finds the file and its symbols. */
	const char *name = dwfl_module_addrinfo(module, within, &offset, &symbol, NULL, NULL, NULL);
	const char *object = object_of(module);
	if (object)
		frame->object = memory_format("%s", object);
	if (name) {
		/* Without the version, as in clock_nanosleep@GLIBC_2.2.5. */
		frame->function = memory_text(name, strcspn(name, "@"));
		frame->offset = offset + (address - within);
	} else {
		GElf_Addr bias = 0;

		frame->offset = dwfl_module_getelf(module, &bias) ? address - bias : 0;
	}
	const char *file = find_line(module, within, &frame->line);
	if (file)
		frame->file = memory_format("%s", file);
}

void check_name(struct check_names *names, uint64_t address, bool exact, struct check_frame *frame)
{
	uint64_t within = exact ? address : address - 1;

	name_in(names->dwfl ? dwfl_addrmodule(names->dwfl, within) : NULL, address, within, frame);
}

void check_name_data(struct check_names *names, uint64_t load, uint64_t address, struct check_frame *frame)
{
	name_in(names->dwfl ? dwfl_addrmodule(names->dwfl, load) : NULL, address, address, frame);
}

/* ---- unwinding ---- */

static pid_t next_thread(Dwfl *dwfl, void *context, void **thread)
{
	struct check_names *names = context;

	(void)dwfl;
	if (*thread)
		return 0;
	*thread = names->snapshot;
	return names->snapshot->tid;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *context, void **thread)
{
	struct check_names *names = context;

	(void)dwfl;
	*thread = names->snapshot;
	return tid == names->snapshot->tid;
}

static bool read_word(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *result, void *context)
{
	struct check_names *names = context;
	const struct check_snapshot *s = names->snapshot;

	(void)dwfl;
	if (s->stack && address >= s->start && s->size >= 8 && address - s->start <= s->size - 8) {
		memcpy(result, s->stack + (address - s->start), 8);
		return true;
	}
	return check_read(names->process, address, result, 8) == 8;
}

static bool set_registers(Dwfl_Thread *thread, void *snapshot)
{
	const struct check_snapshot *s = snapshot;
	Dwarf_Word regs[REMOTE_DWARF_REGISTERS];

	for (int i = 0; i < REMOTE_DWARF_REGISTERS; i++)
		regs[i] = s->regs[i];
	if (!dwfl_thread_state_registers(thread, 0, REMOTE_DWARF_REGISTERS, regs))
		return false;
	dwfl_thread_state_register_pc(thread, s->regs[REMOTE_DWARF_PC]);
	return true;
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = next_thread,
	.get_thread = get_thread,
	.memory_read = read_word,
	.set_initial_registers = set_registers,
};

struct unwinding {
	struct check_names *names;
	struct check_stack *stack;
};

static int take_frame(Dwfl_Frame *state, void *context)
{
	struct unwinding *u = context;
	Dwarf_Addr pc;
	Dwarf_Word sp = 0;
	bool exact;

	if (u->stack->count == FRAMES_MAX || !dwfl_frame_pc(state, &pc, &exact) || !pc)
		return DWARF_CB_ABORT;
	u->stack->frame = memory_resize(u->stack->frame, u->stack->count + 1, sizeof(*u->stack->frame));
	struct check_frame *frame = &u->stack->frame[u->stack->count++];
	*frame = (struct check_frame){.address = pc, .exact = exact};
	if (dwfl_frame_reg(state, 7, &sp) == 0)
		frame->sp = sp;
	return DWARF_CB_OK;
}

void check_unwind(struct check_names *names, struct check_snapshot *snapshot, struct check_stack *stack)
{
	struct unwinding u = {names, stack};

	*stack = (struct check_stack){0};
	if (!names->dwfl)
		return;
	names->snapshot = snapshot;
	if (!names->attached) {
		if (!dwfl_attach_state(names->dwfl, NULL, names->process->pid, &thread_callbacks, names))
			return;
		names->attached = true;
	}
	dwfl_getthread_frames(names->dwfl, snapshot->tid, take_frame, &u);
}

void check_stack_name(struct check_names *names, struct check_stack *stack)
{
	for (size_t i = 0; i < stack->count; i++) {
		struct check_frame bare = stack->frame[i];

		check_name(names, bare.address, bare.exact, &stack->frame[i]);
		stack->frame[i].sp = bare.sp;
		stack->frame[i].exact = bare.exact;
	}
}

void check_frame_free(struct check_frame *frame)
{
	free(frame->function);
	free(frame->file);
	free(frame->object);
}

void check_stack_free(struct check_stack *stack)
{
	for (size_t i = 0; i < stack->count; i++)
		check_frame_free(&stack->frame[i]);
	free(stack->frame);
	*stack = (struct check_stack){0};
}

/* The index of the first frame in other code than ours, the loader's and libc's; stack->count: none. */
static size_t first_other(const struct check_stack *stack)
{
	static const char *const ours[] = {"ld-linux-x86-64.so", "libc.so", "libdl.so", "libxaudit.so"};

	for (size_t i = 0; i < stack->count; i++) {
		const char *object = check_base(stack->frame[i].object);
		bool skip = false;

		for (size_t k = 0; object && k < sizeof(ours) / sizeof(*ours); k++)
			skip = skip || !strncmp(object, ours[k], strlen(ours[k]));
		if (!skip)
			return i;
	}
	return stack->count;
}

const struct check_frame *check_stack_culprit(const struct check_stack *stack)
{
	size_t i = first_other(stack);

	return i < stack->count ? &stack->frame[i] : NULL;
}

void check_stack_trim(struct check_stack *stack)
{
	size_t n = first_other(stack);

	if (n == stack->count)
		return;
	for (size_t i = 0; i < n; i++)
		check_frame_free(&stack->frame[i]);
	memmove(stack->frame, stack->frame + n, (stack->count - n) * sizeof(*stack->frame));
	stack->count -= n;
}
