/* SPDX-License-Identifier: MIT */
/*
 * A plugin host for t/check/check.t: check_host MISTAKE PLUGIN [MORE]. CLOSE_BY_PLT: dlclose is only called, its
 * address is not taken. It ends with status 0 unless the mistake kills it, or a wait times out: 9.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORKERS 4

static void *handle;

static void die(const char *what)
{
	fprintf(stderr, "check_host: %s: %s\n", what, dlerror());
	_exit(9);
}

static void open_plugin(const char *path)
{
	handle = dlopen(path, RTLD_NOW);
	if (!handle)
		die(path);
}

static void *find(const char *name)
{
	void *p = dlsym(handle, name);

	if (!p)
		die(name);
	return p;
}

__attribute__((noinline)) static void close_plugin(void)
{
	if (dlclose(handle))
		die("dlclose");
	handle = NULL;
}

/* ---- the correct host: a lock between callers and the reload ---- */

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static volatile int stop;
static int (*plugin_call)(int);
static long calls[WORKERS];

static void *work(void *arg)
{
	long *count = arg;

	while (!stop) {
		pthread_rwlock_rdlock(&lock);
		if (plugin_call && plugin_call(3) == 4)
			++*count;
		pthread_rwlock_unlock(&lock);
		usleep(50);
	}
	return NULL;
}

static int were_calls(void)
{
	for (int i = 0; i < WORKERS; i++)
		if (*(volatile long *)&calls[i])
			return 1;
	return 0;
}

static void on_alarm(int signal)
{
	(void)signal;
}

static int correct(const char *path, int cycles)
{
	struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
	pthread_t worker[WORKERS];
	long sum = 0;

	sigaction(SIGALRM, &action, NULL);
	ualarm(1000, 1000);
	for (int i = 0; i < WORKERS; i++)
		pthread_create(&worker[i], NULL, work, &calls[i]);
	for (int i = 0; i < cycles; i++) {
		pthread_rwlock_wrlock(&lock);
		open_plugin(path);
		plugin_call = (int (*)(int))find("plugin_call");
		pthread_rwlock_unlock(&lock);
		usleep(1000);
		/* On a busy machine it may be late until somebody calls. */
		for (int tries = 0; i == cycles - 1 && tries < 60000 && !were_calls(); tries++)
			usleep(1000);
		if (i % 4 == 0) {
			pid_t pid = fork();
			if (pid == 0) {
				plugin_call = NULL;
				close_plugin();
				_exit(0);
			}
			while (waitpid(pid, NULL, 0) < 0)
				;
		}
		pthread_rwlock_wrlock(&lock);
		plugin_call = NULL;
		close_plugin();
		pthread_rwlock_unlock(&lock);
	}
	stop = 1;
	for (int i = 0; i < WORKERS; i++) {
		pthread_join(worker[i], NULL);
		sum += calls[i];
	}
	return sum ? 0 : 9;
}

/* ---- mistakes ---- */

/* Waits until the thread of this number is in that state (proc(5)), for a minute at most. */
static void await_state(int tid, char state)
{
	char path[64], text[256];

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	for (int i = 0; i < 60000; i++) {
		FILE *file = fopen(path, "r");
		char *end = file && fgets(text, sizeof(text), file) ? strrchr(text, ')') : NULL;
		if (file)
			fclose(file);
		if (end && end[1] == ' ' && end[2] == state)
			return;
		usleep(1000);
	}
}

static volatile int in_handler, inside_tid;

static void sleep_in_handler(int signal)
{
	(void)signal;
	in_handler = 1;
	sleep(30);
	in_handler = 2;
}

static void *call_wait(void *arg)
{
	static char room[65536];
	const stack_t own = {.ss_sp = room, .ss_size = sizeof(room)};

	sigaltstack(&own, NULL);
	inside_tid = gettid();
	((void (*)(void))find(arg))();
	return NULL;
}

