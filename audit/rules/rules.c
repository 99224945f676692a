/* SPDX-License-Identifier: MIT */
/* Where the rules come from, and which of them count. */
#include "audit/rules/rules.h"

#include <errno.h>	 /* ENOENT */
#include <limits.h>	 /* PATH_MAX */
#include <stdbool.h>
#include <string.h>	 /* strncmp */
#include <sys/stat.h>	 /* S_ISREG */
#include <sys/syscall.h> /* __NR_getcwd */

#include "audit/rules/defaults.h"
#include "audit/rules/ini.h"
#include "x86_64/sys.h"

/* No rules are a megabyte long; a user who names a wrong file should be told. */
#define FILE_MAX (1ul << 20)


/* Reasons to reject a file, in addition to -errno. */
enum { NO_FILE = -4001, FOREIGN = -4002, FOR_ALL = -4003, FOR_GROUP = -4004, FOREIGN_LINK = -4005 };

/* In the module there is no strerror(). */
static const char *error_words(long error)
{
	switch (error) {
	case NO_FILE:
		return "it is no regular file";
	case FOREIGN:
		return "it belongs to another user";
	case FOR_ALL:
		return "every user may write to it";
	case FOR_GROUP:
		return "users of another group may write to it";
	case FOREIGN_LINK:
		return "it is a link of another user";
	case -ENOENT:
	case -ENOTDIR:
		return "no such file";
	case -EACCES:
	case -EPERM:
		return "permission denied";
	case -EISDIR:
		return "it is a folder";
	case -ENOMEM:
		return "no memory";
	case -EFBIG:
		return "it is larger than 1 MiB";
	default:
		return "input/output error";
	}
}

/* Joins three strings. NULL when there is no memory. */
static char *join(struct arena *arena, const char *a, const char *b, const char *c)
{
	size_t na = sys_length(a), nb = sys_length(b), nc = sys_length(c);
	char *p = arena_alloc(arena, na + nb + nc + 1);

	if (p) {
		sys_copy(p, a, na);
		sys_copy(p + na, b, nb);
		sys_copy(p + na + nb, c, nc);
	}
	return p;
}

/* The path from the root, without trailing slashes. NULL when there is no memory or no current folder. */
static const char *absolute(struct arena *arena, const char *path)
{
	char here[PATH_MAX];
	size_t n = sys_length(path);

	while (n > 1 && path[n - 1] == '/')
		n--;
	if (path[0] == '/')
		return arena_string(arena, path, n);
	if (sys_call(__NR_getcwd, (long)here, sizeof(here), 0, 0, 0, 0) < 0 || here[0] != '/')
		return NULL;
	char *copy = arena_string(arena, path, n);
	return copy ? join(arena, here, here[1] ? "/" : "", copy) : NULL;
}

static bool is_trusted(const struct stat *st)
{
	return st->st_uid == 0 || st->st_uid == (uid_t)sys_call(__NR_geteuid, 0, 0, 0, 0, 0, 0);
}

/*
 * Opens a file that was searched for, not named. A link to it must be trusted as a file must: another user's link could
 * choose one of all files of this user and of root. Another user's file or link gives the error for that, even if it
 * can't be read. Returns a descriptor, or an error.
 */
static long open_searched(const char *path, int flags)
{
	struct stat st;
	long fd = sys_open(path, flags | O_NOFOLLOW, 0), r;

	if (fd >= 0 || fd == -ENOENT || fd == -ENOTDIR)
		return fd;
	r = sys_call(__NR_newfstatat, AT_FDCWD, (long)path, (long)&st, AT_SYMLINK_NOFOLLOW, 0, 0);
	if (r < 0)
		return r;
	if (!is_trusted(&st))
		return S_ISLNK(st.st_mode) ? FOREIGN_LINK : FOREIGN;
	return fd == -ELOOP ? sys_open(path, flags, 0) : fd;
}

/*
 * A file that was searched for may be another user's: any user who may write to the current folder could choose what is
 * traced, and to which folder. A file that the user named is accepted if it can't make us wait for ever. 0, or an
 * error; *size: how much there is to read, as a rule.
 */
