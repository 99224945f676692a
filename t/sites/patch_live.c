#define _GNU_SOURCE
/* SPDX-License-Identifier: MIT */
/*
 * Live patching: the steps of each kind of site, byte by byte; and threads that run functions while their sites flip,
 * with a profiling signal.
 */
#include "t/lib/tap.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>

#include "t/lib/core.h"
#include "x86_64/patch.h"
#include "x86_64/sled.h"

#define PAGE 4096ul
#define RX   (PROT_READ | PROT_EXEC)

/* ---- steps ---- */

static int steps_are(uint8_t *text, const struct patch_site *site, size_t size, const uint8_t *after1,
	const uint8_t *after2, const uint8_t *after3)
{
	const uint8_t *const after[] = { after1, after2, after3 };

	for (int step = 1; step <= 3; step++) {
		patch_step(site, step);
		if (memcmp(text, after[step - 1], size) != 0) {
			diag("step %d", step);
			return 0;
		}
	}
	return 1;
}

#define B(...) ((const uint8_t[]){ __VA_ARGS__ })

static void test_steps(void)
{
	static _Alignas(16) uint8_t text[32];
	struct patch_site site = {
		.patch = { .address = (uint64_t)(uintptr_t)text, .size = 5, .bytes = { 0xe9, 1, 2, 3, 4 } },
		.head_size = 2,
		.guard = 3
	};

	memcpy(text, B(0x0f, 0x1f, 0x44, 0, 0), 5);
	ok(steps_are(text, &site, 5, B(0xeb, 3, 0x44, 0, 0), B(0xeb, 3, 2, 3, 4), B(0xe9, 1, 2, 3, 4)),
		"a five-byte site gets its guard, its tail, its head");
	memcpy(site.patch.bytes, B(0x0f, 0x1f, 0x44, 0, 0), 5);
	ok(steps_are(text, &site, 5, B(0xeb, 3, 2, 3, 4), B(0xeb, 3, 0x44, 0, 0), B(0x0f, 0x1f, 0x44, 0, 0)),
		"and goes back the same way");
	memcpy(text, B(0x0f, 0x1f, 0x84, 0, 0, 2, 0, 0), 8);
	site.guard = 6;
	memcpy(site.patch.bytes, B(0xe9, 1, 2, 3, 4), 5);
	ok(steps_are(text, &site, 8, B(0xeb, 6, 0x84, 0, 0, 2, 0, 0), B(0xeb, 6, 2, 3, 4, 2, 0, 0),
		   B(0xe9, 1, 2, 3, 4, 2, 0, 0)),
		"in a longer NOP the guard jumps to the NOP's end, and what lies behind the patch stays");

	const uint8_t off[] = { 0xeb, 9, 0x66, 0x0f, 0x1f, 0x84, 0, 0, 2, 0, 0 },
		      on[] = { 0x41, 0xba, 7, 0, 0, 0, 0xe8, 1, 2, 3, 4 },
		      tail[] = { 0xeb, 9, 7, 0, 0, 0, 0xe8, 1, 2, 3, 4 };
	site = (struct patch_site){ .patch = { .address = (uint64_t)(uintptr_t)text, .size = 11 }, .head_size = 2 };
	memcpy(text, off, 11);
	memcpy(site.patch.bytes, on, 11);
	ok(steps_are(text, &site, 11, tail, tail, on), "an XRay sled gets its tail, then its head");
	site.patch.size = 2;
	memcpy(site.patch.bytes, off, 2);
	ok(steps_are(text, &site, 11, on, on, tail), "switched off it loses its head alone");

	site = (struct patch_site){ .patch = { .address = (uint64_t)(uintptr_t)text, .size = 1, .bytes = { 0xc3 } },
		.head_size = 1 };
	memcpy(text, B(0x41, 0xba, 7, 0, 0, 0, 0xe9, 1, 2, 3, 4), 11);
	ok(steps_are(text, &site, 11, B(0x41, 0xba, 7, 0, 0, 0, 0xe9, 1, 2, 3, 4),
		   B(0x41, 0xba, 7, 0, 0, 0, 0xe9, 1, 2, 3, 4), B(0xc3, 0xba, 7, 0, 0, 0, 0xe9, 1, 2, 3, 4)),
		"an XRay exit sled is switched off by one byte");

	site = (struct patch_site){
		.patch = { .address = (uint64_t)(uintptr_t)text, .size = 7, .bytes = { 0xe9, 1, 2, 3, 4, 0xeb, 0xf9 } },
		.head = 5,
		.head_size = 2
	};
	memcpy(text, B(0x90, 0x90, 0x90, 0x90, 0x90, 0x66, 0x90), 7);
	ok(steps_are(text, &site, 7, B(0xe9, 1, 2, 3, 4, 0x66, 0x90), B(0xe9, 1, 2, 3, 4, 0x66, 0x90),
		   B(0xe9, 1, 2, 3, 4, 0xeb, 0xf9)),
		"a hot site gets the jump before its entry first, then the short one");

	unsigned may = 0;
	for (uint64_t at = 0; at < 8; at++)
		may |= (unsigned)patch_may_store(at, 2) << at;
	is_int(may, 0x7f, "two bytes may be stored at every offset in a quadword but the last");
	ok(patch_may_store(7, 1), "one byte may be stored there, too");
}

