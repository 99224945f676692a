/* SPDX-License-Identifier: MIT */
/*
 * Where there is no index of a file, the command makes one, and the program notices nothing: no child, no signal, no
 * descriptor. It runs as if the program's state were none of its business, once per file, for so long and no longer,
 * and not at all where it could do harm. It dies with the program, unless it keeps what it makes (index_alone.t).
 *
 * Each scenario has a process of its own, since a process asks its environment once.
 */
#define _GNU_SOURCE
#include "audit/index/find.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "audit/index/folder.h"
#include "audit/index/helper.h"
#include "t/lib/core.h"
#include "t/lib/descriptors.h"
#include "t/lib/index_files.h"
#include "t/lib/tap.h"

#define LIMIT 120 /* seconds for a scenario: far more than it takes */
#define LOOKS 100 /* while a command runs that waits for them */

/* What a scenario tells its parent. */
struct report {
	int find, again, other; /* results */
	size_t functions, functions_again;
	int children, signals, changes, looks, strangers;
	int seen; /* by handlers of other signals */
	int mask, left;
	enum helper_end end;
	long value;
};

static struct report *report;
static char work[100], log_file[200], kept[200], command[200], output[200];
static const char *index_folder_value, *command_value;

static char *environment(const char *name)
{
	if (!strcmp(name, "XAUDIT_INDEX"))
		return (char *)index_folder_value;
	return strcmp(name, "XAUDIT_COMMAND") ? NULL : (char *)command_value;
}

/* A command that is this script; $XAUDIT is the real one. It leaves a line in log_file first. */
__attribute__((format(printf, 1, 2))) static void write_command(const char *format, ...)
{
	FILE *to = fopen(command, "w");
	va_list args;

	if (!to)
		bail("%s can't be written", command);
	fprintf(to, "#!/bin/sh\necho $$ >>%s\n", log_file);
	va_start(args, format);
	vfprintf(to, format, args);
	va_end(args);
	if (fclose(to) || chmod(command, 0755))
		bail("%s can't be written", command);
	unlink(log_file);
}

static const char *read_file(const char *path)
{
	static char text[8192];
	int fd = open(path, O_RDONLY);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	text[n > 0 ? n : 0] = '\0';
	if (fd >= 0)
		close(fd);
	return text;
}

static int runs(void)
{
	int n = 0;

	for (const char *p = read_file(log_file); *p; p++)
		n += *p == '\n';
	return n;
}

/* Runs a scenario in a child whose fd 2 is the file `output`; its status. */
static int run(int (*scenario)(void *), unsigned seconds)
{
	int before = dup(2), to = open(output, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	memset(report, 0, sizeof(*report));
	dup2(to, 2);
	close(to);
	int status = core_child(scenario, NULL, seconds);
	dup2(before, 2);
	close(before);
	return status;
}

static int find_libc(size_t *functions)
{
	struct index index;
	int r = index_find(&index, &libc, libc_path);

	if (r)
		return r;
	*functions = index.functions;
	if (!index_function(&index, index.functions - 1))
		return 1;
	index_close(&index);
	return 0;
}

static void begin(void)
{
	core_start(core_folder(), TRACE_CHUNK_MIN, TRACE_CLOCK_MONOTONIC);
	index_find_init(environment);
}

/* Twice, and the program itself, which is another file. */
static int plain(void *argument)
{
	struct index index;

	(void)argument;
	begin();
	report->find = find_libc(&report->functions);
	report->again = find_libc(&report->functions_again);
	report->other = index_find(&index, &own, "/proc/self/exe");
	return 0;
}

/* ---- what the program could notice ---- */

static volatile sig_atomic_t children, alarms, strangers;
static pid_t main_thread;
static volatile int over;

static void on_signal(int signal)
{
	if (signal == SIGCHLD)
		children++;
	else
		alarms++;
	strangers += syscall(SYS_gettid) != main_thread || getpid() != main_thread;
}

/*
 * What the search itself has open for moments, before the command runs and after it: the folders of indexes, the index,
 * and where it reads whether calls are filtered.
 */
static int is_of_search(const char *target)
{
	char path[500];
	size_t n = strlen(index_folder_value);

	if (!strncmp(target, index_folder_value, n) && (!target[n] || target[n] == '/'))
		return 1;
	if (index_folder(1, NULL, NULL, path, sizeof(path)) && !strcmp(target, path))
		return 1;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)main_thread, (int)main_thread);
	return !strcmp(target, path);
}

