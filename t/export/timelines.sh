# SPDX-License-Identifier: MIT
#
# Traces that tests of formats with rows in time share; sourced after t/lib/calls.sh.

# write_moved: the trace `moved`, in which two threads take turns on a stack.
write_moved() {
	write_trace moved <<END
$head
$moved_calls
exit 2 1060
stack 0 1070
exit 1 1080
END
}

# write_twice: the trace `twice`, of two processes of one number, in which events were lost, one crashes, and calls were
# only counted.
write_twice() {
	write_trace twice <<END
process p100
pair first 1000 1000 5
pair last 900000 900000 900005
$libraries
thread 100 main
entry 1 1000
exit 1 1010
lost 7
entry 1 1020
exit 1 1030
crash 11
process p100.1 ppid=100
pair first 2000 2000 5
pair last 900000 900000 900005
$libraries
thread 100 main
entry 4 2000
exit 4 2010
counts 1 100 main 1:5 4:117
END
}
