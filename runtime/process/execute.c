/* SPDX-License-Identifier: MIT */
#include "runtime/process/execute.h"

#include <elf.h>
#include <errno.h> /* ENOENT */
#include <fcntl.h> /* AT_FDCWD */
#include <linux/capability.h>
#include <sys/stat.h> /* S_ISUID */
#include <sys/uio.h>  /* struct iovec */

#include "format/trace.h"
#include "runtime/files/pool.h"
#include "x86_64/confined.h"
#include "x86_64/contract.h"
#include "x86_64/elf.h"
#include "x86_64/sys.h"

#define VARIABLES 1024 /* of an environment, most that are looked at */
#define BATCH	  32   /* of these at a time */
#define PREFIX	  64   /* bytes of a variable that are looked at; most are shorter */
#define OWN	  64   /* variables of ours, most */
#define PIECE	  256
#define SCRIPTS	  4 /* interpreters of interpreters, as many as the kernel takes */

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
/* With follow = always: the program's variables, as the kernel laid them out. */
static const char *own[OWN] SYS_LARGE; /* LD_AUDIT, XAUDIT_... */
static const char *variable[VARIABLES] SYS_LARGE; /* the others */

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

void execute_init(const char *module, char *const *environment, bool always)
{
	start.module = start.name = module;
	for (const char *p = module; *p; p++)
		if (*p == '/')
			start.name = p + 1;
	start.name_length = sys_length(start.name);
	start.always = always;
	if (!always)
		return;
	look_at_who(&start.who);
	for (; *environment; environment++) {
		if (begins(*environment, "LD_AUDIT=") || begins(*environment, "XAUDIT_")) {
			if (start.owns < OWN)
				own[start.owns++] = *environment;
		} else if (start.variables < VARIABLES) {
			variable[start.variables++] = *environment;
		}
	}
}

void execute_libc(uint64_t environment, uint64_t execve, uint64_t execvpe)
{
	if (start.environment)
		return;
	start.execve = execve;
	start.execvpe = execvpe;
	start.environment = environment;
}

/* ---- memory of the program's, which may not be there ---- */

/* Has the kernel copy so many bytes. Returns false if they are not there, or the kernel does not do that. */
static bool copy(void *to, uint64_t from, size_t size)
{
	struct iovec here = { to, size }, there = { (void *)(uintptr_t)from, size };

	return sys_call(__NR_process_vm_readv, sys_getpid(), (long)&here, 1, (long)&there, 1, 0) == (long)size;
}

/* The text there, or its beginning: up to size - 1 bytes. Reads no page beyond its end. Returns whether it is there. */
static bool copy_text(char *to, uint64_t from, size_t size)
{
	for (size_t done = 0; done + 1 < size;) {
		size_t n = 4096 - (from + done) % 4096;
		if (n > size - 1 - done)
			n = size - 1 - done;
		if (!copy(to + done, from + done, n))
			return false;
		for (size_t end = done + n; done < end; done++)
			if (!to[done])
				return true;
	}
	to[size - 1] = '\0';
	return true;
}

/* BATCH words of a list, or those up to its end, which is 0: what lies behind may not be there. */
static bool copy_words(uint64_t to[BATCH], uint64_t list)
{
	if (copy(to, list, BATCH * sizeof(*to)))
		return true;
	for (uint32_t i = 0; i < BATCH; i++) {
		if (!copy(&to[i], list + 8ull * i, sizeof(*to)))
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
	bool all = sys_call(__NR_process_vm_readv, sys_getpid(), (long)here, n, (long)there, n, 0) == size;
	for (uint32_t i = 0; i < n; i++)
		if (!all || (here[i].iov_len < PREFIX - 1 && sys_length(to[i]) == here[i].iov_len))
			if (!copy_text(to[i], from[i], PREFIX))
				return false;
	return true;
}

/* ---- the environment ---- */

/* Names this list of auditors, at that address, ours? */
static bool names_us(uint64_t list)
{
	char piece[PIECE];
	size_t same = 0; /* characters of this component that are our name's; SIZE_MAX: it is another */

	for (;; list += sizeof(piece) - 1) {
		if (!copy_text(piece, list, sizeof(piece)))
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
	for (uint32_t i = 0; !of->is_ours && i < start.variables; i++) {
		const char *ours = variable[i];
		size_t n = 0;
		while (n + 2 < PREFIX && ours[n] && ours[n] == text[n])
			n++;
		of->is_ours = n && ours[n] == text[n];
	}
}

static void look_at_environment(struct environment *of, uint64_t list)
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
			if (start.always)
				compare(of, text[i]);
		}
	}
	of->is_known = !list || n < BATCH;
}

