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
#include <time.h>
#include <unistd.h>

#include "format/trace.h"
#include "tool/whole.h"

#define PAGE	 4096
#define MOST	 16384 /* marks */
#define PLACES	 (1u << 20) /* where heads are looked for */
#define SECRETS	 256   /* processes whose maps can't be read */
#define SUBUIDS	 65536 /* from here on users may be those of other namespaces */
#define NS	 1000000000ull
#define BEFORE	 (10 * NS) /* a task that shares the memory of a process may be older than its head, by so much */

static struct {
	uint32_t live[MOST];
	size_t count;
	struct {
		uint32_t pid[4]; /* in each namespace of processes */
		uint64_t start;	 /* CLOCK_REALTIME, ns */
	} secret[SECRETS];
	size_t secrets;
	bool failed;
	/* "DEVICE INODE" of the file, as maps have it. */
	char file[64];
	size_t file_length;
	uint64_t place_size;
} marks;

/* ---- files of /proc ---- */

/* Reads most of a small file. Returns whether there was anything. */
static bool read_small(int proc, const char *path, char *text, size_t size)
{
	int fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
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
static long each_line(int proc, const char *path, bool (*found)(const struct line *line))
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
		struct line line;
		for (; (end = strchr(begin, '\n')); begin = end + 1) {
			*end = '\0';
			if (parse(begin, &line) && !found(&line)) {
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

static bool take_file(const struct line *line)
{
	const char *end = strchr(line->file, ' ');
	size_t length;

	if (line->start != own_page)
		return true;
	if (!end)
		return false;
	length = (size_t)(end - line->file) + 1;
	length += strspn(line->file + length, "0123456789");
	if (length >= sizeof(marks.file))
		return false;
	memcpy(marks.file, line->file, length);
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

static bool take_mark(const struct line *line)
{
	if (line->end - line->start != PAGE || line->offset % marks.place_size ||
		strncmp(line->file, marks.file, marks.file_length) ||
		isdigit((unsigned char)line->file[marks.file_length]))
		return true;
	if (marks.count == MOST)
		marks.failed = true;
	else
		marks.live[marks.count++] = (uint32_t)(line->offset / marks.place_size);
	return !marks.failed;
}

/* The numbers after a word of /proc/PID/status, or NULL. */
static char *after(char *text, const char *word)
{
	char *at = strstr(text, word);

	return at ? at + strlen(word) : NULL;
}

/* The 22nd word of /proc/PID/stat: ticks since the boot. 0: it is not there. */
static uint64_t start_of(int proc, const char *pid)
{
	char path[32], text[1024], *at;

	strcat(strcpy(path, pid), "/stat");
	if (!read_small(proc, path, text, sizeof(text)) || !(at = strrchr(text, ')')))
		return 0;
	for (int word = 2; at && word < 22; word++)
		at = strchr(at + 1, ' ');
	return at ? strtoull(at + 1, NULL, 10) : 0;
}

static uint64_t clock_of(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * NS + (uint64_t)time.tv_nsec;
}

/* May it have been a process of ours, though its maps can't be read? Then notes what is known of it. */
static void take_secret(int proc, const char *pid)
{
	char path[32], text[4096], *uids, *pids;
	bool may = geteuid() == 0;
	uint64_t start = start_of(proc, pid);

	strcat(strcpy(path, pid), "/status");
	if (!read_small(proc, path, text, sizeof(text)) || !start)
		return; /* it has ended */
	uids = after(text, "\nUid:");
	for (int i = 0; uids && i < 4; i++) {
		unsigned long uid = strtoul(uids, &uids, 10);
		may |= uid == geteuid() || uid >= SUBUIDS;
	}
	if (uids && !may)
		return;
	if (marks.secrets == SECRETS || !uids || !(pids = after(text, "\nNSpid:"))) {
		marks.failed = true;
		return;
	}
	for (int i = 0; i < 4; i++)
		marks.secret[marks.secrets].pid[i] = (uint32_t)strtoul(pids, &pids, 10);
	uint64_t age = clock_of(CLOCK_BOOTTIME) - start * (NS / (uint64_t)sysconf(_SC_CLK_TCK));
	marks.secret[marks.secrets++].start = clock_of(CLOCK_REALTIME) - age;
}

/* What a task's memory has; `task` is "PID" or "PID/task/TID". Returns whether it has any. */
static bool look_at(int proc, const char *task)
{
	char path[64];

	strcat(strcpy(path, task), "/maps");
	long n = each_line(proc, path, take_mark);
	if (n == -EACCES || n == -EPERM)
		take_secret(proc, task);
	else if (n < 0 && n != -ENOENT && n != -ESRCH)
		marks.failed = true;
	return n > 0;
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

/* Does /proc show all processes that there may be, those of our namespace and of namespaces in it? */
static bool is_whole(int proc)
{
	static char text[1 << 16];
	char own[32];
	ssize_t n = readlinkat(proc, "self", own, sizeof(own) - 1);

	if (n <= 0)
		return false;
	own[n] = '\0';
	if (strtol(own, NULL, 10) != getpid())
		return false;
	/* Root sees them all. */
	return geteuid() == 0 || (read_small(proc, "self/mountinfo", text, sizeof(text)) && !strstr(text, "hidepid="));
}

bool drain_marks_look(int meta, uint64_t place_size)
{
	int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC), list;
	DIR *dir = NULL;

	if (proc < 0)
		return false;
	marks.count = marks.secrets = 0;
	marks.place_size = place_size;
	marks.failed = !is_whole(proc) || !learn_file(proc, meta);
	list = marks.failed ? -1 : dup(proc);
	if (list >= 0 && !(dir = fdopendir(list)))
		close(list);
	marks.failed |= !dir;
	errno = 0;
	for (struct dirent *e; !marks.failed && (e = readdir(dir)); errno = 0)
		if (isdigit((unsigned char)*e->d_name) && strlen(e->d_name) <= 10 && !look_at(proc, e->d_name))
			look_at_threads(proc, e->d_name);
	marks.failed |= errno != 0;
	if (dir)
		closedir(dir);
	close(proc);
	qsort(marks.live, marks.count, sizeof(*marks.live), by_number);
	return !marks.failed;
}

bool drain_marks_is_gone(uint32_t place, uint32_t pid, uint64_t real)
{
	if (bsearch(&place, marks.live, marks.count, sizeof(place), by_number))
		return false;
	for (size_t i = 0; i < marks.secrets; i++) {
		if (marks.secret[i].start + BEFORE >= real)
			return false;
		for (int k = 0; k < 4; k++)
			if (marks.secret[i].pid[k] == pid)
				return false;
	}
	return true;
}

bool drain_marks_is_alive(int meta)
{
	static uint64_t word[4096];
	static struct trace_head head;

	if (!whole_read(meta, &head, sizeof(head), 0))
		return false;
	uint64_t places = head.places < PLACES ? head.places : PLACES;
	for (uint64_t at = 0; at < places;) {
		ssize_t n = pread(meta, word, sizeof(word), (off_t)(head.directory + at * 8));
		if (n < 8)
			break;
		for (size_t i = 0; i < (size_t)n / 8 && at < places; i++, at++) {
			pid_t pid = (pid_t)(uint32_t)word[i];
			if (word[i] >> 60 == TRACE_PLACE_HEAD && pid > 0 && (!kill(pid, 0) || errno != ESRCH))
				return true;
		}
	}
	return false;
}
