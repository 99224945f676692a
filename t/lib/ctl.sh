# SPDX-License-Identifier: MIT
#
# For tests of xaudit ctl; sourced after t/lib/tap.sh and t/lib/traced.sh. A program runs in the background and reads
# its commands from a pipe.

# many KIND FOLDER: libcontrolled.so with 10 000 functions, patchable or xray, as make has built it, and its program.
many() {
	mkdir "$2"
	cp "$FIXTURES/many_$1.so" "$2/libcontrolled.so" || bail "no $FIXTURES/many_$1.so: run make check"
	program "$CC" "$2/controlled" controlled.c "-L$2" -lcontrolled
}
# begin COMMAND [ARG]...: starts it under the module, with the rules of the file conf, as process $pid ("ready PID" is
# what it says first; the shell's own child is $child). Its input is the pipe `in`, its output goes to the files out and
# err.
begin() {
	alone env XAUDIT_CONFIG="$tmp/conf" LD_AUDIT="$MODULE" "$@"
	said=0
}
# alone COMMAND [ARG]...: as begin, but without the module.
alone() {
	rm -f in out err
	mkfifo in
	"$@" <in >out 2>err &
	child=$!
	exec 3>in
	wait_until 60 grep -q '^ready ' out || bail "$* does not begin: $(cat err)"
	pid=$(sed -n 's/^ready //p' out)
}
# tell LINE: sends a line to the program, and waits until it has answered.
tell() {
	said=$((said + 1))
	echo "$1" >&3
	wait_until 60 has_answered || diag "no answer to: $1"
}
# The last line may be on its way: it counts when it is whole.
has_answered() {
	[ "$(grep -c '^called ' out)" -ge "$said" ] && [ "$(tail -c 1 out | wc -l)" -eq 1 ]
}
# finish: closes the program's input, waits for its end, and sets $status.
finish() {
	exec 3>&-
	status=0
	wait "$child" || status=$?
}
# ctl ARG...: sets $status, $out and $err.
ctl() {
	status=0
	bounded 60 "$XAUDIT" ctl "$@" >ctl.out 2>ctl.err || status=$?
	out=$(cat ctl.out)
	err=$(cat ctl.err)
}
# status FILTER: jq's output about process $pid.
status() {
	bounded 60 "$XAUDIT" ctl "$pid" status --format=json 2>ctl.err | jq -c "$1"
}
# on: how many sites of the library are on.
on() {
	status '[.objects[] | select(.path | endswith("libcontrolled.so")) | .kinds[].on] | add // 0'
}
# pause: the ms that the last command took from the program.
pause() {
	printf '%s\n' "$out" | sed -n 's/.*paused \([0-9.]*\) ms$/\1/p'
}
# rules [LINE]...: conf, with these lines in [trace].
rules() {
	{
		printf '[trace]\noutput = %s/d\n' "$tmp"
		for line; do echo "$line"; done
		printf '[library libcontrolled.so]\nkinds = %s\n[library *]\nkinds = none\n[program]\nkinds = none\n' \
			"${kinds:-patchable}"
	} >conf
	rm -rf d
}
