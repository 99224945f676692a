/* SPDX-License-Identifier: MIT */
/*
 * Folders and files of traces, made and opened as if another user wanted to redirect us, by the module and by the
 * command.
 *
 * New folders and files are this user's alone, whatever the umask: folders 0700, files 0600. They are always new (a
 * name that is taken is an error, links count as taken), and nothing is opened again through a link. A folder is
 * trusted for its owner and for its device and inode, which are asked of a descriptor; all files in it are reached from
 * that descriptor. Descriptors of folders are of O_PATH: enough to look, to make and to open from, whatever the
 * folder's mode.
 *
 * No descriptor is kept in a traced process: programs close all descriptors that they don't know, or give the number to
 * a file of their own. So the folder is opened again each time, and compared with the device and inode that it had when
 * it was made.
 *
 * Results are those of system calls: -errno on failure, or OUTPUT_FOREIGN. Any thread, no lock, async-signal-safe, no
 * libc.
 */
#ifndef XAUDIT_OUTPUT_H
#define XAUDIT_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h> /* struct stat */

#define OUTPUT_FOREIGN (-4000) /* it belongs to a user who is neither this one nor root */

/* Device and inode, which identify a folder or a file. */
struct output_place {
	uint64_t device, inode;
};

static inline struct output_place output_of(const struct stat *st)
{
	return (struct output_place){ st->st_dev, st->st_ino };
}

static inline bool output_is(const struct stat *st, const struct output_place *place)
{
	return st->st_dev == place->device && st->st_ino == place->inode;
}

/*
 * While we have a descriptor, another thread may close it and have its number for a file of the program's. So it is
 * compared right before each write, and when it is closed. What remains is the time from one system call to the next:
 * none compares and writes, or closes.
 */

/* What it leads to now. Returns 0 or -errno. */
long output_place(int fd, struct output_place *place);

/* Returns 0, or -EBADF: it is another file's by now, or nobody's. */
long output_check(int fd, const struct output_place *place);

/* Closes it, unless it is another file's by now. */
void output_close(int fd, const struct output_place *place);

/*
 * Opens a folder that this user (the effective one) or root owns. at: a descriptor of the folder that path starts at,
 * or AT_FDCWD. Its last component must be no link (-ENOTDIR). place may be NULL. Returns a descriptor to close.
 */
long output_open(int at, const char *path, struct output_place *place);

/* Opens a folder that must still be the one at `place`. -ESTALE: it is another one. */
long output_open_again(const char *path, const struct output_place *place);

/*
 * Makes a folder, in the one that the path led to at first. place may be NULL. Returns a descriptor to close; -EEXIST
 * when the name is taken.
 */
long output_make(int at, const char *path, struct output_place *place);

/* Makes a file, open for reading and writing. Returns a descriptor to close; -EEXIST when the name is taken. */
long output_make_file(int folder, const char *name);

/*
 * As output_make_file(), for a file that will be mapped and stored to: if the file system allows, a full disk raises no
 * SIGBUS there.
 */
long output_make_mapped(int folder, const char *name);

/* Opens a file that is there. flags: as of open(2). */
long output_open_file(int folder, const char *name, int flags);

#endif
