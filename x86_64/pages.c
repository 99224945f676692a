/* SPDX-License-Identifier: MIT */
#include "x86_64/pages.h"

#include <errno.h>	  /* EINVAL */
#include <stdbool.h>
#include <sys/mman.h>	  /* PROT_READ */
#include <sys/prctl.h>	  /* PR_GET_SECCOMP */
#include <sys/resource.h> /* struct rlimit */

#include "x86_64/sys.h"

#define PAGE 4096ul

/* linux/memfd.h's, which old kernel headers lack. */
#define MEMFD_CLOEXEC	  1u
#define MEMFD_NOEXEC_SEAL 8u
#define MEMFD_EXEC	  16u

/* ---- what may be asked for ---- */

/*
 * Has the thread no filter of system calls? A filter may kill for the question; but one that lets us ask for the TSC by
 * the same system call (runtime/process/clock.c) has no reason to. /proc/thread-self/status tells it too, and costs 30
 * us.
 */
static bool is_unfiltered(void)
{
	return sys_call(__NR_prctl, PR_GET_SECCOMP, 0, 0, 0, 0, 0) == 0;
}

bool pages_may_ask(void)
{
	static int known; /* 1: there was no filter; -1: there was one */

	/* Relaxed: a number. */
	int answer = __atomic_load_n(&known, __ATOMIC_RELAXED);
	if (!answer) {
		answer = is_unfiltered() ? 1 : -1;
		__atomic_store_n(&known, answer, __ATOMIC_RELAXED); /* relaxed, as above */
	}
	return answer > 0;
}

/* Protects the page as text that is changed, and as before. Returns whether it may. */
static bool may_change(volatile char *p, bool is_new)
{
	if (sys_mprotect((void *)(uintptr_t)p, PAGE, PROT_READ | PROT_WRITE))
		return false;
	if (is_new)
		p[0] = p[0]; /* a page of our own from here on */
	return sys_mprotect((void *)(uintptr_t)p, PAGE, PROT_READ | PROT_EXEC) == 0;
}

bool pages_may_change(void)
{
	static uint64_t kept; /* a page for which it could; it stays, as making one is three quarters of the time */

	if (!pages_may_ask())
		return false;
	/* Relaxed: what it leads to was written by the thread that made it, which nobody else does. */
	uint64_t before = __atomic_load_n(&kept, __ATOMIC_RELAXED);
	if (before && may_change((volatile char *)(uintptr_t)before, false))
		return true;
	long fd = sys_open("/proc/self/exe", O_RDONLY, 0);
	/* Without /proc, a page without a file tells less: SELinux makes a difference. */
	volatile char *p = sys_mmap(
		NULL, PAGE, PROT_READ | PROT_EXEC, fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_PRIVATE, (int)fd, 0);

	if (fd >= 0)
		sys_close((int)fd);
	if (sys_is_error((const void *)p))
		return false;
	bool may = may_change(p, true);
	uint64_t none = 0;
	/* Relaxed, as above; one of two threads keeps its page. */
	if (!may || !__atomic_compare_exchange_n(
			    &kept, &none, (uint64_t)(uintptr_t)p, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		sys_munmap((void *)(uintptr_t)p, PAGE);
	return may;
}

/* ---- by /proc/self/mem ---- */

int pages_open(void)
{
	return (int)sys_open("/proc/self/mem", O_RDWR, 0);
}

long pages_write(int fd, uint64_t address, const void *bytes, size_t size)
{
	return sys_write_at(fd, bytes, size, address);
}

/* ---- by a memfd ---- */

static long make_file(void)
{
	static const char name[] = "xaudit";
	long fd = sys_call(__NR_memfd_create, (long)name, MEMFD_CLOEXEC | MEMFD_EXEC, 0, 0, 0, 0);

	/* Linux before 6.3; and where vm.memfd_noexec wants them without the right to be run as programs. */
	if (fd == -EINVAL)
		fd = sys_call(__NR_memfd_create, (long)name, MEMFD_CLOEXEC, 0, 0, 0, 0);
	else if (fd == -EACCES)
		fd = sys_call(__NR_memfd_create, (long)name, MEMFD_CLOEXEC | MEMFD_NOEXEC_SEAL, 0, 0, 0, 0);
	return fd;
}

long pages_begin(struct pages *pages, uint64_t low, size_t size)
{
	struct rlimit limit;

	/* Beyond RLIMIT_FSIZE the kernel would kill the program with SIGXFSZ. */
	long r = sys_call(__NR_prlimit64, 0, RLIMIT_FSIZE, 0, (long)&limit, 0, 0);
	if (r == 0 && limit.rlim_cur != RLIM_INFINITY && size > limit.rlim_cur)
		return -EFBIG;
	long fd = make_file();
	if (fd < 0)
		return fd;
	*pages = (struct pages){ low, size, (int)fd };
	r = sys_write_at(pages->fd, (const void *)(uintptr_t)low, size, 0);
	if (r)
		pages_drop(pages);
	return r;
}

long pages_put(const struct pages *pages, uint64_t address, const void *bytes, size_t size)
{
	if (address < pages->low || address - pages->low > pages->size || size > pages->size - (address - pages->low))
		return -EINVAL;
	return sys_write_at(pages->fd, bytes, size, address - pages->low);
}

long pages_end(struct pages *pages, int prot)
{
	void *p = sys_mmap((void *)(uintptr_t)pages->low, pages->size, prot, MAP_PRIVATE | MAP_FIXED, pages->fd, 0);

	pages_drop(pages);
	return sys_is_error(p) ? (long)(intptr_t)p : 0;
}

void pages_drop(struct pages *pages)
{
	sys_close(pages->fd);
	pages->fd = -1;
}

long pages_make_code(uint64_t low, size_t size)
{
	struct pages pages;
	long r = pages_begin(&pages, low, size);

	return r ? r : pages_end(&pages, PROT_READ | PROT_EXEC);
}
