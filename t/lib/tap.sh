# SPDX-License-Identifier: MIT
#
# TAP for tests in POSIX sh. A test begins with
#
#	#!/bin/sh
#	. "${top_srcdir:-.}/t/lib/tap.sh"
#
# and finds itself able to call the functions below. The environment is that of `make check` (t/local.mk,
# test_environment); `prove` in the top of a build folder inside the checkout works too. $tmp is an empty folder of the
# test's own, removed at the end; $beside is the folder that the test lies in. A sentence says what is true when the
# check passes.

tap_run=0
tap_failed=0
tap_planned=
: "${top_srcdir:=$(pwd)}" "${top_builddir:=$(pwd)}"
: "${XAUDIT:=$top_builddir/xaudit}" "${MODULE:=$top_builddir/.libs/libxaudit.so}" \
	"${FIXTURES:=$top_builddir/t/fixtures}"
beside=$(cd "$(dirname "$0")" && pwd -P)
: "${CC:=gcc}" "${CXX=g++}" "${CLANG=clang}" "${XAUDIT_ASAN=}" "${XAUDIT_TSAN=}" "${XAUDIT_ALL=}" "${XAUDIT_SOAK=}"
# clang++ of clang, clang++-19 of clang-19.
CLANGXX=$(printf '%s' "$CLANG" | sed 's/clang\([^/]*\)$/clang++\1/')
export top_srcdir top_builddir XAUDIT MODULE FIXTURES CC CXX CLANG CLANGXX

tmp=$(mktemp -d "${TMPDIR:-/tmp}/xaudit-t.XXXXXX") || { echo 'Bail out! no temporary folder'; exit 255; }
trap 'tap_status=$?; trap - EXIT; cd /; tap_pack; tap_clear; exit $tap_status' EXIT
tap_clear() {
	chmod -R u+rwX "$tmp" 2>/dev/null
	rm -rf "$tmp"
}
# Where XAUDIT_PACKED names a file, the traces that are left are packed, to see whether they come back
# (t/lib/packed.sh).
tap_pack() {
	[ -n "${XAUDIT_PACKED-}" ] || return 0
	. "$top_srcdir/t/lib/packed.sh"
	pack_all "$tmp" "$XAUDIT_PACKED"
}
# Nothing is kept for later: neither in the user's folder, nor, as root, for all users.
XAUDIT_INDEX=$tmp/.index
export XAUDIT_INDEX
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# A number sign would start a TAP directive.
tap_text() {
	printf '%s' "$*" | tr '#\n' '  '
}

# plan N: that many checks will come.
plan() {
	tap_planned=$1
	echo "1..$1"
}

# diag TEXT...: a remark for readers of the log, any number of lines.
diag() {
	printf '%s\n' "$*" | sed 's/^/# /'
}

