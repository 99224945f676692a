#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Programs of Rust's that the system has: `xaudit record` alone shows what they call, as often as gdb sees it.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

XAUDIT_INDEX=$tmp/cache
export XAUDIT_INDEX
printf 'one\ntwo\nthree\n' >words
some=0
# between NAME: is its number of calls, $got, at least as many as gdb saw at calls by a word, and at most all of them?
# What jumps there by a word, gdb can't tell from what has loaded the address before. A program may make a call more or
# less for the environment that it has.
between() {
	got=$(calls "$1")
	low=$(sed -n "s/^$1 called //p" gdb.out)
	other=$(sed -n "s/^$1 other //p" gdb.out)
	[ "${got:-0}" -ge $((${low:-0} - 1)) ] && [ "${got:-0}" -le $((${low:-0} + ${other:-0} + 1)) ] && echo yes ||
		echo "got ${got:-0}, gdb saw ${low:-0} and ${other:-0}"
}
# rust WORD...: a program, if it is there.
rust() {
	path=$(command -v "$1") || return 0
	some=1
	plain=$(bounded 60 "$@" </dev/null 2>&1) || diag "$1: $?"
	record d -- "$@" </dev/null
	is "$status;$out$err" "0;$plain" "$1: it runs as it does"
	report d
	is "$(sums)" '0 lost 0 unfinished' "$1: nothing is lost"
	is "$(bounded 60 "$XAUDIT" info d | grep -c '^ *calls .* traced$')" 1 "$1: it has calls that are traced"
	command -v gdb >/dev/null || return 0
	shift
	FUNCTIONS='malloc=__libc_malloc realloc=__libc_realloc' bounded 120 setarch -R \
		gdb -q -batch -nx -x "$top_srcdir/t/sites/no_plt_callers.py" --args "$path" "$@" \
		</dev/null >gdb.out 2>gdb.err
	is "$(between malloc) $(between realloc)" 'yes yes' "${path##*/}: as many calls as gdb sees"
}

rust rg -j1 --sort path one words
rust fdfind -j1 words .
rust batcat -p words
rust hyperfine --version
rust exa --version
rust sd -p one ONE words
rust lsd words
rust hexyl words
rust zoxide --version
rust tldr --version
rust /usr/lib/cargo/bin/coreutils/cat words
[ "$some" -eq 1 ] || skip_all 'no program of Rust is here'
done_testing
