/* SPDX-License-Identifier: MIT */
/*
 * api_read [-p] [-P PID] FOLDER...: custom events of families, or of one process, from the raw chunks. Lines:
 *	type NUMBER NAME			of meta
 *	source N events FIRST-LAST		untyped events as api.h makes them, whole, right, and without a gap
 *						within their thread
 *	event TYPE SIZE TEXT			all others
 *	wrong ...				anything that is not as it should be
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/compact.h"
#include "format/stream.h"
#include "format/trace.h"
#include "t/api/api.h"

static int plain; /* events are not api.h's */
static unsigned next[API_SOURCES], first[API_SOURCES], seen[API_SOURCES];

/* Reads from a place to its end. */
static void read_at(int fd, void *to, size_t size, uint64_t at)
{
	for (ssize_t n; size; size -= (size_t)n, at += (uint64_t)n, to = (char *)to + n) {
		n = pread(fd, to, size, (off_t)at);
		if (n <= 0)
			exit(1);
	}
}

/* Puts what a compact file stands for in its places. */
static void read_extents(int fd, const struct compact_head *head, unsigned char *to)
{
	uint64_t at = sizeof(*head) + head->extents * sizeof(struct compact_extent);

	for (uint64_t i = 0; i < head->extents; i++) {
		struct compact_extent extent;
		read_at(fd, &extent, sizeof(extent), sizeof(*head) + i * sizeof(extent));
		read_at(fd, to + extent.begin, extent.end - extent.begin, at);
		at += extent.end - extent.begin;
	}
}

/* The file, and behind it some more zeros than it is cut by. *mapped: bytes; 0: there is no such file. */
static unsigned char *load(const char *folder, const char *name, size_t *size, size_t *mapped)
{
	struct compact_head head;
	char path[4200];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	int fd = open(path, O_RDONLY);
	*size = *mapped = 0;
	if (fd < 0 && errno == ENOENT)
		return NULL;
	if (fd < 0 || fstat(fd, &st)) {
		perror(path);
		exit(1);
	}
	ssize_t n = pread(fd, &head, sizeof(head), 0);
	int compact = n == sizeof(head) && !memcmp(head.magic, COMPACT_MAGIC, sizeof(head.magic));
	*size = compact ? head.size : (size_t)st.st_size;
	*mapped = (*size + (1 << 20)) & ~4095ul;
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
	unsigned char *p = mmap(NULL, *mapped, PROT_READ | PROT_WRITE, flags, -1, 0);
	if (p == MAP_FAILED)
		exit(1);
	if (compact)
		read_extents(fd, &head, p);
	else if (*size && mmap(p, *size, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) != p)
		exit(1);
	close(fd);
	return p;
}

static void look(uint64_t type_size, const unsigned char *data)
{
	uint32_t type = (uint32_t)(type_size >> 32), size = (uint32_t)type_size;

	if (type || plain) {
		printf("event %u %u %.*s\n", type, size, (int)size, (const char *)data);
		return;
	}
	unsigned source = data[0];
	if (source >= API_SOURCES) {
		printf("wrong source %u\n", source);
		return;
	}
	if (!seen[source]++) {
		/* A flight recorder has lost the oldest: this is the first n that fits. */
		unsigned n = 0;
		unsigned char expected[4096];
		for (; n < 1000000; n++) {
			if (api_size(n) != size)
				continue;
			api_fill(expected, source, n);
			if (!memcmp(expected, data, size))
				break;
		}
		first[source] = next[source] = n;
	}
	unsigned n = next[source]++;
	if (size != api_size(n)) {
		printf("wrong size %u of %u, expected %zu\n", size, n, api_size(n));
		return;
	}
	for (size_t i = 0; i < size; i++) {
		if (data[i] != api_byte(source, n, i)) {
			printf("wrong byte %zu of %u\n", i, n);
			return;
		}
	}
}

static void read_chunk(const struct trace_chunk *from, size_t room)
{
	const uint64_t *p = (const uint64_t *)((const unsigned char *)from + from->head_size);
	uint64_t used = from->used ? from->used : from->size;
	const uint64_t *end = (const uint64_t *)((const unsigned char *)from + (used < room ? used : room));

	while (p < end) {
		uint32_t high = (uint32_t)(*p >> 32), id = high & TRACE_ID_MASK;
		if (high >> TRACE_ID_BITS != TRACE_CONTROL) {
			p++;
			continue;
		}
		if (p + 1 + (id >> 8) > end)
			printf("wrong: an event goes over the end of its chunk\n");
		else if ((id & 0xff) == TRACE_CUSTOM && p[1] && (uint32_t)p[1] != TRACE_TOKEN)
			look(p[1], (const unsigned char *)(p + 2));
		p += 1 + (id >> 8);
	}
}

#define CHUNKS 8192

/* Of one thread record, from its file and from meta. */
static const struct trace_chunk *chunk[CHUNKS];
/* bytes of the file from there on; `xaudit record` cuts off what the last chunk does not use */
static size_t left[CHUNKS];
static size_t chunks;

