#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Each example in the readers' man pages runs exactly as written, in a folder with a trace.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/written.sh"

mkdir "$tmp/bin" "$tmp/here"
ln -s "$XAUDIT" "$tmp/bin/xaudit"
PATH=$tmp/bin:$PATH
PAGER=cat
cd "$tmp/here" || bail 'no temporary folder'
write_trace here/xaudit.data <<'END'
record version: 0.1.0
process p100
pair first 1000 1000 5
pair last 9000 9000 8005
object 1 /usr/lib/libc.so.6
function 1 0 1 0x100 malloc
load 1 1 900 0x7f0000000000 100
layout 1 entry 1 u8:arg0:size stack:-:backtrace
type 16 request
thread 100 main
custom 16 990 07000000 =get 00
values 1 1000 24 7 chain 0x123456 0x2000000000000000
exit 1 1100
END
cp -r xaudit.data old.data
for page in report.1 replay.1 dump.1 info.1 graph.1 stacks.1 slow.1 outliers.1 loads.1 \
	locks.1 trace.1 trace.5; do
	sed -n '/^\.Sh EXAMPLES/,/^\.Sh SEE/{/^\.Bd -literal/,/^\.Ed/{/^\./d;s/\\e/\\/g;p;};}' \
		"$top_srcdir/doc/xaudit-$page" >"$tmp/examples"
	ok "the page xaudit-$page has examples" test -s "$tmp/examples"
	while read -r example; do
		bounded 60 sh -c "$example" >"$tmp/out" 2>"$tmp/err"
		is "$? $(cat "$tmp/err")" '0 ' "it runs: $example"
		case $example in *'>'*) ;; *) ok 'and prints something' test -s "$tmp/out" ;; esac
	done <"$tmp/examples"
done
done_testing
