/* SPDX-License-Identifier: MIT */
/*
 * Changing code: at load, when no thread can run it yet, and live, while threads run it. Both take batches, in
 * ascending order of address.
 *
 * At load: each run of neighbouring pages is made writable once, written, and gets its protection back. In between it
 * is read+write, not executable: no thread can be in it (la_objopen comes before any code of the object runs). Never
 * read+write+execute. Where writable memory may not become executable (pages.h tells how that is known), text is
 * written by way of /proc/self/mem, or else its pages are replaced.
 *
 * Live. Every site is one whole instruction at `head` before and after, so no thread stands in its middle; only the
 * bytes that a thread fetches may change under it. Its first two bytes (of an XRay exit that is switched off: one) are
 * the head; one naturally aligned quadword holds them, so they are stored at once and fetched as old or as new. The
 * other bytes change while no thread executes them:
 *
 *	step	five-byte site (guard)		XRay sled, hot site (no guard)
 *	1	head := eb guard: jump over	the other bytes, if they differ: the old head jumps over them (XRay), or
 *		the rest of the site		  no thread comes there without new head (hot: they lie before the
 *						entry)
 *		core-sync			core-sync
 *	2	bytes 2, 3, 4			-
 *		core-sync			-
 *	3	final head			final head
 *		core-sync			core-sync
 *
 * Core-sync is membarrier(PRIVATE_EXPEDITED_SYNC_CORE): on return every thread of the process that was running has
 * executed a serialising instruction since, and every other one will before it runs the program again; so after it no
 * thread executes bytes that were fetched before. One per step and batch, not per site. It is also the full memory
 * barrier that orders the steps' stores among themselves: the plain and relaxed stores of a step pair with the
 * instruction fetches of the other threads alone, which read either head, and the other bytes never before the
 * core-sync after them.
 *
 * Without a guard the other bytes must not change once threads may have run them: a thread that was preempted in a sled
 * after its head executes them later, though the head is off by then. So a sled's off state differs from its on state
 * in the head alone.
 *
 * Where text may not become writable and stay executable, its pages are replaced by new ones with the bytes of step 3,
 * each run of neighbours at once (pages.h): a thread fetches an instruction all old or all new. The
 * conditions above hold there, too.
 * Elsewhere pages are read+write+execute while a live batch is written (they must stay executable) and have their
 * protection back afterwards, as at load: one mprotect pair per run. A process that forks in between leaves its child
 * with whole instructions (a guard is one, too) on pages that stay writable until the child's next batch there.
 *
 * Threads: one batch at a time (the process lock); any context; no libc.
 */
#ifndef XAUDIT_PATCH_H
#define XAUDIT_PATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct patch {
	uint64_t address;
	uint8_t size; /* up to 16 */
	uint8_t bytes[16];
};

/* Sorts patches by address. spare: room for as many. 1000 take some 20 us, and nearly nothing if they are in order. */
void patch_sort(struct patch *patch, struct patch *spare, size_t count);

/* A site that changes live. */
struct patch_site {
	struct patch patch;
	uint8_t head;	   /* where its head is: offset in patch.bytes */
	uint8_t head_size; /* 2; 1: the other bytes stay as they are, whatever patch.bytes says */
	uint8_t guard;	   /* 0: none; else what a short jump at the head jumps over: the site's length less 2 */
	uint8_t prot;	   /* of the text there, at rest */
};

/*
 * Writes the patches, which are in ascending order of address and all inside text that has protection prot (PROT_*),
 * while no thread can execute it. Returns 0, or -errno of the first run of pages that could not be written: then
 * nothing of it and the later ones was, unless the kernel went out of memory; *done says how many patches were.
 */
int patch_at_load(const struct patch *patch, size_t count, int prot, size_t *done);

/* May a head of this size at this address be stored while threads run it? Not if it crosses an 8-byte boundary. */
bool patch_may_store(uint64_t head, size_t head_size);

/*
 * Changes the sites as described above, while threads run them. All of the heads must be such that patch_may_store().
 * Returns 0; -ENOSYS, -EPERM, -EINVAL: there is no core-sync here (Linux before 4.16, seccomp), and -EACCES, -ENOMEM
 * ...: a protection could not be changed, nor pages be replaced; nothing was changed then of the first run of pages
 * that fails, nor of later ones. -EKEYREJECTED: the system refused the protection that the text had before, after the
 * change, and all else.
 */
int patch_live(const struct patch_site *site, size_t count);

/*
 * The steps of patch_live(), for tests and for code that has made the pages writable: stores what step 1, 2 or 3 stores
 * at one site. No core-sync.
 */
void patch_step(const struct patch_site *site, int step);

#endif