/* elsewhere: the thread is in a signal handler too, on a stack of its own. */
static int inside(const char *path, int elsewhere)
{
	struct sigaction action = {.sa_handler = sleep_in_handler, .sa_flags = SA_ONSTACK};
	pthread_t thread;

	open_plugin(path);
	volatile int *is_inside = find("plugin_inside");
	pthread_create(&thread, NULL, call_wait, "plugin_wait");
	for (int i = 0; !*is_inside; i++) {
		if (i == 60000)
			return 9;
		usleep(1000);
	}
	await_state(inside_tid, 'S');
	if (elsewhere) {
		sigaction(SIGUSR2, &action, NULL);
		pthread_kill(thread, SIGUSR2);
		for (int i = 0; !in_handler && i < 60000; i++)
			usleep(1000);
		await_state(inside_tid, 'S');
	}
	close_plugin();
	/* Not exit(): the thread could come back meanwhile. */
	_exit(0);
}

static void (*callback)(void);
static void (*volatile *volatile heap_callback)(void);

__attribute__((noinline)) static void call_too_late(void)
{
	callback();
	stop = 1;
}

static int late(const char *path)
{
	open_plugin(path);
	callback = (void (*)(void))find("plugin_callback");
	close_plugin();
	call_too_late();
	return 9;
}

static int access_late(const char *path)
{
	open_plugin(path);
	volatile int *number = find("plugin_number");
	close_plugin();
	return *number;
}

/* In a child; ends as that does. */
static int late_fork(const char *path)
{
	int status = 0;

	open_plugin(path);
	callback = (void (*)(void))find("plugin_callback");
	close_plugin();
	pid_t pid = fork();
	if (pid == 0)
		call_too_late();
	while (waitpid(pid, &status, 0) < 0)
		;
	return WIFSIGNALED(status) ? 100 + WTERMSIG(status) : 9;
}

static int close_from_inside(const char *path)
{
	open_plugin(path);
	void (*plugin_close)(int (*)(void *), void *) = (void (*)(int (*)(void *), void *))find("plugin_close");
#ifdef CLOSE_BY_PLT
	plugin_close((int (*)(void *))dlsym(RTLD_DEFAULT, "dlclose"), handle);
#else
	plugin_close(dlclose, handle);
#endif
	return 9;
}

/* 0 when SIGTRAP is still blocked and ignored afterwards. */
static int keep_trap(const char *path)
{
	struct sigaction action;
	sigset_t set;

	sigfillset(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGTRAP, SIG_IGN);
	open_plugin(path);
	close_plugin();
	sigaction(SIGTRAP, NULL, &action);
	sigprocmask(SIG_BLOCK, NULL, &set);
	return action.sa_handler == SIG_IGN && sigismember(&set, SIGTRAP) ? 0 : 9;
}

/* The first thread is gone, the others live. */
static void *close_without_leader(void *path)
{
	await_state(getpid(), 'Z');
	for (int i = 0; i < 5; i++) {
		open_plugin(path);
		close_plugin();
	}
	exit(3);
}

static int leave_leader(const char *path)
{
	pthread_t thread;

	pthread_create(&thread, NULL, close_without_leader, (void *)path);
	pthread_exit(NULL);
}

extern int __cxa_thread_atexit_impl(void (*function)(void *), void *object, void *library);
extern void *__dso_handle;

/* Of the program, so it does not hold the plugin. */
static int leave_thread_atexit(const char *path)
{
	open_plugin(path);
	__cxa_thread_atexit_impl((void (*)(void *))find("plugin_destroy"), NULL, &__dso_handle);
	close_plugin();
	_exit(0);
}

static void harmless(void *p)
{
	(void)p;
}

static pthread_barrier_t registered;

static void *have_destructors(void *arg)
{
	for (int i = 0; i < 100; i++)
		__cxa_thread_atexit_impl(i == 50 ? (void (*)(void *))arg : harmless, NULL, &__dso_handle);
	pthread_barrier_wait(&registered);
	pause();
	return NULL;
}

