/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* F_OFD_GETLK */
#include "runtime/process/execute_look.h"

#include <elf.h>
#include <errno.h> /* EFAULT */
#include <fcntl.h> /* AT_FDCWD */
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>	 /* S_ISUID */
#include <sys/statfs.h>	 /* struct statfs */
#include <sys/statvfs.h> /* ST_NOSUID */

#include "format/trace.h"
#include "x86_64/elf.h"
#include "x86_64/sys.h"

#define SCRIPTS	 4	/* interpreters of interpreters, as many as the kernel takes */
#define LINE	 256	/* bytes of a script's first line, as many as the kernel reads */
#define PATH_MOST 4096	/* bytes of a path, as many as the kernel takes */
#define KEPT_OPEN 4

/* Was there a filter of system calls at the start? Set before the program runs. */
static bool filtered;
/*
 * Files that stay open, by their inode and device: see keep_open(). A pair is stored and read by atomic operations,
 * word by word: whoever sees half a pair closes a descriptor too many, or looks at a file too few.
 */
static struct {
	uint64_t inode, device;
} kept[KEPT_OPEN];

void execute_look_init(void)
{
	filtered = sys_call(__NR_prctl, PR_GET_SECCOMP, 0, 0, 0, 0, 0) != SECCOMP_MODE_DISABLED;
}

bool execute_is_filtered(void)
{
	return filtered;
}

/* ---- memory ---- */

/*
 * A filter that was there at the start may kill for a call as rare as process_vm_readv(): those of services do. So
 * rt_sigprocmask(), which nobody forbids, is asked whether the memory is there: it reads the mask before it refuses
 * what to do with it.
 */
static bool is_there(uint64_t at)
{
	const long nothing = -1;

	return sys_call(__NR_rt_sigprocmask, nothing, (long)at, 0, 8, 0, 0) != -EFAULT;
}

bool execute_copy(void *to, uint64_t from, size_t size)
{
	if (!filtered)
		return sys_copy_asked(to, from, size);
	if (from + size < from)
		return false;
	/* Not by its first word: at address 0 that would be no mask. */
	for (uint64_t page = from & ~4095ull; page < from + size; page += 4096)
		if (!is_there(page + 8))
			return false;
	sys_copy(to, (const void *)(uintptr_t)from, size);
	return true;
}

bool execute_copy_text(char *to, uint64_t from, size_t size)
{
	for (size_t done = 0; done + 1 < size;) {
		size_t n = 4096 - (from + done) % 4096;
		if (n > size - 1 - done)
			n = size - 1 - done;
		if (!execute_copy(to + done, from + done, n))
			return false;
		for (size_t end = done + n; done < end; done++)
			if (!to[done])
				return true;
	}
	to[size - 1] = '\0';
	return true;
}

/* ---- names ---- */

bool execute_name(struct execute_file *file, uint64_t path)
{
	char piece[64];
	size_t n = 0;

	sys_fill(file, 0, sizeof(*file));
	file->folder = AT_FDCWD;
	file->path = path;
	for (size_t at = 0; at < PATH_MOST; at += sizeof(piece) - 1) {
		if (!execute_copy_text(piece, path + at, sizeof(piece)))
			return false;
		if (!at) {
			file->is_empty = !piece[0];
			file->is_absolute = piece[0] == '/';
		}
		for (size_t i = 0; i + 1 < sizeof(piece); i++) {
			if (!piece[i]) {
				file->name[n] = '\0';
				return true;
			}
			if (piece[i] == '/') {
				file->has_slash = true;
				n = 0;
			} else if (n + 1 < sizeof(file->name)) {
				file->name[n++] = piece[i];
			}
		}
	}
	return false;
}

bool execute_name_descriptor(struct execute_file *file, int fd, char link[32])
{
	static const char folder[] = "/proc/self/fd/";
	char path[512];
	size_t length = sizeof(folder) - 1;
	uint32_t power = 1;

	if (fd < 0)
		return false;
	sys_copy(link, folder, length);
	while ((uint32_t)fd / power >= 10)
		power *= 10;
	for (; power; power /= 10)
		link[length++] = (char)('0' + (uint32_t)fd / power % 10);
	link[length] = '\0';
	long n = sys_call(__NR_readlink, (long)link, (long)path, sizeof(path) - 1, 0, 0, 0);
	if (n <= 0)
		return false;
	path[n] = '\0';
	if (!execute_name(file, (uint64_t)(uintptr_t)path))
		return false;
	file->path = (uint64_t)(uintptr_t)link;
	return true;
}

