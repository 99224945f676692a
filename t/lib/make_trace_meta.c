/* SPDX-License-Identifier: MIT */
/* The records of meta, and counters, for make_trace.c, which describes the commands. */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h> /* clock_gettime */
#include <unistd.h>
#include <x86intrin.h> /* __rdtsc */

#include "t/lib/make_trace.h"

void put_record(uint32_t type, const void *fixed, size_t fixed_size, const void *tail, size_t tail_size)
{
	size_t size = (fixed_size + tail_size + 7) / 8 * 8;
	uint8_t *record = calloc(1, size);

	if (!record || meta_fd < 0)
		fail("there is no process");
	memcpy(record, fixed, fixed_size);
	if (tail_size)
		memcpy(record + fixed_size, tail, tail_size);
	memcpy(record, &(struct trace_record){ type, (uint32_t)size }, sizeof(struct trace_record));
	put_records(record, size);
	free(record);
}

static void put_text(const char *what, const char *text)
{
	static const char *const names[] = { "", "exe", "command", "host", "config", "note", "module" };
	char copy[4096];
	struct trace_text t = { .length = (uint32_t)strlen(text) };

	for (t.what = 1; t.what < 7 && strcmp(names[t.what], what); t.what++)
		;
	snprintf(copy, sizeof(copy), "%s", text);
	if (t.what == TRACE_TEXT_COMMAND) { /* words end with NUL */
		for (char *p = copy; *p; p++)
			*p = *p == ' ' ? '\0' : *p;
		t.length++;
	}
	put_record(TRACE_REC_TEXT, &t, sizeof(t), copy, t.length);
}

static void put_object(char **word, int words)
{
	struct trace_object o = {
		.object = (uint32_t)number(word[1]), .dev = 1, .ino = 1, .path_len = (uint32_t)strlen(word[2])
	};
	char names[8192];
	const char *v, *soname = "";

	for (int i = 3; i < words; i++) {
		if ((v = value_of(word[i], "flags")))
			o.flags = (uint32_t)number(v);
		else if ((v = value_of(word[i], "kinds")))
			o.kinds = (uint32_t)number(v);
		else if ((v = value_of(word[i], "soname")))
			soname = v;
		else if ((v = value_of(word[i], "build")))
			for (; v[0] && v[1] && o.build_id_len < sizeof(o.build_id); v += 2)
				sscanf(v, "%2hhx", &o.build_id[o.build_id_len++]);
		else
			fail("unknown key");
	}
	o.soname_len = (uint32_t)strlen(soname);
	snprintf(names, sizeof(names), "%s%s", word[2], soname);
	put_record(TRACE_REC_OBJECT, &o, sizeof(o), names, strlen(names));
}

static void put_function(char **word, int words)
{
	const char *name = words > 5 ? word[5] : "";
	struct trace_functions f = { .object = (uint32_t)number(word[1]), .kind = (uint32_t)number(word[2]), .count = 1,
		.names_size = (uint32_t)strlen(name) + 1 };
	struct trace_function one = { .id = (uint32_t)number(word[3]), .offset = number(word[4]),
		.size = words > 6 ? number(word[6]) : 0 };
	char tail[sizeof(one) + 4096];

	memcpy(tail, &one, sizeof(one));
	snprintf(tail + sizeof(one), sizeof(tail) - sizeof(one), "%s", name);
	put_record(TRACE_REC_FUNCTIONS, &f, sizeof(f), tail, sizeof(one) + strlen(name) + 1);
}

static void put_sites(char **word, int words)
{
	struct trace_sites s = { .object = (uint32_t)number(word[1]), .count = (uint32_t)words - 2 };
	struct trace_site_count count[64];

	for (int i = 2; i < words; i++)
		if (sscanf(word[i], "%hu:%hu:%u", &count[i - 2].kind, &count[i - 2].reason, &count[i - 2].count) != 3)
			fail("KIND:REASON:COUNT");
	put_record(TRACE_REC_SITES, &s, sizeof(s), count, s.count * sizeof(*count));
}

static void put_change(char **word, const char *text)
{
	static const char *const names[] = { "", "enabled", "disabled", "started", "stopped", "mode", "throttled",
		"snapshot", "full" };
	struct trace_change c = { .clock = number(word[2]) + step,
		.tid = (uint32_t)number(word[3]),
		.value = number(word[4]),
		.length = (uint32_t)strlen(text) };

	for (c.what = 1; c.what < 9 && strcmp(names[c.what], word[1]); c.what++)
		;
	if (c.what == 9)
		c.what = (uint32_t)number(word[1]);
	put_record(TRACE_REC_CHANGE, &c, sizeof(c), text, c.length);
}

