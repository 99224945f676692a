/* SPDX-License-Identifier: MIT */
/*
 * Which index is that of a file: the one that a stamp names, of the same build-id and content. What others could have
 * written is not believed, and which folders there are.
 */
#define _GNU_SOURCE
#include "audit/index/index.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/index/folder.h"
#include "t/lib/tap.h"

#define BLOCKS 2
#define SECOND INDEX_BLOCK /* a name in the second block */

/* An index of nothing but names. */
struct sample {
	struct index_head head;
	uint64_t sum[BLOCKS];
	uint8_t unused[INDEX_BLOCK - sizeof(struct index_head) - BLOCKS * 8];
	char names[2 * INDEX_BLOCK];
};

static void seal(struct sample *sample)
{
	for (int i = 0; i < BLOCKS; i++)
		sample->sum[i] = index_sum(sample->names + i * INDEX_BLOCK, INDEX_BLOCK);
	sample->head.sums = index_sum(sample->sum, sizeof(sample->sum));
	sample->head.checksum = 0;
	sample->head.checksum = index_sum(&sample->head, sizeof(sample->head));
}

static void make(struct sample *sample)
{
	*sample = (struct sample){
		.head = { .magic = INDEX_MAGIC,
			.version = INDEX_VERSION,
			.head_size = sizeof(struct index_head),
			.file_size = sizeof(*sample),
			.parts = INDEX_PART_COUNT,
			.blocks = INDEX_BLOCK,
			.identity = { .build_id_len = 4, .build_id = { 0xab, 1, 2, 0xef }, .inode = 7 },
			.content = { [0] = 0xc0, [INDEX_CONTENT - 1] = 1 },
			.part = { [INDEX_NAMES] = { INDEX_BLOCK, sizeof(sample->names), 1, 0 } } },
		.names = "\0first",
	};
	memcpy(sample->names + SECOND, "second", 7);
	seal(sample);
}

static char folder[] = "/tmp/xaudit-index.XXXXXX";

static int put(struct sample *sample, const char *name, mode_t mode)
{
	char path[300];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	unlink(path);
	int fd = open(path, O_WRONLY | O_CREAT, 0600);
	int good = fd >= 0 && write(fd, sample, sizeof(*sample)) == sizeof(*sample) && !fchmod(fd, mode);
	close(fd);
	return good;
}

/* The file's stamp in the folder. */
static void stamp(const struct index_identity *identity, const char *text)
{
	char path[300], name[INDEX_NAME_MAX];

	index_stamp_name(identity, name);
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	unlink(path);
	int fd = text ? open(path, O_WRONLY | O_CREAT | O_EXCL, 0600) : -1;
	if (text && (fd < 0 || dprintf(fd, "%s\n", text) < 0 || close(fd)))
		bail("%s can't be made", path);
}

static struct index_identity of_sample;

static int look(struct index *index)
{
	char name[INDEX_NAME_MAX];

	return index_open(index, folder, &of_sample, name);
}

