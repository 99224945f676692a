/* SPDX-License-Identifier: MIT */
/* Reading and writing files of a snapshot. */
#define _GNU_SOURCE /* SEEK_DATA */
#include "runtime/snapshot/sparse_file.h"

#include <errno.h>	  /* EINTR */
#include <sys/resource.h> /* RLIMIT_FSIZE */
#include <unistd.h>	  /* SEEK_DATA */

#include "runtime/files/output.h"
#include "runtime/snapshot/state.h"
#include "x86_64/sys.h"

long snapshot_read(int fd, void *to, uint64_t size, uint64_t at)
{
	uint64_t done = 0;

	while (done < size) {
		long n =
			sys_call(__NR_pread64, fd, (long)to + (long)done, (long)(size - done), (long)(at + done), 0, 0);
		if (n == -EINTR)
			continue;
		if (n < 0)
			return n;
		if (n == 0)
			break;
		done += (uint64_t)n;
	}
	return (long)done;
}

static void rest(const struct copy *c)
{
	if (c->rest)
		c->rest();
}

long snapshot_make_file(const struct copy *c, const char *name)
{
	long fd = output_make_file(c->to, name);

	rest(c);
	return fd;
}

long snapshot_write(struct copy *c, int fd, const void *from, uint64_t size, uint64_t at)
{
	if (at > c->size_most || size > c->size_most - at)
		return -EFBIG;
	long r = sys_write_at(fd, from, size, at);
	if (!r)
		c->copied->bytes += size;
	rest(c);
	return r;
}

uint64_t snapshot_size_most(void)
{
	struct rlimit limit;

	return sys_call(__NR_prlimit64, 0, RLIMIT_FSIZE, 0, (long)&limit, 0, 0) ? UINT64_MAX : limit.rlim_cur;
}

uint64_t snapshot_data(int fd, uint64_t at)
{
	long data = sys_call(__NR_lseek, fd, (long)at, SEEK_DATA, 0, 0, 0);

	return data >= 0 ? (uint64_t)data : data == -ENXIO ? UINT64_MAX : at;
}

uint64_t snapshot_amount(int fd)
{
	uint64_t amount = 0;
	long end = sys_call(__NR_lseek, fd, 0, SEEK_END, 0, 0, 0), hole;

	for (uint64_t at = snapshot_data(fd, 0); end > 0 && at < (uint64_t)end;
		at = snapshot_data(fd, (uint64_t)hole)) {
		hole = sys_call(__NR_lseek, fd, (long)at, SEEK_HOLE, 0, 0, 0);
		hole = hole > (long)at && hole < end ? hole : end;
		amount += (uint64_t)hole - at;
	}
	return amount;
}
