#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A traced program behaves as it does untraced, for each kind of site and, in check-all, each compiler: arguments and
# results of every class, registers and control words, exceptions, longjmp, backtraces, threads that exit or are
# cancelled, coroutines, signals.
# t/fixtures/transparent.h describes the program and its library.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/transparent.sh"

need g++
sections='abi flow stack threads cancel coroutines signals'
has512=$(grep -m 1 -o avx512f /proc/cpuinfo)

known='chain 1234567 al 7, by the compiler 2 0
tls 4007 6011
catch 15017
main caught from the program
unwound 4000200
frame main
setjmp 304, 3
deep again 6101
throwing at once 8000428
cancelled while running 100, cleaned 100
wandering 0: 10 turns, ended 1
wrong under a timer 0'

# kind TITLE FOLDER RECORD-OPTION...: all checks of a kind.
kind() {
	title=$1 folder=$2
	shift 2
	if [ ! -x "$folder/transparent.exe" ]; then
		ok "$title: the program was built" false
		return
	fi
	same "$folder" trace "$title: all sections print the same, and exit() within a traced frame is the end" \
		-- "$@" -- ./transparent.exe $sections exit
	is "$plain $(grep -cxF "$known" "$folder/plain")" '43 13' "$title: untraced, all sections say what they should"
	report "$folder/trace"
	like "$(sums)" '^0 lost [0-9]+ unfinished$' "$title: the trace can be read, and nothing was lost"
	is "$(calls t_many) $(calls t_unwind_many) $(calls t_set_control_words)" '1 9 2' \
		"$title: the calls are in the trace"
	same "$folder" ends "$title: threads with stacks of 16 KiB" -- "$@" -- ./transparent.exe smallest
	is "$(grep -cx -e 'first binding on the smallest stack 50' -e 'smallest stacks 896838400' -e 'detached 20' \
		"$folder/plain")" 3 \
		"$title: untraced, such threads run"
	same "$folder" ends "$title: pthread_exit() of the main thread within traced frames" \
		-- "$@" -- ./transparent.exe exit-thread
	same "$folder" ends "$title: an exception out of a noexcept function" -- "$@" -- ./transparent.exe terminate
	same "$folder" ends "$title: an exception that nobody catches" -- "$@" -- ./transparent.exe uncaught
	same "$folder" ends "$title: abort() within traced frames" -- "$@" -- ./transparent.exe abort
	is "$plain" 134 "$title: untraced, it aborts"
	if [ -n "$has512" ]; then
		same "$folder" ends "$title: AVX-512 arguments and results" -- "$@" -- ./transparent.exe vector512
	else
		skip 1 "$title: no AVX-512 here"
	fi
}

# build FOLDER CC CXX [OPTION]...
build() {
	compile "$@" && link "$1" "$1" "$3"
}

build gcc gcc g++
link gcc gcc-now g++ -Wl,-z,now
build gcc-5 gcc g++ -fpatchable-function-entry=5
kind 'patchable, gcc =5' gcc-5 -k patchable
kind 'plt, lazy' gcc -k plt
kind 'calls, -z now' gcc-now -k calls
kind 'all kinds at once, smallest buffers' gcc-5 -k patchable,plt,calls -b 64k
kind 'entry, of all libraries' gcc -k entry -b 64k
more_of_gcc() {
	build gcc-cet gcc g++ -fpatchable-function-entry=5 -fcf-protection
	build gcc-16-14 gcc g++ -fpatchable-function-entry=16,14
	build gcc-endbr gcc g++ -fcf-protection
	build gcc-fentry gcc g++ -pg -mfentry
	build gcc-mcount gcc g++ -pg -mno-fentry
	build gcc-cyg gcc g++ -finstrument-functions
	kind 'patchable, gcc =5 after endbr64' gcc-cet -k patchable
	kind 'patchable, gcc =16,14' gcc-16-14 -k patchable
	kind 'plt, -z now' gcc-now -k plt
	kind 'plt of the library alone' gcc -l transparent.so -k plt
	kind 'calls, lazy' gcc -k calls
	kind 'no options' gcc
	kind 'entry, program and library' gcc -k entry -l 'transparent.*'
	kind 'entry, after endbr64' gcc-endbr -k entry -l 'transparent.*'
	kind 'fentry' gcc-fentry -k fentry
	kind 'mcount' gcc-mcount -k mcount
	kind 'cyg' gcc-cyg -k cyg
}
more more_of_gcc

more_of_clang() {
	build clang "$CLANG" "$CLANGXX"
	build clang-5 "$CLANG" "$CLANGXX" -fpatchable-function-entry=5
	kind 'patchable, clang =5' clang-5 -k patchable
	kind 'plt, clang' clang -k plt
	kind 'entry, clang' clang -k entry -l 'transparent.*'
	kind 'all kinds at once, clang' clang-xray -k xray,plt,calls -b 64k
}
if [ -n "$CLANG" ]; then
	build clang-xray "$CLANG" "$CLANGXX" -fxray-instrument -fxray-instruction-threshold=1
	kind 'xray, clang' clang-xray -k xray
	more more_of_clang
else
	skip 48 'no clang here'
fi
done_testing
