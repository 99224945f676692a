/* SPDX-License-Identifier: MIT */
/*
 * Two files for tests that look for indexes: the program itself, and a copy of libc with another build-id, so that no
 * folder of this machine holds its index. Include it after defining _GNU_SOURCE, in the one file that holds main().
 */
#ifndef XAUDIT_T_LIB_INDEX_FILES_H
#define XAUDIT_T_LIB_INDEX_FILES_H

#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "audit/index/folder.h"
#include "t/lib/tap.h"

static struct index_identity libc, own;
static char libc_path[4096];

/* Who a loaded object is, as `xaudit index` would tell. */
static inline int index_files_take(struct dl_phdr_info *info, size_t size, void *data)
{
	struct index_identity *to = strstr(info->dlpi_name, "libc.so") ? &libc : !*info->dlpi_name ? &own : NULL;
	const char *path = to == &libc ? info->dlpi_name : "/proc/self/exe";
	struct stat st;

	(void)size, (void)data;
	if (!to || to->size || stat(path, &st))
		return 0;
	if (to == &libc)
		snprintf(libc_path, sizeof(libc_path), "%s", path);
	*to = (struct index_identity){ .device = st.st_dev,
		.inode = st.st_ino,
		.size = (uint64_t)st.st_size,
		.modified = (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec,
		.changed = (uint64_t)st.st_ctim.tv_sec * 1000000000u + (uint64_t)st.st_ctim.tv_nsec };
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		if (segment->p_type != PT_NOTE || segment->p_align > 4)
			continue;
		const uint8_t *p = (const uint8_t *)(info->dlpi_addr + segment->p_vaddr), *end = p + segment->p_memsz;
		while (p + sizeof(ElfW(Nhdr)) < end) {
			const ElfW(Nhdr) *note = (const void *)p;
			const uint8_t *name = p + sizeof(*note), *bytes = name + ((note->n_namesz + 3) & ~3u);
			if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && !memcmp(name, "GNU", 4) &&
				note->n_descsz <= INDEX_BUILD_ID_MAX) {
				to->build_id_len = note->n_descsz;
				memcpy(to->build_id, bytes, note->n_descsz);
			}
			p = bytes + ((note->n_descsz + 3) & ~3u);
		}
	}
	return 0;
}

/* Looks at both; the copy is FOLDER/libc.so.6. */
static inline void index_files(const char *folder)
{
	char path[200];
	struct stat st;

	dl_iterate_phdr(index_files_take, NULL);
	int from = open(libc_path, O_RDONLY);

	snprintf(path, sizeof(path), "%s/libc.so.6", folder);
	int to = open(path, O_RDWR | O_CREAT | O_EXCL, 0755);
	if (from < 0 || to < 0 || fstat(from, &st) || ftruncate(to, st.st_size))
		bail("libc can't be copied");
	uint8_t *bytes = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, to, 0);
	if (bytes == MAP_FAILED || read(from, bytes, (size_t)st.st_size) != st.st_size)
		bail("libc can't be copied");
	uint8_t *id = libc.build_id_len ? memmem(bytes, (size_t)st.st_size, libc.build_id, libc.build_id_len) : NULL;
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	for (int i = 0; id && i < 8; i++)
		libc.build_id[i] = id[i] = (uint8_t)(now.tv_nsec >> 4 * i);
	munmap(bytes, (size_t)st.st_size);
	close(from);
	close(to);
	if (stat(path, &st))
		bail("libc can't be copied");
	libc.device = st.st_dev;
	libc.inode = st.st_ino;
	libc.size = (uint64_t)st.st_size;
	libc.modified = (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec;
	libc.changed = (uint64_t)st.st_ctim.tv_sec * 1000000000u + (uint64_t)st.st_ctim.tv_nsec;
	strcpy(libc_path, path);
}

/* What the folder holds of both: paths of stamps and indexes, NULL where there is none. The caller frees them. */
static inline char *index_files_path(const char *folder, const struct index_identity *identity, int is_stamp)
{
	char name[INDEX_NAME_MAX], said[INDEX_NAME_MAX], path[600];

	index_stamp_name(identity, name);
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	if (is_stamp)
		return strdup(path);
	FILE *file = fopen(path, "re");
	int n = file ? fscanf(file, "%127s", said) : 0;
	if (file)
		fclose(file);
	if (n != 1)
		return NULL;
	snprintf(path, sizeof(path), "%s/%s", folder, said);
	return strdup(path);
}

#endif
