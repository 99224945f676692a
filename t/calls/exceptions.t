#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Exceptions cross traced frames with each C++ library and each unwinder: libgcc and libstdc++, each as a shared library
# and linked in, and LLVM's libunwind; also to and from plugins. The program is that of t/fixtures/transparent.h.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/transparent.sh"

need g++
llvm='-stdlib=libc++ -unwindlib=libunwind -rtlib=compiler-rt'

# throws TITLE KIND FOLDER [SECTION]...
throws() {
	title=$1 kind=$2 folder=$3
	shift 3
	same "$folder" trace "$title, $kind: the same output and end" \
		-- -k "$kind" -- ./transparent.exe flow signals coroutines "$@" exit
	is "$plain $(grep -cxF 'catch 15017
unwound 4000200
main caught from the program' "$folder/plain")" '43 3' \
		"$title, $kind: untraced, all exceptions arrive"
	report "$folder/trace"
	is "$(calls t_catch) $(calls t_unwind_many) $(sums | cut -d ' ' -f 1-2)" '1 1 0 lost' \
		"$title, $kind: the calls are in the trace"
	same "$folder" uncaught "$title, $kind: an exception that nobody catches" \
		-- -k "$kind" -- ./transparent.exe uncaught
}

# library TITLE KIND OBJECTS CXX [OPTION]...: cancelling too, where libgcc does the unwinding.
library() {
	title=$1 kind=$2 objects=$3 cxx=$4
	shift 4
	case "$*" in
	*libunwind*) more= ;;
	*) more=cancel ;;
	esac
	if link "$objects" library "$cxx" "$@"; then
		throws "$title" "$kind" library $more
	else
		skip 4 "$title, $kind: this compiler can't link it"
	fi
	rm -rf library
}

compile gcc gcc g++
compile gcc-patchable gcc g++ -fpatchable-function-entry=5
library 'libstdc++ shared' plt gcc g++
library 'libstdc++ -static-libstdc++ -static-libgcc' patchable gcc-patchable g++ -static-libstdc++ -static-libgcc
library 'libstdc++ shared' entry gcc g++
more_of_gcc() {
	for options in -static-libgcc -static-libstdc++; do
		library "libstdc++ $options" plt gcc g++ $options
		library "libstdc++ $options" patchable gcc-patchable g++ $options
	done
	library 'libstdc++ shared' patchable gcc-patchable g++
	library 'libstdc++ -static-libstdc++ -static-libgcc' entry gcc g++ -static-libstdc++ -static-libgcc
	library 'libstdc++ -static-libstdc++ -static-libgcc' plt gcc g++ -static-libstdc++ -static-libgcc
	library 'libstdc++ shared' calls gcc g++
}
more more_of_gcc
rm -rf gcc gcc-patchable
more_of_clang() {
	compile clang "$CLANG" "$CLANGXX"
	compile clang-xray "$CLANG" "$CLANGXX" -fxray-instrument -fxray-instruction-threshold=1
	library 'libstdc++ static, clang' plt clang "$CLANGXX" -static-libstdc++ -static-libgcc
	library 'libstdc++ static, clang' xray clang-xray "$CLANGXX" -static-libstdc++ -static-libgcc
	rm -rf clang clang-xray
	compile clang "$CLANG" "$CLANGXX -stdlib=libc++"
	compile clang-patchable "$CLANG" "$CLANGXX -stdlib=libc++" -fpatchable-function-entry=5
	library 'libc++ and libunwind' calls clang "$CLANGXX" $llvm
	library 'libc++ and libunwind' patchable clang-patchable "$CLANGXX" $llvm
	library 'libc++ and libunwind, static' plt clang "$CLANGXX" $llvm -static-libstdc++ -static-libgcc
	library 'libc++ and libunwind, static' patchable clang-patchable "$CLANGXX" $llvm -static-libstdc++ \
		-static-libgcc
	library 'libc++ and libunwind' plt clang "$CLANGXX" $llvm
	rm -rf clang clang-patchable
}
if [ -n "$CLANG" ]; then
	more more_of_clang
	if echo '#include <vector>' | "$CLANGXX" -stdlib=libc++ -x c++ -fsyntax-only - 2>/dev/null; then
		compile clang-xray "$CLANG" "$CLANGXX -stdlib=libc++" -fxray-instrument -fxray-instruction-threshold=1
		library 'libc++ and libunwind' xray clang-xray "$CLANGXX" $llvm
		rm -rf clang-xray
	else
		skip 4 'no libc++ here'
	fi
else
	skip 32 'no clang here'
fi

# plugin TITLE CXX [OPTION]...
plugin() {
	title=$1 cxx=$2
	shift 2
	mkdir -p plugin || return
	if ! bounded 100 $cxx -O2 -w "$@" -rdynamic -o plugin/host "$beside/throwing_host.cc" -ldl 2>plugin/said ||
		! bounded 100 $cxx -O2 -w "$@" -fPIC -shared -o plugin/plugin.so \
			"$beside/throwing.cc" 2>plugin/said; then
		diag "$(cat plugin/said)"
		skip 3 "$title: this compiler can't link it"
		return
	fi
	same plugin trace "$title: a plugin throws and is thrown through" \
		-- -k patchable,plt,calls,xray -- ./host ./plugin.so
	is "$plain $(grep -c caught plugin/plain)" '11 30' "$title: untraced, all exceptions arrive"
	report plugin/trace
	is "$(calls plugin_call) $(calls plugin_catch) $(sums | cut -d ' ' -f 1-2)" '30 6 0 lost' \
		"$title: the calls are in the trace"
	rm -rf plugin
}
plugin 'libstdc++' g++
plugin 'libstdc++, patchable' g++ -fpatchable-function-entry=5
if [ -n "$CLANG" ]; then
	plugin 'libc++' "$CLANGXX" $llvm
	plugin 'libc++, xray' "$CLANGXX" $llvm -fxray-instrument -fxray-instruction-threshold=1
else
	skip 6 'no clang here'
fi
done_testing
