/* SPDX-License-Identifier: MIT */
/* Calls of the C library whose prototypes are known, for strace.t, which knows what is shown of each. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* No process has it. */
#define NOBODY 99999999

static void *volatile nowhere;
static const char *volatile text = "a text", *volatile nowhere_text = "none";

static void opens(void)
{
	struct stat *none = nowhere;

	openat(AT_FDCWD, "new", O_RDWR | O_CREAT | O_TRUNC, 0640);
	openat(AT_FDCWD, "none", O_RDONLY | O_CLOEXEC);
	openat(AT_FDCWD, ".", O_RDONLY | O_DIRECTORY);
	openat(4, "new", O_WRONLY | O_APPEND | O_SYNC);
	openat(AT_FDCWD, ".", O_RDONLY | O_TMPFILE, 0600);
	open("new", O_WRONLY | O_CREAT | O_EXCL, 07);
	open("none", O_RDWR);
	creat("made", 0600);
	close(6);
	close(99);
	stat("none", none);
	fstat(99, none);
	fstatat(AT_FDCWD, "none", none, AT_SYMLINK_NOFOLLOW);
}

static void descriptors(void)
{
	lseek(3, 5, SEEK_SET);
	lseek(3, -2, SEEK_CUR);
	write(99, nowhere, 0);
	read(99, nowhere, 0);
	dup(3);
	dup2(3, 7);
	dup3(3, 8, O_CLOEXEC);
	pipe2(nowhere, O_NONBLOCK | O_CLOEXEC);
	fsync(99);
	ftruncate(3, 100);
	fcntl(3, F_GETFD);
	fcntl(3, F_SETFD, FD_CLOEXEC);
	fcntl(3, F_DUPFD, 20);
	fcntl(20, F_SETFL, O_APPEND | O_NONBLOCK);
	fcntl(20, F_DUPFD_CLOEXEC, 30);
	fcntl(20, F_SETLK, nowhere);
	ioctl(99, FIONREAD, nowhere);
	ioctl(99, TCGETS, nowhere);
	ioctl(99, FIOCLEX);
	flock(3, LOCK_EX | LOCK_NB);
}

static void names(void)
{
	access("new", R_OK | W_OK);
	access(".", F_OK);
	chmod("new", 0600);
	fchmod(3, 0644);
	mkdir("dir", 0700);
	mkdirat(AT_FDCWD, "dir", 0755);
	umask(027);
	umask(0);
	umask(022);
	chown("none", 1, 2);
	link("none", "other");
	symlink("dir", "to");
	rename("none", "other");
	renameat(AT_FDCWD, "none", 4, "other");
	unlink("made");
	unlinkat(AT_FDCWD, "none", AT_REMOVEDIR);
	unlinkat(AT_FDCWD, "to", 0);
	readlink("none", nowhere, 10);
	rmdir("dir");
	chdir("none");
	truncate("none", 7);
}

static void memory(void)
{
	mmap(nowhere, 0, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	mmap(nowhere, 0, PROT_NONE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, 99, 8192);
	munmap(nowhere, 0);
	mprotect(nowhere, 4096, PROT_READ | PROT_EXEC);
	madvise(nowhere, 4096, MADV_DONTNEED);
	msync(nowhere, 4096, MS_SYNC);
	close(memfd_create("memory", MFD_CLOEXEC));
}

static void sockets(void)
{
	close(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
	close(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	shutdown(99, SHUT_RDWR);
	listen(99, 5);
	accept4(99, nowhere, nowhere, SOCK_CLOEXEC);
	sendto(99, nowhere, 0, MSG_DONTWAIT | MSG_NOSIGNAL, nowhere, 0);
	recvfrom(99, nowhere, 0, MSG_PEEK, nowhere, nowhere);
	close(epoll_create1(EPOLL_CLOEXEC));
	epoll_ctl(99, EPOLL_CTL_ADD, 99, nowhere);
	close(eventfd(3, EFD_NONBLOCK));
	close(inotify_init1(IN_CLOEXEC));
	close(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC));
}

static void processes(void)
{
	getuid();
	geteuid();
	getgid();
	getegid();
	kill(NOBODY, SIGINT);
	getpgid(NOBODY);
	alarm(0);
	raise(SIGURG);
	signal(SIGUSR1, SIG_IGN);
	sigprocmask(SIG_SETMASK, nowhere, nowhere);
	waitpid(-1, nowhere, WNOHANG | WUNTRACED);
	getrusage(RUSAGE_SELF, nowhere);
	prctl(PR_SET_NAME, "renamed");
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	prctl(PR_SET_DUMPABLE, 1);
	sched_yield();
	clock_getres(CLOCK_MONOTONIC, nowhere);
	nanosleep(nowhere, nowhere);
}

static void texts(void)
{
	/* Used, or they are not called. */
	volatile unsigned long sum = strlen(text) + (unsigned long)strrchr(nowhere_text, 'x');

	sum += (unsigned long)strcmp(text, "a text") + (unsigned long)atoi("12");
	memset(nowhere, 7, 0);
	strtol("077", nowhere, 8);
	getenv("STRACE_CALLS");
	fopen("none", "r");
	setlocale(LC_ALL, "C");
}

static void polls(void)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET, .data = { .u64 = 0x100000007 } }, got[4];
	/* Their numbers are used again. */
	close(7);
	close(8);
	int fd = eventfd(1, 0);
	struct pollfd all[] = { { fd, POLLIN | POLLPRI, 0 }, { 99, POLLOUT, 0 } };

	poll(all, 1, 0);
	poll(all, 2, 0);
	all->events = POLLPRI;
	poll(all, 1, 0);
	poll(nowhere, 0, 0);
	poll(nowhere, 3, 0);
	int epoll = epoll_create1(0);
	epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
	epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
	epoll_wait(epoll, got, 4, 0);
	epoll_wait(epoll, got, 4, 0);
	event.events = EPOLLOUT | EPOLLONESHOT;
	event.data.u64 = 5;
	epoll_ctl(epoll, EPOLL_CTL_MOD, fd, &event);
	epoll_wait(epoll, got, 4, 0);
	epoll_wait(99, got, 4, 0);
	epoll_ctl(epoll, EPOLL_CTL_DEL, fd, nowhere);
}

int main(void)
{
	opens();
	descriptors();
	names();
	memory();
	sockets();
	processes();
	texts();
	polls();
	return 0;
}
