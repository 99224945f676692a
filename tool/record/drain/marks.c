/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/record/drain/marks.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/places.h"
#include "format/trace.h"
#include "tool/base/now.h"
#include "tool/base/proc.h"
#include "tool/base/whole.h"

#define PAGE	 4096
#define MOST	 32768 /* marks, and numbers, each twice */
#define SPACES	 64
#define LOOKS	 2     /* at each process */
#define PLACES	 (1u << 20) /* where heads are looked for */
#define SUBUIDS	 65536 /* from here on users may be those of other namespaces */
/* ns: a task that shares the memory of a process may be older than its head, by so much. */
#define BEFORE	 10000000000ull

static struct {
	uint32_t live[MOST];
	size_t count;
	/* Of tasks that have no mark, or whose maps can't be read: their numbers in each namespace; */
	uint32_t number[MOST];
	size_t numbers;
	uint64_t latest; /* and when the last one of the latter began: CLOCK_REALTIME, ns */
	uint64_t space[SPACES]; /* namespaces of processes that /proc shows; the first one is ours */
	size_t spaces;
	bool seen, failed;
	/* Of the task at hand: */
	bool mapped, marked;
	/* "DEVICE INODE" of the file, as maps have it. */
	char file[64];
	size_t file_length;
	uint64_t place_size;
} marks;

/* ---- files of /proc ---- */

/* Reads a small file, or the begin of one. Returns whether there was anything. */
static bool read_small(int proc, const char *path, char *text, size_t size)
{
	int fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	size_t have = 0;
	ssize_t n = 1;

	/* The kernel gives a page at a time. */
	while (fd >= 0 && n && have < size - 1) {
		n = read(fd, text + have, size - 1 - have);
		if (n < 0 && errno != EINTR)
			break;
		have += n > 0 ? (size_t)n : 0;
	}
	if (fd >= 0)
		close(fd);
	text[have] = '\0';
	return have > 0;
}

struct line {
	uint64_t start, end, offset;
	const char *file; /* "DEVICE INODE", then the rest */
};

/* 08048000-08049000 rw-s 00000000 08:01 1234 PATH */
static bool parse(const char *text, struct line *line)
{
	char *at;

	line->start = strtoull(text, &at, 16);
	if (*at++ != '-')
		return false;
	line->end = strtoull(at, &at, 16);
	if (*at++ != ' ' || strnlen(at, 5) < 5)
		return false;
	line->offset = strtoull(at + 5, &at, 16);
	line->file = at + 1;
	return *at == ' ';
}

/*
 * Calls `found` for each line, as long as it returns true. Returns the bytes that there were, or -errno. Lines that are
 * longer than a piece are cut, after what is looked at.
 */
static long each_line(int proc, const char *path, bool (*found)(const char *line))
{
	static char text[1 << 16];
	int fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	size_t have = 0;
	long all = 0;
	ssize_t n;

	if (fd < 0)
		return -errno;
	while ((n = read(fd, text + have, sizeof(text) - 1 - have)) > 0 || (n < 0 && errno == EINTR)) {
		have += n > 0 ? (size_t)n : 0;
		all += n > 0 ? n : 0;
		text[have] = '\0';
		char *begin = text, *end;
		for (; (end = strchr(begin, '\n')); begin = end + 1) {
			*end = '\0';
			if (!found(begin)) {
				close(fd);
				return all;
			}
		}
		have -= (size_t)(begin - text);
		memmove(text, begin, have);
		if (have == sizeof(text) - 1)
			have = 0;
	}
	if (n < 0)
		all = -errno;
	close(fd);
	return all;
}

/* ---- which file ---- */

static uint64_t own_page;

static bool take_file(const char *text)
{
	struct line line;

	if (!parse(text, &line) || line.start != own_page)
		return true;
	const char *end = strchr(line.file, ' ');
	if (!end)
		return false;
	size_t length = (size_t)(end - line.file) + 1;
	length += strspn(line.file + length, "0123456789");
	if (length >= sizeof(marks.file))
		return false;
	memcpy(marks.file, line.file, length);
	marks.file_length = length;
	return false;
}

