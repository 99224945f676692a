/* SPDX-License-Identifier: MIT */
/*
 * Reads traces that are damaged in ways that follow from numbers: those of t/fuzz/corpus, scripts of make_trace, each
 * changed in a few places per round; NAME.pack is the same, packed. Nothing must crash, hang or take much memory.
 *
 *	reader_fuzz.t			some rounds of each, as a test
 *	reader_fuzz.t SECONDS [SEED]		as many as fit in this time
 *	reader_fuzz.t SCRIPT ROUND [FOLDER]	one again, in this process; its files stay in FOLDER
 */
#define _GNU_SOURCE
#include "t/lib/tap.h"

#include <dirent.h>
#include <err.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/pack.h"
#include "format/trace.h"
#include "t/fuzz/read.h"
#include "t/fuzz/rounds.h"
#include "tool/read/pack/hash.h"

#define ROUNDS	    200
#define MORE_ROUNDS 20000 /* with XAUDIT_ALL */

/* No round asks for more at once: the traces are small. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "max_allocation_size_mb=64:quarantine_size_mb=32:detect_leaks=1:abort_on_error=1";
}

/* ---- the files of a trace ---- */

#define MOST_FILES 64
#define BLOCK	   64

struct file {
	char name[300]; /* in the folder */
	uint8_t *data;
	size_t size;
	uint32_t *block; /* those that are not all zero */
	size_t blocks;
	bool changed;
};

static struct {
	char folder[256];
	char path[300]; /* of the trace: the folder, or the packed file in it */
	struct file file[MOST_FILES];
	unsigned files;
} trace;

static void path_of(const struct file *file, char path[600])
{
	snprintf(path, 600, "%s/%s", trace.folder, file->name);
}

static void load(struct file *file)
{
	char path[600];
	struct stat st;

	path_of(file, path);
	int fd = open(path, O_RDONLY);
	if (fd < 0 || fstat(fd, &st))
		err(1, "%s", path);
	file->size = (size_t)st.st_size;
	file->data = calloc(file->size + BLOCK, 1);
	file->block = calloc(file->size / BLOCK + 1, sizeof(*file->block));
	if (read(fd, file->data, file->size) != (ssize_t)file->size)
		err(1, "%s", path);
	close(fd);
	static const uint8_t zeros[BLOCK];
	for (size_t at = 0; at < file->size; at += BLOCK)
		if (memcmp(file->data + at, zeros, BLOCK))
			file->block[file->blocks++] = (uint32_t)(at / BLOCK);
}

static void load_folder(const char *below)
{
	char path[600];
	struct dirent *entry;

	snprintf(path, sizeof(path), "%s/%s", trace.folder, below);
	DIR *dir = opendir(path);
	if (!dir)
		err(1, "%s", path);
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		char name[300];
		snprintf(name, sizeof(name), "%s%s%s", below, *below ? "/" : "", entry->d_name);
		if (entry->d_type == DT_DIR) {
			load_folder(name);
		} else if (trace.files < MOST_FILES) {
			snprintf(trace.file[trace.files].name, sizeof(name), "%s", name);
			load(&trace.file[trace.files++]);
		}
	}
	closedir(dir);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct file *)a)->name, ((const struct file *)b)->name);
}

static void must_run(const char *format, ...)
{
	char command[2048];
	va_list args;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	if (system(command))
		errx(1, "failed: %s", command);
}

static const char *environment(const char *name)
{
	return getenv(name) ? getenv(name) : ".";
}

static bool is_packed(const char *name)
{
	return strstr(name, PACK_SUFFIX) != NULL;
}

static void make_files(const char *name)
{
	const char *build = environment("top_builddir");
	int length = (int)strcspn(name, ".");

	for (unsigned i = 0; i < trace.files; i++) {
		free(trace.file[i].data);
		free(trace.file[i].block);
	}
	memset(trace.file, 0, sizeof(trace.file));
	trace.files = 0;
	must_run("rm -rf '%s' && '%s/t/lib/make_trace' '%s' <'%s/t/fuzz/corpus/%.*s.trace'", trace.folder, build,
		trace.folder, environment("top_srcdir"), length, name);
	snprintf(trace.path, sizeof(trace.path), "%s%s", trace.folder, is_packed(name) ? "/packed" : "");
	if (is_packed(name))
		must_run("cd '%s' && '%s/xaudit' pack -j 1 -o ../xaudit-fuzz.$$ . >/dev/null 2>&1 "
			 "&& rm -rf p* record && mv ../xaudit-fuzz.$$ packed",
			trace.folder, build);
	load_folder("");
	/* readdir() has an order of its own. */
	qsort(trace.file, trace.files, sizeof(*trace.file), by_name);
}

