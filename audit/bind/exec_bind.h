/* SPDX-License-Identifier: MIT */
/* What stubs of functions that execute programs need of libc (runtime/process/execute.h). */
#ifndef XAUDIT_AUDIT_EXEC_BIND_H
#define XAUDIT_AUDIT_EXEC_BIND_H

#include "audit/model/object.h"

/* Before such a stub is used that was made for this load, a libc. Lock held. */
void exec_bind_libc(const struct load *libc);

#endif