/* Another thread, which looks as long as the search lasts. The command goes on when there were looks while it ran. */
static void *watch(void *argument)
{
	const char *before = argument;
	static char now[8192];

	do {
		int started = !access(log_file, F_OK);
		descriptors_list(now, sizeof(now), is_of_search);
		report->changes += strcmp(before, now) != 0;
		report->children += waitpid(-1, NULL, WNOHANG) != -1 || errno != ECHILD;
		report->looks += started;
		if (report->looks == LOOKS)
			unlink(log_file);
		/* Relaxed: pthread_join() orders the rest. */
	} while (!__atomic_load_n(&over, __ATOMIC_RELAXED));
	return NULL;
}

static int unnoticed(void *argument)
{
	struct sigaction action = { .sa_handler = on_signal };
	struct itimerval timer = { { 0, 1000 }, { 0, 1000 } };
	static char before[8192], after[8192];
	sigset_t all, mask_before, mask_after;
	pthread_t thread;

	(void)argument;
	main_thread = getpid();
	begin();
	/* A pipe end that others have would keep it open. */
	int pair[2];
	if (pipe(pair) || close(0))
		return 1;
	sigaction(SIGCHLD, &action, NULL);
	sigaction(SIGALRM, &action, NULL);
	sigprocmask(SIG_SETMASK, NULL, &mask_before);
	descriptors_list(before, sizeof(before), NULL);
	/* The thread begins with all blocked: it gets none, however late it runs. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	if (pthread_create(&thread, NULL, watch, before))
		return 1;
	sigprocmask(SIG_SETMASK, &mask_before, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
	report->find = find_libc(&report->functions);
	setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL);
	__atomic_store_n(&over, 1, __ATOMIC_RELAXED); /* see watch() */
	pthread_join(thread, NULL);
	descriptors_list(after, sizeof(after), NULL);
	sigprocmask(SIG_SETMASK, NULL, &mask_after);
	report->changes += strcmp(before, after) != 0;
	report->mask = memcmp(&mask_before, &mask_after, 8) != 0;
	report->left = waitpid(-1, NULL, __WALL | WNOHANG) != -1 || errno != ECHILD;
	report->signals = children;
	report->strangers = strangers;
	report->seen = alarms;
	return 0;
}

/* ---- how it runs ---- */

/* As a program may be: signals ignored and blocked, small limits, two descriptors free, another environment. */
static int encumbered(void *argument)
{
	sigset_t all;
	struct rlimit limit;

	(void)argument;
	begin();
	for (int signal = 1; signal <= 64; signal++)
		if (signal != SIGSEGV)
			sigaction(signal, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	setenv("LD_AUDIT", "/nonexistent", 1);
	setenv("LD_PRELOAD", "/nonexistent", 1);
	getrlimit(RLIMIT_FSIZE, &limit);
	limit.rlim_cur = 4096;
	setrlimit(RLIMIT_FSIZE, &limit);
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = 64;
	setrlimit(RLIMIT_NOFILE, &limit);
	int last = -1;
	for (int fd; (fd = dup(2)) >= 0;)
		last = fd;
	/* The index is found by two. */
	close(last);
	close(last - 1);
	report->find = find_libc(&report->functions);
	return 0;
}

static int filtered(void *argument)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = { 1, &allow };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		return 3;
	return plain(argument);
}

static int in_next_namespace(void *argument)
{
	begin();
	if (unshare(CLONE_NEWPID))
		return 3;
	report->find = find_libc(&report->functions);
	/* The first child is the first process of the new namespace. */
	pid_t pid = fork();
	if (!pid)
		_exit(getpid() == 1);
	int status;
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 1;
	report->value = WEXITSTATUS(status);
	(void)argument;
	return 0;
}