static void put_counts(char **word, int words)
{
	struct trace_counts c = { .magic = TRACE_COUNTS_MAGIC,
		.version = TRACE_VERSION,
		.head_size = sizeof(c),
		.pid = head.pid,
		.tid = (uint32_t)number(word[2]),
		.process = head.process,
		.thread = (uint32_t)number(word[1]) };
	bool is_beside = !strcmp(word[0], "counts-beside");

	if (process_fd < 0)
		fail("there is no process");
	if (strcmp(word[3], "-"))
		snprintf(c.comm, sizeof(c.comm), "%s", word[3]);
	for (int i = 4; i < words; i++) {
		uint64_t end = sizeof(c) + 8 * (strtoull(word[i], NULL, 0) + 1);
		c.size = end > c.size ? end : c.size;
	}
	uint32_t places = (uint32_t)((c.size + place_size() - 1) / place_size());
	uint64_t begin = head.process * place_size() + head.chunk_size;
	if (!is_beside)
		begin = places_take(places, TRACE_PLACE_COUNTS, c.thread) * place_size();
	c.size = is_beside ? head.chunk_size : places * place_size();
	write_at(meta_fd, &c, sizeof(c), begin);
	for (int i = 4; i < words; i++) {
		unsigned long long calls;
		unsigned id;
		if (sscanf(word[i], "%u:%llu", &id, &calls) != 2)
			fail("ID:CALLS");
		write_at(meta_fd, &(uint64_t){ calls }, 8, begin + sizeof(c) + 8ull * id);
	}
	if (number(word[1]) >= thread_count)
		thread_count = (uint32_t)number(word[1]) + 1;
}

/* ---- the head ---- */

void head_loses(enum trace_lost cause, uint64_t n)
{
	head.lost += n;
	head.lost_by[cause] += n;
}

void set_head(char **word, int words)
{
	for (int i = 0; i < words; i++) {
		const char *v;
		if ((v = value_of(word[i], "clock")))
			head.clock = !strcmp(v, "mono") ? TRACE_CLOCK_MONOTONIC : TRACE_CLOCK_TSC;
		else if ((v = value_of(word[i], "chunk")))
			head.chunk_size = number(v);
		else if ((v = value_of(word[i], "version")))
			head.version = (uint32_t)number(v);
		else if ((v = value_of(word[i], "flags")))
			head.flags = (uint32_t)number(v);
		else if ((v = value_of(word[i], "ppid")))
			head.ppid = (uint32_t)number(v);
		else if ((v = value_of(word[i], "lost")))
			head_loses(TRACE_LOST_OTHER, number(v));
		else if ((v = value_of(word[i], "lost_disk")))
			head_loses(TRACE_LOST_DISK, number(v));
		else if ((v = value_of(word[i], "no_mirror")))
			head.no_mirror = number(v);
		else if ((v = value_of(word[i], "meta_lost")))
			head.meta_lost = number(v);
		else if ((v = value_of(word[i], "last_seq")))
			head.last_seq = (uint32_t)number(v);
		else if ((v = value_of(word[i], "threads")))
			head.threads = (uint32_t)number(v);
		else if ((v = value_of(word[i], "ring_size")))
			head.ring_size = number(v);
		else if ((v = value_of(word[i], "mode")))
			head.mode = (uint32_t)number(v);
		else if ((v = value_of(word[i], "moved")))
			head.moved = number(v);
		else if ((v = value_of(word[i], "recording")))
			head.recording = (uint32_t)number(v);
		else if ((v = value_of(word[i], "taken_back")))
			head.taken_back = number(v);
		else if ((v = value_of(word[i], "boot")))
			snprintf(head.boot_id, sizeof(head.boot_id), "%s", v);
		else
			fail("unknown key");
	}
	if (!strcmp(head.boot_id, "this")) {
		FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
		if (!file || fscanf(file, "%39s", head.boot_id) != 1)
			err(1, "boot_id");
		fclose(file);
	}
}

struct trace_pair pair_now(void)
{
	struct timespec mono, real;

