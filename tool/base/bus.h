/* SPDX-License-Identifier: MIT */
/*
 * Files that are cut off while we have them mapped: a read beyond their new end is a SIGBUS, which would end the
 * command. Zeros stand there instead, as in any damaged file.
 */
#ifndef XAUDIT_TOOL_BUS_H
#define XAUDIT_TOOL_BUS_H

/* From now on, unless SIGBUS is ignored. Once, before there are threads; what is executed by us begins without. */
void bus_begin(void);

#endif
