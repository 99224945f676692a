#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit ctl on a process that forges its data: lists without an end, impossible counts, pages that vanish, a thread
# that never answers. The command ends, in bounded memory, with an error of one line.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/ctl.sh"
skip_sanitized

built max_rss
version=$("$XAUDIT" --version | sed 's/.* //')
library "$CC" libxaudit.so forged.c -I"$top_srcdir" -I"$top_builddir" "-DVERSION=\"$version\"" -pthread
printf 'void forge(const char *);\nint main(int argc, char **argv) { forge(argc > 1 ? argv[1] : ""); }\n' >forge.c
$CC -o forge forge.c -L. -lxaudit -Wl,-rpath,"$tmp" || bail 'forge does not compile'

# forged WHAT: starts the process.
forged() {
	alone ./forge "$1"
}
# gone: ends it, whatever its state.
gone() {
	exec 3>&-
	kill -9 "$child" 2>/dev/null
	wait "$child" 2>/dev/null
}

endless='what is said to be libxaudit.so.s there has no end; the rest of it was not read'
for what in loads objects bound bindings; do
	forged $what
	bounded 60 "$XAUDIT" ctl "$pid" status --format=json >ctl.out 2>ctl.err
	is "$? $(wc -l <ctl.err)" '1 1' "$what that lead back into themselves: status ends, with one line"
	like "$(cat ctl.err)" "^xaudit ctl: process $pid: $endless\$" "$what: the line says so"
	ok "$what: what was read is shown" jq -e ".pid == $pid" ctl.out
	gone
done
for what in blocks sites far vanish; do
	forged $what
	bounded 60 "$XAUDIT" ctl "$pid" status --format=json >ctl.out 2>ctl.err
	is "$? $(jq .pid ctl.out) $(cat ctl.err)" "0 $pid " "$what: status leaves out what makes no sense"
	gone
done
forged sites
kib=$(bounded 60 "$max_rss" "$XAUDIT" ctl "$pid" status)
ok "four thousand million sites take bounded memory: $kib KiB" test "$kib" -lt 65536
gone
for what in deaf calls; do
	forged $what
	ctl "$pid" stop
	is "$status $err" "1 xaudit ctl: process $pid: libxaudit.so does not answer in time (is a disk stuck?); it may \
still do what it was asked for" \
		"$what: who never answers is not waited for"
	ok "$what: and is let go" test "$(sed -n 's/^TracerPid:\t//p' "/proc/$pid/status")" = 0
	gone
done
forged patches
ctl "$pid" enable x
is "$status $err" "1 xaudit ctl: process $pid: libxaudit.so gives a damaged answer; please report this" \
	'an answer of 2^40 patches is refused'
gone

# ---- probes ----

forged probes
status=0
(ulimit -v 1048576 && bounded 120 "$XAUDIT" ctl "$pid" probes) >ctl.out 2>ctl.err || status=$?
is "$status $(cat ctl.err)" "1 xaudit ctl: process $pid: $(echo "$endless" | sed "s/so\.s/so's/")" \
	'millions of probes with long names: the list ends, in a GiB, and says so'
ok 'and shows some' test "$(wc -l <ctl.out)" -gt 1000
gone
forged names
ctl "$pid" probes
is "$status $(printf '%s\n' "$out" | tr -s ' ') $err" \
	"0 ?[2Jcleared a?b forged 0x0 not written yet: something stood in its bytes, or they lie across two pages
?[2Jcleared good forged 0x0 not written yet: something stood in its bytes, or they lie across two pages
na?[2Jme pl?ace nothing that is loaded has this place " 'names that would steer a terminal do not'
ctl "$pid" probes --format=json
is "$status $(printf '%s\n' "$out" | jq -c '[.probes[] | .name, .place]') $err" \
	'0 ["\u001b[2Jcleared","a\nb","\u001b[2Jcleared","good"] ' 'nor do they break JSON'
gone
forged named
ctl "$pid" contexts
is "$status $out $err" '0 na?[2Jme: context = args  (x) ' 'names of functions lead back into themselves: the list ends'
gone
for what in rules loads objects vanish; do
	forged $what
	ctl "$pid" probes
	is "$status $out $err" '0 there are no probes ' "$what: the list ends"
	gone
done
done_testing