static int without_processes(void *argument)
{
	struct rlimit limit = { 0 };

	/* Root needs no room. */
	if (!geteuid() && (setgid(65534) || setuid(65534)))
		return 3;
	setrlimit(RLIMIT_NPROC, &limit);
	return plain(argument);
}

/* Is it gone, or nobody's child that is dead, within a minute? */
static int is_dead(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	for (int i = 0; i < 6000; i++) {
		const char *state = strrchr(read_file(path), ')');
		if (!state || state[2] == 'Z' || state[2] == 'X')
			return 1;
		usleep(10000);
	}
	return 0;
}

static int run_late(void *argument)
{
	static const char *const none[] = { NULL };
	struct helper helper = { .command = command, .file = "/x", .environment = none, .seconds = 1 };

	(void)argument;
	core_start(core_folder(), TRACE_CHUNK_MIN, TRACE_CLOCK_MONOTONIC);
	/* On a busy machine it may be killed before its first line. */
	for (helper_run(&helper); !runs() && helper.seconds < LIMIT / 4; helper_run(&helper))
		helper.seconds *= 2;
	report->end = helper.end;
	report->value = helper.value == (long)helper.seconds;
	report->left = waitpid(-1, NULL, __WALL | WNOHANG) != -1 || errno != ECHILD;
	report->other = runs() && is_dead(atoi(read_file(log_file)));
	return 0;
}

static int wait_long(void *argument)
{
	static const char *const none[] = { NULL };
	struct helper helper = { .command = command, .file = "/x", .environment = none, .seconds = 10 * LIMIT };

	(void)argument;
	core_start(core_folder(), TRACE_CHUNK_MIN, TRACE_CLOCK_MONOTONIC);
	helper_run(&helper);
	return 0;
}

/* ---- checks ---- */

static void remove_index(const char *folder)
{
	const struct index_identity *const of[] = { &libc, &own };

	for (int i = 0; i < 4; i++) {
		char *path = index_files_path(folder, of[i / 2], i % 2);
		if (path)
			unlink(path);
		free(path);
	}
	rmdir(folder);
}

static void made(void)
{
	write_command("exec %s \"$@\"\n", getenv("XAUDIT"));
	index_folder_value = kept;
	command_value = command;
	is_int(run(plain, LIMIT), 0, "a process that has no index");
	is_int(report->find, 0, "gets one");
	ok(report->functions > 1000, "of the whole file");
	is_int(report->again, 0, "and finds it again");
	is_int(report->other, 0, "and one of the program itself");
	is_int(runs(), 2, "each was made once");
	is_str(read_file(output), "", "of which nothing is said");
	is_int(run(plain, LIMIT), 0, "the next process");
	is_int(runs(), 2, "finds them");

	char *path = index_files_path(kept, &libc, 0), *stamp = index_files_path(kept, &libc, 1);
	int fd = path ? open(path, O_RDWR) : -1;
	struct index_head head;
	struct stat st;
	ok(pread(fd, &head, sizeof(head), 0) == sizeof(head) && head.magic == INDEX_MAGIC, "which lie in the folder");
	head.version++;
	ok(pwrite(fd, &head, sizeof(head), 0) == sizeof(head), "one of another version");
	close(fd);
	is_int(run(plain, LIMIT), 0, "is no obstacle");
	is_int(report->find, 0, "a new one takes its place");
	is_int(runs(), 3, "once");
	if (truncate(path, 100))
		bail("truncate failed");
	is_int(run(plain, LIMIT), 0, "nor is a damaged one");
	is_int(report->find, 0, "which is made again, too");
	chmod(path, 0620);
	is_int(run(plain, LIMIT), 0, "but where others may write");
	is_int(report->find, -EPERM, "it is refused");
	is_int(runs(), 4, "and none is made");
	chmod(path, 0600);
	unlink(stamp);
	is_int(run(plain, LIMIT), 0, "where the stamp is missing");
	is_int(runs(), 5, "the command is asked");
	ok(!report->find && !lstat(stamp, &st), "and puts a stamp there");
	free(path);
	free(stamp);
	remove_index(kept);

	index_folder_value = "/proc/no/folder";
	is_int(run(plain, LIMIT), 0, "without a folder for it");
	is_int(report->find, 0, "the process has one all the same");
	is_int(report->again, 0, "for as long as it lives");
	ok(report->functions > 1000 && report->functions == report->functions_again, "the same");
	is_int(runs(), 7, "made once");
	is_str(read_file(output), "", "and nothing is said");
}

