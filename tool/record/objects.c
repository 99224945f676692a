/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/record/objects.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tool/base/memory.h"
#include "tool/base/now.h"
#include "tool/base/plain.h"
#include "tool/record/run.h"
#include "x86_64/elf.h"

#define MOST_TEXT (1u << 20) /* of ld.so's list */
#define PATIENCE  2000	     /* ms for ld.so to make the list */

/* ---- the program ---- */

size_t record_interpreter(const char *start, char *path, size_t size)
{
	const char *word = start + 2;
	size_t n;

	if (strncmp(start, "#!", 2))
		return 0;
	word += strspn(word, " \t");
	n = strcspn(word, " \t\r\n");
	if (!n || n >= size)
		return 0;
	memcpy(path, word, n);
	path[n] = '\0';
	return (size_t)(word - start) + n;
}

/* What `env` starts for the rest of a line "#!/usr/bin/env REST"; NULL: it can't be told. The caller frees it. */
static char *program_of_env(const char *rest)
{
	int error;

	rest += strspn(rest, " \t");
	if (!strncmp(rest, "-S", 2))
		rest += 2 + strspn(rest + 2, " \t");
	size_t n = strcspn(rest, " \t\r\n");
	if (!n || *rest == '-')
		return NULL;
	char *name = memory_text(rest, n), *path = record_search(name, &error);
	free(name);
	return path;
}

/* Opens what the kernel will load for path in the end. Returns its fd and *program, which the caller frees; or -1. */
static int open_program(const char *path, char **program)
{
	char line[256], name[sizeof(line)]; /* the kernel reads no more of a script */
	char *file = memory_format("%s", path), *next;

	for (int level = 0; level <= RECORD_SCRIPTS; level++) {
		int fd = plain_open(AT_FDCWD, file);
		ssize_t n = fd < 0 ? -1 : pread(fd, line, sizeof(line) - 1, 0);

		if (n < 0) {
			if (fd >= 0)
				close(fd);
			break;
		}
		line[n] = '\0';
		if (!strncmp(line, ELFMAG, SELFMAG)) {
			*program = file;
			return fd;
		}
		close(fd);
		line[strcspn(line, "\n")] = '\0';
		size_t word = record_interpreter(line, name, sizeof(name));
		const char *base = word ? strrchr(name, '/') : NULL;
		if (base && !strcmp(base, "/env"))
			next = program_of_env(line + word);
		else /* execvp() gives to sh files that the kernel doesn't know */
			next = memory_format("%s", word ? name : "/bin/sh");
		if (!next)
			break;
		free(file);
		file = next;
	}
	free(file);
	return -1;
}

/* ---- its libraries ---- */

/* Reads until the other side ends, within PATIENCE. NULL: it took too long, or was too much. The caller frees it. */
static char *read_all(int fd)
{
	long long end = tool_now_ms() + PATIENCE, left;
	char *text = NULL;
	size_t used = 0, size = 0;

	for (; (left = end - tool_now_ms()) > 0 && used < MOST_TEXT;) {
		struct pollfd ready = { .fd = fd, .events = POLLIN };
		int found = poll(&ready, 1, (int)left);
		ssize_t n;

		if (found < 0 && errno != EINTR)
			break;
		if (found <= 0)
			continue;
		if (size - used < 4096)
			text = memory_resize(text, size += 16384, 1);
		n = read(fd, text + used, size - used - 1);
		if (n < 0)
			break;
		text[used + (size_t)n] = '\0';
		if (!n)
			return text;
		used += (size_t)n;
	}
	free(text);
	return NULL;
}

/* Starts `LOADER --list PROGRAM` with its output in the pipe. Returns the process, or -1. */
static pid_t start_loader(char *loader, char *program, int output)
{
	char **variable = NULL;
	size_t count = 0;
	posix_spawn_file_actions_t files;
	pid_t pid = -1;

	/*
	 * With LD_AUDIT auditors would run too; with LD_DEBUG_OUTPUT a file would be left that the command did not
	 * write; with LD_WARN the libraries would be relocated, for which code of theirs may run (IFUNC).
	 */
	for (char **p = environ; *p; p++) {
		if (!strncmp(*p, "LD_AUDIT=", 9) || !strncmp(*p, "LD_DEBUG=", 9) || !strncmp(*p, "LD_WARN=", 8))
			continue;
		variable = memory_resize(variable, count + 1, sizeof(*variable));
		variable[count++] = *p;
	}
	variable = memory_resize(variable, count + 1, sizeof(*variable));
	variable[count] = NULL;

	char *argument[] = { loader, "--list", program, NULL };
	if (posix_spawn_file_actions_init(&files) == 0) {
		if (posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO) ||
			posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0) ||
			posix_spawn(&pid, loader, &files, NULL, argument, variable))
			pid = -1;
		posix_spawn_file_actions_destroy(&files);
	}
	free(variable);
	return pid;
}

