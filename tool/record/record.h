/* SPDX-License-Identifier: MIT */
/*
 * The parts of `xaudit record`. One thread, but for broker.c, drain_thread.c and early.c; record.c calls them from top
 * to bottom.
 */
#ifndef XAUDIT_TOOL_RECORD_RECORD_H
#define XAUDIT_TOOL_RECORD_RECORD_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>
#include <time.h>

#include "audit/rules/keys.h"

/* As coreutils: what failed before the command ran can be told from what the command says. */
enum record_status {
	RECORD_FAILED = 125,
	RECORD_NOT_EXECUTABLE = 126,
	RECORD_NOT_FOUND = 127,
};

struct record_words {
	const char **word;
	size_t count;
};

struct record_options {
	const char *output, *config;	     /* NULL: not given */
	const char *value[RULES_KEYS_TRACE]; /* of keys that are no lists; NULL: not given */
	struct record_words libraries, functions, exclude, below, snapshots;
	bool start_disabled, merge;
	unsigned kinds; /* mask; 0: not given */
	char **command;
};

/* ---- tool/record/rules.c: what the module is to do, as environment ---- */

/*
 * Turns the options into the rules and the environment of the traced command (LD_AUDIT, GLIBC_TUNABLES, XAUDIT_RULES,
 * XAUDIT_CONFIG), which becomes that of this process. path: of the command, from record_find(). Returns the path of the
 * trace folder, absolute, %p replaced (the caller frees it), and whether everything is off at first; or NULL after one
 * line on stderr. *searched becomes the path of a configuration that counts without having been named, or NULL; the
 * caller frees it.
 */
char *record_prepare(const struct record_options *options, const char *path, bool *off, char **searched);

/* A path from the root, which the caller frees; NULL after one line on stderr. */
char *record_absolute(const char *path);

/* Its part that needs no rules: LD_AUDIT and GLIBC_TUNABLES. path NULL: any command. Returns 0, or -1 after one line on
 * stderr. */
int record_environment(const char *path);

/* ---- tool/record/tls.c: what the command's libraries need ---- */

/*
 * How many bytes of optional static TLS the program at path needs to be loaded, with its start-up libraries, under an
 * auditor. A script counts as its interpreter. Asks the program's dynamic linker in a child, with this process's
 * environment but for LD_AUDIT and LD_DEBUG, for 2 s at most. Never less than RECORD_TLS, which is also what it returns
 * when the need can't be found out. Sets SIGCHLD's action while it waits.
 */
#define RECORD_TLS                                                                                                     \
	1024 /* room for libraries that are loaded later, as much as untraced; each thread's stack pays for it */
size_t record_tls(const char *path);

/* ---- tool/record/folder.c, tool/record/file.c: the trace folder ---- */

struct record_folder {
	char *path;		 /* from the root */
	const char *name;	 /* its last component */
	int parent;		 /* the folder that it lies in */
	int fd;			 /* stays with the folder, even when somebody renames it meanwhile */
	int record;		 /* DIR/record, locked */
	bool made;		 /* by us; else it was there, empty */
	bool kept;		 /* an older trace is now at path + ".old" */
	bool aside;		 /* one that was there before is now at path + ".old.PID" */
	bool robbed;		 /* somebody removed it, or its file record, while the command ran: that is said */
	struct timespec changed; /* when DIR/record came into it: only processes change its entries from then on */
};

/*
 * Makes the folder and locks it; a trace that is there is kept as path.old. A folder that is no trace and not empty, or
 * another user's, is never touched, and one that somebody records into is refused. Returns 0, or -1 after one line on
 * stderr: then all is as before. path must outlive the folder.
 */
int record_folder_make(struct record_folder *folder, char *path);

/* The command executes: removes what path.old was before. */
void record_folder_begun(struct record_folder *folder);

/* The command never ran: as if nothing had been made. */
void record_folder_undo(struct record_folder *folder);

/* Closes descriptors, and so gives the lock up. */
void record_folder_close(struct record_folder *folder);

/*
 * Writes DIR/record: the start, and when the command has ended (status as of waitpid). 0, or -1 after one line on
 * stderr.
 */
int record_folder_begin(struct record_folder *folder, char **command);
int record_folder_end(struct record_folder *folder, int status);

/*
 * Has an entry of a trace, or of a process folder, this form? "p123", "p123.4"; "t0", "t0.3", of version 1 "r0", "c0".
 */
bool record_is_process_name(const char *name);
bool record_is_thread_name(const char *name);

/* ---- tool/record/broker.c: files for processes that can't open theirs ---- */

/*
 * Serves them by a thread of its own until record_broker_stop(), and names itself in the environment
 * (runtime/broker.h). Where that can't be it says so in one line. The folder must stay. Once in a process.
 */
void record_broker_start(const struct record_folder *folder);

/* Who has asked by now is answered before. Nothing where nobody serves. */
void record_broker_stop(void);

/* After it: says in one line who asked in vain, and why, if somebody did, and the folder was there. */
void record_broker_say(const struct record_folder *folder);

/* ---- record_drain.c: full chunks, written in the stead of the threads that filled them ---- */

/*
 * Does so by a thread of its own, for all families in the folder, until record_drain_stop(). Where that can't be it
 * says so in one line: then threads write their own. The folder must stay. Once in a process.
 */
