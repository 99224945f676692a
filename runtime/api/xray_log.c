/* SPDX-License-Identifier: MIT */
/*
 * xray_log_interface.h of LLVM 20. A mode is an implementation that the program gives, or one of three names for
 * xaudit's own recorder.
 *
 * The lock guards the list and what is installed; no function of the program is called while it is held. It spins,
 * since it is held for a few stores only. Where one taking of it lasts for ten seconds, its holder is gone: a child of
 * vfork that was killed, or a thread that a forked child does not have. Then one waiter takes it over.
 */
#define XAUDIT_NO_HOOK
#include "runtime/api/xray.h"

#include <stdlib.h>   /* getenv */
#include <sys/mman.h> /* PROT_READ */
#include <time.h>     /* CLOCK_MONOTONIC */

#include "x86_64/sys.h"

struct mode {
	const struct mode *next;
	const char *name;
	struct xray_log_impl impl;
};

static const struct mode *modes; /* of the program. Never freed */
static const struct mode *current_mode; /* NULL: none was selected */
static struct xray_log_impl installed;
static int is_installed;
static xray_buffer_iterator *iterator; /* NULL: there are no buffers */
static uint32_t lock_word;		/* 0: free; else the number of this taking */

#define PATIENCE 10 /* seconds */

static long seconds(void)
{
	struct timespec now = { 0 };

	sys_call(__NR_clock_gettime, CLOCK_MONOTONIC, (long)&now, 0, 0, 0, 0);
	return (long)now.tv_sec;
}

/* Returns what unlock() takes. */
static uint32_t lock(void)
{
	static uint32_t last;
	uint32_t taking, seen = 0, word = 0;
	long since = 0;

	/* Relaxed: a number that differs from the holder's. */
	while (!(taking = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED)))
		;
	/* Acquire; pairs with the release in unlock(). */
	while (!__atomic_compare_exchange_n(&lock_word, &word, taking, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
		long now = seconds();
		if (word != seen) {
			seen = word;
			since = now;
		}
		if (now - since <= PATIENCE)
			word = 0;
		sys_call(__NR_sched_yield, 0, 0, 0, 0, 0, 0);
	}
	return taking;
}