/* ---- changes ---- */

static int open_file(struct file *file)
{
	char path[600];

	path_of(file, path);
	int fd = open(path, O_WRONLY | O_CREAT, 0600);
	if (fd < 0)
		err(1, "%s", path);
	file->changed = true;
	return fd;
}

static void put(struct file *file, const void *from, size_t size, uint64_t at)
{
	int fd = open_file(file);

	if (pwrite(fd, from, size, (off_t)at) != (ssize_t)size)
		err(1, "%s", file->name);
	close(fd);
}

static void resize(struct file *file, uint64_t size)
{
	int fd = open_file(file);

	if (ftruncate(fd, (off_t)size))
		err(1, "%s", file->name);
	close(fd);
}

static void restore_file(struct file *file)
{
	int fd = open_file(file);

	if (ftruncate(fd, 0) || ftruncate(fd, (off_t)file->size))
		err(1, "%s", file->name);
	for (size_t k = 0; k < file->blocks;) {
		size_t first = k++, at = (size_t)file->block[first] * BLOCK;
		while (k < file->blocks && file->block[k] == file->block[k - 1] + 1)
			k++;
		size_t size = (k - first) * BLOCK;
		size = file->size - at < size ? file->size - at : size;
		if (pwrite(fd, file->data + at, size, (off_t)at) != (ssize_t)size)
			err(1, "%s", file->name);
	}
	close(fd);
	file->changed = false;
}

static void restore(bool all)
{
	for (unsigned i = 0; i < trace.files; i++)
		if (all || trace.file[i].changed)
			restore_file(&trace.file[i]);
}

/* A place in the file, where something stands if it can be helped. */
static uint64_t place(const struct file *file, unsigned align)
{
	uint64_t at;

	if (file->blocks && fuzz_number(16)) {
		at = (uint64_t)file->block[fuzz_number(file->blocks)] * BLOCK;
		at += fuzz_number(BLOCK);
	} else {
		at = fuzz_number(file->size);
	}
	/* Heads are where most is decided. */
	if (file->blocks && !fuzz_number(3))
		at = fuzz_number(256);
	at -= at % align;
	return at + align <= file->size ? at : 0;
}

static uint64_t extreme(const struct file *file)
{
	static const uint64_t value[] = { 0, 1, 2, 7, 8, 0xff, 0xfff, 0x1000, 0xffff, 0x10000, 0x7fffffff, 0x80000000,
		0xffffffff, 1ull << 32, 1ull << 40, 1ull << 62, 1ull << 63, UINT64_MAX, UINT64_MAX - 7, INT64_MAX };
	uint64_t n = fuzz_number(sizeof(value) / sizeof(*value) + 4);

	return n < sizeof(value) / sizeof(*value) ? value[n]
	       : n & 1				  ? file->size + fuzz_number(17) - 8
						  : fuzz_number(file->size + 1);
}

/* Fields of heads, whose values decide where the reader goes. */
static const struct {
	uint32_t magic; /* what the head begins with */
	uint16_t at, size;
} field[] = {
#define CHUNK(name) { TRACE_CHUNK_MAGIC, offsetof(struct trace_chunk, name), sizeof(((struct trace_chunk *)0)->name) }
	CHUNK(version), CHUNK(head_size), CHUNK(seq), CHUNK(pid), CHUNK(tid), CHUNK(clock), CHUNK(size), CHUNK(used),
	CHUNK(lost), CHUNK(copied), CHUNK(mode), CHUNK(process), CHUNK(thread), CHUNK(stack), CHUNK(dense),
#define COUNTS(name) \
	{ TRACE_COUNTS_MAGIC, offsetof(struct trace_counts, name), sizeof(((struct trace_counts *)0)->name) }
	COUNTS(version), COUNTS(head_size), COUNTS(tid), COUNTS(size), COUNTS(process), COUNTS(thread),
#define HEAD(name) { 0x64756178, offsetof(struct trace_head, name), sizeof(((struct trace_head *)0)->name) }
	HEAD(head_size), HEAD(used), HEAD(chunk_size), HEAD(threads), HEAD(place_size), HEAD(directory), HEAD(places),
	HEAD(parent), HEAD(parent_used), HEAD(extent), HEAD(handover), HEAD(first), HEAD(last), HEAD(clock),
	HEAD(ring_size), HEAD(ring_chunk), HEAD(lost),
#define FRAME(name) \
	{ (uint32_t)PACK_FRAME_MAGIC, offsetof(struct pack_frame, name), sizeof(((struct pack_frame *)0)->name) }
	FRAME(type), FRAME(method), FRAME(member), FRAME(size), FRAME(offset), FRAME(raw), FRAME(pieces),
	FRAME(piece_size),
};

