#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Calls of the C library as strace shows them: names of flags and commands, arguments that are passed only where another
# one says so, descriptors, modes, why a call failed. strace itself, where it is, shows those with a = in front in the
# same way.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
unset XAUDIT_CONFIG
need "${CC%% *}"
umask 022
$CC -w -O0 -fno-builtin -o "$tmp/calls" "$top_srcdir/t/values/strace_calls.c" || bail 'no program'
user=$(id -u) group=$(id -g)
cd "$tmp" || bail 'no scratch folder'

cat >known <<END
= openat(AT_FDCWD, "new", O_RDWR|O_CREAT|O_TRUNC, 0640) = 3
= openat(AT_FDCWD, "none", O_RDONLY|O_CLOEXEC) = -1 ENOENT (No such file or directory)
= openat(AT_FDCWD, ".", O_RDONLY|O_DIRECTORY) = 4
= openat(4, "new", O_WRONLY|O_APPEND|O_SYNC) = 5
= openat(AT_FDCWD, ".", O_RDONLY|O_TMPFILE, 0600) = -1 EINVAL (Invalid argument)
  open("new", O_WRONLY|O_CREAT|O_EXCL, 007) = -1 EEXIST (File exists)
  open("none", O_RDWR) = -1 ENOENT (No such file or directory)
= creat("made", 0600) = 6
= close(6) = 0
= close(99) = -1 EBADF (Bad file descriptor)
  stat("none", NULL) = -1 ENOENT (No such file or directory)
  fstat(99, NULL) = -1 EBADF (Bad file descriptor)
  fstatat(AT_FDCWD, "none", NULL, AT_SYMLINK_NOFOLLOW) = -1 ENOENT (No such file or directory)
= lseek(3, 5, SEEK_SET) = 5
= lseek(3, -2, SEEK_CUR) = 3
= write(99, NULL, 0) = -1 EBADF (Bad file descriptor)
= read(99, NULL, 0) = -1 EBADF (Bad file descriptor)
= dup(3) = 6
= dup2(3, 7) = 7
= dup3(3, 8, O_CLOEXEC) = 8
= pipe2(NULL, O_NONBLOCK|O_CLOEXEC) = -1 EFAULT (Bad address)
= fsync(99) = -1 EBADF (Bad file descriptor)
= ftruncate(3, 100) = 0
= fcntl(3, F_GETFD) = 0
= fcntl(3, F_SETFD, FD_CLOEXEC) = 0
= fcntl(3, F_DUPFD, 20) = 20
= fcntl(20, F_SETFL, O_RDONLY|O_APPEND|O_NONBLOCK) = 0
= fcntl(20, F_DUPFD_CLOEXEC, 30) = 30
= fcntl(20, F_SETLK, NULL) = -1 EFAULT (Bad address)
= ioctl(99, FIONREAD, NULL) = -1 EBADF (Bad file descriptor)
= ioctl(99, TCGETS, NULL) = -1 EBADF (Bad file descriptor)
= ioctl(99, FIOCLEX) = -1 EBADF (Bad file descriptor)
= flock(3, LOCK_EX|LOCK_NB) = 0
= access("new", R_OK|W_OK) = 0
= access(".", F_OK) = 0
= chmod("new", 0600) = 0
= fchmod(3, 0644) = 0
= mkdir("dir", 0700) = 0
= mkdirat(AT_FDCWD, "dir", 0755) = -1 EEXIST (File exists)
= umask(027) = 022
= umask(000) = 027
= umask(022) = 000
= chown("none", 1, 2) = -1 ENOENT (No such file or directory)
= link("none", "other") = -1 ENOENT (No such file or directory)
= symlink("dir", "to") = 0
= rename("none", "other") = -1 ENOENT (No such file or directory)
= renameat(AT_FDCWD, "none", 4, "other") = -1 ENOENT (No such file or directory)
= unlink("made") = 0
= unlinkat(AT_FDCWD, "none", AT_REMOVEDIR) = -1 ENOENT (No such file or directory)
= unlinkat(AT_FDCWD, "to", 0) = 0
= readlink("none", NULL, 10) = -1 ENOENT (No such file or directory)
= rmdir("dir") = 0
= chdir("none") = -1 ENOENT (No such file or directory)
= truncate("none", 7) = -1 ENOENT (No such file or directory)
= mmap(NULL, 0, PROT_READ|PROT_WRITE, MAP_SHARED|MAP_ANONYMOUS, -1, 0) = -1 EINVAL (Invalid argument)
= mmap(NULL, 0, PROT_NONE, MAP_PRIVATE|MAP_FIXED|MAP_NORESERVE, 99, 0x2000) = -1 EBADF (Bad file descriptor)
= munmap(NULL, 0) = -1 EINVAL (Invalid argument)
= mprotect(NULL, 4096, PROT_READ|PROT_EXEC) = -1 ENOMEM (Cannot allocate memory)
= madvise(NULL, 4096, MADV_DONTNEED) = -1 ENOMEM (Cannot allocate memory)
= msync(NULL, 4096, MS_SYNC) = -1 ENOMEM (Cannot allocate memory)
= memfd_create("memory", MFD_CLOEXEC) = 9
= close(9) = 0
= socket(AF_UNIX, SOCK_STREAM|SOCK_CLOEXEC, 0) = 9
= close(9) = 0
= socket(AF_UNIX, SOCK_DGRAM|SOCK_CLOEXEC|SOCK_NONBLOCK, 0) = 9
= close(9) = 0
= shutdown(99, SHUT_RDWR) = -1 EBADF (Bad file descriptor)
= listen(99, 5) = -1 EBADF (Bad file descriptor)
= accept4(99, NULL, NULL, SOCK_CLOEXEC) = -1 EBADF (Bad file descriptor)
= sendto(99, NULL, 0, MSG_DONTWAIT|MSG_NOSIGNAL, NULL, 0) = -1 EBADF (Bad file descriptor)
= recvfrom(99, NULL, 0, MSG_PEEK, NULL, NULL) = -1 EBADF (Bad file descriptor)
= epoll_create1(EPOLL_CLOEXEC) = 9
= close(9) = 0
= epoll_ctl(99, EPOLL_CTL_ADD, 99, NULL) = -1 EFAULT (Bad address)
  eventfd(3, EFD_NONBLOCK) = 9
