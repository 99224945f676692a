/* SPDX-License-Identifier: MIT */
/*
 * rtld WHAT: shows one thing that ld.so does, with the libraries of t/loader/rtld.t (loader_part.c, rtld_part.c), and
 * prints what it saw. What it prints must not depend on whether it is traced; that of WHAT = views may: addresses of
 * traced functions are their stubs'.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <execinfo.h>
#include <math.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "loader.h"
#include "rtld_thousand.h"

typedef int hold_function(int (*)(void *), void *);

static void *other;

#define DECLARE(n) void t_##n(void);
#define CALL(n)	   t_##n();
EACH_OF_THOUSAND(DECLARE)
/* Of libuser.so, when that is open: bound to what libglob.so has. */
int start_glob(int n);

static void wait_for(sem_t *sem, const char *name)
{
	struct timespec end;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += 60;
	if (sem_clockwait(sem, CLOCK_MONOTONIC, &end))
		printf("%s: %s\n", name, strerror(errno));
}

/* ---- while ld.so's lock is held ---- */

static sem_t may_begin, has_ended;
static int (*first_touch)(int);

static int count_objects(struct dl_phdr_info *info, size_t size, void *count)
{
	(void)info;
	(void)size;
	++*(int *)count;
	return 0;
}

static void *call_one(void *argument)
{
	t_003();
	return argument;
}

/* All that does not need the lock, by a thread that makes its first event here. */
static void *unlocked(void *argument)
{
	void *frames[8], *volatile memory;
	pthread_t thread;
	int objects = 0, status = -1;

	wait_for(&may_begin, "begin");
	t_000(); /* bound now */
	memory = malloc(100000);
	free(memory);
	dl_iterate_phdr(count_objects, &objects);
	printf("backtrace: %d\n", backtrace(frames, 8) > 1);
	printf("touched: %d\n", first_touch(2));
	printf("thread: %d\n", pthread_create(&thread, NULL, call_one, NULL) || pthread_join(thread, NULL));
	fflush(stdout);
	pid_t pid = fork();
	if (!pid) {
		t_001(); /* bound in the child */
		_exit(7);
	}
	waitpid(pid, &status, 0);
	printf("fork: %d\n", WEXITSTATUS(status));
	t_002();
	sem_post(&has_ended);
	return argument;
}

static void close_meanwhile(void)
{
	pthread_t thread;
	void *frames[8];

	sem_init(&may_begin, 0, 0);
	sem_init(&has_ended, 0, 0);
	backtrace(frames, 8); /* opens libgcc */
	void *library = open_it("one"), *touching = open_it("part");
	first_touch = (int (*)(int))symbol(touching, "part", "touch");
	pthread_create(&thread, NULL, unlocked, NULL);
	close_it(library, "one");
	pthread_join(thread, NULL);
	close_it(touching, "part");
}

/* ---- a thread inside ---- */

static sem_t is_inside;
static volatile int leave;

static int want_the_lock(void *argument)
{
	Dl_info info;
	int rounds = 0;

	sem_post(&is_inside);
	while (!leave || !rounds) {
		void *library = dlopen("./libtwo.so", RTLD_NOW);
		rounds += symbol(library, "two", "work") && dladdr((void *)close_it, &info);
		if (library)
			dlclose(library);
	}
	*(int *)argument = rounds > 0;
	return 1;
}

static void *hold_inside(void *function)
{
	int rounds = 0;

	((hold_function *)function)(want_the_lock, &rounds);
	printf("inside: %d\n", rounds);
	return NULL;
}

static void close_with_one_inside(void)
{
	pthread_t thread;
	void *part = open_it("part");

	sem_init(&is_inside, 0, 0);
	pthread_create(&thread, NULL, hold_inside, symbol(part, "part", "hold"));
	wait_for(&is_inside, "inside");
	for (int i = 0; i < 50; i++) {
		void *library = dlopen("./libone.so", RTLD_NOW);
		if (!library || ((int (*)(int))symbol(library, "one", "work"))(1) != 2 || dlclose(library))
			printf("round %d failed\n", i);
	}
	leave = 1;
	pthread_join(thread, NULL);
	close_it(part, "part");
	tell_loaded("part");
}