#define FIELDS (sizeof(field) / sizeof(*field))

static void change_field(struct file *file)
{
	unsigned which = (unsigned)fuzz_number(FIELDS);
	uint64_t begin = fuzz_number(file->blocks), value = extreme(file);

	/* The next head of this kind. Where they begin at multiples of 8 there are many blocks, but few heads. */
	for (size_t k = 0; k < file->blocks * (BLOCK / 8); k++) {
		size_t at = (size_t)file->block[(begin + k / (BLOCK / 8)) % file->blocks] * BLOCK + k % (BLOCK / 8) * 8;
		if (memcmp(file->data + at, &field[which].magic, 4))
			continue;
		size_t size = field[which].size > 8 ? 8 : field[which].size;
		if (at + field[which].at + size > file->size)
			continue; /* what looks like a head may stand at the end of a short file */
		if (!fuzz_number(3)) {
			memcpy(&value, file->data + at + field[which].at, size);
			value += fuzz_number(33) - 16;
		}
		put(file, &value, size, at + field[which].at);
		return;
	}
}

static void change_event(struct file *file)
{
	uint64_t at = place(file, 8), word;

	memcpy(&word, file->data + at, 8);
	/* A function; or what else may stand there: the subtype and the words of a control word, any number. */
	uint32_t id = fuzz_number(4) ? (uint32_t)fuzz_number(8) :
		      fuzz_number(2) ? (uint32_t)fuzz_number(1u << 28) :
				  (uint32_t)fuzz_number(9) | (uint32_t)fuzz_number(700) << 8;
	uint32_t type = (uint32_t)fuzz_number(16);
	/* With values: by a layout that may be there, of any size. */
	if (type == TRACE_VALUED && fuzz_number(4))
		id = TRACE_VALUED_ID(fuzz_number(8), fuzz_number(256)) | (fuzz_number(2) ? TRACE_VALUED_FLAWED : 0);
	word = TRACE_EVENT(type, id, (uint32_t)word + fuzz_number(64) - (fuzz_number(8) ? 0 : 0x7fffffff));
	put(file, &word, 8, at);
}

static void change_piece(struct file *to)
{
	const struct file *from = &trace.file[fuzz_number(trace.files)];
	uint64_t source = place(from, 8), at = place(to, 8), size = 8 * (1 + fuzz_number(64));

	if (source + size > from->size || !from->size)
		return;
	if (!fuzz_number(8) && to->size < 1u << 20)
		at = to->size;
	put(to, from->data + source, size, at);
}

static void change(void)
{
	struct file *file = &trace.file[fuzz_number(trace.files)];
	uint64_t value = extreme(file);
	uint8_t bytes[BLOCK] = { 0 };
	char path[600];
	uint64_t at;

	if (!file->size)
		return;
	switch (fuzz_number(16)) {
	case 0:
	case 1:
		at = place(file, 1);
		bytes[0] = file->data[at] ^ (uint8_t)(1u << fuzz_number(8));
		put(file, bytes, 1, at);
		return;
	case 2:
	case 3:
	case 4: {
		unsigned size = 1u << fuzz_number(4);
		put(file, &value, size, place(file, size));
		return;
	}
	case 5: {
		unsigned size = 4u << fuzz_number(2);
		at = place(file, size);
		memcpy(&value, file->data + at, at + size <= file->size ? size : 0);
		value += fuzz_number(33) - 16;
		put(file, &value, size, at);
		return;
	}
	case 6:
		resize(file, fuzz_number(3) ? place(file, 1) : fuzz_number(file->size));
		return;
	case 7:
		resize(file, file->size + (fuzz_number(2) ? fuzz_number(1 << 20) : 1ull << fuzz_number(36)));
		return;
	case 8:
		put(file, bytes, 1 + fuzz_number(BLOCK), place(file, 1));
		return;
	case 9:
		if (fuzz_number(4))
			return;
		path_of(file, path);
		unlink(path);
		file->changed = true;
		return;
	case 10:
		change_piece(file);
		return;
	case 11:
	case 12:
		change_event(file);
		return;
	default:
		change_field(file);
	}
}

