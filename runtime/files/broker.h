/* SPDX-License-Identifier: MIT */
/*
 * Files of the trace for processes that can't open any: they dropped their rights, or see another root than before.
 * `xaudit record`, where it runs, makes and opens them as its own user, and hands descriptors over a socket.
 *
 * Protocol. `record` listens on an abstract socket (SOCK_SEQPACKET), whose name is in the environment of its command
 * (BROKER_VARIABLE). Each connection is one question: a struct broker_request, one message. The answer is a struct
 * broker_answer, one message, with one descriptor (SCM_RIGHTS) if `error` is 0; a process without the secret gets no
 * descriptor. Both sides run on one machine and must be of one version: others are refused.
 *
 * What is trusted. All processes see the socket's name, and may bind it once `record` has ended: so the module asks the
 * kernel which user listens (SO_PEERCRED), and accepts only the user that the environment names. `record` asks the
 * kernel which process asks, and accepts descendants only: they have the secret from their environment. A process gets
 * files of one folder alone, which is new, or its own family's: made for this very process, or with a head in meta that
 * is the process's and not older (tool/record/broker.c). So a forked child must have its head, and its word in the
 * directory, before it asks.
 *
 * Module's side: any thread, with or without the process lock, signals blocked or not; async-signal-safe, no libc. It
 * waits at most a second for each of connecting, sending and receiving. After a failure no thread asks for a while
 * (runtime/files/backoff.h); if no process listens, never again. A thread under a filter of system calls (seccomp) does
 * not ask: the filter may kill the process.
 */
#ifndef XAUDIT_BROKER_H
#define XAUDIT_BROKER_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/files/output.h"

/*
 * "VERSION NAME SECRET UID DEVICE INODE DEVICE INODE": numbers are decimal, SECRET is in hexadecimal digits. UID: the
 * user that listens, as processes in the same user namespace see it. DEVICE, INODE: of the trace folder; of what is the
 * standard error of `record`, 0 and 0 if it has none.
 */
#define BROKER_VARIABLE "XAUDIT_RECORD"

#define BROKER_VERSION 2u
#define BROKER_MAGIC   0x6b726278u /* "xbrk" */
#define BROKER_NAME    48	   /* longest name, without NULs around it */
#define BROKER_SECRET  16
#define BROKER_FOLDER  32 /* p<pid>[.n], ended by NUL; p4194304.999999 fits */
#define BROKER_FILE    32 /* ended by NUL; t16777215.268435455 fits */

enum broker_what {
	BROKER_NEW = 1,	 /* the folder of a new family: the descriptor is of its meta */
	BROKER_OPEN = 2, /* a file of the process's family: meta, or, made if need be, a t<n>[.<p>] of its threads */
};

struct broker_request {
	uint32_t magic, version;
	uint32_t what; /* enum broker_what */
	uint32_t unused;
	uint8_t secret[BROKER_SECRET];
	struct output_place place; /* of BROKER_OPEN: which folder it was */
	char folder[BROKER_FOLDER], file[BROKER_FILE]; /* of BROKER_OPEN */
};

struct broker_answer {
	uint32_t magic, version;
	int32_t error; /* 0 or -errno */
	uint32_t unused;
	struct output_place place;  /* of the new folder, for BROKER_NEW */
	char folder[BROKER_FOLDER]; /* its name, for BROKER_NEW */
};

/* text: of BROKER_VARIABLE, or NULL; copied. One thread, before the others. */
void broker_init(const char *text);

/*
 * May there be a `record` that can be asked? Then *place becomes that of its trace folder. It may still not answer.
 */
int broker_place(struct output_place *place);

/* Was the process started under `record`? Then *place becomes that of its standard error. */
int broker_stderr(struct output_place *place);

/*
 * May asking help after this error of opening or making a file: were rights missing, or a path that leads there?
 */
bool broker_may_help(long error);

/*
 * Errors of the two functions below that are no answer of `record`: -EALREADY, it was asked in vain a short time ago;
 * -EOPNOTSUPP, there is a filter of system calls; -EAGAIN, no answer came in time; -ECONNREFUSED, no process listens
 * here, or another user's; -ECONNRESET, it refused the secret or the question; -EMFILE, this process has no number free
 * for a descriptor.
 */

/*
 * Asks for a new process folder: its name, its place and a descriptor of its meta, open for reading and writing.
 * Returns the descriptor, which the caller closes, or -errno.
 */
long broker_new(char name[BROKER_FOLDER], struct output_place *place);

/* Asks for a file of a process folder. folder: its last component. Returns a descriptor to close, or -errno. */
long broker_open(const char *folder, const struct output_place *place, const char *file);

#endif
