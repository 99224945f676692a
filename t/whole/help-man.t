#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The options that --help lists are those that the man page describes, for each subcommand.
. "${top_srcdir:-.}/t/lib/tap.sh"

# Options as LETTER,WORD: "o,output", or ",sort" where there is no letter.
help_options() {
	sed -nE 's/^ *(-([A-Za-z]), )?--([a-z][a-z-]*).*/\2,\3/p' | sort
}
man_options() {
	sed -nE -e 's/^\.It Fl ([A-Za-z]) , -([a-z][a-z-]*).*/\1,\2/p' -e 's/^\.It Fl -([a-z][a-z-]*).*/,\1/p' "$1" |
		sort
}

subcommands=$("$XAUDIT" --help | sed -nE '/^Commands:/,/^$/s/^  ([a-z]+) .*/\1/p')
like "$subcommands" '^report$' 'xaudit --help lists its commands'
for command in $subcommands; do
	page=$top_srcdir/doc/xaudit-$command.1
	bounded 10 "$XAUDIT" "$command" --help >"$tmp/help" 2>"$tmp/err"
	is "$? $(cat "$tmp/err")" '0 ' "$command --help goes to standard output, with status 0"
	options=$(help_options <"$tmp/help")
	like "$options" ',help$' "$command has options"
	is "$(man_options "$page")" "$options" "the man page of $command has the options of --help"
	bounded 10 "$XAUDIT" "$command" --no-such-option >"$tmp/out" 2>"$tmp/err"
	status=$?
	expected=2
	case $command in record | check) expected=125 ;; esac
	is "$status $(wc -l <"$tmp/err") $(cat "$tmp/out")" "$expected 1 " \
		"$command refuses an unknown option in one line"
	unused=$(printf '%s\n' "$options" | sed 's/.*,//' | while read -r option; do
		grep -q -e "--$option" "$top_srcdir/tool/xaudit.bash" || echo "$option"
	done)
	is "$unused" '' "bash completion knows the options of $command"
done
is "$("$XAUDIT" --help | help_options)" "$(man_options "$top_srcdir/doc/xaudit.1")" \
	'the man page of xaudit has the options of --help'
done_testing
