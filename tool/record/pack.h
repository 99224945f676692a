/* SPDX-License-Identifier: MIT */
/* The trace as one file, in the stead of its folder. The command has ended, and its status is what counts. */
#ifndef XAUDIT_TOOL_RECORD_PACK_H
#define XAUDIT_TOOL_RECORD_PACK_H

struct record_folder;

/*
 * Makes one file of the trace, path.pack, and removes the folder. If that can't be, or processes still write there, it
 * says so in one line and leaves the folder.
 */
void record_pack(struct record_folder *folder);

#endif
