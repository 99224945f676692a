/* SPDX-License-Identifier: MIT */
/*
 * The files of a trace, of which there may be tens of thousands: each is opened when it is read, and only the
 * READ_FILES_OPEN that were read last stay open, or fewer if the process may not have so many.
 *
 * A file that is opened again must be the same as at first (else ESTALE), since what is known of it was read from that
 * file.
 *
 * The trace may also be packed (tool/read/pack/pack.h): then its members are the files.
 *
 * The files of one struct read_files are used by one thread; nothing here is async-signal-safe.
 */
#ifndef XAUDIT_TOOL_READ_TRACE_FILE_H
#define XAUDIT_TOOL_READ_TRACE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct pack;
struct stat;
struct read_file;
struct read_list;

#define READ_FILES_OPEN 128

/* The files of a trace folder that are open. */
struct read_files {
	int at; /* the folder; it must stay open as long as the files are used. -1: it is packed */
	struct pack *pack; /* NULL: it is a folder */
	struct read_file *newest, *oldest; /* in the order of their last use */
	unsigned open;
};

/* Opens a file as a stream for reading. NULL, and errno, if it can't be opened. */
FILE *read_files_stream(struct read_files *files, const char *name);

/* Are both the same folder, or packed trace? */
bool read_files_same(const struct read_files *files, const struct read_files *other);

/* Is there a file or folder of that name? */
bool read_files_has(const struct read_files *files, const char *name);

/*
 * Opens a file for reading, relative to the folder. Only regular files are opened: a FIFO would make us wait for ever.
 * Returns a handle, or NULL and errno if it can't be opened; ENOMEM: there is no memory. Then *why is a phrase, NULL if
 * there is no such file. The name is folder/file. st, unless NULL: becomes the file's stat.
 */
struct read_file *read_file_open(
	struct read_files *files, const char *folder, const char *file, struct stat *st, const char **why);
void read_file_close(struct read_file *file); /* NULL: nothing */

/* Closes its descriptor until it is needed again. */
void read_file_rest(struct read_file *file);

/*
 * Opens the list of the names in a folder, "." for the trace folder itself. Returns NULL and errno, ENOMEM too, if it
 * can't. A name is valid until the next one is asked for; NULL: there are no more.
 */
struct read_list *read_files_list(struct read_files *files, const char *folder);
const char *read_list_next(struct read_list *list);
void read_list_close(struct read_list *list);

/* Is it the file that st describes? */
bool read_file_is(const struct read_file *file, const struct stat *st);

/* Are both the same file, or the same member of the same packed trace? */
bool read_file_same(const struct read_file *file, const struct read_file *other);

/*
 * As pread(), for all of `size` or up to the end of the file. Returns how much was read; *error, unless NULL: an
 * errno, or 0.
 */
size_t read_file_read(struct read_file *file, void *to, size_t size, uint64_t offset, int *error);

/* Bytes that the file has now; 0 if that can't be seen. */
uint64_t read_file_size(struct read_file *file);

/*
 * Where data lies, from `offset` on: offset itself, or the end of a hole there; UINT64_MAX: nowhere. If holes can't be
 * seen: offset.
 */
uint64_t read_file_data(struct read_file *file, uint64_t offset);

#define READ_FILE_BLOCK 4096ul /* bytes on disk come in such blocks, in nearly all file systems */

/* Is it a member of a packed trace, whose chunks have slots (format/pack.h)? */
bool read_file_has_slots(const struct read_file *file);

/* How many bytes from begin to end are in no hole. */
uint64_t read_file_disk(struct read_file *file, uint64_t begin, uint64_t end);

#endif
