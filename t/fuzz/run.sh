#!/bin/sh
# SPDX-License-Identifier: MIT
#
# `make fuzz`: reads damaged traces for ten minutes (FUZZ_SECONDS), with AddressSanitizer and UndefinedBehaviorSanitizer
# in the library, from the round FUZZ_SEED on, by default one that the date gives.
set -eu
folder=$(mktemp -d "${TMPDIR:-/tmp}/xaudit-fuzz-build.XXXXXX")
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM

cd "$top_srcdir"
for file in $SOURCES t/unit/reader_fuzz.c t/fuzz/read.c runtime/text.c; do
	case $file in *.c) set -- "$@" "$file" ;; esac
done
"$CC" -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer \
	-I"$top_builddir" -I"$top_srcdir" "$@" -o "$folder/reader_fuzz" ${FUZZ_LIBS-} -lpthread
"$folder/reader_fuzz" "${FUZZ_SECONDS:-600}" "${FUZZ_SEED:-$(date +%s)}"