/* ---- many threads bind at once ---- */

static pthread_barrier_t barrier;

static void *call_all(void *argument)
{
	pthread_barrier_wait(&barrier);
	EACH_OF_THOUSAND(CALL)
	return argument;
}

static void bind_at_once(void)
{
	pthread_t thread[8];

	pthread_barrier_init(&barrier, NULL, 8);
	for (int i = 0; i < 8; i++)
		pthread_create(&thread[i], NULL, call_all, NULL);
	for (int i = 0; i < 8; i++)
		pthread_join(thread[i], NULL);
	printf("called\n");
}

/* ---- thread-local storage ---- */

enum { COPIES = 20 };
static void *copies[COPIES];

static void *touch_all(void *argument)
{
	int sum = 0;

	for (int i = 0; i < COPIES; i++)
		sum += ((int (*)(int))symbol(copies[i], "copy", "touch"))(i);
	printf("sum: %d\n", sum);
	return argument;
}

static void many_modules(void)
{
	pthread_t thread;
	char path[64];

	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < COPIES; i++) {
			snprintf(path, sizeof(path), "./libcopy%d.so", i);
			if (!(copies[i] = dlopen(path, RTLD_NOW)))
				printf("%s\n", dlerror());
		}
		touch_all(NULL);
		pthread_create(&thread, NULL, touch_all, NULL);
		pthread_join(thread, NULL);
		for (int i = 0; i < COPIES; i++)
			dlclose(copies[i]);
	}
}

/* ---- the program's keys ---- */

static int destroyed;

static void destroy(void *value)
{
	destroyed += *(int *)value;
}

static void *use_keys(void *values)
{
	pthread_key_t *keys = values;
	static int ones[500];
	int wrong = 0;

	for (int i = 0; i < 500; i++) {
		ones[i] = 1;
		wrong += pthread_getspecific(keys[i]) != NULL;
		pthread_setspecific(keys[i], &ones[i]);
		t_004(); /* has a record of its own from here on */
	}
	for (int i = 0; i < 500; i++)
		wrong += pthread_getspecific(keys[i]) != &ones[i];
	printf("wrong: %d\n", wrong);
	return NULL;
}

static void many_keys(void)
{
	static pthread_key_t keys[500];
	pthread_t thread;

	t_004();
	for (int i = 0; i < 500; i++)
		if (pthread_key_create(&keys[i], destroy))
			printf("no key %d\n", i);
	pthread_create(&thread, NULL, use_keys, keys);
	pthread_join(thread, NULL);
	printf("destroyed: %d\n", destroyed);
}

/* ---- what the program is told ---- */

static int tell_object(struct dl_phdr_info *info, size_t size, void *count)
{
	(void)size;
	/* Any auditor's own TLS comes first. */
	printf("object %s, %d segments, TLS %d\n", info->dlpi_name, info->dlpi_phnum, info->dlpi_tls_modid > 0);
	return count_objects(info, 0, count);
}