/* The same in another thread, amid others. */
static int leave_in_thread(const char *path)
{
	pthread_t thread;

	open_plugin(path);
	pthread_barrier_init(&registered, NULL, 2);
	pthread_create(&thread, NULL, have_destructors, find("plugin_destroy"));
	pthread_barrier_wait(&registered);
	close_plugin();
	_exit(0);
}

/* A namespace that is empty again, then used again. */
static int in_namespace(const char *path)
{
	for (int i = 0; i < 3; i++) {
		handle = dlmopen(LM_ID_NEWLM, path, RTLD_NOW);
		if (!handle)
			die("dlmopen");
		callback = (void (*)(void))find("plugin_callback");
		close_plugin();
	}
	call_too_late();
	return 9;
}

static int leave_handler(const char *path)
{
	open_plugin(path);
	((void (*)(void))find("plugin_install"))();
	close_plugin();
	return 0;
}

static int leave_atexit(const char *path)
{
	open_plugin(path);
	atexit((void (*)(void))find("plugin_callback"));
	close_plugin();
	_exit(0);
}

static void at_exit(void)
{
}

static void on_exit_harmless(int status, void *arg)
{
	(void)status;
	(void)arg;
}

/* Amid others: libc has room for 32 of them, then makes more. */
static int leave_many(const char *path)
{
	open_plugin(path);
	for (int i = 0; i < 120; i++) {
		atexit(i == 60 ? (void (*)(void))find("plugin_callback") : at_exit);
		on_exit(i == 90 ? (void (*)(int, void *))find("plugin_destroy") : on_exit_harmless, NULL);
	}
	close_plugin();
	_exit(0);
}

/* First, cycles that are in order, with a word in libc's data that leads in a circle: an environment of one odd
 * string. */
static int cycle_in_circle(const char *path, int cycles)
{
	static char *circle[256];

	circle[0] = (char *)circle;
	/* By name: otherwise the variable would be moved into the program. */
	char ***variable = (char ***)dlsym(RTLD_DEFAULT, "environ");
	if (!variable)
		die("environ");
	*variable = circle;
	for (int i = 0; i < cycles; i++) {
		open_plugin(path);
		close_plugin();
	}
	return 0;
}

/* The C library of another namespace, which comes after the first unload, is given a function of a plugin of this
 * one. */
static int leave_in_namespace(const char *path)
{
	open_plugin(path);
	close_plugin();
	handle = dlmopen(LM_ID_NEWLM, path, RTLD_NOW);
	if (!handle)
		die("dlmopen");
	int (*give)(void (*)(int, void *), void *) = (int (*)(void (*)(int, void *), void *))find("on_exit");
	open_plugin(path);
	give((void (*)(int, void *))find("plugin_destroy"), NULL);
	close_plugin();
	_exit(0);
}

static int leave_quick(const char *path)
{
	open_plugin(path);
	for (int i = 0; i < 70; i++)
		at_quick_exit(i == 40 ? (void (*)(void))find("plugin_callback") : at_exit);
	close_plugin();
	return 0;
}

static int leave_fork(const char *path, int others)
{
	open_plugin(path);
	for (int i = 0; i < others; i++)
		pthread_atfork(at_exit, at_exit, at_exit);
	pthread_atfork(NULL, (void (*)(void))find("plugin_callback"), at_exit);
	close_plugin();
	return 0;
}

static int leave_key(const char *path)
{
	pthread_key_t key;

	open_plugin(path);
	pthread_key_create(&key, (void (*)(void *))find("plugin_destroy"));
	close_plugin();
	return 0;
}

static int leave_pointer(const char *path)
{
	heap_callback = malloc(sizeof(*heap_callback));
	open_plugin(path);
	*heap_callback = (void (*)(void))find("plugin_callback");
	close_plugin();
	return 0;
}

