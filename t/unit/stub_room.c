#define _GNU_SOURCE
/* SPDX-License-Identifier: MIT */
/* Room kept for blocks of stubs: what is taken, given back, and left to the program. */
#include "t/lib/tap.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "t/lib/core.h"
#include "x86_64/contract.h"
#include "x86_64/stub.h"
#include "x86_64/stub_room.h"

#define PAGE 4096ul
#define UNIT (64ul << 10)
#define MIB  (1ul << 20)
#define ROOM (384 * MIB)

static uint64_t below; /* nothing lies less than 500 MiB away: room for what sanitizers map meanwhile */

static uint64_t find_addresses(void)
{
	void *p = mmap(NULL, 1024 * MIB, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED || munmap(p, 1024 * MIB))
		bail("no range of addresses");
	return ((uint64_t)(uintptr_t)p + 512 * MIB) & -MIB;
}

static int is(uint64_t at, const char *protection)
{
	return !strcmp(core_protection(at), protection);
}

static int is_taken(uint64_t at, size_t size)
{
	return stub_room_take(at, size) == (uint8_t *)(uintptr_t)at && is(at, "rw-p");
}

/* Is what is mapped there left out of cores, by the debugger's, too? */
static int is_left_out(uint64_t at)
{
	char line[512];
	int here = 0, out = 0;
	FILE *maps = fopen("/proc/self/smaps", "re");

	if (!maps)
		bail("/proc/self/smaps");
	while (fgets(line, sizeof(line), maps)) {
		unsigned long low, high;
		if (sscanf(line, "%lx-%lx ", &low, &high) == 2)
			here = at >= low && at < high;
		else if (here && !strncmp(line, "VmFlags:", 8))
			out = strstr(line, " dd") != NULL;
	}
	fclose(maps);
	return out;
}

