/* SPDX-License-Identifier: MIT */
#include "runtime/files/family.h"

#include <errno.h> /* EEXIST */
#include <fcntl.h> /* AT_SYMLINK_NOFOLLOW */

#include "runtime/base/text.h"
#include "runtime/files/broker.h"
#include "x86_64/sys.h"

static struct {
	const char *output;
	struct trace_head *const *head;
	struct output_place place; /* of folder */
	uint64_t beat;
} family;

static char own_folder[FAMILY_PATH] SYS_LARGE;

void family_init(const char *output, struct trace_head *const *head)
{
	family.output = output;
	family.head = head;
}

const char *family_folder(void)
{
	return own_folder;
}

uint64_t family_beat(void)
{
	return family.beat;
}

/* ---- opening ---- */

int family_open_folder(void)
{
	return (int)output_open_again(own_folder, &family.place);
}

/* What the name leads to is asked without the file's descriptor, which may be another file's by now. */
static long place_of(int folder, const char *name, struct output_place *place)
{
	struct stat st;
	long r = sys_call(__NR_newfstatat, folder, (long)name, (long)&st, AT_SYMLINK_NOFOLLOW, 0, 0);

	if (r)
		return r;
	*place = output_of(&st);
	return output_check(folder, &family.place);
}

static int open_own(const char *name, int make, struct output_place *place)
{
	int folder = family_open_folder();

	if (folder < 0)
		return folder;
	long fd = output_open_file(folder, name, O_RDWR);
	if (fd == -ENOENT && make)
		fd = output_make_file(folder, name);
	long r = fd < 0 ? 0 : place_of(folder, name, place);
	output_close(folder, &family.place);
	/* Without its place it can't be told from the program's, and must stay open. */
	return (int)(r ? r : fd);
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

int family_open(const char *name, int make, struct output_place *place)
{
	struct output_place trace;
	int fd = open_own(name, make, place);

	if (fd >= 0 || !broker_may_help(fd) || !broker_place(&trace))
		return fd;
	/* It gives files to processes that have a head there. */
	struct trace_head *head = *family.head;
	if (!head)
		return fd;
	long given = broker_open(last_of(own_folder), &family.place, name);
	if (given < 0 && given != -EALREADY)
		head->record_error = (uint32_t)-given;
	if (given < 0)
		return fd;
	long r = output_place((int)given, place);
	return (int)(r ? r : given);
}

/* ---- making ---- */

/* The path of the output folder: %p and %u are replaced. */
static void put_output(struct text *text, uint32_t pid)
{
	for (const char *p = family.output; *p; p++) {
		if (p[0] == '%' && p[1] == 'p') {
			text_number(text, pid);
			p++;
		} else if (p[0] == '%' && p[1] == 'u') {
			text_number(text, (uint64_t)sys_call(__NR_geteuid, 0, 0, 0, 0, 0, 0));
			p++;
		} else {
			text_char(text, *p);
		}
	}
}

/*
 * Opens the output folder, and makes it if need be; if `place` is given it must be that one, and is not made. Returns a
 * descriptor of it, or -errno.
 */
static long open_output(const char *path, const struct output_place *place)
{
	if (place)
		return output_open_again(path, place);
	long fd = output_make(AT_FDCWD, path, NULL);
	return fd == -EEXIST ? output_open(AT_FDCWD, path, NULL) : fd;
}

static void put_name(struct text *text, uint32_t pid, unsigned n)
{
	text_string(text, "p");
	text_number(text, pid);
	if (n) {
		text_string(text, ".");
		text_number(text, n);
	}
}

/*
 * Takes over the heartbeat of the family of number n: if that is this process's, before it executed our program, who
 * watches it is about to find us. Where nobody does, it is too old in a moment. at: the output folder.
 */
static void take_beat(int at, uint32_t pid, unsigned n)
{
	char line[32];
	struct text name = { line, sizeof(line), 0 };

	put_name(&name, pid, n);
	long folder = output_open(at, line, NULL);
	long meta = folder < 0 ? folder : output_open_file((int)folder, "meta", O_RDONLY | O_NONBLOCK);
	if (meta >= 0 && sys_call(__NR_pread64, meta, (long)&family.beat, sizeof(family.beat),
				 offsetof(struct trace_head, copy_beat), 0, 0) != sizeof(family.beat))
		family.beat = 0;
	if (meta >= 0)
		sys_close((int)meta);
	if (folder >= 0)
		sys_close((int)folder);
}

/* p<pid>, or the first p<pid>.<n> that is free. Returns a descriptor of it, or -errno. */
static long make_folder(uint32_t pid, const struct output_place *place)
{
	struct text text = { own_folder, sizeof(own_folder), 0 };
	put_output(&text, pid);
	long at = open_output(text.start, place), fd = -EEXIST;
	size_t output = text.length;
	unsigned n = 0;

	if (at < 0)
		return at;
	for (; n < 1000000 && fd == -EEXIST; n++) {
		text.length = output;
		text_string(&text, "/");
		put_name(&text, pid, n);
		fd = output_make((int)at, own_folder + output + 1, &family.place);
	}
	family.beat = 0;
	if (fd >= 0 && n > 1)
		take_beat((int)at, pid, n - 2);
	sys_close((int)at);
	return fd;
}

/* A folder of our own, and its meta. Returns a descriptor of that, or -errno. */
static long make_own(uint32_t pid, const struct output_place *place)
{
	long folder = make_folder(pid, place);

	if (folder < 0)
		return folder;
	long fd = output_make_mapped((int)folder, "meta");
	sys_close((int)folder);
	return fd;
}

/* Has `xaudit record` make folder and meta. */
static long make_given(uint32_t pid)
{
	struct text text = { own_folder, sizeof(own_folder), 0 };
	char name[BROKER_FOLDER];
	long fd = broker_new(name, &family.place);

	if (fd < 0)
		return fd;
	put_output(&text, pid);
	text_string(&text, "/");
	text_string(&text, name);
	return fd;
}

/*
 * Makes folder and meta. If our root is not that of `record`, another folder may have the path of its trace, where no
 * user would look for ours: so, as long as `record` can be asked, it must be the folder that `record` made.
 */
long family_make(uint32_t pid)
{
	struct output_place trace;

	if (!broker_place(&trace))
		return make_own(pid, NULL);
	long fd = make_own(pid, &trace);
	if (fd >= 0 || !broker_may_help(fd))
		return fd;
	fd = make_given(pid);
	return fd >= 0 ? fd : make_own(pid, NULL);
}

