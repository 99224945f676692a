/* SPDX-License-Identifier: MIT */
/*
 * Executes programs in all the ways that libc has. `executes ways`: says for each way with which status the program
 * ended (9: it was not executed). `executes most`: how long the arguments of a program may be that gets one variable.
 * `executes one PROGRAM`, with one variable of our own; `executes dropped PROGRAM`: the same, as another user;
 * `executes filtered PROGRAM`: under a filter that kills for what only xaudit would ask.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
	if (argc < 3)
		return 2;
	words[0] = argv[2];
	if (!strcmp(what, "dropped") && (setgid(65534) || setuid(65534)))
		return 8;
	if (!strcmp(what, "filtered"))
		filter();
	if (posix_spawn(&pid, argv[2], NULL, NULL, words, one))
		return 9;
	return status_of(pid);
}
