/* SPDX-License-Identifier: MIT */
/*
 * The parts of `xaudit record`; record.c calls them in the order in which they stand here. All is done by one thread,
 * but for broker.c, early.c, drain/ and sched/, which have their own.
 */
#ifndef XAUDIT_TOOL_RECORD_RECORD_H
#define XAUDIT_TOOL_RECORD_RECORD_H

#include <elf.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include "audit/rules/keys.h"
#include "format/trace.h"
#include "tool/base/tool.h"

/* As in coreutils: a failure before the command ran can be told from the command's own exit status. */
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
	bool start_disabled, merge, sched, perf, pack;
	unsigned kinds; /* mask; 0: not given */
	char **command;
};

/* ---- tool/record/objects.c: what the dynamic linker will load ---- */

struct record_objects {
	char *program;	/* what the kernel loads in the end: of a script, its interpreter; NULL: none is known */
	char **library; /* paths, as ld.so has them, itself among them; preloaded ones, too */
	size_t libraries;
	bool listed; /* ld.so told them all */
};

/*
 * Finds them for the command at path. The program's dynamic linker is asked in a child, with this process's
 * environment but for LD_AUDIT, LD_DEBUG and LD_WARN, for 2 s at most. Changes SIGCHLD's action while it waits.
 */
void record_objects_find(struct record_objects *objects, const char *path);
void record_objects_free(struct record_objects *objects);

/* Reads the head of a file; false: it is not for this machine, or can't be read. Reads program header i of it. */
bool record_elf(int fd, Elf64_Ehdr *head);
bool record_segment(int fd, const Elf64_Ehdr *head, unsigned i, Elf64_Phdr *segment);

/* ---- tool/record/rules.c: what the module shall do, as environment ---- */

/*
 * Turns the options into the rules and the environment of the traced command (LD_AUDIT, GLIBC_TUNABLES, XAUDIT_RULES,
 * XAUDIT_CONFIG), and sets them in this process's environment. objects: of the command. Returns the path of the trace
 * folder, absolute, %p replaced (the caller frees it), and the rules as the module will read them (arena_free() is the
 * caller's, in any case); or NULL after one line on stderr. *searched becomes the path of a configuration that is used
 * though no option names it, or NULL; the caller frees it.
 */
char *record_prepare(const struct record_options *options, const struct record_objects *objects, struct rules *rules,
	char **searched);

/* A path from the root, which the caller frees; NULL after one line on stderr. */
char *record_absolute(const char *path);

/*
 * The part of record_prepare() that needs no rules: LD_AUDIT and GLIBC_TUNABLES. path: of the command, or NULL: any
 * command. Returns 0, or -1 after one line on stderr.
 */
int record_environment(const char *path);

/* ---- tool/record/tls.c: what the command's libraries need ---- */

/*
 * How many bytes of optional static TLS the program needs to be loaded, with its start-up libraries, under an auditor:
 * at least RECORD_TLS, also when the need can't be found out.
 */
#define RECORD_TLS                                                                                                     \
	1024 /* room for libraries that are loaded later, as much as untraced; each thread's stack pays for it */
size_t record_tls(const struct record_objects *objects);

/* ---- tool/record/folder.c, tool/record/file.c: the trace folder ---- */

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

/*
 * Writes DIR/record: the start, and when the command has ended (status as of waitpid). 0, or -1 after one line on
 * stderr.
 */
int record_folder_begin(struct record_folder *folder, char **command);
int record_folder_end(struct record_folder *folder, int pid, int status);

/* Reads all clocks, as close together as can be had; any thread. */
struct trace_pair record_pair(void);

/*
 * Does an entry of a trace have the form "p123" or "p123.4"? And one of a process folder "t0" or "t0.3" (in version 1
 * "r0", "c0")?
 */
bool record_is_process_name(const char *name);
bool record_is_thread_name(const char *name);

/* ---- tool/record/index.c: indexes of what the command will load ---- */

#define RECORD_INDEXES "index" /* the folder of a trace that holds them where no other can */