static bool learn_file(int proc, int meta)
{
	void *page = mmap(NULL, PAGE, PROT_NONE, MAP_SHARED, meta, 0);

	if (page == MAP_FAILED)
		return false;
	own_page = (uint64_t)(uintptr_t)page;
	marks.file_length = 0;
	each_line(proc, "self/maps", take_file);
	munmap(page, PAGE);
	return marks.file_length != 0;
}

/* ---- processes ---- */

static bool take_mark(const char *text)
{
	struct line line;

	if (!parse(text, &line) || strncmp(line.file, marks.file, marks.file_length) ||
		isdigit((unsigned char)line.file[marks.file_length]))
		return true;
	marks.mapped = true;
	if (line.end - line.start != PAGE || line.offset % marks.place_size)
		return true;
	marks.marked = true;
	if (marks.count == MOST)
		marks.failed = true;
	else
		marks.live[marks.count++] = (uint32_t)(line.offset / marks.place_size);
	return !marks.failed;
}

/* The numbers after a word of /proc/PID/status, or NULL. */
static char *after(char *text, const char *word)
{
	char *at = strstr(text, word);

	return at ? at + strlen(word) : NULL;
}

/* Its numbers, in each namespace. */
static void take_numbers(char *pids)
{
	char *end;

	for (;; pids = end) {
		uint32_t number = (uint32_t)strtoul(pids, &end, 10);
		if (end == pids || marks.failed)
			return;
		if (marks.numbers == MOST)
			marks.failed = true;
		else
			marks.number[marks.numbers++] = number;
	}
}

/* It has no mark, or, secret: its maps can't be read. Notes what is known of it, if it may be a process of ours. */
static void take_other(int proc, const char *task, bool secret)
{
	char path[64], text[4096], *uids, *pids;
	bool may = geteuid() == 0 || !secret;

	strcat(strcpy(path, task), "/stat");
	uint64_t start = read_small(proc, path, text, sizeof(text)) ? proc_began(text) : 0;
	strcat(strcpy(path, task), "/status");
	if (!read_small(proc, path, text, sizeof(text)) || !start)
		return; /* it has ended */
	uids = after(text, "\nUid:");
	for (int i = 0; uids && i < 4; i++) {
		unsigned long uid = strtoul(uids, &uids, 10);
		may |= uid == geteuid() || uid >= SUBUIDS;
	}
	if (uids && !may)
		return;
	if (!uids || !(pids = after(text, "\nNSpid:"))) {
		marks.failed = true;
		return;
	}
	take_numbers(pids);
	uint64_t began = tool_now_on(CLOCK_REALTIME) - (tool_now_on(CLOCK_BOOTTIME) - start);
	if (secret && began > marks.latest)
		marks.latest = began;
}

/* The namespace of a task, which /proc shows, and so all others in it. */
static void take_space(int proc, const char *task)
{
	char path[64];
	struct stat st;

	strcat(strcpy(path, task), "/ns/pid");
	if (fstatat(proc, path, &st, 0))
		return;
	for (size_t i = 0; i < marks.spaces; i++)
		if (marks.space[i] == st.st_ino)
			return;
	if (marks.spaces < SPACES)
		marks.space[marks.spaces++] = st.st_ino;
}

/* What a task's memory has; `task` is "PID" or "PID/task/TID". Returns false if its other threads may tell more. */
static bool look_at(int proc, const char *task)
{
	char path[64];

	marks.mapped = marks.marked = false;
	strcat(strcpy(path, task), "/maps");
	long n = each_line(proc, path, take_mark);
	if (n == -EACCES || n == -EPERM)
		take_other(proc, task, true);
	else if (n < 0 && n != -ENOENT && n != -ESRCH)
		marks.failed = true;
	if (marks.mapped)
		take_space(proc, task);
	if (marks.mapped && !marks.marked)
		take_other(proc, task, false);
	marks.seen |= marks.mapped;
	return n && n != -ENOENT && n != -ESRCH;
}

