#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Custom and typed event sleds of XRay: every event arrives byte for byte, and functions don't notice, from each
# compiler that is here. The functions that the sleds would call are not defined: libraries are opened lazily, and such
# calls never run.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/ctl.sh"

$CC -O2 -g -Wall -Wextra -Werror -rdynamic "-I$top_srcdir" "-I$top_srcdir/runtime/api" -o events "$beside/events.c" \
	"$top_builddir/libxaudit-api.a" -ldl \
	-pthread || bail 'the program does not compile'

# events_of DIR: TYPE BASE64 of each custom event of the dump.
events_of() {
	bounded 60 "$XAUDIT" dump --format=json "$1" | jq -r 'select(.event == "custom") | .type + " " + .data'
}
# sleds FILE: "USABLE LEFT" of its event sleds.
sleds() {
	bounded 60 "$XAUDIT" list --format=json "$1" | jq -r '.event_sleds | "\(.usable) \(.left_alone)"'
}
# arrive NAME LIBRARY WHAT...: the program says which events it makes; these are in the trace, in order, and no others.
# $sum: the last thing it says.
arrive() {
	name=$1
	shift
	is "$(bounded 60 ./events "$@" | tail -n 1)" "$sum" "$name: untraced, the program is well"
	record d -k xray ./events "$@"
	is "$status $(printf '%s\n' "$out" | tail -n 1)$err" "0 $sum" "$name: traced, it is too"
	events_of d >got
	printf '%s\n' "$out" | sed '$d' >made
	is "$(cmp made got 2>&1)" '' "$name: its $(wc -l <made) events are in the trace byte for byte, in order"
	ok "$name: there are some" test -s made
	report d
	is "$(sums)" '0 lost 0 unfinished' "$name: nothing is lost"
}

# ---- by hand ----

$CC -shared -o hand.so "$beside/events_by_hand.S" || bail 'the assembly does not compile'
is "$(sleds ./hand.so)" '124 4' 'by hand: 124 event sleds can be used, 4 are of other forms'
sum='wrong 0 of 123 functions'
arrive 'by hand' ./hand.so by-hand
sed '/^wrong/d' made >alone
arrive 'by hand, handlers use all registers' ./hand.so by-hand handled
is "$(cmp alone made 2>&1)" '' 'by hand, handlers use all registers: the events are the same'
is "$(calls hand_left)" 1 'by hand: a function is traced, though three of its event sleds are left alone'
is "$(object d hand.so '.sites.xray | to_entries | map(.value) | sort')" '[1,4,124]' \
	'by hand: info counts functions, and the sleds that are left alone'
like "$(bounded 60 "$XAUDIT" info d)" ' 4  event sleds left alone: ' 'by hand: and says why'
like "$(bounded 60 "$XAUDIT" list hand.so)" '^ +4 event sleds left alone: ' 'by hand: so does list'

# ---- compilers ----

compilers=
for version in 14 16 19; do
	if command -v clang-$version >/dev/null; then compilers="$compilers clang-$version"; fi
done
[ -n "$compilers" ] || compilers=$CLANG
if [ -z "$compilers" ]; then
	skip 1 'no clang here'
	done_testing
	exit
fi
printf '[always]\nfun:listed_event\n' >attributes

