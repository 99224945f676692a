/* SPDX-License-Identifier: MIT */
/*
 * Changes code of a stopped process. First everything that stands within bytes that change comes out of them
 * (position.h); where that can't be, the patch is left out.
 *
 * Then one write per page: the kernel completes it even if we are killed. A site across two pages takes several, each
 * of which leaves a site that works.
 *
 * Probes (CONTROL_TYPE_PROBE): their patches are written in the order of the list, so a short jump comes after the jump
 * in the padding that it leads to, and goes before it, whichever pages they lie in. A jump across two pages is refused,
 * unless the part in one of them stays as it is: the module has the stub lie where that is so, if it can.
 */
#ifndef XAUDIT_TOOL_CTL_PATCH_H
#define XAUDIT_TOOL_CTL_PATCH_H

#include <stddef.h>

struct control_patch;
struct ctl_world;

/* What ctl_patch() did. */
struct ctl_written {
	size_t sites;
	size_t refused_bytes;	 /* sites whose bytes are not what the module said */
	size_t refused_straddle; /* sites that can't be written safely: across two pages */
	size_t refused_position; /* sites whose bytes something stands in, and can't leave now */
	size_t guarded; /* stubs of former probes that something stands in */
	size_t moved;		 /* threads and interrupted frames that stood within sites */
	size_t writes;
};

/*
 * Moves all threads out of the bytes that change (tool/ctl/position.h), and changes them. All threads stopped. Returns
 * 0, or -1 after saying why.
 */
int ctl_patch(struct ctl_world *world, const struct control_patch *patch, size_t count, struct ctl_written *written);

#endif