/* ---- the file ---- */

/*
 * A process that closes any descriptor of a file loses its record locks on it (fcntl(2)), and these go on to what it
 * executes. So where the file is locked, the descriptor stays open, over the execution, too, and the file is not opened
 * again. There is no way to close it that keeps the locks. (A child of vfork or fork has no part in the locks.)
 */
static bool keep_open(int fd, const struct stat *st)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	/* Asked for another owner than the process, so its own locks count. Of several that share it, one is told. */
	if (sys_call(__NR_fcntl, fd, F_OFD_GETLK, (long)&lock, 0, 0, 0) || lock.l_type == F_UNLCK ||
		lock.l_pid != (pid_t)sys_getpid())
		return false;
	sys_call(__NR_fcntl, fd, F_SETFD, 0, 0, 0, 0);
	for (int i = 0; i < KEPT_OPEN; i++) {
		uint64_t none = 0;
		/* Relaxed, both: see kept. */
		if (!__atomic_compare_exchange_n(
			    &kept[i].inode, &none, st->st_ino, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			continue;
		/* Relaxed, as above. */
		__atomic_store_n(&kept[i].device, st->st_dev, __ATOMIC_RELAXED);
		break;
	}
	return true;
}

/* Is it open for good; or can't it be, as there are so many? */
static bool is_kept_open(const struct stat *st)
{
	/* Relaxed, both: see kept. */
	for (int i = 0; i < KEPT_OPEN; i++)
		if (__atomic_load_n(&kept[i].inode, __ATOMIC_RELAXED) == st->st_ino &&
			__atomic_load_n(&kept[i].device, __ATOMIC_RELAXED) == st->st_dev)
			return true;
	/* Relaxed, as above. */
	return __atomic_load_n(&kept[KEPT_OPEN - 1].inode, __ATOMIC_RELAXED);
}

/* Does the kernel leave its set-user-ID bit alone? */
static __attribute__((noinline)) bool ignores_rights(int fd)
{
	struct statfs fs;

	return sys_call(__NR_prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0, 0) == 1 ||
	       (fd >= 0 && !sys_call(__NR_fstatfs, fd, (long)&fs, 0, 0, 0, 0) && fs.f_flags & ST_NOSUID);
}

/*
 * Has it other rights than the one who executes it has by his real ids? Then ld.so takes no auditors. A process that
 * has changed its effective user alone gives other rights to all that it executes.
 */
static bool gives_rights(const struct stat *st, int fd)
{
	uid_t user = (uid_t)sys_call(__NR_geteuid, 0, 0, 0, 0, 0, 0);
	gid_t group = (gid_t)sys_call(__NR_getegid, 0, 0, 0, 0, 0, 0);
	uid_t real = (uid_t)sys_call(__NR_getuid, 0, 0, 0, 0, 0, 0);
	bool has_user = st->st_mode & S_ISUID, has_group = (st->st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP);

	if ((has_user || has_group) && !ignores_rights(fd)) {
		user = has_user ? st->st_uid : user;
		group = has_group ? st->st_gid : group;
	}
	return user != real || group != (gid_t)sys_call(__NR_getgid, 0, 0, 0, 0, 0, 0) ||
	       (fd >= 0 && real != 0 && sys_call(__NR_fgetxattr, fd, (long)"security.capability", 0, 0, 0, 0) > 0);
}

/* Has a file of this name, or path, glibc's dynamic linker? */
static bool is_loader(const char *path, size_t size)
{
	static const char name[] = "ld-linux";

	for (size_t i = 0; i + sizeof(name) <= size; i++)
		if (sys_same(path + i, name, sizeof(name) - 1))
			return true;
	return false;
}

/* Does it name glibc's dynamic linker for our machine? line: the file's first bytes, and room for more. */
static bool has_interpreter(int fd, char line[LINE], const char *name)
{
	Elf64_Ehdr head;
	Elf64_Phdr segment;

	sys_copy(&head, line, sizeof(head));
	if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_machine != MACHINE_ELF)
		return false;
	for (uint64_t i = 0; i < head.e_phnum; i++) {
		if (sys_call(__NR_pread64, fd, (long)&segment, sizeof(segment),
			    (long)(head.e_phoff + i * head.e_phentsize), 0, 0) != sizeof(segment))
			return true;
		if (segment.p_type != PT_INTERP)
			continue;
		long n = sys_call(__NR_pread64, fd, (long)line, LINE, (long)segment.p_offset, 0, 0);
		return n <= 0 || is_loader(line, segment.p_filesz < (uint64_t)n ? segment.p_filesz : (uint64_t)n);
	}
	/* The linker itself, which was told to run a program, takes auditors, too. */
	return is_loader(name, sys_length(name) + 1) || sys_same_text(name, "ld.so");
}

