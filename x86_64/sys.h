/* SPDX-License-Identifier: MIT */
/*
 * System calls and a few byte operations without libc, for code that program threads may run at any moment.
 *
 * Nothing here touches errno, TLS, vector registers or the heap; all of it is async-signal-safe. System calls return
 * the kernel's value: -errno on failure. The C files that use it on threads' paths are compiled with
 * -mgeneral-regs-only, and a test (t/calls/runtime-imports.t) checks that their objects import no libc function.
 */
#ifndef XAUDIT_X86_64_SYS_H
#define XAUDIT_X86_64_SYS_H

#include <errno.h>	 /* ESRCH */
#include <fcntl.h>	 /* AT_FDCWD */
#include <poll.h>	 /* struct pollfd */
#include <stdbool.h>
#include <stddef.h>	 /* size_t */
#include <stdint.h>	 /* int64_t */
#include <sys/mman.h>	 /* MAP_PRIVATE */
#include <sys/stat.h>	 /* struct stat */
#include <sys/syscall.h> /* __NR_mmap */
#include <time.h>	 /* struct timespec */

/*
 * For a static array of several pages: puts it after all small data (libxaudit_la_LDFLAGS sort sections by name), so
 * that a start touches few pages of that.
 */
#define SYS_LARGE __attribute__((section(".bss.large")))

