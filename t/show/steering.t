#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Nothing that a traced program could have chosen reaches a terminal, or text, as characters that steer a terminal:
# names of functions, libraries, threads, commands, hosts, types, notes and more, of bytes that would, through every
# command and option that shows them, in a pipe and on a terminal.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/written.sh"
need python3

cd "$tmp" || exit 1
ASAN_OPTIONS=detect_leaks=0 TERM=xterm
export ASAN_OPTIONS TERM
unset COLUMNS PAGER LESS LV XAUDIT_PAGER
steering() {
	python3 "$top_srcdir/t/lib/steering.py" "$@"
}

is "$(printf 'a\033b\302\233c\342\200\256d\r\n' | steering look)" \
	"line 1 has 0xd 0x1b 0x9b 0x202e 'a\\x1bb\\x9bc\\u202ed\\r'" 'what steers is found'
is "$(printf 'a\377b\n' | steering look | cut -c1-10)" 'no UTF-8: ' 'so is what is no UTF-8'
is "$(printf 'abc \303\274\n' | steering look)" '' 'and other text is not'

names='STEER00 STEER01 STEER02 STEER03 STEER04 STEER05 STEER06 STEER07 STEER08 STEER09 STEER10 STEER11'
# trace FOLDER LINE: with a line of the last thread's
trace() {
	{
		for name in $names; do
			echo "record command run $name"
		done
		cat <<END
record version STEER00
record status STEER05
process p100 flags=1 mode=1 lost=3
pair first 1000 1000 5
pair last 9000 9000 8005
text exe /opt/STEER05/STEER06
text command run STEER00 STEER01
text host STEER05
text config /etc/STEER00
text module /lib/STEER03
text note STEER00 says STEER04
text note STEER05
END
		n=0
		for name in $names; do
			n=$((n + 1))
			echo "object $n /usr/lib/$name/lib$name.so soname=$name"
			echo "function $n 0 $n 0x100 $name"
			echo "load $n $n 1000 0x7f0000000000 100"
			echo "type $n $name"
		done
		echo 'change throttled 1500 100 1 STEER00'
		echo 'change snapshot 1500 100 0 STEER05'
		echo 'change 77 1500 100 0 STEER06'
		n=0
		for name in $names; do
			n=$((n + 1))
			echo "thread $((99 + n)) $name"
			echo 'loop 3 100'
			printf '%s\n' "entry $n 2000" "custom $n 2010 =$name" 'entry 12 2020' 'exit 12 2030' \
				"exit $n 2050" end "entry $n 3000"
		done
		echo "$2"
	} >script
	write_trace "$1" <script
	steering patch "$1"
}
trace one ''
trace two 'lost 3'
ok 'the traces have hostile bytes' test "$(cat one/p100/* two/p100/* | tr -dc '\033' | wc -c)" -gt 50

# An ELF file, and files that are none, whose names are hostile.
for name in $names; do
	echo "int $name(void); int $name(void) { return 1; }"
done >elf.c
$CC -shared -fPIC -O0 -o libelf.so elf.c || bail 'no library'
steering patch libelf.so
bad=$(printf 'bad\033[31m\302\233\377')
cp libelf.so "$bad.so"
mkdir "$bad"

