#!/bin/sh
# SPDX-License-Identifier: MIT
#
# `make fuzz`: reads damaged traces for ten minutes (FUZZ_SECONDS), with AddressSanitizer and UndefinedBehaviorSanitizer
# in the library, from the round FUZZ_SEED on, by default one that the date gives: folders, packed ones, and, where
# clang has -fsanitize=fuzzer, packed ones that are led by what they reach; such a one that fails stays in the current
# folder.
set -eu
folder=$(mktemp -d "${TMPDIR:-/tmp}/xaudit-fuzz-build.XXXXXX")
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM
seconds=$((${FUZZ_SECONDS:-600} / 3)) seed=${FUZZ_SEED:-$(date +%s)} here=$(pwd) status=0

# compile COMPILER OUTPUT [FLAG]... FILE
compile() {
	compiler=$1 output=$2
	shift 2
	for file in $SOURCES t/fuzz/read.c runtime/base/text.c; do
		case $file in *.c) set -- "$@" "$file" ;; esac
	done
	(cd "$top_srcdir" && "$compiler" -g -O1 -fno-sanitize-recover=undefined -fno-omit-frame-pointer \
		-I"$top_builddir" -I"$top_srcdir" "$@" -o "$output" ${FUZZ_LIBS-} -lpthread)
}

for fuzz in reader_fuzz pack_fuzz; do
	compile "$CC" "$folder/$fuzz" -fsanitize=address,undefined "t/read/$fuzz.c" t/fuzz/rounds.c
	"$folder/$fuzz" "$seconds" "$seed" || status=1
done
if [ "$CLANG" ] && compile "$CLANG" "$folder/packed" -fsanitize=fuzzer,address,undefined t/fuzz/packed.c \
	2>"$folder/why"; then
	mkdir "$folder/corpus"
	for script in "$top_srcdir"/t/fuzz/corpus/*.trace; do
		"$top_builddir/t/lib/make_trace" "$folder/trace" <"$script"
		"$XAUDIT" pack -o "$folder/corpus/$(basename "$script" .trace)" "$folder/trace" >/dev/null 2>&1
		rm -rf "$folder/trace"
	done
	# What was freed is kept for a while, to find uses of it: that is no memory of the reader's.
	ASAN_OPTIONS=quarantine_size_mb=32 "$folder/packed" -max_total_time="$seconds" -max_len=65536 -timeout=20 \
		-rss_limit_mb=400 -malloc_limit_mb=64 -print_final_stats=1 -verbosity=0 \
		-seed="$((seed % 1000000007))" -artifact_prefix="$here/" "$folder/corpus" || status=1
else
	echo 'fuzz: no clang with -fsanitize=fuzzer'
fi
exit $status
