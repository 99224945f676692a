#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit ctl add-context, del-context, contexts and when, of functions and probes by the names that their events have:
# those of the configuration, and those that were given while the program runs.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/ctl.sh"

XAUDIT_INDEX=$tmp/cache
export XAUDIT_INDEX
library "$CC" libweighed.so weighed_library.c
program "$CC" weighed weighed.c -L. -lweighed

# start LINE...: the program, under a configuration that ends with these lines.
start() {
	printf '[trace]\noutput = %s\n[library libweighed.so]\nkinds = plt\n' "$tmp/d" >conf
	[ $# -eq 0 ] || printf '%s\n' "$@" >>conf
	rm -rf d
	begin ./weighed
}
# answers STATUS TEXT WORD...: what the command prints, without times.
answers() {
	wanted="$1 $2"
	shift 2
	ctl "$pid" "$@"
	is "$status $({
		cat ctl.out
		cat ctl.err
	} | sed 's/[0-9.]* ms/T ms/')" "$wanted" "$(printf '%.60s' "$*")"
}
# valued NAME: how many events of that name there are, and how many of them have values.
valued() {
	bounded 60 "$XAUDIT" dump --format=json d | jq -rn --arg n "$1" \
		'[inputs | select((.event == "entry" and .function == $n) or (.event == "probe" and .probe == $n))] |
		"\(length) \([.[] | select(.values)] | length)"'
}

has='1 traced function has values by that, paused T ms'
have='2 traced functions have values by that, paused T ms'
had='1 traced function had values, paused T ms'

# ---- names of the configuration ----

start '[context weigh@libweigh*]' 'name = heavy' 'context = tid' '[probe spot]' 'at = weigh_text@libweighed.so'
tell 'call 1'
answers 0 "heavy: context = tid  ($tmp/conf:7)
spot: probe at = weigh_text@libweighed.so  ($tmp/conf:9)" contexts
answers 0 "$had" del-context heavy
tell 'call 1'
answers 0 "$has" add-context heavy regs
answers 0 '1 probe has values by that, paused T ms' add-context spot reg:rdi
tell 'call 2'
answers 0 "heavy: context = regs  (ctl add-context)
spot: probe at = weigh_text@libweighed.so  ($tmp/conf:9)
spot: probe context = reg:rdi  (ctl add-context)" contexts
answers 0 "1 probe had values, paused T ms
$had" del-context spot heavy
tell 'call 4'
answers 0 "spot: probe at = weigh_text@libweighed.so  ($tmp/conf:9)" contexts
finish
is "$status $(cat err)" '0 ' 'the program notices nothing'
is "$(valued heavy) $(valued spot)" '8 3 8 2' 'what was recorded meanwhile has values'

# ---- names that are given while it runs ----

start
tell 'call 1'
ctl "$pid" function pair=weigh pair=weigh_text
answers 0 "$have" add-context pair tid
tell 'call 2'
answers 0 '2 traced functions do that, paused T ms' when pair mark
tell 'call 1'
answers 0 'pair: context = tid  (ctl add-context)
pair: context = tid  (ctl add-context)
pair: then = mark  (ctl when)
pair: then = mark  (ctl when)' contexts
answers 0 '2 traced functions had values, paused T ms' del-context pair
answers 0 'no values of calls are asked for' contexts

ctl "$pid" function other=weigh
answers 0 "$has" add-context pair tid
answers 0 "$has" add-context weigh_text@libweighed.so cpu
answers 0 "$has" add-context weigh cpu
tell 'call 4'
answers 0 'pair: context = tid  (ctl add-context)
pair: context = cpu  (ctl add-context)
other: context = cpu  (ctl add-context)' contexts
answers 0 "$had" del-context pair
answers 0 'other: context = cpu  (ctl add-context)' contexts
tell 'call 8'
finish
is "$status $(cat err)" '0 ' 'the program notices nothing of that'
is "$(valued other) $(valued pair)" '16 15 16 7' 'a newer name counts; of two functions of one name both have values'
is "$(bounded 60 "$XAUDIT" dump d | grep -c ' mark ')" 2 'and the action'

# ---- which functions are meant ----

start
ctl "$pid" function old=weigh@libweighed.so
ctl "$pid" function weigh_text=weigh
tell 'call 1'
answers 0 "$has" add-context weigh_text args
answers 0 'weigh_text: context = args  (ctl add-context)' contexts
answers 1 "0 traced functions have values by that, paused T ms
xaudit ctl: 'old' names no probe, and no function that is traced and can have these values (it holds for what is \
loaded later)" add-context old args
ctl "$pid" function 'all=weigh_*'
answers 0 "$has" add-context all tid
answers 0 "$has" add-context weigh_text@libweighed.so cpu
answers 0 'weigh_text: context = args  (ctl add-context)
old: context = args  (ctl add-context)
all: context = tid  (ctl add-context)
weigh_text@libweighed.so: context = cpu  (ctl add-context)' contexts
answers 0 '2 traced functions had values, paused T ms' del-context '*'

# ---- what is wrong ----

long=$(printf '%03000d' 0)
answers 1 'xaudit ctl: del-context: too many patterns at once: 16384 bytes are allowed' \
	del-context "$long" "1$long" "2$long" "3$long" "4$long" "5$long"
# shellcheck disable=SC2046 # words
answers 2 'xaudit ctl: add-context: too many contexts at once: 16384 bytes are allowed' \
	add-context weigh $(seq -f 'long:v%g:arg1' 500)
answers 2 'xaudit ctl: del-context: a word is empty' del-context ''
answers 2 'xaudit ctl: add-context: a word holds a tab or a new line' add-context weigh "$(printf 'tid\tcomm')"
finish
is "$status $(cat err)" '0 ' 'of that the program notices nothing, either'
done_testing
