/* SPDX-License-Identifier: MIT */
/*
 * Reads packed traces that are damaged in ways that follow from numbers, most of them with checksums that are right
 * again: those of t/fuzz/corpus, packed, changed in a few places per round. Nothing must crash, hang or take much
 * memory. Arguments as of t/read/reader_fuzz.c:
 *
 *	pack_fuzz.t			some rounds of each, as a test
 *	pack_fuzz.t SECONDS [SEED]	as many as fit in this time
 *	pack_fuzz.t SCRIPT ROUND FILE	one again, in this process; the damaged trace stays in FILE
 */
#define _GNU_SOURCE
#include "t/lib/tap.h"

#include <err.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/pack.h"
#include "t/fuzz/read.h"
#include "t/fuzz/rounds.h"
#include "tool/read/damage/error.h"
#include "tool/read/pack/block.h"
#include "tool/read/pack/hash.h"
#include "tool/read/pack/pack.h"

#define ROUNDS	    300
#define MORE_ROUNDS 10000 /* with XAUDIT_ALL */
#define MOST_FRAMES 4096

/* ---- the packed trace ---- */

static struct {
	char folder[256], file[300];
	uint8_t *good, *bytes; /* as it was packed, and as it is now */
	size_t size, now;
	size_t frame[MOST_FRAMES]; /* where they begin */
	unsigned frames;
	uint64_t content; /* bytes of all members */
} packed;

static struct pack_frame frame_at(const uint8_t *bytes, size_t at)
{
	struct pack_frame frame;

	memcpy(&frame, bytes + at, sizeof(frame));
	return frame;
}

static void find_frames(void)
{
	packed.frames = 0;
	packed.content = 0;
	for (size_t at = sizeof(struct pack_head); at < packed.size && packed.frames < MOST_FRAMES;) {
		struct pack_frame frame = frame_at(packed.good, at);
		if (!pack_frame_is_good(&frame))
			errx(1, "no frame at %zu", at);
		packed.frame[packed.frames++] = at;
		packed.content += frame.type == PACK_BLOCK ? frame.raw : 0;
		at += sizeof(frame) + (frame.size + 7) / 8 * 8;
	}
}

static void make_pack(const char *script)
{
	const char *build = getenv("top_builddir"), *source = getenv("top_srcdir");
	char command[2048];
	struct stat st;

	build = build ? build : ".";
	snprintf(command, sizeof(command),
		"rm -rf '%s' && '%s/t/lib/make_trace' '%s' <'%s/t/fuzz/corpus/%s.trace' && "
		"'%s/xaudit' pack -o '%s' '%s' >/dev/null",
		packed.folder, build, packed.folder, source ? source : ".", script, build, packed.file, packed.folder);
	unlink(packed.file);
	if (system(command))
		errx(1, "failed: %s", command);
	int fd = open(packed.file, O_RDONLY);
	if (fd < 0 || fstat(fd, &st))
		err(1, "%s", packed.file);
	packed.size = (size_t)st.st_size;
	packed.good = realloc(packed.good, packed.size);
	packed.bytes = realloc(packed.bytes, packed.size);
	if (read(fd, packed.good, packed.size) != (ssize_t)packed.size)
		err(1, "%s", packed.file);
	close(fd);
	find_frames();
}

/* ---- changes ---- */

static uint64_t extreme(void)
{
	static const uint64_t value[] = { 0, 1, 2, 7, 8, 64, 128, 0xfff, 0x10000, 1u << 22, (1u << 22) + 1, 0x7fffffff,
		0x80000000, 0xffffffff, 1ull << 32, 1ull << 40, 1ull << 62, 1ull << 63, UINT64_MAX, INT64_MAX };
	uint64_t n = fuzz_number(sizeof(value) / sizeof(*value) + 4);

	return n < sizeof(value) / sizeof(*value) ? value[n] : fuzz_number(packed.size);
}