static inline long sys_call(long nr, long a, long b, long c, long d, long e, long f)
{
	long r;
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	__asm__ volatile("syscall"
			 : "=a"(r)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return r;
}

static inline bool sys_is_error(const void *p)
{
	return (uintptr_t)p > (uintptr_t)-4096;
}

static inline void *sys_mmap(void *at, size_t size, int prot, int flags, int fd, int64_t offset)
{
	return (void *)sys_call(__NR_mmap, (long)at, (long)size, prot, flags, fd, offset);
}

static inline long sys_munmap(void *at, size_t size)
{
	return sys_call(__NR_munmap, (long)at, (long)size, 0, 0, 0, 0);
}

/* Maps zeros, privately, at this address and nowhere else. Returns 0, or a negative errno: -EEXIST if it is taken. */
static inline long sys_mmap_at(void *at, size_t size, int prot)
{
	void *p = sys_mmap(at, size, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

	if (sys_is_error(p))
		return (long)p;
	if (p == at)
		return 0;
	sys_munmap(p, size); /* a kernel before 4.17 takes the address for a hint */
	return -EEXIST;
}

static inline long sys_mprotect(void *at, size_t size, int prot)
{
	return sys_call(__NR_mprotect, (long)at, (long)size, prot, 0, 0, 0);
}

static inline long sys_madvise(void *at, size_t size, int advice)
{
	return sys_call(__NR_madvise, (long)at, (long)size, advice, 0, 0, 0);
}

static inline long sys_open(const char *path, int flags, int mode)
{
	return sys_call(__NR_openat, AT_FDCWD, (long)path, flags | O_CLOEXEC, mode, 0, 0);
}

static inline long sys_close(int fd)
{
	return sys_call(__NR_close, fd, 0, 0, 0, 0, 0);
}

static inline long sys_read(int fd, void *buffer, size_t size)
{
	return sys_call(__NR_read, fd, (long)buffer, (long)size, 0, 0, 0);
}

static inline long sys_write(int fd, const void *buffer, size_t size)
{
	return sys_call(__NR_write, fd, (long)buffer, (long)size, 0, 0, 0);
}

/* Writes all of it, at its place in a file. Returns 0 or -errno. */
static inline long sys_write_at(int fd, const void *from, size_t size, uint64_t at)
{
	for (size_t done = 0; done < size;) {
		long r = sys_call(
			__NR_pwrite64, fd, (long)from + (long)done, (long)(size - done), (long)(at + done), 0, 0);
		if (r == -EINTR)
			continue;
		if (r <= 0)
			return r ? r : -ENOSPC;
		done += (size_t)r;
	}
	return 0;
}

static inline long sys_fstat(int fd, struct stat *st)
{
	return sys_call(__NR_fstat, fd, (long)st, 0, 0, 0, 0);
}

static inline long sys_stat(const char *path, struct stat *st)
{
	return sys_call(__NR_newfstatat, AT_FDCWD, (long)path, (long)st, 0, 0, 0);
}

/* Does the file take a short write now, without waiting, and without SIGPIPE? */
static inline bool sys_may_write(int fd)
{
	struct pollfd file = { .fd = fd, .events = POLLOUT };

	return sys_call(__NR_poll, (long)&file, 1, 0, 0, 0, 0) == 1 && file.revents == POLLOUT;
}

static inline long sys_gettid(void)
{
	return sys_call(__NR_gettid, 0, 0, 0, 0, 0, 0);
}

/*
 * Has the kernel copy bytes of the process's own memory, which may not be there: returns whether they all were. A
 * filter of system calls may kill for that. By the thread's number: the process's is of no use when its first thread
 * has ended.
 */
static inline bool sys_copy_asked(void *to, uint64_t from, size_t size)
{
	const struct {
		uint64_t at, size;
	} here = { (uint64_t)(uintptr_t)to, size }, there = { from, size }; /* struct iovec */

	return sys_call(__NR_process_vm_readv, sys_gettid(), (long)&here, 1, (long)&there, 1, 0) == (long)size;
}

/* Name of the calling thread: 16 bytes, with NULs behind it. Returns 0 or -errno. */
static inline long sys_thread_name(void *to)
{
	return sys_call(__NR_prctl, 16 /* PR_GET_NAME */, (long)to, 0, 0, 0, 0);
}

static inline long sys_getpid(void)
{
	return sys_call(__NR_getpid, 0, 0, 0, 0, 0, 0);
}

/* Does the processor check returns of the calling thread against a shadow stack (CET)? */
static inline bool sys_has_shadow_stack(void)
{
	const int shadow_stack_status = 0x5005; /* ARCH_SHSTK_STATUS */
	uint64_t features = 0;

	return sys_call(__NR_arch_prctl, shadow_stack_status, (long)&features, 0, 0, 0, 0) == 0 && (features & 1);
}

/* Sets the calling thread's mask of blocked signals, and returns the old mask in *before, unless that is NULL. */
static inline void sys_set_signals(const uint64_t *wanted, uint64_t *before)
{
	sys_call(__NR_rt_sigprocmask, 2 /* SIG_SETMASK */, (long)wanted, (long)before, 8, 0, 0);
}

/*
 * Blocks all signals but SIGSYS for the calling thread, and returns the old mask in *before. The kernel ends a thread
 * that blocks SIGSYS where a filter of system calls answers by a trap (x86_64/confined.h).
 */
static inline void sys_block_signals(uint64_t *before)
{
	static const uint64_t most = ~(1ull << (31 - 1)); /* SIGSYS */

	sys_set_signals(&most, before);
}

/*
 * memcpy and memset under names that the compiler does not turn into calls of libc's. Few bytes go by four words at a
 * time: the instruction takes longer to begin.
 */
static inline void sys_copy(void *to, const void *from, size_t size)
{
	typedef uint64_t word __attribute__((aligned(1), may_alias));
	word *p = to;
	const word *q = from;

	if (size > 512) {
		__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory");
		return;
	}
	for (; size >= 4 * sizeof(*p); size -= 4 * sizeof(*p), p += 4, q += 4) {
		word a = q[0], b = q[1], c = q[2], d = q[3];
		p[0] = a;
		p[1] = b;
		p[2] = c;
		p[3] = d;
		__asm__ volatile("" : : : "memory"); /* or the compiler calls memcpy */
	}
	for (; size >= sizeof(*p); size -= sizeof(*p)) {
		*p++ = *q++;
		__asm__ volatile("" : : : "memory"); /* as above */
	}
	for (size_t i = 0; i < size; i++) {
		((unsigned char *)p)[i] = ((const unsigned char *)q)[i];
		__asm__ volatile("" : : : "memory"); /* as above */
	}
}

/* 32 bits at any address. */
static inline void sys_put32(void *to, uint32_t value)
{
	typedef uint32_t word __attribute__((aligned(1), may_alias));

	*(word *)to = value;
}

static inline void sys_fill(void *to, int byte, size_t size)
{
	__asm__ volatile("rep stosb" : "+D"(to), "+c"(size) : "a"(byte) : "memory");
}

/* Stores the word that many times. */
static inline void sys_fill_words(void *to, uint64_t word, size_t words)
{
	__asm__ volatile("rep stosq" : "+D"(to), "+c"(words) : "a"(word) : "memory");
}

static inline size_t sys_length(const char *s)
{
	size_t n = 0;
	while (s[n])
		n++;
	return n;
}

static inline bool sys_same(const void *a, const void *b, size_t size)
{
	const unsigned char *p = a, *q = b;
	for (size_t i = 0; i < size; i++)
		if (p[i] != q[i])
			return false;
	return true;
}

static inline bool sys_same_text(const char *a, const char *b)
{
	size_t n = sys_length(a);

	return n == sys_length(b) && sys_same(a, b, n);
}

#endif
