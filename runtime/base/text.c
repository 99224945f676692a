/* SPDX-License-Identifier: MIT */
#include "runtime/base/text.h"

#include <errno.h> /* EPERM */

/* What the system calls of the module may answer. libc's own table must not be asked: it translates, by malloc and
 * files. */
static const struct {
	int error;
	const char *words;
} errors[] = {
	{ EPERM, "Operation not permitted" },
	{ ENOENT, "No such file or directory" },
	{ ESRCH, "No such process" },
	{ EINTR, "Interrupted system call" },
	{ EIO, "Input/output error" },
	{ ENXIO, "No such device or address" },
	{ E2BIG, "Argument list too long" },
	{ EBADF, "Bad file descriptor" },
	{ EAGAIN, "Resource temporarily unavailable" },
	{ ENOMEM, "Cannot allocate memory" },
	{ EACCES, "Permission denied" },
	{ EFAULT, "Bad address" },
	{ EBUSY, "Device or resource busy" },
	{ EEXIST, "File exists" },
	{ EXDEV, "Invalid cross-device link" },
	{ ENODEV, "No such device" },
	{ ENOTDIR, "Not a directory" },
	{ EISDIR, "Is a directory" },
	{ EINVAL, "Invalid argument" },
	{ ENFILE, "Too many open files in system" },
	{ EMFILE, "Too many open files" },
	{ ETXTBSY, "Text file busy" },
	{ EFBIG, "File too large" },
	{ ENOSPC, "No space left on device" },
	{ EROFS, "Read-only file system" },
	{ EMLINK, "Too many links" },
	{ EPIPE, "Broken pipe" },
	{ ERANGE, "Numerical result out of range" },
	{ EDEADLK, "Resource deadlock avoided" },
	{ ENAMETOOLONG, "File name too long" },
	{ ENOSYS, "Function not implemented" },
	{ ENOTEMPTY, "Directory not empty" },
	{ ELOOP, "Too many levels of symbolic links" },
	{ EBADMSG, "Bad message" },
	{ EOVERFLOW, "Value too large for defined data type" },
	{ EOPNOTSUPP, "Operation not supported" },
	{ ETIMEDOUT, "Connection timed out" },
	{ ESTALE, "Stale file handle" },
	{ EDQUOT, "Disk quota exceeded" },
	{ ECANCELED, "Operation canceled" },
};

void text_error(struct text *text, long error)
{
	if (error < 0)
		error = -error;
	for (unsigned i = 0; i < sizeof(errors) / sizeof(*errors); i++) {
		if (errors[i].error == error) {
			text_string(text, errors[i].words);
			return;
		}
	}
	text_string(text, "errno ");
	text_number(text, (uint64_t)error);
}
