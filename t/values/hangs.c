/* SPDX-License-Identifier: MIT */
/*
 * Calls that hang, in known numbers, for tests of `running longer`: hangs WAY [N]. A call of work() that hangs takes
 * 700 ms, one that does not 20 ms or nothing; between those that hang there is time for a look.
 *
 *	calls N		in a thread N calls, of which each fourth hangs, while another thread calls other() all the time
 *	busy		one call hangs, and calls other() all the time
 *	inside		one call hangs, and makes three calls meanwhile that hang, too
 *	threads N	N threads, one after another, each with a call that hangs
 *	exit		a thread ends in a call; then 700 ms nothing
 *	gone		the same by the system call alone
 *	jump		a longjmp leaves a call; then 700 ms nothing
 *	fork		in a call the process forks: the child stays in that for 700 ms, the parent goes on at once
 *	child		the process forks, and a call of the child hangs
 *	exec		in a call another program is executed, which sleeps for 700 ms
 *	kill		a call hangs, and the process is killed in it
 *	coroutine	on a stack of its own a call is left for 700 ms by swapcontext(), then ends there
 *	serve		reads lines: "work MS" is a call of so many ms, "fork" forks a child that waits for 300 ms and
 *			whose call takes 700 ms, "exec WORD..." executes that program; answers with "called LINE";
 *			"ready PID" comes first
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define HANGS 700

int work(int n, void (*do_it)(int n));
int other(int n);

static volatile int over;
static jmp_buf out;
static ucontext_t home, away;

static void rest(int ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000L };

	while (nanosleep(&t, &t))
		;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1000 + (double)t.tv_nsec / 1e6;
}

static void busy(int n)
{
	for (double end = now() + HANGS; now() < end;)
		other(n);
}

static void three(int n)
{
	for (int i = 0; i < 3; i++) {
		work(n, rest);
		rest(20);
	}
}

static void leave_thread(int n)
{
	(void)n;
	pthread_exit(NULL);
}

static void end_thread(int n)
{
	syscall(SYS_exit, n);
}

static void jump(int n)
{
	longjmp(out, n);
}

static void fork_in(int n)
{
	if (!fork()) {
		other(n);
		rest(n);
		_exit(0);
	}
}

static void execute(int n)
{
	(void)n;
	execl("/bin/sleep", "sleep", "0.7", (char *)NULL);
	_exit(1);
}

static void be_killed(int n)
{
	rest(n);
	raise(SIGKILL);
}

static void switch_away(int n)
{
	(void)n;
	swapcontext(&away, &home);
}

static void *call_other(void *unused)
{
	while (!over) {
		other(1);
		rest(1);
	}
	return unused;
}

static void *hang(void *unused)
{
	work(HANGS, rest);
	return unused;
}

static void *end(void *by_call)
{
	work(0, by_call ? end_thread : leave_thread);
	return NULL;
}

static int start(void *(*run)(void *), void *argument)
{
	pthread_t thread;

	return pthread_create(&thread, NULL, run, argument) ? 1 : pthread_join(thread, NULL);
}

/* The thread's number is given back to libc by the kernel alone, so nobody can join it. */
static int start_gone(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, end, &thread))
		return 1;
	rest(HANGS);
	return 0;
}

static int calls(int count)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, call_other, NULL))
		return 1;
	for (int i = 1; i <= count; i++)
		work(i % 4 ? i % 2 * 20 : HANGS, rest);
	over = 1;
	return pthread_join(thread, NULL);
}

static int child(void)
{
	int status = 1;
	pid_t pid = fork();

	if (!pid) {
		work(HANGS, rest);
		_exit(0);
	}
	return waitpid(pid, &status, 0) != pid || status;
}

static void run_coroutine(void)
{
	work(0, switch_away);
}

static int coroutine(void)
{
	getcontext(&away);
	away.uc_stack.ss_size = 256 << 10;
	away.uc_stack.ss_sp = malloc(away.uc_stack.ss_size);
	away.uc_link = &home;
	makecontext(&away, run_coroutine, 0);
	swapcontext(&home, &away);
	rest(HANGS);
	return swapcontext(&home, &away);
}

static void execute_words(char *line)
{
	char *word[20];
	int n = 0;

	for (char *w = strtok(line, " \n"); w && n < 19; w = strtok(NULL, " \n"))
		word[n++] = w;
	word[n] = NULL;
	execvp(word[0], word);
	_exit(1);
}

static int serve(void)
{
	char line[4200];
	int ms;

	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	other(0);
	while (fgets(line, sizeof(line), stdin)) {
		if (sscanf(line, "work %d", &ms) == 1)
			work(ms, rest);
		else if (!strcmp(line, "fork\n") && !fork()) {
			rest(300);
			work(HANGS, rest);
			_exit(0);
		} else if (!strncmp(line, "exec ", 5)) {
			execute_words(line + 5);
		}
		printf("called %s", line);
		fflush(stdout);
	}
	while (wait(NULL) > 0)
		;
	return 0;
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";
	int n = argc > 2 ? atoi(argv[2]) : 0, failed = 0, status;

	if (!strcmp(way, "calls"))
		return calls(n);
	if (!strcmp(way, "busy"))
		return work(0, busy) != 0x10000;
	if (!strcmp(way, "inside"))
		return work(HANGS, three) != 0x10000 + HANGS;
	if (!strcmp(way, "threads")) {
		for (int i = 0; i < n; i++)
			failed |= start(hang, NULL);
		return failed;
	}
	if (!strcmp(way, "exit")) {
		failed = start(end, NULL);
		rest(HANGS);
		return failed;
	}
	if (!strcmp(way, "gone"))
		return start_gone();
	if (!strcmp(way, "jump")) {
		if (!setjmp(out))
			work(1, jump);
		rest(HANGS);
		return 0;
	}
	if (!strcmp(way, "fork")) {
		work(HANGS, fork_in);
		return wait(&status) < 0 || status;
	}
	if (!strcmp(way, "child"))
		return child();
	if (!strcmp(way, "exec"))
		work(0, execute);
	if (!strcmp(way, "kill"))
		work(HANGS, be_killed);
	if (!strcmp(way, "coroutine"))
		return coroutine();
	return !strcmp(way, "serve") ? serve() : 2;
}
