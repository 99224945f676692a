/* SPDX-License-Identifier: MIT */
/*
 * The claim of runtime/process/epoch.h, asserted: reclaimed memory is never touched again. Readers again and again
 * enter and leave sections in which they look at the page that a shared pointer points to. A retirer puts a new page
 * there and defers the old one. The thread that reclaims a page poisons it: fills it, and in half of the runs makes it
 * unreadable. Meanwhile signals enter sections inside of sections, threads die in sections, and processes are forked in
 * sections and reclaim by themselves.
 *
 * How to read it: `touched` counts looks at a page that held anything but one number of a living page; it must be 0. A
 * look at a protected page ends the run with status 3. The other numbers show that the test did something: all must be
 * far from 0.
 *
 * Each run is a process of its own, for 0.6 s, or 20 s with XAUDIT_SOAK=1 (make soak).
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/process/epoch.h"
#include "runtime/process/process.h"
#include "t/lib/tap.h"

#define READERS 4
#define DYING	2
#define PAGES	256
#define WORDS	512 /* words of 8 bytes in a page */
#define LIVING	0x11fe000000000000ull
#define POISON	0xdead5eeddead5eedull

/* The counts of a run; shared with the process that judges it. */
static struct result {
	uint64_t sections, nested, swaps, reclaimed, deaths, deaths_inside, forks, touched, fork_failed, kept, fenced;
} *result;

static void add(uint64_t *counter, uint64_t n)
{
	__atomic_fetch_add(counter, n, __ATOMIC_RELAXED); /* relaxed: a sum, read when the run is over */
}

/* ---- pages ---- */

enum state { FREE, LIVE, RETIRED };

struct page {
	struct epoch_item item;
	uint64_t *words;
	enum state state; /* process lock */
};

#ifdef EPOCH_TSAN
static int deaths_order;
#endif

static struct page pages[PAGES];
static struct page *shared; /* the page that sections look at */
static uint64_t generation;
static int protects; /* poisoned pages can't even be read */

static void poison(struct epoch_item *item)
{
	struct page *page = (struct page *)item;

#ifdef EPOCH_TSAN
	__atomic_load_n(&deaths_order, __ATOMIC_ACQUIRE); /* pairs with the release in die() */
#endif
	for (int i = 0; i < WORDS; i += 16)
		page->words[i] = POISON;
	if (protects && mprotect(page->words, WORDS * 8, PROT_NONE))
		abort();
	page->state = FREE;
	add(&result->reclaimed, 1);
}

/* A page whose words all hold one number. NULL: all pages are held. Lock held. */
static struct page *new_page(void)
{
	static unsigned next;

	for (unsigned i = 0; i < PAGES; i++) {
		struct page *page = &pages[next++ % PAGES];
		if (page->state != FREE)
			continue;
		if (protects && mprotect(page->words, WORDS * 8, PROT_READ | PROT_WRITE))
			abort();
		generation++;
		for (int w = 0; w < WORDS; w += 16)
			page->words[w] = LIVING | generation;
		page->state = LIVE;
		return page;
	}
	return NULL;
}

/* Puts a new page there and retires the old one. Lock held. */
static int swap_pages(void)
{
	struct page *page = new_page();

	if (!page)
		return 0;
	struct page *old = __atomic_exchange_n(&shared, page, __ATOMIC_RELEASE); /* pairs with the acquire in look() */
	old->state = RETIRED;
	epoch_defer(&old->item, poison);
	add(&result->swaps, 1);
	return 1;
}

/* ---- sections ---- */

static __thread struct epoch_slot *volatile self __attribute__((tls_model("initial-exec")));
static int stopped;

static int is_stopped(void)
{
	return __atomic_load_n(&stopped, __ATOMIC_RELAXED); /* relaxed: soon enough */
}

static const uint64_t *look(void)
{
	return __atomic_load_n(&shared, __ATOMIC_ACQUIRE)->words; /* pairs with the release in swap_pages() */
}