/* ld.so's list of the program's libraries, preloaded ones too; NULL when there is none. The caller frees it. */
static char *list_libraries(char *loader, const char *path)
{
	struct sigaction before, action = { .sa_handler = SIG_DFL };
	int output[2], status;
	char *text, *program;
	pid_t pid;

	if (pipe2(output, O_CLOEXEC) < 0)
		return NULL;
	/*
	 * If SIGCHLD were ignored, the child would vanish by itself, and its number could be another process's when it
	 * is killed.
	 */
	sigaction(SIGCHLD, &action, &before);
	program = memory_format("%s%s", *path == '-' ? "./" : "", path);
	pid = start_loader(loader, program, output[1]);
	free(program);
	close(output[1]);
	text = pid < 0 ? NULL : read_all(output[0]);
	close(output[0]);
	if (pid >= 0) {
		/* Harmless to a child that ends by itself: its status is settled before its output is closed. */
		kill(pid, SIGKILL);
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
		if (text && status) {
			free(text);
			text = NULL;
		}
	}
	sigaction(SIGCHLD, &before, NULL);
	return text;
}

bool record_elf(int fd, Elf64_Ehdr *head)
{
	return pread(fd, head, sizeof(*head), 0) == sizeof(*head) && !memcmp(head->e_ident, ELFMAG, SELFMAG) &&
	       head->e_ident[EI_CLASS] == ELFCLASS64 && head->e_ident[EI_DATA] == ELFDATA2LSB &&
	       head->e_machine == MACHINE_ELF && head->e_phentsize == sizeof(Elf64_Phdr);
}

bool record_segment(int fd, const Elf64_Ehdr *head, unsigned i, Elf64_Phdr *segment)
{
	off_t at = (off_t)(head->e_phoff + i * sizeof(*segment));

	return pread(fd, segment, sizeof(*segment), at) == sizeof(*segment);
}

/* The name of the loader that the program names, "" for none; false: the file can't be understood. */
static bool read_loader(int fd, char *loader, size_t size)
{
	Elf64_Ehdr head;
	Elf64_Phdr segment;

	*loader = '\0';
	if (!record_elf(fd, &head))
		return false;
	for (unsigned i = 0; i < head.e_phnum; i++) {
		if (!record_segment(fd, &head, i, &segment))
			return false;
		if (segment.p_type != PT_INTERP)
			continue;
		return segment.p_filesz && segment.p_filesz <= size &&
		       pread(fd, loader, segment.p_filesz, (off_t)segment.p_offset) == (ssize_t)segment.p_filesz &&
		       !loader[segment.p_filesz - 1];
	}
	return true;
}

/* Takes the libraries of a list: lines "name => path (0x...)" and "path (0x...)". Cuts the list up. */
static void take_libraries(struct record_objects *objects, char *list)
{
	char *next;

	for (char *line = strtok_r(list, "\n", &next); line; line = strtok_r(NULL, "\n", &next)) {
		char *arrow = strstr(line, " => "), *path = arrow ? arrow + 4 : line + strspn(line, "\t"), *end = NULL;

		for (char *p = path; (p = strstr(p, " (0x")); p++)
			end = p;
		if (!end)
			continue;
		*end = '\0';
		/* The kernel's vDSO has a name and no file. */
		if (!strchr(path, '/'))
			continue;
		objects->library = memory_resize(objects->library, objects->libraries + 1, sizeof(*objects->library));
		objects->library[objects->libraries++] = memory_text(path, strlen(path));
	}
}

void record_objects_find(struct record_objects *objects, const char *path)
{
	char loader[PATH_MAX];
	int fd = open_program(path, &objects->program);

	*objects = (struct record_objects){ .program = fd < 0 ? NULL : objects->program };
	if (fd < 0)
		return;
	bool good = read_loader(fd, loader, sizeof(loader));
	close(fd);
	char *list = good && record_is_loader(loader) ? list_libraries(loader, objects->program) : NULL;
	if (list)
		take_libraries(objects, list);
	objects->listed = list != NULL;
	free(list);
}

void record_objects_free(struct record_objects *objects)
{
	for (size_t i = 0; i < objects->libraries; i++)
		free(objects->library[i]);
	free(objects->library);
	free(objects->program);
	*objects = (struct record_objects){ 0 };
}