/* ---- running ---- */

#define SITES	8
#define SPACING 72 /* so that sites are at offsets 0, 1 ... 7 modulo 8 when each is one byte further */
#define THREADS 3

/*
 * Function k: NOP of 5 bytes (or of 8, if long), then `lea 1(%rdi),%rax ; ret`. On, it jumps to a copy of the body that
 * adds 1000.
 */
static uint8_t *make_functions(int length)
{
	uint8_t *text = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (text == MAP_FAILED)
		bail("mmap: %s", strerror(errno));
	memset(text, 0xcc, 2 * PAGE);
	for (int k = 0; k < SITES; k++) {
		uint8_t *p = text + PAGE - 4 * SPACING + k * SPACING + k;
		memcpy(p, length == 5 ? B(0x0f, 0x1f, 0x44, 0, 0) : B(0x0f, 0x1f, 0x84, 0, 0, 2, 0, 0), (size_t)length);
		memcpy(p + length, B(0x48, 0x8d, 0x47, 0x01, 0xc3), 5);
		memcpy(p + 32, B(0x48, 0x8d, 0x87, 0xe8, 0x03, 0, 0, 0xc3), 8); /* lea 1000(%rdi),%rax ; ret */
	}
	if (mprotect(text, 2 * PAGE, RX))
		bail("mprotect: %s", strerror(errno));
	return text;
}

static uint8_t *site_at(uint8_t *text, int k)
{
	return text + PAGE - 4 * SPACING + k * SPACING + k;
}

static uint8_t *text;
static int stop;
static uint64_t calls[THREADS], on_calls[THREADS], wrong[THREADS], signals_seen, signals_wrong;

typedef long function_type(long);

static long call(int k, long n)
{
	return ((function_type *)(uintptr_t)site_at(text, k))(n);
}

static void handler(int number)
{
	(void)number;
	for (int k = 0; k < SITES; k++) {
		long r = call(k, 5);
		if (r != 6 && r != 1005)
			__atomic_fetch_add(&signals_wrong, 1, __ATOMIC_RELAXED);
	}
	__atomic_fetch_add(&signals_seen, 1, __ATOMIC_RELAXED);
}

static void *run(void *argument)
{
	size_t me = (size_t)argument;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		for (int i = 0; i < 1000; i++) {
			long n = (long)calls[me], r = call((int)(n % SITES), n);
			/* Relaxed, both: numbers that the main thread looks at. */
			__atomic_store_n(&calls[me], (uint64_t)n + 1, __ATOMIC_RELAXED);
			__atomic_store_n(&on_calls[me], on_calls[me] + (r == n + 1000), __ATOMIC_RELAXED);
			wrong[me] += r != n + 1000 && r != n + 1;
		}
	}
	return NULL;
}

static int flip(int on, int length)
{
	struct patch_site site[SITES];
	size_t n = 0;

	memset(site, 0, sizeof(site));
	for (int k = 0; k < SITES; k++) {
		uint64_t at = (uint64_t)(uintptr_t)site_at(text, k);
		int from;
		if (!patch_may_store(at, 2))
			continue;
		site[n].patch.address = at;
		site[n].head_size = 2;
		site[n].guard = (uint8_t)(length - 2);
		site[n].prot = RX;
		site[n].patch.size = 5;
		if (on)
			sled_patched(SLED_PATCHABLE, 0, 32, site[n].patch.bytes, &from);
		else
			memcpy(site[n].patch.bytes, length == 5 ? B(0x0f, 0x1f, 0x44, 0, 0) : B(0x0f, 0x1f, 0x84, 0, 0),
				5);
		n++;
	}
	return patch_live(site, n);
}