/* Looks at a page several times: it must not change until the section ends. */
static void check(const uint64_t *words, unsigned looks)
{
	const volatile uint64_t *p = words;
	uint64_t first = p[0];

	for (unsigned i = 1; i <= looks; i++)
		if (p[i * 16 % WORDS] != first || (first & LIVING) != LIVING || first == POISON)
			add(&result->touched, 1);
}

/*
 * Stores that miss the cache, right before an announcement: the announcement waits after these stores in the
 * processor's store buffer while the section's loads go on. Without the fence between the two, a retirer now sees no
 * announcement for long enough to poison the page.
 */
static uint64_t *far;
#define FAR_WORDS (4ul << 20)

static void delay_stores(uint64_t *random)
{
#ifdef EPOCH_TSAN
	(void)random; /* needs the real order of the real processor */
#else
	for (int i = 0; i < 24; i++) {
		*random = *random * 6364136223846793005ull + 1442695040888963407ull;
		/* Relaxed: no thread reads it. */
		__atomic_store_n(&far[(*random >> 33) % FAR_WORDS], *random, __ATOMIC_RELAXED);
	}
#endif
}

static void section(unsigned looks)
{
	uint64_t outer = epoch_announce(self);

	check(look(), looks);
	epoch_withdraw(self, outer);
}

/* SIGALRM and SIGUSR1: enters a section, perhaps inside of another one, between any two of its instructions. */
static void on_signal(int signal)
{
	(void)signal;
	if (!self)
		return;
	uint64_t outer = epoch_announce(self);
	const uint64_t *words = look();
	uint64_t inner = epoch_announce(self);
	check(look(), 4);
	epoch_withdraw(self, inner);
	check(words, 4);
	epoch_withdraw(self, outer);
	add(outer ? &result->nested : &result->sections, 1);
}

/* SIGUSR2: the thread dies where it stands. */
static void on_death(int signal)
{
	(void)signal;
	pthread_exit(NULL);
}

static void die(void)
{
#ifdef EPOCH_TSAN
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	/*
	 * epoch_reclaim() learns from the kernel that this thread looks at nothing any more; TSan can't see that. Pairs
	 * with the acquire in poison().
	 */
	__atomic_fetch_add(&deaths_order, 1, __ATOMIC_RELEASE);
	pthread_exit(NULL); /* from a handler, TSan does not survive it */
#else
	sigset_t none;

	sigemptyset(&none);
	pthread_kill(pthread_self(), SIGUSR2);
	for (;;)
		sigsuspend(&none); /* the signal is on its way */
#endif
}

static void on_fault(int signal)
{
	(void)signal;
	_exit(3);
}

static void set_handler(int signal, void (*handler)(int))
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };

	if (sigaction(signal, &action, NULL))
		abort();
}

/* The timer's signals are meant for threads in sections. */
static void take_alarms(int how)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(how, &set, NULL);
}

static void become(struct epoch_slot *slot)
{
	struct process_held held;

	process_lock(&held);
	epoch_register(slot, (uint32_t)gettid());
	process_unlock(&held);
	self = slot;
	take_alarms(SIG_UNBLOCK);
}

static unsigned reclaim(void)
{
	struct process_held held;

	process_lock(&held);
	unsigned n = epoch_reclaim();
	process_unlock(&held);
	return n;
}

/* ---- forks inside sections ---- */

/* The child's only thread is in a section that its parent's thread began, and has a page that it looks at. */
static int child(const uint64_t *words, uint64_t outer)
{
	struct process_held held;
	uint64_t touched = result->touched;
	int bad = 0;

	process_lock(&held); /* open, since fork wipes it */
	epoch_after_fork(self);
	struct page *ours = __atomic_load_n(&shared, __ATOMIC_RELAXED); /* relaxed: this is the only thread */
	int swapped = swap_pages(); /* not when all pages are held, or were just being reclaimed */
	epoch_reclaim();
	check(words, 16); /* our section began before the fork */
	if (swapped && ours->state != RETIRED)
		bad = 1; /* our section holds what is retired in it, here too */
	epoch_withdraw(self, outer);
	epoch_reclaim();
	if (epoch_pending() || (swapped && ours->state != FREE))
		bad = 1; /* nothing holds any more */
	process_unlock(&held);
	section(16);
	return bad || result->touched != touched;
}

