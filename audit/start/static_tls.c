/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "audit/start/static_tls.h"

#include <signal.h>   /* SIGTRAP */
#include <stdbool.h>
#include <string.h>   /* strncmp */
#include <sys/auxv.h> /* getauxval */
#include <sys/mman.h> /* PROT_READ */
#include <sys/stat.h> /* struct stat */
#include <unistd.h>   /* environ */

#include "audit/model/object.h"
#include "runtime/base/text.h"
#include "x86_64/sys.h"

#define VARIABLE "GLIBC_TUNABLES="
#define MOST	 (64ul << 20) /* of a command line: the most that the kernel accepts */

static uint64_t room = STATIC_TLS_SPARE; /* bytes that ld.so keeps beyond its own needs, at least */
static uint64_t marked, all;		 /* bytes of libraries that are marked; of all with TLS */
static int foreign;			 /* an object refers to another object's TLS */
static int never;			 /* this process is not executed again */

/* ---- GLIBC_TUNABLES ---- */

static char **find_tunables(void)
{
	char **e = environ;

	while (e && *e && strncmp(*e, VARIABLE, strlen(VARIABLE)))
		e++;
	return e && *e ? e : NULL;
}

/* The number at text; where it exceeds any possible room, its remaining digits are ignored. */
static uint64_t number(const char *text)
{
	uint64_t n = 0;
	unsigned base = 10;

	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
		base = 16;
		text += 2;
	}
	for (;; text++) {
		unsigned digit = *text >= '0' && *text <= '9' ? (unsigned)(*text - '0')
				 : base == 16 && (*text | 32) >= 'a' && (*text | 32) <= 'f'
					 ? (unsigned)((*text | 32) - 'a' + 10)
					 : base;
		if (digit == base || n > 1ull << 40)
			return n;
		n = n * base + digit;
	}
}

/*
 * Removes the suffix that a first start, or the command, has added. Strings and list are the program's own, from the
 * kernel, or ld.so's copy.
 */
static void take_off(char **entry, char *suffix)
{
	int was = suffix[strlen(STATIC_TLS_ONCE "=")] != '0';

	if (was) {
		suffix[suffix > *entry + strlen(VARIABLE) ? -1 : 0] = '\0';
		return;
	}
	/* The variable was added at the end. */
	for (; *entry; entry++)
		entry[0] = entry[1];
}

/* As the kernel has it. */
struct kernel_action {
	void (*handler)(int);
	uint64_t flags;
	void (*restorer)(void);
	uint64_t mask;
};

/* SIG_DFL or SIG_IGN. */
static void set_trap(void (*handler)(int))
{
	const struct kernel_action action = { .handler = handler };

	sys_call(__NR_rt_sigaction, SIGTRAP, (long)&action, 0, 8, 0, 0);
}

void static_tls_start(void)
{
	char **entry = find_tunables();

	never = getauxval(AT_SECURE) || getauxval(AT_EXECFD);
	for (char **e = environ; e && *e; e++)
		never |= !strncmp(*e, "LD_TRACE_LOADED_OBJECTS=", strlen("LD_TRACE_LOADED_OBJECTS="));
	if (!entry)
		return;
	for (char *p = *entry + strlen(VARIABLE), *once = NULL;; p++) {
		if (!strncmp(p, STATIC_TLS_TUNABLE "=", strlen(STATIC_TLS_TUNABLE "=")))
			room = number(p + strlen(STATIC_TLS_TUNABLE "="));
		if (!strncmp(p, STATIC_TLS_ONCE "=", strlen(STATIC_TLS_ONCE "=")))
			once = p;
		p += strcspn(p, ":");
		if (*p)
			continue;
		if (once) {
			if (once[strlen(STATIC_TLS_ONCE "=") + 1] == *STATIC_TLS_TRAP)
				set_trap(SIG_DFL);
			never |= once[strlen(STATIC_TLS_ONCE "=")] != '2';
			take_off(entry, once);
		}
		return;
	}
}

/* ---- is this the last one? ---- */

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static const char *strings_of(const struct link_map *map)
{
	const Elf64_Dyn *d = map->l_ld;

	while (d && d->d_tag != DT_NULL && d->d_tag != DT_STRTAB)
		d++;
	if (!d || d->d_tag == DT_NULL)
		return NULL;
	/* ld.so makes the value an address, unless the section is read-only. */
	return (const char *)(d->d_un.d_ptr < map->l_addr ? map->l_addr + d->d_un.d_ptr : d->d_un.d_ptr);
}