/* Makes the frame's checksums right again; where content is compressed, that of its content stays. */
static void settle(size_t at)
{
	struct pack_frame frame = frame_at(packed.bytes, at);

	if (frame.method == PACK_STORED && frame.size <= packed.size - at - sizeof(frame))
		frame.content = pack_hash(packed.bytes + at + sizeof(frame), frame.size);
	frame.check = pack_frame_check(&frame);
	memcpy(packed.bytes + at, &frame, sizeof(frame));
}

static void change(void)
{
	static const uint8_t field[][2] = { { 16, 4 }, { 20, 4 }, { 24, 4 }, { 28, 4 }, { 32, 8 }, { 40, 8 }, { 48, 4 },
		{ 52, 4 }, { 56, 4 }, { 60, 4 } };
	unsigned which = (unsigned)fuzz_number(packed.frames);
	unsigned f = (unsigned)fuzz_number(sizeof(field) / sizeof(*field));
	size_t at = packed.frame[which], place;
	struct pack_frame frame = frame_at(packed.good, at);
	uint64_t value = extreme();

	switch (fuzz_number(10)) {
	case 0:
		packed.bytes[fuzz_number(packed.size)] ^= (uint8_t)(1u << fuzz_number(8));
		return;
	case 1:
		packed.now = fuzz_number(2) ? fuzz_number(packed.size) : at + fuzz_number(sizeof(frame));
		return;
	case 2:
	case 3:
		if (!fuzz_number(3)) {
			memcpy(&value, packed.bytes + at + field[f][0], field[f][1]);
			value += fuzz_number(33) - 16;
		}
		memcpy(packed.bytes + at + field[f][0], &value, field[f][1]);
		break;
	case 4:
	case 5:
	case 6:
		/* A word of the index or of a member's description, or two of them change places. */
		which = fuzz_number(3) ? packed.frames - 2 : which;
		at = packed.frame[which];
		frame = frame_at(packed.good, at);
		if (frame.size < 64)
			return;
		place = at + sizeof(frame) + fuzz_number(frame.size - 8) / 4 * 4;
		if (!fuzz_number(3)) {
			memcpy(&value, packed.bytes + place, 8);
			value += fuzz_number(65) - 32;
		} else if (!fuzz_number(4)) {
			memcpy(&value, packed.bytes + at + sizeof(frame) + fuzz_number(frame.size - 8) / 8 * 8, 8);
		}
		memcpy(packed.bytes + place, &value, fuzz_number(2) ? 8 : 4);
		break;
	case 7:
		/* The sizes of a block's streams. */
		if (frame.size < frame.piece_size + 64)
			return;
		place = at + sizeof(frame) + frame.piece_size + fuzz_number(16) * 4;
		memcpy(packed.bytes + place, &value, 4);
		break;
	case 8:
		/* Anything in a frame. */
		if (!frame.size)
			return;
		place = at + sizeof(frame) + fuzz_number(frame.size);
		packed.bytes[place] = (uint8_t)(fuzz_number(2) ? packed.bytes[place] ^ 1u << fuzz_number(8)
							       : fuzz_number(256));
		break;
	default: {
		/* A frame in the place of another. */
		size_t other = packed.frame[fuzz_number(packed.frames)], size = sizeof(frame) + frame.size;
		if (size > packed.size - other)
			return;
		memmove(packed.bytes + other, packed.good + at, size);
		return;
	}
	}
	settle(at);
}

static void begin_again(void)
{
	memcpy(packed.bytes, packed.good, packed.size);
	packed.now = packed.size;
}

static void write_file(void)
{
	int fd = open(packed.file, O_WRONLY | O_TRUNC | O_CREAT, 0600);
	if (fd < 0 || write(fd, packed.bytes, packed.now) != (ssize_t)packed.now)
		err(1, "%s", packed.file);
	close(fd);
}

static void damage(const char *script, uint64_t round)
{
	(void)script;
	fuzz_seed(round);
	begin_again();
	for (uint64_t n = 1 + fuzz_number(3); n; n--)
		change();
	write_file();
}

/* ---- rounds ---- */