/* Files that need an index and have none. */
struct record_indexes {
	char **file;
	size_t count;
};

/*
 * Makes the indexes (format/index.h) that the rules will ask for when the command starts, in this user's folder; the
 * analysis runs in children. Says in a line each what can't be analysed, and, on a terminal, that it takes long. Those
 * that belong into a folder that does not take them are left, and said so: for record_indexes_aside(). Changes
 * SIGCHLD's action while it waits.
 */
void record_indexes_make(
	struct record_indexes *left, const struct rules *rules, const struct record_objects *objects);

/*
 * Makes those that are left in DIR/index, and names that folder in the environment. To be called before
 * record_folder_begin(). Frees them.
 */
void record_indexes_aside(struct record_indexes *left, const struct record_folder *folder);

/* ---- tool/record/broker.c: files for processes that can't open their own ---- */

/*
 * Starts a thread that serves them until record_broker_stop(), and names it in the environment
 * (runtime/files/broker.h). If that fails it says so in one line. The folder must stay. Called once in a process.
 */
void record_broker_start(const struct record_folder *folder);

/* Processes that have asked by now are answered first. Does nothing if no thread serves. */
void record_broker_stop(void);

/*
 * After record_broker_stop(): if processes asked in vain, while the folder was there, says in one line which, and why.
 */
void record_broker_say(const struct record_folder *folder);

/* ---- tool/record/drain/thread.c: full chunks, written in place of the threads that filled them ---- */

/*
 * Starts a thread that does so for all families in the folder, until record_drain_stop(). If that fails it says so in
 * one line: then threads write their own chunks. chunk: their size, at most. The folder must stay. Called once in a
 * process.
 */
void record_drain_start(const struct record_folder *folder, uint64_t chunk);

/* Does nothing if no thread drains. Chunks that were not written by then stay in meta. */
void record_drain_stop(void);

/*
 * Is it certain that no process can write to the family any more? folder: its descriptor. If so, the drain forgets the
 * family. Not to be called by the drain's own thread.
 */
bool record_drain_leave(const char *name, int folder);

/* ---- tool/record/sched/sched.c: context switches ---- */

/* Makes DIR/sched, if the rules ask for it. To be called before record_folder_begin(). */
void record_sched_make(const struct record_folder *folder, const struct rules *rules);

/*
 * Starts a thread that writes it, until record_sched_stop(), of the process pid, which has not executed the command
 * yet, and all that it will start. If the kernel gives no switches that is said in one line.
 */
void record_sched_start(pid_t pid);

/* The process has ended, but its number is still its own. */
void record_sched_ended(pid_t pid);
void record_sched_stop(void);

/* ---- tool/record/early.c: families that end before the command does ---- */

/*
 * Starts a thread that does for the families named by record_early_add() what record_after() does, until
 * record_early_stop(), which waits for the family at hand. If no thread can be started, all is left for record_after().
 */
void record_early_start(const struct record_folder *folder);
void record_early_stop(void);

/* A family that seems to have ended. Any thread. */
void record_early_add(const char *name);

/* Was the family done, or is it being done? Any thread. */
bool record_early_has(const char *name);

/* ---- tool/record/signals.c: signals while the command runs, and before and after ---- */

#define RECORD_SIGNALS 65 /* the highest number, plus one */

/* Mask and actions as they were before. */
struct record_signals {
	sigset_t mask;
	struct sigaction action[RECORD_SIGNALS];
	bool taken[RECORD_SIGNALS];
};

/* From now on a file of ours that would become too large (ulimit -f) is an error, and no signal. */
void record_signals_begin(void);

/*
 * From now on signals are passed on to the command; all stay blocked until there is a child that they can be sent to.
 */
void record_signals_take(struct record_signals *before);

/*
 * The process that gets the signals; 0: they are dropped. As long as it is set the number must be the child's: not yet
 * waited for.
 */
void record_signals_send_to(pid_t pid);

/* Unblocks the signals that were not blocked before. */
void record_signals_let_come(const struct record_signals *before);

/*
 * Sets mask and actions as they were before. A signal that came meanwhile, and was blocked, is then delivered to the
 * old action.
 */
