# SPDX-License-Identifier: MIT
#
# work THREADS EVENTS: prints a script for make_trace: threads of a server, each of which has so many events of 400
# functions in four libraries.
work() {
	echo 'process p100 chunk=1048576'
	echo 'pair first 1000 1000 5'
	echo 'pair last 4000000000 4000000000 8005'
	i=0
	while [ $((i += 1)) -le 4 ]; do echo "object $i /usr/lib/lib$i.so"; done
	i=0
	while [ $((i += 1)) -le 400 ]; do echo "function $((i % 4 + 1)) 5 $i $((i * 64)) foo_$i"; done
	i=0
	while [ $((i += 1)) -le "$1" ]; do
		printf 'thread %s worker\nsync %s\nwork %s %s 400 9\n' $((1000 + i)) $((2000 + i * 13)) $i "$2"
	done
}
