#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Signals that xaudit record gets while the command runs are passed to the command.
. "${top_srcdir:-.}/t/lib/recorded.sh"

if [ -n "$XAUDIT_TSAN" ]; then
	skip_all 'ThreadSanitizer keeps a signal that comes during waitid() until that returns'
fi
FAKE_TRACE=selected
export FAKE_TRACE

# signalled: notes each signal that it gets, as "NUMBER FROM", with FROM "kernel", "kill", or the signal's value; ends
# by SIGTERM. When it is ready, it writes its number and its parent's to the file ready. It runs at most 30 s.
cat >signalled.c <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static void note(int number, siginfo_t *info, void *context)
{
	char line[60];
	const char *form = info->si_code == SI_KERNEL ? "%d kernel\n" :
		info->si_code == SI_QUEUE ? "%d %d\n" : "%d kill\n";
	int n = snprintf(line, sizeof(line), form, number, info->si_value.sival_int);
	(void)context;
	if (number != SIGCONT && write(1, line, n) != n)
		_exit(1);
	if (number == SIGTERM)
		_exit(42);
}
int main(void)
{
	struct sigaction action = {.sa_sigaction = note, .sa_flags = SA_SIGINFO};
	sigset_t none;
	for (int i = 1; i < 65; i++)
		if (i != SIGCHLD && i != SIGTSTP)
			sigaction(i, &action, NULL);
	sigemptyset(&none);
	FILE *ready = fopen("ready.new", "w");
	fprintf(ready, "%d %d\n", (int)getpid(), (int)getppid());
	fclose(ready);
	rename("ready.new", "ready");
	for (int i = 0; i < 4000; i++)
		usleep(50000);
	return 1;
}
END
# terminal terminal COMMAND...: runs it in the foreground of a terminal of its own, types ^C five times, then ^\, and
# sends it SIGTERM. terminal group COMMAND...: in a process group of its own, as a shell does. Both print how it ended.
cat >terminal.c <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>
static int shown(void)
{
	char text[4096];
	int fd = open("notes", O_RDONLY), lines = 0;
	long n = read(fd, text, sizeof(text));
	close(fd);
	for (long i = 0; i < n; i++)
		lines += text[i] == '\n';
	return lines;
}
int main(int argc, char **argv)
{
	int terminal = !strcmp(argv[1], "terminal"), master = posix_openpt(O_RDWR | O_NOCTTY), status = 0, lines = 0;
	grantpt(master);
	unlockpt(master);
	pid_t pid = fork();
	(void)argc;
	if (!pid && terminal) {
		setsid();
		int slave = open(ptsname(master), O_RDWR);
		ioctl(slave, TIOCSCTTY, 0);
		dup2(slave, 0);
	} else if (!pid) {
		setpgid(0, 0);
	}
	if (!pid) {
		alarm(200);
		execvp(argv[2], argv + 2);
		_exit(99);
	}
	for (int i = 0; terminal && access("ready", F_OK) && i < 1200; i++)
		usleep(50000);
	for (int press = 0; terminal && press < 6; press++) {
		if (write(master, press < 5 ? "\3" : "\34", 1) != 1)
			return 1;
		for (int i = 0; i < 3000 && shown() <= lines; i++)
			usleep(20000);
		usleep(100000);
		lines = shown();
	}
	if (terminal)
		kill(pid, SIGTERM);
	waitpid(pid, &status, 0);
	printf(WIFEXITED(status) ? "exit %d\n" : "status %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : status);
	return 0;
}
END
# queue PID SIGNAL VALUE
cat >queue.c <<'END'
#include <signal.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
	union sigval value = {.sival_int = atoi(argv[argc - 1])};
	return sigqueue(atoi(argv[1]), atoi(argv[2]), value) != 0;
}
END
for p in signalled terminal queue; do $CC -o $p $p.c || bail 'a helper of this test does not compile'; done

# Signals to record alone. sh starts a background job with SIGINT and SIGQUIT ignored; the command still gets them.
await() {
	i=0
	until "$@" 2>/dev/null || [ $i -ge 600 ]; do i=$((i + 1)); sleep 0.1; done
}
state() {
	[ "$(sed 's/.*) //; s/ .*//' "/proc/$1/stat")" = "$2" ]
}
noted() {
	[ "$(wc -l <notes)" -ge "$1" ]
}
rm -f ready
: >notes
./terminal group "$XAUDIT" record -o d ./signalled >notes 2>said &
job=$!
await test -e ready
read -r program recorder <ready
sent=0
for signal in 1 2 3 6 8 10 11 12 14 17 20 23 28 30 34 50 64; do
	kill -$signal "$recorder" || break
	case $signal in
	17) ;;
	20)
		await state "$program" T
		await state "$recorder" T
		states=$(sed 's/.*) //; s/ .*//' "/proc/$program/stat" "/proc/$recorder/stat" | tr '\n' ' ')
		kill -CONT "$recorder"
		await state "$program" S
		;;
	*)
		sent=$((sent + 1))
		await noted $sent
		;;
	esac
done
./queue "$recorder" 40 12345
await noted $((sent + 1))
kill "$recorder"
wait $job
is "$(sed '$d' notes | tr '\n' ' ')" "$(printf '%s kill ' 1 2 3 6 8 10 11 12 14 23 28 30 34 50 64)40 12345 15 kill " \
	'signals that somebody sends to record reach the command, once each'
is "$states" 'T T ' 'one that stops record stops the command, too'
is "$(tail -n 1 notes)/$(cat said)" 'exit 42/' "the command's end comes back"

# The terminal sends signals to the whole group.
rm -f ready
: >notes
end=$(env --default-signal=INT,QUIT ./terminal terminal sh -c \
	"exec \"\$XAUDIT\" record -o d ./signalled >>notes 2>said")
is "$(tr '\n' ' ' <notes)" '2 kernel 2 kernel 2 kernel 2 kernel 2 kernel 3 kernel 15 kill ' \
	'what is typed at the terminal reaches it once, from there'
is "$end" 'exit 42' 'and record goes on'
done_testing