/* The interpreter in the first line of a script; it ends at a blank. NULL: there is none. */
static const char *interpreter(char *line, size_t size)
{
	size_t i = 2, end;

	while (i < size && (line[i] == ' ' || line[i] == '\t'))
		i++;
	for (end = i; end < size && (unsigned char)line[end] > ' ';)
		end++;
	if (end == i || end == size)
		return NULL;
	line[end] = '\0';
	return line + i;
}

__attribute__((noinline)) uint32_t execute_look(const struct execute_file *file)
{
	char line[LINE];
	struct stat st;
	const char *path = (const char *)(uintptr_t)file->path, *name = file->name;
	long folder = file->folder;
	int flags = file->flags;

	for (int scripts = 0; scripts <= SCRIPTS; scripts++) {
		if (sys_call(__NR_newfstatat, folder, (long)path, (long)&st, flags, 0, 0) || !S_ISREG(st.st_mode) ||
			!(st.st_mode & 0111))
			return TRACE_UNTRACED_NO_FILE;
		/* It may be executable, and not readable. */
		long fd = is_kept_open(&st) ? -1
					    : sys_call(__NR_openat, folder, (long)path,
						      O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0, 0, 0);
		bool rights = gives_rights(&st, (int)fd), is_static = false;
		long n = fd < 0 ? 0 : sys_read((int)fd, line, sizeof(line));
		bool is_script = n > 2 && line[0] == '#' && line[1] == '!';
		if (n >= (long)sizeof(Elf64_Ehdr) && sys_same(line, ELFMAG, SELFMAG))
			is_static = !has_interpreter((int)fd, line, name);
		if (fd >= 0 && !keep_open((int)fd, &st))
			sys_close((int)fd);
		if (!is_script)
			return rights ? TRACE_UNTRACED_RIGHTS : is_static ? TRACE_UNTRACED_STATIC : 0;
		/* Rights of scripts don't count. */
		path = name = interpreter(line, (size_t)n);
		if (!path)
			return 0;
		folder = AT_FDCWD;
		flags = 0;
	}
	return 0;
}

uint32_t execute_search(const struct execute_file *file, uint64_t folders)
{
	static const char usual[] = "/bin:/usr/bin";
	char path[512];
	size_t length = sys_length(file->name);
	struct execute_file found = *file;

	if (!folders)
		folders = (uint64_t)(uintptr_t)usual;
	/* A name that was cut, and folders that are too long, can't be told. */
	if (length + 1 == sizeof(file->name))
		return 0;
	found.path = (uint64_t)(uintptr_t)path;
	for (int i = 0; i < PATH_MOST; i++) {
		size_t end = 0;
		if (!execute_copy_text(path, folders, sizeof(path)))
			return 0;
		while (path[end] && path[end] != ':')
			end++;
		if (end + 1 + length + 1 > sizeof(path))
			return 0;
		folders += end + 1;
		bool last = !path[end];
		if (end)
			path[end++] = '/';
		sys_copy(path + end, file->name, length + 1);
		uint32_t why = execute_look(&found);
		if (why != TRACE_UNTRACED_NO_FILE)
			return why;
		if (last)
			break;
	}
	return TRACE_UNTRACED_NO_FILE;
}