static void opened(struct sample *sample)
{
	struct index_identity other;
	struct index index;
	char path[300], name[INDEX_NAME_MAX], said[INDEX_NAME_MAX], target[400];

	make(sample);
	of_sample = sample->head.identity;
	if (!mkdtemp(folder))
		bail("no temporary folder");
	index_file_name(&sample->head, name);
	is_str(name, "ab0102ef-c0000000000000000000000000000001.index", "its name is the build-id and the content");
	is_int(look(&index), -ENOENT, "there is none");
	ok(put(sample, name, 0600), "one is written");
	is_int(look(&index), -ENOENT, "of a file that has no stamp there is none");
	is_int(index_open_named(&index, folder, &of_sample, name), 0, "unless its name is known");
	index_close(&index);
	stamp(&of_sample, name);
	is_int(look(&index), 0, "with a stamp it is believed");
	is_str(index_text(&index, 1), "first", "and can be used");
	index_close(&index);
	ok(!index.head, "and closed");
	put(sample, name, 0644);
	is_int(look(&index), 0, "others may read it");
	index_close(&index);
	put(sample, name, 0620);
	is_int(look(&index), -EPERM, "but not write: group");
	put(sample, name, 0602);
	is_int(look(&index), -EPERM, "nor others");
	put(sample, name, 0600);
	chmod(folder, 0777);
	is_int(look(&index), -EPERM, "nor to the folder");
	chmod(folder, 0755);
	is_int(look(&index), 0, "whose reading is free");
	index_close(&index);
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	if (!geteuid()) {
		char link[300];
		if (chown(path, 1, 1))
			bail("chown failed");
		is_int(look(&index), -EPERM, "somebody else's file is not believed");
		put(sample, name, 0600);
		index_stamp_name(&of_sample, said);
		snprintf(link, sizeof(link), "%s/%s", folder, said);
		if (lchown(link, 1, 1))
			bail("chown failed");
		is_int(index_open(&index, folder, &of_sample, said), -EPERM, "nor somebody else's stamp");
		is_str(said, "", "whose text is nobody's business");
		stamp(&of_sample, name);
		if (chown(folder, 1, 1))
			bail("chown failed");
		is_int(look(&index), -EPERM, "nor somebody else's folder");
		if (chown(folder, 0, 0))
			bail("chown failed");
	} else {
		skip(4, "only root can give files away");
	}
	snprintf(target, sizeof(target), "%s.target", path);
	if (rename(path, target) || symlink(target, path))
		bail("symlink failed");
	is_int(look(&index), -EPERM, "a symbolic link is not followed");
	unlink(path);
	unlink(target);
	if (mkfifo(path, 0600))
		bail("mkfifo failed");
	is_int(look(&index), -EPERM, "a FIFO is none, and is not waited for");
	put(sample, name, 0600);
	snprintf(target, sizeof(target), "%s-link", folder);
	if (symlink(folder, target))
		bail("symlink failed");
	is_int(index_open(&index, target, &of_sample, said), -EPERM, "nor a link in place of the folder");
	unlink(target);
	sample->names[SECOND] ^= 1;
	put(sample, name, 0600);
	is_int(look(&index), 0, "a part that changed does no harm");
	ok(index_text(&index, 1) && !index_damaged(&index), "while it is not asked for");
	ok(!index_text(&index, SECOND) && index_damaged(&index), "but then it is found");
	index_close(&index);

	/* What stamps say. */
	make(sample);
	sample->head.identity.build_id[3] = 0;
	seal(sample);
	put(sample, name, 0600);
	is_int(look(&index), -ESTALE, "an index of another build-id is told");
	make(sample);
	sample->head.content[0] ^= 1;
	seal(sample);
	put(sample, name, 0600);
	is_int(look(&index), -ESTALE, "and one of another content");
	make(sample);
	put(sample, name, 0600);
	snprintf(target, sizeof(target), "../%s/%s", strrchr(folder, '/') + 1, name);
	stamp(&of_sample, target);
	is_int(index_open(&index, folder, &of_sample, said), -EBADMSG, "a stamp names nothing outside of the folder");
	memset(target, 'a', sizeof(target) - 1);
	target[sizeof(target) - 1] = '\0';
	stamp(&of_sample, target);
	is_int(index_open(&index, folder, &of_sample, said), -EBADMSG, "nor what is longer than names are");
	stamp(&of_sample, NULL);
	index_stamp_name(&of_sample, said);
	put(sample, said, 0600);
	is_int(look(&index), -EBADMSG, "nor what is no name");
	snprintf(path, sizeof(path), "%s/%s", folder, said);
	unlink(path);
	if (symlink(name, path))
		bail("symlink failed");
	is_int(look(&index), -EPERM, "a stamp is no link");
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	stamp(&of_sample, name);
	for (int i = 0; i < 5; i++) {
		other = of_sample;
		*(uint64_t *[]){ &other.device, &other.inode, &other.size, &other.modified, &other.changed }[i] ^= 1;
		is_int(index_open(&index, folder, &other, said), -ENOENT, "one that differs in number %d has none", i);
		ok(!index_same_file(&other, &of_sample), "it is another file");
	}
	other = of_sample;
	ok(index_same_file(&other, &of_sample), "the same file");
	other.build_id[0] ^= 1;
	ok(!index_same_file(&other, &of_sample), "whose build-id is another one: it is not");
	is_int(index_open(&index, folder, &other, said), -ESTALE, "and has no index, whatever its stamp says");
	if (truncate(path, 0))
		bail("truncate failed");
	is_int(look(&index), -EBADMSG, "an empty file is none");
	unlink(path);
	stamp(&of_sample, NULL);

	other = (struct index_identity){ .device = 0x802, .inode = 0x1f, .size = 0x300, .modified = 0x6a };
	index_stamp_name(&other, name);
	is_str(name, "802-1f-300-6a-0.stamp", "a stamp's name is device, inode, size and times");
	sample->head.identity = other;
	index_file_name(&sample->head, name);
	is_str(name, "c0000000000000000000000000000001.index", "without a build-id an index's is the content");
	memset(&other, 0xff, sizeof(other));
	sample->head.identity = other;
	index_file_name(&sample->head, name);
	ok(strlen(name) < sizeof(name), "there is room for the longest name");
	index_stamp_name(&other, name);
	ok(strlen(name) < sizeof(name), "and for the longest stamp");
	rmdir(folder);
}

