#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Code that program threads run calls nothing but itself: no function of libc, no lazy TLS, no helper of the compiler.
# A folder's code needs nothing of the folders above it: x86_64/ only what its contract lists, runtime/ nothing. Within
# runtime/, there is an order in which no file needs a later one, so there is no circle. The reader of traces, a
# library, has such an order, too: it needs nothing of the command, prints nothing and ends no process.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/upward.sh"

need nm ar
skip_sanitized

machine="$top_builddir/x86_64/.libs/libx86_64.a $top_builddir/x86_64/.libs/libsled.a"
runtime="$top_builddir/runtime/.libs/libruntime.a $top_builddir/runtime/.libs/libbase.a"
live="$top_builddir/audit/live/.libs/liblive.a $top_builddir/audit/match/.libs/libmatch.a"
live="$live $top_builddir/audit/model/.libs/libmodel.a"
live="$live $top_builddir/audit/index/.libs/libindex.a"
reader=$top_builddir/tool/read/.libs/libread.a
for archive in $machine $runtime $live $reader; do
	[ -f "$archive" ] || bail "no $archive"
done

# imports ARCHIVE...: symbols that these need and none of them defines.
imports() {
	nm --defined-only "$@" 2>/dev/null | awk 'NF == 3 { print $3 }' >"$tmp/defined"
	nm -u "$@" 2>/dev/null | awk 'NF == 2 && $1 == "U" { print $2 }' | grep -v '^_GLOBAL_OFFSET_TABLE_$' |
		LC_ALL=C sort -u >"$tmp/undefined"
	grep -vxF -f "$tmp/defined" "$tmp/undefined"
}

# The check itself must be able to fail.
printf 'unsigned long strlen(const char *);\nunsigned long f(const char *s);\n'\
'unsigned long f(const char *s) { return strlen(s) + 1; }\n' >"$tmp/f.c"
$CC -O2 -fPIC -fno-builtin -c -o "$tmp/f.o" "$tmp/f.c" || bail 'no compiler'
is "$(imports "$tmp/f.o")" strlen 'a call of libc is found'

# contract HEADER: the name in each line that begins with CONTRACT.
contract() {
	sed -n '/^CONTRACT /{
		s/^CONTRACT //; s/ __attribute__.*//; s/(\*\([a-z_]*\).*/ \1/; s/[[(;].*//; s/^.*[ *]//; p
	}' "$1" | LC_ALL=C sort
}
printf '%s\n' 'CONTRACT uint8_t a[B_C];' 'CONTRACT __thread struct s *b __attribute__((c("d")));' \
	'CONTRACT void (*c[D])(void);' 'CONTRACT enum e d(const void *e, int f);' 'CONTRACT uint32_t e(' \
		'int g(void);' \
	>"$tmp/contract.h"
is "$(contract "$tmp/contract.h" | tr '\n' ' ')" 'a b c d e ' 'names of a contract are found'

# Files of runtime/ (and runtime/handlers/ and snapshot/, which has sparse_file, meta and copy), each after all files
# that it needs; runtime/start.c gives pointers to the others.
layers='identity dense lock text output arena maps surroundings clock dispatch backoff broker epoch sparse_file meta
	copy family pool_grow pool pool_make stderr records process_counters process execute_look execute filter
	throttle waits thread rights leave last_name chunk_file chunk recorder_lost recorder recorder_words
	own_labels count evaluate part sample actions plans side backtrace
	calls_owner calls_ends calls_gaps calls_stack calls
	values_calls filter_calls libc_calls cyg_calls objects handlers events event_values custom snapshot ask compact
	notes control start'

# Such an order for tool/read/, with events/ and sched/.
reader_layers='memory error clock path compact trace_file dense decode calls stacks family process stops meta names
	shown_names inherited process_load record_file folder state copies chunks chunk_words counts stream events merge
	ahead sched sched_cursor thread_turns'

printf 'int f(void);\nint g(void);\nint f(void) { return g(); }\n' >"$tmp/a.c"
printf 'int g(void);\nint g(void) { return 1; }\n' >"$tmp/b.c"
(cd "$tmp" && $CC -c a.c && $CC -c b.c && ar cr ab.a a.o b.o) || bail 'no archive'
is "$(upward 'a b' "$tmp/ab.a")" 'a needs g of b' 'a file that needs one above it is found'
is "$(upward 'b a' "$tmp/ab.a"), $(upward b "$tmp/ab.a")" ', a is in no layer' 'and one that is in no layer'

ok 'there are objects to look at' test \
	"$(nm --defined-only $machine $runtime $live 2>/dev/null | grep -c ' [TtDdBb] ')" -gt 10
contract "$top_srcdir/x86_64/contract.h" >"$tmp/expected"
ok 'the contract has something' test "$(grep -c . "$tmp/expected")" -gt 30
is "$(imports $machine)" "$(cat "$tmp/expected")" 'x86_64/ needs what its contract lists, all of it, and nothing else'
is "$(imports $machine $runtime)" '' 'runtime/ needs x86_64/ and nothing else'
is "$(upward "$layers" $runtime)" '' 'no file of runtime/ needs one that stands on it'
is "$(imports $machine $runtime $live)" '' \
	'what program threads run calls no function of libc, nor of the rest of audit/'

set -- "$top_builddir"/tool/read/.libs/*.o "$top_builddir"/tool/read/events/.libs/*.o \
	"$top_builddir"/tool/read/sched/.libs/*.o
is "$(upward "$reader_layers" "$@")" '' 'no file of the reader needs one that stands on it'
is "$(nm -u "$@" | grep -o -w -e 'xaudit_read_[a-z_]*' -e 'read_api_[a-z_]*' | LC_ALL=C sort -u)" '' \
	'nor does one need what its public functions are made of'
imports $reader >"$tmp/needed"
ok 'the reader needs something of libc' grep -qx pread "$tmp/needed"
says='std(out|err)|v?f?printf|f?puts|f?putc.*|fwrite|perror|v?errx?|v?warnx?'
ends='_?exit|_Exit|abort|__assert.*'
is "$(grep -E "^($says|$ends)\$|^(tool|memory|show|json)_" "$tmp/needed")" '' \
	'it prints nothing, ends no process, and needs nothing of the command'
done_testing
