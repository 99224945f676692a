# SPDX-License-Identifier: MIT
#
# For tests that compare a program's behaviour with and without tracing; sourced after t/lib/traced.sh. The program is
# that of t/fixtures/transparent.h. No core files: some scenarios end by a signal.
ulimit -c 0
unset LD_AUDIT LD_BIND_NOW GLIBC_TUNABLES XAUDIT_CONFIG XAUDIT_RULES

# compile FOLDER CC CXX [OPTION]...: the objects of program and library, in a folder of $tmp.
compile() {
	compile_folder=$1 compile_cc=$2 compile_cxx=$3
	shift 3
	mkdir -p "$compile_folder" || return 1
	(
		cd "$compile_folder" || exit 1
		for compile_file in abi spin; do
			bounded 100 $compile_cc -O2 -w -fPIC "$@" -c "$sources/transparent_$compile_file.c" \
				-o $compile_file.o || exit 1
		done &
		for compile_file in flow main threads; do
			bounded 100 $compile_cxx -O2 -w -fPIC "$@" -c "$sources/transparent_$compile_file.cc" \
				-o $compile_file.o || exit 1
		done
		wait
	) >"$compile_folder/said" 2>&1 && return 0
	diag "$(cat "$compile_folder/said")"
	return 1
}

# link OBJECTS FOLDER CXX [OPTION]...: program and library in FOLDER of what was compiled in OBJECTS. t_backtrace()
# tells the two from other objects by their names.
link() {
	link_from=$(cd "$1" && pwd) link_folder=$2 link_cxx=$3
	shift 3
	mkdir -p "$link_folder" || return 1
	(
		cd "$link_folder" || exit 1
		bounded 100 $link_cxx -shared "$@" -o transparent.so "$link_from/abi.o" "$link_from/flow.o" &&
			bounded 100 $link_cxx -rdynamic "$@" -o transparent.exe "$link_from/main.o" \
				"$link_from/spin.o" \
				"$link_from/threads.o" "$(pwd)/transparent.so" -pthread
	) >"$link_folder/said" 2>&1 && return 0
	diag "$(cat "$link_folder/said")"
	return 1
}

# ending FILE COMMAND...: standard output goes into FILE, standard error into FILE.err; prints the status, and a
# signal's as shells do.
ending() {
	ending_file=$1
	shift
	ending_status=0
	bounded 60 "$@" >"$ending_file" 2>"$ending_file.err" </dev/null || ending_status=$?
	echo $ending_status
}

# same FOLDER TRACE SENTENCE -- RECORD-OPTION... -- COMMAND...: in FOLDER, the command has the same output and end when
# it is recorded to FOLDER/TRACE as when it is not. Sets $plain to the status without recording.
same() {
	same_folder=$1 same_trace=$2 same_sentence=$3
	shift 4
	same_options=
	while [ "$1" != -- ]; do
		same_options="$same_options $1"
		shift
	done
	shift
	rm -rf "${same_folder:?}/$same_trace"
	plain=$(cd "$same_folder" && ending plain "$@")
	same_traced=$(cd "$same_folder" && set -f && ending traced "$XAUDIT" record $same_options -o "$same_trace" "$@")
	same_output='the same output'
	cmp -s "$same_folder/plain" "$same_folder/traced" || same_output='another output'
	is "$same_traced, $same_output" "$plain, the same output" "$same_sentence" && return 0
	diag "$(diff "$same_folder/plain" "$same_folder/traced" | head -n 20)"
	diag "$(head -n 5 "$same_folder/traced.err")"
	return 1
}
