/* SPDX-License-Identifier: MIT */
/*
 * The last step in the life of a load (object.h). In a file of its own, since it runs in the middle of calls of the
 * program.
 */
#ifndef XAUDIT_AUDIT_LIVE_RETIRED_H
#define XAUDIT_AUDIT_LIVE_RETIRED_H

#include "runtime/process/epoch.h"

/*
 * For epoch_defer(): frees what belongs to the load that is retired by this item. No thread that announced a section
 * before that can still be in the load. Called by any thread that reclaims, also in the recorder's change of chunks.
 * Lock held; any thread, async-signal-safe, no libc.
 */
void retired_free(struct epoch_item *item);

#endif
