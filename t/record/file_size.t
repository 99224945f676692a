#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Where files may not become large (RLIMIT_FSIZE, ulimit -f): what fits is recorded, and the rest counted; where nothing
# can fit, that is said in one line, and nothing is changed. No command ends by SIGXFSZ.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
need prlimit

library "$CC" libcounted.so counted.c
program "$CC" crowd crowd.c -L. -lcounted
least=1048576

# limited BYTES ARG...: xaudit, where files may have so many bytes. Sets $status and $out, with stderr: a file for it
# would be limited, too.
limited() {
	bytes=$1
	shift
	status=0
	out=$(bounded 60 prlimit --fsize="$bytes" "$XAUDIT" "$@" 2>&1) || status=$?
}
# there: all files and folders, with their sizes.
there() {
	find traces cache -printf '%p %s\n' | LC_ALL=C sort
}

# ---- nothing fits ----
mkdir traces cache
for i in 1 2; do
	record traces/d -k plt -l libcounted.so ./crowd 1 "$i"
	[ $i = 2 ] || mv traces/d traces/older
done
mv traces/older traces/d.old
before=$(there)
for bytes in 0 1 4096 $((least - 1)); do
	limited "$bytes" record -o "$tmp/traces/d" -k plt -l libcounted.so ./crowd 1 3
	is "$status/$out" "125/xaudit record: files may have $bytes bytes here (ulimit -f), and a trace takes files of \
1024 KiB or more; raise the limit, or do without a trace" "record, $bytes bytes: it says what is wrong, in a line"
	is "$(there)" "$before" "record, $bytes bytes: nothing is changed, and nothing left"
done
for bytes in 0 1 100; do
	limited "$bytes" pack traces/d
	is "$status/$(printf '%s\n' "$out" | grep -c 'File too large')/$(printf '%s\n' "$out" | wc -l)" 1/1/1 \
		"pack, $bytes bytes: it says what is wrong, in a line"
	is "$(there)" "$before" "pack, $bytes bytes: nothing is left"
	limited "$bytes" index -q --cache="$tmp/cache" libcounted.so
	is "$status/$(printf '%s\n' "$out" | grep -c 'File too large')/$(printf '%s\n' "$out" | wc -l)" 1/1/1 \
		"index, $bytes bytes: it says what is wrong, in a line"
	is "$(there)" "$before" "index, $bytes bytes: nothing is left"
done

# ---- something fits ----
# recorded BYTES: 8 threads of 20000 calls.
recorded() {
	rm -rf d
	limited "$1" record -o "$tmp/d" -k plt -l libcounted.so ./crowd 8 20000
	is "$status/$(printf '%s\n' "$out" | head -n 1)" '0/160000 calls' "$1 bytes: the program does what it does"
	report d
	lost=$(printf '%s\n' "$report" | jq .lost)
	is "$(printf '%s\n' "$report" | jq '2 * ([.functions[] | select(.function == "counted") | .calls] | add // 0)
		- .unfinished + .lost')" 320000 "$1 bytes: what is not in the trace is counted"
	diag "$lost lost"
	is "$(printf '%s\n' "$out" | grep -c 'ulimit -f')" "$((lost > 0))" "$1 bytes: and it is said why"
	is "$(find d -size +"$1"c)" '' "$1 bytes: no file is larger"
}
recorded $least
ok 'which has not room for all' test "$lost" -gt 0
recorded $((2 * least))
recorded $((4 * least))
recorded $((64 * least))
is "$lost" 0 'which has room for all'

# ---- a program limits itself, and copies its flight recorder ----
cat >limits.c <<'END'
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
void counted(void);
int main(int argc, char **argv)
{
	const struct rlimit most = { argc > 1 ? strtoul(argv[1], NULL, 10) : 0, RLIM_INFINITY };

	counted();
	if (setrlimit(RLIMIT_FSIZE, &most))
		return 2;
	raise(SIGUSR2);
	raise(SIGUSR2);
	counted();
	return 7;
}
END
$CC -o limits limits.c -L. -lcounted -Wl,-rpath,"$tmp" || bail 'limits.c does not compile'
for bytes in 0 4096 140000; do
	rm -rf d.snapshot.*
	record d -m ring --ring=256k --snapshot=signal:SIGUSR2 --snapshot=exit -k plt -l libcounted.so ./limits $bytes
	report d
	is "$status/$(calls counted) $(sums)" '7/2 0 lost 0 unfinished' "a snapshot, $bytes bytes: the program runs on"
	is "$(info d '.processes[0].notes[]' | xargs)/$(ls d.snapshot.*/p*/meta 2>&1 | grep -vc 'cannot access')" \
		"$(for n in 1 2 3; do
			echo "no snapshot: $tmp/d.snapshot.$n: File too large; the trace itself goes on"
		done | xargs)/0" "a snapshot, $bytes bytes: the trace says each time that it is not made"
done

# ---- the command's own signals ----
# ignores MASK: does that line of /proc/PID/status say that SIGXFSZ is ignored?
ignores() {
	echo "$((0x${1##*[!0-9a-f]} >> 24 & 1))"
}
record d -k plt -l libcounted.so grep SigIgn /proc/self/status
is "$(ignores "$out")" 0 'the command does not ignore SIGXFSZ'
rm -rf d
out=$(trap '' XFSZ; bounded 60 "$XAUDIT" record -o "$tmp/d" -k plt -l libcounted.so grep SigIgn /proc/self/status)
is "$(ignores "$out")" 1 'unless record was told to'
record d -k plt -l libcounted.so sh -c 'kill -XFSZ $$'
is "$status" 153 'it ends by SIGXFSZ, and record as it does'
done_testing
