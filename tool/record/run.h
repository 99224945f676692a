/* SPDX-License-Identifier: MIT */
/*
 * Runs the command so that the caller of xaudit notices no wrapper: same terminal, same signals, same end.
 */
#ifndef XAUDIT_TOOL_RECORD_RUN_H
#define XAUDIT_TOOL_RECORD_RUN_H

/* As in coreutils: a failure before the command ran can be told from the command's own exit status. */
enum record_status {
	RECORD_FAILED = 125,
	RECORD_NOT_EXECUTABLE = 126,
	RECORD_NOT_FOUND = 127,
};

/* The subcommand that messages name: `xaudit check` runs commands with these functions too. */
extern const char *record_speaker;
/* How its options are written that messages name, in front of what they are given. */
extern struct record_names {
	const char *folder, *kinds, *below, *exclude;
	const char *info; /* `xaudit info`, and of which trace where that is removed at the end */
} record_names;
/* For a command of that name which has such options, and removes the trace at the end unless it is to keep it. */
void record_speak_as(const char *command);

#define record_error(...) tool_error(record_speaker, __VA_ARGS__)

/* What follows the command. Each pointer may be NULL. */
struct record_watcher {
	int (*begin)(int pid); /* before it begins; returns 0, or -1 after one line on stderr: then it never does */
	void (*child)(void); /* in the child, when it is about to execute the command */
	void (*begun)(void *context);	    /* it executes; not called if wait is set */
	void (*ended)(int pid);		    /* before it is waited for; not called if wait is set */
	void (*wait)(int pid, int *status); /* until it has ended; it calls waitpid itself, for *status */
	void *context;
};

/*
 * Finds the command as execvp() would. Returns its path (the caller frees it), or NULL after one line on stderr,
 * *status being RECORD_NOT_FOUND or RECORD_NOT_EXECUTABLE.
 */
char *record_find(const char *command, int *status);

/* record_find() without messages: on failure NULL, and an errno in *error. */
char *record_search(const char *command, int *error);

/*
 * Runs the command and waits. Returns 0 and *status as of waitpid, or the record_status after one line on stderr.
 */
int record_run(char **command, const struct record_watcher *watcher, int *status);

/* Ends this process by the signal that ended the command, if one did. Else returns the command's exit status. */
int record_pass_on(int status);

#endif