# one COMPILER LANGUAGE LEVEL PART: makes $part.o. clang before 17 crashes on some parts.
one() {
	case $4 in
	10) set -- "$@" -fxray-attr-list=attributes ;;
	11) set -- "$@" -fxray-instruction-threshold=1 -fxray-instrumentation-bundle=custom ;;
	esac
	compiler=$1 language=$2 level=$3 part=$4
	shift 4
	bounded 60 "$compiler" -fno-crash-diagnostics -w -x "$language" "$level" -fPIC -fxray-instrument "$@" \
		"-DPART=$part" -c -o "$part.o" \
		"$beside/events_part.c" >compile.err 2>&1
}
# build COMPILER LANGUAGE LEVEL PART...: makes libparts.so of the parts that compile. $without: parts that can't be
# called; $left: sleds that are left alone; $usable.
build() {
	with=$1 in=$2 at=$3
	shift 3
	without='' objects=''
	for n; do
		if one "$with" "$in" "$at" "$n"; then
			objects="$objects $n.o"
		else
			without="$without $n"
		fi
	done
	[ "$in" = c ] && linker=$CC || linker=$CXX
	# shellcheck disable=SC2086
	$linker -shared -o libparts.so $objects || bail 'the parts do not link'
	found=$(sleds libparts.so)
	usable=${found% *} left=${found#* }
	[ "$left" -ne 0 ] || return 0
	# Such a sled crashes the program without us: its jump leads into its call.
	bad=0
	for n in $objects; do
		$linker -shared -o one.so "$n" || bail 'a part does not link'
		found=$(sleds one.so)
		[ "${found#* }" -eq 0 ] || without="$without ${n%.o}"
		bad=$((bad + ${found#* }))
	done
	is "$bad" "$left" "$with $in $at: the library leaves alone what its parts do"
}

sum='wrong 0'
all='0 1 2 3 4 5 6 7 8 9 10 11 12'
# parts COMPILER LANGUAGE LEVEL
parts() {
	# shellcheck disable=SC2086
	build "$@" $all
	name="$1 $2 $3"
	diag "$name: $usable sleds, $left left alone, parts not called:${without:- none}"
	# shellcheck disable=SC2086
	arrive "$name" ./libparts.so calls 20 $without
	case $1$3 in
	clang-14-O0 | clang-19*) is "$left$without" 0 "$name: all event sleds are good" ;;
	*) ok "$name: event sleds in leaf functions are good" test "$usable" -ge 6 ;;
	esac
	is "$(object d libparts.so '[.sites.xray | to_entries[] | select(.key | startswith("event sleds")) | .value] |
		add // 0')" "$left" \
		"$name: info counts the $left that are left alone"
	is "$(calls event_9) $(calls listed_event) $(calls alone_event)" '20 20 ' \
		"$name: calls are counted of functions that log an argument or are in a list, not of one with event \
sleds alone"
}
for compiler in $compilers; do
	levels=$(rounds -O2 '-O0 -O1 -O2 -Os')
	[ "$compiler" != clang-16 ] || levels='-O0 -O2'
	for level in $levels; do parts "$compiler" c "$level"; done
	[ -z "$CXX" ] || more parts "$compiler" c++ -O2
done

# ---- sizes and types ----

first=${compilers# }
first=${first%% *}
raw() {
	$1 -O0 -g -fPIC -shared -fxray-instrument -o "$2" "$beside/events_raw.c" ||
		bail 'events_raw.c does not compile'
}
raw "$first" raw.so
cat >sizes.expected <<'END'
untyped 1
untyped 4096
alpha 8
beta 7
xray-18 9
xray-0 7
xray-65535 11
xray-18 0
alpha 4096
xray-19 16
gamma 8
END
record d -k xray ./events ./raw.so sizes
is "$status $out" '0 alpha 16 beta 17
gamma 22' 'sizes: the program runs to its end'
is "$(printf '%s\n' "$err" | head -n 1) $(printf '%s\n' "$err" | sed -n '2s/:.*//p;3,$p')" \
	'xaudit: an event of 4097 bytes is longer than 4096: such events are lost xaudit record' \
		'sizes: the first that is too long is told, and no other'
bounded 60 "$XAUDIT" dump --format=json d | jq -r 'select(.event == "custom") | "\(.type) \(.size)"' >got
is "$(diff sizes.expected got)" '' 'sizes: what is not too long or empty is there, under its type or a name for its '\
'number'
report d
is "$(sums)" '6 lost 0 unfinished' 'sizes: 6 that are too long are lost'
is "$(info d '[.processes[0].lost_by[] | [.events, .cause]]')" \
	'[[6,"since custom events were too long, too many types, or too deep inside of each other"]]' \
		'and told by their cause'
is "$(calls raw_custom) $(calls raw_typed)" '7 11' 'sizes: all calls are there'

# ---- modes ----

record d -k xray --mode=count ./events ./raw.so sizes
is "$status $err" '0 ' 'mode count: the program runs as ever'
report d
is "$(calls raw_custom) $(calls raw_typed) $(sums)" '7 11 0 lost 0 unfinished' \
	'mode count: calls are counted, events leave nothing'
is "$(events_of d | wc -l)" 0 'mode count: there are no events'
record d -k xray --mode=ring ./events ./raw.so sizes
is "$(events_of d | wc -l)" 11 'mode ring: events are there'

# ---- text ----

# traced SECONDS WHAT...: by the rules of conf.
traced() {
	within=$1
	shift
	bounded "$within" env XAUDIT_CONFIG="$tmp/conf" LD_AUDIT="$MODULE" ./events ./raw.so "$@"
}
text_with() {
	{
		printf '[trace]\noutput = %s/d\n[library *raw.so]\nkinds = xray\n' "$tmp"
		for line; do echo "$line"; done
		printf '[library *]\nkinds = none\n[program]\nkinds = none\n'
	} >conf
	rm -rf d
	traced 20 text
}
bounded 60 ./events ./raw.so text >untraced
text_with >all
text_with 'functions = raw_both' >few
text_with 'functions = nothing' >none
is "$(cat few)" "$(cat all)" 'patched text is the same whatever else is traced, at any address'
is "$(cat none)" "$(cat untraced)" 'text that is not selected is the file'"'"'s'
is "$(grep -o 6690e9 all | wc -l) $(grep -c 6690e9 untraced)" '2 0' 'two sleds in it are patched'

# ---- handlers, unwinders ----

record d -k xray ./events ./raw.so handled
is "$status $out$err" '0 set 0 custom 10 typed 10 wrong 0 reached main 20' \
	'handlers are told of events, and backtrace() in them reaches the function and main'
is "$(events_of d | sort | uniq -c | awk '{ print $1, $2 }' | tr '\n' ';')" '20 untyped;20 xray-777;' \
	'the events are recorded, too'
if command -v gdb >/dev/null; then
	printf '[trace]\noutput = %s/d\n[library *raw.so]\nkinds = xray\n[library *]\nkinds = none\n[program]\n'\
'kinds = none\n' "$tmp" >gdb.conf
	said=$(bounded 100 gdb --batch -nx -iex "set environment LD_AUDIT $MODULE" \
		-iex "set environment XAUDIT_CONFIG $tmp/gdb.conf" \
		-ex 'set confirm off' -ex 'set startup-with-shell off' -ex \
			'break handler if event->type == 6' -ex run -ex bt -ex 'finish' \
		--args ./events ./raw.so handled 2>&1)
	case $said in
	*'not being run'*) skip 1 'gdb may not run programs here' ;;
	*)
		is "$(printf '%s\n' "$said" |
			sed -n 's/^#[0-9]* .*\<\(handler\|raw_typed\|handled_rounds\|handled\|main\) (.*/\1/p' |
			tr '\n' ' ')" \
			'handler raw_typed handled_rounds handled main ' 'a backtrace of gdb, too'
		;;
	esac