static void views(void)
{
	void *library = open_it("one"), *work = symbol(library, "one", "work");
	struct link_map *map = NULL;
	struct r_debug *debug = NULL;
	pthread_key_t key = 77;
	Lmid_t space = 5;
	Dl_info info = {0};
	int objects = 0;

	dl_iterate_phdr(tell_object, &objects);
	dlinfo(library, RTLD_DI_LMID, &space);
	dlinfo(library, RTLD_DI_LINKMAP, &map);
	printf("namespace %ld, %s\n", (long)space, map->l_name);
	for (map = dlinfo(dlopen(NULL, RTLD_NOW), RTLD_DI_LINKMAP, &map) ? NULL : map; map; map = map->l_next)
		printf("map %s\n", map->l_name);
	printf("dladdr %d\n", dladdr(work, &info));
	printf("%s %s %d\n", info.dli_fname, info.dli_sname, info.dli_saddr == work);
	for (const ElfW(Dyn) *d = _DYNAMIC; d->d_tag; d++)
		if (d->d_tag == DT_DEBUG)
			debug = (struct r_debug *)d->d_un.d_ptr;
	printf("debugger's list is consistent: %d\n", debug && debug->r_state == RT_CONSISTENT);
	printf("first key: %d\n", pthread_key_create(&key, NULL) ? -1 : (int)key);
	int more = 0;
	while (!pthread_key_create(&key, NULL))
		more++;
	printf("keys: %d\n", more);
	close_it(library, "one");
}

static void on_signal(int signal)
{
	(void)signal;
	other = open_it("two");
	call(other, "two", 2);
}

void at_begin(const char *name)
{
	if (is("inside")) /* how often is a matter of luck */
		return;
	printf("%s: begins\n", name);
	if (is("exit-in-constructor") && !strcmp(name, "one"))
		exit(6);
	if (is("signal-in-constructor") && !strcmp(name, "one"))
		raise(SIGUSR1);
}

void at_end(const char *name)
{
	if (is("inside"))
		return;
	printf("%s: ends\n", name);
	if (strcmp(name, "one"))
		return;
	if (is("exit-in-destructor"))
		exit(7);
	if (is("exit-closes")) {
		call(other, "two", 2);
		close_it(other, "two");
		tell_loaded("two");
	} else if (is("exit-opens")) {
		other = open_it("two");
		call(other, "two", 2);
	} else if (is("locked")) {
		sem_post(&may_begin);
		wait_for(&has_ended, "others");
	} else if (is("signal-in-destructor")) {
		raise(SIGUSR1);
	}
}

static void open_and_call_one(void)
{
	void *library = open_it("one");

	call(library, "one", 3);
}

static void needed(void)
{
	void *x = open_it("x"), *dep = open_it("dep");

	close_it(dep, "dep");
	tell_loaded("dep");
	call(x, "x", 2);
	close_it(x, "x");
	tell_loaded("x");
	tell_loaded("dep");
}

static void bound_by_another(void)
{
	void *user = open_as("user", RTLD_LAZY), *glob = open_as("glob", RTLD_NOW | RTLD_GLOBAL);
	int (*start)(int) = (int (*)(int))symbol(user, "start", "glob");

	printf("start: %d\n", start(1));
	close_it(glob, "glob");
	tell_loaded("glob");
	printf("start: %d\n", start(2));
	close_it(user, "user");
	tell_loaded("user");
	tell_loaded("glob");
}

static void same_namespace(void)
{
	void *one = dlmopen(LM_ID_NEWLM, "./libone.so", RTLD_NOW), *two;
	Lmid_t space = -5;

	if (!one || dlinfo(one, RTLD_DI_LMID, &space))
		printf("%s\n", dlerror());
	two = dlmopen(space, "./libtwo.so", RTLD_NOW);
	call(one, "one", 2);
	call(two, "two", 3);
	close_it(one, "one");
	call(two, "two", 1);
	close_it(two, "two");
}

/* ---- a thread that works on while the process ends ---- */

static sem_t wanted, answered;
static int (*work_on)(int);

static void *work_when_asked(void *unused)
{
	for (int n = 0;; n++) {
		wait_for(&wanted, "orders");
		work_on(n);
		sem_post(&answered);
	}
	return unused;
}

static void ask_for(int calls)
{
	for (int i = 0; i < calls; i++) {
		sem_post(&wanted);
		wait_for(&answered, "the thread");
	}
	printf("%d calls in the other namespace\n", calls);
}

/* The namespaces of libraries are closed before this one, the last first. Nothing of them is unmapped. */
__attribute__((destructor)) static void end(void)
{
	if (work_on)
		ask_for(3);
}

