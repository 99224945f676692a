#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit record --pack: one file instead of the folder, with what the folder would have had; the command's status stays,
# and nothing is lost where it can't be packed.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
need python3

cat >library.c <<'EOF'
long next(long n);
long next(long n) { return n + 1; }
EOF
cat >program.c <<'EOF'
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

long next(long n);

int main(int argc, char **argv)
{
	long n = 0;

	for (int i = 0; i < atoi(argv[1]); i++)
		n = next(n);
	/* A child that stays as long as the file named by the second argument is there. */
	if (argc > 2 && fork() == 0)
		while (access(argv[2], F_OK) == 0)
			usleep(1000);
	return n == atoi(argv[1]) ? 7 : 1;
}
EOF
$CC -O1 -fPIC -shared -fpatchable-function-entry=5 -o libnext.so library.c || bail 'the library does not compile'
$CC -O1 -o program program.c ./libnext.so -Wl,-rpath,"$tmp" || bail 'the program does not compile'

# calls TRACE: those of next().
calls() {
	"$XAUDIT" report "$1" | awk '$NF ~ /libnext/ { print $1 }'
}

bounded 60 "$XAUDIT" record --pack -o a -l 'libnext*' ./program 200000 2>err
is "$? $(cat err)" '7 ' 'the status is that of the command, and nothing is said'
is "$(ls -d a*) $(stat -c %a a.pack)" 'a.pack 600' 'there is a private file, and no folder'
is "$(calls a.pack) $(calls a)" '200000 200000' 'which has all calls, and is found by the name of the folder, too'
size=$(stat -c %s a.pack)
diag "400000 events in $size bytes"
ok 'it takes less than 2 bytes per event' test "$size" -lt 800000
"$XAUDIT" info a.pack >out 2>err
is "$? $(cat err) $(sed -n 's/^Status *//p' out)" '0  exit 7' 'and knows how the command ended'

bounded 60 "$XAUDIT" record --pack -o a -l 'libnext*' ./program 10 2>err
is "$? $(cat err) $(ls -d a* | xargs)" '7  a.pack a.pack.old' 'the packed trace that was there is kept'
is "$(calls a.pack) $(calls a.pack.old)" '10 200000' 'under another name'
bounded 60 "$XAUDIT" record --pack -o a -l 'libnext*' ./program 20 2>err
is "$? $(cat err) $(ls -d a* | xargs) $(calls a.pack) $(calls a.pack.old)" '7  a.pack a.pack.old 20 10' \
	'and given up for the next one'

echo 'not a trace' >b.pack
bounded 60 "$XAUDIT" record --pack -o b -l 'libnext*' ./program 10 2>err
is "$? $(cat b.pack) $(sed "s|$tmp/||g" err)" "7 not a trace xaudit record: b.pack can't be made: File exists" \
	'a file of other origin stays'
is "$(calls b)" 10 'and the trace stays a folder'

case $(stat -f -c %T .) in
overlayfs | nfs | fuse*) skip 3 'a file system without leases' ;;
*)
	touch stay
	bounded 60 "$XAUDIT" record --pack -o c -l 'libnext*' ./program 10 stay 2>err
	is "$? $(ls -d c*)" '7 c' 'while a process lives that may write to it, the folder stays'
	like "$(cat err)" 'xaudit record: .*/c/p[0-9]*/meta is being written, so .*/c is not packed; wait for' \
		'which is said'
	rm stay
	tries=3000
	until "$XAUDIT" pack c >out 2>err || [ $((tries -= 1)) -eq 0 ]; do sleep 0.02; done
	is "$(calls c.pack)" 10 'when it has ended, xaudit pack does it'
	;;
esac

# The disk is full: what the file may hold is less than it needs.
if (ulimit -f 1) 2>/dev/null; then
	bounded 60 "$XAUDIT" record -o d -l 'libnext*' ./program 200000
	(trap '' XFSZ; ulimit -f 8; bounded 60 "$XAUDIT" pack d) >out 2>err
	is "$? $(cat out err) $(ls -d d*)" \
		"1 xaudit pack: d.pack can't be written: File too large; -o names another file d" \
		'where the file would be too large, there is none'
else
	skip 1 'no ulimit -f'
fi
bounded 60 "$XAUDIT" record --pack -o e no-such-command 2>err
is "$? $(ls -d e e.pack 2>/dev/null)" '127 ' 'a command that is not there leaves nothing'
# Dense words are packed as plain ones, and dense again in the folder that is unpacked.
bounded 60 "$XAUDIT" record -o d -l 'libnext*' ./program 400000
folder=$(stat -c %b d/p*/t0)
ok "800000 events take less than 2 bytes each in the folder ($folder blocks)" test "$folder" -lt 3125
"$XAUDIT" pack d 2>/dev/null
"$XAUDIT" unpack -o e d.pack
is "$? $(diff -r d e && echo same)" '0 same' 'what was packed comes back as it was'
is "$(stat -c %b e/p*/t0)" "$folder" 'with no more blocks'
is "$(calls d) $(calls d.pack) $(calls e)" '400000 400000 400000' 'and all calls are in each of them'
# The kind of the first code of the first chunk behind another one that is dense: where the disk is late, some are not.
python3 "$top_srcdir/t/lib/compact.py" "$(echo d/p*/t0)" expand whole
chunk=$(python3 -c 'import struct
with open("whole", "rb") as file:
	whole = file.read()
print(next(at for at in range(4096, len(whole), 4096)
	if whole[at:at + 4] == whole[:4] and struct.unpack_from("<Q", whole, at + 104)[0]))')
offset=$(python3 "$top_srcdir/t/lib/compact.py" "$(echo d/p*/t0)" at $((chunk + 128 + 1)))
printf '\371' | dd of="$(echo d/p*/t0)" bs=1 seek="$offset" conv=notrunc 2>/dev/null
"$XAUDIT" pack -o f.pack d 2>/dev/null
"$XAUDIT" unpack -o f f.pack
is "$? $(diff -r d f && echo same)" '0 same' 'damaged codes come back as they were, too'
"$XAUDIT" report f.pack >packed 2>packed.err
packed=$?
"$XAUDIT" report d >folder 2>folder.err
is "$? $(cat folder)" "$packed $(cat packed)" 'and what is left of them is read as from the folder'
ok 'with a message' grep -q 't0' packed.err

done_testing