void record_signals_give_back(const struct record_signals *before);

/* The same in the child, which will be the command: as they were before record_signals_begin(). */
void record_signals_leave(const struct record_signals *before);

/* ---- tool/record/run.c: the command ---- */

/* The subcommand that messages name: `xaudit check` runs commands with these functions too. */
extern const char *record_speaker;

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

/* ---- tool/record/after.c, trim.c, why.c: when the command has ended ---- */

/*
 * Trims the files of processes that ended, and says what the user should know: that the command was not traced, that
 * nothing was selected, that the rules left out all calls, or, if everything was off at first, that nothing was ever
 * switched on.
 */
void record_after(
	const struct record_folder *folder, const char *command, const char *path, const struct rules *rules);

/*
 * The part of record_after() for one family. over: do it only if it is certain that no process writes to the family any
 * more. Returns whether it was done; if not, or where memory runs out, as if it had never begun. One thread at a time.
 */
bool record_after_family(const struct record_folder *folder, const char *name, bool over);

/* ---- tool/record/pack.c ---- */

/*
 * Makes one file of the trace, path.pack, and removes the folder. If that can't be, or processes still write there, it
 * says so in one line and leaves the folder.
 */
void record_pack(struct record_folder *folder);

/* ---- tool/record/lost.c ---- */

struct xaudit_read_process;

/* What processes lost, added up; zeros at first. */
struct record_lost {
	uint64_t lost, events; /* of the processes that lost some; events: written and lost ones */
	unsigned processes;
	bool about;	/* events are an estimate */
	uint64_t by[TRACE_LOST_ROOM]; /* by enum trace_lost */
	uint32_t record_error;	      /* of one of them */
	char which[160]; /* their names, the first few: "p12, p13.1" */
};

/* Adds what a process lost. */
void record_lost_look(struct record_lost *lost, struct xaudit_read_process *process);

/* Says in one line on stderr what was lost, if anything was. processes: how many were traced. */
void record_lost_say(const struct record_lost *lost, unsigned processes);

/* ---- tool/record/named.c: patterns of options that named nothing ---- */

/* Keeps the patterns of -l, -F and -C, if there are several of one of them. Before record_early_start(). */
void record_named_begin(const struct record_options *options);

/* Compares what is in the trace of a process that has ended with them. One thread at a time. */
void record_named_look(struct xaudit_read_process *process);

/* Says in a line which libraries, and in one which functions, were named in vain; quiet: not that. At the end, once. */
void record_named_say(bool quiet);

/* ---- tool/record/trim.c ---- */

struct read_family;
struct xaudit_read_trace;

/*
 * Gives back to the disk what the places of a family did not use. fd: of its folder. Returns how many bytes that were,
 * or -1 when meta is in use, damaged, not the file that was read or can't be written: then it stays as it is;
 * RECORD_TRIM_NO_MEMORY: there is no memory to find out.
 */
#define RECORD_TRIM_NO_MEMORY (-2)
long long record_trim(int fd, struct read_family *family);

/* The same for the family of a trace that xaudit_read_open_family() opened. */
long long record_trim_trace(int fd, struct xaudit_read_trace *trace);

/*
 * Is it certain that no process has the family's file open or mapped, and none will open it again to write? fd: of its
 * folder.
 */
bool record_trim_is_over(int fd);

/* Is that file, by its name, glibc's loader, the only one that takes audit modules for these programs? */
static inline bool record_is_loader(const char *path)
{
	return !strcmp(tool_base(path), "ld-linux-x86-64.so.2");
}

#define RECORD_SCRIPTS 4 /* levels of scripts whose interpreter is a script; the kernel's limit */

/*
 * Writes to path the interpreter of a script that begins with the text start: the word after "#!". Returns the bytes of
 * start up to the end of that word; 0 when it is no script, or the word does not fit.
 */
size_t record_interpreter(const char *start, char *path, size_t size);

/* Says on stderr why the file at path could not be traced. command: as the user named it. */
void record_why(const char *command, const char *path);

#endif
