/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/plan/plan_cache.h"

#include <fcntl.h>
#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tool/base/memory.h"
#include "tool/base/whole.h"
#include "tool/index/cache.h"
#include "tool/index/cache_trim.h"
#include "tool/index/image.h"
#include "tool/index/own_file.h"
#include "tool/values/wanted.h"

#define NAME_BYTES 32 /* of the hash */

static void add(SHA2_CTX *sum, const void *bytes, size_t size)
{
	/* Parts next to each other can't be taken for others. */
	SHA256Update(sum, (const uint8_t *)&size, sizeof(size));
	SHA256Update(sum, bytes, size);
}

/* Which file lies there, and since when it is as it is. */
static void add_file(SHA2_CTX *sum, const char *path)
{
	struct stat st;
	uint64_t facts[5] = { 0 };

	if (!stat(path, &st)) {
		facts[0] = st.st_dev;
		facts[1] = st.st_ino;
		facts[2] = (uint64_t)st.st_size;
		facts[3] = (uint64_t)st.st_mtim.tv_sec;
		facts[4] = (uint64_t)st.st_mtim.tv_nsec;
	}
	add(sum, facts, sizeof(facts));
}

static void add_debug_file(SHA2_CTX *sum, const struct index_identity *identity)
{
	char path[64 + 2 * INDEX_BUILD_ID_MAX];
	size_t n = (size_t)snprintf(path, sizeof(path), "/usr/lib/debug/.build-id/");

	for (size_t i = 0; i < identity->build_id_len; i++)
		n += (size_t)snprintf(path + n, sizeof(path) - n, "%02x%s", identity->build_id[i], i ? "" : "/");
	snprintf(path + n, sizeof(path) - n, ".debug");
	add_file(sum, path);
}

/* Returns false: it is not to be kept. */
static bool name_of(
	int fd, const char *path, const char *rules, struct index_identity *identity, char *name, size_t room)
{
	uint8_t hash[SHA256_DIGEST_LENGTH];
	uint32_t version = PLAN_VERSION;
	struct image_name of;
	char *sources;
	SHA2_CTX sum;

	if (!own_is(fd) || image_identify(fd, &of))
		return false;
	free(of.soname);
	*identity = of.identity;
	SHA256Init(&sum);
	add(&sum, &version, sizeof(version));
	add_file(&sum, "/proc/self/exe");
	add(&sum, &of.identity, sizeof(of.identity));
	add(&sum, path, strlen(path));
	add(&sum, rules, strlen(rules));
	add_debug_file(&sum, &of.identity);
	sources = wanted_sources();
	add(&sum, sources, strlen(sources));
	free(sources);
	SHA256Final(hash, &sum);
	for (size_t i = 0, n = 0; i < NAME_BYTES; i++)
		n += (size_t)snprintf(name + n, room - n, "%02x%s", hash[i], i + 1 < NAME_BYTES ? "" : PLAN_SUFFIX);
	return true;
}

static bool take_kept(struct plan_made *made, int at, const char *name)
{
	int fd = openat(at, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct plan_head head;
	struct stat st;

	if (fd < 0)
		return false;
	bool good = own_is(fd) && !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size >= (off_t)sizeof(head) &&
		    st.st_size <= (off_t)PLAN_MAX;
	*made = (struct plan_made){ .bytes = good ? memory_zeroed((size_t)st.st_size, 1) : NULL };
	if (good) {
		made->size = (size_t)st.st_size;
		good = whole_read(fd, made->bytes, made->size, 0);
		memcpy(&head, made->bytes, sizeof(head));
		good &= !memcmp(head.magic, PLAN_MAGIC, sizeof(head.magic)) && head.version == PLAN_VERSION &&
			head.size == made->size;
	}
	if (!good)
		free(made->bytes);
	close(fd);
	return good;
}

int plan_take(struct plan_made *made, int fd, const char *path, const char *rules, const char *folder, int shared)
{
	char name[2 * NAME_BYTES + sizeof(PLAN_SUFFIX)];
	struct index_identity identity;
	bool kept = name_of(fd, path, rules, &identity, name, sizeof(name));
	time_t begun = time(NULL);
	int at = kept && !cache_may_put(folder, shared) ? cache_open(folder) : -1, r = 0;

	if (at < 0 || !take_kept(made, at, name)) {
		r = plan_make(made, fd, path, rules);
		/* What can't be kept is made the next time. */
		if (at >= 0 && !r && !made->said && image_is_still(fd, &identity) &&
			!cache_put_file(at, name, made->bytes, made->size, shared == INDEX_FOR_ALL ? 0644 : 0600))
			cache_trim(folder, begun);
	}
	if (at >= 0)
		close(at);
	return r;
}
