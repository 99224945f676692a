/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/index/debug.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool/base/memory.h"
#include "tool/index/own_file.h"

#define ROOT "/usr/lib/debug"

/* CRC-32 as .gnu_debuglink has it. */
static uint32_t add_crc(uint32_t crc, const uint8_t *byte, size_t count)
{
	static uint32_t table[256];

	for (uint32_t i = 0; i < 256 && !table[255]; i++) {
		uint32_t value = i;
		for (int bit = 0; bit < 8; bit++)
			value = value >> 1 ^ (value & 1 ? 0xedb88320u : 0);
		table[i] = value;
	}
	for (crc = ~crc; count; count--, byte++)
		crc = table[(crc ^ *byte) & 255] ^ crc >> 8;
	return ~crc;
}

static bool has_crc(int fd, uint32_t wanted)
{
	static uint8_t piece[1 << 16];
	uint32_t crc = 0;
	off_t at = 0;
	ssize_t n;

	for (; (n = pread(fd, piece, sizeof(piece), at)) > 0; at += n)
		crc = add_crc(crc, piece, (size_t)n);
	return !n && crc == wanted;
}

static bool has_build_id(int fd, const unsigned char *wanted, int size)
{
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	const void *bytes;
	bool has = elf && elf_kind(elf) == ELF_K_ELF && dwelf_elf_gnu_build_id(elf, &bytes) == size &&
		   !memcmp(bytes, wanted, (size_t)size);

	elf_end(elf);
	return has;
}

/* Closes what is not ours to believe. Returns fd, or -1. */
static int believed(int fd, const char *path)
{
	char *real = fd < 0 ? NULL : realpath(path, NULL);
	bool is = real && own_is(fd) && own_is_path(real);

	free(real);
	if (fd >= 0 && !is)
		close(fd);
	return is ? fd : -1;
}

/* Opens it if it belongs to the module. path is freed. Returns a descriptor, or -1. */
static int try_file(Dwfl_Module *module, char *path, uint32_t crc, char **found)
{
	const unsigned char *bytes;
	GElf_Addr at;
	int size = dwfl_module_build_id(module, &bytes, &at), fd = believed(own_open(path), path);

	if (fd >= 0 && (size > 0 ? has_build_id(fd, bytes, size) : has_crc(fd, crc))) {
		*found = path;
		return fd;
	}
	if (fd >= 0)
		close(fd);
	free(path);
	return -1;
}

/* Beside the file, and where packages put it. */
static int try_folder(Dwfl_Module *module, const char *file, const char *link, uint32_t crc, char **found)
{
	const char *slash = strrchr(file, '/');
	int length = slash ? (int)(slash - file) : 0, fd;

	if (!slash)
		return -1;
	fd = try_file(module, memory_format("%.*s/%s", length, file, link), crc, found);
	if (fd < 0)
		fd = try_file(module, memory_format("%.*s/.debug/%s", length, file, link), crc, found);
	if (fd < 0 && *file == '/')
		fd = try_file(module, memory_format(ROOT "%.*s/%s", length, file, link), crc, found);
	return fd;
}

Dwfl *debug_begin(const Dwfl_Callbacks *callbacks)
{
	unsetenv("DEBUGINFOD_URLS");
	return dwfl_begin(callbacks);
}

int debug_find(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base, const char *file, const char *link,
	GElf_Word crc, char **found)
{
	int fd = dwfl_build_id_find_debuginfo(module, data, name, base, file, link, crc, found);

	if (fd >= 0 && (fd = believed(fd, *found)) < 0) {
		free(*found);
		*found = NULL;
	}
	/* What a file says is a name, not a path. */
	if (fd >= 0 || !file || !link || !*link || strchr(link, '/'))
		return fd;
	/* Whoever makes a link to a file, or names it in another way, says nothing about its debug file. */
	char *real = realpath(file, NULL);
	if (real)
		fd = try_folder(module, real, link, crc, found);
	free(real);
	return fd;
}

Dwfl *debug_open(int fd, const char *path, Dwfl_Module **module)
{
	static char *debug_path;
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = debug_find,
		.section_address = dwfl_offline_section_address,
		.debuginfo_path = &debug_path,
	};
	Dwfl *dwfl = debug_begin(&callbacks);
	int own = dwfl ? fcntl(fd, F_DUPFD_CLOEXEC, 3) : -1;

	*module = own < 0 ? NULL : dwfl_report_offline(dwfl, path, path, own);
	if (*module) {
		/* The descriptor is libdwfl's now. */
		dwfl_report_end(dwfl, NULL, NULL);
		return dwfl;
	}
	if (own >= 0)
		close(own);
	dwfl_end(dwfl);
	return NULL;
}