void record_drain_start(const struct record_folder *folder);

/* Nothing where nobody drains. What was not written by then stays in meta. */
void record_drain_stop(void);

/*
 * Is nobody else there who could write to the family? folder: its descriptor. Then the drain looks after it no more.
 * Not by the drain's own thread.
 */
bool record_drain_leave(const char *name, int folder);

/* ---- tool/record/early.c: families that end before the command does ---- */

/*
 * Does what record_after() does with those that record_early_add() names, by a thread of its own, until
 * record_early_stop(), which waits for the one at hand. Where that can't be all is left for record_after().
 */
void record_early_start(const struct record_folder *folder);
void record_early_stop(void);

/* A family that seems to have ended. Any thread. */
void record_early_add(const char *name);

/* Was it done, or is it being done? Any thread. */
bool record_early_has(const char *name);

/* ---- tool/record/signals.c: signals while the command runs ---- */

#define RECORD_SIGNALS 65 /* the highest, and one */

/* How it was before. */
struct record_signals {
	sigset_t mask;
	struct sigaction action[RECORD_SIGNALS];
	bool taken[RECORD_SIGNALS];
};

/* Passes on what comes from now on; all stay blocked until there is a child that they could go to. */
void record_signals_take(struct record_signals *before);

/* Whom they go to; 0: nobody, they are dropped. As long as it is set the number must be the child's: not yet waited
 * for. */
void record_signals_send_to(pid_t pid);

/* Lets those come that were not blocked before. */
void record_signals_let_come(const struct record_signals *before);

/* As if nothing had been; in the child too. A signal that was blocked meanwhile is delivered, to the old action. */
void record_signals_give_back(const struct record_signals *before);

/* ---- tool/record/run.c: the command ---- */

/* The subcommand that speaks: `xaudit check` runs commands the same way. */
extern const char *record_speaker;

/* Who follows the command. Each may be NULL. */
struct record_watcher {
	int (*begin)(int pid); /* it has not begun; returns 0, or -1 after one line on stderr: then it never will */
	void (*begun)(void *context);	    /* it executes; not called where wait is */
	void (*wait)(int pid, int *status); /* until it has ended; *status as of waitpid, which it calls itself */
	void *context;
};

/*
 * Finds the command as execvp() would. Returns its path (the caller frees it), or NULL after one line on stderr,
 * *status being RECORD_NOT_FOUND or RECORD_NOT_EXECUTABLE.
 */
char *record_find(const char *command, int *status);

/* The same without a word: NULL and *error, an errno. */
char *record_search(const char *command, int *error);

/*
 * Runs the command and waits. Returns 0 and *status as of waitpid, or the record_status after one line on stderr.
 */
int record_run(char **command, const struct record_watcher *watcher, int *status);

/* Ends this process as the command ended: by the same signal. Returns the exit status where that is the way. */
int record_pass_on(int status);

/* ---- tool/record/after.c, record_trim.c, tool/record/why.c: when it has ended ---- */

/*
 * Trims the files of processes that ended, and says what the user should know: untraced, nothing selected, or, where
 * everything was off at first, that nobody switched anything on.
 */
void record_after(const struct record_folder *folder, const char *command, const char *path, bool off);

/*
 * Its part for one family. over: only if it can be seen that nobody writes to it any more. Returns whether it was done.
 * One thread at a time.
 */
bool record_after_family(const struct record_folder *folder, const char *name, bool over);

/* ---- tool/record/lost.c ---- */

struct read_process;

/* What processes lost, added up; zeros at first. */
struct record_lost {
	uint64_t lost, events; /* of the processes that lost some; events with the lost ones */
	unsigned processes;
	bool about;	/* events are an estimate */
	uint64_t by[TRACE_LOST_ROOM]; /* by enum trace_lost */
	uint32_t record_error;	      /* of one of them */
	char which[160]; /* their names, the first few: "p12, p13.1" */
};

/* Adds what a process lost. */
void record_lost_look(struct record_lost *lost, struct read_process *process);

/* Says it, in one line on stderr, if something was lost. processes: how many were traced. */
void record_lost_say(const struct record_lost *lost, unsigned processes);

struct read_family;

/*
 * Gives back what the places of a family did not use. fd: of its folder. Returns the bytes of the disk that are free
 * now, or -1 when meta is in use, damaged or can't be written: it stays as it is.
 */
long long record_trim(int fd, struct read_family *family);

/* Is it certain that nobody has the family's file open or mapped, nor ever will again to write? fd: of its folder. */
bool record_trim_is_over(int fd);

#define RECORD_LOADER  "ld-linux-x86-64.so.2" /* the only one that takes audit modules for these programs */
#define RECORD_SCRIPTS 4		      /* levels of scripts whose interpreter is a script; the kernel's limit */

/*
 * The interpreter of a script that begins with the text start: the word behind "#!", written to path. Returns the bytes
 * of start up to its end; 0 when it is no script, or the word does not fit.
 */
size_t record_interpreter(const char *start, char *path, size_t size);

/* Says on stderr why the file at path could not be traced. command: as the user named it. */
void record_why(const char *command, const char *path);

#endif
