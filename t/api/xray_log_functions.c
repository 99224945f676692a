/* SPDX-License-Identifier: MIT */
/* The lock of XRay's modes, whose holder is gone. */
#include "runtime/api/xray_log.c"

#include "t/lib/tap.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* As a thread that a forked child does not have, or a task that shared the memory and was killed. */
static void is_left_held(void)
{
	lock();
	pid_t pid = fork();
	if (!pid) {
		alarm(60);
		int was = __xray_log_select_mode("xray-basic") == XRAY_REGISTRATION_OK;
		_exit(was && __xray_log_get_current_mode() ? 7 : 1);
	}
	int status = 0;
	waitpid(pid, &status, 0);
	ok(WIFEXITED(status) && WEXITSTATUS(status) == 7, "a lock that was left held is taken over, and free then: %x",
		(unsigned)status);
}

static void is_late(void)
{
	uint32_t late = lock_word;

	lock_word = 0;
	uint32_t taking = lock();
	unlock(late);
	ok(lock_word == taking, "who comes back late leaves it to its holder");
	unlock(taking);
	ok(!lock_word, "who frees it");
}

int main(void)
{
	is_left_held();
	is_late();
	return done_testing();
}
