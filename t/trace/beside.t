#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit trace beside ltrace and strace: the same functions in the same order, the same results, names of files, errors.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
unset XAUDIT_CONFIG XAUDIT_RULES
program "$CC" calls calls.c -O0 -fno-builtin
# Descriptors are numbers in lines.
exec 3<&- 4<&- 5<&-

# ---- ltrace ----

# names FILE: functions, in the order in which their calls ended, of either. Where a program calls malloc() and free()
# by way of pointers to them, ltrace does not see it.
names() {
	sed -E 's/^[0-9]+ +//; /<unfinished \.\.\.>$/d; s/^<\.\.\. ([^ ]+) resumed>.*/\1(/; /^\+\+\+/d; s/\(.*//' "$1" |
		grep -vxE 'malloc|free'
}
# A result that is a small number, beside the function: those that both show.
results() {
	sed -nE 's/^([0-9]+ +)?([a-z_]+)\(.*\) += (-?[0-9]{1,6})( .*)?$/\2 \3/p' "$1"
}
numbers='^(str|open|read|write|close|fstat|fclose|fflush|fileno|isatty|atoi)'
if command -v ltrace >/dev/null; then
	mkdir dir
	for file in b a c; do echo "$file" >dir/$file; done
	for command in 'cat dir/a' 'cat /nonexist' 'ls dir' './calls nested' './calls text abc 3'; do
		# shellcheck disable=SC2086 # words
		bounded 60 ltrace -o theirs $command >/dev/null 2>&1
		# shellcheck disable=SC2086
		bounded 60 "$XAUDIT" trace -o ours $command >/dev/null 2>&1
		is "$(names ours)" "$(names theirs)" "$command: the functions that ltrace has, in its order"
		ok "$command: there are some" test "$(names ours | wc -l)" -ge 5
		results ours >our.results
		results theirs | awk 'NR == FNR { known[$1]; next } $1 in known' our.results - >their.results
		is "$(grep -E "$numbers" our.results)" "$(grep -E "$numbers" their.results)" \
			"$command: and its results"
	done
else
	skip 15 'no ltrace here'
fi

# ---- python3 ----

if command -v python3 >/dev/null; then
	bounded 60 "$XAUDIT" trace -o ours -e open,openat,fopen python3 -c 'open("/etc/hostname").close()
try:
    open("/nonexist-file")
except OSError as e:
    print(e.errno)' >out 2>err
	is "$? $(cat out err)" '0 2' 'python3 runs as ever'
	is "$(grep -c '"/etc/hostname".* = [0-9]' ours)" 1 'a file that it opens has a line'
	is "$(grep -c '"/nonexist-file".* = -1 ENOENT (No such file or directory)$' ours)" 1 \
		'so has one that is not there'
else
	skip 3 'no python3 here'
fi

# ---- strace: a program that opens 1000 files ----

if command -v strace >/dev/null && strace -o theirs true 2>/dev/null; then
	mkdir files
	for i in $(seq 0 999); do echo "number $i" >files/file$i; done
	bounded 60 strace -o theirs -e trace=open,openat,read,close ./calls open files 1000
	bounded 60 "$XAUDIT" trace -o ours -e open,openat,read,close ./calls open files 1000
	# Those of ld.so come before; open() of libc is openat() of the kernel.
	calls() {
		sed -nE -e 's/^[0-9]+ +//' -e '/"files/,$p' "$1"
	}
	files() {
		calls "$1" | sed -nE 's/^open\("/openat(AT_FDCWD, "/; /^openat/p'
	}
	is "$(files ours | wc -l)" 1000 '1000 files are opened'
	is "$(files ours)" "$(files theirs)" 'strace has the same arguments, results and errors'
	is "$(files ours | sed -n '1p;1000p')" 'openat(AT_FDCWD, "files/file0", O_RDONLY) = 3
openat(AT_FDCWD, "files/file999", O_RDONLY|O_CLOEXEC) = 3' 'as they are known in advance'
	is "$(files ours | grep -c 'ENOENT (No such file or directory)$')" 333 'a third is not there'
	rest() {
		calls "$1" | sed -nE 's/^(read|close)\(([0-9]+).* = (.*)/\1 \2 \3/p'
	}
	is "$(rest ours)" "$(rest theirs)" 'so have reads and closes'
	is "$(rest ours | wc -l)" 1334 'of which there are two for each that is there'
else
	skip 6 'no strace here that may trace'
fi
done_testing