has() {
	"$XAUDIT" --help | grep -q "^  $1 "
}
# looks WHAT ARGUMENT...: what the command says in a pipe, and on a terminal, through a pager and not. On a terminal,
# messages go elsewhere: how far work came, which is shown when it takes a second, steers the terminal.
looks() {
	case $1 in json) json=json ;; *) json= ;; esac
	shift
	said=$(printf '%s' "$*" | tr -cd '[:print:]')
	bounded 60 "$XAUDIT" "$@" >out 2>err
	status=$?
	[ $status -le 2 ] || diag "ended with $status"
	is "$(steering look $json <out)$(steering look <err)$([ $status -le 2 ] || echo "status $status")" '' \
		"$said: in a pipe"
	if [ "$json" ]; then return; fi
	bounded 90 python3 "$top_srcdir/t/lib/terminal.py" --columns="$columns" --stderr=messages "$XAUDIT" "$@" \
		--no-pager --color=never >terminal 2>&1
	is "$(tr -d '\r' <terminal | steering look)$(steering look <messages)" '' "$said: on a terminal"
}
# quiet ARGUMENT...: what the command says, whatever its status.
quiet() {
	bounded 60 "$XAUDIT" "$@" >out 2>err </dev/null
	status=$?
	is "$(cat out err | steering look) $([ $status -lt 128 ] || echo "status $status")" ' ' \
		"$(printf '%s' "$*" | tr -cd '[:print:]'): its message"
}
columns=80
for dir in one two; do
	for command in \
		report 'report --by=library' 'report --by=thread' 'report --by=host' 'report --by=command' \
		'report --no-demangle' 'report --full-names' \
		replay 'replay --no-demangle' dump 'dump --no-demangle' \
		info 'info -v'; do
		looks text $command $dir
	done
	for command in report 'report --by=library' 'report --by=thread' dump info; do
		looks json $command --format=json $dir
	done
	for command in graph stacks outliers loads; do
		has $command || continue
		looks text $command $dir
		looks json $command --format=json $dir
	done
	if has graph; then
		looks text graph --format=dot $dir
		looks text graph --format=mermaid $dir
		looks text graph "$bad" $dir
	fi
	if has slow; then
		looks text slow '*' $dir
		looks json slow --format=json '*' $dir
		looks text slow "$bad" $dir
	fi
done
for question in '--callers=*' '--callees=*' '--hist=*' --by-event=5 --apart; do
	looks text report "$question" one
	looks json report "$question" --format=json one
done
looks text report --diff one two
looks json report --diff --format=json one two
looks text report --apart one two
# Packed, and with names of files that steer.
quiet pack -o "$bad.pack" one
for command in report replay dump info; do
	looks text $command "$bad.pack"
done
looks json info --format=json "$bad.pack"
quiet unpack -o "$bad/again" "$bad.pack"
quiet unpack "$bad.so"
quiet pack "$bad"
printf x >>"$bad.pack"
looks text report "$bad.pack"
for command in report replay graph 'slow *'; do
	looks text $command --srcline one
done
columns=30
looks text report one
looks text replay two
columns=80
looks text list libelf.so
looks json list --format=json libelf.so
looks text list libelf.so '*'
looks json list --format=json libelf.so '*'
looks text list "$bad.so"
looks text list "$bad.so" "$bad"
looks text list "$bad"

# Words of the command line come back in messages.
for command in report replay dump info; do
	quiet $command "$bad.none"
	quiet $command "$bad"
	quiet $command "--$bad"
	quiet $command "--pid=$bad"
	quiet $command one "$bad"
done
quiet "$bad"
quiet report "--sort=$bad"
for n in 1 2 3 4 5 6 7 8 9 10 11 12; do
	quiet report --by=function --by-event=$n:s --event-format="$n=string s" two
done
quiet report "--columns=$bad"
quiet report "--callers=$bad" one
quiet report "--hist=$bad" one
quiet report "--by-event=$bad" one
quiet report "--by-event=x:$bad" "--event-format=x=u8 $bad" "--event-end=$bad" one
quiet report "--by-event=x:$bad" "--event-format=x=u8 y" one
quiet dump "--event-format=$bad=$bad"
quiet dump "--event-format=$bad" one
quiet list "$bad.none"
quiet ctl one status
quiet ctl two/p100 status
quiet ctl two/p100 status --format=json
quiet ctl one/p100 top -b -n 1 -d 0.1
quiet ctl two/p100 top -b -n 1 -d 0.1
quiet ctl "$bad" status
quiet ctl --name "$bad" status
quiet ctl one "$bad"
quiet record -o "$bad/x" -l "$bad" "./$bad"
quiet record -o "$bad/x" --mode="$bad" true
quiet check "./$bad"
quiet env -c "$bad"
quiet index "$bad.none"
done_testing