tap_check() { # STATUS SENTENCE
	tap_run=$((tap_run + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $tap_run - $(tap_text "$2")"
	else
		echo "not ok $tap_run - $(tap_text "$2")"
		tap_failed=$((tap_failed + 1))
		return 1
	fi
}

# ok SENTENCE COMMAND [ARG]...: the command (test, grep -q, a function) succeeds. Its output becomes a remark when it
# fails.
ok() {
	tap_sentence=$1
	shift
	tap_status=0
	"$@" >"$tmp/.tap-output" 2>&1 || tap_status=$?
	tap_check "$tap_status" "$tap_sentence" && return 0
	diag "failed with status $tap_status: $*"
	head -n 40 "$tmp/.tap-output" | sed 's/^/# /'
	return 1
}

# is GOT EXPECTED SENTENCE: equal as strings.
is() {
	tap_status=0
	[ "$1" = "$2" ] || tap_status=1
	tap_check "$tap_status" "$3" && return 0
	diag "     got: $1"
	diag "expected: $2"
	return 1
}

# like TEXT REGEX SENTENCE: some line of the text matches the extended regular expression.
like() {
	tap_status=0
	printf '%s\n' "$1" | grep -Eq -e "$2" || tap_status=1
	tap_check "$tap_status" "$3" && return 0
	diag "no line matches: $2"
	diag "$1"
	return 1
}

# unlike TEXT REGEX SENTENCE: no line matches.
unlike() {
	tap_status=0
	if printf '%s\n' "$1" | grep -Eq -e "$2"; then tap_status=1; fi
	tap_check "$tap_status" "$3" && return 0
	diag "a line matches: $2"
	diag "$1"
	return 1
}

# skip N WHY: the next N checks can't be made here.
skip() {
	tap_left=$1
	shift
	while [ "$tap_left" -gt 0 ]; do
		tap_run=$((tap_run + 1))
		tap_left=$((tap_left - 1))
		echo "ok $tap_run # SKIP $(tap_text "$*")"
	done
}

# skip_all WHY: the whole file can't be run here; before plan and checks.
skip_all() {
	echo "1..0 # SKIP $(tap_text "$*")"
	exit 0
}

# bail WHY: nothing after this could be trusted.
bail() {
	echo "Bail out! $(tap_text "$*")"
	exit 255
}

# need PROGRAM...: skips the whole file when one is missing.
need() {
	for tap_program; do
		command -v "$tap_program" >/dev/null 2>&1 || skip_all "no $tap_program here"
	done
}

# built PROGRAM...: sets the variable of that name to each program of t/lib.
built() {
	for tap_program; do
		[ -x "$top_builddir/t/lib/$tap_program" ] ||
			bail "no $top_builddir/t/lib/$tap_program: run make check"
		eval "$tap_program=\$top_builddir/t/lib/$tap_program"
	done
}

# skip_sanitized: for tests that load the module into a program; ASan and TSan can't be loaded so.
skip_sanitized() {
	[ -z "$XAUDIT_ASAN$XAUDIT_TSAN" ] || skip_all 'a module with ASan or TSan cannot be loaded through LD_AUDIT'
}

# rounds CHECK ALL [SOAK]: prints the number of rounds: CHECK in `make check`, ALL where XAUDIT_ALL is 1 (./bootstrap
# check-all), SOAK where XAUDIT_SOAK is 1 (make soak).
rounds() {
	if [ -n "$XAUDIT_SOAK" ]; then
		echo "${3-$2}"
	elif [ -n "$XAUDIT_ALL" ]; then
		echo "$2"
	else
		echo "$1"
	fi
}

# more COMMAND [ARG]...: runs it where XAUDIT_ALL or XAUDIT_SOAK is 1. For checks that are similar to others in `make
# check`.
more() {
	[ -z "$XAUDIT_ALL$XAUDIT_SOAK" ] || "$@"
}

# bounded SECONDS COMMAND [ARG]...: the command's own status, or 124 after so many seconds (137 when it had to be
# killed).
bounded() {
	tap_seconds=$1
	shift
	timeout -k 5 "$tap_seconds" "$@"
}

# stranger FILE COPY BYTE: copies an object file, with another build-id, of that byte (octal) alone: indexes that root
# keeps for all users are not of this one.
stranger() {
	tap_at=$(readelf -SW "$1" | sed -n 's/.* \.note\.gnu\.build-id *NOTE *[0-9a-f]* \([0-9a-f]*\) .*/\1/p')
	[ -n "$tap_at" ] || return 1
	# Behind the note's head, 12 bytes, and its name.
	cp "$1" "$2" && head -c 20 /dev/zero | tr '\0' "\\$3" |
		dd of="$2" bs=1 seek=$((0x$tap_at + 16)) conv=notrunc 2>/dev/null
}

# done_testing: the end; prints the plan if there was none. The test's last line.
done_testing() {
	if [ -z "$tap_planned" ]; then
		plan "$tap_run"
	elif [ "$tap_planned" -ne "$tap_run" ]; then
		diag "planned $tap_planned checks, ran $tap_run"
		exit 1
	fi
	if [ "$tap_failed" -gt 0 ]; then
		diag "$tap_failed of $tap_run checks failed"
		exit 1
	fi
	exit 0
}
