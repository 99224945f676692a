/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* AT_EMPTY_PATH */
#include "runtime/process/execute.h"

#include <errno.h> /* E2BIG */
#include <fcntl.h> /* AT_EMPTY_PATH */
#include <linux/capability.h>
#include <signal.h>  /* stack_t */
#include <sys/uio.h> /* struct iovec */
#include <unistd.h>  /* R_OK */

#include "format/trace.h"
#include "runtime/files/pool.h"
#include "runtime/process/execute_look.h"
#include "x86_64/confined.h"
#include "x86_64/contract.h"
#include "x86_64/sys.h"

#define VARIABLES 1024 /* of an environment, most that are looked at */
#define BATCH	  8    /* of these at a time: on the stack, which may be small */
#define PREFIX	  64   /* bytes of a variable that are looked at; most are shorter */
#define OWN	  64   /* variables of ours, most */
#define SEARCH	  4608 /* bytes of stack that libc's functions use to search in PATH: for a path, and some more */

/* ---- what is known from the start ---- */

/* Whose variables may be given to others: a process that has other rights has left that behind. */
struct who {
	long ids[4];
	uint64_t root_dev, root_ino;
	struct __user_cap_data_struct rights[2];
};

static struct {
	const char *module, *name; /* its path; its last component */
	size_t name_length;
	bool always;
	struct who who;
	uint32_t owns, variables;
	/* Of libc. Stored before the first stub that needs them is made. */
	uint64_t environment, execve, execvpe;
} start;
/*
 * With follow = always: the variables that the program was started with. The program may write over the texts that the
 * kernel laid out, and does so for another title in `ps`: ours are copies, the others are known by their hash alone.
 */
static const char *own[OWN] SYS_LARGE; /* LD_AUDIT, XAUDIT_... */
static uint64_t variable[VARIABLES] SYS_LARGE; /* the others */

static void look_at_who(struct who *who)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct stat root;

	sys_fill(who, 0, sizeof(*who));
	who->ids[0] = sys_call(__NR_getuid, 0, 0, 0, 0, 0, 0);
	who->ids[1] = sys_call(__NR_geteuid, 0, 0, 0, 0, 0, 0);
	who->ids[2] = sys_call(__NR_getgid, 0, 0, 0, 0, 0, 0);
	who->ids[3] = sys_call(__NR_getegid, 0, 0, 0, 0, 0, 0);
	sys_call(__NR_capget, (long)&head, (long)who->rights, 0, 0, 0, 0);
	if (!sys_stat("/", &root)) {
		who->root_dev = root.st_dev;
		who->root_ino = root.st_ino;
	}
}

static bool begins(const char *text, const char *with)
{
	while (*with && *text == *with) {
		text++;
		with++;
	}
	return !*with;
}

/* Of a text, or its first `most` bytes. */
static uint64_t hash(const char *text, size_t most)
{
	uint64_t key = 14695981039346656037ull;

	for (size_t i = 0; i < most && text[i]; i++)
		key = (key ^ (uint8_t)text[i]) * 1099511628211ull;
	return key;
}

static bool is_own(const char *text)
{
	return begins(text, "LD_AUDIT=") || begins(text, "XAUDIT_");
}

/* Copies our variables to memory that nobody writes to. Returns false: there is none. */
static bool copy_own(char *const *environment)
{
	size_t size = 0;

	for (char *const *e = environment; *e; e++)
		if (is_own(*e))
			size += sys_length(*e) + 1;
	if (!size)
		return true;
	char *to = sys_mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *all = to;
	if (sys_is_error(to))
		return false;
	for (char *const *e = environment; *e && start.owns < OWN; e++) {
		if (!is_own(*e))
			continue;
		size_t length = sys_length(*e) + 1;
		sys_copy(to, *e, length);
		own[start.owns++] = to;
		to += length;
	}
	sys_mprotect(all, size, PROT_READ);
	return true;
}

void execute_init(const char *module, char *const *environment, bool always)
{
	execute_look_init();
	start.module = start.name = module;
	for (const char *p = module; *p; p++)
		if (*p == '/')
			start.name = p + 1;
	start.name_length = sys_length(start.name);
	start.always = always && copy_own(environment);
	if (!start.always)
		return;
	look_at_who(&start.who);
	for (; *environment && start.variables < VARIABLES; environment++)
		if (!is_own(*environment))
			variable[start.variables++] = hash(*environment, PREFIX - 1);
}

void execute_libc(uint64_t environment, uint64_t execve, uint64_t execvpe)
{
	if (start.environment)
		return;
	start.execve = execve;
	start.execvpe = execvpe;
	start.environment = environment;
}

