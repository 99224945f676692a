/* SPDX-License-Identifier: MIT */
/*
 * Making our return label visible to the program's unwinders, and finding out when that fails.
 *
 * glibc's _dl_find_object covers every namespace, so libgcc from 12 on sees us. Unwinders that call dl_iterate_phdr see
 * only their own namespace: where they bind libc's dl_iterate_phdr through the PLT (or dlsym), la_symbind64 binds them
 * to ours, which lists this module too (audit/bind/iterate.h); where they fetch its address without a PLT,
 * audit/bind/no_plt.h does. For an unwinder that gets another object's all the same nothing can be done: the process
 * stops intercepting returns, and goes on recording entries. The same holds for one whose binding was made when nobody
 * asked for any, in a process that was started with nothing selected (load.unbound).
 *
 * Code that copies parts of a stack away and other parts in also stops intercepting, since real return addresses are
 * kept by their place on the stack. Such code is recognized by the names of libraries. It copies only what lies below
 * the point where its first coroutine began, so calls that are open when the library is loaded stay where they are, and
 * end as usual.
 */
#ifndef XAUDIT_AUDIT_LIVE_UNWINDER_H
#define XAUDIT_AUDIT_LIVE_UNWINDER_H

#include <stdbool.h>
#include <stdint.h>

/* la_version. One thread. */
void unwinder_init(void);

/* Does the processor check returns against a shadow stack? Asked by unwinder_init(). */
extern int unwinder_shadow_stack;

/* Only unwinder.c writes it; defined in audit/model/object.c. */
extern int unwinder_blind;

/* May returns be intercepted? Any context. */
static inline bool unwinder_allows(void)
{
	/* Relaxed: stubs made a moment earlier by another thread intercept as if they had been made before. */
	return !__atomic_load_n(&unwinder_blind, __ATOMIC_RELAXED);
}

/*
 * Looks at every load that was not looked at yet. When one contains a blind unwinder or copies stacks, intercepting
 * ends, in existing stubs too, and one line says so. Under ld.so's lock; takes the process lock. To be called before
 * the first return is intercepted, and for each later load.
 */
void unwinder_look(void);

/* Writes what was said of that, when a process describes everything. Process lock held. */
void unwinder_describe(void);

/*
 * The same on any thread, with the process lock held: the first functions whose returns will be intercepted are
 * switched on in a process where none were to be at its start. From here on it is done for each later load.
 */
void unwinder_begin(void);

/* Has unwinder_begin() been called? Then objects that are loaded are bound as open calls need it. Any context. */
extern int unwinder_begun;

/* Ends intercepting as if a blind unwinder had come, without a word. In la_objopen; takes the process lock. */
void unwinder_stop(void);

#endif