static void noticed(void)
{
	index_folder_value = kept;
	write_command("while [ -e %s ]; do sleep 0.01; done; exec %s \"$@\"\n", log_file, getenv("XAUDIT"));
	is_int(run(unnoticed, LIMIT), 0, "a program that looks all the time");
	is_int(report->find, 0, "gets an index");
	ok(report->looks >= LOOKS, "while another thread looks");
	is_int(report->signals, 0, "SIGCHLD does not come");
	is_int(report->children, 0, "no wait() sees a child");
	is_int(report->left, 0, "none is left, also for __WALL");
	is_int(report->changes, 0, "the descriptors are the same all the time");
	is_int(report->mask, 0, "the blocked signals are those that were");
	ok(report->seen > 0, "signals come");
	is_int(report->strangers, 0, "to no process but its own");
	remove_index(kept);

	index_folder_value = "/proc/no/folder";
	is_int(run(unnoticed, LIMIT), 0, "and so it is where the index is in memory");
	is_int(report->find + report->signals + report->children + report->left + report->changes + report->mask, 0,
		"nothing is seen of it");
}

static void judged(void)
{
	char list[300], status[300];

	snprintf(list, sizeof(list), "%s/list", work);
	snprintf(status, sizeof(status), "%s/status", work);
	/* grep's own mask is as the shell's, which blocks all for a moment before it waits for grep. */
	write_command("tr '\\0' '\\n' </proc/$$/environ >%s\n"
		      "grep -E '^Sig(Blk|Ign):' /proc/self/status >%s\n"
		      "for n in 0 1 2 3 4 5 6 7 8 9; do [ -e /proc/$$/fd/$n ] && l=\"$l$n \"; done\n"
		      "read -r pid name state parent group session rest </proc/$$/stat\n"
		      "[ $session = $$ ] && echo \"${l}leads\" >>%s\n"
		      "ulimit -c >>%s\nexec %s \"$@\"\n",
		list, status, status, status, getenv("XAUDIT"));
	index_folder_value = kept;
	is_int(run(encumbered, LIMIT), 0, "a program that ignores and blocks all, and has two descriptors left");
	is_int(report->find, 0, "gets an index");
	char expected[300];
	snprintf(expected, sizeof(expected), "XAUDIT_INDEX=%s\n", kept);
	is_str(read_file(list), expected, "the command's environment is what it needs");
	is_str(read_file(status), "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n0 1 2 3 leads\n0\n",
		"no signal is blocked or ignored, there are four descriptors, a session of its own, and no core");
	remove_index(kept);
	unlink(list);
	unlink(status);
}

static void refused(void)
{
	index_folder_value = kept;
	write_command("exec %s \"$@\"\n", getenv("XAUDIT"));
	int status = run(filtered, LIMIT);
	if (status == 3) {
		skip(3, "no filter can be set here");
	} else {
		is_int(report->find, -ENOENT, "under a filter of system calls there is no index");
		is_int(runs(), 0, "and no command");
		is_str(read_file(output), "", "nor a word");
	}
	status = run(in_next_namespace, LIMIT);
	if (status == 3) {
		skip(3, "no PID namespace can be made here");
	} else {
		is_int(report->find, -ENOENT, "where the next child is to be the first of a namespace");
		is_int(runs(), 0, "no command takes its place");
		is_int(report->value, 1, "which the program's child gets");
	}
	command_value = "";
	is_int(run(plain, LIMIT), 0, "a user who wants none");
	is_int(report->find, -ENOENT, "gets none");
	is_str(read_file(output), "", "without a word");
	command_value = command;
	chmod(work, 0755);
	status = run(without_processes, LIMIT);
	if (status == 3) {
		skip(3, "rights can't be dropped here");
	} else {
		is_int(report->find, -ENOENT, "where no process may be made there is none");
		char expected[5000];
		snprintf(expected, sizeof(expected), "xaudit: %s: no index of it could be made: no process could be "
						     "started: Resource temporarily unavailable\n", libc_path);
		is_str(read_file(output), expected, "which is said once");
		is_int(runs(), 0, "and nothing runs");
	}
}

