/* SPDX-License-Identifier: MIT */
#include "runtime/files/stderr.h"

#include "runtime/files/broker.h"
#include "runtime/files/output.h"
#include "runtime/files/pool_grow.h" /* pool_may_reach() */
#include "x86_64/confined.h"
#include "x86_64/sys.h"

/* What fd 2 was at the start; nothing if it was closed. */
static struct {
	struct output_place place;
	int open;
} at_start;

void stderr_init(void)
{
	struct stat st;

	at_start.open = !sys_fstat(2, &st);
	if (at_start.open)
		at_start.place = output_of(&st);
}

/* Would a write to fd 2 raise SIGXFSZ? Its place there is its end, or where the last write came to. */
static bool is_too_large(const struct stat *st, size_t length)
{
	long place = sys_call(__NR_lseek, 2, 0, SEEK_CUR, 0, 0, 0);

	place = place > st->st_size ? place : st->st_size;
	return S_ISREG(st->st_mode) && !pool_may_reach((uint64_t)place + length);
}

void stderr_write(const char *line, size_t length)
{
	struct stat st;

	if (confined() || !at_start.open || sys_fstat(2, &st) || !output_is(&st, &at_start.place))
		return;
	if (!is_too_large(&st, length) && sys_may_write(2))
		sys_write(2, line, length);
}

bool stderr_is_users(void)
{
	struct output_place users;

	return !broker_stderr(&users) || (at_start.open && at_start.place.device == users.device &&
						 at_start.place.inode == users.inode);
}
