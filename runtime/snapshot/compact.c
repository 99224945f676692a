/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* SEEK_DATA, F_SETSIG */
#include "runtime/snapshot/compact.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h> /* SIGURG */
#include <stdbool.h>
#include <sys/mman.h> /* MAP_SHARED */
#include <unistd.h>   /* SEEK_DATA */

#include "format/compact.h"
#include "runtime/base/identity.h"
#include "runtime/files/broker.h"
#include "runtime/files/family.h"
#include "runtime/files/output.h"
#include "runtime/files/pool_grow.h"
#include "runtime/files/pool_make.h"
#include "runtime/process/process.h"
#include "runtime/process/thread.h"
#include "x86_64/confined.h"
#include "x86_64/sys.h"

#define NEW	  "compact"   /* its name, until it is complete */
#define LIFE	  50000000ull /* ns: a shorter life is not made longer by a copy, which takes 0.15 ms */
#define LIFE_BYTE 32	      /* ns of it for each byte on disk: to copy one takes about 1 ns */
#define MOST	  (64ll << 20) /* bytes on disk */
#define EXTENTS	  4096ul
#define HEADS	  (sizeof(struct compact_head) + EXTENTS * sizeof(struct compact_extent))

/* A file that is open. The descriptor may be the program's by now: so it is compared with the place before each use. */
struct file {
	int fd;
	struct output_place place;
	uint64_t size;
};

/* Would it pay, after so many ns of life? */
static bool pays(struct file *meta, uint64_t life)
{
	struct stat st;

	if (sys_fstat(meta->fd, &st) || !output_is(&st, &meta->place))
		return false;
	int64_t disk = st.st_blocks * 512ll;
	meta->size = (uint64_t)st.st_size;
	return disk <= MOST && disk * LIFE_BYTE <= (int64_t)life && st.st_size > disk + disk / 2;
}

/*
 * Has nobody but us the file open to write, or mapped? The kernel grants a lease only then: to who asks for it by a
 * descriptor and has no mapping any more.
 */
static bool is_ours_alone(const struct file *meta, bool is_shared)
{
	/* Who opens it meanwhile waits until it is given back. Of that a signal tells which does nothing by itself. */
	const struct f_owner_ex own = { F_OWNER_TID, (int)sys_call(__NR_gettid, 0, 0, 0, 0, 0, 0) };
	int fd = meta->fd;

	if (output_check(fd, &meta->place))
		return false;
	sys_call(__NR_fcntl, fd, F_SETOWN_EX, (long)&own, 0, 0, 0);
	sys_call(__NR_fcntl, fd, F_SETSIG, SIGURG, 0, 0, 0);
	long r = sys_call(__NR_fcntl, fd, F_SETLEASE, F_WRLCK, 0, 0, 0);
	if (!r)
		sys_call(__NR_fcntl, fd, F_SETLEASE, F_UNLCK, 0, 0, 0);
	/* Where there are no leases, who has not forked is alone. */
	return !r || (r != -EAGAIN && !is_shared);
}

/* Returns how many extents there are, or -errno. */
static long find_extents(int fd, uint64_t size, struct compact_extent *extent)
{
	unsigned n = 0;

	for (uint64_t at = 0; at < size; n++) {
		long data = sys_call(__NR_lseek, fd, (long)at, SEEK_DATA, 0, 0, 0);
		if (data == -ENXIO)
			break;
		long hole = data < 0 ? data : sys_call(__NR_lseek, fd, data, SEEK_HOLE, 0, 0, 0);
		if (hole < 0)
			return hole;
		if (n == EXTENTS)
			return -E2BIG;
		extent[n] = (struct compact_extent){ (uint64_t)data, (uint64_t)hole };
		at = (uint64_t)hole;
	}
	return n;
}

static long put(const struct file *to, const void *from, uint64_t size, uint64_t at)
{
	long r = output_check(to->fd, &to->place);

	return r ? r : sys_write_at(to->fd, from, size, at);
}

static long put_all(const struct file *meta, const uint8_t *from, struct compact_head *head, const struct file *to)
{
	struct compact_extent *extent = (void *)(head + 1);
	long n = find_extents(meta->fd, meta->size, extent);

	if (n < 0)
		return n;
	sys_copy(head->magic, COMPACT_MAGIC, sizeof(head->magic));
	head->version = COMPACT_VERSION;
	head->head_size = sizeof(*head);
	head->size = meta->size;
	head->extents = (uint64_t)n;
	uint64_t at = sizeof(*head) + (uint64_t)n * sizeof(*extent), end = at;
	for (long i = 0; i < n; i++)
		end += extent[i].end - extent[i].begin;
	if (!pool_may_reach(end))
		return -EFBIG;
	long r = put(to, head, at, 0);
	for (long i = 0; i < n && !r; i++) {
		uint64_t bytes = extent[i].end - extent[i].begin;
		r = put(to, from + extent[i].begin, bytes, at);
		at += bytes;
	}
	return r;
}

/* By way of a mapping, so that nothing is copied twice. */
static long copy(const struct file *meta, const struct file *to)
{
	uint8_t *from = sys_mmap(NULL, meta->size, PROT_READ, MAP_SHARED | MAP_NORESERVE, meta->fd, 0);

	if (sys_is_error(from))
		return (long)(intptr_t)from;
	struct compact_head *head = sys_mmap(NULL, HEADS, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long r = sys_is_error(head) ? (long)(intptr_t)head : put_all(meta, from, head, to);
	if (!sys_is_error(head))
		sys_munmap(head, HEADS);
	sys_munmap(from, meta->size);
	return r;
}

/* Where anything fails, the file stays as it is. */
static void replace(const struct file *meta, int folder)
{
	struct file to;
	struct stat st;

	to.fd = family_open(NEW, 1, &to.place);
	if (to.fd < 0)
		return;
	/* Not one that another process makes at this moment, or did not finish. */
	if (!sys_fstat(to.fd, &st) && output_is(&st, &to.place) && !st.st_size) {
		long r = copy(meta, &to);
		if (!r)
			r = sys_call(__NR_renameat, folder, (long)NEW, folder, (long)"meta", 0, 0);
		if (r)
			sys_call(__NR_unlinkat, folder, (long)NEW, 0, 0, 0, 0);
	}
	output_close(to.fd, &to.place);
}

/* Lock held. */
static void make(struct file *meta, uint64_t life)
{
	struct output_place at;
	bool is_shared = pool_is_shared();
	int folder = family_open_folder();

	if (folder < 0)
		return;
	if (!output_place(folder, &at)) {
		if (pays(meta, life) && thread_forget_all() && !process_leave(true) && is_ours_alone(meta, is_shared))
			replace(meta, folder);
		output_close(folder, &at);
	}
}

/* Lock held. */
static void at_exit(void)
{
	const struct trace_head *head = process_head();
	struct output_place trace;
	struct file meta;

	/* What others may have written there can only have it done or not. */
	uint64_t life = head->last.mono - head->first.mono;
	if (life < LIFE || life > INT64_MAX || broker_place(&trace))
		return;
	meta.fd = pool_open_meta(&meta.place);
	if (meta.fd < 0)
		return;
	make(&meta, life);
	output_close(meta.fd, &meta.place);
}

void compact_at_exit(void)
{
	struct process_held held;

	if (confined() || !pool_is_open() || process_is_inside() || !identity_is_ours())
		return;
	process_lock(&held);
	if (pool_is_open() && process_state() == PROCESS_ON && process_head())
		at_exit();
	process_unlock(&held);
}
