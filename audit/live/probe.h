/* SPDX-License-Identifier: MIT */
/*
 * Probes in the process: windows (format/probe.h) of the objects' plans in their loads.
 *
 * What a load has is made anew as a whole for each plan (probe_windows_make()): windows that it has already stay, with
 * their stubs; of the others it is seen whether they can be there, and they get stubs. Then their jumps are written: at
 * load, when nobody runs there, by probe_prepare(); later by `xaudit ctl`, which stops all threads (probe_change.h).
 * Never from inside. What stands there, the bytes tell alone; a window is all there, or not at all: its jump leads to a
 * stub that is whole, and before that to padding that is written.
 *
 * A window of a former plan stays in the load's list until its jump is gone, and nobody is in its stub any more. A
 * thread in a stub comes back to what follows the window in place, so its memory, and what is written around that
 * place, are nobody else's as long.
 *
 * A probe that can't be there is left out alone, counted and said (enum probe_refusal): nothing else depends on it.
 * Functions' own sites and probes keep out of each other's bytes, whoever comes first; but a function of kind entry
 * that is on can go on in the stub of a window that displaces what it does (ENTRY), by one store to its cell. It is not
 * switched off while it does. Threads may be on their way to such a stub at any time, so it stays as long as the load.
 *
 * All functions: process lock held, unless they say otherwise. Threads of the program and stopped ones come here:
 * general registers only, no libc (compiled as runtime/ is).
 */
#ifndef XAUDIT_AUDIT_LIVE_PROBE_H
#define XAUDIT_AUDIT_LIVE_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/model/object.h"

/*
 * la_objopen, after all other sites of the load: writes the jumps of the object's probes. Takes the process lock; the
 * load is `preparing`.
 */
void probe_prepare(struct load *load);

/* Does a window that stands, or is to, need one of these bytes of the object (link-time addresses)? */
bool probe_covers(const struct object *object, uint64_t from, uint64_t end);

/* Does the function of kind entry go on in the stub of probes? Then it stays on. */
bool probe_is_in(const struct load *load, uint32_t function);

/* Frees a load's stubs: its text is gone (x86_64/stub.h). */
void probe_free(struct load *load);

/* ---- for probe_change.c ---- */

/*
 * Has the load's list say what the object's plan wants: with stubs of what is new, and no jumps. Within a pass of
 * probe_room.h, which is sealed afterwards. Returns 0 or -ENOMEM: it is as before. load_probes.again: once more, when
 * stubs of former windows are gone.
 */
int probe_windows_make(struct load *load);

/* After the pass was sealed: what has no stub then is left out. */
void probe_windows_keep(struct load *load);

/* Has functions go on in those of their windows that need no more (ENTRY), or no longer; and looks, as below. */
void probe_windows_turn(struct load *load);

/* Looks at the bytes, sets what is on, and raises or lowers semaphores. */
void probe_windows_look(struct load *load);

/* The bytes of a window that stands: at its address; of SHORT those in the padding, else 0. Returns their number. */
size_t probe_head(const struct load *load, const struct probe_window *w, uint8_t out[8]);
size_t probe_behind(const struct load *load, const struct probe_window *w, uint8_t out[8]);

/* The windows' probes' states, of all loads of the object. */
void probe_tell(struct object *object);

#endif