/* ---- the environment ---- */

/* BATCH words of a list, or those up to its end, which is 0: what lies behind may not be there. */
static bool copy_words(uint64_t to[BATCH], uint64_t list)
{
	if (execute_copy(to, list, BATCH * sizeof(*to)))
		return true;
	for (uint32_t i = 0; i < BATCH; i++) {
		if (!execute_copy(&to[i], list + 8ull * i, sizeof(*to)))
			return false;
		if (!to[i])
			break;
	}
	return true;
}

/* How the texts begin that so many of these words point to, by one system call as a rule. */
static bool copy_texts(char to[BATCH][PREFIX], const uint64_t from[BATCH], uint32_t n)
{
	struct iovec here[BATCH], there[BATCH];
	long size = 0;

	for (uint32_t i = 0; i < n; i++) {
		size_t length = 4096 - from[i] % 4096;
		if (length > PREFIX - 1)
			length = PREFIX - 1;
		sys_fill(to[i], 0, PREFIX);
		here[i] = (struct iovec){ to[i], length };
		there[i] = (struct iovec){ (void *)(uintptr_t)from[i], length };
		size += (long)length;
	}
	bool all = !execute_is_filtered() &&
		   sys_call(__NR_process_vm_readv, sys_gettid(), (long)here, n, (long)there, n, 0) == size;
	for (uint32_t i = 0; i < n; i++)
		if (!all || (here[i].iov_len < PREFIX - 1 && sys_length(to[i]) == here[i].iov_len))
			if (!execute_copy_text(to[i], from[i], PREFIX))
				return false;
	return true;
}

/* Names this list of auditors, at that address, ours? */
static bool names_us(uint64_t list)
{
	char piece[PREFIX];
	size_t same = 0; /* characters of this component that are our name's; SIZE_MAX: it is another */

	for (;; list += sizeof(piece) - 1) {
		if (!execute_copy_text(piece, list, sizeof(piece)))
			return false;
		size_t i = 0;
		for (; i + 1 < sizeof(piece) && piece[i]; i++) {
			char c = piece[i];
			if (c == ':' && same == start.name_length)
				return true;
			if (c == ':' || c == '/')
				same = 0;
			else if (same < start.name_length && c == start.name[same])
				same++;
			else
				same = SIZE_MAX;
		}
		if (i + 1 < sizeof(piece))
			return same == start.name_length;
	}
}

/* What an environment is like. */
struct environment {
	uint32_t count;	 /* of its variables */
	bool has_us;	 /* the module will be loaded */
	bool has_audit;	 /* LD_AUDIT is there, perhaps with other auditors alone */
	bool is_known;	 /* all of it was seen */
	bool is_ours;	 /* it has a variable of the program's own */
	uint64_t path;	    /* where the value of PATH lies; 0: it has none */
	uint64_t own_there; /* bits: variables of `own` that it has, with any value */
};

/* Is this variable one that the program was started with? Or has it the name of one of our own? */
static void compare(struct environment *of, const char text[PREFIX])
{
	for (uint32_t i = 0; i < start.owns; i++) {
		size_t name = 0;
		while (own[i][name] && own[i][name] != '=')
			name++;
		if (name + 1 < PREFIX && sys_same(text, own[i], name + 1))
			of->own_there |= 1ull << i;
	}
	uint64_t key = hash(text, PREFIX - 1);
	for (uint32_t i = 0; !of->is_ours && i < start.variables; i++)
		of->is_ours = key == variable[i];
}

static __attribute__((noinline)) void look_at_environment(struct environment *of, uint64_t list)
{
	uint64_t word[BATCH];
	char text[BATCH][PREFIX];
	uint32_t n;

	sys_fill(of, 0, sizeof(*of));
	for (n = BATCH; list && n == BATCH && of->count < VARIABLES; of->count += n) {
		if (!copy_words(word, list + 8ull * of->count))
			return;
		for (n = 0; n < BATCH && word[n];)
			n++;
		if (n && !copy_texts(text, word, n))
			return;
		for (uint32_t i = 0; i < n; i++) {
			if (begins(text[i], "LD_AUDIT=")) {
				of->has_audit = true;
				of->has_us |= names_us(word[i] + sizeof("LD_AUDIT=") - 1);
			}
			if (!of->path && begins(text[i], "PATH="))
				of->path = word[i] + sizeof("PATH=") - 1;
			if (start.always)
				compare(of, text[i]);
		}
	}
	of->is_known = !list || n < BATCH;
}

/* ---- counting ---- */

