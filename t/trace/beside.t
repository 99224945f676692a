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

# ---- python3 beside ltrace ----

# Both give it the same environment, but for names and values of what xaudit adds: as many others. Addresses are not the
# same, so memory is asked for, copied and compared in another order in a few places out of 40 000, and
# comparisons of memory tell by any number what is larger; those of texts see the environment, too.
memory='^(mem|str|mmap|munmap|calloc|realloc)'
python=/usr/bin/python3
cat >script.py <<'END'
with open("/etc/hostname") as f:
    f.read()
try:
    open("/nonexist-file")
except OSError as e:
    print(e.errno)
END
bare() {
	env -i PYTHONHASHSEED=0 PATH="$PATH" TMPDIR="$tmp" XAUDIT_INDEX="$XAUDIT_INDEX" "$@"
}
variables() {
	bare "$@" env -0 | tr -cd '\0' | wc -c
}
if command -v ltrace >/dev/null && [ -x $python ]; then
	more=$(seq $(($(variables timeout 60 "$XAUDIT" trace -o ours) - $(variables))) | sed 's/.*/Q&=x/')
	# shellcheck disable=SC2086 # words
	bounded 100 env -i PYTHONHASHSEED=0 PATH="$PATH" TMPDIR="$tmp" XAUDIT_INDEX="$XAUDIT_INDEX" $more \
		ltrace -o theirs $python -S -E script.py >out 2>&1
	bare "$XAUDIT" trace -o ours $python -S -E script.py >>out 2>&1
	is "$(cat out)" '2
2' 'python3 runs as ever under both'
	for trace in ours theirs; do
		names $trace >$trace.names
		grep -vE "$memory" $trace.names >$trace.chosen
	done
	ok 'python3: it calls many functions' test "$(wc -l <ours.names)" -ge 20000
	is "$(diff theirs.chosen ours.chosen | head -n 10)" '' 'python3: the functions that ltrace has, in its order'
	ok 'python3: and those of memory, but for a few' test "$(diff theirs.names ours.names | grep -c '^[<>]')" -le 40
	ok 'python3: these are many' test "$(wc -l <ours.chosen)" -ge 5000
	for trace in ours theirs; do
		sed -E 's/= (0xffffffff|4294967295)$/= -1/' $trace >$trace.signed
		results $trace.signed | grep -vE '^(mem|strlen|mbstowcs|wcstombs|sysconf|confstr|setenv)' \
			>$trace.results
		cut -d' ' -f1 $trace.results | sort -u >$trace.functions
	done
	comm -12 ours.functions theirs.functions >both
	for trace in ours theirs; do
		awk 'NR == FNR { known[$1]; next } $1 in known' both $trace.results >$trace.common
	done
	is "$(diff theirs.common ours.common | head -n 10)" '' 'python3: and the same results'
	is "$(grep -c '= ?$' ours)" 0 'python3: each call has ended'
	ok 'python3: these are many, too' test "$(wc -l <ours.common)" -ge 3000
	ok 'python3: of many functions' test "$(wc -l <both)" -ge 30
else
	skip 9 'no ltrace, or no python3 of the system, here'
fi

# ---- python3 beside strace ----

# Files by name: what libc opens for itself is not asked for by a function that is traced.
files() {
	sed -nE -e 's/^[0-9]+ +//' -e 's/^open(64)?\("/openat(AT_FDCWD, "/; s/^newfstatat\(AT_FDCWD, /stat(/' \
		-e 's/^stat64\(/stat(/; s/, (NULL|0x[0-9a-f]+|\{[^}]*\})(, 0)?\) = /) = /' -e '/^(openat|stat)\(/p' "$1"
}
if command -v strace >/dev/null && [ -x $python ] && strace -o theirs true 2>/dev/null; then
	bare strace -o theirs -e trace=openat,newfstatat,stat $python -S -E script.py >out 2>&1
	bare "$XAUDIT" trace -o ours -e open,stat $python -S -E script.py >>out 2>&1
	files ours >our.files
	sed 's/[^"]*"\(.*\)".*/\1/' our.files | sort -u >paths
	# Of texts, 64 bytes are recorded. A folder that is read is opened by libc.
	files theirs | grep -v O_DIRECTORY | awk -F '"' 'NR == FNR { known[$0]; next }
		length($2) > 64 { $0 = $1 "\"" substr($2, 1, 64) "\"..." $3; $0 = $0 }
		$2 in known' paths - >their.files
	is "$(diff their.files our.files | head -n 20)" '' \
		'python3: names of files, flags, results and errors are as strace has them'
	ok 'python3: of some files' test "$(wc -l <our.files)" -ge 30
	like "$(cat our.files)" '^openat\(AT_FDCWD, "/nonexist-file", O_RDONLY\|O_CLOEXEC\) = -1 ENOENT ' \
		'python3: one is not there'
else
	skip 3 'no strace here that may trace'
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
