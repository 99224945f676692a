# SPDX-License-Identifier: MIT
#
# A trace as large as one likes, for tests of `xaudit html`.

# work THREADS EVENTS: a trace in which each of the threads has so many events.
work() {
	echo 'process p100 chunk=1048576'
	echo 'pair first 1000 1000 5'
	echo 'pair last 900000000 900000000 8005'
	i=0
	while [ $((i += 1)) -le 4 ]; do echo "object $i /usr/lib/lib$i.so"; done
	i=0
	while [ $((i += 1)) -le 400 ]; do echo "function $((i % 4 + 1)) 5 $i $((i * 64)) foo_$i"; done
	i=0
	while [ $((i += 1)) -le "$1" ]; do
		printf 'thread %s worker\nsync %s\nwork %s %s 400 9\n' $((1000 + i)) $((2000 + i * 13)) $i "$2"
	done
}
