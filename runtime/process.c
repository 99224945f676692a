/* SPDX-License-Identifier: MIT */
#include "runtime/process.h"

#include <errno.h>	  /* EEXIST */
#include <linux/futex.h>  /* FUTEX_WAIT_PRIVATE */
#include <sys/mman.h>	  /* MADV_WIPEONFORK */
#include <sys/resource.h> /* struct rlimit */
#include <sys/uio.h>	  /* struct iovec */

#include "runtime/broker.h"
#include "runtime/clock.h"
#include "runtime/identity.h"
#include "runtime/output.h"
#include "runtime/surroundings.h"
#include "runtime/sys.h"
#include "runtime/text.h"

#define META_STEP (64ul << 10) /* meta grows by this, or what a record needs */

/* All that one process owns. Wiped by fork. */
struct process {
	uint32_t lock; /* 0 free, 1 held, 2 held and awaited */
	uint32_t state;
	uint32_t pid;
	uint32_t clock_busy;
	struct trace_head *head; /* first page of meta, mapped for good */
	uint8_t *meta;		 /* its last part, mapped from meta_offset on */
	uint64_t meta_offset;
	uint64_t meta_size;	 /* of the file */
	uint64_t used;
	uint64_t lost; /* events before there was a head to count them in */
	struct output_place place; /* of folder; from before the state is ON, then constant */
	char folder[4160];
};

static struct process_options options;
static struct process *process;
static int quiet; /* see process_quiet(). Written by the only thread that there is */

/* What fd 2 was at the start; nothing if it was closed. */
static struct {
	dev_t dev;
	ino_t ino;
	int open;
} at_start;

static void look_at_stderr(void)
{
	struct stat st;

	at_start.open = !sys_fstat(2, &st);
	at_start.dev = at_start.open ? st.st_dev : 0;
	at_start.ino = at_start.open ? st.st_ino : 0;
}

/* The program may have made fd 2 a file of its own, such as a database; and nobody may read the pipe that it is. */
static void write_to_stderr(const char *line, size_t length)
{
	struct stat st;

	if (!at_start.open || sys_fstat(2, &st) || st.st_dev != at_start.dev || st.st_ino != at_start.ino)
		return;
	if (sys_may_write(2))
		sys_write(2, line, length);
}

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
	look_at_stderr();
	return identity_init();
}

/* ---- lock ---- */

void process_quiet(int is)
{
	quiet = is;
}

/* While ld.so starts a program it binds hundreds of functions, and each lock would cost two system calls. */
static void block_signals(struct process_held *held)
{
	static const uint64_t all = ~0ull;

	held->blocked = !quiet;
	if (held->blocked)
		sys_set_signals(&all, &held->signals);
}

static void restore_signals(const struct process_held *held)
{
	if (held->blocked)
		sys_set_signals(&held->signals, NULL);
}

