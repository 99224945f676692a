/* SPDX-License-Identifier: MIT */
/* The last step in the life of a load (object.h). Apart, for it runs in the middle of calls of the program. */
#ifndef XAUDIT_AUDIT_LIVE_RETIRED_H
#define XAUDIT_AUDIT_LIVE_RETIRED_H

#include "runtime/epoch.h"

/*
 * For epoch_defer(): frees what belongs to the load that is retired by this item. Nobody is in it still who announced
 * a section before that. Called by whoever reclaims, so from the recorder's change of chunks, too. Lock held; any
 * thread, async-signal-safe, no libc.
 */
void retired_free(struct epoch_item *item);

#endif
