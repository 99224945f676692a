/* SPDX-License-Identifier: MIT */
/* Files of a trace: many more than can be open at once are read, and a file that was replaced meanwhile is not. */
#define _GNU_SOURCE
#include "tool/read/trace_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "t/lib/descriptors.h"
#include "t/lib/tap.h"

#define MANY (3 * READ_FILES_OPEN)

static char dir[] = "/tmp/xaudit-trace-file-XXXXXX";
static struct read_file *file[MANY];
static struct read_files files;
static int at;

static void name_of(char name[32], int n)
{
	snprintf(name, 32, "p1/t%d", n);
}

static void write_number(const char *name, int n)
{
	int fd = openat(at, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, &n, sizeof(n)) != sizeof(n))
		exit(1);
	close(fd);
}

/* Reads them in an order unrelated to their age. Returns how many hold what was written. */
static int readable(void)
{
	int right = 0;

	for (int i = 0; i < MANY; i++) {
		int k = i * 7 % MANY, got = -1, error = -1;
		right += read_file_read(file[k], &got, sizeof(got), 0, &error) == sizeof(got) && got == k && !error;
	}
	return right;
}

int main(void)
{
	struct rlimit few = {32, 32};
	const char *why;
	char name[32];
	int opened = 0, got, error, before;

	at = mkdtemp(dir) ? open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	files.at = at;
	if (at < 0 || mkdirat(at, "p1", 0700))
		return 1;
	for (int i = 0; i < MANY; i++) {
		name_of(name, i);
		write_number(name, i);
	}
	before = descriptors();
	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "t%d", i);
		opened += (file[i] = read_file_open(&files, "p1", name, NULL, &why)) != NULL;
	}
	is_int(opened, MANY, "three times as many files are opened as may be open");
	is_int(descriptors() - before, READ_FILES_OPEN, "as many are open as may be");
	is_int(readable(), MANY, "all are read");
	is_int(descriptors() - before, READ_FILES_OPEN, "and no more are open then");

	is_int(read_file_open(&files, "p1", "nothing", NULL, &why) != NULL || why, 0,
		"a file that is not there is no error");
	ok(!read_file_open(&files, ".", "p1", NULL, &why) && !strcmp(why, "this is not a file"), "a folder is no file");

	/* The first half is not in use any more. */
	for (int i = MANY / 2; i < MANY; i++)
		read_file_size(file[i]);
	name_of(name, 0);
	write_number("p1/new", 4711);
	renameat(at, "p1/new", at, name);
	is_int(read_file_read(file[0], &got, sizeof(got), 0, &error), 0, "a file that was replaced is not read");
	is_int(error, ESTALE, "and the reason is ESTALE");
	name_of(name, 1);
	unlinkat(at, name, 0);
	is_int(read_file_read(file[1], &got, sizeof(got), 0, &error), 0, "nor one that was removed");
	is_int(error, ENOENT, "and the reason is ENOENT");
	is_int((long)read_file_size(file[1]), 0, "its size is 0");

	/* All others are closed for good; the remaining files are read with the few descriptors that are left. */
	for (int i = 0; i < MANY; i++)
		read_file_close(file[i]);
	is_int(descriptors() - before, 0, "closed files hold no descriptor");
	write_number("p1/t0", 0);
	write_number("p1/t1", 1);
	setrlimit(RLIMIT_NOFILE, &few);
	opened = 0;
	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "t%d", i);
		opened += (file[i] = read_file_open(&files, "p1", name, NULL, &why)) != NULL;
	}
	is_int(opened, MANY, "they are opened where 32 descriptors are all there is");
	is_int(readable(), MANY, "and read");
	struct read_list *list = read_files_list(&files, "p1");
	ok(list != NULL, "a folder is listed then, too");
	if (list)
		read_list_close(list);
	for (int i = 0; i < MANY; i++) {
		read_file_close(file[i]);
		name_of(name, i);
		unlinkat(at, name, 0);
	}
	unlinkat(at, "p1", AT_REMOVEDIR);
	rmdir(dir);
	return done_testing();
}