/* The stamp in one folder, the index in another. */
static void looked_for(struct sample *sample)
{
	char first[] = "/tmp/xaudit-index.XXXXXX", second[] = "/tmp/xaudit-index.XXXXXX", name[INDEX_NAME_MAX];
	const char *list[] = { first, second };
	struct index index;

	make(sample);
	index_file_name(&sample->head, name);
	if (!mkdtemp(first) || !mkdtemp(second))
		bail("no temporary folder");
	is_int(index_look(&index, list, 2, &of_sample), -ENOENT, "two folders without one");
	memcpy(folder, first, sizeof(folder));
	stamp(&of_sample, name);
	is_int(index_look(&index, list, 2, &of_sample), -ENOENT, "a stamp of what is nowhere");
	memcpy(folder, second, sizeof(folder));
	put(sample, name, 0600);
	is_int(index_look(&index, list, 2, &of_sample), 0, "a user's stamp may speak of the system's index");
	index_close(&index);
	is_int(index_look(&index, list, 1, &of_sample), -ENOENT, "where that is looked into");
	stamp(&of_sample, name);
	memcpy(folder, first, sizeof(folder));
	put(sample, name, 0622);
	is_int(index_look(&index, list, 2, &of_sample), 0, "what is refused in the first is found in the second");
	index_close(&index);
	is_int(index_look(&index, list, 1, &of_sample), -EPERM, "or told");
	for (int i = 0; i < 2; i++) {
		char path[300];
		memcpy(folder, list[i], sizeof(folder));
		stamp(&of_sample, NULL);
		snprintf(path, sizeof(path), "%s/%s", folder, name);
		unlink(path);
		rmdir(folder);
	}
}

static void folders(void)
{
	char to[64];

	is_int(index_folder(0, "/c", "/h", to, sizeof(to)), 1, "the user's first");
	is_str(to, "/c/xaudit", "in the cache");
	index_folder(0, NULL, "/h", to, sizeof(to));
	is_str(to, "/h/.cache/xaudit", "which is at home");
	index_folder(0, "c", "/h", to, sizeof(to));
	is_str(to, "/h/.cache/xaudit", "a relative path does not count");
	is_int(index_folder(0, NULL, NULL, to, sizeof(to)), 0, "no home");
	is_int(index_folder(0, "/c", NULL, to, 9), 0, "no room for it");
	is_int(index_folder(1, NULL, NULL, to, sizeof(to)), 1, "then the system's");
	is_str(to, "/var/cache/xaudit", "in /var/cache");
	is_int(index_folder(2, "/c", "/h", to, sizeof(to)), 0, "and no more");
}

int main(void)
{
	static struct sample sample;

	opened(&sample);
	looked_for(&sample);
	folders();
	return done_testing();
}
