# SPDX-License-Identifier: MIT
#
# For tests of the commands that answer questions about calls; sourced after t/lib/tap.sh. make_trace writes their
# traces, in which one tick is 1 ns.
. "$top_srcdir/t/lib/written.sh"

head="process p100 flags=1
pair first 1000 1000 5
pair last 900000 900000 900005
$libraries
function 2 2 5 0x500 inner
"
# Names that mean something to terminals, quotes, and the languages of graphs.
hostile=$(printf '"]-->;\\n\033[31m\302\2331m\377#quot;<b>`$$')

# asked COMMAND NAME [ARG]...: what the command shows of the trace, and on standard error.
asked() {
	asked_command=$1 asked_name=$2
	shift 2
	bounded 60 "$XAUDIT" "$asked_command" "$@" "$tmp/$asked_name" 2>&1
}

# tree_calls: events of calls: outer is 300, of which inner 70 and bar 100 (in it inner 40); in another thread outer
# again, alone: 500.
tree_calls='thread 100 main
entry 1 1000
entry 2 1100
exit 2 1130
entry 2 1200
exit 2 1240
entry 4 1250
entry 2 1260
exit 2 1300
exit 4 1350
exit 1 1400
thread 101 other
entry 1 2000
exit 1 2500'

# steering FILE: is there a byte in it that steers a terminal?
steering() {
	LC_ALL=C tr '\t' ' ' <"$1" | LC_ALL=C grep -q "$(printf '[\001-\010\013-\037\177\200-\237\377]')"
}

# waiting_calls: events of calls: outer is 1000, inner in it 700, of which it waits for 500; then three times outer is
# 100, and inner in it 50; no time of these is waiting.
waiting_calls='thread 100 main
entry 1 1000
entry 2 1100
exit 2 1800
exit 1 2000
entry 1 3000
entry 2 3010
exit 2 3060
exit 1 3100
entry 1 4000
entry 2 4010
exit 2 4060
exit 1 4100
entry 1 5000
entry 2 5010
exit 2 5060
exit 1 5100'
# The times on processors of these; and the same, but after the first call of outer nothing is known.
waiting_switches='sched mono 0
cpu in 500 100 100
cpu out 1200 100 100
cpu in 1700 100 100
cpu known 9000'
lost_switches=${waiting_switches%9000}2500

# write_waiting NAME SWITCHES: the trace of these calls and switches.
write_waiting() {
	write_trace "$1" <<END
$head
$waiting_calls
$2
END
}