/* In a variable, and in memory that lies right behind the program's. */
static int leave_pointers(const char *path)
{
	extern char end[];
	char *behind = (char *)(((uintptr_t)end + 4095) & ~4095ul);

	behind = mmap(behind, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (behind == MAP_FAILED)
		return 8;
	open_plugin(path);
	callback = (void (*)(void))find("plugin_callback");
	memcpy(behind + 64, &callback, sizeof(callback));
	close_plugin();
	return 0;
}

static int stay(const char *path)
{
	open_plugin(path);
	((int (*)(int))find("plugin_call"))(1);
	close_plugin();
	return 0;
}

static int leak(const char *path, int cycles, int really)
{
	for (int i = 0; i < cycles; i++) {
		open_plugin(path);
		if (really)
			((void (*)(void))find("plugin_leak"))();
		close_plugin();
	}
	return 0;
}

/* path needs more, which is opened and closed on its own. */
static int needed(const char *path, const char *more, int too)
{
	void *user = dlopen(path, RTLD_NOW);

	if (!user)
		die(path);
	open_plugin(more);
	close_plugin();
	if (too)
		dlclose(user);
	return 0;
}

/* path has nothing but an undefined symbol, and is bound to that of other. */
static int bound(const char *path, const char *other)
{
	handle = dlopen(other, RTLD_NOW | RTLD_GLOBAL);
	if (!handle || !dlopen(path, RTLD_NOW))
		die(path);
	((int (*)(int))find("plugin_call"))(1);
	close_plugin();
	return 0;
}

static int stay_by_flag(const char *path)
{
	handle = dlopen(path, RTLD_NOW | RTLD_NODELETE);
	if (!handle)
		die(path);
	close_plugin();
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "", *path = argc > 2 ? argv[2] : "", *more = argc > 3 ? argv[3] : "0";

	alarm(60);
	if (!strcmp(what, "correct"))
		return correct(path, atoi(more));
	if (!strcmp(what, "inside"))
		return inside(path, 0);
	if (!strcmp(what, "inside-handler"))
		return inside(path, 1);
	if (!strcmp(what, "late"))
		return late(path);
	if (!strcmp(what, "access"))
		return access_late(path);
	if (!strcmp(what, "late-fork"))
		return late_fork(path);
	if (!strcmp(what, "close-inside"))
		return close_from_inside(path);
	if (!strcmp(what, "trap"))
		return keep_trap(path);
	if (!strcmp(what, "leader"))
		return leave_leader(path);
	if (!strcmp(what, "thread-atexit"))
		return leave_thread_atexit(path);
	if (!strcmp(what, "thread-atexit-other"))
		return leave_in_thread(path);
	if (!strcmp(what, "namespace"))
		return in_namespace(path);
	if (!strcmp(what, "handler"))
		return leave_handler(path);
	if (!strcmp(what, "atexit"))
		return leave_atexit(path);
	if (!strcmp(what, "many"))
		return leave_many(path);
	if (!strcmp(what, "circle"))
		return cycle_in_circle(path, atoi(more));
	if (!strcmp(what, "circle-many"))
		return cycle_in_circle(path, 3) || leave_many(path);
	if (!strcmp(what, "namespace-exit"))
		return leave_in_namespace(path);
	if (!strcmp(what, "quick"))
		return leave_quick(path);
	if (!strcmp(what, "atfork"))
		return leave_fork(path, atoi(more));
	if (!strcmp(what, "key"))
		return leave_key(path);
	if (!strcmp(what, "pointer"))
		return leave_pointer(path);
	if (!strcmp(what, "pointers"))
		return leave_pointers(path);
	if (!strcmp(what, "stay"))
		return stay(path);
	if (!strcmp(what, "stay-flag"))
		return stay_by_flag(path);
	if (!strcmp(what, "bound"))
		return bound(path, more);
	if (!strcmp(what, "leak"))
		return leak(path, atoi(more), 1);
	if (!strcmp(what, "cycle"))
		return leak(path, atoi(more), 0);
	if (!strcmp(what, "needed"))
		return needed(path, more, 0);
	if (!strcmp(what, "needed-too"))
		return needed(path, more, 1);
	if (!strcmp(what, "exit")) {
		open_plugin(path);
		close_plugin();
		return atoi(more);
	}
	fprintf(stderr, "check_host: unknown mistake '%s'\n", what);
	return 9;
}
