#!/bin/sh
# SPDX-License-Identifier: MIT
#
# At every instruction of the paths of displaced entries, in each form, and of calls that the program tells of,
# something is injected (t/lib/injected.sh); in the displaced instructions, and those that stay behind them, too.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/injected.sh"

# ---- displaced entries ----
XAUDIT_INDEX=$tmp/cache
export XAUDIT_INDEX
# indexed KIND FLAG...: the library, with its index. Start files have functions of their own.
indexed() {
	build "$CC" "$@" -nostartfiles
	rm -rf "$XAUDIT_INDEX"
	index_of libinject.so
}
displaced='-x /libinject.so'

indexed entry -DJUMP
all 'a jump' "$displaced" '' call
every jump 'a jump' "$displaced" '' call
all 'return labels of their own' "$displaced" '' call --perf
every jump 'return labels of their own' "$displaced" '' call --perf
all 'a tail call' "$displaced" 'what=counted|tailing each=2' tail
all 'an entry alone' "$displaced" what=__ubsan_point point
export ALTSTACK=1
all 'handlers of signals on a stack of their own' "$displaced" '' call
unset ALTSTACK
all 'a chunk that is full' "-b tramp_slow_event $few" '' fill
all 'a new thread' -t 'skip=0 early=1' thread
all 'short calls left out' "$displaced" taken call --time 1us
counting 'one call' "$displaced" call
export HANDLERS=all
all 'handlers' "-h $displaced" '' call
unset HANDLERS
indexed entry -DPADDING
all 'a jump in the padding' "$displaced" '' call
# called NAME FLAG...: counted() calls at its beginning.
called() {
	name=$1
	shift
	indexed entry "$@"
	all "$name" "$displaced" 'what=counted|inject_note each=2' call
	every jump "$name" "$displaced" 'what=counted|inject_note each=2' call
}
called 'four bytes of a call behind the jump' -DCALLS
called 'one byte of a call behind the jump' -DPUSHES
called 'three' -DMOVES
called 'four, behind a jump of two' -DPUSHES -DPADDING
called 'three, behind a jump of two' -DBEGINS -DPADDING
called 'none: the call is displaced' -DBEGINS

# ---- calls of a profiler, at which functions are displaced ----
for kind in fentry mcount; do
	case $kind in fentry) flag=-mfentry ;; *) flag=-mno-fentry ;; esac
	indexed "$kind" -DCOMPILED -pg "$flag"
	all 'one call' "$displaced" '' call
	every jump 'one call' "$displaced" '' call
	all 'a tail call' "$displaced" 'what=counted|tailing each=2' tail
	all 'an entry alone' "$displaced" what=__ubsan_point point
	counting 'one call' "$displaced" call
done

# ---- calls that the program tells of ----
build "$CC" cyg -DCOMPILED -finstrument-functions
all 'one call' '' '' call
every jump 'one call' '' '' call
every fork 'one call' '' '' call
all 'a call in another' '' 'what=counted|tailing each=2' tail
export ALTSTACK=1
all 'handlers of signals on a stack of their own' '' '' call
unset ALTSTACK
all 'a chunk that is full' "-b chunk_next $few" '' fill
all 'a new stack' "$few" apart=1 stack
all 'a new thread' -t 'skip=0 early=1' thread
all 'not too deep' '' '' call -D 9
all 'short calls left out' '' taken call --time 1us
counting 'one call' '' call

# ---- displaced entries that are asked for while the program runs ----
library "$CC" grow.so inject_grow.c -nostartfiles -Wl,--build-id
index_of grow.so
build "$CC" plt
cat >grow.conf <<'END'
[library libinject.so]
kinds = plt
[library grow-*]
kinds = entry
functions = grow_other
END
selects='-c grow.conf'
# growing NAME KINDS INSTRUCTIONS: the judge counts a function of the file's next load. At some instructions, since each
# round takes longer than the one before: the process has known one more file.
growing() {
	name="xaudit_enable(), $1"
	injected "$2" "-n $3" 'what=grow_first skip=3' grow
	verdict
}
growing 'another thread forks' other "$(rounds 120 500 2000)"
growing 'signals' event,chunk,fork,vfork,jump "$(rounds 120 500 400)"
diag "covered: $covered instructions"
done_testing
