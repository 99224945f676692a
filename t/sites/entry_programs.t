#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Kind entry in programs that we did not write: every function of every library that can be displaced is traced, and
# they do what they did. How often chosen functions are called gdb says, too.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

need python3
XDG_CACHE_HOME=$tmp/cache
export XDG_CACHE_HOME

# For indexes of clang's libraries a busy machine may need more than the ten seconds that a traced program waits.
index_clang() {
	ldd "$(command -v "${CLANG:-none}")" 2>/dev/null | awk '$3 ~ "^/" { print $3 }' | xargs -r "$XAUDIT" index -q
}
more index_clang

# traced NAME MODE COMMAND: recorded, the command's output and end are those in `plain`.
traced() {
	rm -rf trace
	bounded 600 "$XAUDIT" record -k entry -m "$2" --ring=256k -o trace -- sh -c "exec 2>&1; $3" >traced 2>said
	is "$? $(cat traced)" "$plain $(cat plain)" "$1 does the same, with every function traced in mode $2"
}
# same NAME PROGRAM COMMAND: see t/lib/workloads.sh.
same() {
	if ! command -v "$2" >/dev/null; then
		skip 2 "no $2 here"
		return
	fi
	rm -f plain
	bounded 120 sh -c "exec 2>&1; $3" >plain
	plain=$?
	traced "$1" count "$3"
	more traced "$1" ring "$3"
	share=$(info trace '[.processes[].objects[].sites.entry // {}] | [([.[] | to_entries[].value] | add),
		([.[] | to_entries[] | select(.key | startswith("traced")) | .value] | add)] | "\(.[0]) \(.[1])"' |
		tr -d '"')
	ok "$1: nearly all of its functions were traced: $share" \
		test "${share%% *}" -gt 3000 -a $((${share#* } * 100)) -ge $((${share%% *} * 97))
}
. "$top_srcdir/t/lib/workloads.sh"

# agree NAME FUNCTIONS COMMAND...: gdb's breakpoints are hit as often as the trace has calls of these functions, all of
# which are called.
agree() {
	name=$1 functions=$2
	shift 2
	if ! command -v "$1" >/dev/null || ! command -v gdb >/dev/null; then
		skip 2 "no $1 or no gdb here"
		return
	fi
	{
		echo 'set confirm off
set breakpoint pending on
set startup-with-shell off
set debuginfod enabled off
handle all nostop noprint pass'
		n=0
		for function in $functions; do
			n=$((n + 1))
			printf 'break %s\nignore %s 1000000\n' "$function" "$n"
		done
		printf 'run\ninfo breakpoints\n'
	} >breaks
	bounded 200 gdb --batch -nx -x breaks --args "$@" </dev/null >hits 2>&1
	hits=$(awk '/^[0-9]+ +breakpoint/ { n = $1 } /already hit/ { hit[n] = $4 }
		END { for (i = 1; i <= '"$n"'; i++) printf "%d ", hit[i] }' hits)
	rm -rf trace
	bounded 200 "$XAUDIT" record -k entry -m count -o trace -- "$@" </dev/null >/dev/null 2>said
	report trace
	traced=$(for function in $functions; do printf '%s ' "$(calls "$function")"; done)
	is "$traced" "$hits" "$name: calls of $functions are as many as gdb counts"
	unlike " $hits" ' 0 ' "$name: all of them were called"
}
agree python 'deflate inflate crc32_z adler32_z sqlite3_step sqlite3_column_text' "$python" -S library.py
agree openssl 'EVP_DigestUpdate EVP_MD_fetch BIO_read CRYPTO_zalloc' openssl dgst -sha256 library.py
agree sqlite3 'sqlite3_step sqlite3_prepare_v2 sqlite3_mprintf' sqlite3 -init table.sql :memory: .exit
if [ -n "$gd" ]; then
	agree pictures \
		'png_write_row png_read_row jpeg_write_scanlines jpeg_read_scanlines jpeg_fill_bit_buffer deflate' \
		"$python" -S pictures.py
else
	skip 2 'no libgd here'
fi
[ ! -x throws ] || agree 'a program that throws' '__cxa_throw __cxa_begin_catch _ZNSo9_M_insertIlEERSoT_' ./throws
agree ls 'strcoll readdir closedir localeconv' ls -lR /usr/include/linux
functions='_ZN4llvm5Value7setNameERKNS_5TwineE _ZN4llvm10MCStreamer9emitLabelEPNS_8MCSymbolENS_5SMLocE
	_ZN4llvm15MachineFunction14RenumberBlocksEPNS_17MachineBasicBlockE'
more agree clang "$functions" "${CLANG:-none}" -O2 -c -o pieces.o pieces.c

# What is known without a debugger.
if command -v openssl >/dev/null; then
	printf abc >abc
	counting='record -k entry -m count -o trace --'
	# shellcheck disable=SC2086
	is "$(bounded 200 "$XAUDIT" $counting openssl dgst -r -sha256 abc)" \
		'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad *abc' \
		'a digest is that of the standard'
	rm -rf trace
	# shellcheck disable=SC2086
	speed=$(bounded 200 "$XAUDIT" $counting openssl speed -seconds 1 -bytes 64 sha256 2>&1 |
		sed -n "s/^Doing .* blocks: \([0-9]*\) sha256.* in .*/\1/p")
	report trace
	is "$(calls EVP_Digest)" "${speed:-0}" 'openssl speed makes as many calls as it says'
else
	skip 2 'no openssl here'
fi

done_testing