= close(9) = 0
= inotify_init1(IN_CLOEXEC) = 9
= close(9) = 0
= timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC) = 9
= close(9) = 0
= getuid() = $user
= geteuid() = $user
= getgid() = $group
= getegid() = $group
= kill(99999999, SIGINT) = -1 ESRCH (No such process)
= getpgid(99999999) = -1 ESRCH (No such process)
= alarm(0) = 0
  raise(SIGURG) = 0
  signal(SIGUSR1, SIG_IGN) = SIG_DFL
  sigprocmask(SIG_SETMASK, NULL, NULL) = 0
  waitpid(-1, NULL, WNOHANG|WUNTRACED) = -1 ECHILD (No child processes)
= getrusage(RUSAGE_SELF, NULL) = -1 EFAULT (Bad address)
= prctl(PR_SET_NAME, "renamed") = 0
= prctl(PR_SET_PDEATHSIG, SIGTERM) = 0
  prctl(PR_SET_DUMPABLE, 1) = 0
= sched_yield() = 0
  clock_getres(CLOCK_MONOTONIC, NULL) = 0
  nanosleep(NULL, NULL) = -1 EFAULT (Bad address)
  strlen("a text") = 6
  strrchr("none", 120) = NULL
  strcmp("a text", "a text") = 0
  atoi("12") = 12
  memset(NULL, 7, 0) = NULL
  strtol("077", NULL, 8) = 63
  getenv("STRACE_CALLS") = NULL
  fopen("none", "r") = NULL ENOENT (No such file or directory)
  setlocale(LC_ALL, "C") = "C"
= close(7) = 0
= close(8) = 0
  eventfd(1, 0) = 7
= poll([{fd=7, events=POLLIN|POLLPRI}], 1, 0) = 1 ([{fd=7, revents=POLLIN}])
= poll([{fd=7, events=POLLIN|POLLPRI}, {fd=99, events=POLLOUT}], 2, 0) = 2 ([{fd=7, revents=POLLIN}, {fd=99, \
revents=POLLNVAL}])
  poll([{fd=7, events=POLLPRI}], 1, 0) = 0
  poll(NULL, 0, 0) = 0
= poll(NULL, 3, 0) = -1 EFAULT (Bad address)
= epoll_create1(0) = 8
= epoll_ctl(8, EPOLL_CTL_ADD, 7, {events=EPOLLIN|EPOLLET, data={u32=7, u64=4294967303}}) = 0
= epoll_ctl(8, EPOLL_CTL_ADD, 7, {events=EPOLLIN|EPOLLET, data={u32=7, u64=4294967303}}) = -1 EEXIST (File exists)
= epoll_wait(8, [{events=EPOLLIN, data={u32=7, u64=4294967303}}], 4, 0) = 1
= epoll_wait(8, [], 4, 0) = 0
= epoll_ctl(8, EPOLL_CTL_MOD, 7, {events=EPOLLOUT|EPOLLONESHOT, data={u32=5, u64=5}}) = 0
= epoll_wait(8, [{events=EPOLLOUT, data={u32=5, u64=5}}], 4, 0) = 1
  epoll_wait(99, [], 4, 0) = -1 EBADF (Bad file descriptor)
= epoll_ctl(8, EPOLL_CTL_DEL, 7, NULL) = 0
END
# What the program opens gets the first numbers.
exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
mkdir folder again
bounded 60 sh -c 'cd folder && exec "$XAUDIT" record -a -k plt -o ../trace -- ../calls' >out 2>said
is "$(cat said)" '' 'the program is recorded'
"$XAUDIT" replay trace 2>&1 | sed -n 's/.*\] | \([a-z].*\);$/\1/p' >shown
sed 's/^. //' known >wanted
is "$(wc -l <known)" 124 'there are many calls'
is "$(diff wanted shown)" '' 'each is shown as it should be'
if command -v strace >/dev/null && (cd again && bounded 60 strace -a1 -o ../strace ../calls) 2>/dev/null; then
	sed -n 's/^= //p' known | sort -u >same
	is "$(sort -u strace | comm -13 - same)" '' "strace shows $(wc -l <same) of them so, too"
else
	skip 1 'no strace here, or it may not trace'
fi
done_testing
