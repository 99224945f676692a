/* SPDX-License-Identifier: MIT */
/* Reading and writing files of a snapshot. */
#include <errno.h> /* EINTR */

#include "runtime/snapshot/parts.h"
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

long snapshot_write(struct copy *c, int fd, const void *from, uint64_t size, uint64_t at)
{
	for (uint64_t done = 0; done < size;) {
		long n = sys_call(
			__NR_pwrite64, fd, (long)from + (long)done, (long)(size - done), (long)(at + done), 0, 0);
		if (n == -EINTR)
			continue;
		if (n <= 0)
			return n ? n : -ENOSPC;
		done += (uint64_t)n;
	}
	c->copied->bytes += size;
	return 0;
}