/* What a command that fails has as its consequence; `runs` of it for two files. */
static void failing(const char *what, int expected_runs, const char *expected)
{
	char line[5000];

	is_int(run(plain, LIMIT), 0, "%s", what);
	is_int(report->find, -ENOENT, "no index");
	is_int(report->again, -ENOENT, "nor later");
	is_int(runs(), expected_runs, "each file has one attempt, where there is hope");
	snprintf(line, sizeof(line), "xaudit: %s: no index of it could be made: %s\n", libc_path, expected);
	ok(!strncmp(read_file(output), line, strlen(line)), "it is said why");
}

static void failed(void)
{
	char expected[500];

	index_folder_value = kept;
	write_command("echo 'xaudit index: what it says' >&2; exit 1\n");
	failing("a command that fails", 2, "what it says");
	write_command("exit 2\n");
	failing("a command that fails silently", 2, "`xaudit index` failed");
	write_command("kill -9 $$\n");
	failing("a command that is killed", 2, "`xaudit index` was killed by signal 9");
	write_command("exit 0\n");
	failing("a command that makes none", 2, "what was made is of another file");
	write_command("head -c 5000 /dev/zero >&3\n");
	failing("a command that writes no index", 2, "what was made is of another file");
	write_command("exec %s index --quiet --fd=3 -n %s\n", getenv("XAUDIT"), getenv("XAUDIT"));
	failing("a command that takes another file", 2, "what was made is of another file");
	unlink(log_file);
	unlink(command);
	snprintf(expected, sizeof(expected), "%s can't be executed: No such file or directory", command);
	failing("a command that is missing", 0, expected);
	write_command("%s", "");
	chmod(command, 0600);
	snprintf(expected, sizeof(expected), "%s can't be executed: Permission denied", command);
	failing("a command that is none", 0, expected);
}

static void bounded(void)
{
	write_command("exec sleep 1000\n");
	is_int(run(run_late, LIMIT), 0, "a command that does not come to its end");
	is_int(report->end, HELPER_LATE, "is waited for no longer than it may take");
	ok(report->value, "a second here");
	ok(report->other, "then it is killed");
	is_int(report->left, 0, "and no child is left");

	write_command("exec sleep 1000\n");
	pid_t program = fork();
	if (!program)
		_exit(wait_long(NULL));
	for (int i = 0; i < 6000 && !runs(); i++)
		usleep(10000);
	pid_t pid = atoi(read_file(log_file));
	ok(pid > 0, "a program that waits for it");
	kill(program, SIGKILL);
	waitpid(program, NULL, 0);
	ok(is_dead(pid), "takes it along when it dies");
}

int main(void)
{
#if defined(XAUDIT_ASAN) || defined(XAUDIT_TSAN)
	puts("1..0 # SKIP sanitizers don't know of threads that libc did not make");
	return 0;
#endif
	if (!getenv("XAUDIT"))
		bail("XAUDIT does not name the command");
	report = core_shared(sizeof(*report));
	snprintf(work, sizeof(work), "/tmp/xaudit-helper.XXXXXX");
	if (!mkdtemp(work))
		bail("no temporary folder");
	snprintf(log_file, sizeof(log_file), "%s/log", work);
	snprintf(kept, sizeof(kept), "%s/kept", work);
	snprintf(command, sizeof(command), "%s/command", work);
	snprintf(output, sizeof(output), "%s/output", work);
	core_folder();
	index_files(work);
	made();
	noticed();
	judged();
	refused();
	failed();
	bounded();
	unlink(log_file);
	unlink(command);
	unlink(output);
	unlink(libc_path);
	rmdir(work);
	return done_testing();
}