static void fork_inside(void)
{
	sigset_t all, before;
	int status = 0;

	/*
	 * The counters are shared with the parent: a handler in the child would add to them, and the timer's signals
	 * would go on.
	 */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	uint64_t outer = epoch_announce(self);
	const uint64_t *words = look();
	pid_t pid = fork();
	if (pid == 0) {
		static struct result own;
		own = *result;
		result = &own;
		_exit(child(words, outer));
	}
	check(words, 16);
	epoch_withdraw(self, outer);
	if (pid > 0) {
		waitpid(pid, &status, 0); /* the child waits for no other process; the run itself is bounded */
		add(&result->forks, 1);
	}
	if (pid < 0 || status)
		add(&result->fork_failed, 1);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* ---- threads ---- */

static struct epoch_slot slot[READERS + DYING];
static pthread_t thread[READERS + DYING];

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void *reader(void *number)
{
	int n = (int)(intptr_t)number;
	uint64_t sections = 0, random = (uint64_t)n, next_fork = now_ms() + 40;

	become(&slot[n]);
	while (!is_stopped()) {
		for (int i = 0; i < 200; i++) {
			if (i % 2)
				delay_stores(&random);
			section(i % 50 ? 2 : 400);
		}
		sections += 200;
		if (sections % 4000 == 0)
			reclaim();
		if (sections % 2000 == 0)
			sched_yield();
		if (n == 0 && now_ms() > next_fork) {
			fork_inside();
			next_fork = now_ms() + 40;
		}
	}
	add(&result->sections, sections);
	self = NULL;
	return NULL;
}

/* Enters sections until a signal ends it in one; or, as a well-behaved thread, gives its slot up. */
static void *dying(void *argument)
{
	struct epoch_slot *own = argument;
	struct process_held held;

	become(own);
	for (int i = 0; i < 100; i++)
		section(100);
	if (now_ms() % 2) {
		epoch_announce(self);
		check(look(), 100);
		add(&result->deaths_inside, 1);
		die();
	}
	self = NULL;
	process_lock(&held);
	epoch_unregister(own);
	process_unlock(&held);
	return NULL;
}

/* One dying thread after another takes over the slot. */
static void *undertaker(void *number)
{
	int n = (int)(intptr_t)number;

	while (!is_stopped()) {
		pthread_t one;
		if (pthread_create(&one, NULL, dying, &slot[n]) == 0) {
			pthread_join(one, NULL);
			add(&result->deaths, 1);
		}
		usleep(500);
	}
	return NULL;
}

static void retire_until(uint64_t end)
{
	struct process_held held;
	uint64_t round = 0;

	for (; now_ms() < end; round++) {
		for (int i = 0; i < 16; i++) {
			process_lock(&held);
			int swapped = swap_pages();
			epoch_reclaim();
			process_unlock(&held);
			if (!swapped)
				sched_yield();
		}
		if (round % 4 == 0)
			pthread_kill(thread[round / 4 % READERS], SIGUSR1);
		if (round % 64 == 0)
			usleep(200);
	}
}

static void describe(void)
{
}

/* Was there enough of what can be told before the end? */
static int was_enough(void)
{
	return __atomic_load_n(&result->swaps, __ATOMIC_RELAXED) > 50 &&
	       __atomic_load_n(&result->deaths, __ATOMIC_RELAXED) > 2 &&
	       __atomic_load_n(&result->forks, __ATOMIC_RELAXED) > 0;
}

/* One run, in this process. */
static int run(int fenced, unsigned ms)
{
	struct process_options options = { .output = "/nonexistent", .chunk_size = 1 << 20, .describe = describe };
	struct itimerval timer = { { 0, 300 }, { 0, 300 } };

	if (process_init(&options))
		return 4;
	for (int i = 0; i < PAGES; i++) {
		pages[i].words = mmap(NULL, WORDS * 8, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (pages[i].words == MAP_FAILED)
			return 4;
	}
	far = mmap(NULL, FAR_WORDS * 8, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (far == MAP_FAILED)
		return 4;
	shared = new_page();
	result->fenced = (uint64_t)epoch_init(fenced);
	take_alarms(SIG_BLOCK); /* so do all threads until they have a slot */
	set_handler(SIGALRM, on_signal);
	set_handler(SIGUSR1, on_signal);
	set_handler(SIGUSR2, on_death);
	set_handler(SIGSEGV, on_fault);
	for (int i = 0; i < READERS + DYING; i++)
		if (pthread_create(&thread[i], NULL, i < READERS ? reader : undertaker, (void *)(intptr_t)i))
			return 4;
	setitimer(ITIMER_REAL, &timer, NULL);
	retire_until(now_ms() + ms);
	/* On a machine that is busy it takes longer. */
	for (int i = 0; i < 300 && !was_enough(); i++)
		retire_until(now_ms() + 100);
	memset(&timer, 0, sizeof(timer));
	setitimer(ITIMER_REAL, &timer, NULL);
	__atomic_store_n(&stopped, 1, __ATOMIC_RELAXED); /* relaxed: soon enough */
	for (int i = 0; i < READERS + DYING; i++)
		pthread_join(thread[i], NULL);
	/* All threads are gone, some of them inside sections; the kernel may know the last one a moment longer. */
	for (int i = 0; i < 60000 && result->reclaimed < result->swaps; i++) {
		reclaim();
		usleep(1000);
	}
	result->kept = epoch_pending();
	return 0;
}

static void judge(const char *name, int fenced, int protect, unsigned ms)
{
	int status = 0;
	uint64_t end = now_ms() + ms + 60000;

	memset(result, 0, sizeof(*result));
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		protects = protect;
		_exit(run(fenced, ms));
	}
	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (now_ms() > end) {
			kill(pid, SIGKILL);
			waitpid(pid, &status, 0);
			break;
		}
		usleep(2000);
	}
	const struct result *r = result;
	if (r->fenced && !fenced)
		diag("no membarrier here: with fences again");
	diag("%s: %llu sections, %llu nested in handlers, %llu pages retired, %llu reclaimed, "
	     "%llu threads died (%llu inside), %llu forks",
		name, (unsigned long long)r->sections, (unsigned long long)r->nested, (unsigned long long)r->swaps,
		(unsigned long long)r->reclaimed, (unsigned long long)r->deaths, (unsigned long long)r->deaths_inside,
		(unsigned long long)r->forks);
	is_int(WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), 0, "%s: nobody read a protected page",
		name);
	is_int((long long)r->touched, 0, "%s: nobody saw anything but living pages", name);
	is_int((long long)r->fork_failed, 0, "%s: each child went on in its section, and reclaimed when it left", name);
	is_int((long long)r->kept, 0, "%s: in the end nothing is held", name);
	is_int((long long)r->reclaimed, (long long)r->swaps, "%s: each retired page was reclaimed once", name);
	/* A hundredth of the numbers that the slowest build on a busy machine reaches. */
	ok(r->sections > 1000 && r->swaps > 50 && r->deaths > 2 && r->forks > 0, "%s: that was a test", name);
}

int main(void)
{
	const char *soak = getenv("XAUDIT_SOAK");
	unsigned ms = soak && *soak && strcmp(soak, "0") ? 20000 : 600;

	result = mmap(NULL, sizeof(*result), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (result == MAP_FAILED)
		bail("no memory");
	plan(24);
	judge("membarrier, poisoned pages filled", 0, 0, ms);
	judge("membarrier, poisoned pages protected", 0, 1, ms);
	judge("fences, poisoned pages filled", 1, 0, ms);
	judge("fences, poisoned pages protected", 1, 1, ms);
	return done_testing();
}
