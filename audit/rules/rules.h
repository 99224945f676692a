/* SPDX-License-Identifier: MIT */
/*
 * The rules: what the configuration and the command line ask for. Read once, in la_version (one thread, nothing traced
 * yet), then never written again: any thread may read them at any time, signal handlers too.
 *
 * Sources, in order; the first section that matches an object decides:
 *  1. XAUDIT_RULES in the environment: INI text that `xaudit record` makes of its options;
 *  2. the file that XAUDIT_CONFIG names, else the first of ./xaudit.conf, $XDG_CONFIG_HOME/xaudit.conf ($HOME/.config
 * when unset), /etc/xaudit.conf. Section [trace] of both counts; keys of 1 win. When 1 holds [library] or [program]
 * sections, such sections of 2 are used only if XAUDIT_CONFIG names the file. [context], [prototypes] and [probe] of
 * both count. A file that was searched for, not named, is used if it is a regular file of this user or root that no
 * other user may write to; else it is skipped, with a line about it. Where 1 is set, a file that can't be read is
 * skipped, too. If neither source has a section, [library *] and [program] with the default kinds are used.
 */
#ifndef XAUDIT_AUDIT_RULES_RULES_H
#define XAUDIT_AUDIT_RULES_RULES_H

#include <stddef.h>
#include <stdint.h>

#include "audit/match/kinds.h"
#include "audit/match/match.h"

#define RULES_DEFAULT_KINDS kinds_with(KIND_DEFAULT)

#define RULES_RING_MIN	     (256ul << 10)
#define RULES_RING_MAX	     (1ul << 30)
#define RULES_SIZE_LIMIT_MIN (1ul << 20)

/*
 * Reads the rules. environment: a function like getenv. Returns 0, or -1 after one line on fd 2
 * ("xaudit: FILE:LINE: what, and what is allowed").
 */
int rules_read(struct rules *rules, char *(*environment)(const char *));

/* The chunk size that the rules ask for, or else the one of their mode. */
size_t rules_buffer(const struct rules *rules);

#endif
