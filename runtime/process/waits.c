/* SPDX-License-Identifier: MIT */
#include "runtime/process/waits.h"

#include <stdbool.h>

#include "runtime/base/identity.h"
#include "runtime/base/text.h"
#include "x86_64/sys.h"

#define PART	   192 /* bytes that are read at a time */
#define PARTS	   512 /* of the list of children: a thread with more of them waits for none */
#define SCORE	   100 /* of a process that may be a victim, and is none by accident of rounding */
#define LEAST_BIAS (-900)

/* Opens a file of the thread's in /proc; tid 0: of the caller's own process. Returns a descriptor, or -errno. */
static int open_proc(uint32_t tid, const char *name)
{
	char buffer[80];
	struct text path = { buffer, sizeof(buffer), 0 };

	text_string(&path, "/proc/");
	if (tid) {
		text_number(&path, identity_pid());
		text_string(&path, "/task/");
		text_number(&path, tid);
	} else {
		text_string(&path, "self");
	}
	text_string(&path, "/");
	text_string(&path, name);
	return (int)sys_open(buffer, O_RDONLY, 0);
}

/* Its first bytes; returns how many. */
static long read_proc(uint32_t tid, const char *name, char part[PART])
{
	int fd = open_proc(tid, name);

	if (fd < 0)
		return 0;
	long n = sys_read(fd, part, PART);
	sys_close(fd);
	return n > 0 ? n : 0;
}

/* A number that the file consists of; `otherwise` where there is none. */
static long number_in(uint32_t tid, const char *name, long otherwise)
{
	char part[PART];
	long n = read_proc(tid, name, part), value = 0, at = 0;
	int below = n > 0 && part[0] == '-';

	for (at = below; at < n && part[at] >= '0' && part[at] <= '9' && value < 1000000; at++)
		value = 10 * value + part[at] - '0';
	return at == below ? otherwise : below ? -value : value;
}

/* "D", for a wait that no signal but a deadly one ends. */
static bool is_waiting(uint32_t tid)
{
	char part[PART];
	long n = read_proc(tid, "stat", part), name = 0;

	for (long i = 0; i < n; i++)
		if (part[i] == ')')
			name = i; /* its end; a name may hold such itself */
	return name && name + 2 < n && part[name + 2] == 'D';
}

/* Are our numbers those of /proc? Another namespace of processes may be mounted there. */
static bool is_own_proc(uint32_t pid)
{
	char part[PART];
	uint64_t value = 0;
	long n = sys_call(__NR_readlinkat, AT_FDCWD, (long)"/proc/self", (long)part, sizeof(part), 0, 0);

	for (long i = 0; i < n; i++)
		value = 10 * value + (uint64_t)(part[i] - '0');
	return value == pid;
}

static bool is_child(uint32_t tid, uint32_t pid)
{
	char part[PART];
	uint64_t value = 0;
	int fd = open_proc(tid, "children"), is = 0;

	if (fd < 0)
		return false;
	for (int parts = 0; parts < PARTS && !is; parts++) {
		long n = sys_read(fd, part, sizeof(part));
		if (n <= 0)
			break;
		/* Each ends with a space. */
		for (long i = 0; i < n && !is; i++) {
			is = part[i] == ' ' && value == pid;
			value = part[i] == ' ' ? 0 : 10 * value + (uint64_t)(part[i] - '0');
		}
	}
	sys_close(fd);
	return is;
}

/* Does a score of 0 mean that somebody waits? Then it is asked once more, since the others' may have changed. */
static bool has_meaning(uint32_t tid)
{
	return number_in(0, "oom_score_adj", LEAST_BIAS) > LEAST_BIAS && number_in(tid, "oom_score", 0) >= SCORE &&
	       !number_in(0, "oom_score", -1);
}

bool waits_for_caller(uint32_t tid)
{
	static uint32_t known; /* the last task that was waited for: of this one most is known. Relaxed */
	uint32_t pid = (uint32_t)sys_getpid();
	int again = __atomic_load_n(&known, __ATOMIC_RELAXED) == pid; /* relaxed, as said */

	/* In this order: see the header. The first question is that which strangers as a rule don't pass. */
	if ((!again && !(is_waiting(tid) && is_own_proc(pid))) || !is_child(tid, pid) ||
		number_in(0, "oom_score", -1) || (!again && !has_meaning(tid)))
		return false;
	__atomic_store_n(&known, pid, __ATOMIC_RELAXED); /* relaxed, as said */
	return true;
}

static uint64_t hexadecimal(const char *text, long n)
{
	uint64_t value = 0;

	for (long i = 2; i < n; i++) /* after 0x */
		value = value << 4 | (uint64_t)(text[i] <= '9' ? text[i] - '0' : text[i] - 'a' + 10);
	return value;
}

uint64_t waits_where(uint32_t tid)
{
	char part[PART];
	uint64_t before;
	long begin[2] = { 0, 0 };

	/* A handler that jumps away would leave the file open. */
	sys_block_signals(&before);
	/* The call's number, its arguments, the stack pointer and the address, with spaces between; or "running". */
	long n = is_own_proc((uint32_t)sys_getpid()) ? read_proc(tid, "syscall", part) : 0;
	sys_set_signals(&before, NULL);
	for (long i = 0; i < n; i++)
		if (part[i] == ' ') {
			begin[0] = begin[1];
			begin[1] = i + 1;
		}
	return begin[0] ? hexadecimal(part + begin[0], begin[1] - 1 - begin[0]) : 0;
}
