/* SPDX-License-Identifier: MIT */
/*
 * The pass of `xaudit export` over a trace: finds the tracks, leaves out calls that are too short, and tells a format
 * all that is left (tool/export/format.h). One thread.
 *
 * With --min, an open call waits on its track until it is known to be long enough: by anything later on its track, by
 * its own end, or by that of a call in it. What comes behind it waits, too: so the order of a track stays. A custom
 * event's data is copied then; that is the only memory which grows with the events of a time.
 */
#ifndef XAUDIT_TOOL_EXPORT_PASS_H
#define XAUDIT_TOOL_EXPORT_PASS_H

#include "tool/export/format.h"

/* Calls that the pass leaves out, or tells without a time. */
struct export_pass_options {
	uint32_t tid; /* only calls of this thread; 0: of all */
	uint64_t min; /* only calls that took as long, ns */
};

/* Tells the format of all. Returns false when writing has failed. */
bool export_pass(struct export *export, const struct export_pass_options *options);

#endif