/* The kernel's vDSO: its dynamic section holds no addresses, and it needs no libraries. */
static bool is_vdso(const struct link_map *map)
{
	return map->l_addr && map->l_addr == getauxval(AT_SYSINFO_EHDR);
}

static bool is_called(const struct link_map *map, const char *name)
{
	const char *strings = strings_of(map);

	if (!strcmp(base_of(map->l_name), base_of(name)))
		return true;
	for (const Elf64_Dyn *d = map->l_ld; strings && d && d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_SONAME)
			return !strcmp(strings + d->d_un.d_val, name);
	return false;
}

static bool is_same_file(const char *path, const struct stat *file)
{
	struct stat st;

	return path && !sys_stat(path, &st) && st.st_dev == file->st_dev && st.st_ino == file->st_ino;
}

/*
 * Is the library of that name a file that is mapped already under another name (a link)? ld.so notices that when it has
 * opened the file, and maps nothing. We look in the folders of mapped libraries; the first file found counts.
 */
static bool is_link(const struct link_map *first, const char *name)
{
	char path[4096];
	struct stat file;

	for (const struct link_map *map = first; map; map = map->l_next) {
		struct text text = { path, sizeof(path), 0 };
		const char *base = base_of(map->l_name);
		if (base == map->l_name || (size_t)(base - map->l_name) >= sizeof(path))
			continue;
		memcpy(path, map->l_name, (size_t)(base - map->l_name));
		text.length = (size_t)(base - map->l_name);
		text_string(&text, base_of(name));
		if (sys_stat(path, &file))
			continue;
		for (map = first; map; map = map->l_next)
			if (is_same_file(map->l_name, &file))
				return true;
		return false;
	}
	return false;
}

/* Is every library mapped that any object needs? As long as one is missing, ld.so goes on to the next. */
static bool is_complete(const struct link_map *map)
{
	const struct link_map *first = map, *m;

	while (first->l_prev)
		first = first->l_prev;
	for (map = first; map; map = map->l_next) {
		const char *strings = is_vdso(map) ? NULL : strings_of(map);

		for (const Elf64_Dyn *d = map->l_ld; strings && d && d->d_tag != DT_NULL; d++) {
			if (d->d_tag != DT_NEEDED)
				continue;
			const char *name = strings + d->d_un.d_val;
			for (m = first; m; m = m->l_next)
				if (!is_vdso(m) && is_called(m, name))
					break;
			if (!m && !is_link(first, name))
				return false;
		}
	}
	return true;
}

/* ---- the second start ---- */

static void *memory(size_t size)
{
	void *p = sys_mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return sys_is_error(p) ? NULL : p;
}

/* The arguments as the kernel laid them out: ld.so, run as a command, hides its own from main(). NULL: unreadable. */
static char **arguments(size_t *count)
{
	size_t length = 0, size = 1ul << 20;
	char *text = NULL, **list;
	long fd = sys_open("/proc/self/cmdline", O_RDONLY, 0), n = -1;

	/* The file has no length before it is read; memory does not matter here. */
	for (; fd >= 0 && size <= MOST && (text = memory(size)); size *= 4) {
		for (length = 0; length < size && (n = sys_call(__NR_pread64, fd, (long)(text + length),
							   (long)(size - length), (long)length, 0, 0)) > 0;)
			length += (size_t)n;
		if (n <= 0)
			break;
		sys_munmap(text, size);
		text = NULL;
	}
	if (fd >= 0)
		sys_close((int)fd);
	if (!text || n < 0 || !length || text[length - 1])
		return NULL;
	*count = 0;
	for (size_t i = 0; i < length; i++)
		*count += !text[i];
	list = memory((*count + 1) * sizeof(*list));
	for (size_t i = 0; list && i < *count; i++, text += strlen(text) + 1)
		list[i] = text;
	return list;
}

/*
 * The environment, with a suffix of GLIBC_TUNABLES that asks for `wanted` bytes; trap: "", or STATIC_TLS_TRAP. NULL: no
 * memory.
 */
static char **environment(uint64_t wanted, const char *trap)
{
	char **entry = find_tunables(), **list;
	size_t n = 0, length = entry ? strlen(*entry) : 0, size = length + 256;
	struct text text = { memory(size), size, 0 };

	while (environ[n])
		n++;
	list = memory((n + 2) * sizeof(*list));
	if (!list || !text.start)
		return NULL;
	memcpy(list, environ, n * sizeof(*list));
	text_string(&text, entry ? *entry : VARIABLE);
	text_string(&text, entry && length > strlen(VARIABLE) ? ":" : "");
	text_string(&text, entry ? STATIC_TLS_ONCE "=1" : STATIC_TLS_ONCE "=0");
	text_string(&text, trap);
	text_string(&text, ":" STATIC_TLS_TUNABLE "=");
	text_number(&text, wanted);
	list[entry ? (size_t)(entry - environ) : n] = text.start;
	return list;
}

