/* SPDX-License-Identifier: MIT */
#include "runtime/process/process.h"

#include <errno.h>	  /* EEXIST */
#include <stdbool.h>
#include <sys/mman.h>	  /* MADV_WIPEONFORK */

#include "runtime/base/identity.h"
#include "runtime/base/text.h"
#include "runtime/files/family.h"
#include "runtime/files/output.h"
#include "runtime/files/pool.h"
#include "runtime/files/pool_grow.h"
#include "runtime/files/pool_make.h"
#include "runtime/files/stderr.h"
#include "runtime/files/surroundings.h"
#include "runtime/process/clock.h"
#include "runtime/process/lock.h"
#include "runtime/process/process_counters.h"
#include "runtime/process/state.h"
#include "x86_64/confined.h"
#include "x86_64/cpu.h"
#include "x86_64/sys.h"

/* What a forked child finds of its parent. Lock. */
static struct {
	uint32_t busy; /* a thread has the lock, and may be describing things */
	uint32_t place; /* of the head */
	uint64_t used;	/* by its records */
	uint32_t untold; /* something is not in them */
	int64_t time_offset;
	uint64_t pid_namespace;
} kept;

static struct process_options options;
static int quiet; /* see process_quiet(). Written by the only thread that there is */

int process_init(const struct process_options *wanted)
{
	size_t size = (sizeof(struct process) + 4095) & ~4095ul;
	void *p = sys_mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (sys_is_error(p))
		return (int)(intptr_t)p;
	long r = sys_madvise(p, size, MADV_WIPEONFORK);
	if (r) {
		sys_munmap(p, size);
		return (int)r;
	}
	options = *wanted;
	process = p;
	process->clock_busy = 0; /* written before it is read: else its page would be made twice */
	family_init(options.output, &process->head);
	stderr_init();
	return identity_init(process->identity);
}

/* ---- lock ---- */

void process_quiet(int is)
{
	quiet = is;
}

/* While ld.so starts a program it binds hundreds of functions, and each lock would cost two system calls. */
static void block_signals(struct process_held *held)
{
	held->blocked = !quiet;
	if (held->blocked)
		sys_block_signals(&held->signals);
}

static void restore_signals(const struct process_held *held)
{
	if (held->blocked)
		sys_set_signals(&held->signals, NULL);
}

/*
 * Each store of a thread is in the memory that a forked child gets, or comes after the fork: the kernel stops the
 * thread there. So a child that does not find this store finds no later one.
 */