/* step 0: of t<n>, in which a chunk is followed by the next. */
static void list_chunks(unsigned char *file, size_t size, uint64_t first, uint64_t step)
{
	for (uint64_t at = first, next; at + sizeof(struct trace_chunk) <= size && chunks < CHUNKS; at = next) {
		const struct trace_chunk *c = (const struct trace_chunk *)(file + at);
		size_t i = chunks;
		next = at + (step ? step : STREAM_UNIT);
		if (c->magic != TRACE_CHUNK_MAGIC)
			continue;
		next = at + (step ? step : stream_whole(stream_bytes(c)));
		for (; i > 0 && chunk[i - 1]->seq > c->seq; i--)
			;
		if (i > 0 && chunk[i - 1]->seq == c->seq)
			continue; /* the same */
		memmove(&chunk[i + 1], &chunk[i], (chunks - i) * sizeof(*chunk));
		memmove(&left[i + 1], &left[i], (chunks - i) * sizeof(*left));
		chunk[i] = c;
		left[i] = size - at;
		chunks++;
	}
}

/* The family at hand, and of it the process at a place. */
static unsigned char *meta;
static size_t meta_size;

static const struct trace_head *head_at(uint64_t place)
{
	const struct trace_head *first = (const struct trace_head *)meta;

	return (const struct trace_head *)(meta + place * first->place_size);
}

/* Its records up to a position, as one piece; those of its parents first. */
static void read_types(const struct trace_head *head, uint64_t end)
{
	unsigned char *all = calloc(1, end), *p;
	uint64_t at = 0, size = head->place_size / 2, from = head->process;

	if (!all)
		exit(1);
	if (head->parent_used)
		read_types(head_at(head->parent), head->parent_used);
	for (unsigned i = 0; at < end; i++) {
		uint64_t part = end - at < size ? end - at : size;
		memcpy(all + at, meta + from * head->place_size, part);
		at += part;
		from = head->extent[i].first;
		size = head->extent[i].places * head->place_size;
	}
	for (p = all + head->head_size; p < all + end;) {
		const struct trace_record *record = (const struct trace_record *)p;
		const struct trace_type_name *name = (const struct trace_type_name *)p;
		if (record->type == TRACE_REC_EVENT_TYPE)
			printf("type %u %.*s\n", name->type, (int)name->length, name->name);
		p += record->size;
	}
	free(all);
}

/* Of the directory: words lie together for each block of places. */
static uint64_t word_of(uint32_t place)
{
	const struct trace_head *first = head_at(0);
	uint64_t at = first->directory + (place / first->block * first->block) * first->place_size +
		      place % first->block * 8;

	return at + 8 <= meta_size ? *(const uint64_t *)(meta + at) : 0;
}

/* Is the chunk in the upper half of the head's place that of the thread? */
static int is_beside(const struct trace_head *head, unsigned n)
{
	const struct trace_chunk *chunk = (const struct trace_chunk *)((const unsigned char *)head + head->ring_chunk);

	return chunk->magic == TRACE_CHUNK_MAGIC && chunk->thread == n;
}

static void read_thread(const char *folder, const struct trace_head *head, unsigned n)
{
	const struct trace_head *first = head_at(0);
	size_t size, mapped;
	char name[32];

	snprintf(name, sizeof(name), head->process ? "t%u.%u" : "t%u", n, head->process);
	unsigned char *file = load(folder, name, &size, &mapped);
	chunks = 0;
	list_chunks(file, size, 0, 0);
	for (uint32_t place = 0; place < first->places; place++)
		if (word_of(place) == TRACE_PLACE(TRACE_PLACE_CHUNK, head->process, n) ||
			(place == head->process && is_beside(head, n)))
			list_chunks(meta, meta_size, place * first->place_size + head->ring_chunk, meta_size);
	for (size_t i = 0; i < chunks; i++)
		read_chunk(chunk[i], left[i]);
	if (file)
		munmap(file, mapped);
}

/* pid 0: all processes. */
static void read_folder(const char *folder, uint32_t pid)
{
	size_t size;

	/* It is cut behind the last word: what is behind that reads as zeros. */
	meta = load(folder, "meta", &size, &meta_size);
	if (!meta)
		exit(1);
	const struct trace_head *first = head_at(0);
	for (uint32_t place = 0; place < first->places; place++) {
		const struct trace_head *head = head_at(place);
		if (word_of(place) >> 60 != TRACE_PLACE_HEAD || (pid && head->pid != pid))
			continue;
		read_types(head, head->used);
		for (unsigned n = 0; n < head->threads; n++)
			read_thread(folder, head, n);
	}
	munmap(meta, meta_size);
}

int main(int argc, char **argv)
{
	int i = 1;

	uint32_t pid = 0;

	if (argc > 1 && !strcmp(argv[1], "-p"))
		plain = i++;
	if (argc > i + 1 && !strcmp(argv[i], "-P")) {
		pid = (uint32_t)atol(argv[i + 1]);
		i += 2;
	}
	for (; i < argc; i++)
		read_folder(argv[i], pid);
	for (unsigned s = 0; s < API_SOURCES; s++)
		if (seen[s])
			printf("source %u events %u-%u\n", s, first[s], next[s] - 1);
	return 0;
}