static long look(int fd, int searched, size_t *size)
{
	struct stat st;
	long r = sys_fstat(fd, &st);

	if (r < 0)
		return r;
	*size = (size_t)st.st_size;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!S_ISREG(st.st_mode))
		return !searched && S_ISCHR(st.st_mode) ? 0 : NO_FILE; /* /dev/null */
	if (!searched)
		return 0;
	if (!is_trusted(&st))
		return FOREIGN;
	if (st.st_mode & S_IWOTH)
		return FOR_ALL;
	/* Where each user has a private group, files are usually writable by that group. */
	if (st.st_mode & S_IWGRP && st.st_gid != (gid_t)sys_call(__NR_getegid, 0, 0, 0, 0, 0, 0))
		return FOR_GROUP;
	return 0;
}

/* Reads and parses a file. Returns 0; -errno when it can't be read (without a message); 1 when it is bad (with one). */
static long read_file(struct rules *rules, struct rules_text *out, const char *path, int searched)
{
	struct arena *arena = &rules->arena;
	size_t length = 0, room;
	char *text;
	/* Not blocking: else opening a FIFO would wait for a writer. */
	const int flags = O_RDONLY | O_NOCTTY | O_NONBLOCK;
	long fd = searched ? open_searched(path, flags) : sys_open(path, flags, 0), n = 0;

	if (fd < 0)
		return fd;
	long wrong = look((int)fd, searched, &room);
	if (wrong) {
		sys_close((int)fd);
		return wrong;
	}
	/* Room to see the end: each page of memory costs a start more than a system call. */
	room = room < FILE_MAX ? room + 64 : 4096;
	text = arena_alloc(arena, room);
	while (text && (n = sys_read((int)fd, text + length, room - length)) != 0) {
		if (n == -EINTR)
			continue;
		if (n < 0)
			break;
		length += (size_t)n;
		if (length > FILE_MAX) {
			n = -EFBIG;
			break;
		}
		if (length == room) {
			char *larger = arena_alloc(arena, room * 2);
			if (larger)
				sys_copy(larger, text, length);
			text = larger;
			room *= 2;
		}
	}
	sys_close((int)fd);
	if (!text)
		return -ENOMEM;
	if (n < 0)
		return n;
	out->name = arena_string(arena, path, sys_length(path));
	if (!out->name)
		return -ENOMEM;
	out->numbered = 1;
	return rules_parse(rules, out, text, length) < 0 ? 1 : 0;
}

static int cannot_read(const char *path, long error)
{
	rules_complain(path, 0,
		&(struct rules_error){ .a = "the configuration can't be read: ", .c = error_words(error) });
	return -1;
}

static void say_skipped(const char *path, long error)
{
	rules_complain(path, 0,
		&(struct rules_error){ .a = "the configuration is skipped: ", .c = error_words(error) });
}

/* Does the text hold a section about objects? Then such sections of a file that was searched for are not used. */
static bool has_sections(const char *text)
{
	static const char library[] = "[library", program[] = "[program";

	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, library, sizeof(library) - 1) || !strncmp(line, program, sizeof(program) - 1))
			return true;
	}
	return false;
}

/*
 * Finds and reads the configuration file that counts. text: of XAUDIT_RULES, or NULL. If the file can't be read, the
 * rules of the text still hold; and if the text says what is traced, as in each process of `xaudit record`, there is no
 * message about the file. Returns 1 when there is a file, 0 when there is none, -1 after a line on fd 2.
 */
static int find_file(
	struct rules *rules, struct rules_text *out, const char *text, char *(*environment)(const char *))
{
	const char *named = environment("XAUDIT_CONFIG");
	const char *xdg = environment("XDG_CONFIG_HOME"), *home = environment("HOME");
	const char *path[3] = { "./xaudit.conf", NULL, "/etc/xaudit.conf" };
	long result;

