/* SPDX-License-Identifier: MIT */
/*
 * The module's way to the index of a file that is loaded. Looked into, in this order, until one holds an index that is
 * believed (audit/index/folder.h: whose), whole at its head, of our version and of this file:
 *	$XAUDIT_INDEX, an absolute path: of a user who wants them there, and of `xaudit record` where it can write to
 *	neither of the others
 *	the user's folder and the system's, as index_folder() has them
 *
 * If none of them has an index, or only one that is out of date or damaged, the command is asked (helper.h), once per
 * file. If an index is kept of a file with the same bytes, it puts a stamp there for this one, else it makes one: it
 * keeps that in the folder, or else gives it to this process alone, for as long as that lives. Not where a folder or
 * an index is somebody else's: whose it is must be told, not covered. What fails is said on stderr, once; when the
 * command can't be run, or takes longer than INDEX_SECONDS, it is not run again; one that takes longer goes on, and
 * later processes find what it makes. Of several processes at once one makes the index, and the others' commands wait
 * for that (tool/index/cache.h).
 * The command is $XAUDIT_COMMAND, an absolute path; empty: none is run. Else xaudit beside the folder .libs that the
 * module lies in (a build folder), else the installed one.
 *
 * The environment counts as it is when the process starts: what the program changes there later is not seen.
 *
 * index_find_init() comes once, in la_version, before any thread. index_find() comes in la_objopen, where ld.so's lock
 * keeps other threads out; no process lock held. index_find_kept(): any thread, with or without locks,
 * async-signal-safe.
 */
#ifndef XAUDIT_AUDIT_INDEX_FIND_H
#define XAUDIT_AUDIT_INDEX_FIND_H

#include <stddef.h>

#include "audit/index/index.h"

#define INDEX_FOLDER_VARIABLE  "XAUDIT_INDEX"
#define INDEX_COMMAND_VARIABLE "XAUDIT_COMMAND"
#define INDEX_SECONDS	       10 /* that the making of one may take */

/* environment: asks for a variable, as getenv() does. Copies what it needs. */
void index_find_init(char *(*environment)(const char *name));

/*
 * Finds and maps the index of the file with this identity. path: what to open to read the file, to make an index if
 * need be. Returns 0, and the index is the caller's (index_close()), whose blocks are checked when they are used. Else
 * why none was found, of the first folder that has one: -EPERM: somebody else's, or others may write to it; -EBADMSG:
 * damaged; -EPROTO: of another version; -ESTALE: of another file; -ENOENT when there is none in any folder, or none
 * that this process can reach.
 */
int index_find(struct index *to, const struct index_identity *identity, const char *path);

/* The same of one that is there, in a folder or in this process's memory alone. */
int index_find_kept(struct index *to, const struct index_identity *identity);

/*
 * Has the command make the plan of a file's values (format/plan.h). rules: its RULES. Returns its bytes, mapped,
 * which nobody can change; or NULL: none could be made, which is said on stderr, as is what the command says of
 * the rules. In la_objopen; no process lock held.
 */
const void *index_plan(const char *rules, const char *path, size_t *size);

#endif
