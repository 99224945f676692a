/* SPDX-License-Identifier: MIT */
/*
 * The format perfetto of `xaudit export`: Perfetto's own, messages TracePacket (t/export/perfetto.proto has the fields
 * that are used). Times are those of CLOCK_MONOTONIC.
 *
 * Each track is a sequence of packets of its own: the first one says which track that is, and begins a clock on which
 * each packet tells how long after the one before it is; names are told once in each sequence, and have numbers from
 * then on. So most packets take 13 to 17 bytes. What is of a process, and when threads were on processors, has whole
 * times, in a sequence that all share.
 *
 * One thread.
 */
#ifndef XAUDIT_TOOL_EXPORT_TIME_PERFETTO_H
#define XAUDIT_TOOL_EXPORT_TIME_PERFETTO_H

#include "tool/export/format.h"

#endif
