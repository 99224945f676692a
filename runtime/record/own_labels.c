/* SPDX-License-Identifier: MIT */
#include "runtime/record/own_labels.h"

#include <errno.h> /* EFBIG */

#include "runtime/base/text.h"
#include "runtime/files/family.h"
#include "runtime/files/output.h"
#include "runtime/files/pool_grow.h" /* pool_may_reach() */
#include "runtime/process/process.h"
#include "runtime/record/dispatch.h"
#include "runtime/record/recorder.h"
#include "x86_64/confined.h"
#include "x86_64/contract.h"
#include "x86_64/labels.h"
#include "x86_64/sys.h"

struct labels_entry *tramp_slow_label(uint64_t address)
{
	return labels_make(address);
}

static long make(void)
{
	if (!pool_may_reach(LABELS_MAPPED))
		return -EFBIG;
	int folder = family_open_folder();

	if (folder < 0)
		return folder;
	long fd = output_make_mapped(folder, LABELS_NAME);
	if (fd >= 0) {
		long r = labels_map((int)fd);
		sys_close((int)fd);
		if (r)
			sys_call(__NR_unlinkat, folder, (long)LABELS_NAME, 0, 0, 0, 0);
		fd = r;
	}
	sys_close(folder);
	return fd;
}

void own_labels_start(void)
{
	char buffer[400];
	struct text text = { buffer, sizeof(buffer), 0 };
	/* Under a filter that may kill nothing is asked for that calls don't need. */
	long r = labels_are_mapped() ? 0 : confined() ? -EPERM : make();

	if (!r) {
		dispatch_own_labels();
		recorder_clock_changed();
		return;
	}
	text_string(&text, "profilers will not find callers of traced functions: can't make ");
	text_string(&text, family_folder());
	text_string(&text, "/" LABELS_NAME ": ");
	text_error(&text, r);
	process_say(buffer);
}
