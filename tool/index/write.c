/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/index/write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/index/index.h"
#include "tool/index/entry.h"
#include "tool/index/frames.h"
#include "tool/memory.h"

/* Bytes that grow; offsets stay good. */
struct bytes {
	uint8_t *at;
	size_t size, room;
};

static size_t append(struct bytes *to, const void *bytes, size_t n, size_t align)
{
	size_t from = (to->size + align - 1) & ~(align - 1);

	if (from + n > to->room) {
		size_t room = 2 * to->room + n + 4096;
		to->at = memory_resize(to->at, room, 1);
		memset(to->at + to->room, 0, room - to->room);
		to->room = room;
	}
	if (n)
		memcpy(to->at + from, bytes, n);
	to->size = from + n;
	return from;
}

static uint32_t put_template(struct bytes *templates, const struct template *from)
{
	struct index_template head = { .size = from->size, .fixups = from->fixups };
	size_t at = append(templates, &head, sizeof(head), 4);

	append(templates, from->fixup, from->fixups * sizeof(*from->fixup), 4);
	append(templates, from->bytes, from->size, 1);
	append(templates, NULL, 0, 4);
	return (uint32_t)at;
}

static void put_part(struct bytes *file, struct index_head *head, unsigned number, struct bytes *from, uint32_t entry)
{
	struct index_part *part = &head->part[number];

	append(from, NULL, 0, 8);
	part->offset = append(file, from->at, from->size, 8);
	part->size = from->size;
	part->entry = entry;
	part->checksum = index_sum(file->at + part->offset, part->size);
	free(from->at);
}

static void judge(const struct image *image, const struct facts *facts, struct bytes *functions,
	struct bytes *templates, struct bytes *names)
{
	struct entries entries = { .image = image, .facts = facts };

	append(names, "", 1, 1);
	for (size_t i = 0; i < image->functions; i++) {
		const struct image_function *function = &image->function[i];
		struct entry entry;
		if (function->piece)
			continue;
		entry_judge(&entries, i, &entry);
		if (function->name)
			entry.function.name = (uint32_t)append(names, function->name, strlen(function->name) + 1, 1);
		if (entry.function.reason == INDEX_REASON_USABLE)
			entry.function.template = put_template(templates, &entry.template);
		append(functions, &entry.function, sizeof(entry.function), 8);
	}
}

int index_make(struct index_made *made, int fd, const char *path)
{
	struct bytes functions = { 0 }, templates = { 0 }, names = { 0 }, file = { 0 };
	struct image image;
	struct facts facts;
	struct index_head head = {
		.magic = INDEX_MAGIC, .version = INDEX_VERSION, .head_size = sizeof(head), .parts = INDEX_PART_COUNT
	};
	int r = image_open(&image, fd, path);

	*made = (struct index_made){ 0 };
	if (r)
		return r;
	facts_read(&facts, &image);
	judge(&image, &facts, &functions, &templates, &names);
	head.identity = image.identity;
	head.code_low = image.low;
	head.code_high = image.high;
	head.flags = (image.symbols ? 0 : INDEX_NO_SYMBOLS) | (image.frames->count ? 0 : INDEX_NO_FRAMES) |
		     (image.loader ? INDEX_ALL_REFUSED : 0);
	append(&file, &head, sizeof(head), 8);
	put_part(&file, &head, INDEX_FUNCTIONS, &functions, sizeof(struct index_function));
	put_part(&file, &head, INDEX_TEMPLATES, &templates, 1);
	put_part(&file, &head, INDEX_NAMES, &names, 1);
	append(&file, NULL, 0, 8);
	head.file_size = file.size;
	head.checksum = index_sum(&head, sizeof(head));
	memcpy(file.at, &head, sizeof(head));
	*made = (struct index_made){
		.bytes = file.at, .size = file.size, .instructions = facts.instructions, .decoded = facts.decoded
	};
	facts_free(&facts);
	image_close(&image);
	return 0;
}

/* Makes the folder, and those above it as mkdir -p does: what is above is as the umask has it. */
static int make_folder(const char *folder, mode_t mode)
{
	char *path = memory_text(folder, strlen(folder));
	int r = 0;

	for (char *p = path + 1; !r && (p = strchr(p, '/')); p++) {
		*p = '\0';
		if (mkdir(path, 0777) && errno != EEXIST && errno != EROFS)
			r = -errno;
		*p = '/';
	}
	free(path);
	if (r || !mkdir(folder, mode))
		return r;
	return errno == EEXIST ? 0 : -errno;
}

int index_write(int fd, const struct index_made *made)
{
	const uint8_t *bytes = made->bytes;
	size_t size = made->size;

	while (size) {
		ssize_t n = write(fd, bytes, size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		bytes += n;
		size -= (size_t)n;
	}
	return 0;
}

int index_put(const struct index_made *made, const char *folder, int shared)
{
	const struct index_head *head = made->bytes;
	char name[INDEX_NAME_MAX], next[INDEX_NAME_MAX + 32];
	mode_t mode = shared ? 0644 : 0600;
	struct stat st;
	int fd, r = make_folder(folder, shared ? 0755 : 0700);

	if (r)
		return r;
	int at = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (at < 0)
		return errno == ELOOP || errno == ENOTDIR ? -EPERM : -errno;
	r = fstat(at, &st) ? -errno : 0;
	if (!r && (st.st_uid != geteuid() || st.st_mode & (S_IWGRP | S_IWOTH)))
		r = -EPERM;
	if (r)
		goto out;
	index_file_name(&head->identity, name);
	snprintf(next, sizeof(next), ".%s.%ld", name, (long)getpid());
	/* One that a killed process of our number left. */
	unlinkat(at, next, 0);
	fd = openat(at, next, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	if (fd < 0) {
		r = -errno;
		goto out;
	}
	r = index_write(fd, made);
	/* Whatever the umask is: what others can't read is no use to them. */
	if (!r && fchmod(fd, mode))
		r = -errno;
	if (close(fd) && !r)
		r = -errno;
	if (!r && renameat(at, next, at, name))
		r = -errno;
	if (r)
		unlinkat(at, next, 0);
out:
	close(at);
	return r;
}
