#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Threads have their last names, also those that name themselves after their only events: names are noted when a chunk
# begins, and once more when a thread ends.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

library "$CC" libpart.so named_library.c
program "$CC" named named.c -L. -lpart

# names DIR: the names of the threads that report tells.
names() {
	bounded 60 "$XAUDIT" report --by=thread --format=json -j "${jobs:-1}" "$tmp/$1" |
		jq -r '.threads[].name' | sort | paste -s -d,
}

for mode in stream ring count; do
	for calls in 1 200000; do
		record d -m $mode -b 64K -l libpart.so ./named $calls
		is "$status/$err/$(names d)" 0//last-worker,main-late "mode $mode, $calls calls: last names"
		is "$(jobs=4 names d)" last-worker,main-late 'whoever reads first'
	done
done
record d -m stream -b 64K -l libpart.so ./named 200000
"$XAUDIT" pack d -o d.xap 2>pack.err || bail "pack failed: $(cat pack.err)"
is "$(names d.xap)" last-worker,main-late 'so has a packed trace'

# Alone, without record.
rm -rf alone
LD_AUDIT=$MODULE XAUDIT_RULES='[trace]
output = '$tmp/alone'
[library libpart.so]
kinds = plt' ./named 1 2>alone.err
is "$(cat alone.err)/$(names alone)" /last-worker,main-late 'LD_AUDIT alone'
done_testing