void process_lock(struct process_held *held)
{
	uint32_t free = 0;

	block_signals(held);
	/* C11: acquire on success; pairs with the release in process_unlock(). x86: the locked instruction is both. */
	if (__atomic_compare_exchange_n(&process->lock, &free, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	/* Acquire; pairs with the release in process_unlock(). */
	while (__atomic_exchange_n(&process->lock, 2, __ATOMIC_ACQUIRE))
		sys_call(__NR_futex, (long)&process->lock, FUTEX_WAIT_PRIVATE, 2, 0, 0, 0);
}

int process_trylock(struct process_held *held)
{
	uint32_t free = 0;

	block_signals(held);
	/* Acquire on success, as in process_lock(). */
	if (__atomic_compare_exchange_n(&process->lock, &free, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return 1;
	restore_signals(held);
	return 0;
}

void process_unlock(const struct process_held *held)
{
	/* Release; pairs with the acquires in process_lock() and process_trylock(). */
	if (__atomic_exchange_n(&process->lock, 0, __ATOMIC_RELEASE) == 2)
		sys_call(__NR_futex, (long)&process->lock, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
	restore_signals(held);
}

/* ---- small questions ---- */

enum process_state process_state(void)
{
	/* Relaxed: a hint; whoever acts on it takes the lock and looks again. */
	return __atomic_load_n(&process->state, __ATOMIC_RELAXED);
}

struct trace_head *process_head(void)
{
	return process->head;
}

uint32_t process_serial(void)
{
	return identity_generation();
}

uint32_t process_pid(void)
{
	return process->pid;
}

void process_count(uint64_t *counter, uint64_t n)
{
	/* Relaxed: a sum that orders nothing. */
	__atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}

/* What was lost before there was a head goes into it, once. */
static void count_earlier(struct trace_head *head)
{
	/* Sequentially consistent, with the store of head before it: pairs with the addition in process_lose(). */
	uint64_t n = __atomic_exchange_n(&process->lost, 0, __ATOMIC_SEQ_CST);

	if (n)
		process_count(&head->lost, n);
}

void process_lose(void)
{
	if (process->head) {
		process_count(&process->head->lost, 1);
		return;
	}
	/* A head that comes meanwhile has taken the sum with this in it, or is seen here: this pairs with count_earlier(). */
	__atomic_fetch_add(&process->lost, 1, __ATOMIC_SEQ_CST);
	struct trace_head *head = __atomic_load_n(&process->head, __ATOMIC_SEQ_CST); /* behind the addition, as above */
	if (head)
		count_earlier(head);
}

/* ---- saying things ---- */

static void append_text(uint32_t what, const char *string, size_t length)
{
	struct trace_text text = { .head = { .type = TRACE_REC_TEXT }, .what = what, .length = (uint32_t)length };

	process_append(&text.head, sizeof(text), string, length);
}

void process_say(const char *line)
{
	char buffer[512];
	struct text text = { buffer, sizeof(buffer), 0 };

	text_string(&text, "xaudit: ");
	text_string(&text, line);
	text.length = text_clean(buffer);
	text_string(&text, "\n");
	write_to_stderr(buffer, text.length);
	append_text(TRACE_TEXT_NOTE, line, sys_length(line));
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
	text_string(&text, "; the program runs on, untraced");
	process_say(buffer);
	if (process->head)
		process->head->flags |= TRACE_OFF;
	/* Relaxed: others notice soon enough. */
	__atomic_store_n(&process->state, PROCESS_OFF, __ATOMIC_RELAXED);
}

/* ---- meta ---- */

/* Beyond RLIMIT_FSIZE the kernel would kill the program with SIGXFSZ. */
static int may_reach(uint64_t size)
{
	struct rlimit limit;
	long r = sys_call(__NR_prlimit64, 0, RLIMIT_FSIZE, 0, (long)&limit, 0, 0);

	return r || limit.rlim_cur == RLIM_INFINITY || size <= limit.rlim_cur;
}

/*
 * Gives a file pages and blocks for offset...offset+size by writing zeros: whole pages at a time, where a page fault in a shared mapping costs
 * ten times as much (measured, doc/design.md); and a full disk is told here, not by SIGBUS.
 */
static uint8_t zeros[256 << 10]; /* never written, so it costs no memory */

static long grow(int fd, uint64_t offset, uint64_t size)
{
	long r;

	if (!may_reach(offset + size))
		return -EFBIG;
	for (uint64_t done = 0; done < size;) {
		/* One call for all, so that the kernel makes large folios. */
		struct iovec part[64];
		int parts = 0;
		for (uint64_t left = size - done; left && parts < 64; parts++) {
			part[parts].iov_base = zeros;
			part[parts].iov_len = left < sizeof(zeros) ? left : sizeof(zeros);
			left -= part[parts].iov_len;
		}
		r = sys_call(__NR_pwritev, fd, (long)part, parts, (long)(offset + done), 0, 0);
		if (r <= 0)
			return r ? r : -ENOSPC;
		done += (uint64_t)r;
	}
	return 0;
}

int process_open_folder(void)
{
	return (int)output_open_again(process->folder, &process->place);
}

static int open_own(const char *name, int make)
{
	int folder = process_open_folder();

	if (folder < 0)
		return folder;
	long fd = output_open_file(folder, name, O_RDWR);
	if (fd == -ENOENT && make)
		fd = output_make_file(folder, name);
	sys_close(folder);
	return (int)fd;
}

/* The last component of a path. */
static const char *last_of(const char *path)
{
	const char *last = path;

	for (; *path; path++)
		if (*path == '/')
			last = path + 1;
	return last;
}

/* Opens a file of the folder; makes it if it is not there and `make` says so. */
static int open_file(const char *name, int make)
{
	struct output_place trace;
	int fd = open_own(name, make);

	if (fd >= 0 || !broker_may_help(fd) || !broker_place(&trace))
		return fd;
	long given = broker_open(last_of(process->folder), &process->place, name);
	if (given < 0 && given != -EALREADY)
		process->head->record_error = (uint32_t)-given;
	return given < 0 ? fd : (int)given;
}

int process_open_thread(char kind, unsigned n, uint64_t offset, uint64_t size, int make_pages)
{
	char name[16];
	struct text text = {name, sizeof(name), 0};

	text_char(&text, kind);
	text_number(&text, n);
	int fd = open_file(name, 1);
	if (fd < 0)
		return fd;
	long r = make_pages ? grow(fd, offset, size) : may_reach(offset + size) ? 0 : -EFBIG;
	if (r) {
		sys_close(fd);
		return (int)r;
	}
	return fd;
}

/* Is there room for another `size` bytes? Maps the next part of meta if need be; what is written is not kept mapped. */
static int make_room(uint64_t size)
{
	if (process->used + size <= process->meta_size)
		return 1;
	uint64_t wanted = (process->used + size + META_STEP - 1) & ~(META_STEP - 1);
	int fd = open_file("meta", 0);
	if (fd < 0)
		return 0;
	uint64_t offset = process->used & ~4095ul;
	void *p = (void *)-1;
	if (grow(fd, process->meta_size, wanted - process->meta_size) == 0)
		p = sys_mmap(NULL, wanted - offset, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (int64_t)offset);
	sys_close(fd);
	if (sys_is_error(p))
		return 0;
	sys_munmap(process->meta, process->meta_size - process->meta_offset);
	process->meta = p;
	process->meta_offset = offset;
	process->meta_size = wanted;
	return 1;
}

void process_append(struct trace_record *head, size_t head_size, const void *body, size_t body_size)
{
	uint64_t size = (head_size + body_size + 7) & ~7ul;

	if (!process->head || process->state == PROCESS_OFF)
		return;
	if (size > UINT32_MAX || !make_room(size)) {
		process_count(&process->head->meta_lost, 1);
		return;
	}
	head->size = (uint32_t)size;
	uint8_t *p = process->meta + (process->used - process->meta_offset);
	sys_copy(p, head, head_size);
	sys_copy(p + head_size, body, body_size);
	process->used += size;
	/* Release; pairs with the acquire load of `used` in the reading command, perhaps in another process. */
	__atomic_store_n(&process->head->used, process->used, __ATOMIC_RELEASE);
}

void process_change(enum trace_change_what what, uint64_t value, const char *text)
{
	struct trace_change change = { .head = { .type = TRACE_REC_CHANGE }, .what = what, .value = value };

	if (text)
		change.length = (uint32_t)sys_length(text);
	change.tid = (uint32_t)sys_gettid();
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
	static const uint64_t all = ~0ull;
	uint32_t idle = 0;
	uint64_t before;
	struct trace_pair pair;

	clock_pair(&pair);
	/* A handler that jumps away would leave it busy for ever. */
	sys_set_signals(&all, &before);
	/* Here: a handler may have forked before, and this be the child, which has no head yet. */
	struct trace_head *head = process->head;
	/* Acquire; pairs with the release at the end: one writer at a time. Not awaited: whoever has it is as good. */
	if (!head ||
		!__atomic_compare_exchange_n(&process->clock_busy, &idle, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
		sys_set_signals(&before, NULL);
		return;
	}
	/* Odd before, even behind. Acquire: the stores of the pair stay behind it; pairs with the reader's second look. */
	uint32_t seq = __atomic_fetch_add(&head->last_seq, 1, __ATOMIC_ACQUIRE);
	/* Not where a handler of this thread, or another thread, has been faster. */
	if (pair.ticks > head->last.ticks)
		head->last = pair;
	__atomic_store_n(&head->last_seq, seq + 2, __ATOMIC_RELEASE); /* pairs with the reader's first look, an acquire */
	__atomic_store_n(&process->clock_busy, 0, __ATOMIC_RELEASE);		 /* pairs with the acquire above */
	sys_set_signals(&before, NULL);
}

/* ---- start ---- */

/* The path of the output folder: %p is replaced. */
static void put_output(struct text *text)
{
	for (const char *p = options.output; *p; p++) {
		if (p[0] == '%' && p[1] == 'p') {
			text_number(text, process->pid);
			p++;
		} else {
			text_char(text, *p);
		}
	}
}

/* Opens the output folder; makes it, unless it must be the one at `place`. Returns a descriptor of it, or -errno. */
static long open_output(const char *path, const struct output_place *place)
{
	if (place)
		return output_open_again(path, place);
	long fd = output_make(AT_FDCWD, path, NULL);
	return fd == -EEXIST ? output_open(AT_FDCWD, path, NULL) : fd;
}

/* p<pid>, or the first p<pid>.<n> that is free. Returns a descriptor of it, or -errno. */
static long make_folder(const struct output_place *place)
{
	struct text text = { process->folder, sizeof(process->folder), 0 };
	put_output(&text);
	long at = open_output(text.start, place), fd = -EEXIST;
	size_t output = text.length;

	if (at < 0)
		return at;
	for (unsigned n = 0; n < 1000000 && fd == -EEXIST; n++) {
		text.length = output;
		text_string(&text, "/p");
		text_number(&text, process->pid);
		if (n) {
			text_string(&text, ".");
			text_number(&text, n);
		}
		fd = output_make((int)at, process->folder + output + 1, &process->place);
	}
	sys_close((int)at);
	return fd;
}

/* A folder of our own, and its meta. Returns a descriptor of that, or -errno. */
static long make_own(const struct output_place *place)
{
	long folder = make_folder(place);

	if (folder < 0)
		return folder;
	long fd = output_make_file((int)folder, "meta");
	sys_close((int)folder);
	return fd;
}

/* The same from `xaudit record`. */
static long make_given(void)
{
	struct text text = { process->folder, sizeof(process->folder), 0 };
	char name[BROKER_FOLDER];
	long fd = broker_new(name, &process->place);

	if (fd < 0)
		return fd;
	put_output(&text);
	text_string(&text, "/");
	text_string(&text, name);
	return fd;
}

/*
 * Makes folder and meta. In another root than that of `record` there may be a folder by the path of its trace, where
 * nobody would look for ours: so it must be the one that it made, as long as there is one who can be asked.
 */
static long make_files(void)
{
	struct output_place trace;

	if (!broker_place(&trace))
		return make_own(NULL);
	long fd = make_own(&trace);
	if (fd >= 0 || !broker_may_help(fd))
		return fd;
	fd = make_given();
	return fd >= 0 ? fd : make_own(NULL);
}

static long map_meta(int fd)
{
	void *head = (void *)-ENOSPC, *meta = NULL;
	long r = grow(fd, 0, META_STEP);
	if (r == 0) {
		head = sys_mmap(NULL, TRACE_HEAD_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		meta = sys_mmap(NULL, META_STEP - TRACE_HEAD_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, TRACE_HEAD_SIZE);
	}
	if (r)
		return r;
	if (sys_is_error(head) || sys_is_error(meta))
		return -ENOMEM;
	process->head = head;
	process->meta = meta;
	process->meta_offset = TRACE_HEAD_SIZE;
	process->meta_size = META_STEP;
	process->used = TRACE_HEAD_SIZE;
	return 0;
}

static void describe(const struct surroundings *here)
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
	options.describe();
}

enum process_state process_start(void)
{
	if (process->state != PROCESS_NONE)
		return process->state;
	process->pid = identity_pid();
	if (options.begin)
		options.begin();
	long fd = make_files(), r = fd;
	if (fd >= 0) {
		r = map_meta((int)fd);
		sys_close((int)fd);
	}
	if (r == OUTPUT_FOREIGN)
		process_off("can't make the trace folder: another user made", process->folder, 0);
	else if (r == -ENOTDIR)
		process_off("can't make the trace folder: a file or link is in the way at", process->folder, 0);
	else if (r)
		process_off("can't make the trace folder", process->folder, r);
	if (r) {
		process->folder[0] = '\0';
		return process->state;
	}
	struct trace_head *head = process->head;
	sys_copy(head->magic, TRACE_MAGIC, sizeof(head->magic));
	head->version = TRACE_VERSION;
	head->head_size = TRACE_HEAD_SIZE;
	head->chunk_size = options.chunk_size;
	head->pid = process->pid;
	head->ppid = (uint32_t)sys_call(__NR_getppid, 0, 0, 0, 0, 0, 0);
	head->clock = clock_kind();
	clock_pair(&head->first);
	head->last = head->first;
	const struct surroundings *here = surroundings_look();
	sys_copy(head->boot_id, here->boot_id, sizeof(head->boot_id));
	head->used = process->used;
	count_earlier(head);
	describe(here);
	/* Relaxed: threads that see it take the lock before they use anything of it. */
	__atomic_store_n(&process->state, PROCESS_ON, __ATOMIC_RELAXED);
	return PROCESS_ON;
}
