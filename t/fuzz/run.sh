#!/bin/sh
# SPDX-License-Identifier: MIT
#
# `make fuzz`: reads damaged traces, half of the time packed ones, for ten minutes (FUZZ_SECONDS), with AddressSanitizer
# and UndefinedBehaviorSanitizer in the library, from the round FUZZ_SEED on, by default one that the date gives.
set -eu
folder=$(mktemp -d "${TMPDIR:-/tmp}/xaudit-fuzz-build.XXXXXX")
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM

cd "$top_srcdir"
for file in $SOURCES t/fuzz/read.c runtime/text.c; do
	case $file in *.c) set -- "$@" "$file" ;; esac
done
seconds=${FUZZ_SECONDS:-600} seed=${FUZZ_SEED:-$(date +%s)}
for fuzz in reader_fuzz pack_fuzz; do
	"$CC" -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer \
		-I"$top_builddir" -I"$top_srcdir" "$@" "t/unit/$fuzz.c" -o "$folder/$fuzz" ${FUZZ_LIBS-} -lpthread
	"$folder/$fuzz" "$((seconds / 2))" "$seed"
done