static void note_held(void)
{
	if (!process->known) {
		process->torn = kept.busy != 0;
		process->known = 1;
	}
	/* Relaxed: the child is no partner thread; the fence is for the compiler. */
	__atomic_store_n(&kept.busy, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&process->owner, cpu_thread(), __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static void begin_held(struct process_held *held)
{
	block_signals(held);
	/* While there is one thread nobody asks for its number. */
	held->number = held->blocked ? lock_number() : LOCK_SOMEONE;
}

/*
 * By number where the kernel may be asked: a task that shares our memory may share our thread's %fs base, too. A number
 * that is not known says nothing.
 */
static bool is_inside(uint32_t number)
{
	/* Relaxed: its own store. */
	return lock_is_held(&process->lock, number) &&
	       (number != LOCK_SOMEONE || __atomic_load_n(&process->owner, __ATOMIC_RELAXED) == cpu_thread());
}

bool process_is_inside(void)
{
	/* Relaxed: its own stores. Else nobody asks for the number, which takes a system call. */
	return __atomic_load_n(&process->owner, __ATOMIC_RELAXED) == cpu_thread() &&
	       __atomic_load_n(&process->lock, __ATOMIC_RELAXED) && is_inside(lock_number());
}

static const char left_line[] = "a task that shares the program's memory was killed while it held xaudit's lock; names "
				"or loads that it was noting may be missing";

/* Lock held. */
static void say_left(void)
{
	kept.untold = 1;
	process->left = !process->head;
	process_say(left_line);
}

void process_lock(struct process_held *held)
{
	begin_held(held);
	if (process_is_inside()) {
		held->number = 0;
		return;
	}
	int left = lock_take(&process->lock, held->number);
	note_held();
	if (left)
		say_left();
}

bool process_trylock(struct process_held *held)
{
	begin_held(held);
	if (lock_try(&process->lock, held->number)) {
		note_held();
		return true;
	}
	restore_signals(held);
	return false;
}

void process_unlock(const struct process_held *held)
{
	if (held->number && lock_is_held(&process->lock, held->number)) {
		/* Relaxed, as in note_held(). */
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		__atomic_store_n(&process->owner, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&kept.busy, 0, __ATOMIC_RELAXED);
		lock_release(&process->lock);
	}
	restore_signals(held);
}

void process_confine(int strictly)
{
	struct process_held held;

	if (options.confine)
		options.confine();
	begin_held(&held);
	/* Strictly, it is for this thread alone. */
	if (!strictly)
		lock_take(&process->snapshots.lock, held.number);
	/* Relaxed: see confined(). */
	__atomic_store_n(&tramp_confined, strictly ? 2 : 1, __ATOMIC_RELAXED);
	lock_wake(&process->lock);
	if (!strictly && lock_is_held(&process->snapshots.lock, held.number))
		lock_release(&process->snapshots.lock);
	restore_signals(&held);
}

/* ---- small questions ---- */

enum process_state process_state(void)
{
	/* Relaxed: a hint; code that acts on it takes the lock and looks again. */
	return __atomic_load_n(&process->state, __ATOMIC_RELAXED);
}

struct trace_head *process_head(void)
{
	return process->head;
}

struct trace_head *const *process_head_place(void)
{
	return &process->head;
}

uint32_t process_serial(void)
{
	return identity_generation();
}

struct process_snapshots *process_snapshots(void)
{
	return &process->snapshots;
}

uint32_t process_pid(void)
{
	return process->pid;
}

uint32_t process_place(void)
{
	return process->place;
}

uint32_t process_new_thread(void)
{
	/* Relaxed, both: each number is given once, which is all. */
	__atomic_fetch_add(&process->head->threads, 1, __ATOMIC_RELAXED);
	return __atomic_fetch_add(&process->threads, 1, __ATOMIC_RELAXED); /* as said */
}

uint32_t process_threads(void)
{
	return __atomic_load_n(&process->threads, __ATOMIC_RELAXED); /* as said */
}

/* ---- saying things ---- */

static void append_text(uint32_t what, const char *string, size_t length)
{
	struct trace_text text = { .head = { .type = TRACE_REC_TEXT }, .what = what, .length = (uint32_t)length };

	process_append(&text.head, sizeof(text), string, length);
}

static void write_line(const char *line)
{
	char buffer[512];
	struct text text = { buffer, sizeof(buffer), 0 };

	text_string(&text, "xaudit: ");
	text_string(&text, line);
	text.length = text_clean(buffer);
	text_string(&text, "\n");
	stderr_write(buffer, text.length);
}

void process_note(const char *line, bool say)
{
	if (say)
		write_line(line);
	append_text(TRACE_TEXT_NOTE, line, sys_length(line));
}

void process_why(const char *line)
{
	struct text text = { process->why, sizeof(process->why), 0 };

	text_string(&text, line);
	text_clean(process->why);
}

const char *process_why_place(void)
{
	return process->why;
}

/* say: in this process, as the first of its family. */
static void refused(long error, int say)
{
	char line[500];
	struct text text = { line, sizeof(line), 0 };

	text_string(&text, "the trace has no room for another process: ");
	text_error(&text, error);
	process_why(line);
	if (!say)
		return;
	text_string(&text, "; what such processes do is lost, and counted: ");
	text_string(&text, family_folder());
	write_line(line);
}

void process_off(const char *what, const char *where, long error)
{
	char buffer[400];
	struct text text = { buffer, sizeof(buffer), 0 };

	if (process->state == PROCESS_OFF)
		return;
	text_string(&text, what);
	if (where) {
		text_string(&text, " ");
		text_string(&text, where);
	}
	if (error) {
		text_string(&text, ": ");
		text_error(&text, error);
	}
	process_why(buffer);
	text_string(&text, "; the program runs on, untraced");
	process_say(buffer);
	if (process->head)
		process->head->flags |= TRACE_OFF;
	/* Relaxed: others notice soon enough. */
	__atomic_store_n(&process->state, PROCESS_OFF, __ATOMIC_RELAXED);
}

/* ---- records ---- */

int process_open_stream(unsigned n, uint64_t end, struct output_place *place)
{
	char name[32];
	struct text text = { name, sizeof(name), 0 };

	if (!pool_may_reach(end))
		return -EFBIG;
	text_char(&text, 't');
	text_number(&text, n);
	if (process->place) {
		text_char(&text, '.');
		text_number(&text, process->place);
	}
	return family_open(name, 1, place);
}

void process_append(struct trace_record *head, size_t head_size, const void *body, size_t body_size)
{
	if (!process->head || process->state == PROCESS_OFF) {
		kept.untold = 1;
	} else if (records_append(&process->records, head, head_size, body, body_size)) {
		process_count(&process->head->meta_lost, 1);
		kept.untold = 1;
	} else {
		kept.used = process->records.used;
	}
}

void process_untold(void)
{
	kept.untold = 1;
}

void process_change(enum trace_change_what what, uint64_t value, const char *text)
{
	struct trace_change change = { .head = { .type = TRACE_REC_CHANGE }, .what = what, .value = value };

	if (text)
		change.length = (uint32_t)sys_length(text);
	change.tid = confined() ? 0 : (uint32_t)sys_gettid();
	change.clock = clock_now();
	process_append(&change.head, sizeof(change), text, change.length);
}

const char *process_folder(void)
{
	return process->folder;
}

const uint32_t *process_state_place(void)
{
	return &process->state;
}

void process_clock(void)
{
	uint64_t before;
	struct trace_pair pair;

	clock_pair(&pair);
	/* A handler that jumps away would leave it busy. */
	sys_block_signals(&before);
	/* Here: a handler may have forked before, and this be the child, which has no head yet. */
	struct trace_head *head = process->head;
	/* One writer at a time. No waiting: the other writer does the same. */
	if (!head || !lock_try_left(&process->clock_busy, lock_number())) {
		sys_set_signals(&before, NULL);
		return;
	}
	/*
	 * Odd before, even after; a writer that was killed has left it odd. Acquire: the stores of the pair stay after
	 * it; pairs with the reader's second look.
	 */
	uint32_t seq = head->last_seq | 1;
	__atomic_exchange_n(&head->last_seq, seq, __ATOMIC_ACQUIRE);
	/* Not where a handler of this thread, or another thread, has been faster. */
	if (pair.ticks > head->last.ticks)
		head->last = pair;
	/* pairs with the reader's first look, an acquire */
	__atomic_store_n(&head->last_seq, seq + 1, __ATOMIC_RELEASE);
	lock_release(&process->clock_busy);
	sys_set_signals(&before, NULL);
}

/* ---- start ---- */

static void describe_program(const struct surroundings *here)
{
	append_text(TRACE_TEXT_MODULE, options.version, sys_length(options.version));
	if (options.program && *options.program)
		append_text(TRACE_TEXT_EXE, options.program, sys_length(options.program));
	else if (here->exe_length)
		append_text(TRACE_TEXT_EXE, here->exe, here->exe_length);
	append_text(TRACE_TEXT_COMMAND, here->command, here->command_length);
	if (*here->host)
		append_text(TRACE_TEXT_HOST, here->host, sys_length(here->host));
	append_text(TRACE_TEXT_CONFIG, options.source, sys_length(options.source));
}

/* For the head. What can't be known is as in the process that forked this one: that may have left its namespace. */
static int64_t time_offset(void)
{
	if (clock_kind() != TRACE_CLOCK_MONOTONIC)
		return 0;
	if (!confined())
		surroundings_time_offset(&kept.time_offset);
	return kept.time_offset;
}

/* The head of this process, in its place, which is reserved. */
static void begin_head(uint32_t place)
{
	struct trace_head *head = pool_address(place);

	sys_copy(head->magic, TRACE_MAGIC, sizeof(head->magic));
	head->version = TRACE_VERSION;
	head->head_size = place ? TRACE_HEAD_SIZE : POOL_BLOCK_HEAD;
	head->chunk_size = options.chunk_size;
	head->pid = process->pid;
	head->ppid = confined() ? ((const struct trace_head *)pool_address(kept.place))->pid :
				  (uint32_t)sys_call(__NR_getppid, 0, 0, 0, 0, 0, 0);
	head->clock = clock_kind();
	head->time_offset = time_offset();
	/* In another root there may be no /proc. */
	uint64_t namespace = confined() ? 0 : surroundings_pid_namespace();
	kept.pid_namespace = namespace ? namespace : kept.pid_namespace;
	head->pid_namespace = kept.pid_namespace;
	clock_pair(&head->first);
	head->last = head->first;
	head->process = place;
	head->place_size = pool_place_size();
	process->place = place;
	records_begin(&process->records, head, place);
}

/* All is there that others look for. */
static void show_head(struct trace_head *head)
{
	/* Before the word of the directory: who sees it, and the flag, finds the mapping while the memory is there. */
	process->mark = pool_mark(head);
	head->flags |= process->mark > 0 ? TRACE_MARKED : 0;
	pool_name(process->place, 1, TRACE_PLACE_HEAD, process->place, process->pid);
	process->head = head;
	process_count_earlier(head);
	kept.place = process->place;
	kept.used = process->records.used;
	kept.untold = 0;
}

/*
 * Takes a place in the family of the process that forked this one, by memory alone. What the parent had described by
 * then holds for this process, too, unless the parent was in the middle of it. *inherits: does it hold?
 */
static long join(int *inherits)
{
	const struct trace_head *parent = pool_address(kept.place);

	/* To describe everything takes system calls. */
	*inherits = !process->torn && !kept.untold;
	if (confined() && !*inherits)
		return -EPERM;
	bool backed = false;
	long place = process->spare ? (long)process->spare : pool_take_half(&backed);
	if (place < 0)
		return place;
	process->spare = (uint32_t)place;
	struct trace_head *head = pool_address((uint32_t)place);
	long r = pool_reserve(head, TRACE_HEAD_SIZE, POOL_FEW);
	if (r)
		return r;
	process->refused = 0;
	begin_head((uint32_t)place);
	sys_copy(head->boot_id, parent->boot_id, sizeof(head->boot_id));
	head->flags = TRACE_FORKED;
	if (*inherits) {
		head->parent = kept.place;
		head->parent_used = kept.used;
	}
	struct text text = { process->folder, sizeof(process->folder), 0 };
	text_string(&text, family_folder());
	show_head(head);
	process_give_half(backed);
	if (!*inherits && !confined())
		describe_program(surroundings_look());
	return 0;
}

/* A family of its own. Where it has left another one, calls that began there may return here. */
static long found(void)
{
	long fd = family_make(process->pid);

	if (fd < 0)
		return fd;
	bool backed = false;
	long r = pool_map((int)fd, options.chunk_size, &backed);
	sys_close((int)fd);
	if (r)
		return r;
	struct trace_head *head = pool_address(0);
	const struct surroundings *here = surroundings_look();
	begin_head(0);
	sys_copy(head->boot_id, here->boot_id, sizeof(head->boot_id));
	head->flags = process->has_left ? TRACE_FORKED : 0;
	/* Who watched the program that executed this one is about to find it. */
	head->copy_beat = family_beat();
	struct text text = { process->folder, sizeof(process->folder), 0 };
	text_string(&text, family_folder());
	show_head(head);
	process_give_half(backed);
	describe_program(here);
	if (options.made)
		options.made();
	return 0;
}

long process_leave(bool ends)
{
	const uint32_t flag = ends ? 0 : TRACE_LEFT;
	struct trace_head *head = process->head;
	long r;

	if (head) {
		process_clock();
		head->flags |= flag;
	}
	if ((r = pool_leave())) {
		if (head)
			head->flags &= ~flag;
		return r;
	}
	if (process->mark > 0)
		pool_unmark(process->mark);
	process->mark = 0;
	process->has_left = 1;
	process->head = process->elsewhere = NULL;
	process->refused = 0;
	process->place = process->threads = process->spare = process->half = 0;
	process->records = (struct records){ 0 };
	process->torn = 0;
	if (process->state == PROCESS_ON)
		/* Relaxed: as in process_start(). */
		__atomic_store_n(&process->state, ends ? PROCESS_OFF : PROCESS_NONE, __ATOMIC_RELAXED);
	return 0;
}

enum process_state process_start(void)
{
	if (process->state != PROCESS_NONE || process_is_refused())
		return process->state;
	if (!process_may_begin())
		return process->state;
	process->pid = identity_pid();
	if (options.begin)
		options.begin();
	int inherits = 0;
	int member = pool_is_open();
	long r = member ? join(&inherits) : found();
	if (r && member) {
		refused(r, process_refuse(r));
		return process->state;
	}
	if (r == OUTPUT_FOREIGN)
		process_off("can't make the trace folder: another user made", family_folder(), 0);
	else if (r == -ENOTDIR)
		process_off("can't make the trace folder: a file or link is in the way at", family_folder(), 0);
	else if (r)
		process_off("can't make the trace folder", family_folder(), r);
	if (r)
		return process->state;
	if (!inherits)
		options.describe();
	if (process->left)
		append_text(TRACE_TEXT_NOTE, left_line, sizeof(left_line) - 1);
	pool_open();
	if (process->refused)
		process_why("");
	/* Relaxed: threads that see it take the lock before they use anything of it. */
	__atomic_store_n(&process->state, PROCESS_ON, __ATOMIC_RELAXED);
	return PROCESS_ON;
}
