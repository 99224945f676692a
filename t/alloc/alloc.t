#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit alloc: calls, bytes and what is left of a program that allocates in all ways, by the stacks that did it; the
# same from a trace that was kept, and from one without backtraces; several processes; mappings; the manual's examples.
. "${top_srcdir:-.}/t/lib/tap.sh"
skip_sanitized

cxx=${CXX:-c++}
$cxx -O1 -g -w -fno-builtin -o "$tmp/blocks" "$top_srcdir/t/alloc/blocks.cc" 2>"$tmp/cxx" ||
	skip_all 'no compiler of C++'

bounded 60 "$XAUDIT" alloc --keep "$tmp/trace" -n 99 -- "$tmp/blocks" 2>"$tmp/out"
is $? 0 'the command ends as it would'
out=$(cat "$tmp/out")
# 72704 bytes are those of libstdc++ for exceptions, if it takes them: the rest is 8 blocks, with 754 bytes, and 1000.
# operator new 40, new[] 200, nothrow 40, reallocarray 21 and 210, calloc 15, posix_memalign 100, aligned_alloc 128.
like "$out" 'in all: 1009 calls, 97458 bytes; at the end 1001 blocks, 96704 bytes;' \
	'each block counts once, for the outermost function, and a realloc that fails frees nothing'
like "$out" '8 frees, 0 of unknown blocks; 0 lost' 'each free is of a block that is known'
is "$(printf '%s\n' "$out" | grep -A3 '^[0-9]*\. 1000 calls' | sed 's/^[0-9]*\. //; s/+0x[0-9a-f]*//')" \
	'1000 calls, 24000 bytes; at the end 1000 blocks, 24000 bytes; at the peak 1000 blocks, 24000 bytes; temporary 0
    #0   malloc [libc.so.6]
    #1   leak() [blocks]
    #2   main [blocks]' 'a leak of 1000 blocks is one stack, the function that leaks in it'
for function in 'operator new\[\]\(unsigned long\)' 'operator new\(unsigned long, std::nothrow_t const&\)' \
	reallocarray calloc posix_memalign; do
	like "$(printf '%s\n' "$out" | grep -A1 "#0   ")" "#0   $function \\[" "$function is a stack's innermost frame"
done
is "$(printf '%s\n' "$out" | grep -c '#1   main+0x')" 8 'main called eight times'

line=$(grep -n 'kept = malloc(24)' "$top_srcdir/t/alloc/blocks.cc" | cut -d : -f 1)
like "$("$XAUDIT" alloc --srcline "$tmp/trace")" "#1   leak\\(\\)\\+0x[0-9a-f]+ \\[blocks\\] .*blocks.cc:$line\$" \
	'by its line in the source'
# Times may be a ns off.
"$XAUDIT" alloc -n 99 "$tmp/trace" >"$tmp/again"
is "$(sed 's/[0-9.]* us after//' "$tmp/again")" "$(printf '%s\n' "$out" | sed 's/[0-9.]* us after//')" \
	'a trace that was kept tells the same'
like "$("$XAUDIT" alloc --sort=live -n 2 "$tmp/trace" | grep -A1 '^2\. 1000 calls')" '#0   malloc' \
	'sorted by what is left'
is "$("$XAUDIT" alloc --sort=temporary -n 1 "$tmp/trace" | grep -c '^1\. .* temporary 1$')" 1 'by temporary ones'
is "$("$XAUDIT" alloc --timeline -n 1 "$tmp/trace" | awk '/from  *most live/, /^$/ { calls += $4; bytes += $5 }
	END { print calls, bytes }')" '1009 97458' 'each allocation is in a step of time'

bounded 60 "$XAUDIT" alloc --backtrace=1 -n 99 -o "$tmp/file" -- "$tmp/blocks" 2>"$tmp/err"
is "$?:$(cat "$tmp/err")" 0: 'with --output nothing is said'
like "$(cat "$tmp/file")" 'the backtrace ends here: as many callers as were asked for' 'one caller was asked for'
is "$(grep -c '#2 ' "$tmp/file")" 0 'there are no more'