else
	skip 1 'no gdb here'
fi

# ---- switched from outside ----

conf() {
	{
		printf '[trace]\noutput = %s/d\n' "$tmp"
		for line; do echo "$line"; done
		printf '[library *raw.so]\nkinds = xray\n[library *]\nkinds = none\n[program]\nkinds = none\n'
	} >conf
	rm -rf d
}
on() {
	status '[.objects[] | select(.path | endswith("raw.so")) | .kinds[].on] | add // 0'
}
conf 'enabled = no'
begin ./events ./raw.so told
tell 'call 5'
is "$(on)" 0 'ctl: all is off'
ctl "$pid" enable 'raw_*'
is "$status $(on)" '0 10' 'ctl: three functions with ten sleds are switched on, four of them events'
tell 'call 7'
ctl "$pid" stop
tell 'call 11'
ctl "$pid" start
tell 'call 13'
ctl "$pid" disable 'raw_both'
is "$status $(on)" '0 6' 'ctl: one is switched off, and its two event sleds'
tell 'call 17'
ctl "$pid" enable 'raw_both'
tell 'call 19'
ctl "$pid" disable '*'
is "$status $(on)" '0 0' 'ctl: all is off again'
tell 'call 23'
finish
is "$status $(cat err)" '0 ' 'ctl: the program runs to its end'
is "$(events_of d | sort | uniq -c | awk '{ print $1, $2 }' | tr '\n' ';')" '39 untyped;39 xray-5;' \
	'ctl: events are there from the times when they were on and recorded'
is "$(object d raw.so .patched_pages)" 0 'ctl: the text is the file'"'"'s again'