static void work_in_namespace(void)
{
	pthread_t thread;
	void *one = dlmopen(LM_ID_NEWLM, "./libone.so", RTLD_NOW), *two = dlmopen(LM_ID_NEWLM, "./libtwo.so", RTLD_NOW);

	call(one, "one", 2);
	work_on = two ? (int (*)(int))symbol(two, "two", "work") : NULL;
	if (!work_on || pthread_create(&thread, NULL, work_when_asked, NULL))
		exit(9);
	ask_for(2);
}

static void promoted(void)
{
	void *library = open_it("one"), *again;

	printf("%s\n", dlsym(RTLD_DEFAULT, "one_work") ? "global" : "local");
	again = dlopen("./libone.so", RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
	printf("%s\n", dlsym(RTLD_DEFAULT, "one_work") ? "global" : "local");
	printf("%s\n", again == library ? "the same" : "another");
	call(library, "one", 2);
	close_it(again, "one");
	printf("%s\n", dlopen("./libtwo.so", RTLD_NOW | RTLD_NOLOAD) ? "open" : "not loaded");
	close_it(library, "one");
	tell_loaded("one");
	library = open_as("one", RTLD_NOW | RTLD_DEEPBIND);
	call(library, "one", 1);
	close_it(library, "one");
}

static void vdso(void)
{
	void *library = dlopen("linux-vdso.so.1", RTLD_NOW | RTLD_NOLOAD);
	int (*get)(clockid_t, struct timespec *) = library ? dlsym(library, "__vdso_clock_gettime") : NULL;
	struct timespec t = {0};

	printf("vDSO: %s\n", get ? "found" : "not found");
	for (int i = 0; get && i < 3; i++) {
		int failed = get(CLOCK_MONOTONIC, &t);
		printf("%d %d\n", failed, t.tv_sec > 0);
	}
	if (library)
		dlclose(library);
	clock_gettime(CLOCK_MONOTONIC, &t);
	printf("%d\n", t.tv_sec > 0);
}

int main(int argc, char **argv)
{
	static char output[1 << 16];
	static const char *const broken[] = {"garbage", "truncated", "machine", "class", "static-tls"};

	if (argc < 2)
		return 2;
	what = argv[1];
	alarm(100);
	setvbuf(stdout, output, _IOFBF, sizeof(output));
	signal(SIGUSR1, on_signal);
	if (is("needed")) {
		needed();
	} else if (is("bound-by-another")) {
		bound_by_another();
	} else if (is("promoted")) {
		promoted();
	} else if (is("same-namespace")) {
		same_namespace();
	} else if (is("exit-with-namespaces")) {
		work_in_namespace();
	} else if (is("broken")) {
		for (int i = 0; i < 10; i++) {
			open_it(broken[i % 5]);
			tell_loaded(broken[i % 5]);
		}
		open_and_call_one();
	} else if (is("exit-in-constructor") || is("exit-in-destructor")) {
		close_it(open_it("one"), "one");
	} else if (is("exit-closes") || is("exit-opens")) {
		if (is("exit-closes"))
			other = open_it("two");
		open_and_call_one();
	} else if (is("signal-in-constructor") || is("signal-in-destructor")) {
		close_it(open_it("one"), "one");
		close_it(other, "two");
		tell_loaded("two");
	} else if (is("locked")) {
		close_meanwhile();
	} else if (is("inside")) {
		close_with_one_inside();
	} else if (is("binding")) {
		bind_at_once();
	} else if (is("tls")) {
		many_modules();
	} else if (is("keys")) {
		many_keys();
	} else if (is("vdso")) {
		vdso();
	} else if (is("math")) {
		volatile double x = argc;
		printf("%.6f %.6f %.6f %.6f\n", floor(x + 0.7), sin(x), fma(x, x, x), pow(x, 3.5));
	} else if (is("views")) {
		views();
	} else {
		return 2;
	}
	return 0;
}