/* ---- the file ---- */

/* Does the kernel give it other rights than the caller's? Then ld.so takes no auditors. */
static bool gives_rights(const struct stat *st, int fd)
{
	if (st->st_mode & S_ISUID && st->st_uid != (uid_t)sys_call(__NR_geteuid, 0, 0, 0, 0, 0, 0))
		return true;
	if ((st->st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) &&
		st->st_gid != (gid_t)sys_call(__NR_getegid, 0, 0, 0, 0, 0, 0))
		return true;
	return fd >= 0 && sys_call(__NR_geteuid, 0, 0, 0, 0, 0, 0) != 0 &&
	       sys_call(__NR_fgetxattr, fd, (long)"security.capability", 0, 0, 0, 0) > 0;
}

static bool is_loader(const char *path, size_t size)
{
	static const char name[] = "ld-linux";

	for (size_t i = 0; i + sizeof(name) <= size; i++)
		if (sys_same(path + i, name, sizeof(name) - 1))
			return true;
	return false;
}

/* Does it name glibc's dynamic linker for our machine? What lies further behind in the file is taken as that. */
static bool has_interpreter(const char *bytes, size_t size)
{
	Elf64_Ehdr head;
	Elf64_Phdr segment;

	if (size < sizeof(head))
		return true;
	sys_copy(&head, bytes, sizeof(head));
	if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_machine != MACHINE_ELF)
		return false;
	for (uint64_t i = 0, at = head.e_phoff; i < head.e_phnum; i++, at += head.e_phentsize) {
		if (at > size || size - at < sizeof(segment))
			return true;
		sys_copy(&segment, bytes + at, sizeof(segment));
		if (segment.p_type == PT_INTERP)
			return segment.p_offset >= size || segment.p_filesz > size - segment.p_offset ||
			       is_loader(bytes + segment.p_offset, segment.p_filesz);
	}
	return false;
}

/* The interpreter in the first line of a script, which begins at bytes; it ends at a blank. NULL: there is none. */
static const char *interpreter(char *bytes, size_t size)
{
	size_t i = 2, end;

	while (i < size && (bytes[i] == ' ' || bytes[i] == '\t'))
		i++;
	for (end = i; end < size && bytes[end] > ' ';)
		end++;
	if (end == i || end == size)
		return NULL;
	bytes[end] = '\0';
	return bytes + i;
}

/*
 * Why the module won't be loaded into this file, whatever the environment. TRACE_UNTRACED_NO_FILE: it can't be
 * executed; 0: nothing speaks against it. It may be replaced before it is executed.
 */
static uint32_t look_at_file(long folder, const char *path)
{
	char bytes[1024];
	struct stat st;

	for (int scripts = 0; scripts <= SCRIPTS; scripts++) {
		if (sys_call(__NR_newfstatat, folder, (long)path, (long)&st, 0, 0, 0) || !S_ISREG(st.st_mode) ||
			!(st.st_mode & 0111))
			return TRACE_UNTRACED_NO_FILE;
		/* It may be executable, and not readable. */
		long fd = sys_call(__NR_openat, folder, (long)path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0, 0,
			0);
		bool rights = gives_rights(&st, (int)fd);
		long n = fd < 0 ? 0 : sys_read((int)fd, bytes, sizeof(bytes));
		if (fd >= 0)
			sys_close((int)fd);
		if (n > 2 && bytes[0] == '#' && bytes[1] == '!') {
			/* Rights of scripts don't count. */
			path = interpreter(bytes, (size_t)n);
			if (!path)
				return 0;
			continue;
		}
		return rights ? TRACE_UNTRACED_RIGHTS
		       : n > 4 && sys_same(bytes, ELFMAG, SELFMAG) && !has_interpreter(bytes, (size_t)n)
			       ? TRACE_UNTRACED_STATIC
			       : 0;
	}
	return 0;
}

