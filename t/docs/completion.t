#!/bin/sh
# SPDX-License-Identifier: MIT
#
# bash completion offers what the commands accept: their names, their options, and for options that take one of several
# words these words, as messages list them.
. "${top_srcdir:-.}/t/lib/tap.sh"
need bash
unset XAUDIT_CONFIG XAUDIT_RULES

# offer WORD...: what is offered for the last word, one per line.
offer() {
	bash -c 'compopt() { :; }
		. "$0"
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
		_xaudit
		for word in "${COMPREPLY[@]}"; do echo "$word"; done' "$top_srcdir/tool/xaudit.bash" "$@" | sort
}

# The words that a message lists, one per line; nothing if the message is no list.
listed() {
	sed -nE -e 's/^.*(; allowed: |; it is )//' -e 's/^.* is (.*), not .*/\1/' -e 's/ or /, /' -e \
		'/^[a-z0-9:-]+(, [a-z0-9:-]+)+$/s/, /\n/gp' | sort
}
is "$(echo "xaudit x: bad value 'b' for -m; allowed: stream, ring" | listed)" 'ring
stream' 'the words of a message are found'
is "$(echo "xaudit x: --c can't be 'b'; it is always, never or auto" | listed)" 'always
auto
never' 'so they are where the last follows an or'
is "$(echo 'xaudit x: --pid is the id of a process, not b' | listed)" '' 'other texts list none'

# options: the options in --help, which it reads; with "=" where one takes a value.
options() {
	sed -nE 's/^ *(-[A-Za-z], )?--([a-z][a-z-]*)(=?).*/--\2\3/p' | sort
}

# values NAME WORD...: of each option in --help, which is read, of the command WORD...; NAME: what to complete.
values() {
	values_of=$1
	shift
	sed -nE 's/^ *(-([A-Za-z]), )?--([a-z][a-z-]*)=.*/\3 \2/p' >"$tmp/options"
	while read -r word letter; do
		# If the value is accepted, --help follows, and nothing is run.
		bounded 60 "$XAUDIT" "$@" "--$word=@bad" --help </dev/null >/dev/null 2>"$tmp/err" && : >"$tmp/err"
		expected=$(listed <"$tmp/err")
		# shellcheck disable=SC2086 # words
		offered=$(offer xaudit $values_of "--$word" '')
		[ -z "$expected" ] || is "$offered" "$expected" "$*: the words of --$word are those that it takes"
		for value in $(echo "$offered" | head -n 20); do
			ok "$*: --$word takes $value, which is offered for it" \
				bounded 60 "$XAUDIT" "$@" "--$word=$value" --help
		done
		# shellcheck disable=SC2086
		[ -z "$letter" ] || is "$(offer xaudit $values_of "-$letter" '')" "$offered" \
			"$*: for -$letter is offered what is for --$word"
	done <"$tmp/options"
}

"$XAUDIT" no-such-command 2>"$tmp/err"
is "$(offer xaudit '')" "$(listed <"$tmp/err")" 'the commands are those that there are'

for command in $(offer xaudit '' | grep -v '^-'); do
	"$XAUDIT" "$command" --help >"$tmp/help"
	sed '/^Commands:/,$d' "$tmp/help" >"$tmp/own"
	expected=$(options <"$tmp/own")
	# The words after ctl's commands belong to these, except the last.
	[ "$command" != ctl ] || expected=$(printf '%s\n--help' "$expected" | sort)
	is "$(offer xaudit "$command" --)" "$expected" "$command: the options are those of --help"
	values "$command" "$command" <"$tmp/own"
done

# ---- commands of ctl ----

"$XAUDIT" ctl 1 no-such-command 2>"$tmp/err"
is "$(offer xaudit ctl 1 '' | grep -v '^[0-9]')" "$(listed <"$tmp/err")" 'ctl: the commands are those that there are'
"$XAUDIT" ctl 1 mode @bad 2>"$tmp/err"
is "$(offer xaudit ctl 1 mode '')" "$(listed <"$tmp/err")" 'ctl: the modes are those that there are'
for command in snapshot top; do
	"$XAUDIT" ctl 1 "$command" --help >"$tmp/help"
	is "$(offer xaudit ctl 1 "$command" --)" "$(options <"$tmp/help")" \
		"ctl $command: the options are those of --help"
done
"$XAUDIT" ctl --help >"$tmp/help"
is "$(offer xaudit ctl 1 status --)" "$(grep 'of status, probes:' "$tmp/help" | options)" \
	'ctl status: the options are those of --help'
is "$(offer xaudit ctl 1 probes --)" "$(offer xaudit ctl 1 status --)" 'ctl probes: as those of status'
is "$(offer xaudit ctl 1 probe --)" "$(grep 'of probe[,:]' "$tmp/help" | options)" 'so are those of ctl probe'
is "$(offer xaudit ctl 1 function --)" "$(grep ' function:' "$tmp/help" | options)" 'and of ctl function'
"$XAUDIT" ctl 1 status --format=@bad 2>"$tmp/err"
is "$(offer xaudit ctl 1 status --format '')" "$(listed <"$tmp/err")" 'ctl status: so are the words of --format'
for command in start stop enable disable; do
	is "$(offer xaudit ctl 1 "$command" --)" '' "ctl $command: no option, for there is none"
done

# ---- lists ----

is "$(offer xaudit record -k plt,ca)" 'plt,calls' 'of a list, the last word is completed'
done_testing
