/* SPDX-License-Identifier: MIT */
#include "runtime/base/identity.h"

#include <errno.h>    /* ESRCH */
#include <stdbool.h>
#include <sys/mman.h> /* MADV_WIPEONFORK */

#include "x86_64/confined.h"
#include "x86_64/libc.h"
#include "x86_64/sys.h"

uint32_t tramp_confined;

/* ---- threads ---- */

uint32_t identity_tid(void)
{
	static int known; /* 1: libc has the number where we look; -1: it has not. Relaxed: all threads find the same */

	if (confined())
		return __atomic_load_n(&known, __ATOMIC_RELAXED) > 0 ? libc_thread_number() : 0; /* relaxed, as above */
	uint32_t number = (uint32_t)sys_gettid();
	/*
	 * In threads that libc does not know, that place has the number of the thread that made them, so the answer of
	 * the first thread counts. Relaxed, both.
	 */
	if (!__atomic_load_n(&known, __ATOMIC_RELAXED))
		__atomic_store_n(&known, libc_thread_number() == number ? 1 : -1, __ATOMIC_RELAXED);
	return number;
}

/* ---- processes ---- */

/* Under a filter, a child that libc's fork has made: it is its only thread. */
static uint32_t ask_pid(void)
{
	uint32_t tid = confined() ? identity_tid() : 0;

	return tid ? tid : (uint32_t)sys_getpid();
}

struct identity {
	uint32_t generation; /* 0: this is a forked child that has not looked yet */
	uint32_t pid;
	uint32_t is_sure; /* that is our number, not that of a child that shares the memory */
};

_Static_assert(sizeof(struct identity) <= IDENTITY_SIZE, "callers have that much for it");

static struct identity *wiped;
static uint32_t generations; /* given so far, in this process and those that it was forked from */

static struct identity *map(void)
{
	void *p = sys_mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (sys_is_error(p))
		return NULL;
	if (sys_madvise(p, 4096, MADV_WIPEONFORK)) {
		sys_munmap(p, 4096);
		return NULL;
	}
	struct identity *known = NULL;
	/* Release; pairs with the acquire in look(). */
	if (!__atomic_compare_exchange_n(&wiped, &known, p, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		sys_munmap(p, 4096);
		return known;
	}
	return p;
}

static struct identity *look(void)
{
	static struct identity unwiped;
	/* Acquire; pairs with the release in map(). */
	struct identity *self = __atomic_load_n(&wiped, __ATOMIC_ACQUIRE);
	uint32_t none = 0;

	if (!self && !(self = map())) {
		self = &unwiped;
		self->pid = self->generation = (uint32_t)sys_getpid();
	}
	/* Acquire; pairs with the release below: a thread that sees a generation sees the pid. */
	if (__atomic_load_n(&self->generation, __ATOMIC_ACQUIRE))
		return self;
	/* Relaxed: the generation's store orders it. A second thread leaves it alone. */
	__atomic_compare_exchange_n(&self->pid, &none, ask_pid(), 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	/* Relaxed: a number. It is taken before it is stored, so that a child forked in between takes another. */
	uint32_t number = __atomic_add_fetch(&generations, 1, __ATOMIC_RELAXED);
	none = 0;
	/* Release; pairs with the acquire above. */
	__atomic_compare_exchange_n(&self->generation, &none, number, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
	return self;
}

int identity_init(void *zeros)
{
	/* Relaxed, all: there is one thread. */
	if (zeros && !__atomic_load_n(&wiped, __ATOMIC_RELAXED)) /* relaxed, as above */
		__atomic_store_n(&wiped, zeros, __ATOMIC_RELAXED);
	__atomic_store_n(&look()->is_sure, 1, __ATOMIC_RELAXED);
	return __atomic_load_n(&wiped, __ATOMIC_RELAXED) ? 0 : -EINVAL; /* relaxed, as above */
}

/* After look() a handler may have forked: then this is the child, and the memory is wiped. */

uint32_t identity_generation(void)
{
	uint32_t generation;

	do
		generation = __atomic_load_n(&look()->generation, __ATOMIC_RELAXED); /* relaxed: look() has seen it */
	while (!generation);
	return generation;
}

const uint32_t *identity_place(void)
{
	const struct identity *self = look();

	/* Acquire; pairs with the release in map(). */
	return self == __atomic_load_n(&wiped, __ATOMIC_ACQUIRE) ? &self->generation : NULL;
}

uint32_t identity_pid(void)
{
	uint32_t pid;

	do
		pid = __atomic_load_n(&look()->pid, __ATOMIC_RELAXED); /* relaxed: look() has seen the generation */
	while (!pid);
	return pid;
}

bool identity_is_ours(void)
{
	struct identity *self = look();
	/*
	 * The number first: a child that is forked after it finds its own number beside its parent's, and looks anew.
	 */
	uint32_t pid = identity_pid(), caller = (uint32_t)sys_getpid();

	if (caller == pid)
		return true;
	/* Acquire, as in look(): wiped by now. */
	if (!__atomic_load_n(&self->generation, __ATOMIC_ACQUIRE))
		return identity_is_ours();
	/*
	 * A child that shares our memory has the noted process for its parent, which is alive; unless such a child was
	 * noted, and is gone. In another namespace of processes the child does not see its parent, and has none there.
	 */
	if (__atomic_load_n(&self->is_sure, __ATOMIC_RELAXED) || /* relaxed: constant since there was one thread */
		sys_call(__NR_tgkill, (long)pid, (long)pid, 0, 0, 0, 0) != -ESRCH ||
		!sys_call(__NR_getppid, 0, 0, 0, 0, 0, 0))
		return false;
	/* Relaxed, as above. */
	return __atomic_compare_exchange_n(&self->pid, &pid, caller, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

bool identity_thread_is_gone(uint32_t tid)
{
	return identity_is_ours() && sys_call(__NR_tgkill, (long)identity_pid(), (long)tid, 0, 0, 0, 0) == -ESRCH;
}