static void unlock(uint32_t taking)
{
	/* Release; pairs with the acquire in lock(). Not where it was taken over. */
	__atomic_compare_exchange_n(&lock_word, &taking, 0, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

/* ---- the recorder as a mode ---- */

static enum xray_log_init recorder_status;

/* The recorder has xaudit's configuration, and the string changes nothing. */
static enum xray_log_init recorder_init(size_t buffer_size, size_t buffers, void *config, size_t config_size)
{
	(void)buffer_size;
	(void)buffers;
	(void)config;
	(void)config_size;
	enum xray_log_init status = xaudit_start() == 0 ? XRAY_LOG_INITIALIZED : XRAY_LOG_UNINITIALIZED;
	__atomic_store_n(&recorder_status, status, __ATOMIC_RELAXED); /* relaxed: a word that orders nothing */
	return status;
}

static enum xray_log_init recorder_finalize(void)
{
	enum xray_log_init was = XRAY_LOG_INITIALIZED;

	/* Relaxed: of several threads that finalize at once, one stops it. */
	if (!__atomic_compare_exchange_n(
		    &recorder_status, &was, XRAY_LOG_FINALIZED, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return was;
	xaudit_stop();
	return XRAY_LOG_FINALIZED;
}

static enum xray_log_flush recorder_flush(void)
{
	enum xray_log_init was = XRAY_LOG_FINALIZED;

	/* Relaxed, as above. */
	if (__atomic_load_n(&recorder_status, __ATOMIC_RELAXED) != was)
		return XRAY_LOG_NOT_FLUSHING;
	int r = xaudit_flush();
	if (r && r != -ENODATA)
		return XRAY_LOG_NOT_FLUSHING;
	/* relaxed, as above */
	__atomic_compare_exchange_n(
		&recorder_status, &was, XRAY_LOG_UNINITIALIZED, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	return XRAY_LOG_FLUSHED;
}

/* It needs no handler: while it is on, it records. */
#define RECORDER { .init = recorder_init, .finalize = recorder_finalize, .flush = recorder_flush }

static const struct mode recorders[] = {
	{ &recorders[1], "xray-basic", RECORDER },
	{ &recorders[2], "xray-fdr", RECORDER },
	{ NULL, "xray-profiling", RECORDER },
};

/* ---- XRAY_OPTIONS ---- */

/* LLVM's function: options of the program itself; those of the environment come after them. */
extern const char *__xray_default_options(void) __attribute__((weak, visibility("default")));

/* If the option at `text`, of `length` characters, is `name`: its value, and the value's length. */
static const char *value_of(const char *text, size_t length, const char *name, size_t *value_length)
{
	size_t n = sys_length(name);

	if (length <= n || !sys_same(text, name, n) || text[n] != '=')
		return NULL;
	*value_length = length - n - 1;
	return text + n + 1;
}

static int is_word(const char *text, size_t length, const char *word)
{
	return length == sys_length(word) && sys_same(text, word, length);
}

static int is_yes(const char *text, size_t length)
{
	return is_word(text, length, "true") || is_word(text, length, "yes") || is_word(text, length, "1");
}

static int is_separator(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ',' || c == ':';
}

/* The mode that the options name, also by the option of old versions. NULL: they name no known mode. */
static const struct mode *mode_of(const char *options)
{
	const struct mode *found = NULL;
	size_t length, n;

	for (; options && *options; options += length + (options[length] != '\0')) {
		const char *value, *name = NULL;
		for (length = 0; options[length] && !is_separator(options[length]);)
			length++;
		if ((value = value_of(options, length, "xray_mode", &n)))
			name = value;
		else if ((value = value_of(options, length, "xray_fdr_log", &n)) && is_yes(value, n))
			name = "xray-fdr", n = 8;
		else if ((value = value_of(options, length, "xray_naive_log", &n)) && is_yes(value, n))
			name = "xray-basic", n = 10;
		for (const struct mode *m = recorders; name && m; m = m->next)
			if (is_word(name, n, m->name))
				found = m;
	}
	return found;
}

/*
 * Selects the mode that XRAY_OPTIONS names, once, before the program's own choice. Without the lock: it may call the
 * program.
 */
static void obey_options(void)
{
	static int done;

	/* Relaxed: a thread that sees it too late finds under the lock that it is done. */
	if (__atomic_load_n(&done, __ATOMIC_RELAXED))
		return;
	const struct mode *mode = mode_of(getenv("XRAY_OPTIONS"));
	if (!mode && __xray_default_options)
		mode = mode_of(__xray_default_options());
	uint32_t taking = lock();
	if (!done && mode) {
		current_mode = mode;
		installed = mode->impl;
		is_installed = 1;
	}
	__atomic_store_n(&done, 1, __ATOMIC_RELAXED); /* relaxed, as above */
	unlock(taking);
}

/* ---- modes ---- */

static int same(const char *a, const char *b)
{
	size_t n = sys_length(a);

	return n == sys_length(b) && sys_same(a, b, n);
}

/* Lock held. */
static const struct mode *find(const char *name)
{
	for (const struct mode *m = modes; m; m = m->next)
		if (same(m->name, name))
			return m;
	for (const struct mode *m = recorders; m; m = m->next)
		if (same(m->name, name))
			return m;
	return NULL;
}

/* Memory that is never freed, zeroed; NULL: there is none. Lock held. */
static void *take(size_t size)
{
	static uintptr_t next, end;

	size = (size + 15) & ~(size_t)15;
	if (size > end - next) {
		size_t mapped = size < 4096 ? 4096 : (size + 4095) & ~(size_t)4095;
		void *p = sys_mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (sys_is_error(p))
			return NULL;
		next = (uintptr_t)p;
		end = next + mapped;
	}
	next += size;
	return (void *)(next - size);
}

/* Lock held. */
static enum xray_log_register add(const char *name, const struct xray_log_impl *impl)
{
	size_t length = sys_length(name) + 1;

	if (find(name))
		return XRAY_DUPLICATE_MODE;
	struct mode *m = take(sizeof(*m) + length);
	if (!m)
		return XRAY_INCOMPLETE_IMPL;
	sys_copy(m + 1, name, length);
	*m = (struct mode){ .next = modes, .name = (const char *)(m + 1), .impl = *impl };
	modes = m;
	return XRAY_REGISTRATION_OK;
}

static int is_complete(const struct xray_log_impl *impl)
{
	return impl->init && impl->finalize && impl->handler && impl->flush;
}

enum xray_log_register __xray_log_register_mode(const char *mode, struct xray_log_impl impl)
{
	if (!is_complete(&impl))
		return XRAY_INCOMPLETE_IMPL;
	uint32_t taking = lock();
	enum xray_log_register r = add(mode, &impl);
	unlock(taking);
	return r;
}

enum xray_log_register __xray_log_select_mode(const char *mode)
{
	obey_options();
	uint32_t taking = lock();
	const struct mode *m = find(mode);
	if (m) {
		current_mode = m;
		installed = m->impl;
		is_installed = 1;
	}
	unlock(taking);
	if (!m)
		return XRAY_MODE_NOT_FOUND;
	__xray_set_handler(m->impl.handler);
	return XRAY_REGISTRATION_OK;
}

const char *__xray_log_get_current_mode(void)
{
	obey_options();
	uint32_t taking = lock();
	const char *name = current_mode ? current_mode->name : NULL;
	unlock(taking);
	return name;
}

void __xray_set_log_impl(struct xray_log_impl impl)
{
	if (!is_complete(&impl)) {
		__xray_remove_log_impl();
		return;
	}
	obey_options();
	uint32_t taking = lock();
	installed = impl;
	is_installed = 1;
	unlock(taking);
	__xray_set_handler(impl.handler);
}

void __xray_remove_log_impl(void)
{
	obey_options();
	uint32_t taking = lock();
	is_installed = 0;
	current_mode = NULL;
	unlock(taking);
	__xray_remove_handler();
	__xray_remove_handler_arg1();
}

/* ---- what is installed ---- */

/* Copies what is installed; returns 0 when that is nothing, or not of this mode (NULL: any). */
static int get(struct xray_log_impl *impl, const char *mode)
{
	obey_options();
	uint32_t taking = lock();
	int is = is_installed && (!mode || (current_mode && same(current_mode->name, mode)));
	*impl = installed;
	unlock(taking);
	return is;
}

enum xray_log_init __xray_log_init(size_t buffer_size, size_t buffers, void *config, size_t config_size)
{
	struct xray_log_impl impl;

	return get(&impl, NULL) ? impl.init(buffer_size, buffers, config, config_size) : XRAY_LOG_UNINITIALIZED;
}

enum xray_log_init __xray_log_init_mode_bin(const char *mode, const char *config, size_t config_size)
{
	struct xray_log_impl impl;

	if (!mode || !config || !get(&impl, mode))
		return XRAY_LOG_UNINITIALIZED;
	return impl.init(0, 0, (void *)(uintptr_t)config, config_size);
}

enum xray_log_init __xray_log_init_mode(const char *mode, const char *config)
{
	return __xray_log_init_mode_bin(mode, config, 0);
}

enum xray_log_init __xray_log_finalize(void)
{
	struct xray_log_impl impl;

	return get(&impl, NULL) ? impl.finalize() : XRAY_LOG_UNINITIALIZED;
}

enum xray_log_flush __xray_log_flushLog(void)
{
	struct xray_log_impl impl;

	return get(&impl, NULL) ? impl.flush() : XRAY_LOG_NOT_FLUSHING;
}

/* ---- buffers: the recorder has none to show, its trace is in files ---- */

void __xray_log_set_buffer_iterator(xray_buffer_iterator *function)
{
	uint32_t taking = lock();
	iterator = function;
	unlock(taking);
}

void __xray_log_remove_buffer_iterator(void)
{
	__xray_log_set_buffer_iterator(NULL);
}

enum xray_log_flush __xray_log_process_buffers(void (*process)(const char *mode, struct xray_buffer buffer))
{
	obey_options();
	uint32_t taking = lock();
	int is = is_installed;
	xray_buffer_iterator *next = iterator;
	const char *mode = current_mode ? current_mode->name : NULL;
	unlock(taking);
	if (!is)
		return XRAY_LOG_NOT_FLUSHING;
	if (!next)
		return XRAY_LOG_FLUSHED;
	for (struct xray_buffer buffer = next((struct xray_buffer){ NULL, 0 }); buffer.data; buffer = next(buffer))
		process(mode, buffer);
	return XRAY_LOG_FLUSHED;
}
