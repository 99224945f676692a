#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Tracing changes the program's mappings little: nothing is writable and executable, and only patched pages are private.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

# stay KIND ARG...: runs stay under record until its standard input ends; sets $pid.
stay() {
	rm -rf fifo d out
	mkfifo fifo
	bounded 60 "$XAUDIT" record -o d "$@" ./stay ./libpages.so ./libother.so <fifo >out 2>err &
	recorder=$!
	exec 9>fifo
	wait_until 60 grep -qs ready out || bail 'the program does not come up'
	pid=$(sed -n 's/^ready \([0-9]*\) .*/\1/p' out)
}
leave() {
	exec 9>&-
	status=0
	wait $recorder || status=$?
}
# dirty NAME: kB of the file's executable mappings that are pages of the process's own. Not Private_Dirty: that also
# counts pages of the file that are not written to disk yet, and this file is new.
dirty() {
	awk -v name="/$1" '
	/^[0-9a-f]+-[0-9a-f]+ / { ours = $2 ~ /x/ && substr($0, length($0) - length(name) + 1) == name; seen += ours }
	ours && /^Anonymous:/ { sum += $2 }
	END { print seen ? sum + 0 : "not mapped" }' "/proc/$pid/smaps"
}
# text NAME: protections of the mappings that hold the file's code.
text() {
	awk -v name="/$1" '$2 ~ /x/ && $6 ~ name "$" { print $2 }' "/proc/$pid/maps" | sort -u
}

# kind NAME KINDS DIRTY BUILD...: three functions of libpages.so are selected; DIRTY kB of its text become private.
kind() {
	name=$1 kinds=$2 expected=$3
	shift 3
	"$@" libpages.so pages.c
	"$@" libother.so pages.c
	program "$CC" stay stay.c -L. -lpages
	stay -k "$kinds" -l libpages.so -F 'page_[0-2]'
	is "$(awk '$2 ~ /w/ && $2 ~ /x/' "/proc/$pid/maps")" '' \
		"$name: no mapping of the program is writable and executable"
	is "$(dirty libpages.so)" "$expected" "$name: the selected library has $expected kB of private text"
	is "$(dirty libother.so)" 0 "$name: a library that is not selected has none"
	is "$(dirty libc.so.6)" 0 "$name: and libc has none"
	is "$(text libpages.so) $(text libother.so)" 'r-xp r-xp' "$name: the text of both is protected as ever"
	leave
	is "$status $(cat err)" '0 ' "$name: the program ends as ever"
	report d
	is "$(calls page_0)/$(calls page_1)/$(calls page_2)/$(calls page_3)" "$calls" \
		"$name: and what was selected was traced"
	is "$(object d libother.so .sites)" '{}' "$name: nothing of the other library was touched"
}

# Of the kind entry: optimised, the functions have four bytes.
entry_library() {
	library "$CC" "$@" -O0
}
XAUDIT_INDEX=$tmp/indexes
export XAUDIT_INDEX
calls=2/1/1/
kind patchable patchable 12 patchable_library
kind plt plt 0 library "$CC"
stay --perf -k plt -l libpages.so -F 'page_[0-2]'
is "$(awk '$2 ~ /w/ && $2 ~ /x/' "/proc/$pid/maps")" '' 'labels: no mapping is writable and executable'
is "$(awk '$6 ~ "/labels$" { print $2 }' "/proc/$pid/maps" | sort | tr '\n' ' ')" 'r-xp rw-s ' \
	'labels: their file is mapped to be executed at one place, and to be written at another'
leave
kind entry entry 12 entry_library
if [ -n "$CLANG" ]; then
	kind xray xray 12 xray_library
else
	skip 8 'no clang here'
fi

# Where memory that was writable must not become executable, text, stubs and guards work, too.
program "$CC" deny deny.c
patchable_library libpages.so pages.c
library "$CC" libother.so pages.c
program "$CC" stay stay.c -L. -lpages
# denied HOW ARG...: record, with these options, where the system forbids that.
denied() {
	how=$1
	shift
	rm -rf d
	status=0
	bounded 60 ./deny "$how" "$XAUDIT" record -o d "$@" ./stay ./libpages.so ./libother.so </dev/null >out 2>err ||
		status=$?
	err=$(cat err)
}
for how in mdwe eperm kill; do
	status=0
	./deny "$how" true || status=$?
	if [ "$status" -eq 77 ]; then
		skip 5 "this kernel has no $how"
		continue
	fi
	for kinds in patchable plt entry xray; do
		if [ "$kinds" = xray ] && [ -z "$CLANG" ]; then
			skip 1 'no clang here'
			continue
		fi
		case $kinds in
		xray) xray_library libpages.so pages.c ;;
		entry) entry_library libpages.so pages.c ;;
		*) patchable_library libpages.so pages.c ;;
		esac
		denied "$how" -k "$kinds" -l libpages.so -F 'page_[0-2]'
		report d
		is "$status/$err/$(calls page_0)/$(calls page_1)/$(calls page_2)/$(calls page_3)" "0//$calls" \
			"where $how is in force: the program runs, and is traced by $kinds"
	done
	is "$(cat d/p*/meta | grep -ac 'refuses')" 0 "where $how is in force: nothing is refused"
done
patchable_library libpages.so pages.c
if ./deny files true; then
	denied files -k patchable,plt -l libpages.so -F 'page_[0-2]'
	is "$status" 0 'where there is no file in memory either, the program runs'
	is "$(printf '%s\n' "$err" | grep -c '^xaudit: .*libpages.so: the system lets nobody change code')" 1 \
		'and it is said once why it is not traced'
	is "$(object d libpages.so '.sites.patchable | keys[]' | grep -c 'refuses')" 1 'the trace tells, too'
	report d
	is "$(object d libpages.so '.sites.plt | keys[]' | grep -c 'refuses') $(calls page_1)" '0 1' \
		'bindings change no code, and are traced: their stubs are the module'"'"'s own'
else
	skip 4 'no filters here'
fi

# Not only at rest: no memory may be writable and executable even for a moment.
if command -v strace >/dev/null 2>&1 && strace -o /dev/null true 2>/dev/null; then
	patchable_library libpages.so pages.c
	program "$CC" stay stay.c -L. -lpages
	status=0
	bounded 60 strace -f -e trace=mmap,mprotect,pkey_mprotect,mremap,memfd_create -o calls \
		"$XAUDIT" record -o d -k patchable,plt \
		-l libpages.so ./stay ./libpages.so ./libother.so </dev/null >out 2>err || status=$?
	is "$status" 0 'the program runs under strace'
	ok 'strace saw how the text became writable for a moment' grep -q 'mprotect(.*PROT_READ|PROT_WRITE)' calls
	is "$(grep -E 'PROT_WRITE.*PROT_EXEC|PROT_EXEC.*PROT_WRITE' calls)" '' \
		'at no moment was a mapping both writable and executable'
	is "$(grep memfd_create calls)" '' 'and no memory has a second, writable address through a memfd'
else
	skip 4 'no strace here that works'
fi
done_testing