/* Its first thread has ended, and others may go on: then it is theirs to tell. */
static void look_at_threads(int proc, const char *pid)
{
	char path[64];
	DIR *tasks;

	strcat(strcpy(path, pid), "/task");
	int fd = openat(proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (!(tasks = fdopendir(fd))) {
		close(fd);
		marks.failed = true;
		return;
	}
	for (struct dirent *e; (e = readdir(tasks));) {
		if (!isdigit((unsigned char)*e->d_name) || !strcmp(e->d_name, pid) || strlen(e->d_name) > 10)
			continue;
		strcat(strcat(strcpy(path, pid), "/task/"), e->d_name);
		if (look_at(proc, path))
			break;
	}
	closedir(tasks);
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static bool is_hiding;

static bool take_mount(const char *line)
{
	is_hiding |= strstr(line, "hidepid=") != NULL;
	return !is_hiding;
}

/* Does /proc show all processes that there may be, those of our namespace and of namespaces in it? */
static bool is_whole(int proc)
{
	char own[32];
	ssize_t n = readlinkat(proc, "self", own, sizeof(own) - 1);

	if (n <= 0)
		return false;
	own[n] = '\0';
	is_hiding = false;
	return strtol(own, NULL, 10) == getpid() && each_line(proc, "self/mountinfo", take_mount) > 0 && !is_hiding;
}

static void look_at_all(int proc)
{
	int list = openat(proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = list < 0 ? NULL : fdopendir(list);

	if (!dir) {
		if (list >= 0)
			close(list);
		marks.failed = true;
		return;
	}
	errno = 0;
	for (struct dirent *e; !marks.failed && (e = readdir(dir)); errno = 0)
		if (isdigit((unsigned char)*e->d_name) && strlen(e->d_name) <= 10 && !look_at(proc, e->d_name))
			look_at_threads(proc, e->d_name);
	marks.failed |= errno != 0;
	closedir(dir);
}

bool drain_marks_look(int meta, uint64_t place_size)
{
	int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (proc < 0)
		return false;
	marks.count = marks.numbers = marks.spaces = 0;
	marks.latest = 0;
	marks.place_size = place_size;
	marks.seen = false;
	marks.failed = !is_whole(proc) || !learn_file(proc, meta);
	take_space(proc, "self");
	for (int i = 0; i < LOOKS && !marks.failed; i++)
		look_at_all(proc);
	close(proc);
	qsort(marks.live, marks.count, sizeof(*marks.live), by_number);
	qsort(marks.number, marks.numbers, sizeof(*marks.number), by_number);
	return marks.seen && !marks.failed;
}

bool drain_marks_note(struct drain_marks_process *process, uint32_t place, const struct trace_head *head)
{
	static char boot[sizeof(head->boot_id)];

	if (!*boot)
		proc_read(boot, sizeof(boot), "/proc/sys/kernel/random/boot_id");
	*process = (struct drain_marks_process){ place, head->pid, head->first.real, head->pid_namespace };
	return head->flags & TRACE_MARKED && *boot && !strncmp(head->boot_id, boot, strcspn(boot, "\n"));
}

bool drain_marks_is_gone(const struct drain_marks_process *process)
{
	bool shown = false;

	for (size_t i = 0; i < marks.spaces; i++)
		shown |= marks.space[i] == process->space;
	return shown && (!marks.latest || marks.latest + BEFORE < process->real) &&
	       !bsearch(&process->place, marks.live, marks.count, sizeof(process->place), by_number) &&
	       !bsearch(&process->pid, marks.number, marks.numbers, sizeof(process->pid), by_number);
}

bool drain_marks_is_alive(int meta)
{
	static uint64_t word[4096];
	static struct trace_head head;

	if (!whole_read(meta, &head, sizeof(head), 0))
		return false;
	const struct trace_directory directory = trace_directory_of(&head);
	uint32_t places = head.places < PLACES ? head.places : PLACES, n;
	if (!trace_directory_is_sane(&directory))
		return false;
	for (uint32_t at = 0; at < places; at += n) {
		n = trace_words_together(&directory, at, places - at);
		n = n < sizeof(word) / 8 ? n : sizeof(word) / 8;
		if (!whole_read(meta, word, n * 8ul, trace_word_at(&directory, at)))
			break;
		for (uint32_t i = 0; i < n; i++) {
			pid_t pid = (pid_t)(uint32_t)word[i];
			if (word[i] >> 60 == TRACE_PLACE_HEAD && pid > 0 && (!kill(pid, 0) || errno != ESRCH))
				return true;
		}
	}
	return false;
}
