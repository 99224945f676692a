/* SPDX-License-Identifier: MIT */
/*
 * Reading an index: what is whole is read, what is damaged is refused and never read beyond its end (a page without
 * access follows it), and what others could have written is not believed.
 */
#define _GNU_SOURCE
#include "audit/index/index.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "t/lib/tap.h"
#include "x86_64/displace.h"

#define FUNCTIONS 3
#define ROOM	  8192 /* of the mapping; two pages */

/* An index of three functions: a jump, one by way of its padding, a refused one. */
struct sample {
	struct index_head head;
	struct index_function function[FUNCTIONS];
	struct {
		struct index_template head;
		struct index_fixup fixup[2];
		uint8_t bytes[12];
	} template[2];
	char names[24];
};

static void seal(struct sample *sample)
{
	for (int i = 0; i < INDEX_PART_COUNT; i++) {
		struct index_part *part = &sample->head.part[i];
		if (part->offset <= sizeof(*sample) && part->size <= sizeof(*sample) - part->offset)
			part->checksum = index_sum((uint8_t *)sample + part->offset, part->size & ~7ul);
	}
	sample->head.checksum = 0;
	sample->head.checksum = index_sum(&sample->head, sizeof(sample->head));
}

static void set_part(struct sample *sample, int number, void *at, size_t size, uint32_t entry)
{
	sample->head.part[number] = (struct index_part){
		.offset = (uint64_t)((uint8_t *)at - (uint8_t *)sample), .size = size, .entry = entry
	};
}

static void make(struct sample *sample)
{
	*sample = (struct sample){
		.head = { .magic = INDEX_MAGIC,
			.version = INDEX_VERSION,
			.head_size = sizeof(struct index_head),
			.file_size = sizeof(*sample),
			.code_low = 0x1000,
			.code_high = 0x2000,
			.parts = INDEX_PART_COUNT,
			.identity = { .build_id_len = 4, .build_id = { 0xab, 1, 2, 0xef }, .inode = 7 } },
		.function = { { .address = 0x1000,
				      .size = 40,
				      .name = 1,
				      .template = 0,
				      .form = INDEX_FORM_JUMP,
				      .skip = 4,
				      .length = 6,
				      .originals = 6,
				      .original = { 0x48 } },
			{ .address = 0x1100,
				.size = 3,
				.name = 7,
				.template = 32,
				.form = INDEX_FORM_PADDING,
				.length = 3,
				.originals = 8 },
			{ .address = 0x1200, .size = 0, .reason = INDEX_REASON_SHORT, .flags = INDEX_NAMELESS } },
		/* 48 8d 05 rel32; e9 rel32 */
		.template = { { { .size = 12, .fixups = 2 },
				      { { .at = 3, .end = 7, .fix = INDEX_FIX_NEAR, .target = 0x500 },
					      { .at = 8, .end = 12, .fix = INDEX_FIX_NEAR, .target = 10 } },
				      { 0x48, 0x8d, 0x05, 0, 0, 0, 0, 0xe9 } },
			{ { .size = 10, .fixups = 1 },
				{ { .at = 2, .end = 10, .fix = INDEX_FIX_ADDRESS, .target = 3 } }, { 0 } } },
		.names = "\0first\0second",
	};
	set_part(sample, INDEX_FUNCTIONS, sample->function, sizeof(sample->function), sizeof(*sample->function));
	set_part(sample, INDEX_TEMPLATES, sample->template, sizeof(sample->template), 1);
	set_part(sample, INDEX_NAMES, sample->names, sizeof(sample->names), 1);
	seal(sample);
}

/* Asks everything of an index that was taken. Returns how many functions can be used. */
static int use(const struct index *index)
{
	uint8_t copy[INDEX_TEMPLATE_MAX];
	uint64_t site, from;
	int usable = 0;

	for (int i = 0; i < INDEX_PART_COUNT; i++)
		index_sound(index, i);
	for (size_t i = 0; i < index->functions; i++) {
		const struct index_function *function = &index->function[i];
		const char *name = index_name(index, function);
		const struct index_template *template = index_template(index, function);
		if (name && strlen(name) > index->names_size)
			usable = -1000;
		if (template && displace_copy(template, 0x10000, function->address, 0x20000, copy, sizeof(copy)) >
					INDEX_TEMPLATE_MAX)
			usable = -1000;
		usable += index_site(index, function, &site, &from) && template;
		index_at(index, function->address);
		index_reason_phrase(function->reason);
	}
	return usable;
}

static uint64_t state = 88172645463325252u;

