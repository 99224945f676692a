/* SPDX-License-Identifier: MIT */
#include "runtime/surroundings.h"

#include <sys/utsname.h> /* struct utsname */

#include "runtime/text.h"
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
	if (length)
		known.command_length = length;
	look_at_host();
	return &known;
}
