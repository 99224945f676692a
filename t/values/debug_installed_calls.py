# SPDX-License-Identifier: MIT
"""For debug_installed.t: has Python call many functions of the C library. In a folder that it makes, with the
beginning of its name given."""
import fcntl
import locale
import mmap
import os
import resource
import select
import signal
import socket
import stat
import sys
import time

folder = sys.argv[1] + str(os.getpid())
os.mkdir(folder, 0o750)
os.chdir(folder)


def tried(function, *arguments):
    try:
        return function(*arguments)
    except OSError:
        return None


with open("file", "w+") as file:
    file.write("a text\n" * 100)
    file.flush()
    file.seek(5)
    file.read(10)
    file.truncate(50)
    os.fsync(file.fileno())
    os.fdatasync(file.fileno())
    os.fstat(file.fileno())
    os.isatty(file.fileno())
    os.fchmod(file.fileno(), 0o640)
    fcntl.fcntl(file, fcntl.F_GETFD)
    fcntl.fcntl(file, fcntl.F_SETFD, fcntl.FD_CLOEXEC)
    fcntl.flock(file, fcntl.LOCK_EX)
    os.pread(file.fileno(), 5, 3)
    os.pwrite(file.fileno(), b"bytes", 1)
    os.posix_fadvise(file.fileno(), 0, 10, os.POSIX_FADV_RANDOM)
    tried(os.posix_fallocate, file.fileno(), 0, 100)
    with mmap.mmap(file.fileno(), 50) as memory:
        memory[3] = 65
        memory.flush()
        memory.find(b"t", 1)
for call in ((os.rename, "file", "renamed"), (os.link, "renamed", "linked"), (os.symlink, "linked", "symbolic"),
             (os.readlink, "symbolic"), (os.stat, "none"), (os.lstat, "symbolic"), (os.chmod, "renamed", 0o600),
             (os.access, "renamed", os.R_OK), (os.utime, "renamed", (1, 2)), (os.unlink, "linked"),
             (os.mkfifo, "fifo", 0o600), (os.rmdir, "none"), (os.statvfs, "."), (os.truncate, "renamed", 7),
             (os.chown, "renamed", os.getuid(), -1), (os.listdir, "."), (os.getcwd,), (os.getloadavg,),
             (os.getxattr, "renamed", "user.none"), (os.listxattr, "renamed"), (os.umask, 0o22), (os.times,),
             (os.getpid,), (os.getppid,), (os.getuid,), (os.getgroups,), (os.getpgid, 0), (os.getsid, 0),
             (os.getpriority, os.PRIO_PROCESS, 0), (os.nice, 0), (os.uname,), (os.urandom, 4), (os.cpu_count,),
             (os.sched_getaffinity, 0), (os.sched_yield,), (os.kill, os.getpid(), 0), (os.sysconf, 30),
             (os.pathconf, ".", 4), (os.getlogin,), (os.waitpid, -1, os.WNOHANG), (os.memfd_create, "memory"),
             (os.putenv, "NAME", "value"), (os.unsetenv, "NAME"), (os.strerror, 5),
             (os.mknod, "node", 0o600 | stat.S_IFREG),
             (os.copy_file_range, 0, 1, 0), (os.eventfd, 3), (os.get_terminal_size, 99)):
    tried(*call)
reading, writing = os.pipe()
os.write(writing, b"written")
os.read(reading, 3)
os.set_inheritable(reading, True)
copy = os.dup(reading)
os.dup2(copy, reading)
os.lseek(os.open("renamed", os.O_RDWR | os.O_CREAT, 0o600), 2, os.SEEK_SET)
select.select([reading], [], [], 0)
poll = select.poll()
poll.register(reading, select.POLLIN)
poll.poll(1)
events = select.epoll()
events.register(reading, select.EPOLLIN)
events.poll(0)
one, two = socket.socketpair()
one.send(b"sent", socket.MSG_DONTWAIT)
two.recv(10)
one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
one.getsockopt(socket.SOL_SOCKET, socket.SO_TYPE)
one.shutdown(socket.SHUT_RDWR)
with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as server:
    server.bind(("127.0.0.1", 0))
    server.listen(3)
    server.getsockname()
    tried(server.getpeername)
socket.inet_pton(socket.AF_INET, "127.0.0.1")
socket.inet_ntop(socket.AF_INET, b"\1\2\3\4")
socket.inet_aton("1.2.3.4")
socket.gethostname()
tried(socket.getservbyname, "http", "tcp")
tried(socket.if_nametoindex, "lo")
signal.signal(signal.SIGUSR1, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2])
signal.setitimer(signal.ITIMER_REAL, 100)
signal.alarm(0)
signal.siginterrupt(signal.SIGUSR1, True)
resource.getrlimit(resource.RLIMIT_NOFILE)
resource.getrusage(resource.RUSAGE_SELF)
time.time()
time.sleep(0.001)
time.strftime("%Y-%m-%d %H", time.gmtime(0))
time.localtime(86400)
time.mktime(time.gmtime(1000))
time.clock_gettime(time.CLOCK_REALTIME)
time.clock_getres(time.CLOCK_MONOTONIC)
locale.setlocale(locale.LC_ALL, "C")
locale.localeconv()
locale.strxfrm("text")
locale.strcoll("one", "two")
"%.3f %s" % (float("2.5"), 2.0 ** 0.5)
