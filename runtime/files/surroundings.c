/* SPDX-License-Identifier: MIT */
#include "runtime/files/surroundings.h"

#include <sys/stat.h>	 /* struct stat */
#include <sys/utsname.h> /* struct utsname */

#include "runtime/base/text.h"
#include "x86_64/sys.h"

static struct surroundings known SYS_LARGE;
static const char *command; /* or NULL */
static size_t command_length;

/* Reads a small file; returns its length, without a newline at its end, or 0: then the buffer is as before. */
static size_t read_file(const char *path, char *buffer, size_t size)
{
	long fd = sys_open(path, O_RDONLY, 0);

	if (fd < 0)
		return 0;
	long n = sys_read((int)fd, buffer, size - 1);
	sys_close((int)fd);
	if (n <= 0)
		return 0;
	if (buffer[n - 1] == '\n')
		n--;
	buffer[n] = '\0';
	return (size_t)n;
}

/* A decimal number, with a sign perhaps, behind blanks. Moves on behind it. */
static int64_t take_number(const char **text)
{
	const char *p = *text;
	uint64_t n = 0;

	while (*p == ' ' || *p == '\t')
		p++;
	int minus = *p == '-';
	for (p += minus; *p >= '0' && *p <= '9'; p++)
		n = 10 * n + (uint64_t)(*p - '0');
	*text = p;
	return minus ? -(int64_t)n : (int64_t)n;
}

static long read_link(const char *path, char *to, size_t size)
{
	return sys_call(__NR_readlinkat, AT_FDCWD, (long)path, (long)to, (long)size, 0, 0);
}

int surroundings_time_offset(int64_t *ns)
{
	static const char name[] = "monotonic";
	char text[128], own[64], next[64];

	if (!read_file("/proc/self/timens_offsets", text, sizeof(text)) || !sys_same(text, name, sizeof(name) - 1))
		return 0;
	const char *p = text + sizeof(name) - 1;
	int64_t seconds = take_number(&p);
	*ns = seconds * 1000000000 + take_number(&p);
	if (!*ns)
		return 1;
	/* The file tells of the namespace that children will be in. */
	long n = read_link("/proc/self/ns/time", own, sizeof(own));
	return n > 0 && n == read_link("/proc/self/ns/time_for_children", next, sizeof(next)) &&
	       sys_same(own, next, (size_t)n);
}

uint64_t surroundings_pid_namespace(void)
{
	struct stat st;

	if (sys_call(__NR_newfstatat, AT_FDCWD, (long)"/proc/self/ns/pid", (long)&st, 0, 0, 0))
		return 0;
	return st.st_ino;
}

static void look_at_host(void)
{
	struct text text = { known.host, sizeof(known.host), 0 };
	struct utsname u;

	if (sys_call(__NR_uname, (long)&u, 0, 0, 0, 0, 0))
		return;
	const char *const parts[] = { u.nodename, " ", u.sysname, " ", u.release, " ", u.machine };
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		text_string(&text, parts[i]);
}

void surroundings_command(const char *text, size_t length)
{
	command = length && length < sizeof(known.command) ? text : NULL;
	command_length = length;
}

const struct surroundings *surroundings_look(void)
{
	if (!*known.boot_id)
		read_file("/proc/sys/kernel/random/boot_id", known.boot_id, sizeof(known.boot_id));
	if (!known.exe_length) {
		long n = sys_call(
			__NR_readlinkat, AT_FDCWD, (long)"/proc/self/exe", (long)known.exe, sizeof(known.exe), 0, 0);
		known.exe_length = n > 0 ? (size_t)n : 0;
	}
	size_t length = command_length;
	if (command)
		sys_copy(known.command, command, length);
	else
		length = read_file("/proc/self/cmdline", known.command, sizeof(known.command));
	/* Of a title that took the arguments' place the rest is zeros. Two of them end an argument that is empty. */
	size_t end = length;
	while (end && !known.command[end - 1])
		end--;
	if (length > end + 2)
		length = end + 1;
	if (length)
		known.command_length = length;
	look_at_host();
	return &known;
}