	clock_gettime(CLOCK_REALTIME, &real);
	clock_gettime(CLOCK_MONOTONIC, &mono);
	return (struct trace_pair){ __rdtsc(), (uint64_t)mono.tv_sec * 1000000000 + (uint64_t)mono.tv_nsec,
		(uint64_t)real.tv_sec * 1000000000 + (uint64_t)real.tv_nsec };
}

struct trace_pair pair_after(const struct trace_pair *first, uint64_t ticks)
{
	return (struct trace_pair){ first->ticks + ticks, first->mono + ticks, first->real + ticks };
}

static void put_aliases(char **word, int words)
{
	struct trace_aliases a = { .count = 1 };
	struct {
		struct trace_alias list;
		char names[1024];
	} body = { .list.id = (uint32_t)number(word[1]) };

	for (int i = 2; i < words; i++) {
		size_t size = strlen(word[i]) + 1;
		if (a.names_size + size >= sizeof(body.names))
			errx(1, "aliases: too many");
		memcpy(body.names + a.names_size, word[i], size);
		a.names_size += (uint32_t)size;
	}
	a.names_size++;
	put_record(TRACE_REC_ALIASES, &a, sizeof(a), &body, sizeof(body.list) + a.names_size);
}

/* ---- commands ---- */

bool meta_command(char **word, int words, const char *rest)
{
	if (sched_command(word, words) || values_meta_command(word, words))
		return true;
	if (!strcmp(word[0], "text") && words > 2) {
		put_text(word[1], rest);
	} else if (!strcmp(word[0], "object") && words > 2) {
		put_object(word, words);
	} else if (!strcmp(word[0], "function") && words > 4) {
		put_function(word, words);
	} else if (!strcmp(word[0], "aliases") && words > 1) {
		put_aliases(word, words);
	} else if (!strcmp(word[0], "load") && (words == 6 || words == 7)) {
		uint64_t base = number(word[4]);
		struct trace_load l = { .load = (uint32_t)number(word[1]), .object = (uint32_t)number(word[2]),
			.clock = number(word[3]) + step, .base = base, .start = base, .end = base + 0x10000,
			.tid = (uint32_t)number(word[5]), .namespace = words == 7 ? (int64_t)number(word[6]) : 0 };
		put_record(TRACE_REC_LOAD, &l, sizeof(l), NULL, 0);
	} else if (!strcmp(word[0], "unload") && words == 4) {
		struct trace_unload u = { .load = (uint32_t)number(word[1]), .clock = number(word[2]) + step,
			.tid = (uint32_t)number(word[3]) };
		put_record(TRACE_REC_UNLOAD, &u, sizeof(u), NULL, 0);
	} else if (!strcmp(word[0], "loader") && words == 6) {
		struct trace_loader l = { .unmaps = !strcmp(word[1], "unmaps"), .tid = (uint32_t)number(word[2]),
			.begin = number(word[3]) + step, .end = number(word[4]) + step, .own = number(word[5]) };
		put_record(TRACE_REC_LOADER, &l, sizeof(l), NULL, 0);
	} else if (!strcmp(word[0], "sites") && words > 1) {
		put_sites(word, words);
	} else if (!strcmp(word[0], "change") && words > 4) {
		put_change(word, words > 5 ? strstr(rest, word[5]) : "");
	} else if ((!strcmp(word[0], "counts") || !strcmp(word[0], "counts-beside")) && words > 4) {
		put_counts(word, words);
	} else if (!strcmp(word[0], "type") && words == 3) {
		struct trace_type_name t = { .type = (uint32_t)number(word[1]), .length = (uint32_t)strlen(word[2]) };
		put_record(TRACE_REC_EVENT_TYPE, &t, sizeof(t), word[2], t.length);
	} else if (!strcmp(word[0], "pages") && words == 5) {
		struct trace_pages p = { .object = (uint32_t)number(word[1]), .text = (uint32_t)number(word[2]),
			.sites = (uint32_t)number(word[3]), .patched = (uint32_t)number(word[4]) };
		put_record(TRACE_REC_PAGES, &p, sizeof(p), NULL, 0);
	} else if (!strcmp(word[0], "unknown") && words == 3) {
		static const uint8_t zeros[4096];
		put_record((uint32_t)number(word[1]), zeros, number(word[2]) + sizeof(struct trace_record), NULL, 0);
	} else {
		return false;
	}
	return true;
}

void append_record(const char *text)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/record", dir);
	file = fopen(path, "a");
	if (!file || fprintf(file, "%s\n", text) < 0 || fclose(file))
		err(1, "%s", path);
}