/* As the program does, at this address or not at all. */
static int can_map(uint64_t at, size_t size)
{
	void *p = mmap((void *)(uintptr_t)at, size, PROT_NONE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

	if (p != MAP_FAILED)
		munmap(p, size);
	return p == (void *)(uintptr_t)at;
}

static void occupy(uint64_t at)
{
	mmap((void *)(uintptr_t)at, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
}

/* ---- in a child each, which has no room yet ---- */

static int less(void)
{
	occupy(below - ROOM);
	stub_room_keep(below);
	if (stub_room_take(below - ROOM / 2 - UNIT, PAGE) || !is_taken(below - ROOM / 2, PAGE))
		return 1;
	return can_map(below - ROOM + UNIT, PAGE) && !can_map(below - UNIT, PAGE) ? 0 : 2;
}

static int none(void)
{
	for (uint64_t size = ROOM; size >= 16 * MIB; size /= 2)
		occupy(below - size);
	stub_room_keep(below);
	return !stub_room_take(below - UNIT, PAGE) && can_map(below - UNIT, PAGE) ? 0 : 1;
}

static int limited(void)
{
	struct rlimit limit = { 1ul << 62, 1ul << 62 };

	if (setrlimit(RLIMIT_AS, &limit))
		return 77;
	stub_room_keep(below);
	return !stub_room_take(below - UNIT, PAGE) && can_map(below - ROOM, ROOM) ? 0 : 1;
}

static int nowhere(void)
{
	stub_room_keep(100 * MIB);
	stub_room_keep(below);
	return stub_room_take(below - UNIT, PAGE) ? 1 : 0;
}

static int shrunk(void)
{
	stub_room_shrink();
	stub_room_keep(below);
	return !stub_room_take(below - UNIT, PAGE) && can_map(below - ROOM, ROOM) ? 0 : 1;
}

/* It is no program's to unmap or to map over; but one that does loses nothing. */
static int not_ours(void)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
	uint64_t at = below - 16 * MIB, size = 3 * MIB;
	uint8_t *last = (uint8_t *)(uintptr_t)(at + size - PAGE);

	stub_room_keep(below);
	if (munmap(last, PAGE) || stub_room_take(at, size) || !is(at, "---p"))
		return 1;
	if (mmap(last, PAGE, PROT_READ | PROT_WRITE, flags, -1, 0) != last)
		return 2;
	*last = 7;
	if (stub_room_take(at, size) || *last != 7)
		return 3;
	return is_taken(at, size - PAGE) ? 0 : 4;
}

/* A filter that kills for all of these but munmap. */
static int closes_under_filter(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_mmap, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_mincore, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_mprotect, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog filter = { sizeof(code) / sizeof(*code), code };
	struct stub_pages block = { .size = PAGE };

	stub_room_keep(below);
	block.start = stub_room_take(below - UNIT, PAGE);
	if (!block.start)
		return 1;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
		return 77;
	tramp_confined = 1;
	uint8_t *at = block.start;
	stub_unmap(&block);
	if (!msync(at, PAGE, MS_ASYNC) || errno != ENOMEM)
		return 2;
	return stub_room_take((uint64_t)(uintptr_t)at, PAGE) ? 3 : 0;
}

static void check(int (*scenario)(void), const char *what)
{
	int status;
	pid_t child = fork();

	if (child == 0)
		_exit(scenario());
	if (child < 0 || waitpid(child, &status, 0) != child)
		bail("no child");
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip(1, "%s: not here", what);
	else
		is_int(status, 0, "%s", what);
}

/* ---- in this process ---- */

static void test_room(void)
{
	uint64_t at = below - 100 * MIB;
	uint8_t *p = (uint8_t *)(uintptr_t)at;

	ok(!stub_room_take(at, PAGE), "nothing is taken where no room is kept");
	stub_room_keep(below);
	ok(is(below - ROOM, "---p") && is(below - PAGE, "---p"), "384 MiB are kept, without access");
	ok(can_map(below - ROOM - PAGE, PAGE) && can_map(below, PAGE), "and no more");
	ok(is_left_out(below - ROOM) && is_left_out(below - PAGE), "no core has them");
	stub_room_keep(below - ROOM);
	ok(can_map(below - ROOM - PAGE, PAGE), "once");
	ok(!can_map(at, PAGE), "the program gets none of it");
	ok(is_taken(at + PAGE, 2 * PAGE), "two pages are taken");
	p[PAGE] = p[3 * PAGE - 1] = 1;
	ok(is(at, "---p") && is(at + 3 * PAGE, "---p"), "not what lies beside them");
	ok(!stub_room_take(at + PAGE, PAGE) && !stub_room_take(at - UNIT, 2 * UNIT) &&
			!stub_room_take(at + 8 * PAGE, PAGE),
		"they are not taken twice, nor what is less than 64 KiB away");
	ok(is_taken(at + UNIT, UNIT + PAGE), "the next ones are");
	ok(!stub_room_take(at + 2 * UNIT + PAGE, PAGE), "all of them");
	ok(!stub_room_take(below - PAGE, 2 * PAGE) && !stub_room_take(below - ROOM - PAGE, 2 * PAGE) &&
			!stub_room_take(below, PAGE),
		"nothing outside");
	ok(is_taken(below - PAGE, PAGE) && is_taken(below - ROOM, PAGE), "its first page is, and its last one");
	is_int(stub_room_give(p + PAGE, 2 * PAGE), 1, "what was taken is given back");
	ok(is(at + PAGE, "---p") && !can_map(at + PAGE, PAGE), "to the room");
	ok(is_left_out(at + PAGE) && !is_left_out(at + UNIT), "and out of cores, which have what is taken");
	ok(is_taken(at + PAGE, PAGE) && p[PAGE] == 0, "and can be taken again");
	is_int(stub_room_give((uint8_t *)(uintptr_t)(below + PAGE), PAGE), 0,
		"what does not lie there is not taken from it");
}

static void test_blocks(void)
{
	uint64_t text = (below + 100 * MIB) & -PAGE, wanted = below - 200 * MIB;
	const struct stub_place place = { wanted - 2 * MIB, wanted, wanted + 2 * MIB };
	struct stub_pages first, second;

	stub_map_copies(&first, &place, text, text + PAGE, 10, 0);
	stub_map_copies(&second, &place, text, text + PAGE, 10, 0);
	is_int((long long)(uintptr_t)first.start, (long long)wanted, "a block of stubs is taken from it");
	is_int((long long)(uintptr_t)second.start, (long long)(wanted + MIB), "another one beside that");
	stub_unmap(&first);
	ok(is(wanted, "---p") && is(wanted + MIB, "rw-p"), "and given back to it");
	stub_room_shrink();
	ok(can_map(below - ROOM + UNIT, 100 * MIB) && can_map(wanted, MIB),
		"where addresses become few, what is not taken is the program's");
	ok(is(wanted + MIB, "rw-p"), "what is taken stays");
	ok(!stub_room_take(wanted, PAGE), "nothing more is");
	stub_unmap(&second);
	ok(can_map(wanted + MIB, PAGE), "and nothing is given back to it");
}

int main(void)
{
	below = find_addresses();
	check(less, "where something lies in its lower half, that half is left out");
	check(none, "where something lies everywhere, none is kept");
	check(limited, "nor where addresses are limited");
	check(nowhere, "nor at low addresses, nor later");
	check(shrunk, "nor once addresses became few");
	check(not_ours, "what the program has in the room is left alone");
	check(closes_under_filter, "under a filter, what was taken is unmapped");
	test_room();
	test_blocks();
	return done_testing();
}
