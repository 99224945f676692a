#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The options that --help lists are those that the man page describes, for each subcommand; keys of the configuration,
# kinds of sites and check's findings are in the manuals as in the sources.
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
version=$("$XAUDIT" --version)
like "$version" '^xaudit [0-9.]+$' 'xaudit --version tells the version'
is "$("$XAUDIT" -V)" "$version" 'so does -V'
"$XAUDIT" --help >"$tmp/help"
is "$("$XAUDIT" -h; "$XAUDIT" help)" "$(cat "$tmp/help" "$tmp/help")" '-h and help show what --help does'
is "$(awk 'length > 80' "$tmp/help")" '' 'the lines of --help fit in 80 columns'
for command in status enable disable start stop mode snapshot top; do
	"$XAUDIT" ctl 1 "$command" --help >"$tmp/help" 2>&1
	is "$? $(awk 'length > 80' "$tmp/help")" '0 ' "ctl PID $command --help fits in 80 columns, without a process"
	is "$("$XAUDIT" ctl 1 "$command" -h 2>&1)" "$(cat "$tmp/help")" "ctl PID $command -h shows the same"
done
for command in $subcommands; do
	page=$top_srcdir/doc/xaudit-$command.1
	bounded 60 "$XAUDIT" "$command" --help >"$tmp/help" 2>"$tmp/err"
	is "$? $(cat "$tmp/err")" '0 ' "$command --help goes to standard output, with status 0"
	for words in "$command -h" "help $command"; do
		# shellcheck disable=SC2086 # words
		is "$(bounded 60 "$XAUDIT" $words 2>&1)" "$(cat "$tmp/help")" "$words shows the same"
	done
	is "$(awk 'length > 80' "$tmp/help")" '' "the lines of $command --help fit in 80 columns"
	is "$("$XAUDIT" "$command" --version; "$XAUDIT" "$command" -V)" "$version
$version" "$command --version and -V tell the version"
	options=$(help_options <"$tmp/help")
	like "$options" ',help$' "$command has options"
	is "$(man_options "$page")" "$options" "the man page of $command has the options of --help"
	bounded 60 "$XAUDIT" "$command" --no-such-option >"$tmp/out" 2>"$tmp/err"
	status=$?
	expected=2
	case $command in record | check | locks | trace) expected=125 ;; esac
	is "$status $(wc -l <"$tmp/err") $(cat "$tmp/out")" "$expected 1 " \
		"$command refuses an unknown option in one line"
	unused=$(printf '%s\n' "$options" | sed 's/.*,//' | while read -r option; do
		grep -q -e "--$option" "$top_srcdir/tool/xaudit.bash" || echo "$option"
	done)
	is "$unused" '' "bash completion knows the options of $command"
done
is "$("$XAUDIT" --help | help_options)" "$(man_options "$top_srcdir/doc/xaudit.1")" \
	'the man page of xaudit has the options of --help'

# ---- keys, kinds and findings ----

# listed PAGE TEXT: the items of the list that follows a line with that text in the page.
listed() {
	sed -n "/$2/,/^\\.El/p" "$top_srcdir/doc/$1" | sed -n 's/^\.It Cm //p' | sort
}
# refused LINE...: the message about a configuration with these lines.
refused() {
	printf '%s\n' "$@" >"$tmp/bad.conf"
	XAUDIT_CONFIG=$tmp/bad.conf bounded 60 "$XAUDIT" env 2>&1 >/dev/null
}
# words: the words that a message on standard input allows.
words() {
	sed -n 's/.*; allowed[^:]*: //p' | sed 's/, /\n/g' | sort
}

keys=$(refused '[trace]' 'no-such-key = x' | words)
like "$keys" '^size-limit$' 'the keys of [trace] are known'
is "$(listed xaudit.conf.5 'Ss The trace section')" "$keys" 'the manual has the keys of [trace]'
is "$(listed xaudit.conf.5 'Ss Sections of objects')" "$(refused '[program]' 'no-such-key = x' | words)" \
	'the manual has the keys of the other sections'
for key in $keys kinds; do
	section='[trace]'
	[ "$key" != kinds ] || section='[program]'
	# Patterns and paths may be anything.
	refused "$section" "$key = @bad" | words | grep -x '[a-z]*' >"$tmp/words"
	refused "$section" "$key = @bad" | grep -Eq 'allowed: [a-z]+(, [a-z]+)*$' || continue
	sed -n "/^\.It Cm $key\$/,/^\.\(It\|El\)/p" "$top_srcdir/doc/xaudit.conf.5" | sed 1d | grep '^\.Cm ' |
		tr ' ' '\n' | sort -u >"$tmp/told"
	is "$(comm -23 "$tmp/words" "$tmp/told")" '' "the manual has the words of $key"
