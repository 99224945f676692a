#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Processes that end while the command runs: then the unused parts of their files are given back, unless a process may
# still write to them.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

program "$CC" early early.c -fno-builtin
# Without leases we can't find out that no process has a file mapped.
case $(stat -f -c %T .) in
overlayfs | nfs | fuse*)
	skip 9 'a file system without leases'
	done_testing
	;;
esac

# For the commands. small PID: its meta is no longer as large as at first, a place of 128 KiB. Each wait is bounded.
cat >common <<'EOF'
small() {
	[ "$(stat -c %s "$DIR/p$1/meta")" -lt 100000 ]
}
await() {
	tries=3000
	until "$@"; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || return 1
		sleep 0.02
	done
}
EOF
cat >first <<'EOF'
. ./common
pid=$(./early 1000)
await small "$pid" && echo small
EOF
DIR=a
export DIR
record a -b 64k -k plt -F srand sh first
is "$status, $out" '0, small' 'what a process did not use is given back while the command runs'
report a
is "$(calls srand), $(sums)" '1000, 0 lost 0 unfinished' 'all is in the trace'
is "$(find a -name meta -size +100k | wc -l)" 0 'at the end nothing is left as large'

# The second process ends later, so when its file is small, record has looked at the first one's.
cat >second <<'EOF'
. ./common
first=$(./early 1000 ./go)
sleep 0.5
second=$(./early 100)
await small "$second" && echo small
small "$first" || echo large
: >go
await test -e go.done
EOF
DIR=b
record b -b 64k -k plt -F srand sh second
is "$status, $(echo "$out" | tr '\n' ' ')" '0, small large ' \
	'but not where a child that has made no call may still do so'
report b
is "$(calls srand), $(sums)" '2100, 0 lost 0 unfinished' 'all is in the trace, and of that child, too'
is "$(find b -name meta -size +100k | wc -l)" 0 'once it has ended, what it did not use is given back as well'

# Again, but record is killed after it has trimmed the first file.
cat >third <<'EOF'
. ./common
pid=$(./early 1000)
await small "$pid"
kill -9 $PPID
./early 500
: >third.done
EOF
DIR=c
status=0
bounded 120 "$XAUDIT" record -o "$tmp/c" -b 64k -k plt -F srand sh third 2>/dev/null >&2 || status=$?
is "$status" 137 'record is killed behind that'
ok 'and the command runs on' wait_until 60 test -e third.done
report c
is "$(calls srand), $(sums)" '1500, 0 lost 0 unfinished' 'all is in the trace'
done_testing