/* Was there enough of all for a test? */
static int is_enough(unsigned flips)
{
	uint64_t all = 0, on = 0;

	for (int i = 0; i < THREADS; i++) {
		all += __atomic_load_n(&calls[i], __ATOMIC_RELAXED);
		on += __atomic_load_n(&on_calls[i], __ATOMIC_RELAXED);
	}
	return flips > 20 && __atomic_load_n(&signals_seen, __ATOMIC_RELAXED) > 20 && on > 0 && on < all;
}

static void test_running(int length)
{
	pthread_t thread[THREADS];
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };
	struct itimerval timer = { { 0, 200 }, { 0, 200 } }, none = { { 0, 0 }, { 0, 0 } };
	uint64_t end = core_now_ns() + 1000000000u, before, after;
	unsigned flips = 0, refused = 0;

	text = make_functions(length);
	int result = flip(1, length);
	if (result == -ENOSYS || result == -EINVAL || result == -EPERM) {
		skip(8, "this kernel has no core-sync");
		return;
	}
	is_int(result, 0, "NOPs of %d bytes: a batch on two pages is written", length);
	unsigned traced = 0;
	for (int k = 0; k < SITES; k++)
		traced += call(k, 5) == 1005;
	is_int(traced, SITES - 1, "NOPs of %d bytes: it switches seven sites, one at each offset but the last", length);
	flip(0, length);

	stop = 0;
	memset(calls, 0, sizeof(calls));
	memset(on_calls, 0, sizeof(on_calls));
	signals_seen = 0;
	sigaction(SIGPROF, &action, NULL);
	for (size_t i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, run, (void *)i);
	setitimer(ITIMER_PROF, &timer, NULL);
	/* One second; longer where the machine is busy. */
	while (core_now_ns() < end || (core_now_ns() < end + 60000000000u && !is_enough(flips))) {
		flips++;
		refused += flip(1, length) != 0;
		refused += flip(0, length) != 0;
	}
	/* Off for good: from here on it is known which code the threads run. */
	before = 0;
	for (int i = 0; i < THREADS; i++)
		before += __atomic_load_n(&on_calls[i], __ATOMIC_RELAXED);
	usleep(50000);
	after = 0;
	for (int i = 0; i < THREADS; i++)
		after += __atomic_load_n(&on_calls[i], __ATOMIC_RELAXED);
	setitimer(ITIMER_PROF, &none, NULL);
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED); /* relaxed: the threads are joined */
	uint64_t all = 0, on = 0, bad = 0;
	for (int i = 0; i < THREADS; i++) {
		pthread_join(thread[i], NULL);
		all += calls[i];
		on += on_calls[i];
		bad += wrong[i];
	}
	diag("%u flips, %llu calls, %llu of them on, %llu signals", flips, (unsigned long long)all,
		(unsigned long long)on, (unsigned long long)signals_seen);
	is_int((long long)refused, 0, "NOPs of %d bytes: no batch is refused", length);
	is_int((long long)(bad + signals_wrong), 0,
		"NOPs of %d bytes: each call of a thread or handler has one of its two results", length);
	ok(flips > 20 && on > 0 && on < all && signals_seen > 20,
		"NOPs of %d bytes: calls met sites on and off, and signals came", length);
	ok(after - before <= THREADS,
		"NOPs of %d bytes: once the last batch is written, no call is on but those under way", length);
	ok(!strcmp(core_protection((uint64_t)(uintptr_t)text), "r-xp") &&
			!strcmp(core_protection((uint64_t)(uintptr_t)text + PAGE), "r-xp"),
		"NOPs of %d bytes: both pages are protected as before", length);
	unsigned off = 0;
	for (int k = 0; k < SITES; k++)
		off += call(k, 5) == 6;
	is_int(off, SITES, "NOPs of %d bytes: all sites are off at the end", length);
	munmap(text, 2 * PAGE);
}

static void test_refused(void)
{
	uint8_t before[2 * PAGE];

	text = make_functions(5);
	memcpy(before, text, sizeof(before));
	munmap(text + PAGE, PAGE);
	int result = flip(1, 5);
	is_int(result, -ENOMEM, "a batch whose second page is not there is refused");
	ok(!memcmp(text, before, PAGE), "and nothing of it is written");
	is_str(core_protection((uint64_t)(uintptr_t)text), "r-xp", "and the first page is protected as before");
	munmap(text, PAGE);
}

int main(void)
{
	test_steps();
	test_running(5);
	test_running(8);
	test_refused();
	return done_testing();
}