done

# defaults PAGE: the last word of each default that the page tells of an item on its own.
defaults() {
	said=' the default is|Default: \.[CP][ma]'
	tr '\n' ' ' <"$top_srcdir/doc/$1" | sed 's/\.It /\n&/g' |
		sed -nE "s/^\.It (Fl ([a-z] , )?-|Cm )([a-z-]+).*($said) ([^ ]*[^ .]).*/\3 \5/p" | sort
}
# An option's text goes on below itself.
helped=$("$XAUDIT" record --help | awk '/^  *--?[A-Za-z]/ { printf "\n" } { printf "%s ", $0 }' |
	sed -nE 's/.*--([a-z]+)=.*\(([^ ]+[a-zA-Z])\)[;,]?.*/\1 \2/p' |
	grep -v ' default$' | sort)
is "$(printf '%s\n' "$helped" | cut -d' ' -f1 | tr '\n' ' ')" 'buffer output ring ' \
	'help has the defaults of three options'
is "$(defaults xaudit.conf.5 | grep -E '^(buffer|output|ring) ')" "$helped" \
	'the manual of the configuration has the same'
is "$(defaults xaudit-record.1 | grep -E '^(buffer|ring) ')" "$(printf '%s\n' "$helped" | grep -v '^output')" \
	'so has that of record, but for the trace folder, which the configuration may name'

# Of each command: what its help says that holds without an option is what the manual calls the default of that option.
# told COMMAND: "OPTION VALUE" of each (default: VALUE), VALUE (default), or number, yes or text in parentheses.
told() {
	"$XAUDIT" "$1" --help | awk '/^ *--?[A-Za-z]/ || /^[^ ]/ || /^$/ { printf "\n" } { printf "%s ", $0 }' |
		tr -s ' ' | sed -nE 's/^ *(-[A-Za-z], )?--([a-z-]+)[= ](.*)/\2 \3/p' |
		sed -nE -e 's/^([a-z-]+) .*[ (]default: ([^;) ]+).*/\1 \2/p;t' \
			-e 's/^([a-z-]+) .* ([^ ]+) \(default\).*/\1 \2/p;t' \
			-e 's/^([a-z-]+) .*\(([0-9]+[kM]?|yes|text)\).*/\1 \2/p'
}
# untold COMMAND: those that the manual's item does not have beside the word default. In the manual a value may be
# followed by others, as 0.5% by a point.
untold() {
	tr '\n' ' ' <"$top_srcdir/doc/xaudit-$1.1" | sed 's/\.It /\n&/g; s/\.El/\n&/g' >"$tmp/items"
	told "$1" | while read -r option value; do
		grep -E "^\.It Fl ([A-Za-z] , )?-$option " "$tmp/items" | grep -i default |
			grep -qE "[ \"]$(printf '%s' "$value" | sed 's/[.]/\\./g')([ .,;:]|\$)" || echo "$option $value"
	done
}
for command in $subcommands; do
	told "$command" | sed "s/^/$command /"
done >"$tmp/told"
is "$(grep -E ' [0-9.]+[kM%]?$' "$tmp/told" | tr '\n' ';')" "record buffer 256k;record ring 8M;\
trace string-limit 64;trace buffer 256k;graph min 0.5%;stacks count 10;slow count 5;slow min 0.5%;outliers count 20;\
outliers factor 10;alloc count 10;alloc temporary 1;alloc backtrace 32;locks count 20;locks backtrace 32;\
pack level 1;ctl delay 2;check error-exitcode 1;" 'the numbers that help calls defaults'
for command in $(cut -d' ' -f1 "$tmp/told" | uniq); do
	is "$(untold "$command")" '' "the manual of $command has the defaults of its help"
done

kinds=$("$XAUDIT" record -k @bad true 2>&1 | words)
like "$kinds" '^xray$' 'the kinds are known'
is "$(listed xaudit.1 'Ss Kinds of sites')" "$kinds" 'the manual of xaudit has the kinds'
is "$(listed xaudit-list.1 '^The kinds are:')" "$kinds" 'so has that of list'
is "$("$XAUDIT" list --help | sed -nE '/^Kinds:/,$s/^  ([a-z]+) .*/\1/p' | sort)" "$kinds" 'so has its --help'

found=$(sed -nE 's/^\t\[CHECK_[A-Z_]*\] = "(.*)",$/\1/p' "$top_srcdir/tool/check/finding.c" | sort)
like "$found" '^thread-inside$' 'what check finds is known'
is "$(listed xaudit-check.1 'Ss Findings')" "$found" 'the manual of check has it'
done_testing
