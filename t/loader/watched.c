/* SPDX-License-Identifier: MIT */
/* Which functions are watched (audit/bind/nointercept.h): each of them, and none with nearly the same name. */
#include "audit/bind/nointercept.h"

#include <stdio.h>
#include <string.h>

#include "t/lib/tap.h"

static const struct {
	enum nointercept_watch what;
	const char *names; /* with blanks between them */
} watched[] = {
	{ WATCH_LANDED, "__cxa_begin_catch _Unwind_Resume _Unwind_Resume_or_Rethrow" },
	{ WATCH_JUMP, "longjmp _longjmp siglongjmp __longjmp_chk" },
	{ WATCH_CALLER, "dlopen dlmopen dlsym dlvsym" },
	{ WATCH_CFA, "_Unwind_GetCFA" },
	{ WATCH_PRCTL, "prctl" },
	{ WATCH_SYSCALL, "syscall" },
	{ WATCH_LIMIT, "setrlimit setrlimit64 prlimit prlimit64" },
	{ WATCH_LOCK, "mlockall" },
	{ WATCH_RIGHTS, "setuid setreuid setresuid capset chroot unshare setns _Fork clone" },
	{ WATCH_EXEC, "execve execvpe execveat fexecve posix_spawn posix_spawnp execv execvp execl execlp execle "
		      "system popen pidfd_spawn pidfd_spawnp" },
};

int main(void)
{
	char names[256], other[64];
	int found = 0;

	for (size_t i = 0; i < sizeof(watched) / sizeof(*watched); i++) {
		snprintf(names, sizeof(names), "%s", watched[i].names);
		for (char *save, *name = strtok_r(names, " ", &save); name; name = strtok_r(NULL, " ", &save)) {
			is_int(nointercept_watch(name), watched[i].what, "%s is watched", name);
			found += nointercept_watch(name) == watched[i].what;
			/* One letter less, more, and another one. */
			snprintf(other, sizeof(other), "%.*s", (int)strlen(name) - 1, name);
			int wrong = nointercept_watch(other) == watched[i].what && !strstr(watched[i].names, other);
			snprintf(other, sizeof(other), "%sx", name);
			wrong += nointercept_watch(other) != WATCH_NONE;
			snprintf(other, sizeof(other), "x%s", name + 1);
			wrong += nointercept_watch(other) != WATCH_NONE;
			is_int(wrong, 0, "and no name like it");
		}
	}
	is_int(found, 43, "43 functions in all");
	is_int(nointercept_watch(""), WATCH_NONE, "an empty name is none");
	return done_testing();
}
