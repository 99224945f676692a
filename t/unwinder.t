#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Where code of the program would not see our frames, or moves stacks, only entries are recorded, and a line says so;
# nowhere else.
. "${top_srcdir:-.}/t/tap.sh"
. "$top_srcdir/t/traced.sh"

# with_end FUNCTION: how many of its calls in the dump have an end, and how many are an entry alone.
with_end() {
	dump d
	jq -rn --arg f "$1" '[inputs | select(.function == $f)] |
		"\(map(select(.event == "exit")) | length) \(map(select(.return == false)) | length)"' d.json
}

# The collector's reference needs no PLT, as the unwinder's.
library "$CC" libpart.so unwinder_part.c
program "$CC" main unwinder.c -L. -lpart
ok 'a collector fetches dl_iterate_phdr without a PLT' \
	sh -c 'readelf -rW libpart.so | grep -q "GLOB_DAT.*dl_iterate_phdr"'
record d -k plt ./main
is "$status $out/$err" '0 1 100/' \
	'a library that walks the list of objects for other reasons than unwinding is not spoken of'
report d
is "$(with_end part_step), $(sums)" '100 0, 0 lost 0 unfinished' 'its calls have ends'

library "$CC" libpart.so unwinder_part.c -DUNWINDER
record d -k plt ./main
is "$status $out" '0 1 100' 'a program with an unwinder of its own that fetches dl_iterate_phdr without a PLT runs'
like "$err" '^xaudit: .*/libpart.so: its unwinder would not see intercepted calls; only entries are recorded' \
	'a line says what that means'
is "$(with_end part_step)" '0 100' 'only entries are recorded there'
done_testing
