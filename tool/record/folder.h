/* SPDX-License-Identifier: MIT */
/*
 * The trace folder: making it without harm to other files.
 *
 * Only files that a trace consists of are ever removed, name by name: a folder that holds anything else can't be lost
 * by us. All files are reached from the descriptor of the folder that DIR lies in, and no link is followed
 * (runtime/files/output.h).
 *
 * Nothing is lost before the command executes. The new folder is made beside DIR, with its file `record` locked in it;
 * then names change: DIR.old -> DIR.old.PID, DIR -> DIR.old, the new one -> DIR. When the command does not execute they
 * change back; when it does, DIR.old.PID is removed. A folder that another command records into is recognized by its
 * lock, before all this.
 */
#ifndef XAUDIT_TOOL_RECORD_FOLDER_H
#define XAUDIT_TOOL_RECORD_FOLDER_H

#include <stdbool.h>
#include <time.h>

struct record_folder {
	char *path;		 /* from the root */
	const char *name;	 /* its last component */
	int parent;		 /* the folder that it lies in */
	int fd;			 /* stays with the folder, even when it is renamed meanwhile */
	int record;		 /* DIR/record, locked */
	bool made;		 /* made by us; else it was there, empty */
	bool kept;		 /* an older trace is now at path + ".old" */
	bool aside;		 /* an earlier path.old is now at path + ".old.PID" */
	bool robbed;		 /* it, or its file record, was removed while the command ran; the user was told */
	struct timespec changed; /* when DIR/record was made: from then on only traced processes change its entries */
};

/*
 * Makes the folder and locks it; a trace that is there is kept as path.old. A folder that is no trace and not empty, or
 * another user's, is never touched, and one that another command records into is refused. Returns 0, or -1 after one
 * line on stderr: then all is as before. path must stay as long as folder.
 */
int record_folder_make(struct record_folder *folder, char *path);

/* To be called when the command executes: removes the trace that was path.old before. */
void record_folder_begun(struct record_folder *folder);

/* To be called when the command could not be executed: undoes record_folder_make(). */
void record_folder_undo(struct record_folder *folder);

/* Removes the folder, if it holds a trace alone. Returns 0 or an errno; ENOTEMPTY: it holds more, and is whole. */
int record_folder_remove(struct record_folder *folder);

/* Closes the descriptors, and with them gives up the lock. */
void record_folder_close(struct record_folder *folder);

/* Does an entry of a trace have the form "p123" or "p123.4"? And one of a process folder "t0" or "t0.3"? */
bool record_is_process_name(const char *name);
bool record_is_thread_name(const char *name);

/* Makes a folder that only this user can look into, for the trace of a command. NULL after a line on stderr. */
char *record_folder_temporary(const char *command);

#endif