static bool is_script(const char *path)
{
	char start[2] = { 0 };
	long fd = path ? sys_open(path, O_RDONLY | O_NONBLOCK, 0) : -1;

	if (fd < 0)
		return false;
	long n = sys_read((int)fd, start, sizeof(start));
	sys_close((int)fd);
	return n == 2 && start[0] == '#' && start[1] == '!';
}

/*
 * Executes the program by the name that it was started with, so that it keeps this name: /proc/self/comm is the name's
 * last part. A script is executed by the script's own name, which the kernel uses for comm, too; the kernel has put
 * interpreter and option before that name, and removed the first argument.
 */
static void execute(char **argument, size_t count, char **variables)
{
	char *name = (char *)getauxval(AT_EXECFN), target[4096];
	struct stat program;
	size_t n = 0;

	if (sys_stat("/proc/self/exe", &program))
		return;
	if (!is_same_file(name, &program) && is_script(name)) {
		for (n = 1; n < count && strcmp(argument[n], name); n++)
			;
		if (n < count)
			sys_call(__NR_execve, (long)name, (long)(argument + n), (long)variables, 0, 0, 0);
		return;
	}
	/* There ld.so, run as a command, gives the program's name. */
	if (!is_same_file(name, &program) || object_program)
		name = strchr(argument[0], '/') ? argument[0] : NULL;
	if (!is_same_file(name, &program)) {
		long length = sys_call(
			__NR_readlink, (long)"/proc/self/exe", (long)target, sizeof(target) - 1, 0, 0, 0);
		target[length > 0 ? length : 0] = '\0';
		name = target;
	}
	/* The file was deleted, or never was in a folder. */
	if (!is_same_file(name, &program))
		name = (char *)"/proc/self/exe";
	sys_call(__NR_execve, (long)name, (long)argument, (long)variables, 0, 0, 0);
}

/*
 * A tracer that uses PTRACE_TRACEME alone gets a SIGTRAP for each execve, and passes an unexpected one on to us: so
 * SIGTRAP is ignored until the second start begins. An ignored signal stays ignored across execve.
 */
static void start_again(uint64_t wanted)
{
	size_t count = 0;
	struct kernel_action trap;
	int is_default = !sys_call(__NR_rt_sigaction, SIGTRAP, 0, (long)&trap, 8, 0, 0) && trap.handler == SIG_DFL;
	char **argument = arguments(&count), **variables = environment(wanted, is_default ? STATIC_TLS_TRAP : "");

	never = 1;
	if (is_default)
		set_trap(SIG_IGN);
	if (argument && variables)
		execute(argument, count, variables);
	if (is_default)
		set_trap(SIG_DFL);
	/* There was no second start. The memory that is left is little, and the process will end soon. */
}

/* ---- how much ---- */

static uint64_t tls_of(const struct image *image)
{
	for (unsigned i = 0; i < image->phnum; i++) {
		const Elf64_Phdr *p = &image->phdr[i];
		uint64_t align = p->p_align ? p->p_align : 1;
		if (p->p_type == PT_TLS && p->p_memsz < 1ull << 40 && align < 1ull << 40)
			return (p->p_memsz + 2 * align - 1) & ~(align - 1); /* at most, wherever it begins */
	}
	return 0;
}

static bool is_marked(const struct link_map *map)
{
	for (const Elf64_Dyn *d = map->l_ld; d && d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_FLAGS)
			return (d->d_un.d_val & DF_STATIC_TLS) != 0;
	return false;
}

void static_tls_look(const struct link_map *map, const struct image *image, const struct imports *imports, int program)
{
	int is = is_marked(map);

	/* libc has its room, and ld.so already counted the program when it set aside room. */
	if (!program && !(image->soname && !strcmp(image->soname, "libc.so.6"))) {
		uint64_t size = tls_of(image);
		all += size;
		marked += is ? size : 0;
	}
	foreign |= (program || is) && imports->foreign_tls;
	uint64_t wanted = foreign ? all : marked;
	if (!never && wanted > room && is_complete(map))
		start_again(wanted + STATIC_TLS_SPARE);
}
