#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A process that wrote a title over its arguments: the trace has the title, without the zeros behind it.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
[ "$(id -u)" = 0 ] || skip_all 'only root can drop rights, by which a process gets a file of its own'

cat >title.c <<'END'
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char *end = argv[argc - 1] + strlen(argv[argc - 1]);

	memset(argv[0], 0, (size_t)(end - argv[0]));
	strcpy(argv[0], "title: work");
	pid_t child = fork();
	if (!child) {
		_exit(setgid(65534) || setuid(65534) || !malloc(10));
	}
	int status = 1;
	waitpid(child, &status, 0);
	return status != 0;
}
END
"$CC" -O0 -o title title.c || bail 'no program with a title'
record d -k calls ./title one two three four five six seven
is "$status/$err" '0/' 'the program runs'
is "$(bounded 60 "$XAUDIT" info -v d | sed -n 's/^ *Command  *//p' | sort -u)" \
	"'title: work'
./title one two three four five six seven" 'the process that dropped its rights has the title alone'
done_testing