/* Gives the frames of a packed file the checksums of what they are now, so that the reader goes on to believe them. */
static void mend_checks(struct file *file)
{
	uint8_t *data = calloc(file->size + sizeof(struct pack_frame), 1);
	uint64_t magic = PACK_FRAME_MAGIC;
	struct pack_frame frame;
	char path[600];

	path_of(file, path);
	int fd = open(path, O_RDONLY);
	ssize_t size = fd < 0 ? 0 : read(fd, data, file->size);
	close(fd);
	for (ssize_t at = 0; at + (ssize_t)sizeof(frame) <= size; at += 8) {
		if (memcmp(data + at, &magic, sizeof(magic)))
			continue;
		memcpy(&frame, data + at, sizeof(frame));
		if (frame.type != PACK_BLOCK && at + (ssize_t)sizeof(frame) + frame.size <= size)
			frame.content = pack_hash(data + at + sizeof(frame), frame.size);
		frame.check = pack_hash(&frame.type, sizeof(frame) - offsetof(struct pack_frame, type));
		put(file, &frame, sizeof(frame), (uint64_t)at);
	}
	free(data);
}

/* Bytes of all files, as they are now. */
static uint64_t bytes_now(void)
{
	uint64_t sum = 0;
	char path[600];
	struct stat st;

	for (unsigned i = 0; i < trace.files; i++) {
		path_of(&trace.file[i], path);
		if (!stat(path, &st))
			sum += (uint64_t)st.st_size;
	}
	return sum;
}

static void damage(const char *name, uint64_t round)
{
	fuzz_seed(round);
	for (uint64_t n = 1 + fuzz_number(4); n; n--)
		change();
	if (is_packed(name) && fuzz_number(8))
		mend_checks(&trace.file[0]);
}

/* ---- rounds ---- */

static const char *const scripts[] = { "calls", "counts", "early", "events", "forks", "ring", "sched", "threads",
	"dense", "values", "calls.pack", "counts.pack", "dense.pack", "events.pack", "forks.pack", "values.pack" };

#define SCRIPTS (sizeof(scripts) / sizeof(*scripts))

static uint64_t read_it(void)
{
	return fuzz_read(trace.path, bytes_now());
}

static const struct fuzz fuzz = {
	.script = scripts,
	.scripts = SCRIPTS,
	.batch = 200,
	.most_memory = 400l << 10,
	.make = make_files,
	.damage = damage,
	.read = read_it,
	.restore = restore,
};

static void remove_folder(void)
{
	must_run("rm -rf '%s'", trace.folder);
}

int main(int argc, char **argv)
{
	uint64_t rounds = getenv("XAUDIT_ALL") && *getenv("XAUDIT_ALL") ? MORE_ROUNDS : ROUNDS;

	if (argc > 3)
		snprintf(trace.folder, sizeof(trace.folder), "%s", argv[3]);
	else
		fuzz_folder(trace.folder);
	if (argc > 1 && strspn(argv[1], "0123456789") == strlen(argv[1])) {
		int status = fuzz_run_long(
			&fuzz, strtoull(argv[1], NULL, 10), argc > 2 ? strtoull(argv[2], NULL, 10) : 0);
		remove_folder();
		return status;
	}
	if (argc > 2) {
		make_files(argv[1]);
		damage(argv[1], strtoull(argv[2], NULL, 10));
		printf("%llu things in %s\n", (unsigned long long)read_it(), trace.path);
		return 0;
	}
	for (unsigned i = 0; i < SCRIPTS; i++) {
		make_files(scripts[i]);
		ok(read_it() > 20, "%s: the trace can be read", scripts[i]);
		is_int(fuzz_run(&fuzz, scripts[i], 0, rounds), 0, "%s: so can %llu damaged ones, as far as they go",
			scripts[i], (unsigned long long)rounds);
	}
	remove_folder();
	return done_testing();
}
