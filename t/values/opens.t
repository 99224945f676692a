#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The names of 1000 files that a program opens, by several functions and their other names, and what came back, are
# those that strace shows.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

program "$CC" opens opens.c
mkdir files
record d -k calls -F open -F open64 -F openat -F fopen --context args,retval \
	sh -c 'cd files && exec ../opens'
is "$status $out$err" '0 ' 'the program opens its files'
# Each call in a line: its name's text, and, but for fopen(), what came back.
bounded 60 "$XAUDIT" dump d | LC_ALL=C awk '
	{ line = $0; sub(/^.* 0x[0-9a-f]+ +(f?open|openat)(64)?/, "", line); sub(/  \/[^ ]*\/libc\.so\.6$/, "", line) }
	$3 == "entry" && $5 ~ /^f?open/ { text = line; sub(/^[^"]*"/, "\"", text); sub(/"[^"]*$|", ".*/, "\"", text) }
	$3 == "exit" && $5 ~ /^f?open/ { print text ($5 ~ /^fopen/ ? "" : line) }' >got
is "$(wc -l <got)" 1666 'each call has its values'
# Of 334 that are not there, 83 are for fopen(), and 42 are made.
is "$(grep -c '= -1 ENOENT (No such file or directory)' got)" 209 'failed ones say why'

if command -v strace >/dev/null 2>&1 && (cd files && bounded 60 strace -s 64 -e trace=open,openat,creat -o ../strace \
	../opens) 2>err; then
	# What it was loaded by has names that begin with a slash.
	sed -n 's/^open[a-z]*(AT_FDCWD, \(".*"\), .*) *\(= .*\)$/\1 \2/p' strace | grep -v '^"/' >all
	paste -d '\t' got all | awk -F '\t' '{ if ($1 !~ / = /) sub(/ = .*/, "", $2) }
		$1 != $2 { print $1 " | " $2 }' >wrong
	is "$(head -n 5 wrong)" '' 'strace shows the same'
	is "$(wc -l <all)" 1666 'as often'
else
	skip 2 "no strace here: $(head -n 1 err)"
fi
done_testing
