/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* CLONE_NEWUSER */
#include "runtime/process/rights.h"

#include <linux/capability.h>
#include <sched.h> /* CLONE_NEWUSER */
#include <stdbool.h>

#include "x86_64/sys.h"

#define KEEP UINT32_MAX /* an id that stays what it is */

struct ids {
	uint32_t real, effective, saved;
};

static bool has_id(const struct ids *ids, uint32_t id)
{
	return id == ids->real || id == ids->effective || id == ids->saved;
}

/* What the kernel would set. privileged: setuid() sets all three. */
static struct ids after(const struct ids *now, const uint32_t call[4], int privileged)
{
	struct ids ids = *now;

	if (call[0] == __NR_setuid) {
		ids.effective = call[1];
		if (privileged)
			ids.real = ids.saved = call[1];
		return ids;
	}
	ids.real = call[1] != KEEP ? call[1] : ids.real;
	ids.effective = call[2] != KEEP ? call[2] : ids.effective;
	if (call[0] == __NR_setresuid)
		ids.saved = call[3] != KEEP ? call[3] : ids.saved;
	else if (call[1] != KEEP || (call[2] != KEEP && call[2] != now->real))
		ids.saved = ids.effective;
	return ids;
}

bool rights_are_given_up(const uint32_t call[4])
{
	struct __user_cap_header_struct version = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct capabilities[2] = { 0 };
	struct ids now;

	if (sys_call(__NR_getresuid, (long)&now.real, (long)&now.effective, (long)&now.saved, 0, 0, 0))
		return false;
	/* Where it can't be asked there are none: the kernel knows none. */
	sys_call(__NR_capget, (long)&version, (long)capabilities, 0, 0, 0, 0);
	int is_capable = (capabilities[0].permitted | capabilities[1].permitted) != 0;
	if (!is_capable && now.real == now.effective && now.effective == now.saved)
		return false;
	switch (call[0]) {
	case __NR_setuid:
	case __NR_setreuid:
	case __NR_setresuid:
		break;
	case __NR_unshare:
		return (call[1] & CLONE_NEWUSER) != 0;
	default:
		return true;
	}
	struct ids then = after(&now, call, (capabilities[0].effective & 1u << CAP_SETUID) != 0);
	/* Who may have any id loses that when none of the three is root's any more. */
	if (capabilities[0].permitted & 1u << CAP_SETUID)
		return has_id(&now, 0) && !has_id(&then, 0);
	return !has_id(&then, now.real) || !has_id(&then, now.effective) || !has_id(&then, now.saved);
}
