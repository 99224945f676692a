/* SPDX-License-Identifier: MIT */
/*
 * An audit module for t/record/record.t in the place of libxaudit.so: writes down what it finds in its environment, and
 * makes process folders with just the records that `xaudit record` looks at.
 *
 *	FAKE_ENVIRONMENT=FILE	append LD_AUDIT, GLIBC_TUNABLES, XAUDIT_CONFIG and XAUDIT_RULES
 *	FAKE_TRACE=WORDS	make a process folder; with "selected": a function; "plt": the rules ask for plt as
 *				well; "unchosen": for nothing; "threads": two chunks with 3 events in the second one
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/trace.h"

#define CHUNK (64ul << 10)
#define PLACE (2 * CHUNK)

static uint64_t meta[2048]; /* 16 kB */
static size_t used = TRACE_HEAD_SIZE;

static void append(uint32_t type, void *record, size_t size)
{
	struct trace_record *head = record;

	head->type = type;
	head->size = (uint32_t)((size + 7) & ~7ul);
	memcpy((char *)meta + used, record, size);
	used += head->size;
}

static void records(const char *words)
{
	unsigned kinds = strstr(words, "unchosen")
				 ? 0
				 : 1u << TRACE_KIND_XRAY | (strstr(words, "plt") ? 1u << TRACE_KIND_PLT : 0);
	struct trace_object object = { .flags = TRACE_OBJECT_PROGRAM, .kinds = kinds };
	struct trace_object loader = { .flags = TRACE_OBJECT_LOADER };
	struct trace_functions functions = { .object = 1 };
	union {
		struct trace_text text;
		char bytes[64];
	} exe = { .text = { .what = TRACE_TEXT_EXE, .length = 9 } };
	union {
		struct trace_sites sites;
		char bytes[64];
	} sites = { .sites = { .count = 3 } };

	memcpy(exe.text.text, "/bin/fake", 9);
	append(TRACE_REC_TEXT, &exe, sizeof(exe.text) + 9);
	append(77, &(struct trace_load){ .load = 1 }, sizeof(struct trace_load)); /* a type of the future */
	for (unsigned i = 1; i <= 3; i++) {
		object.object = i;
		append(TRACE_REC_OBJECT, &object, sizeof(object));
		object.flags = 0;
	}
	loader.object = 4;
	append(TRACE_REC_OBJECT, &loader, sizeof(loader));
	/* Object 1 twice: the later record replaces the one before. */
	for (unsigned i = 1; i <= 3; i++) {
		sites.sites.object = i == 3 ? 2 : 1;
		sites.sites.site[0] =
			(struct trace_site_count){ TRACE_KIND_XRAY, TRACE_REASON_SHORT, i == 1 ? 1000 : 5 };
		sites.sites.site[1] = (struct trace_site_count){ TRACE_KIND_PATCHABLE, TRACE_REASON_NO_SITES, 1 };
		sites.sites.site[2] = (struct trace_site_count){ TRACE_KIND_PLT, TRACE_REASON_NOT_SELECTED, 1 };
		append(TRACE_REC_SITES, &sites, sizeof(sites.sites) + 3 * sizeof(sites.sites.site[0]));
	}
	if (strstr(words, "selected"))
		append(TRACE_REC_FUNCTIONS, &functions, sizeof(functions));
}

static void write_file(const char *path, const void *bytes, size_t size, size_t whole)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size || ftruncate(fd, (off_t)whole))
		perror(path);
	close(fd);
}

static void trace(const char *words)
{
	struct trace_head head = { .magic = TRACE_MAGIC,
		.version = TRACE_VERSION,
		.head_size = TRACE_HEAD_SIZE,
		.chunk_size = CHUNK,
		.clock = TRACE_CLOCK_MONOTONIC,
		.pid = (uint32_t)getpid(),
		.threads = 1,
		.place_size = PLACE,
		.directory = PLACE,
		.block = TRACE_PLACE_MAX,
		.places_max = PLACE / 8,
		.places = 2 };
	static uint64_t file[4 * PLACE / 8];
	char path[4200], output[4096] = "";
	const char *rules = getenv("XAUDIT_RULES");

	if (!rules || !(rules = strstr(rules, "output = ")))
		return;
	sscanf(rules, "output = %4095[^\n]", output);
	snprintf(path, sizeof(path), "%s/p%d", output, (int)getpid());
	mkdir(path, 0777);
	records(words);
	head.used = used;
	file[PLACE / 8] = TRACE_PLACE(TRACE_PLACE_HEAD, 0, head.pid);
	file[PLACE / 8 + 1] = TRACE_PLACE(TRACE_PLACE_DIRECTORY, 0, 0);
	for (unsigned i = 0; i < 2 && strstr(words, "threads"); i++) {
		struct trace_chunk start = { .magic = TRACE_CHUNK_MAGIC,
			.version = TRACE_VERSION,
			.head_size = sizeof(start),
			.seq = i,
			.size = CHUNK };
		memcpy(file + (head.places * PLACE + CHUNK) / 8, &start, sizeof(start));
		file[PLACE / 8 + head.places++] = TRACE_PLACE(TRACE_PLACE_CHUNK, 0, 0);
	}
	for (unsigned i = 0; i < 3 && strstr(words, "threads"); i++)
		file[(3 * PLACE + CHUNK) / 8 + 16 + i] = TRACE_EVENT(TRACE_POINT, 1, i);
	memcpy(file, meta, sizeof(meta));
	memcpy(file, &head, sizeof(head));
	snprintf(path, sizeof(path), "%s/p%d/meta", output, (int)getpid());
	write_file(path, file, sizeof(file), sizeof(file));
}

static void environment(const char *path)
{
	static const char *const name[] = { "LD_AUDIT", "GLIBC_TUNABLES", "XAUDIT_CONFIG", "XAUDIT_RULES" };
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);

	for (size_t i = 0; i < sizeof(name) / sizeof(*name); i++)
		if (getenv(name[i]))
			dprintf(fd, "%s=%s\n", name[i], getenv(name[i]));
	close(fd);
}

unsigned la_version(unsigned version)
{
	if (getenv("FAKE_ENVIRONMENT"))
		environment(getenv("FAKE_ENVIRONMENT"));
	if (getenv("FAKE_TRACE"))
		trace(getenv("FAKE_TRACE"));
	return version;
}