# Without backtraces.
"$XAUDIT" record -o "$tmp/plain" -k plt -F malloc --context 'malloc:arg1,ret' -- "$tmp/blocks" 2>/dev/null
is "$("$XAUDIT" alloc "$tmp/plain" | grep -A1 '^1\. 100[0-9] calls' | sed -n 2p)" '    #0   malloc [libc.so.6]' \
	'a trace without them has stacks of traced calls'
"$XAUDIT" record -o "$tmp/coarse" --clock=coarse -F malloc -- "$tmp/blocks" 2>/dev/null
"$XAUDIT" alloc "$tmp/coarse" >/dev/null 2>"$tmp/why"
is $? 1 'a trace with a coarse clock is refused'
like "$(cat "$tmp/why")" 'coarse clock' 'and it is said why'
"$XAUDIT" alloc -- "$tmp/missing" 2>/dev/null
is $? 127 'a command that is not there'
"$XAUDIT" alloc -- sh -c 'exit 3' 2>/dev/null
is $? 3 'a command that fails'

# Processes, one after the other, and at the same time.
cat >"$tmp/hold.c" <<'END'
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* hold BYTES [COMMAND...]: has a block of so many bytes, or mappings, while the command runs. */
int main(int argc, char **argv)
{
	volatile size_t size = (size_t)atol(argv[1]);
	char *volatile block;

	if (!size) {
		char *map = mmap(NULL, 10 * 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		munmap(map + 4096, 4096);
		map = mremap(map + 2 * 4096, 8 * 4096, 20 * 4096, MREMAP_MAYMOVE);
		munmap(map, 5 * 4096);
		return map == MAP_FAILED;
	}
	block = malloc(size);
	if (argc > 2 && !fork()) {
		execv(argv[2], argv + 2);
		_exit(1);
	}
	wait(NULL);
	return !block;
}
END
${CC:-cc} -O1 -w -fno-builtin -o "$tmp/hold" "$tmp/hold.c" || bail 'no compiler'
# peak COMMAND...: what is live at the peak, by a command, and by the trace.
peak() {
	rm -rf "$tmp/peak"
	bounded 60 "$XAUDIT" alloc --keep "$tmp/peak" -n 1 -- "$@" 2>"$tmp/out"
	"$XAUDIT" alloc -n 1 "$tmp/peak" >"$tmp/again"
	cat "$tmp/out" "$tmp/again" | sed -n 's/^in all: .* at the peak \([0-9]*\) blocks, \([0-9]*\) bytes.*/\1 \2/p' |
		tr '\n' ' '
}
is "$(peak "$tmp/hold" 100000 "$tmp/hold" 300000 "$tmp/hold" 50000)" '3 450000 3 450000 ' \
	'what three processes have at the same time is the peak'
printf '#!/bin/sh\n"%s" 100000\n"%s" 300000\n"%s" 50000\n' "$tmp/hold" "$tmp/hold" "$tmp/hold" >"$tmp/three"
chmod +x "$tmp/three"
shell=$("$XAUDIT" alloc -n 1 -- sh -c ':' 2>&1 | sed -n 's/^in all: .* at the end [0-9]* blocks, \([0-9]*\) b.*/\1/p')
got=$(peak "$tmp/three" | cut -d' ' -f4)
ok 'of processes one after the other it is that of the largest' \
	[ "$got" -ge 300000 -a "$got" -le $((300000 + shell + 40000)) ]
got=$(cut -d' ' -f2 <<-END
	$(peak "$tmp/three")
	END
)
ok '... while they run, too' [ "$got" -ge 300000 -a "$got" -le $((300000 + shell + 40000)) ]

# 10 pages, less one in the middle, of which 8 become 20, of which 5 go.
bounded 60 "$XAUDIT" alloc --mmap -o "$tmp/maps" -- "$tmp/hold" 0
like "$(cat "$tmp/maps")" \
	'in all: 2 calls, 122880 bytes; at the end 2 blocks, 65536 bytes; at the peak 2 blocks, 86016 bytes' \
	'mappings'
is "$(grep -c '#1   main+0x' "$tmp/maps")" 2 'by who made them'
bounded 60 "$XAUDIT" alloc -o "$tmp/maps" -- "$tmp/hold" 0
like "$(cat "$tmp/maps")" 'in all: 0 calls' 'unless they are asked for'
bounded 60 "$XAUDIT" alloc --mmap -o "$tmp/maps" -- "$tmp/hold" 1000000
like "$(cat "$tmp/maps")" 'in all: 1 calls, 1000000 bytes' 'what malloc maps is part of what it gives'

# While it runs, what was read is given back; of processes that have ended, all. 96 MB of events were there. With --keep
# they are.
${CC:-cc} -O1 -w -fno-builtin -o "$tmp/pairs" "$top_srcdir/t/bench/alloc_cost.c" || bail 'no compiler'
# both FOLDER ROOM: waits until the folder takes less than ROOM KiB, a minute at the most.
cat >"$tmp/both" <<END
#!/bin/sh
"$tmp/pairs" 750000 1 1
"$tmp/pairs" 750000 1 1
i=0
while sleep 1; [ \$i -lt 60 ] && [ "\$(du -sk "\$1" | cut -f 1)" -ge "\$2" ]; do
	i=\$((i + 1))
done
du -sk "\$1" >"$tmp/room"
END
chmod +x "$tmp/both"
mkdir "$tmp/disk"
TMPDIR=$tmp/disk bounded 100 "$XAUDIT" alloc --backtrace=1 -o "$tmp/out" -- "$tmp/both" "$tmp/disk" 40000 >"$tmp/pair"
calls=$(sed -n 's/^in all: \([0-9]*\) calls.*/\1/p' "$tmp/out")
ok 'all pairs are read' [ "$calls" -ge 1500000 ]
room=$(cut -f 1 "$tmp/room")
ok 'but not on the disk any more' [ "$room" -lt 40000 ] || diag "$room KiB"
is "$(ls "$tmp/disk")" '' 'nothing is left there'
bounded 100 "$XAUDIT" alloc --backtrace=1 --keep "$tmp/all" -o "$tmp/out" -- "$tmp/both" "$tmp/all" 100000000 \
	>"$tmp/pair"
room=$(cut -f 1 "$tmp/room")
ok 'with --keep they are' [ "$room" -gt 80000 ] || diag "$room KiB"
rm -rf "$tmp/all"

# The command ends by a signal: so does xaudit, after the report.
printf '#!/bin/sh\nkill -TERM $$\n' >"$tmp/killed"
chmod +x "$tmp/killed"
TMPDIR=$tmp/disk bounded 100 "$XAUDIT" alloc -o "$tmp/out" -- "$tmp/killed"
is "$?:$(grep -c '^in all: [1-9]' "$tmp/out"):$(ls "$tmp/disk")" 143:1: 'a command that ends by a signal'
# What it leaves behind is not waited for.
TMPDIR=$tmp/disk bounded 20 "$XAUDIT" alloc -o "$tmp/out" -- \
	sh -c 'sleep 60 >/dev/null 2>&1 & echo $! >"$1"' - "$tmp/left"
is "$?:$(grep -c '^in all: [1-9]' "$tmp/out")" 0:1 'a command that leaves a process behind'
kill "$(cat "$tmp/left")"

# A process that runs: what it does from now on counts, and it records as before afterwards.
cat >"$tmp/serve.c" <<'END'
#include <stdlib.h>
#include <unistd.h>

__attribute__((noinline)) static void work(void)
{
	void *volatile kept = malloc(100), *volatile block = malloc(50);

	free(block);
	kept = NULL;
}

int main(void)
{
	for (int i = 0; i < 20000; i++) {
		work();
		usleep(1000);
	}
}
END
${CC:-cc} -O1 -w -fno-builtin -o "$tmp/serve" "$tmp/serve.c" || bail 'no compiler'
bounded 100 "$XAUDIT" record -o "$tmp/served" -F usleep -- "$tmp/serve" &
record=$!
for try in $(seq 300); do
	pid=$(pgrep -f "^$tmp/serve\$" || :)
	if [ -n "$pid" ] && "$XAUDIT" ctl "$pid" status >/dev/null 2>&1; then break; fi
	sleep 0.1
done
bounded 100 "$XAUDIT" alloc --for=1 -o "$tmp/out" "$pid"
is $? 0 'a process'
calls=$(sed -n 's/^in all: \([0-9]*\) calls, \([0-9]*\) bytes.*/\1/p' "$tmp/out")
ok 'its calls from now on' [ "$calls" -ge 20 -a "$calls" -lt 4000 ]
like "$(cat "$tmp/out")" '#1   work\+0x' 'by stacks'
like "$(cat "$tmp/out")" "^[0-9]+\\. ([0-9]+) calls, [0-9]+ bytes; at the end (0|1) blocks, (0|50) bytes;.* temporary" \
	'what it frees'
like "$(cat "$tmp/out")" ' [01] of unknown blocks; 0 lost' 'each free is of a block of these'
is "$("$XAUDIT" ctl "$pid" contexts)" 'no values of calls are asked for' 'nothing is recorded any more'
bounded 100 "$XAUDIT" alloc --for=1 "$$" >"$tmp/out" 2>"$tmp/err"
is "$?:$(wc -l <"$tmp/err" | tr -d ' ')" 1:1 'a process that does not run under xaudit'
bounded 100 "$XAUDIT" alloc -o "$tmp/out" "$pid" &
alloc=$!
# pvalloc is the last one that libc has; soon after it is seen all is ready.
for try in $(seq 300); do
	if "$XAUDIT" ctl "$pid" contexts 2>/dev/null | grep -q pvalloc; then break; fi
	sleep 0.1
done
sleep 3
kill "$pid"
wait $alloc
is $? 0 'without --for, until the process ends'
like "$(cat "$tmp/out")" '#1   work\+0x' 'and all is told'
wait "$record"

# The manual.
mkdir "$tmp/bin" "$tmp/here"
ln -s "$XAUDIT" "$tmp/bin/xaudit"
cp "$tmp/blocks" "$tmp/here/shop"
PATH=$tmp/bin:$PATH
cd "$tmp/here" || bail 'no temporary folder'
sed -n '/^\.Sh EXAMPLES/,/^\.Sh SEE/{/^\.Bd -literal/,/^\.Ed/{/^\./d;p;};}' \
	"$top_srcdir/doc/xaudit-alloc.1" >"$tmp/examples"
is "$(wc -l <"$tmp/examples" | tr -d ' ')" 6 'the manual has six examples'
while read -r example; do
	bounded 60 sh -c "$example" >"$tmp/out" 2>"$tmp/err" </dev/null
	is "$?:$(cat "$tmp/err" | grep -c '^xaudit')" 0:0 "it runs: $example"
	case $example in *' -o '*) ;; *) ok 'and prints something' test -s "$tmp/out" -o -s "$tmp/err" ;; esac
done <"$tmp/examples"
is "$(ls)" 'run
shop
shop.folded
shop.pb.gz
shop.txt' 'and leave what they name'

# ---- who reads what it shows is gone ----

mkdir "$tmp/folders"
{
	TMPDIR=$tmp/folders bounded 60 "$XAUDIT" alloc -- "$tmp/blocks" 2>&1
	echo $? >"$tmp/status"
} | :
is "$(cat "$tmp/status") $(ls "$tmp/folders")" '0 ' 'it leaves no folder behind then, and has the status of the command'
done_testing