/*
 * Adds one to the count of this name. Entries are taken by their key, once; whoever took one writes the name, which a
 * reader may find empty.
 */
_Static_assert(sizeof((struct trace_executed){ 0 }.name) == EXECUTE_NAME, "it is written as a whole");
static void count(const char *name, uint32_t why)
{
	if (!pool_is_open())
		return;
	struct trace_head *head = pool_address(0);
	char kept[EXECUTE_NAME] = "";

	for (size_t i = 0; i + 1 < sizeof(kept) && name[i]; i++)
		kept[i] = name[i];
	uint64_t key = (hash(kept, sizeof(kept)) ^ why) | 1;
	for (uint32_t i = 0; i < TRACE_EXECUTED; i++) {
		struct trace_executed *entry = &head->executed[i];
		uint64_t found = 0;
		/* Relaxed, all: the reader believes each word by itself. */
		if (__atomic_compare_exchange_n(&entry->key, &found, key, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
			entry->why = why;
			sys_copy(entry->name, kept, sizeof(kept));
		} else if (found != key) {
			continue;
		}
		/* Relaxed, as above. */
		__atomic_fetch_add(&entry->count, 1, __ATOMIC_RELAXED);
		return;
	}
	/* Relaxed, as above. */
	__atomic_fetch_add(&head->executed_others, 1, __ATOMIC_RELAXED);
}

/* ---- the call ---- */

/* Where a function has what it executes and its environment, among its arguments; -1: not there. */
static const struct {
	int8_t folder, path, environment;
	bool searches; /* in PATH, for a name without a slash */
} arguments[EXECUTE_HOWS] = {
	[EXECUTE_EXECVE] = { -1, 0, 2, false },	  [EXECUTE_EXECVPE] = { -1, 0, 2, true },
	[EXECUTE_EXECVEAT] = { 0, 1, 3, false },  [EXECUTE_FEXECVE] = { 0, -1, 2, false },
	[EXECUTE_SPAWN] = { -1, 1, 5, false },	  [EXECUTE_SPAWNP] = { -1, 1, 5, true },
	[EXECUTE_EXECV] = { -1, 0, -1, false },	  [EXECUTE_EXECVP] = { -1, 0, -1, true },
	[EXECUTE_EXECL] = { -1, 0, -1, false },	  [EXECUTE_EXECLP] = { -1, 0, -1, true },
	[EXECUTE_SHELL] = { -1, -1, -1, false },  [EXECUTE_EXECLE] = { -1, 0, -1, false },
};

/* The list of variables behind the list of words of execle(), which begins with its second argument. 0: not found. */
static uint64_t behind_list(const struct tramp_exec *call)
{
	uint64_t more = (uint64_t)(uintptr_t)call->more, word = 0;

	for (uint32_t i = 1, ended = 0; i < VARIABLES; i++) {
		if (i < 6)
			word = call->argument[i];
		else if (!execute_copy(&word, more + 8ull * (i - 6), sizeof(word)))
			return 0;
		if (ended)
			return word;
		ended = !word;
	}
	return 0;
}

static uint64_t environment_of(const struct tramp_exec *call)
{
	int at = arguments[call->word].environment;
	uint64_t list;

	if (at >= 0)
		return call->argument[at];
	if (call->word == EXECUTE_EXECLE)
		return behind_list(call);
	return execute_copy(&list, start.environment, sizeof(list)) ? list : 0;
}

/*
 * Why the module won't be loaded, whatever the environment (execute_look()), and what is executed; false: it can't be
 * told. of: the environment that it gets, which lies at `list`.
 */
static __attribute__((noinline)) bool look_at_program(const struct tramp_exec *call, const struct environment *of,
	uint64_t list, char name[EXECUTE_NAME], uint32_t *why)
{
	struct execute_file file;
	char link[32];
	int at = arguments[call->word].path, folder = arguments[call->word].folder;
	uint64_t path = call->argument[at < 0 ? 0 : at], libc;
	bool is_spawn = call->word == EXECUTE_SPAWN || call->word == EXECUTE_SPAWNP;

	*why = 0;
	if (call->word == EXECUTE_FEXECVE) {
		if (!execute_name_descriptor(&file, (int)call->argument[0], link))
			return false;
	} else if (!execute_name(&file, call->word == EXECUTE_SHELL ? (uint64_t)(uintptr_t)"/bin/sh" : path)) {
		return false;
	} else if (file.is_empty) {
		if (call->word != EXECUTE_EXECVEAT || !(call->argument[4] & AT_EMPTY_PATH) ||
			!execute_name_descriptor(&file, (int)call->argument[0], link))
			return false;
	} else if (folder >= 0) {
		file.folder = (int)call->argument[folder];
		file.flags = (int)call->argument[4] & AT_SYMLINK_NOFOLLOW;
	}
	sys_copy(name, file.name, EXECUTE_NAME);
	/* The child may change to another folder first: actions may say so. */
	if (is_spawn && call->argument[2] && !file.is_absolute)
		return true;
	if (file.has_slash || !arguments[call->word].searches) {
		*why = execute_look(&file);
	} else if (execute_copy(&libc, start.environment, sizeof(libc))) {
		/* Libc looks for PATH in its environ, whatever the program gets. */
		struct environment other;
		if (libc != list) {
			look_at_environment(&other, libc);
			of = &other;
		}
		if (of->is_known)
			*why = execute_search(&file, of->path);
	}
	return true;
}

/* May it have our variables? */
static bool may_have(const struct environment *of)
{
	struct who now;

	if (!of->is_known || !of->is_ours || of->has_audit || of->count + start.owns >= VARIABLES)
		return false;
	look_at_who(&now);
	if (!sys_same(&now, &start.who, sizeof(now)))
		return false;
	/* By the real ids, which are the effective ones: ld.so would not have taken us otherwise. */
	return !sys_call(__NR_faccessat, AT_FDCWD, (long)start.module, R_OK, 0, 0, 0);
}

/* Is there so much room on the stack, where it is a handler's own, and the kernel can tell? */
static bool has_room(size_t size)
{
	stack_t own_stack;

	if (sys_call(__NR_sigaltstack, 0, (long)&own_stack, 0, 0, 0, 0) || !(own_stack.ss_flags & SS_ONSTACK))
		return true;
	return (uintptr_t)__builtin_frame_address(0) - (uintptr_t)own_stack.ss_sp >= size;
}

typedef long exec_function(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);

/* Makes the call with our variables, too. Returns false: it is to be made as it is. */
static __attribute__((noinline)) bool call_with_ours(
	struct tramp_exec *call, const struct environment *of, uint64_t list)
{
	uint64_t with[of->count + start.owns + 1], argument[6], function = call->body;
	uint32_t n = of->count;
	int at = arguments[call->word].environment;

	if (n && !execute_copy(with, list, n * sizeof(*with)))
		return false;
	for (uint32_t i = 0; i < start.owns; i++)
		if (!(of->own_there & 1ull << i))
			with[n++] = (uint64_t)(uintptr_t)own[i];
	with[n] = 0;
	sys_copy(argument, call->argument, sizeof(argument));
	if (at < 0) {
		at = 2;
		function = call->word == EXECUTE_EXECV ? start.execve : start.execvpe;
	}
	argument[at] = (uint64_t)(uintptr_t)with;
	call->rax = (uint64_t)((exec_function *)(uintptr_t)function)(
		argument[0], argument[1], argument[2], argument[3], argument[4], argument[5]);
	/*
	 * What did not execute is executed as it would have been. A spawn may have done things before it failed, as to
	 * create a file, which can't be done twice: that is made again only where its failure may be our doing.
	 */
	int error = (int)call->rax;
	return (call->word == EXECUTE_SPAWN || call->word == EXECUTE_SPAWNP) && error != E2BIG && error != EFAULT;
}

enum tramp_answer tramp_slow_exec(struct tramp_exec *call)
{
	struct environment environment;
	char name[EXECUTE_NAME];
	uint32_t why;

	/* Under a filter of system calls nothing is asked. */
	if (confined() || !call->word || call->word >= EXECUTE_HOWS || !start.module || !start.environment ||
		!has_room(EXECUTE_LOOK_ROOM))
		return TRAMP_AGAIN;
	uint64_t list = environment_of(call);
	look_at_environment(&environment, list);
	if (!environment.is_known || !look_at_program(call, &environment, list, name, &why) ||
		why == TRACE_UNTRACED_NO_FILE)
		return TRAMP_AGAIN;
	bool can = call->word <= EXECUTE_EXECVP && (call->word < EXECUTE_EXECV || (start.execve && start.execvpe));
	size_t room = (environment.count + start.owns) * sizeof(uint64_t) + EXECUTE_LOOK_ROOM +
		      (arguments[call->word].searches ? SEARCH : 0);
	if (!why && !environment.has_us && start.always && can && may_have(&environment) && has_room(room)) {
		if (call_with_ours(call, &environment, list))
			return TRAMP_ENDED;
		return TRAMP_AGAIN;
	}
	if (!environment.has_us && !why)
		why = TRACE_UNTRACED_ENVIRONMENT;
	if (why)
		count(name, why);
	return TRAMP_AGAIN;
}
