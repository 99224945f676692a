#!/bin/sh
# SPDX-License-Identifier: MIT
#
# When the processes of a family have ended, its files have no holes: a tar of the trace takes no more than its disk
# use. They are read as before, packed, copied, and come back as they were; families that still run are left alone.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
need python3 tar
library "$CC" libcounted.so counted.c
program "$CC" count count.c -L. -lcounted
cat >family.c <<'END'
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

void counted(void);

/* family N [stay]: N children call once each; stay: one more lives until its input ends. */
int main(int argc, char **argv)
{
	char byte;

	for (int i = atoi(argv[1]); i > 0; i--) {
		pid_t child = fork();
		if (!child)
			return counted(), 0;
		waitpid(child, NULL, 0);
	}
	if (argc > 2 && !fork()) {
		counted();
		close(1);
		close(2);
		return read(0, &byte, 1) < 0;
	}
	counted();
	return 0;
}
END
$CC -o family family.c -L. -lcounted -Wl,-rpath,"$tmp" || bail 'family does not compile'

# bytes DIR: of a tar, which stores holes as zeros, and on disk.
bytes() {
	tar=$(tar cf - "$1" | wc -c) disk=$(du -s -B1 "$1" | cut -f1)
}
# twice DIR WHAT: the tar is not larger than twice the disk use, and each file begins as a compact one does, unless it
# is small without.
twice() {
	bytes "$1"
	ok "$2: a tar of $tar bytes is at most twice what it takes on disk, $disk" test "$tar" -le $((2 * disk))
	is "$(for f in "$1"/p*/meta; do
		head -c 8 "$f"
		stat -c ' %s %b' "$f"
	done | awk '$1 != "xaudcomp" && 2 * $2 > 3 * 512 * $3')" '' "$2: meta is compact"
}

record d -k plt -l libcounted.so ./count 1 1000
report d
is "$status $err$(calls counted) $(sums)" '7 1000 0 lost 0 unfinished' 'a short program: all is there'
twice d 'a short program'

record d -k plt -l libcounted.so ./family 5
report d
is "$status $err$(calls counted) $(info d '.processes | length')" '0 6 6' 'a program that forks: all is there'
twice d 'a program that forks'
bounded 60 "$XAUDIT" dump --format=json d >dump
"$XAUDIT" pack -o d.pack d >out 2>&1
"$XAUDIT" unpack -o e d.pack >>out 2>&1
is "$? $(cat out | grep -c error) $(diff -r d e && echo same)" '0 0 same' 'packed and unpacked, it is as it was'
is "$("$XAUDIT" dump --format=json d.pack | cmp - dump && echo same)" same 'and reads the same when it is packed'
bounded 60 "$XAUDIT" ctl "$(echo d/p*)" snapshot -o copied >out 2>err
report copied
is "$? $(cat err)$(calls counted) $(ls copied)" "0 1 $(ls d | grep ^p)" \
	'a snapshot copies its first process, and leaves no more'
rm -rf copied

# The same file with its holes, as the module leaves it.
mkdir -p sparse/p1
cp d/record sparse
python3 "$top_srcdir/t/lib/compact.py" d/p*/meta expand sparse/p1/meta
bytes sparse
ok "with its holes, a tar of it takes $tar bytes" test "$tar" -gt 2000000
report d --by=process
compact=$report
report sparse --by=process
is "$report" "$compact" 'it is read the same'

# Cut off, and with extents that can't be.
cp -r d cut
truncate -s -5000 cut/p*/meta
bounded 60 "$XAUDIT" report cut >out 2>err
is "$? $(wc -l <err)" '1 1' 'one that is cut off is said to be'
cp -r d wrong
printf '\377\377\377\377\377\377\377\177' | dd of="$(echo wrong/p*/meta)" bs=1 seek=40 conv=notrunc 2>err
bounded 60 "$XAUDIT" report wrong >out 2>err
is "$? $(wc -l <err)" '1 1' 'and so is one whose extents overlap'

# Many events: the file of full chunks, too.
record d -b 64k -k plt -l libcounted.so ./count 1 200000
report d
is "$status $err$(calls counted)" '7 200000' '400000 events: all are there'
is "$(head -c 8 d/p*/t0)" xaudcomp 'the file of chunks is compact'
twice d '400000 events'

if unshare -pf --mount-proc true 2>err; then
	record d -k plt -l libcounted.so unshare -pf --mount-proc ./family 3
	report d
	is "$status $err$(calls counted)" '0 4' 'in a namespace of processes: all is there'
	twice d 'in a namespace of processes'
else
	skip 3 'no namespaces of processes here'
fi

# A child that lives on after the command.
mkfifo input
exec 3<>input
record d -k plt -l libcounted.so ./family 1 stay <input 3>&-
is "$status $(head -c 6 d/p*/meta)" '0 xaudit' 'what a child may still write to is left alone'
exec 3>&-
done_testing
