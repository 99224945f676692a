/* SPDX-License-Identifier: MIT */
/*
 * Files of the trace for processes that can't open any: they dropped their rights, or see another root than before.
 * `xaudit record`, where it runs, makes and opens them as its own user, and hands descriptors over a socket.
 *
 * Protocol. `record` listens on an abstract socket (SOCK_SEQPACKET), whose name is in the environment of its command
 * (BROKER_VARIABLE). Each connection is one question: a struct broker_request, one message. The answer is a struct
 * broker_answer, one message, with one descriptor (SCM_RIGHTS) if `error` is 0; who has not the secret gets none.
 * Both sides run on one machine and are of one version: another one is refused.
 *
 * What is trusted. Everybody sees the socket's name, and may bind it once `record` has ended: so the module asks the
 * kernel for the user who listens (SO_PEERCRED), and believes no other than the one that the environment tells.
 * `record` believes the kernel about who asks (process id), and the secret, which descendants have from their
 * environment, about being one. Whatever they ask for, they get files of one folder, which is new, or their own
 * family's: made for this very process, or with a head of it in meta that is not older (tool/record/broker.c). So a
 * forked child must have its head, and the word for it, before it asks.
 *
 * Module's side: any thread, with or without the process lock, signals blocked or not; async-signal-safe, no libc. It
 * waits at most a second for each of connecting, sending and receiving. After a failure nobody is asked for 4 seconds,
 * after the next for 8, and so on; after the news that nobody listens, never again. A thread under a filter of system
 * calls (seccomp) asks nobody: the filter may kill.
 */
#ifndef XAUDIT_BROKER_H
#define XAUDIT_BROKER_H

#include <stdint.h>

#include "runtime/output.h"

/*
 * "VERSION NAME SECRET UID DEVICE INODE": decimal, but NAME, and SECRET in hexadecimal digits. UID: who listens, as
 * processes in the same user namespace see it. DEVICE, INODE: of the trace folder.
 */
#define BROKER_VARIABLE "XAUDIT_RECORD"

#define BROKER_VERSION 1u
#define BROKER_MAGIC   0x6b726278u /* "xbrk" */
#define BROKER_NAME    48	   /* longest name, without NULs around it */
#define BROKER_SECRET  16
#define BROKER_FOLDER  32 /* p<pid>[.n], ended by NUL; p4194304.999999 fits */
#define BROKER_FILE    32 /* ended by NUL; t16777215.268435455 fits */

enum broker_what {
	BROKER_NEW = 1,	 /* the folder of a new family: the descriptor is of its meta */
	BROKER_OPEN = 2, /* a file of one's own family: meta, or, made if need be, t<n>[.<p>] of one's own threads */
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
	struct output_place place;  /* of BROKER_NEW */
	char folder[BROKER_FOLDER]; /* the same */
};

/* text: of BROKER_VARIABLE, or NULL; copied. One thread, before the others. */
void broker_init(const char *text);

/*
 * Is there a `record` to be asked, perhaps? Then *place is that of its trace folder. Not whether it answers.
 */
int broker_place(struct output_place *place);

/*
 * Whether an error of opening or making is one that asking may help against: for want of rights, or of a path that
 * leads there.
 */
int broker_may_help(long error);

/*
 * Errors of the two below that are no answer of `record`: -EALREADY, it was asked in vain a short time ago;
 * -EOPNOTSUPP, there is a filter of system calls; -EAGAIN, no answer came in time; -ECONNREFUSED, nobody listens here,
 * or somebody else; -ECONNRESET, it does not know the secret or the question; -EMFILE, this process has no number free
 * for a descriptor.
 */

/*
 * A new process folder: its name, its place and a descriptor of its meta, open for reading and writing. Returns the
 * descriptor, to be closed, or -errno.
 */
long broker_new(char name[BROKER_FOLDER], struct output_place *place);

/* A file of a process folder. folder: its last component. Returns a descriptor to close, or -errno. */
long broker_open(const char *folder, const struct output_place *place, const char *file);

#endif
