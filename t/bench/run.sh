#!/bin/sh
# SPDX-License-Identifier: MIT
#
# make bench: what tracing costs, in some minutes. All that one table compares takes turns, so that what
# else happens on the machine happens to all alike; still, a quiet machine gives truer figures. Nothing is
# judged here: the exit status says whether everything ran, and recorded what it was made to. What is not
# installed (clang, uftrace) is left out with a remark. doc/measurements.md explains the figures.
#
# ROUNDS, CALLS, EVENTS, READS and GIGABYTES in the environment change the sizes; TMPDIR is where traces are written,
# MEMORY where traces in memory are. FUNTRACE names a folder with funtrace's source, BASE the build folder of another
# xaudit: they are measured, too. PARTS chooses; each part can do without the others.
: "${top_srcdir:=.}" "${top_builddir:=.}" "${CC:=gcc}" "${CLANG=clang}"
: "${XAUDIT:=$top_builddir/xaudit}" "${MODULE:=$top_builddir/.libs/libxaudit.so}"
: "${ROUNDS:=7}" "${CALLS:=5000000}" "${EVENTS:=20000000}" "${MEMORY:=/dev/shm}"
. "$top_srcdir/t/bench/lib.sh"
parts='calls modes values backtraces samples limit stacks entry probes handlers starts pairs alloc pause'
parts="$parts reading commands page"
for table in $PARTS; do
	case " $parts " in
	*" $table "*) ;;
	*) fail "PARTS='$table': no such part; there are $parts" ;;
	esac
done

if [ -n "$XAUDIT_ASAN$XAUDIT_TSAN" ]; then
	echo 'a module with ASan or TSan cannot be loaded through LD_AUDIT: nothing to measure'
	exit 0
fi
if [ ! -x "$XAUDIT" ] || [ ! -r "$MODULE" ]; then fail "$XAUDIT and $MODULE have to be built first"; fi

heading 'machine'
model=$(sed -n 's/^model name[[:space:]]*: *//p' /proc/cpuinfo | head -n 1)
row 'processor' "$model, $(getconf _NPROCESSORS_ONLN) CPUs; measured on CPU $cpu"
row 'system' "$(uname -sr), $(getconf GNU_LIBC_VERSION)"
row 'compilers' "$($CC --version | head -n 1)${CLANG:+; $($CLANG --version | head -n 1)}"
row 'traces on' "$(stat -f -c %T "$tmp")"
row 'load average at start' "$(cut -d ' ' -f 1-3 /proc/loadavg)"

for table in ${PARTS:-$parts}; do
	. "$top_srcdir/t/bench/$table.sh"
done

echo
row 'this run took' "$(elapsed) s"