# Sleds that get the file's own bytes again would call undefined functions: threads that stand in one must have been
# moved.
conf 'enabled = no' 'mode = ring' 'ring = 1M'
begin ./events ./raw.so told threads
times=$(rounds 20 60) round=0 failed=''
while [ "$round" -lt "$times" ]; do
	ctl "$pid" enable '*'
	[ "$status" -eq 0 ] || failed="$failed; $err"
	ctl "$pid" disable '*'
	[ "$status" -eq 0 ] || failed="$failed; $err"
	round=$((round + 1))
done
is "$failed $(on)" ' 0' "ctl, threads: $times times sleds are switched on and off while 8 threads pass them"
ctl "$pid" enable 'raw_both'
tell 'call 21'
ctl "$pid" disable '*'
finish
is "$status $(tail -n 1 out) $(cat err)" '0 wrong 0 ' 'ctl, threads: the program runs to its end'
is "$(events_of d | grep ' dG9sZA==$' | sort | uniq -c | awk '{ print $1, $2 }' | tr '\n' ';')" \
	'21 untyped;21 xray-5;' \
	'ctl, threads: events of the time when all is on are there'

# ---- switched from inside ----

ms=$(rounds 500 2000 60000)
# in_order: of the messages of `switch`: each thread's numbers ascend, and each is whole. Prints what is wrong.
in_order() {
	perl -MMIME::Base64 -lane '
		my ($t, $check, $n) = unpack "LLQ", decode_base64($F[1]);
		my $type = $F[0] eq "untyped" ? 0 : $F[0] eq "xray-9" ? 1 : 2;
		next if $F[1] eq "b24=";
		$wrong++ if length(decode_base64($F[1])) != 16 || $t > 7 ||
			($check ^ 0x5a5a5a5a) != ($n & 0xffffffff) || $type > 1;
		$wrong++ if $n <= ($last{"$t $type"} // 0);
		$last{"$t $type"} = $n;
		END { print $wrong + 0, " wrong ", (scalar keys %last), " of 16 kinds" }'
}
if perl -MMIME::Base64 -e 1 2>/dev/null; then
	conf 'enabled = no' 'mode = ring' 'ring = 1M'
	traced $((ms / 1000 + 60)) switch $ms >out 2>err
	is "$? $(cat out err)" '0 failed 0, wrong 0' \
		'from inside: 8 threads go on while sleds are switched'
	events_of d >got
	is "$(in_order <got)" '0 wrong 16 of 16 kinds' 'from inside: events are whole, and in order for each thread'
	is "$(tail -n 2 got | tr '\n' ';')" 'untyped b24=;xray-9 b24=;' \
		'from inside: what is on at the end is there, what is off is not'
	report d
	is "$(sums)" '0 lost 0 unfinished' 'from inside: nothing is lost'
else
	skip 4 'no MIME::Base64'
fi

# ---- unloading ----

cp raw.so copy.so
conf 'mode = ring' 'ring = 1M'
sed -i 's/^\[library \*raw.so\]/[library *copy.so]\nkinds = xray\n&/' conf
traced 100 unload 200 ./copy.so >out 2>err
is "$? $(cat out err)" '0 copy 8000 wrong 0' 'unloading: 200 times the library goes, while 8 threads run on'
is "$(events_of d | grep -c ' Y29weQ==$')" 16000 'unloading: the events of all its loads are there'

# ---- a signal at each instruction ----

for level in -O1 -O0; do
	bounded 60 "$first" -fno-crash-diagnostics $level -fPIC -shared -fxray-instrument -o libhandled.so \
		"$beside/events_steps.c" 2>compile.err &&
		[ "$(sleds libhandled.so)" = '2 0' ] && break
done
is "$(sleds libhandled.so)" '2 0' 'signals: the library has two event sleds'
program "$CC" steps steps.c -L. -lhandled -Wl,-z,lazy -Wl,--allow-shlib-undefined
record d -k xray -l libhandled.so ./steps call
diag "signals: $out"
# shellcheck disable=SC2086
set -- $out 0 0 0 0
is "$status $err" '0 ' 'signals: functions keep their numbers'
ok 'signals: the handler came after each of more than 200 instructions' test "$4" -gt 200
is "$(events_of d | sort | uniq -c | awk '{ print $1, $2, $3 }' | tr '\n' ';')" \
	"$1 untyped Y291bnRlZA==;$4 xray-7 aGFuZGxlZA==;" \
	'signals: all events are there, of calls and handlers'
report d
is "$(calls counted) $(calls handled) $(sums)" "$1 $4 0 lost 0 unfinished" 'signals: so are all calls'

done_testing