/* Reads all that is in the blocks, as unpack does. Returns how many bytes that were. */
static uint64_t read_members(void)
{
	static uint8_t to[1 << 16];
	struct read_damage damage = { 0 };
	const char *why;
	int fd = open(packed.file, O_RDONLY), error;
	struct pack *pack = pack_open(fd, packed.file, &damage, &why);
	uint64_t bytes = 0;

	if (!pack)
		close(fd);
	for (size_t i = 0; pack && i < pack->members; i++) {
		const struct pack_member *member = &pack->member[i];
		for (uint64_t at = 0, next; (at = pack_data(member, at)) != UINT64_MAX; at = next) {
			size_t have = pack_read(pack, member, to, sizeof(to), at, &error);
			next = error ? pack_after_lost(pack, member, at + have) : at + have;
			bytes += have;
			if (next <= at)
				break;
		}
	}
	pack_close(pack);
	read_damage_free(&damage);
	return bytes;
}

static uint64_t read_it(void)
{
	/* Blocks that are there twice, in places of their own, count twice. */
	uint64_t things = fuzz_read(packed.file, 4 * packed.content);

	read_members();
	return things;
}

static const char *const scripts[] = { "calls", "counts", "early", "events", "forks", "ring", "sched", "threads",
	"values" };

#define SCRIPTS (sizeof(scripts) / sizeof(*scripts))

static const struct fuzz fuzz = {
	.script = scripts,
	.scripts = SCRIPTS,
	.batch = 100,
	.most_memory = 600l << 10,
	.make = make_pack,
	.damage = damage,
	.read = read_it,
};

/* Each member in turn, of a pack whose index is lost, is a folder by its description. Returns how many there are. */
static unsigned read_folders_for_files(void)
{
	unsigned members = 0;

	for (unsigned i = 0; i < packed.frames; i++) {
		struct pack_frame frame = frame_at(packed.good, packed.frame[i]);
		struct pack_member_head head;
		uint8_t *at = packed.bytes + packed.frame[i] + sizeof(frame);
		if (frame.type != PACK_MEMBER)
			continue;
		begin_again();
		memcpy(&head, at, sizeof(head));
		memmove(at + sizeof(head), at + sizeof(head) + head.extents * sizeof(struct pack_extent), head.name);
		head = (struct pack_member_head){ .mode = S_IFDIR | 0700, .name = head.name };
		memcpy(at, &head, sizeof(head));
		settle(packed.frame[i]);
		packed.now = packed.frame[packed.frames - 2];
		write_file();
		read_it();
		members++;
	}
	return members;
}

int main(int argc, char **argv)
{
	uint64_t rounds = getenv("XAUDIT_ALL") && *getenv("XAUDIT_ALL") ? MORE_ROUNDS : ROUNDS;
	char command[400];
	int status = 0;

	fuzz_folder(packed.folder);
	snprintf(packed.file, sizeof(packed.file), "%s.pack", argc > 3 ? argv[3] : packed.folder);
	if (argc > 1 && strspn(argv[1], "0123456789") == strlen(argv[1])) {
		status = fuzz_run_long(&fuzz, strtoull(argv[1], NULL, 10), argc > 2 ? strtoull(argv[2], NULL, 10) : 0);
	} else if (argc > 3) {
		make_pack(argv[1]);
		damage(argv[1], strtoull(argv[2], NULL, 10));
		printf("%llu things in %s\n", (unsigned long long)read_it(), packed.file);
	} else {
		for (unsigned i = 0; i < SCRIPTS; i++) {
			make_pack(scripts[i]);
			ok(fuzz_read(packed.file, packed.content) > 20, "%s: the packed trace can be read", scripts[i]);
			is_int(fuzz_run(&fuzz, scripts[i], 0, rounds), 0,
				"%s: so can %llu damaged ones, as far as they go", scripts[i],
				(unsigned long long)rounds);
			ok(read_folders_for_files() > 2, "%s: and ones with folders in the place of files", scripts[i]);
		}
	}
	snprintf(command, sizeof(command), "rm -rf '%s'", packed.folder);
	if (system(command))
		warnx("failed: %s", command);
	if (argc <= 3)
		unlink(packed.file);
	return argc > 1 ? status : done_testing();
}