static uint64_t draw(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static void whole(struct sample *sample)
{
	struct index index;
	uint8_t copy[INDEX_TEMPLATE_MAX];
	uint64_t site, from;

	make(sample);
	is_int(index_attach(&index, sample, sizeof(*sample)), 0, "a whole index is taken");
	is_int((long long)index.functions, 3, "three functions");
	is_int(use(&index), 2, "two can be used");
	is_str(index_name(&index, &index.function[1]), "second", "a name");
	ok(!index_name(&index, &index.function[2]), "no name");
	ok(index_at(&index, 0x1100) == &index.function[1], "found by its address");
	ok(!index_at(&index, 0x1101), "no function begins there");
	ok(index_before(&index, 0x1101) == &index.function[1], "but before it");
	ok(!index_before(&index, 0xfff), "none is before the first");
	index_site(&index, &index.function[0], &site, &from);
	ok(site == 0x1004 && from == 0x1004, "the site is behind the endbr64");
	index_site(&index, &index.function[1], &site, &from);
	ok(site == 0x1100 && from == 0x10fb, "padding is before it");
	const struct index_template *template = index_template(&index, &index.function[0]);
	is_int((long long)displace_copy(template, 0x400000, 0x1000, 0x500000, copy, sizeof(copy)), 12,
		"a copy is made");
	/* 0x400000 + 0x1000 + 0x500 - 0x500007 and + 10 - 0x50000c */
	static const uint8_t expected[] = { 0x48, 0x8d, 0x05, 0xf9, 0x14, 0xf0, 0xff, 0xe9, 0xfe, 0x0f, 0xf0, 0xff };
	ok(!memcmp(copy, expected, sizeof(expected)), "with its operands for that place");
	is_int((long long)displace_copy(template, 0x400000, 0x1000, 0x500000, copy, 11), 0, "or none where room lacks");
	is_int((long long)displace_copy(template, 0x400000, 0x1000, 0x80401508, copy, sizeof(copy)), 0,
		"or a target is 2 GiB and a byte away");
	template = index_template(&index, &index.function[1]);
	is_int((long long)displace_copy(template, 0x123400000000, 0x1100, 0x500000, copy, sizeof(copy)), 10,
		"an address may be any");
	uint64_t address;
	memcpy(&address, copy + 2, 8);
	is_int((long long)address, 0x123400001103, "and is whole");
}

/* Each bit of the head and of the parts. */
static void flipped(struct sample *sample)
{
	struct index index;
	int taken = 0, sound = 0;

	for (size_t bit = 0; bit < 8 * sizeof(*sample); bit++) {
		make(sample);
		((uint8_t *)sample)[bit / 8] ^= (uint8_t)(1 << bit % 8);
		if (index_attach(&index, sample, sizeof(*sample)))
			continue;
		taken += bit < 8 * sizeof(sample->head);
		int all = 1;
		for (int i = 0; i < INDEX_PART_COUNT; i++)
			all &= index_sound(&index, i);
		sound += all;
		use(&index);
	}
	is_int(taken, 0, "no bit of the head can change unnoticed");
	is_int(sound, 0, "nor of a part");
	int short_ones = 0;
	for (size_t size = 0; size < sizeof(*sample); size++) {
		make(sample);
		/* To the end of the mapping, so that a byte beyond it faults. */
		uint8_t *end = (uint8_t *)sample + sizeof(*sample), *at = end - size;
		if ((uintptr_t)at % 8)
			continue;
		memmove(at, sample, size);
		short_ones += !index_attach(&index, at, size);
	}
	is_int(short_ones, 0, "no part of an index is an index");
	make(sample);
	sample->head.version++;
	is_int(index_attach(&index, sample, sizeof(*sample)), -EPROTO, "another version is told from damage");
}

/* Damage that has the right sums. */
static void forged(struct sample *sample)
{
	int taken = 0, bad = 0;

	for (int round = 0; round < 200000; round++) {
		struct index index;
		make(sample);
		for (uint64_t n = draw() % 4 + 1; n; n--) {
			size_t at = draw() % sizeof(*sample);
			if (draw() % 2) /* where numbers are */
				at = offsetof(struct sample, head.part) + draw() % sizeof(sample->head.part);
			((uint8_t *)sample)[at] = (uint8_t)(draw() % 3 ? draw() : draw() % 2 ? 0xff : 0);
		}
		seal(sample);
		if (index_attach(&index, sample, sizeof(*sample)))
			continue;
		taken++;
		bad += use(&index) < 0;
	}
	ok(taken > 1000, "many forged ones are taken for whole");
	is_int(bad, 0, "and nothing of them leads out of the index");
}

static char folder[] = "/tmp/xaudit-index.XXXXXX";

static int put(struct sample *sample, const char *name, mode_t mode)
{
	char path[200];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	unlink(path);
	int fd = open(path, O_WRONLY | O_CREAT, 0600);
	int good = fd >= 0 && write(fd, sample, sizeof(*sample)) == sizeof(*sample) && !fchmod(fd, mode);
	close(fd);
	return good;
}

static void opened(struct sample *sample)
{
	struct index_identity other;
	struct index index;
	char path[200], name[INDEX_NAME_MAX], target[300];

	make(sample);
	const struct index_identity identity = sample->head.identity;
	if (!mkdtemp(folder))
		bail("no temporary folder");
	index_file_name(&identity, name);
	is_str(name, "ab0102ef.index", "its name is the build-id");
	is_int(index_open(&index, folder, &identity, 1), -ENOENT, "there is none");
	ok(put(sample, name, 0600), "one is written");
	is_int(index_open(&index, folder, &identity, 1), 0, "and believed");
	is_int(use(&index), 2, "and can be used");
	index_close(&index);
	ok(!index.head, "and closed");
	put(sample, name, 0644);
	is_int(index_open(&index, folder, &identity, 1), 0, "others may read it");
	index_close(&index);
	put(sample, name, 0620);
	is_int(index_open(&index, folder, &identity, 1), -EPERM, "but not write: group");
	put(sample, name, 0602);
	is_int(index_open(&index, folder, &identity, 1), -EPERM, "nor others");
	put(sample, name, 0600);
	chmod(folder, 0777);
	is_int(index_open(&index, folder, &identity, 1), -EPERM, "nor to the folder");
	chmod(folder, 0755);
	is_int(index_open(&index, folder, &identity, 1), 0, "whose reading is free");
	index_close(&index);
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	if (!geteuid()) {
		if (chown(path, 1, 1))
			bail("chown failed");
		is_int(index_open(&index, folder, &identity, 1), -EPERM, "somebody else's file is not believed");
		put(sample, name, 0600);
		if (chown(folder, 1, 1))
			bail("chown failed");
		is_int(index_open(&index, folder, &identity, 1), -EPERM, "nor somebody else's folder");
		if (chown(folder, 0, 0))
			bail("chown failed");
	} else {
		skip(2, "only root can give files away");
	}
	snprintf(target, sizeof(target), "%s.target", path);
	if (rename(path, target) || symlink(target, path))
		bail("symlink failed");
	is_int(index_open(&index, folder, &identity, 1), -EPERM, "a symbolic link is not followed");
	unlink(path);
	unlink(target);
	if (mkfifo(path, 0600))
		bail("mkfifo failed");
	is_int(index_open(&index, folder, &identity, 1), -EPERM, "a FIFO is none, and is not waited for");
	put(sample, name, 0600);
	snprintf(target, sizeof(target), "%s-link", folder);
	if (symlink(folder, target))
		bail("symlink failed");
	is_int(index_open(&index, target, &identity, 1), -EPERM, "nor a link in place of the folder");
	unlink(target);
	sample->names[2] ^= 1;
	put(sample, name, 0600);
	is_int(index_open(&index, folder, &identity, 1), -EBADMSG, "a part that changed is found");
	is_int(index_open(&index, folder, &identity, 0), 0, "where it is asked for");
	index_close(&index);
	make(sample);
	sample->head.identity.build_id[3] = 0;
	seal(sample);
	put(sample, name, 0600);
	is_int(index_open(&index, folder, &identity, 1), -ESTALE, "an index of another file is told");
	if (truncate(path, 0))
		bail("truncate failed");
	is_int(index_open(&index, folder, &identity, 1), -EBADMSG, "an empty file is none");
	unlink(path);

	other = (struct index_identity){
		.device = 0x802, .inode = 0x1f, .size = 0x300, .seconds = 0x6a, .nanoseconds = 0
	};
	index_file_name(&other, name);
	is_str(name, "802-1f-300-6a.0.index", "without a build-id it is device, inode, size and time");
	struct index_identity same = other;
	ok(index_same_file(&same, &other), "the same file");
	same.nanoseconds = 1;
	ok(!index_same_file(&same, &other), "it changed");
	same = identity;
	same.inode++;
	ok(index_same_file(&same, &identity), "a copy with the same build-id");
	ok(!index_same_file(&other, &identity), "one has none");
	rmdir(folder);
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
	uint8_t *p = mmap(NULL, ROOM + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED || mprotect(p + ROOM, 4096, PROT_NONE))
		bail("no memory");
	_Static_assert(sizeof(struct sample) % 8 == 0 && sizeof(struct sample) <= ROOM, "it ends where the page ends");
	struct sample *sample = (void *)(p + ROOM - sizeof(struct sample));
	whole(sample);
	flipped(sample);
	forged(sample);
	opened(sample);
	folders();
	return done_testing();
}