/* ---- counting ---- */

/*
 * Adds one to the count of this name. Entries are taken by their key, once; whoever took one writes the name, which a
 * reader may find empty.
 */
static void count(const char *name, uint32_t why)
{
	if (!pool_is_open())
		return;
	struct trace_head *head = pool_address(0);
	uint64_t key = 14695981039346656037ull;
	char kept[sizeof(head->executed->name)] = "";

	for (size_t i = 0; i + 1 < sizeof(kept) && name[i]; i++) {
		kept[i] = name[i];
		key = (key ^ (uint8_t)name[i]) * 1099511628211ull;
	}
	key = (key ^ why) | 1;
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
		else if (!copy(&word, more + 8ull * (i - 6), sizeof(word)))
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
	return copy(&list, start.environment, sizeof(list)) ? list : 0;
}

/* What is executed: its path, as it was given, or found by the descriptor. Returns false: it can't be told. */
static bool path_of(const struct tramp_exec *call, char *path, size_t size)
{
	int at = arguments[call->word].path;
	char link[40] = "/proc/self/fd/";
	size_t length = sys_length(link);

	if (call->word == EXECUTE_SHELL) {
		sys_copy(path, "/bin/sh", 8);
		return true;
	}
	if (at >= 0 && !copy_text(path, call->argument[at], size))
		return false;
	if (at >= 0 && (*path || arguments[call->word].folder < 0))
		return *path;
	/* fexecve(), or execveat() of the descriptor itself. */
	uint32_t fd = (uint32_t)call->argument[0], power = 1;
	while (fd / power >= 10)
		power *= 10;
	for (; power; power /= 10)
		link[length++] = (char)('0' + fd / power % 10);
	link[length] = '\0';
	long n = sys_call(__NR_readlink, (long)link, (long)path, (long)(size - 1), 0, 0, 0);
	path[n > 0 ? n : 0] = '\0';
	return n > 0;
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
	long fd = sys_open(start.module, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return false;
	sys_close((int)fd);
	return true;
}

typedef long exec_function(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);

/* Makes the call with our variables, too. Returns false: it is to be made as it is. */
static __attribute__((noinline)) bool call_with_ours(
	struct tramp_exec *call, const struct environment *of, uint64_t list)
{
	uint64_t with[VARIABLES + 1], argument[6], function = call->body;
	uint32_t n = of->count;
	int at = arguments[call->word].environment;

	if (n && !copy(with, list, n * sizeof(*with)))
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
	/* Whatever went wrong, and be it that it was too much (E2BIG): the call is made as it would have been. */
	return (call->word == EXECUTE_SPAWN || call->word == EXECUTE_SPAWNP) && (int)call->rax == 0;
}

enum tramp_answer tramp_slow_exec(struct tramp_exec *call)
{
	struct environment environment;
	char path[PIECE * 4];
	uint32_t why = 0;

	/* Under a filter of system calls nothing is asked. */
	if (confined() || !call->word || call->word >= EXECUTE_HOWS || !start.module || !start.environment)
		return TRAMP_AGAIN;
	uint64_t list = environment_of(call);
	look_at_environment(&environment, list);
	if (!path_of(call, path, sizeof(path)))
		return TRAMP_AGAIN;
	const char *name = path;
	bool has_slash = false;
	for (const char *p = path; *p; p++)
		if (*p == '/') {
			has_slash = true;
			name = p + 1;
		}
	if (has_slash || !arguments[call->word].searches) {
		int folder = arguments[call->word].folder;
		why = look_at_file(folder >= 0 && *path != '/' ? (int)call->argument[folder] : AT_FDCWD, path);
	}
	/* A descriptor's file may have no name any more. */
	if (why == TRACE_UNTRACED_NO_FILE && call->word == EXECUTE_FEXECVE)
		why = 0;
	if (why == TRACE_UNTRACED_NO_FILE || !environment.is_known)
		return TRAMP_AGAIN;
	bool can = call->word <= EXECUTE_EXECVP && (call->word < EXECUTE_EXECV || (start.execve && start.execvpe));
	if (!why && !environment.has_us && start.always && can && may_have(&environment)) {
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
