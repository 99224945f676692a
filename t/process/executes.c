/* SPDX-License-Identifier: MIT */
/*
 * Executes programs in all the ways that libc has. `executes ways`: says for each way with which status the program
 * ended (9: it was not executed). `executes most`: how long the arguments of a program may be that gets one variable.
 * `executes one PROGRAM`, with one variable of our own; `executes dropped PROGRAM`: the same, as another user;
 * `executes filtered PROGRAM`: under a filter that kills for what only xaudit would ask; `executes effective PROGRAM`:
 * with another effective user. `executes odd`: says the same as `executes ways` for odd ways, and does so in a folder
 * that it may write to.
 */
#define _GNU_SOURCE
#include <alloca.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static char *words[] = { "true", NULL }, *none[] = { NULL }, *one[] = { NULL, NULL };
static char **volatile nowhere = (char **)16; /* no memory is there */

static int status_of(pid_t pid)
{
	int status = 0;

	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void execute(int way)
{
	char *bad[] = { (char *)16, NULL }, **many;

	switch (way) {
	case 0: execve("/bin/true", words, none); break;
	case 1: execve("/bin/true", words, one); break;
	case 2: execle("/bin/true", "true", "1", "2", "3", "4", "5", "6", (char *)NULL, none); break;
	case 3: execve("/nonexistent", words, none); break;
	case 4: execve("/bin/true", words, bad); break;
	case 5: execve("/bin/true", nowhere, nowhere); break;
	case 6: fexecve(open("/bin/true", O_RDONLY | O_CLOEXEC), words, none); break;
	case 7: execveat(AT_FDCWD, "/bin/true", words, none, 0); break;
	case 8: execv("/bin/true", words); break;
	case 9: environ = none; execvp("true", words); break;
	case 10: environ = one; execvp("true", words); break;
	case 11: environ = none; execl("/bin/true", "true", (char *)NULL); break;
	case 12: execvpe("true", words, one); break;
	case 13: /* so many variables that they are not looked at */
		many = malloc(3000 * sizeof(*many));
		for (int i = 0; i < 2999; i++)
			many[i] = one[0];
		many[2999] = NULL;
		execve("/bin/true", words, many);
		break;
	}
	_exit(9);
}

static void ways(void)
{
	pid_t pid;

	for (int way = 0; way < 14; way++) {
		pid = fork();
		if (!pid)
			execute(way);
		printf("%d ", status_of(pid));
	}
	pid = vfork();
	if (!pid) {
		execve("/bin/true", words, none);
		_exit(9);
	}
	printf("%d ", status_of(pid));
	printf("%d ", posix_spawn(&pid, "/bin/true", NULL, NULL, words, none) ? 9 : status_of(pid));
	printf("%d ", posix_spawnp(&pid, "true", NULL, NULL, words, one) ? 9 : status_of(pid));
	printf("%d ", posix_spawn(&pid, "/nonexistent", NULL, NULL, words, one) ? 9 : status_of(pid));
	fflush(stdout);
	environ = none;
	printf("%d\n", WEXITSTATUS(system("exit 3")));
}

static char *stack_begin;
static size_t stack_left;

/* Executes with so many bytes of its stack left. */
static void by_handler(int number)
{
	(void)number;
	char *here = __builtin_frame_address(0);
	volatile char *used = alloca((size_t)(here - stack_begin) - stack_left);

	used[0] = 0;
	execve("/bin/true", words, one);
	_exit(9);
}

static void on_small_stack(size_t left)
{
	size_t size = (getauxval(AT_MINSIGSTKSZ) + 16384) & ~4095ul;
	char *memory = mmap(NULL, 4096 + size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack_t stack = { .ss_sp = memory + 4096, .ss_size = size };
	struct sigaction action = { .sa_handler = by_handler, .sa_flags = SA_ONSTACK };

	stack_begin = stack.ss_sp;
	stack_left = left;
	mprotect(memory, 4096, PROT_NONE);
	execve("/nonexistent", words, one); /* bound by now, which takes more stack */
	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
}

static void *by_thread(void *used)
{
	volatile char more[4000];

	more[0] = 0;
	if (used)
		usleep(100000);
	execve("/bin/true", words, one);
	return (void *)&more[0];
}

static void in_thread(void *late)
{
	pthread_attr_t small;
	pthread_t thread;

	execve("/nonexistent", words, one);
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 16384);
	pthread_create(&thread, &small, by_thread, late);
	if (late)
		pthread_exit(NULL);
	pthread_join(thread, NULL);
}

static int copy_of_true(int to)
{
	char buffer[65536];
	int from = open("/bin/true", O_RDONLY);

	for (ssize_t n; (n = read(from, buffer, sizeof(buffer))) > 0;)
		if (write(to, buffer, (size_t)n) != n)
			_exit(8);
	close(from);
	return to;
}

/* As programs do that want another title. */
static void write_over_environment(void)
{
	int n = 0;

	while (environ[n])
		n++;
	char *first = environ[0], *end = environ[n - 1] + strlen(environ[n - 1]);
	one[0] = strdup(one[0]);
	environ = none;
	memset(first, 'x', (size_t)(end - first));
}

static int spawned(const char *path, const posix_spawn_file_actions_t *actions)
{
	pid_t pid;
	int error = posix_spawn(&pid, path, actions, NULL, words, one);

	return error ? error : status_of(pid);
}

static void oddly(int way)
{
	posix_spawn_file_actions_t actions;
	struct flock lock = { .l_type = F_RDLCK };
	pid_t pid;
	int fd;

	posix_spawn_file_actions_init(&actions);
	switch (way) {
	case 0: on_small_stack(3200); break;
	case 1: on_small_stack(1200); break;
	case 2: in_thread(NULL); break;
	case 3: in_thread(&actions); break;
	case 4:
		fd = copy_of_true(memfd_create("true", 0));
		execveat(fd, "", words, one, AT_EMPTY_PATH);
		break;
	case 5:
		if (symlink("/bin/true", "link"))
			_exit(8);
		execveat(AT_FDCWD, "link", words, one, AT_SYMLINK_NOFOLLOW);
		break;
	case 6: environ = one; execvp("nonexistent", words); break;
	case 7:
		posix_spawn_file_actions_addchdir_np(&actions, "/bin");
		_exit(spawned("./true", &actions));
	case 8: /* what the failed spawn creates can't be created twice */
		close(open("empty", O_CREAT | O_WRONLY, 0755));
		posix_spawn_file_actions_addopen(&actions, 9, "once", O_CREAT | O_EXCL | O_WRONLY, 0600);
		_exit(spawned("./empty", &actions) == ENOEXEC ? 0 : 7);
	case 9: write_over_environment(); execve("/bin/true", words, one); break;
	case 10:
		execve("/lib64/ld-linux-x86-64.so.2", (char *[]){ "ld.so", "/bin/true", NULL }, one);
		break;
	case 11: /* a lock on the file stays */
		close(copy_of_true(open("mine", O_CREAT | O_WRONLY, 0755)));
		fd = open("mine", O_RDONLY);
		if (fcntl(fd, F_SETLK, &lock) || spawned("./mine", NULL) || spawned("./mine", NULL))
			_exit(8);
		pid = fork();
		if (!pid) {
			lock.l_type = F_WRLCK;
			_exit(fcntl(fd, F_GETLK, &lock) || lock.l_type == F_UNLCK);
		}
		_exit(status_of(pid));
	}
	_exit(9);
}

static void odd(void)
{
	for (int way = 0; way < 12; way++) {
		fflush(stdout);
		pid_t pid = fork();
		if (!pid)
			oddly(way);
		printf("%d ", status_of(pid));
	}
	printf("\n");
}

static int can_have(char *text, size_t length)
{
	static char piece[100001];
	char *list[64] = { "true" };
	pid_t pid;
	int n = 1;

	memset(piece, 'a', sizeof(piece) - 1);
	for (; length >= sizeof(piece); length -= sizeof(piece))
		list[n++] = piece;
	memset(text, 'b', length);
	text[length] = '\0';
	list[n] = text;
	return posix_spawn(&pid, "/bin/true", NULL, NULL, list, one) == 0 && status_of(pid) == 0;
}

static void most(void)
{
	static char text[100001];
	size_t low = 0, high = 6000000;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;
		if (can_have(text, middle))
			low = middle;
		else
			high = middle;
	}
	printf("%zu\n", low);
}

static void filter(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(*code), code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		exit(8);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	pid_t pid;

	one[0] = getenv("PATH");
	if (!one[0])
		return 2;
	one[0] -= strlen("PATH=");
	if (!strcmp(what, "ways")) {
		ways();
		return 0;
	}
	if (!strcmp(what, "most")) {
		most();
		return 0;
	}
	if (!strcmp(what, "odd")) {
		odd();
		return 0;
	}
	if (argc < 3)
		return 2;
	words[0] = argv[2];
	if (!strcmp(what, "dropped") && (setgid(65534) || setuid(65534)))
		return 8;
	if (!strcmp(what, "effective") && seteuid(65534))
		return 8;
	if (!strcmp(what, "filtered"))
		filter();
	if (posix_spawn(&pid, argv[2], NULL, NULL, words, strcmp(what, "effective") ? one : environ))
		return 9;
	return status_of(pid);
}
