#!/bin/sh
# SPDX-License-Identifier: MIT
#
# At every instruction of the path of a call with a backtrace something is injected (t/lib/injected.sh): every backtrace
# is right then, that of the call, and those of calls that a handler of signals makes in the middle of it. These go
# through our own code, wherever it was, to the caller, which keeps no frame pointer and has no unwind information; our
# own frames are left out. The same for events that the program makes, and for event sleds.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/injected.sh"

cat >values.conf <<-'END'
	[context counted]
	context = backtrace
	[context handled]
	context = backtrace:20
	[context mark]
	context = arg1
END
values=expected
functions='make_handled|on_signal|main|call_counted|__libc_start_[a-z_]*|_start'
place="(0x[0-9a-f]+( \\[[^]]+\\])?|($functions)\\+0x[0-9a-f]+ \\[[^]]+\\])"
end=' > \(the backtrace ends here: code without unwind information, which keeps no frame pointer\)'
form=' > \(the backtrace ends here: unwind information in a form that is not followed\)'
cat >expected <<-END
	entry counted \(\) > $place$end
	entry handled \(\)( > $place)+( > $place \(signal\))?( > $place)?($end|$form)?
	entry mark \(\) arg1=-?[0-9]+
END

# reached KIND: of the backtraces of calls that a handler made in the middle of counted(), nine in ten go to its caller.
reached() {
	bounded 100 "$XAUDIT" dump --format=json d 2>err | jq -c 'select(.event == "entry" and .values) |
			[.function] + [.values[] | select(.name == "backtrace") | .value.frames[].address]' >stacks
	is "$(awk -F '[],"[]+' '$2 == "counted" { caller = $3 }
		$2 == "handled" { all++; same += $(NF - 1) == caller }
		END { print (all > 50), (same > 0.9 * all) }' stacks)" '1 1' \
		"$1: backtraces of handlers go through our code to the caller"
}
for kind in plt entry; do
	build "$CC" "$kind"
	all 'one call' '' '' call -c values.conf
	all 'a chunk that is full' "-b recorder_try_slowly $few" '' fill -c values.conf
	every event 'one call' '' '' call -c values.conf
	reached "$kind"
done
every jump 'one call' '' '' call -c values.conf
every fork 'one call' '' '' call -c values.conf
# Events that the program makes: each has its caller, and all others up to where the program began. After a pause the
# thread's clock is ahead of the process's, so an event may come after the libraries are gone: then these are addresses.
began='( > __libc_start_[a-z_]*\+0x[0-9a-f]+ \[libc.so.6\])+ > _start\+0x[0-9a-f]+ \[plt\]'
whole=" > one_call\\+0x[0-9a-f]+ \\[plt\\]( > (once|main)\\+0x[0-9a-f]+ \\[plt\\])+$began"
echo "custom untyped   \"12345678\"  8 bytes($whole|( > 0x[0-9a-f]+)+)" >expected
ENOUGH=4200
export ENOUGH
build "$CC" plt
all 'a custom event' '' 'what=none customs=1' event --event-backtrace 32
every chunk 'a custom event' '' 'what=none customs=1' event --event-backtrace 32
every fork 'a custom event' '' 'what=none customs=1' event --event-backtrace 32
every jump 'a custom event' '' 'what=none customs=1' event --event-backtrace 32
export ALTSTACK=1
every event 'a custom event, handlers on a stack of their own' '' 'what=none customs=1' event --event-backtrace 32
unset ALTSTACK
if [ -n "$CLANG" ]; then
	sled="\"counted\"  7 bytes( > counted\\+0x[0-9a-f]+ \\[libinject.so\\]| > 0x[0-9a-f]+) > $place$end"
	echo "custom untyped   ($sled|\"12345678\"  8 bytes$whole)" >sled
	values=sled
	build "$CLANG" xray -fxray-instrument -fxray-instruction-threshold=1 -DXRAY -DSLEDS
	all 'an event sled' '' 'customs=1 each=2' call --event-backtrace 32
	every jump 'an event sled' '' 'customs=1 each=2' call --event-backtrace 32
	values=expected
	build "$CC" plt
else
	skip 3 'no clang here'
fi
all 'a custom event, a flight recorder' '' 'what=none customs=1' event --event-backtrace 32 -m ring
diag "covered: $covered instructions"
done_testing