	if (named && *named) {
		result = read_file(rules, out, named, 0);
		return result < 0 ? cannot_read(named, result) : result > 0 ? -1 : 1;
	}
	/* The XDG specification: a relative XDG_CONFIG_HOME is to be ignored. */
	if (xdg && xdg[0] == '/')
		path[1] = join(&rules->arena, xdg, "/xaudit.conf", "");
	else if (home && home[0] == '/')
		path[1] = join(&rules->arena, home, "/.config/xaudit.conf", "");
	for (int i = 0; i < 3; i++) {
		if (!path[i])
			continue;
		result = read_file(rules, out, path[i], 1);
		if (result == -ENOENT || result == -ENOTDIR)
			continue;
		if (result < 0 && (text || result <= NO_FILE)) {
			if (!text || !has_sections(text))
				say_skipped(path[i], result);
			continue;
		}
		return result < 0 ? cannot_read(path[i], result) : result > 0 ? -1 : 1;
	}
	return 0;
}

static int no_memory(struct rules *rules, const char *what)
{
	rules_complain("rules", 0, &(struct rules_error){ .a = what });
	arena_free(&rules->arena);
	return -1;
}

/*
 * Values that hold unless a source changes them. recorded: `xaudit record` made the rules, for a command and all
 * programs that it runs.
 */
static void set_defaults(struct rules *rules, int recorded)
{
	*rules = (struct rules){
		.output = DEFAULTS_OUTPUT,
		.ring = DEFAULTS_RING,
		.follow = recorded ? RULES_FOLLOW_YES : RULES_FOLLOW_NO,
		.control_any = recorded,
	};
}

/* Joins the sections of both sources: those of `first` before those of `second`. Either may be empty. */
static int merge(
	struct rules *rules, const struct rules_text *first, const struct rules_text *second, int both_sections)
{
	struct rules_section **last = &rules->sections;
	struct rules_name **last_name = &rules->names;

	*last_name = first->names;
	while (*last_name)
		last_name = &(*last_name)->next;
	*last_name = second->names;
	*last = first->sections;
	while (*last)
		last = &(*last)->next;
	if (!first->sections || both_sections)
		*last = second->sections;
	if (!rules->sections) {
		struct rules_section *all = arena_alloc(&rules->arena, 2 * sizeof(*all));

		if (!all)
			return no_memory(rules, "no memory for the rules");
		all[0] = (struct rules_section){ .next = &all[1], .library = "*", .kinds = RULES_DEFAULT_KINDS };
		all[1] = (struct rules_section){ .kinds = RULES_DEFAULT_KINDS };
		rules->sections = all;
		rules->defaults = 1;
	}

	if (rules->no_values)
		rules->event_backtrace = 0;
	if (rules_values_join(&rules->values, &rules->arena, &first->values, &second->values, rules->no_values) < 0)
		return no_memory(rules, "no memory for the rules");
	rules->output = absolute(&rules->arena, rules->output);
	if (!rules->output)
		return no_memory(rules, "no memory, or the current folder is gone; name an absolute path as output");
	rules->file = second->name;
	if (first->name && second->name)
		rules->source = join(&rules->arena, first->name, " and ", second->name);
	else
		rules->source = first->name ? first->name : second->name ? second->name : "defaults";
	if (!rules->source)
		return no_memory(rules, "no memory for the rules");
	return 0;
}

static int refuse(struct rules *rules)
{
	arena_free(&rules->arena);
	*rules = (struct rules){ 0 };
	return -1;
}

size_t rules_buffer(const struct rules *rules)
{
	if (rules->buffer)
		return rules->buffer;
	return rules->mode == TRACE_MODE_COUNT ? DEFAULTS_BUFFER_COUNTING : DEFAULTS_BUFFER;
}

int rules_read(struct rules *rules, char *(*environment)(const char *))
{
	struct rules_text first = { 0 }, second = { 0 };
	const char *text = environment("XAUDIT_RULES"), *named = environment("XAUDIT_CONFIG");
	int recorded = text && *text;

	set_defaults(rules, recorded);
	if (find_file(rules, &second, recorded ? text : NULL, environment) < 0)
		return refuse(rules);
	/* After the file, since the keys of this text win. */
	if (recorded) {
		size_t length = sys_length(text);
		char *copy = arena_string(&rules->arena, text, length);

		if (!copy)
			return no_memory(rules, "no memory for the rules");
		first.name = "command line";
		if (rules_parse(rules, &first, copy, length) < 0)
			return refuse(rules);
	}
	return merge(rules, &first, &second, named && *named);
}
