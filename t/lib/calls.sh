# SPDX-License-Identifier: MIT
#
# For tests of the commands that answer questions about calls; sourced after t/lib/tap.sh. make_trace writes their
# traces, in which one tick is 1 ns.
make_trace=$top_builddir/t/lib/make_trace
[ -x "$make_trace" ] || bail "no $make_trace: run make check"

head='process p100 flags=1
pair first 1000 1000 5
pair last 900000 900000 900005
object 1 /usr/lib/libfoo.so
object 2 /opt/bar/libbar.so
function 1 0 1 0x100 outer
function 1 0 2 0x200 inner
function 1 0 3 0x300
function 2 2 4 0x400 bar
function 2 2 5 0x500 inner
'
# Names that mean something to terminals, quotes, and the languages of graphs.
hostile=$(printf '"]-->;\\n\033[31m\302\2331m\377#quot;<b>`$$')

# make NAME: the trace of the script on stdin.
make() {
	"$make_trace" "$tmp/$1" || bail "make_trace failed for $1"
}

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
