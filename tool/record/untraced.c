/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/record/untraced.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "tool/base/plain.h"
#include "tool/base/tool.h"
#include "tool/record/objects.h"
#include "tool/record/run.h"
#include "x86_64/elf.h"

/*
 * The reason for a file, as text that follows "it is" or "its interpreter X is"; after a ';' it says what to do. NULL:
 * no reason is seen. When the file names another loader, that name is written to text.
 */
static const char *reason(int fd, char *text, size_t size)
{
	Elf64_Ehdr head;
	Elf64_Phdr segment;
	struct stat st;
	char loader[256];
	ssize_t n;

	if (pread(fd, &head, sizeof(head), 0) < (ssize_t)sizeof(head.e_ident) || memcmp(head.e_ident, ELFMAG, SELFMAG))
		return "no ELF file; run the program that interprets it under xaudit instead";
	if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_ident[EI_DATA] != ELFDATA2LSB ||
		head.e_machine != MACHINE_ELF)
		return "no 64-bit x86-64 program; xaudit traces no others";
	if (fstat(fd, &st) == 0 && st.st_uid != geteuid() && (st.st_mode & S_ISUID))
		return "set-user-ID, and the dynamic linker accepts no audit module there; run a copy without that bit";
	if (fstat(fd, &st) == 0 && st.st_gid != getegid() && (st.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP))
		return "set-group-ID, and the dynamic linker accepts no audit module there; run a copy without that "
		       "bit";

	for (int i = 0; i < head.e_phnum; i++) {
		off_t at = (off_t)(head.e_phoff + (uint64_t)i * head.e_phentsize);

		if (pread(fd, &segment, sizeof(segment), at) != sizeof(segment))
			break;
		if (segment.p_type != PT_INTERP)
			continue;
		n = pread(fd, loader, segment.p_filesz < sizeof(loader) - 1 ? segment.p_filesz : sizeof(loader) - 1,
			(off_t)segment.p_offset);
		if (n < 0)
			return NULL;
		loader[n] = '\0';
		if (!record_is_loader(loader)) {
			snprintf(text, size,
				"for another C library (its loader is %s); only glibc's takes audit modules", loader);
			return text;
		}
		if (fgetxattr(fd, "security.capability", NULL, 0) > 0 && geteuid() != 0)
			return "a file with capabilities, and the dynamic linker accepts no audit module there; run a "
			       "copy without";
		return NULL;
	}
	return "statically linked, so there is no dynamic linker to load xaudit; link it dynamically";
}

void record_untraced_say(const char *command, const char *path)
{
	char name[4096], line[4096], text[512];
	const char *why = NULL;
	int scripts = 0;

	snprintf(name, sizeof(name), "%s", path);
	for (; scripts <= RECORD_SCRIPTS; scripts++) {
		int fd = plain_open(AT_FDCWD, name);
		ssize_t n;

		if (fd < 0) {
			if (!scripts || errno != ENOENT)
				snprintf(text, sizeof(text),
					"not readable for xaudit (%s), and so perhaps for the dynamic linker's checks",
					strerror(errno));
			why = errno == ENOENT ? NULL : text;
			break;
		}
		n = pread(fd, line, sizeof(line) - 1, 0);
		line[n > 0 ? n : 0] = '\0';
		if (record_interpreter(line, name, sizeof(name))) {
			close(fd);
			continue;
		}
		why = record_is_loader(name) ? "ld.so itself, which ran no program that takes audit modules"
					     : reason(fd, text, sizeof(text));
		close(fd);
		break;
	}
	if (!why)
		tool_error(record_speaker,
			"%s ran untraced: libxaudit.so did not start in it; lines above, if any, tell why", command);
	else if (scripts)
		tool_error(record_speaker, "%s ran untraced: it is a script, and its interpreter %s is %s", command,
			name, why);
	else
		tool_error(record_speaker, "%s ran untraced: it is %s", command, why);
}
